/* MatMulNBits from levels that were chosen elsewhere, and back to values. */
#include "ir/tensor.h"
#include "quant/nbits_internal.h"

struct by_nbits_spec by_nbits_spec_of(const struct by_recipe *recipe,
                                      const struct by_quant_row *row, bool as_table)
{
    const enum by_nbits_method method = recipe->nbits.method;
    return (struct by_nbits_spec){.bits = (unsigned)recipe->nbits.bits,
                                  .block = (size_t)recipe->nbits.group,
                                  .symmetric = recipe->nbits.symmetric,
                                  .minmse = method == BY_NBITS_MINMSE,
                                  .half = row->value->initializer->data_type == BY_ELEM_FLOAT16,
                                  .method = as_table || method == BY_NBITS_MINMSE ? BY_NBITS_RTN
                                                                                  : method};
}

static int top_of(const struct by_nbits_spec *spec)
{
    return (1 << spec->bits) - 1;
}

/* --- Values --- */

void by_nbits_values(const struct by_nbits *made, const struct by_weight_view *view,
                     const struct by_nbits_spec *spec, float *out)
{
    const size_t channel = view->axis == 0 ? made->inputs : 1;
    const size_t input = view->axis == 0 ? 1 : made->channels;
    const unsigned each = 8 / spec->bits;
    for (size_t c = 0; c < made->channels; c++)
        for (size_t i = 0; i < made->inputs; i++) {
            const size_t at = c * made->blocks + i / spec->block, k = i % spec->block;
            const uint8_t byte = made->levels[at * made->block_bytes + k / each];
            const int level = byte >> (k % each * spec->bits) & top_of(spec);
            out[c * channel + i * input] = ((float)level - made->zeros[at]) * made->scales[at];
        }
}

/* --- Parameters --- */

int by_nbits_params(const struct by_nbits *made, const struct by_nbits_spec *spec,
                    struct by_arena *arena, struct by_params *params, struct baryon_error *err)
{
    const size_t count = made->channels * made->blocks;
    if (made->float_zeros)
        return by_fail(err, BARYON_ERR_INTERNAL, "zero points of HQQ are not integer levels");
    params->scales = by_arena_alloc(arena, count, sizeof *params->scales, err);
    params->zeros = by_arena_alloc(arena, count, sizeof *params->zeros, err);
    if (!params->scales || !params->zeros)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const bool turned = made->scales[i] < 0;
        const int zero = (int)made->zeros[i];
        params->scales[i] = turned ? -made->scales[i] : made->scales[i];
        params->zeros[i] = turned ? top_of(spec) - zero : zero;
    }
    params->count = count;
    params->groups = made->blocks;
    return 0;
}

/* --- Taking levels --- */

struct taking {
    struct by_nbits *made;
    const struct by_nbits_spec *spec;
    const struct by_weight_layout *layout;
    const struct by_params *params;
    const int32_t *levels;
    const float *values;
};

/* Without zero points all stand for the level in the middle: the scale is negative where the
 * parameters have another one. After the last input is what stands for zero. */
static double take_block(const struct taking *taking, size_t channel, size_t block)
{
    const struct by_nbits_spec *spec = taking->spec;
    struct by_nbits *made = taking->made;
    const size_t at = channel * made->blocks + block;
    const int top = top_of(spec), zero = (int)taking->params->zeros[at];
    const bool turned = spec->symmetric && zero != (top + 1) / 2;
    const float scale = taking->params->scales[at];
    uint8_t levels[BY_NBITS_BLOCK_MAX];
    double error = 0;
    for (size_t k = 0; k < spec->block; k++) {
        const size_t input = block * spec->block + k;
        const size_t place =
            channel * taking->layout->channel.stride + input * taking->layout->group.stride;
        const bool there = input < made->inputs;
        const int level = there ? taking->levels[place] : zero;
        const double off =
            there ? (double)((float)(level - zero) * scale) - (double)taking->values[place] : 0;
        error += off * off;
        levels[k] = (uint8_t)(turned ? top - level : level);
    }
    by_nbits_pack(spec->bits, levels, spec->block, made->levels + at * made->block_bytes);
    made->scales[at] = turned ? -scale : scale;
    made->zeros[at] = (float)(turned ? top - zero : zero);
    return error;
}

int by_nbits_take(struct by_nbits *made, const struct by_weight_view *view,
                  const struct by_nbits_spec *spec, const struct by_params *params,
                  const int32_t *levels, struct baryon_error *err)
{
    struct by_weight_layout layout;
    const struct taking taking = {made, spec, &layout, params, levels, view->values};
    if (by_nbits_room(made, view, spec, &layout, err) < 0) {
        by_nbits_close(made);
        return -1;
    }
    for (size_t c = 0; c < made->channels; c++)
        for (size_t b = 0; b < made->blocks; b++)
            made->error += take_block(&taking, c, b);
    made->error /= (double)layout.count;
    return 0;
}
