/* Quantizes and packs the weights of MatMulNBits, channel by channel. */
#include "quant/nbits.h"

#include "quant/nbits_internal.h"

#include <math.h>
#include <string.h>

#define PIECE_CHANNELS 16 /* a line of the cache, where channels are neighbours */

struct job {
    const struct by_weight_view *view;
    const struct by_nbits_spec *spec;
    struct by_weight_layout layout;
    struct by_nbits *made;
    double *errors; /* of channels */
};

/* --- Levels --- */

void by_nbits_pack(unsigned bits, const uint8_t *levels, size_t count, uint8_t *out)
{
    const unsigned each = 8 / bits;
    memset(out, 0, (count + each - 1) / each);
    for (size_t i = 0; i < count; i++)
        out[i / each] = (uint8_t)(out[i / each] | levels[i] << (i % each * bits));
}

/* What is after the last input stands for zero, as well as can be. */
static double write_block(const struct job *job, struct by_nbits_block block, const float *values,
                          size_t count, uint8_t *out)
{
    uint8_t levels[BY_NBITS_BLOCK_MAX];
    double error = 0;
    for (size_t i = 0; i < job->spec->block; i++) {
        const float value = i < count ? values[i] : 0;
        const float level = by_nbits_level(job->spec, block, value);
        const double off = (double)((level - block.zero) * block.scale) - (double)value;
        error += i < count ? off * off : 0;
        levels[i] = (uint8_t)level;
    }
    by_nbits_pack(job->spec->bits, levels, job->spec->block, out);
    return error;
}

static void quantize_channel(const struct job *job, const float *values, size_t channel)
{
    const struct by_nbits *made = job->made;
    const size_t size = job->spec->block;
    double error = 0;
    for (size_t b = 0; b < made->blocks; b++) {
        const size_t left = made->inputs - b * size, count = left < size ? left : size;
        const size_t at = channel * made->blocks + b;
        const struct by_nbits_block block = job->spec->method == BY_NBITS_HQQ
                                                ? by_nbits_hqq(job->spec, values + b * size, count)
                                                : by_nbits_rtn(job->spec, values + b * size, count);
        made->scales[at] = block.scale;
        made->zeros[at] = block.zero;
        error += write_block(job, block, values + b * size, count,
                             made->levels + at * made->block_bytes);
    }
    job->errors[channel] = error;
}

static int quantize_channels(void *context, size_t begin, size_t end, unsigned worker,
                             struct baryon_error *err)
{
    const struct job *job = context;
    const size_t inputs = job->made->inputs;
    float *rows = by_alloc((end - begin) * inputs, sizeof *rows, err), min, max;
    int status = rows ? 0 : -1;
    (void)worker;
    if (rows)
        by_weight_gather(&job->layout, job->view->values, begin, end - begin, rows);
    if (rows && !by_weight_path_chosen()->extremes(rows, (end - begin) * inputs, &min, &max))
        status = by_weight_refuse(job->view, err);
    for (size_t c = begin; c < end && status == 0; c++)
        quantize_channel(job, rows + (c - begin) * inputs, c);
    by_free(rows);
    return status;
}

/* --- Around it --- */

static int check_spec(const struct by_nbits_spec *spec, struct baryon_error *err)
{
    if (spec->bits != 2 && spec->bits != 4 && spec->bits != 8)
        return by_fail(err, BARYON_ERR_USAGE, "%u bits, must be 2, 4 or 8 for MatMulNBits",
                       spec->bits);
    if (spec->block < 16 || spec->block > BY_NBITS_BLOCK_MAX || (spec->block & (spec->block - 1)))
        return by_fail(err, BARYON_ERR_USAGE,
                       "block size %zu, must be 16, 32, 64, 128 or 256 for MatMulNBits",
                       spec->block);
    if (spec->method == BY_NBITS_HQQ && spec->bits == 8) {
        by_fail(err, BARYON_ERR_UNSUPPORTED,
                "HQQ with 8 bits: ONNX Runtime accepts only integer zero points there");
        return by_err_hint(err, "use 4 bits, or RTN");
    }
    return 0;
}

static int open_made(struct by_nbits *made, const struct by_weight_layout *layout,
                     const struct by_nbits_spec *spec, struct baryon_error *err)
{
    *made = (struct by_nbits){.channels = layout->channel.count,
                              .inputs = layout->group.count,
                              .blocks = layout->groups,
                              .block_bytes = spec->block * spec->bits / 8,
                              .float_zeros = spec->method == BY_NBITS_HQQ};
    const size_t params = made->channels * made->blocks;
    made->levels = by_alloc(params, made->block_bytes, err);
    made->scales = by_alloc(params, sizeof *made->scales, err);
    made->zeros = by_alloc(params, sizeof *made->zeros, err);
    return made->levels && made->scales && made->zeros ? 0 : -1;
}

int by_nbits_room(struct by_nbits *made, const struct by_weight_view *view,
                  const struct by_nbits_spec *spec, struct by_weight_layout *layout,
                  struct baryon_error *err)
{
    const struct by_tensor_spec groups = {.granularity = BY_PER_GROUP,
                                          .group = (int64_t)spec->block};
    *made = (struct by_nbits){0};
    if (check_spec(spec, err) || by_weight_layout(view, &groups, layout, err))
        return -1;
    if (view->rank != 2 || !layout->count)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "MatMulNBits requires a matrix that is not empty");
    return open_made(made, layout, spec, err);
}

static int quantize_all(struct job *job, struct by_pool *pool, struct baryon_error *err)
{
    struct by_nbits *made = job->made;
    job->errors = by_alloc(made->channels, sizeof *job->errors, err);
    if (!job->errors)
        return -1;
    int status = by_par_for(pool, made->channels, PIECE_CHANNELS, quantize_channels, job, err);
    for (size_t c = 0; c < made->channels && status == 0; c++)
        made->error += job->errors[c];
    made->error /= (double)job->layout.count;
    by_free(job->errors);
    return status;
}

int by_nbits_open(struct by_nbits *made, const struct by_weight_view *view,
                  const struct by_nbits_spec *spec, struct by_pool *pool, struct baryon_error *err)
{
    struct job job = {.view = view, .spec = spec, .made = made};
    const int failed =
        by_nbits_room(made, view, spec, &job.layout, err) || quantize_all(&job, pool, err);
    if (failed)
        by_nbits_close(made);
    return failed ? -1 : 0;
}

void by_nbits_close(struct by_nbits *made)
{
    by_free(made->levels);
    by_free(made->scales);
    by_free(made->zeros);
    *made = (struct by_nbits){0};
}

size_t by_nbits_zero_bytes(const struct by_nbits *made, const struct by_nbits_spec *spec)
{
    return (made->blocks * spec->bits + 7) / 8;
}

void by_nbits_pack_zeros(const struct by_nbits *made, const struct by_nbits_spec *spec,
                         uint8_t *out)
{
    const size_t each = by_nbits_zero_bytes(made, spec);
    uint8_t levels[BY_NBITS_BLOCK_MAX];
    for (size_t c = 0; c < made->channels; c++)
        for (size_t done = 0; done < made->blocks; done += BY_NBITS_BLOCK_MAX) {
            const size_t left = made->blocks - done;
            const size_t count = left < BY_NBITS_BLOCK_MAX ? left : BY_NBITS_BLOCK_MAX;
            for (size_t i = 0; i < count; i++)
                levels[i] = (uint8_t)made->zeros[c * made->blocks + done + i];
            by_nbits_pack(spec->bits, levels, count, out + c * each + done * spec->bits / 8);
        }
}
