/*
 * Integers of constants, and back. A tensor is walked in its own order, a piece of PIECE values at
 * a time, in runs of values with one scale; where the channel axis is the last one, each value of
 * a run has a scale of its own.
 */
#include "ir/tensor.h"
#include "quant/weights_layout.h"
#include "quant/weights_search.h"

#include <math.h>
#include <string.h>

#define PIECE 8192 /* up to four small integers share a byte */

struct job {
    const struct by_weight_view *view;
    const struct by_weight_path *path;
    struct by_weight_layout layout;
    const struct by_tensor_spec *spec;
    const struct by_params *params;
    int64_t qmin, qmax;
    bool wide;
    bool each;             /* channels are neighbours */
    float *scales, *zeros; /* then: [group][channel] */
    uint8_t *out;
    float *meant; /* where not NULL: gets what the integers mean, and `out` nothing */
};

/* Where a value stands: its parameters, and for how many values after it they hold. */
struct place {
    size_t channel, group, run;
};

static size_t along(const struct by_weight_axis *axis, size_t at)
{
    return axis->stride ? at / axis->stride % axis->count : 0;
}

static struct place place_of_element(const struct by_weight_layout *layout, size_t at)
{
    const size_t inner = layout->inner.count, y = along(&layout->group, at);
    const bool group_last = layout->group.stride == inner && layout->group.count > 1;
    struct place place = {.channel = along(&layout->channel, at), .group = y / layout->group_size};
    size_t more = 0; /* steps along the group axis that stay in the group */
    if (group_last) {
        const size_t next = (place.group + 1) * layout->group_size;
        more = (next < layout->group.count ? next : layout->group.count) - 1 - y;
    }
    place.run = inner - at % inner + more * inner;
    return place;
}

/* --- To integers --- */

static struct by_weight_grid grid_of(const struct job *job, size_t param)
{
    const int64_t zero = job->params->zeros[param];
    return (struct by_weight_grid){.scale = job->params->scales[param],
                                   .low = (float)(job->qmin - zero),
                                   .high = (float)(job->qmax - zero),
                                   .zero = (int32_t)zero};
}

static void round_run(const struct job *job, size_t at, size_t count, struct place place,
                      int32_t *out)
{
    const float *values = job->view->values + at;
    if (job->each) {
        const size_t param = place.group * job->layout.channel.count + place.channel;
        job->path->round_each(values, count, job->scales + param, job->zeros + param,
                              (float)job->qmin, (float)job->qmax, out);
        return;
    }
    const struct by_weight_grid grid =
        grid_of(job, place.channel * job->layout.groups + place.group);
    job->path->round(values, count, &grid, out);
}

/* The whole level fits 32 bits, signed or not. */
static void round_wide(const struct job *job, size_t at, size_t count, struct place place,
                       int32_t *out)
{
    for (size_t i = 0; i < count; i++) {
        const size_t channel = place.channel + (job->each ? i : 0);
        const size_t param = channel * job->layout.groups + place.group;
        const int64_t zero = job->params->zeros[param];
        const int64_t level = (int64_t)by_weight_level(
            job->view->values[at + i], job->params->scales[param], zero, job->qmin, job->qmax);
        out[i] = (int32_t)(uint32_t)(uint64_t)(level + zero);
    }
}

static void store8(const int32_t *levels, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)levels[i];
}

static void store16(const int32_t *levels, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        const uint16_t level = (uint16_t)levels[i];
        memcpy(out + 2 * i, &level, sizeof level);
    }
}

/* The first of two in the low bits. */
static void store4(const int32_t *levels, size_t count, uint8_t *out)
{
    for (size_t i = 0; i + 2 <= count; i += 2)
        out[i / 2] = (uint8_t)((levels[i] & 15) | (levels[i + 1] & 15) << 4);
    if (count % 2)
        out[count / 2] = (uint8_t)(levels[count - 1] & 15);
}

/* The first of four in the lowest bits. */
static void store2(const int32_t *levels, size_t count, uint8_t *out)
{
    memset(out, 0, (count + 3) / 4);
    for (size_t i = 0; i < count; i++)
        out[i / 4] = (uint8_t)(out[i / 4] | (levels[i] & 3) << (i % 4 * 2));
}

static void store(const struct job *job, const int32_t *levels, size_t at, size_t count)
{
    switch (by_elem_info(job->spec->elem)->bits) {
    case 2:
        store2(levels, count, job->out + at / 4);
        break;
    case 4:
        store4(levels, count, job->out + at / 2);
        break;
    case 8:
        store8(levels, count, job->out + at);
        break;
    case 16:
        store16(levels, count, job->out + 2 * at);
        break;
    default:
        memcpy(job->out + 4 * at, levels, 4 * count);
    }
}

static void mean_run(const struct job *job, size_t at, size_t count, struct place place)
{
    const struct by_weight_grid grid =
        grid_of(job, place.channel * job->layout.groups + place.group);
    job->path->there_and_back(job->view->values + at, count, &grid, job->meant + at);
}

/* Levels and zero points of 16 bits and fewer are exact in float, and so is their difference. */
static void mean_each(const struct job *job, struct place place, const int32_t *levels,
                      size_t count, float *out)
{
    const size_t param = place.group * job->layout.channel.count + place.channel;
    const float *scales = job->scales + param, *zeros = job->zeros + param;
    for (size_t i = 0; i < count; i++)
        out[i] = ((float)levels[i] - zeros[i]) * scales[i];
}

static int round_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct job *job = context;
    int32_t levels[PIECE];
    float min, max;
    (void)worker;
    if (!job->path->extremes(job->view->values + begin, end - begin, &min, &max))
        return by_weight_refuse(job->view, err);
    for (size_t at = begin; at < end;) {
        struct place place = place_of_element(&job->layout, at);
        if (job->each)
            place.run = job->layout.channel.count - place.channel;
        const size_t run = place.run < end - at ? place.run : end - at;
        if (job->meant && !job->each)
            mean_run(job, at, run, place);
        else if (job->wide)
            round_wide(job, at, run, place, levels + (at - begin));
        else
            round_run(job, at, run, place, levels + (at - begin));
        if (job->meant && job->each)
            mean_each(job, place, levels + (at - begin), run, job->meant + at);
        at += run;
    }
    if (!job->meant)
        store(job, levels, begin, end - begin);
    return 0;
}

static int check_params(const struct job *job, struct baryon_error *err)
{
    const struct by_params *params = job->params;
    const size_t wanted = job->layout.channel.count * job->layout.groups;
    if (params->count != wanted)
        return by_fail(err, BARYON_ERR_INTERNAL, "%zu scales for %zu channels and groups",
                       params->count, wanted);
    char type[32];
    for (size_t i = 0; i < params->count; i++) {
        if (!(params->scales[i] > 0) || isinf(params->scales[i]))
            return by_fail(err, BARYON_ERR_USAGE, "scale %g, must be finite and greater than 0",
                           (double)params->scales[i]);
        if (params->zeros[i] < job->qmin || params->zeros[i] > job->qmax)
            return by_fail(err, BARYON_ERR_USAGE,
                           "zero point %lld, must be a value of %s, %lld to %lld",
                           (long long)params->zeros[i], by_spec_type(job->spec, type, sizeof type),
                           (long long)job->qmin, (long long)job->qmax);
    }
    return 0;
}

static int open_each(struct job *job, struct baryon_error *err)
{
    const size_t channels = job->layout.channel.count, groups = job->layout.groups;
    job->scales = by_alloc(job->params->count, sizeof *job->scales, err);
    job->zeros = by_alloc(job->params->count, sizeof *job->zeros, err);
    if (!job->scales || !job->zeros)
        return -1;
    for (size_t c = 0; c < channels; c++)
        for (size_t g = 0; g < groups; g++) {
            job->scales[g * channels + c] = job->params->scales[c * groups + g];
            job->zeros[g * channels + c] = (float)job->params->zeros[c * groups + g];
        }
    return 0;
}

static int open_job(struct job *job, const struct by_weight_view *view,
                    const struct by_tensor_spec *spec, const struct by_params *params, size_t size,
                    struct baryon_error *err)
{
    size_t bytes;
    *job =
        (struct job){.view = view, .path = by_weight_path_chosen(), .spec = spec, .params = params};
    by_spec_levels(spec, &job->qmin, &job->qmax);
    if (job->qmin >= job->qmax)
        return by_fail(err, BARYON_ERR_USAGE, "constants cannot be quantized to %s",
                       by_elem_name(spec->elem));
    job->wide = job->qmax - job->qmin > UINT16_MAX;
    if (by_weight_layout(view, spec, &job->layout, err) || check_params(job, err) ||
        by_elem_bytes(spec->elem, job->layout.count, &bytes, err))
        return -1;
    if (bytes != size)
        return by_fail(err, BARYON_ERR_INTERNAL, "%zu bytes for integers of %zu", size, bytes);
    job->each = job->layout.channel.stride == 1 && job->layout.channel.count > 1;
    return 0;
}

static int run_job(struct job *job, struct by_pool *pool, struct baryon_error *err)
{
    int status = job->each ? open_each(job, err) : 0;
    if (status == 0 && job->layout.count)
        status = by_par_for(pool, job->layout.count, PIECE, round_piece, job, err);
    by_free(job->scales);
    by_free(job->zeros);
    return status;
}

int by_weight_quantize(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                       const struct by_params *params, struct by_pool *pool, uint8_t *out,
                       size_t size, struct baryon_error *err)
{
    struct job job;
    if (open_job(&job, view, spec, params, size, err) < 0)
        return -1;
    job.out = out;
    return run_job(&job, pool, err);
}

/* --- Back --- */

#define LEVELS 256 /* at a time */

static void mean(const struct job *job, struct place place, const int64_t *levels, size_t count,
                 float *out)
{
    for (size_t i = 0; i < count; i++) {
        const size_t channel = place.channel + (job->each ? i : 0);
        const size_t param = channel * job->layout.groups + place.group;
        out[i] = (float)(levels[i] - job->params->zeros[param]) * job->params->scales[param];
    }
}

int by_weight_dequantize(const uint8_t *integers, const struct by_weight_view *view,
                         const struct by_tensor_spec *spec, const struct by_params *params,
                         float *out, struct baryon_error *err)
{
    struct job job;
    int64_t levels[LEVELS];
    size_t size = 0;
    if (by_elem_info(spec->elem) == NULL)
        return by_fail(err, BARYON_ERR_USAGE, "constants of unknown type");
    if (by_weight_layout(view, spec, &job.layout, err) ||
        by_elem_bytes(spec->elem, job.layout.count, &size, err) ||
        open_job(&job, view, spec, params, size, err))
        return -1;
    for (size_t at = 0; at < job.layout.count;) {
        struct place place = place_of_element(&job.layout, at);
        size_t count = job.each ? job.layout.channel.count - place.channel : place.run;
        count = count < LEVELS ? count : LEVELS;
        count = count < job.layout.count - at ? count : job.layout.count - at;
        if (by_elem_to_ints(spec->elem, integers, at, count, levels, err) < 0)
            return -1;
        mean(&job, place, levels, count, out + at);
        at += count;
    }
    return 0;
}

/* --- There and back --- */

static int round_by_integers(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                             const struct by_params *params, struct by_pool *pool, size_t size,
                             float *out, struct baryon_error *err)
{
    uint8_t *integers = by_alloc(size, 1, err);
    int status = integers ? 0 : -1;
    if (status == 0)
        status = by_weight_quantize(view, spec, params, pool, integers, size, err);
    if (status == 0)
        status = by_weight_dequantize(integers, view, spec, params, out, err);
    by_free(integers);
    return status;
}

int by_weight_round(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                    const struct by_params *params, struct by_pool *pool, float *out,
                    struct baryon_error *err)
{
    struct by_weight_layout layout;
    struct job job;
    size_t size;
    if (by_weight_layout(view, spec, &layout, err) < 0 ||
        by_elem_bytes(spec->elem, layout.count, &size, err) < 0 ||
        open_job(&job, view, spec, params, size, err) < 0)
        return -1;
    if (job.wide)
        return round_by_integers(view, spec, params, pool, size, out, err);
    job.meant = out;
    return run_job(&job, pool, err);
}
