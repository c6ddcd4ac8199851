/* Finds the scales and zero points of constants, channel by channel on all threads. */
#include "quant/weights.h"

#include "quant/weights_layout.h"
#include "quant/weights_search.h"

#include <math.h>

/* Values of neighbouring channels that are worked on together, and how many channels at least
 * where their values stand apart: a line of the cache. */
#define PIECE_VALUES 65536
#define LINE         16

struct job {
    const struct by_weight_view *view;
    struct by_weight_search search;
    struct by_weight_layout layout;
    struct by_params *params;
    double *errors; /* [channel][group] */
};

/* One channel, its values in a row. */
struct row {
    const struct job *job;
    const float *values;
    size_t channel;
};

static int choose_group(const struct job *job, const float *values, size_t channel, size_t group,
                        struct baryon_error *err)
{
    const size_t at = channel * job->layout.groups + group;
    struct by_weight_unit unit = {0};
    struct by_weight_choice choice;
    bool finite = true;
    size_t begin;
    unit.count = by_weight_group_elements(&job->layout, group, &begin);
    unit.values = values + begin;
    if (by_weight_extremes(&job->search, &unit, &finite, err) < 0)
        return -1;
    if (!finite)
        return by_weight_refuse(job->view, err);
    if (by_weight_choose(&job->search, &unit, &choice, err) < 0)
        return -1;
    job->params->scales[at] = choice.scale;
    job->params->zeros[at] = choice.zero;
    job->errors[at] = choice.error;
    return 0;
}

static int choose_groups(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    const struct row *row = context;
    (void)worker;
    for (size_t g = begin; g < end; g++)
        if (choose_group(row->job, row->values, row->channel, g, err) < 0)
            return -1;
    return 0;
}

static int choose_channel(const struct job *job, const float *values, size_t channel,
                          struct baryon_error *err)
{
    struct row row = {job, values, channel};
    const size_t grain = PIECE_VALUES / job->layout.group_size + 1;
    if (job->layout.groups == 1)
        return choose_group(job, values, channel, 0, err);
    return by_par_for(job->search.pool, job->layout.groups, grain, choose_groups, &row, err);
}

static int choose_channels(void *context, size_t begin, size_t end, unsigned worker,
                           struct baryon_error *err)
{
    const struct job *job = context;
    const size_t each = job->layout.channel_count;
    const float *values = job->view->values + begin * each;
    float *gathered = NULL;
    int status = 0;
    (void)worker;
    if (!job->layout.in_place) {
        if (!(gathered = by_alloc((end - begin) * each, sizeof *gathered, err)))
            return -1;
        by_weight_gather(&job->layout, job->view->values, begin, end - begin, gathered);
        values = gathered;
    }
    for (size_t c = begin; c < end && status == 0; c++)
        status = choose_channel(job, values + (c - begin) * each, c, err);
    by_free(gathered);
    return status;
}

static int open_params(const struct by_weight_view *view, const struct by_weight_layout *layout,
                       const struct by_tensor_spec *spec, struct by_arena *arena,
                       struct by_params *params, struct baryon_error *err)
{
    const bool grouped = spec->granularity == BY_PER_GROUP && view->group_axis >= 0;
    *params = (struct by_params){
        .count = layout->channel.count * layout->groups,
        .axis = spec->granularity == BY_PER_TENSOR ? -1 : view->axis,
        .group_axis = grouped ? view->group_axis : -1,
        .groups = layout->groups,
    };
    params->scales = by_arena_alloc(arena, params->count, sizeof *params->scales, err);
    params->zeros = by_arena_alloc(arena, params->count, sizeof *params->zeros, err);
    return params->scales && params->zeros ? 0 : -1;
}

static int choose_all(struct job *job, double *error, struct baryon_error *err)
{
    const struct by_weight_layout *layout = &job->layout;
    const struct by_params *params = job->params;
    size_t grain = PIECE_VALUES / (layout->channel_count + 1) + 1;
    if (!layout->in_place && grain < LINE)
        grain = LINE;
    int status =
        layout->channel.count == 1 /* its threads work inside the channel */
            ? choose_channels(job, 0, 1, 0, err)
            : by_par_for(job->search.pool, layout->channel.count, grain, choose_channels, job, err);
    if (status < 0)
        return -1;
    double sum = 0;
    for (size_t i = 0; i < params->count; i++)
        sum += job->errors[i];
    *error = sum / (double)layout->count;
    return 0;
}

int by_weight_params(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                     struct by_pool *pool, struct by_arena *arena, struct by_params *params,
                     double *error, struct baryon_error *err)
{
    struct job job = {.view = view, .params = params};
    double unwanted;
    if (!error)
        error = &unwanted;
    if (by_weight_layout(view, spec, &job.layout, err) ||
        by_weight_search_open(&job.search, spec, pool, err) ||
        open_params(view, &job.layout, spec, arena, params, err))
        return -1;
    for (size_t i = 0; i < params->count; i++)
        params->scales[i] = 1;
    *error = 0;
    if (!job.layout.count)
        return 0;
    if (!(job.errors = by_alloc(params->count, sizeof *job.errors, err)))
        return -1;
    int status = choose_all(&job, error, err);
    by_free(job.errors);
    return status;
}
