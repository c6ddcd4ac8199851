/* Runs of values to codes and back, on all threads. */
#include "dtype/family.h"
#include "dtype/fast.h"

#include <math.h>

#define GRAIN 16384 /* values of a piece */
#define CHUNK 256   /* codes between encode and decode */

struct work {
    const struct by_dtype *dtype;
    const struct by_cast *cast;
    const float *in;
    const void *from;
    void *codes;
    float *out;
};

static int check_cast(const struct by_dtype *dtype, const struct by_cast *cast,
                      struct baryon_error *err)
{
    if (!dtype->does)
        return by_fail(err, BARYON_ERR_INTERNAL, "%s is a block format, must use by_block_round()",
                       dtype->name);
    if (!(cast->scale > 0) || isinf(cast->scale))
        return by_fail(err, BARYON_ERR_INPUT,
                       "the scale of %s is %g, must be finite and greater than 0", dtype->name,
                       (double)cast->scale);
    if (cast->zero && dtype->does == &by_family_e8m0)
        return by_fail(err, BARYON_ERR_INPUT, "%s has no zero point, but %lld is given",
                       dtype->name, (long long)cast->zero);
    return 0;
}

static int encode_piece(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct work *work = context;
    char *codes = (char *)work->codes + begin * by_dtype_code_bytes(work->dtype);
    (void)worker, (void)err;
    if (!by_fast_encode(work->dtype, work->in + begin, end - begin, work->cast, codes))
        work->dtype->does->encode(work->dtype, work->in + begin, end - begin, begin, work->cast,
                                  codes);
    return 0;
}

int by_dtype_encode(const struct by_dtype *dtype, const float *in, size_t count,
                    const struct by_cast *cast, struct by_pool *pool, void *codes,
                    struct baryon_error *err)
{
    struct work work = {.dtype = dtype, .cast = cast, .in = in, .codes = codes};
    if (check_cast(dtype, cast, err))
        return -1;
    return by_par_for(pool, count, GRAIN, encode_piece, &work, err);
}

static int decode_piece(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct work *work = context;
    const char *codes = (const char *)work->from + begin * by_dtype_code_bytes(work->dtype);
    (void)worker, (void)err;
    if (!by_fast_decode(work->dtype, codes, end - begin, work->cast, work->out + begin))
        work->dtype->does->decode(work->dtype, codes, end - begin, work->cast, work->out + begin);
    return 0;
}

int by_dtype_decode(const struct by_dtype *dtype, const void *codes, size_t count,
                    const struct by_cast *cast, struct by_pool *pool, float *out,
                    struct baryon_error *err)
{
    struct work work = {.dtype = dtype, .cast = cast, .from = codes, .out = out};
    if (check_cast(dtype, cast, err))
        return -1;
    return by_par_for(pool, count, GRAIN, decode_piece, &work, err);
}

static int round_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct work *work = context;
    const struct by_dtype_family *does = work->dtype->does;
    uint32_t codes[CHUNK];
    (void)worker, (void)err;
    if (by_fast_round(work->dtype, work->in + begin, end - begin, work->cast, work->out + begin))
        return 0;
    for (size_t i = begin; i < end; i += CHUNK) {
        const size_t count = end - i < CHUNK ? end - i : CHUNK;
        does->encode(work->dtype, work->in + i, count, i, work->cast, codes);
        does->decode(work->dtype, codes, count, work->cast, work->out + i);
    }
    return 0;
}

int by_dtype_steps(const struct by_dtype *dtype, const float *in, size_t count, float *steps,
                   float *held, struct baryon_error *err)
{
    if (dtype->does != &by_family_float)
        return by_fail(err, BARYON_ERR_INTERNAL, "%s is not a float format", dtype->name);
    for (size_t i = 0; i < count; i++)
        by_float_step(dtype, 1, in[i], &steps[i], &held[i]);
    return 0;
}

int by_dtype_round(const struct by_dtype *dtype, const float *in, size_t count,
                   const struct by_cast *cast, struct by_pool *pool, float *out,
                   struct baryon_error *err)
{
    struct work work = {.dtype = dtype, .cast = cast, .in = in, .out = out};
    if (check_cast(dtype, cast, err))
        return -1;
    return by_par_for(pool, count, GRAIN, round_piece, &work, err);
}
