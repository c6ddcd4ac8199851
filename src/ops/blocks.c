/* Reads the attributes of block operators and rounds their inputs. */
#include "ops/blocks.h"

#include "base/half.h"

#include <string.h>

#define GRAIN 65536

int by_op_blocks_read(struct by_op_blocks *blocks, const struct by_ort *ort,
                      const OrtKernelInfo *info, struct baryon_error *err)
{
    static const enum by_ties modes[] = {BY_TIES_AWAY, BY_TIES_UP, BY_TIES_EVEN};
    int64_t mode = 0;
    if (by_op_int(ort, info, "axis", -BY_RANK_MAX, BY_RANK_MAX - 1, &blocks->axis, err) ||
        by_op_int(ort, info, "block_size", 1, BY_OPS_BLOCK_MAX, &blocks->size, err) ||
        by_op_int(ort, info, "rounding_mode", 0, 2, &mode, err))
        return -1;
    blocks->ties = modes[mode];
    return 0;
}

static int round_floats(const struct by_op_blocks *blocks, const struct by_op_tensor *in,
                        const struct by_op_call *call, const float *from, float *to,
                        struct baryon_error *err)
{
    const struct by_block_cast cast = {.dims = in->dims,
                                       .rank = in->rank,
                                       .axis = (int)blocks->axis,
                                       .size = (size_t)blocks->size,
                                       .ties = blocks->ties,
                                       .from_bf16 = blocks->from_bf16};
    return by_block_round_team(&blocks->dtype, from, &cast, call->team, to, err);
}

/* --- Half floats are computed as floats --- */

struct halves {
    uint16_t *halves;
    float *floats;
};

static int widen_halves(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct halves *work = context;
    (void)worker, (void)err;
    by_f16_to_f32(work->floats + begin, work->halves + begin, end - begin);
    return 0;
}

static int narrow(void *context, size_t begin, size_t end, unsigned worker,
                  struct baryon_error *err)
{
    const struct halves *work = context;
    (void)worker, (void)err;
    by_f32_to_f16(work->halves + begin, work->floats + begin, end - begin);
    return 0;
}

static int round_halves(const struct by_op_blocks *blocks, const struct by_op_tensor *in,
                        const struct by_op_call *call, uint16_t *to, struct baryon_error *err)
{
    float *floats = by_alloc(in->count, sizeof *floats, err);
    if (!floats)
        return -1;
    struct halves before = {in->data, floats}, after = {to, floats};
    const int failed = by_team_for(call->team, in->count, GRAIN, widen_halves, &before, err) ||
                       round_floats(blocks, in, call, floats, floats, err) ||
                       by_team_for(call->team, in->count, GRAIN, narrow, &after, err);
    by_free(floats);
    return failed ? -1 : 0;
}

int by_op_blocks_compute(const void *kernel, const struct by_op_call *call,
                         struct baryon_error *err)
{
    const struct by_op_blocks *blocks = kernel;
    struct by_op_tensor in;
    if (by_op_input(call, 0, &in, err))
        return -1;
    if (in.elem != BY_ELEM_FLOAT && in.elem != BY_ELEM_FLOAT16)
        return by_fail(err, BARYON_ERR_INPUT, "input 0 has type %s, must be float32 or float16",
                       by_elem_name(in.elem));
    struct by_op_tensor out = in;
    if (by_op_output(call, &out, err))
        return -1;
    return in.elem == BY_ELEM_FLOAT ? round_floats(blocks, &in, call, in.data, out.data, err)
                                    : round_halves(blocks, &in, call, out.data, err);
}
