/* Finds the scale and zero point of one block of MatMulNBits by RTN or HQQ. */
#include "base/half.h"
#include "quant/nbits_internal.h"

#include <math.h>

/* Of minmse: the whole range and smaller ones. */
#define SHRINK_STEP 0.02
#define SHRINK_MOST 25

/* Of HQQ, as its authors have them. */
#define ROUNDS 20
#define NORM   0.7f
#define BETA   10.0f
#define GROWTH 1.01f

static float greatest(const struct by_nbits_spec *spec)
{
    return (float)((1u << spec->bits) - 1);
}

static float middle(const struct by_nbits_spec *spec)
{
    return (float)(1u << (spec->bits - 1));
}

float by_nbits_stored(const struct by_nbits_spec *spec, float value)
{
    return spec->half ? by_f16_to_f32_one(by_f32_to_f16_one(value)) : value;
}

static float stored_scale(const struct by_nbits_spec *spec, float scale)
{
    const float stored = by_nbits_stored(spec, scale);
    return stored == 0 || !isfinite(stored) ? 1 : stored;
}

static float cut(float value, float low, float high)
{
    return value < low ? low : value > high ? high : value;
}

float by_nbits_level(const struct by_nbits_spec *spec, struct by_nbits_block block, float value)
{
    const float zero = nearbyintf(block.zero);
    if (zero == block.zero)
        return cut(nearbyintf(value / block.scale) + zero, 0, greatest(spec));
    return cut(nearbyintf(value / block.scale + block.zero), 0, greatest(spec));
}

/* --- RTN --- */

static double error_of(const struct by_nbits_spec *spec, struct by_nbits_block block,
                       const float *values, size_t count)
{
    const struct by_weight_grid grid = {
        .scale = block.scale, .low = -block.zero, .high = greatest(spec) - block.zero};
    return by_weight_path_chosen()->error(values, count, &grid, INFINITY);
}

/* The greatest magnitude becomes the outermost level, which is one below the middle's mirror:
 * the scale has the other sign than that value. */
static struct by_nbits_block symmetric_block(const struct by_nbits_spec *spec, float least,
                                             float most, double factor)
{
    const double outermost = (double)(most > -least ? most : least);
    const float scale = (float)(outermost * factor / (double)-middle(spec));
    return (struct by_nbits_block){stored_scale(spec, scale), middle(spec)};
}

static struct by_nbits_block asymmetric_block(const struct by_nbits_spec *spec, float least,
                                              float most, double factor)
{
    const double low = fmin((double)least, 0) * factor, high = fmax((double)most, 0) * factor;
    const float scale = stored_scale(spec, (float)((high - low) / (double)greatest(spec)));
    const float zero = cut(nearbyintf((float)-low / scale), 0, greatest(spec));
    return (struct by_nbits_block){scale, zero};
}

struct by_nbits_block by_nbits_rtn(const struct by_nbits_spec *spec, const float *values,
                                   size_t count)
{
    struct by_nbits_block (*block_of)(const struct by_nbits_spec *, float, float, double) =
        spec->symmetric ? symmetric_block : asymmetric_block;
    float least, most;
    by_weight_path_chosen()->extremes(values, count, &least, &most);
    struct by_nbits_block best = block_of(spec, least, most, 1);
    if (!spec->minmse || (least == 0 && most == 0))
        return best;
    double error = error_of(spec, best, values, count);
    for (int i = 1; i <= 2 * SHRINK_MOST; i++) {
        /* Of symmetric ones also with the other sign: then the mirror of the outermost is it. */
        const double factor = 1 - SHRINK_STEP * (i / 2);
        struct by_nbits_block block = block_of(spec, least, most, factor);
        if (i % 2 && spec->symmetric)
            block.scale = -block.scale;
        const double now = error_of(spec, block, values, count);
        if (now < error) {
            error = now;
            best = block;
        }
    }
    return best;
}

/* --- HQQ --- */

/* What is left of an error whose norm of a power below one is kept small. */
static float shrunk(float off, float beta)
{
    const float size = fabsf(off);
    if (size == 0)
        return 0;
    const float left = size - powf(size, NORM - 1) / beta;
    return left > 0 ? copysignf(left, off) : 0;
}

/* The zero point that fits the levels best; *error: mean magnitude of what the old one left. */
static float next_zero(const struct by_nbits_spec *spec, struct by_nbits_block block, float beta,
                       const float *values, size_t count, double *error)
{
    double sum = 0, off_sum = 0;
    for (size_t i = 0; i < count; i++) {
        const float level = by_nbits_level(spec, block, values[i]);
        const float off = values[i] - (level - block.zero) * block.scale;
        sum += (double)(level - (values[i] - shrunk(off, beta)) / block.scale);
        off_sum += (double)fabsf(off);
    }
    *error = off_sum / (double)count;
    return by_nbits_stored(spec, (float)(sum / (double)count));
}

struct by_nbits_block by_nbits_hqq(const struct by_nbits_spec *spec, const float *values,
                                   size_t count)
{
    float least, most, beta = BETA;
    by_weight_path_chosen()->extremes(values, count, &least, &most);
    struct by_nbits_block block;
    block.scale = stored_scale(spec, (most - least) / greatest(spec));
    if (most <= least) { /* all alike: one level, exactly */
        block.scale = least == 0 ? 1 : stored_scale(spec, least);
        block.zero = least == 0 ? 0 : -1;
        return block;
    }
    block.zero = nearbyintf(-least / block.scale);
    struct by_nbits_block best = block;
    double error = INFINITY, now;
    for (int i = 0; i < ROUNDS; i++) {
        const float zero = next_zero(spec, block, beta, values, count, &now);
        if (!(now < error))
            break;
        error = now;
        best = block;
        block.zero = zero;
        beta *= GROWTH;
    }
    return best;
}
