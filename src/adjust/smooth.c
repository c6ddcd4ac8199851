/* Smooths the tensors of a model: finds them, chooses factors, writes them into constants. */
#include "adjust/smooth.h"

#include "adjust/smooth_internal.h"
#include "quant/floats.h"
#include "quant/place.h"

#include <math.h>
#include <string.h>

/* --- Writing into constants --- */

/* Of the values of a block, `inner` of them; it is one of `count`. */
static double factor_of(const struct by_smooth_edit *edit, size_t block, const double *factors)
{
    const int32_t number = edit->map[block];
    if (number == BY_SMOOTH_NONE)
        return 1;
    return edit->multiplies ? factors[number] : 1 / factors[number];
}

static void scale(const struct by_smooth_edit *edit, const double *factors, float *values,
                  size_t count)
{
    for (size_t i = 0, block = 0; i < count; i += edit->inner, block++) {
        const size_t end = edit->inner < count - i ? i + edit->inner : count;
        block = block == edit->count ? 0 : block;
        const double factor = factor_of(edit, block, factors);
        for (size_t k = i; k < end; k++)
            values[k] = (float)(values[k] * factor);
    }
}

static int write_scaled(struct by_smooth *smooth, const struct by_smooth_edit *edit,
                        const double *factors, struct baryon_error *err)
{
    size_t count;
    float *values = by_floats_copy(edit->value->initializer, &count, err);
    if (!values)
        return -1;
    scale(edit, factors, values, count);
    const int status =
        by_floats_write(smooth->plan->model, edit->value->initializer, values, count, err);
    by_free(values);
    return status;
}

static struct baryon_value *new_constant(struct by_smooth *smooth, const char *stem,
                                         const int64_t *dims, size_t rank, const float *values,
                                         size_t count, struct baryon_error *err)
{
    const char *name = by_model_fresh_name(smooth->plan->model, stem, err);
    struct baryon_tensor *tensor =
        name ? by_tensor_new(smooth->plan->model, name, BY_ELEM_FLOAT, dims, rank, values,
                             count * sizeof *values, err)
             : NULL;
    return tensor ? by_graph_add_initializer(smooth->graph, tensor, err) : NULL;
}

/* A number becomes a value for each channel, for this reader alone. */
static int write_spread(struct by_smooth *smooth, const struct by_smooth_edit *edit,
                        const double *factors, struct baryon_error *err)
{
    size_t had;
    float *number = by_floats_copy(edit->value->initializer, &had, err);
    float *values = number ? by_alloc(edit->count, sizeof *values, err) : NULL;
    for (size_t i = 0; values && i < edit->count; i++)
        values[i] = (float)(number[0] * factor_of(edit, i, factors));
    struct baryon_value *constant = values ? new_constant(smooth, "smooth_numbers", edit->dims,
                                                          edit->rank, values, edit->count, err)
                                           : NULL;
    by_free(number);
    by_free(values);
    if (!constant || by_node_set_input(edit->reader, edit->slot, constant, err) < 0)
        return -1;
    return edit->value->use_count || edit->value->is_input || by_value_is_kept(edit->value)
               ? 0
               : by_graph_remove_initializer(edit->value, err);
}

static int write_edits(struct by_smooth *smooth, const double *factors, struct baryon_error *err)
{
    for (size_t i = 0; i < smooth->edits.count; i++) {
        const struct by_smooth_edit *edit = &smooth->edits.at[i];
        if ((edit->reader ? write_spread : write_scaled)(smooth, edit, factors, err) < 0)
            return -1;
    }
    return 0;
}

static int scale_layers(struct by_smooth *smooth, const struct by_smooth_group *group,
                        const double *factors, struct baryon_error *err)
{
    struct by_smooth_spread spread;
    if (by_smooth_spread_axis(&smooth->arena, 1, 0, group->channels, &spread, err) < 0)
        return -1;
    for (size_t i = 0; i < group->layers.count; i++) {
        const struct by_smooth_layer *layer = &group->layers.at[i];
        const struct by_smooth_edit edit = {.value = layer->weight,
                                            .multiplies = true,
                                            .inner = layer->inner,
                                            .count = layer->ins,
                                            .map = spread.map};
        if (write_scaled(smooth, &edit, factors, err) < 0)
            return -1;
    }
    return 0;
}

/* --- A Mul of its own --- */

static struct baryon_value *inverse(struct by_smooth *smooth, const struct by_smooth_group *group,
                                    const double *factors, struct baryon_error *err)
{
    int64_t dims[BY_RANK_MAX];
    const size_t rank = group->tensor->shape->rank - group->axis;
    float *values = by_alloc(group->channels, sizeof *values, err);
    if (!values)
        return NULL;
    for (size_t i = 0; i < rank; i++)
        dims[i] = i ? 1 : (int64_t)group->channels;
    for (size_t i = 0; i < group->channels; i++)
        values[i] = (float)(1 / factors[i]);
    struct baryon_value *constant =
        new_constant(smooth, "smooth_factors", dims, rank, values, group->channels, err);
    by_free(values);
    return constant;
}

static int insert_mul(struct by_smooth *smooth, const struct by_smooth_group *group,
                      const double *factors, struct baryon_error *err)
{
    struct baryon_value *const inputs[] = {group->tensor, inverse(smooth, group, factors, err)};
    const char *name =
        inputs[1] ? by_model_fresh_name(smooth->plan->model, BY_SMOOTH_MUL, err) : NULL;
    struct baryon_node *mul =
        name ? by_graph_add_node(smooth->graph, "Mul", NULL, name, inputs, 2, &name, 1, err) : NULL;
    if (!mul)
        return -1;
    by_node_out(mul, 0)->elem = group->tensor->elem;
    by_node_out(mul, 0)->shape = group->tensor->shape;
    for (size_t i = 0; i < group->layers.count; i++)
        if (by_node_set_input(group->layers.at[i].node, 0, by_node_out(mul, 0), err) < 0)
            return -1;
    return 0;
}

static double products_of(const struct baryon_value *tensor)
{
    double count = 1;
    for (size_t axis = 0; axis < tensor->shape->rank; axis++)
        count *= tensor->shape->dims[axis].size > 0 ? (double)tensor->shape->dims[axis].size : 1;
    return count;
}

/* --- Groups --- */

/* All that read the tensor take the factors together. */
static bool is_read_by_layers_alone(const struct by_smooth_group *group)
{
    return group->tensor->use_count == group->layers.count && by_smooth_is_free(group->tensor);
}

static int find_way(struct by_smooth *smooth, const struct by_smooth_group *group, bool *folds,
                    struct baryon_error *err)
{
    struct by_smooth_spread spread;
    smooth->edits.count = 0;
    if (by_value_is_output(group->tensor))
        return by_smooth_refuse(smooth, folds, err, "it is an output of the model");
    if (!is_read_by_layers_alone(group))
        return by_smooth_refuse(smooth, folds, err, "other nodes read it, too");
    if (by_smooth_spread_axis(&smooth->arena, group->tensor->shape->rank, group->axis,
                              group->channels, &spread, err) < 0)
        return -1;
    return by_smooth_back(smooth, group->tensor, &spread, folds, err);
}

static int write_group(struct by_smooth *smooth, const struct by_smooth_group *group, bool folds,
                       const double *factors, struct baryon_error *err)
{
    if (scale_layers(smooth, group, factors, err) < 0)
        return -1;
    return folds ? write_edits(smooth, factors, err) : insert_mul(smooth, group, factors, err);
}

static void tell_left(const struct by_smooth_options *options, const struct by_smooth_group *group,
                      const char *why)
{
    by_log(options->log, BY_LOG_INFO, "smoothing leaves '%s' alone: %s", group->tensor->name, why);
}

static bool has_matrix(const struct by_smooth_group *group)
{
    return !by_node_is(group->layers.at[0].node, "Conv");
}

/* A pair that equalization treats: Gemm or Conv, and what scales with it after that. */
static bool is_equalized(const struct by_smooth *smooth, bool folds)
{
    static const char *const layers[] = {"Gemm", "Conv", NULL};
    const struct baryon_value *first = folds ? smooth->edits.at[0].value : NULL;
    return first && first->initializer->dims.count >= 2 &&
           by_node_is_one_of(first->uses[0].node, layers);
}

/* write: edits the model as well. */
static int do_group(struct by_smooth *smooth, const struct by_smooth_group *group,
                    struct by_stats *stats, const struct by_smooth_options *options, bool write,
                    struct by_smooth_report *report, struct baryon_error *err)
{
    bool folds = false;
    const char *why = group->why;
    double gain = 0;
    double *factors = by_arena_alloc(&smooth->arena, group->channels, sizeof *factors, err);
    if (!factors || (!why && find_way(smooth, group, &folds, err) < 0))
        return -1;
    if (!why && !folds && !(options->multiplies && has_matrix(group)))
        why = smooth->refusal;
    if (!why && options->alpha < 0 && !has_matrix(group))
        why = "equalization is for convolutions; --smooth ALPHA includes them";
    if (!why && stats &&
        by_smooth_factors(smooth, group, stats, options->alpha, factors, &gain, &why, err) < 0)
        return -1;
    report->matrices += has_matrix(group) && !group->why && !is_equalized(smooth, folds);
    report->left += why != NULL;
    report->folded += !why && folds;
    report->multiplied += !why && !folds;
    report->products += !why && !folds ? products_of(group->tensor) : 0;
    report->decibels += why ? 0 : gain;
    if (why)
        tell_left(options, group, why);
    return why || !write ? 0 : write_group(smooth, group, folds, factors, err);
}

static int do_all(struct by_quant_plan *plan, struct by_stats *stats,
                  const struct by_smooth_options *options, bool write,
                  struct by_smooth_report *report, struct baryon_error *err)
{
    struct by_smooth smooth = {.plan = plan};
    *report = (struct by_smooth_report){0};
    by_arena_init(&smooth.arena, SIZE_MAX);
    int status = by_smooth_find(&smooth, err);
    for (size_t i = 0; status == 0 && i < smooth.groups.count; i++)
        status = do_group(&smooth, &smooth.groups.at[i], stats, options, write, report, err);
    if (report->folded + report->multiplied)
        report->decibels /= (double)(report->folded + report->multiplied);
    by_arena_release(&smooth.arena);
    return status;
}

int by_smooth_want(struct by_quant_plan *plan, const char *const **names, size_t *count,
                   struct baryon_error *err)
{
    struct by_smooth smooth = {.plan = plan};
    by_arena_init(&smooth.arena, SIZE_MAX);
    int status = by_smooth_find(&smooth, err);
    const char **all = status == 0 ? by_arena_alloc(&plan->arena, *count + smooth.groups.count + 1,
                                                    sizeof *all, err)
                                   : NULL;
    for (size_t i = 0; all && i < *count; i++)
        all[i] = (*names)[i];
    for (size_t i = 0; all && i < smooth.groups.count; i++)
        all[(*count)++] = smooth.groups.at[i].tensor->name;
    if (all)
        *names = all;
    by_arena_release(&smooth.arena);
    return all ? 0 : -1;
}

int by_smooth_survey(struct by_quant_plan *plan, struct by_stats *stats,
                     const struct by_smooth_options *options, struct by_smooth_report *report,
                     struct baryon_error *err)
{
    return do_all(plan, stats, options, false, report, err);
}

int by_smooth_run(struct by_quant_plan *plan, struct by_stats *stats,
                  const struct by_smooth_options *options, struct by_smooth_report *report,
                  struct baryon_error *err)
{
    return do_all(plan, stats, options, true, report, err);
}
