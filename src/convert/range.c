/* Finds values that overflow float16 on samples and keeps their nodes in float32. */
#include "convert/range.h"

#include "config/nodes.h"
#include "convert/params.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

#define GREATEST  65504.0
#define TOLD_MOST 10

struct finding {
    struct by_convert *convert;
    struct by_convert_step *step;
    const struct by_convert_range *range;
    size_t count;
};

/* --- Statistics --- */

static int load_range_stats(struct by_stats **stats, struct baryon_model *model, const char *path,
                            struct baryon_error *err)
{
    struct by_hash128 original;
    if (by_model_content_hash(model, &original, err) || by_stats_load(stats, path, err))
        return -1;
    return by_stats_check_use(*stats, &original, NULL, 0, path, err);
}

static int gather_range_stats(struct by_stats **stats, struct baryon_model *model,
                              const struct by_convert_range *range, struct baryon_error *err)
{
    struct by_calibrate_options options = *range->calibrate;
    struct by_calibrate_report report;
    options.targets = BY_TARGETS_ALL;
    return by_calibrate(stats, model, range->data, &options, &report, err);
}

static int tell_unseen(const struct by_stats *stats, const struct baryon_model *model,
                       const struct by_convert_range *range, struct baryon_error *err)
{
    struct by_target *targets;
    size_t count;
    if (by_targets_find(model->graph, BY_TARGETS_ALL, &targets, &count, err))
        return -1;
    by_free(targets);
    if (count > stats->tensor_count)
        by_log(range->log, BY_LOG_NOTICE,
               "%s: the statistics lack %zu tensors of the model; calibrate with --tensors all to "
               "cover every tensor",
               range->stats, count - stats->tensor_count);
    return 0;
}

/* --- Nodes that stay --- */

static int leave_node_float(struct finding *finding, const struct baryon_node *node,
                            struct baryon_error *err)
{
    struct by_convert *convert = finding->convert;
    const char *name = node->name && *node->name ? node->name
                       : node->output.count      ? node->output.at[0]
                                                 : "";
    const char *kept = by_arena_text(convert->arena, name, strlen(name), err);
    if (!kept)
        return -1;
    return by_convert_patterns(convert, &finding->step->exclude, &kept, 1, "--keep-overflow", err);
}

/* An input or output of the model stays float32 where it is such a value itself. */
static int keep_around_value(struct finding *finding, const struct baryon_value *value,
                             struct baryon_error *err)
{
    if (!value->producer || by_value_is_output(value))
        finding->step->retype.keep_io = true;
    if (value->producer && leave_node_float(finding, value->producer, err))
        return -1;
    for (size_t i = 0; i < value->use_count; i++)
        if (value->uses[i].node && leave_node_float(finding, value->uses[i].node, err))
            return -1;
    return 0;
}

static void report_overflow(const struct finding *finding, const struct baryon_value *value,
                            double greatest)
{
    char name[BY_QUOTE_MAX], label[BY_QUOTE_MAX + 64];
    const char *node = value->producer ? by_node_label(value->producer, label, sizeof label)
                                       : "an input of the model";
    if (finding->count < TOLD_MOST)
        by_log(finding->range->log, finding->range->keep ? BY_LOG_NOTICE : BY_LOG_WARNING,
               "tensor %s of %s reaches %g, float16 represents up to 65504%s",
               by_quote(name, value->name), node, greatest,
               finding->range->keep ? ": its producer and consumers stay float32" : "");
}

static int look_for_overflow(struct finding *finding, const struct baryon_model *model,
                             const struct by_tensor_stats *tensor, struct baryon_error *err)
{
    const struct baryon_value *value = by_graph_value(model->graph, tensor->name);
    const double low = (double)tensor->sketch.min, high = (double)tensor->sketch.max;
    const double greatest = fmax(-low, high);
    if (!value || value->elem != BY_ELEM_FLOAT || greatest <= GREATEST)
        return 0;
    report_overflow(finding, value, -low > high ? low : high);
    finding->count++;
    return finding->range->keep ? keep_around_value(finding, value, err) : 0;
}

static void tell_all(const struct finding *finding)
{
    const struct by_convert_range *range = finding->range;
    if (finding->count > TOLD_MOST)
        by_log(range->log, range->keep ? BY_LOG_NOTICE : BY_LOG_WARNING, "and %zu other tensors",
               finding->count - TOLD_MOST);
    if (finding->count && !range->keep)
        by_log(range->log, BY_LOG_WARNING,
               "values beyond the range of float16 become infinite: keep the nodes around them in "
               "float32 with --keep-overflow, or named nodes with --exclude");
}

int by_convert_find_overflow(struct by_convert *convert, struct by_convert_step *step,
                             struct baryon_model *model, const struct by_convert_range *range,
                             size_t *count, struct baryon_error *err)
{
    struct finding finding = {convert, step, range, 0};
    struct by_stats *stats = NULL;
    int failed = range->stats ? load_range_stats(&stats, model, range->stats, err)
                              : gather_range_stats(&stats, model, range, err);
    if (!failed && range->stats)
        failed = tell_unseen(stats, model, range, err);
    for (size_t i = 0; !failed && i < stats->tensor_count; i++)
        failed = look_for_overflow(&finding, model, &stats->tensors[i], err);
    if (!failed)
        tell_all(&finding);
    by_stats_close(stats);
    *count = finding.count;
    return failed ? -1 : 0;
}
