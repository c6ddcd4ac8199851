/* Equalizes all pairs of layers of a model until no factor moves. */
#include "adjust/cle.h"

#include "adjust/cle_internal.h"
#include "ir/shape.h"

#include <math.h>
#include <string.h>

static int open_all(struct by_cle *cle, struct by_quant_plan *plan,
                    const struct by_cle_options *options, struct baryon_error *err)
{
    *cle = (struct by_cle){.only_quantized = options->only_quantized};
    by_arena_init(&cle->arena, SIZE_MAX);
    return by_cle_find(cle, plan, options->mode != BY_CLE_KEEP, err);
}

/* --- Bounds --- */

/* No channel may become greater than `range` times the greatest one. */
static void bound_by(struct by_cle_link *link, const double *magnitudes, double range)
{
    double greatest = 0;
    for (size_t i = 0; i < link->channels; i++)
        greatest = fmax(greatest, magnitudes[i]);
    for (size_t i = 0; greatest > 0 && i < link->channels; i++)
        link->low[i] = fmax(link->low[i], magnitudes[i] / greatest / range);
}

double by_cle_magnitude(const struct by_channels *channels, size_t channel)
{
    return fmax(fabs((double)channels->min[channel]), fabs((double)channels->max[channel]));
}

static int bound_activations(struct by_cle *cle, struct by_cle_link *link, struct by_stats *stats,
                             double range, struct baryon_error *err)
{
    const struct by_tensor_stats *tensor = by_stats_find(stats, link->between->name);
    if (!tensor || tensor->channels.count != link->channels)
        return 0;
    double *magnitudes = by_arena_alloc(&cle->arena, link->channels, sizeof *magnitudes, err);
    if (!magnitudes)
        return -1;
    for (size_t i = 0; i < link->channels; i++)
        magnitudes[i] = by_cle_magnitude(&tensor->channels, i);
    bound_by(link, magnitudes, range);
    return 0;
}

/* A bias with a scale of its own loses what its greatest value gains. */
static int bound_bias(struct by_cle *cle, struct by_cle_link *link, double range,
                      struct baryon_error *err)
{
    const struct baryon_value *bias = cle->layers.at[link->from].bias;
    struct by_span bytes;
    float *values = bias ? by_alloc(link->channels, sizeof *values, err) : NULL;
    double *magnitudes = by_arena_alloc(&cle->arena, link->channels, sizeof *magnitudes, err);
    int status = magnitudes && (values || !bias) ? 0 : -1;
    if (status == 0 && bias)
        status = by_tensor_bytes(bias->initializer, &cle->arena, &bytes, err);
    if (status == 0 && bias)
        status = by_elem_to_floats(BY_ELEM_FLOAT, bytes.data, 0, link->channels, values, err);
    for (size_t i = 0; status == 0 && bias && i < link->channels; i++)
        magnitudes[i] = fabs((double)values[i]);
    if (status == 0 && bias)
        bound_by(link, magnitudes, range);
    by_free(values);
    return status;
}

static int bound_all(struct by_cle *cle, const struct by_recipe *recipe, struct by_stats *stats,
                     double range, struct baryon_error *err)
{
    for (size_t i = 0; stats && range > 0 && i < cle->links.count; i++) {
        struct by_cle_link *link = &cle->links.at[i];
        if (bound_activations(cle, link, stats, range, err) < 0)
            return -1;
        if (recipe->bias_kind == BY_BIAS_OWN && bound_bias(cle, link, range, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Writing it into the model --- */

static bool is_neutral(const struct by_cle_link *link)
{
    for (size_t i = 0; i < link->channels; i++)
        if (link->scale[i] != 1)
            return false;
    return true;
}

/* One value a channel, shaped to stand beside [N, C, ...]. */
static struct baryon_value *thresholds(struct by_cle *cle, const struct by_cle_link *link,
                                       size_t rank, struct baryon_error *err)
{
    struct baryon_model *model = cle->graph->model;
    int64_t dims[BY_RANK_MAX];
    float *values = by_alloc(link->channels, sizeof *values, err);
    if (!values)
        return NULL;
    for (size_t axis = 0; axis < rank; axis++)
        dims[axis] = axis == 1 ? (int64_t)link->channels : 1;
    for (size_t i = 0; i < link->channels; i++)
        values[i] = (float)(6 / link->scale[i]);
    const char *name = by_model_fresh_name(model, "relu6_limits", err);
    struct baryon_tensor *tensor = name
                                       ? by_tensor_new(model, name, BY_ELEM_FLOAT, dims, rank,
                                                       values, link->channels * sizeof *values, err)
                                       : NULL;
    by_free(values);
    return tensor ? by_graph_add_initializer(cle->graph, tensor, err) : NULL;
}

/* The Clip's limits of all channels, which have no reader left. */
static int remove_limits(struct baryon_value *const *limits, size_t count, struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct baryon_value *value = limits[i];
        if (!value || value->init_slot == BY_NO_SLOT || value->use_count || value->is_input ||
            by_value_is_kept(value) || (i && value == limits[0]))
            continue;
        if (by_graph_remove_initializer(value, err) < 0)
            return -1;
    }
    return 0;
}

/* Relu takes the Clip's place and its output's name, but for the limit after it. */
static int replace_clip(struct by_cle *cle, const struct by_cle_link *link, bool exact,
                        struct baryon_error *err)
{
    struct baryon_node *clip = link->clip;
    struct baryon_value *in = by_node_in(clip, 0), *out = by_node_out(clip, 0);
    const size_t rank = in->shape ? in->shape->rank : out->shape ? out->shape->rank : 4;
    struct baryon_value *limits = exact ? thresholds(cle, link, rank, err) : NULL;
    const char *name = by_model_fresh_name(cle->graph->model, "relu", err);
    if ((exact && !limits) || !name)
        return -1;
    struct baryon_node *relu =
        by_graph_add_node(cle->graph, "Relu", NULL, name, &in, 1, &name, 1, err);
    if (!relu)
        return -1;
    struct baryon_value *value = by_node_out(relu, 0);
    value->elem = out->elem;
    value->shape = out->shape;
    if (exact) {
        struct baryon_value *const inputs[] = {value, limits};
        const char *limited = by_model_fresh_name(cle->graph->model, "limit", err);
        struct baryon_node *limit = limited ? by_graph_add_node(cle->graph, "Min", NULL, limited,
                                                                inputs, 2, &limited, 1, err)
                                            : NULL;
        if (!limit)
            return -1;
        value = by_node_out(limit, 0);
        value->elem = out->elem;
        value->shape = out->shape;
    }
    const char *kept = out->name;
    struct baryon_value *const old_limits[] = {by_node_in(clip, 1), by_node_in(clip, 2)};
    if (by_value_replace_uses(out, value, NULL, err) < 0 || by_graph_remove_node(clip, err) < 0 ||
        remove_limits(old_limits, 2, err) < 0)
        return -1;
    return by_value_rename(value, kept, err);
}

static int apply_all(struct by_cle *cle, enum by_cle_mode mode, bool *replaced,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < cle->layers.count; i++)
        if (by_cle_layer_apply(cle, &cle->layers.at[i], err) < 0)
            return -1;
    for (size_t i = 0; i < cle->links.count; i++) {
        const struct by_cle_link *link = &cle->links.at[i];
        if (!link->clip || (mode == BY_CLE_EXACT && is_neutral(link)))
            continue;
        *replaced = true;
        if (replace_clip(cle, link, mode == BY_CLE_EXACT, err) < 0)
            return -1;
    }
    return 0;
}

static void count_links(const struct by_cle *cle, struct by_cle_report *report)
{
    report->pairs = cle->links.count;
    for (size_t i = 0; i < cle->links.count; i++) {
        report->relu6 += cle->links.at[i].clip != NULL;
        report->depthwise += cle->layers.at[cle->links.at[i].to].groups > 1;
    }
}

double by_cle_spread(const double *peaks, size_t channels)
{
    double greatest = 0, bits = 0;
    size_t alive = 0;
    for (size_t i = 0; i < channels; i++)
        greatest = fmax(greatest, peaks[i]);
    for (size_t i = 0; i < channels; i++) {
        if (peaks[i] <= BY_CLE_DEAD * greatest)
            continue;
        bits += log2(greatest / peaks[i]);
        alive++;
    }
    return alive ? bits / (double)alive : 0;
}

/* Of pairs and of stems, whose other side is none. */
static int mean_spread(const struct by_cle *cle, struct by_cle_report *report,
                       struct baryon_error *err)
{
    const size_t count = cle->links.count + report->stems;
    double sum = report->stem_spread;
    for (size_t i = 0; i < cle->links.count; i++) {
        const struct by_cle_link *link = &cle->links.at[i];
        double *peaks = by_alloc(link->channels, sizeof *peaks, err);
        if (!peaks)
            return -1;
        by_cle_out_peaks(&cle->layers.at[link->from], peaks);
        sum += by_cle_spread(peaks, link->channels);
        by_cle_in_peaks(&cle->layers.at[link->to], peaks);
        sum += by_cle_spread(peaks, link->channels);
        by_free(peaks);
    }
    report->spread = count ? sum / (double)count : 0;
    return 0;
}

int by_cle_survey(struct by_quant_plan *plan, struct by_cle_report *report,
                  struct baryon_error *err)
{
    struct by_cle cle;
    *report = (struct by_cle_report){0};
    const struct by_cle_options options = {.mode = BY_CLE_EXACT};
    int status = open_all(&cle, plan, &options, err);
    if (status == 0)
        count_links(&cle, report);
    if (status == 0 && plan->recipe->cle_stem)
        status = by_cle_stems(&cle, plan, NULL, false, report, err);
    if (status == 0)
        status = mean_spread(&cle, report, err);
    by_arena_release(&cle.arena);
    return status;
}

static size_t count_held(const struct by_cle *cle)
{
    size_t held = 0;
    for (size_t i = 0; i < cle->links.count; i++) {
        const struct by_cle_link *link = &cle->links.at[i];
        for (size_t k = 0; k < link->channels; k++)
            held += link->low[k] > 0 && link->scale[k] <= link->low[k];
    }
    return held;
}

int by_cle_held(struct by_quant_plan *plan, struct by_stats *stats,
                const struct by_cle_options *options, size_t *held, struct baryon_error *err)
{
    struct by_cle cle;
    struct by_cle_report report;
    const int status = open_all(&cle, plan, options, err) < 0 ||
                               bound_all(&cle, plan->recipe, stats, options->range, err) < 0 ||
                               by_cle_balance(&cle, options, &report, err) < 0
                           ? -1
                           : 0;
    *held = status == 0 ? count_held(&cle) : 0;
    by_arena_release(&cle.arena);
    return status;
}

int by_cle_run(struct by_quant_plan *plan, struct by_stats *stats,
               const struct by_cle_options *options, struct by_cle_report *report, bool *replaced,
               struct baryon_error *err)
{
    struct by_cle cle;
    *report = (struct by_cle_report){0};
    *replaced = false;
    int status = open_all(&cle, plan, options, err);
    if (status == 0)
        status = bound_all(&cle, plan->recipe, stats, options->range, err);
    if (status == 0) {
        count_links(&cle, report);
        status = by_cle_balance(&cle, options, report, err);
    }
    if (status == 0 && plan->recipe->cle_stem)
        status = by_cle_stems(&cle, plan, stats, true, report, err);
    if (status == 0)
        status = apply_all(&cle, options->mode, replaced, err);
    by_arena_release(&cle.arena);
    return status;
}
