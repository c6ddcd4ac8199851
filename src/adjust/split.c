/* Splits channels with outliers off what matrix products read. */
#include "adjust/split.h"

#include "adjust/smooth_internal.h"
#include "base/outliers.h"
#include "ir/tensor.h"
#include "quant/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Channels of a tensor by falling peaks; the first `count` are split. */
struct choice {
    size_t *order;
    size_t count;
    double decibels;
};

/* --- Which channels --- */

struct peak {
    double peak;
    size_t channel;
};

static int compare_peaks(const void *one, const void *other)
{
    const struct peak *a = one, *b = other;
    if (a->peak != b->peak)
        return a->peak < b->peak ? 1 : -1;
    return a->channel < b->channel ? -1 : a->channel > b->channel;
}

static int compare_numbers(const void *one, const void *other)
{
    const size_t a = *(const size_t *)one, b = *(const size_t *)other;
    return a < b ? -1 : a > b;
}

static int sort_channels(struct by_arena *arena, const struct by_smooth_view *view, size_t *order,
                         struct baryon_error *err)
{
    struct peak *peaks = by_arena_alloc(arena, view->channels, sizeof *peaks, err);
    if (!peaks)
        return -1;
    for (size_t i = 0; i < view->channels; i++)
        peaks[i] = (struct peak){view->peak[i], i};
    qsort(peaks, view->channels, sizeof *peaks, compare_peaks);
    for (size_t i = 0; i < view->channels; i++)
        order[i] = peaks[i].channel;
    return 0;
}

struct noise {
    const struct by_smooth_view *view;
    const size_t *order;
};

/* Of rounding the channels that stay, through the weights. What is rounded to zero loses no more
 * than it has; products of those that are split off stay float. */
static double noise_without(const void *context, size_t count)
{
    const struct noise *of = context;
    const struct by_smooth_view *view = of->view;
    double low = 0, high = 0, noise = 0;
    const size_t row = by_quant_find(view->plan, view->group->tensor);
    for (size_t i = count; i < view->channels; i++) {
        low = fmin(low, (double)view->low[of->order[i]]);
        high = fmax(high, (double)view->high[of->order[i]]);
    }
    const double step = by_smooth_step(&view->plan->rows.at[row].spec, low, high);
    for (size_t i = count; i < view->channels; i++)
        noise += view->power[of->order[i]] * fmin(step * step / 12, view->square[of->order[i]]);
    return noise;
}

static void choose_count(const struct by_smooth_view *view, struct choice *choice)
{
    const struct noise of = {view, choice->order};
    choice->count = by_outliers_count(noise_without, &of, view->channels, &choice->decibels);
    qsort(choice->order, choice->count, sizeof *choice->order, compare_numbers);
}

/* What is wrong with a layer; NULL: it can be split. */
static const char *refuse_layer(const struct by_smooth_layer *layer)
{
    static const char *const products[] = {"MatMul", "Gemm", NULL};
    return by_node_is_one_of(layer->node, products) ? NULL : "a fused operator reads it";
}

static int choose_channels(struct by_smooth *smooth, const struct by_smooth_group *group,
                           struct by_stats *stats, struct choice *choice, const char **why,
                           struct baryon_error *err)
{
    struct by_smooth_view view;
    *why = group->why;
    for (size_t i = 0; !*why && i < group->layers.count; i++)
        *why = refuse_layer(&group->layers.at[i]);
    if (!*why && group->channels < BY_OUTLIERS_SHARE)
        *why = "it has too few channels";
    if (*why || !stats)
        return 0;
    choice->order = by_arena_alloc(&smooth->arena, group->channels, sizeof *choice->order, err);
    if (!choice->order || by_smooth_view_open(smooth, group, stats, &view, why, err) < 0)
        return -1;
    if (*why)
        return 0;
    const int status = sort_channels(&smooth->arena, &view, choice->order, err);
    if (status == 0)
        choose_count(&view, choice);
    by_smooth_view_close(&view);
    return status;
}

/* --- Writing --- */

static struct baryon_value *new_constant(struct by_smooth *smooth, const char *stem, int32_t elem,
                                         const int64_t *dims, size_t rank, const void *values,
                                         size_t bytes, struct baryon_error *err)
{
    const char *name = by_model_fresh_name(smooth->plan->model, stem, err);
    struct baryon_tensor *tensor =
        name ? by_tensor_new(smooth->plan->model, name, elem, dims, rank, values, bytes, err)
             : NULL;
    return tensor ? by_graph_add_initializer(smooth->graph, tensor, err) : NULL;
}

static struct baryon_node *new_node(struct by_smooth *smooth, const char *op_type, const char *stem,
                                    struct baryon_value *left, struct baryon_value *right,
                                    struct baryon_error *err)
{
    struct baryon_value *const inputs[] = {left, right};
    const char *name = left && right ? by_model_fresh_name(smooth->plan->model, stem, err) : NULL;
    return name ? by_graph_add_node(smooth->graph, op_type, NULL, name, inputs, 2, &name, 1, err)
                : NULL;
}

static struct baryon_value *mask_of(struct by_smooth *smooth, const struct by_smooth_group *group,
                                    const struct choice *choice, struct baryon_error *err)
{
    const int64_t dim = (int64_t)group->channels;
    float *values = by_alloc(group->channels, sizeof *values, err);
    if (!values)
        return NULL;
    for (size_t i = 0; i < group->channels; i++)
        values[i] = 1;
    for (size_t i = 0; i < choice->count; i++)
        values[choice->order[i]] = 0;
    struct baryon_value *mask = new_constant(smooth, "outlier_zeros", BY_ELEM_FLOAT, &dim, 1,
                                             values, group->channels * sizeof *values, err);
    by_free(values);
    return mask;
}

static struct baryon_value *numbers_of(struct by_smooth *smooth, const struct choice *choice,
                                       struct baryon_error *err)
{
    const int64_t dim = (int64_t)choice->count;
    int64_t *values = by_alloc(choice->count, sizeof *values, err);
    if (!values)
        return NULL;
    for (size_t i = 0; i < choice->count; i++)
        values[i] = (int64_t)choice->order[i];
    struct baryon_value *numbers = new_constant(smooth, "outlier_channels", BY_ELEM_INT64, &dim, 1,
                                                values, choice->count * sizeof *values, err);
    by_free(values);
    return numbers;
}

static size_t place_in_weight(const struct by_smooth_layer *layer, size_t in, size_t out)
{
    return layer->ins_first ? in * layer->outs + out : out * layer->ins + in;
}

/* The rows of the channels, [channels][outs]. In the layer's own weight they become zero, so that
 * they decide no scale there. */
static struct baryon_value *take_outlier_rows(struct by_smooth *smooth,
                                              const struct by_smooth_layer *layer,
                                              const struct choice *choice, struct baryon_error *err)
{
    const int64_t dims[] = {(int64_t)choice->count, (int64_t)layer->outs};
    const float alpha =
        by_node_is(layer->node, "Gemm") ? by_node_float(layer->node, "alpha", 1) : 1;
    struct baryon_value *taken = NULL;
    size_t count;
    float *weight = by_floats_copy(layer->weight->initializer, &count, err);
    float *rows = weight ? by_alloc(choice->count * layer->outs, sizeof *rows, err) : NULL;
    for (size_t i = 0; rows && i < choice->count; i++)
        for (size_t out = 0; out < layer->outs; out++) {
            const size_t place = place_in_weight(layer, choice->order[i], out);
            rows[i * layer->outs + out] = alpha * weight[place];
            weight[place] = 0;
        }
    if (rows &&
        by_floats_write(smooth->plan->model, layer->weight->initializer, weight, count, err) == 0)
        taken = new_constant(smooth, "outlier_weights", BY_ELEM_FLOAT, dims, 2, rows,
                             choice->count * layer->outs * sizeof *rows, err);
    by_free(weight);
    by_free(rows);
    return taken;
}

static int write_layer(struct by_smooth *smooth, const struct by_smooth_layer *layer,
                       struct baryon_value *masked, struct baryon_value *outliers,
                       const struct choice *choice, struct baryon_error *err)
{
    struct baryon_value *rest = by_node_out(layer->node, 0);
    struct baryon_value *rows = take_outlier_rows(smooth, layer, choice, err);
    struct baryon_node *product =
        rows ? new_node(smooth, "MatMul", BY_OUTLIER_MATMUL, outliers, rows, err) : NULL;
    struct baryon_node *add =
        product ? new_node(smooth, "Add", BY_OUTLIER_ADD, rest, by_node_out(product, 0), err)
                : NULL;
    if (!add)
        return -1;
    struct baryon_value *sum = by_node_out(add, 0);
    sum->elem = rest->elem;
    sum->shape = rest->shape;
    if (by_value_stand_in(sum, rest, add, "outlier_rest", err) < 0)
        return -1;
    by_node_out(product, 0)->elem = rest->elem;
    by_node_out(product, 0)->shape = rest->shape;
    return by_node_set_input(layer->node, 0, masked, err);
}

static int write_group(struct by_smooth *smooth, const struct by_smooth_group *group,
                       const struct choice *choice, struct baryon_error *err)
{
    struct baryon_value *tensor = group->tensor;
    struct baryon_node *mask =
        new_node(smooth, "Mul", BY_OUTLIER_MASK, tensor, mask_of(smooth, group, choice, err), err);
    struct baryon_node *gather = mask ? new_node(smooth, "Gather", BY_OUTLIER_GATHER, tensor,
                                                 numbers_of(smooth, choice, err), err)
                                      : NULL;
    if (!gather || by_node_set_int(gather, "axis", (int64_t)group->axis, err) < 0)
        return -1;
    by_node_out(mask, 0)->elem = by_node_out(gather, 0)->elem = tensor->elem;
    by_node_out(mask, 0)->shape = tensor->shape;
    for (size_t i = 0; i < group->layers.count; i++)
        if (write_layer(smooth, &group->layers.at[i], by_node_out(mask, 0), by_node_out(gather, 0),
                        choice, err) < 0)
            return -1;
    return 0;
}

/* --- The whole --- */

/* Multiply-adds of the group's layers that become float. */
static double macs_of(const struct by_smooth_group *group, const struct choice *choice)
{
    double macs = 0;
    bool open;
    for (size_t i = 0; i < group->layers.count; i++)
        macs += by_place_macs(group->layers.at[i].node, &open);
    return macs * (double)choice->count / (double)group->channels;
}

static double macs_of_all(const struct by_quant_plan *plan)
{
    double macs = 0;
    bool open;
    for (size_t i = 0; i < plan->node_count; i++)
        macs += by_place_macs(plan->nodes[i].node, &open);
    return macs;
}

static void tell_left(const struct by_log *log, const struct by_smooth_group *group,
                      const char *why)
{
    by_log(log, BY_LOG_INFO, "splitting leaves '%s' alone: %s", group->tensor->name, why);
}

static int do_group(struct by_smooth *smooth, const struct by_smooth_group *group,
                    struct by_stats *stats, const struct by_log *log, bool write,
                    struct by_split_report *report, struct baryon_error *err)
{
    struct choice choice = {0};
    const char *why;
    if (by_node_is(group->layers.at[0].node, "Conv"))
        return 0;
    if (choose_channels(smooth, group, stats, &choice, &why, err) < 0)
        return -1;
    if (why) {
        report->left++;
        tell_left(log, group, why);
        return 0;
    }
    report->matrices++;
    if (!choice.count) {
        report->left += stats != NULL;
        if (stats)
            tell_left(log, group, "no few channels are above the others");
        return 0;
    }
    by_log(log, BY_LOG_INFO, "splitting takes %zu of %zu channels off '%s'", choice.count,
           group->channels, group->tensor->name);
    report->tensors++;
    report->channels += choice.count;
    report->share += macs_of(group, &choice);
    report->decibels += choice.decibels;
    return write ? write_group(smooth, group, &choice, err) : 0;
}

static int do_all(struct by_quant_plan *plan, struct by_stats *stats, const struct by_log *log,
                  bool write, struct by_split_report *report, struct baryon_error *err)
{
    struct by_smooth smooth = {.plan = plan};
    const double macs = macs_of_all(plan);
    *report = (struct by_split_report){0};
    by_arena_init(&smooth.arena, SIZE_MAX);
    int status = by_smooth_find(&smooth, err);
    for (size_t i = 0; status == 0 && i < smooth.groups.count; i++)
        status = do_group(&smooth, &smooth.groups.at[i], stats, log, write, report, err);
    if (report->tensors)
        report->decibels /= (double)report->tensors;
    report->share = macs > 0 ? report->share / macs : 0;
    by_arena_release(&smooth.arena);
    return status;
}

int by_split_survey(struct by_quant_plan *plan, struct by_stats *stats, const struct by_log *log,
                    struct by_split_report *report, struct baryon_error *err)
{
    return do_all(plan, stats, log, false, report, err);
}

int by_split_run(struct by_quant_plan *plan, struct by_stats *stats, struct by_split_report *report,
                 struct baryon_error *err)
{
    return do_all(plan, stats, NULL, true, report, err);
}
