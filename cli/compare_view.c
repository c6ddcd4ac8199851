/* Prints a comparison of two models as tables for `baryon compare`. */
#include "cli/compare_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_LEAST 24

static void percent_cell(struct by_table *table, double part, double whole)
{
    const double percent = whole > 0 ? 100 * part / whole : 0;
    if (!(part > 0))
        by_table_cell(table, "%s", "");
    else if (percent < 0.05)
        by_table_cell(table, "< 0.1 %%");
    else
        by_table_cell(table, "%.1f %%", percent);
}

static void count_cell(struct by_table *table, uint64_t count)
{
    if (count)
        by_table_count(table, count);
    else
        by_table_cell(table, "%s", "");
}

static void open_table(struct by_table *table, struct by_out *out, const char *heading)
{
    by_str_puts(&out->text, "\n");
    by_table_init(table, out);
    by_table_column(table, heading, BY_LEFT, BY_CYAN);
    by_table_least(table, NAME_LEAST);
    by_table_flexible(table);
}

/* --- The models --- */

static void form_cell(struct by_table *table, const struct by_profile *profile)
{
    struct by_str forms;
    by_str_init(&forms);
    for (int form = 0; form < BY_QUANT_FORMS; form++)
        if (profile->forms[form])
            by_str_printf(&forms, "%s%s", forms.size ? ", " : "",
                          by_quant_form_name((enum by_quant_form)form));
    by_table_cell(table, "%s",
                  forms.size                         ? by_str_text(&forms)
                  : by_profile_is_quantized(profile) ? "casts"
                                                     : "float");
    table->failed |= forms.failed;
    by_str_release(&forms);
}

static void bytes_cell(struct by_table *table, uint64_t bytes)
{
    if (bytes)
        by_table_bytes(table, bytes);
    else
        by_table_cell(table, "?");
}

static void producer_cell(struct by_table *table, const struct baryon_model *model)
{
    by_table_cell(table, "%.*s",
                  (int)(model->producer_name.size < 40 ? model->producer_name.size : 40),
                  model->producer_name.size ? (const char *)model->producer_name.data : "");
}

static int show_models(const struct by_comparison *comparison, struct by_out *out,
                       struct baryon_error *err)
{
    const struct by_compared_model *sides[] = {&comparison->a, &comparison->b};
    struct by_table table;
    open_table(&table, out, "Models");
    by_table_column(&table, "A", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "B", BY_RIGHT, BY_PLAIN);
    by_table_cell(&table, "size");
    for (size_t i = 0; i < 2; i++)
        bytes_cell(&table, sides[i]->bytes);
    by_table_cell(&table, "form");
    for (size_t i = 0; i < 2; i++)
        form_cell(&table, &sides[i]->profile);
    by_table_cell(&table, "made by");
    for (size_t i = 0; i < 2; i++)
        producer_cell(&table, sides[i]->profile.model);
    by_table_cell(&table, "opset");
    for (size_t i = 0; i < 2; i++)
        by_table_cell(&table, "%" PRId64, by_model_opset(sides[i]->profile.model, ""));
    by_table_cell(&table, "nodes");
    for (size_t i = 0; i < 2; i++)
        by_table_count(&table, sides[i]->profile.nodes);
    by_table_cell(&table, "quantized tensors");
    for (size_t i = 0; i < 2; i++)
        by_table_count(&table, sides[i]->profile.tensors.count);
    return by_table_print(&table, 2, err);
}

/* --- Types --- */

static bool is_same_share(const struct by_type_share *one, const struct by_type_share *other)
{
    return !strcmp(one->data, other->data) && !one->weight == !other->weight &&
           (!one->weight || !strcmp(one->weight, other->weight));
}

static const struct by_type_share *find_in(const struct by_compared_model *model,
                                           const struct by_type_share *share)
{
    for (size_t i = 0; i < model->types.count; i++)
        if (is_same_share(&model->types.at[i], share))
            return &model->types.at[i];
    return NULL;
}

static void type_row(struct by_table *table, const struct by_comparison *comparison,
                     const struct by_type_share *a, const struct by_type_share *b)
{
    const struct by_type_share *share = a ? a : b;
    by_table_cell(table, "%s%s%s", share->data, share->weight ? " x " : "",
                  share->weight ? share->weight : "");
    percent_cell(table, a ? a->macs : 0, comparison->a.profile.macs);
    percent_cell(table, b ? b->macs : 0, comparison->b.profile.macs);
    count_cell(table, a ? a->layers : 0);
    count_cell(table, b ? b->layers : 0);
}

static int show_types(const struct by_comparison *comparison, struct by_out *out,
                      struct baryon_error *err)
{
    struct by_table table;
    open_table(&table, out, "Multiply-adds");
    by_table_column(&table, "A", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "B", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "nodes of A", BY_RIGHT, BY_DIM);
    by_table_column(&table, "of B", BY_RIGHT, BY_DIM);
    for (size_t i = 0; i < comparison->a.types.count; i++) {
        const struct by_type_share *share = &comparison->a.types.at[i];
        type_row(&table, comparison, share, find_in(&comparison->b, share));
    }
    for (size_t i = 0; i < comparison->b.types.count; i++)
        if (!find_in(&comparison->a, &comparison->b.types.at[i]))
            type_row(&table, comparison, NULL, &comparison->b.types.at[i]);
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    if (comparison->a.profile.open || comparison->b.profile.open)
        by_str_puts(&out->text, "  sizes that are not known count as 1\n");
    return 0;
}

/* --- Operators --- */

static uint64_t nodes_of(const struct by_profile *profile, const struct by_profile_op *op)
{
    for (size_t i = 0; i < profile->ops.count; i++)
        if (!strcmp(profile->ops.at[i].op_type, op->op_type) &&
            !strcmp(profile->ops.at[i].domain, op->domain))
            return profile->ops.at[i].nodes;
    return 0;
}

static size_t operator_rows(struct by_table *table, const struct by_profile *profile,
                            const struct by_comparison *comparison, bool missing_in_a)
{
    size_t rows = 0;
    for (size_t i = 0; i < profile->ops.count; i++) {
        const struct by_profile_op *op = &profile->ops.at[i];
        const uint64_t a = nodes_of(&comparison->a.profile, op),
                       b = nodes_of(&comparison->b.profile, op);
        if (a == b || (missing_in_a && a))
            continue;
        by_table_cell(table, "%s%s%s", op->domain, *op->domain ? "." : "", op->op_type);
        count_cell(table, a);
        count_cell(table, b);
        rows++;
    }
    return rows;
}

static int show_operators(const struct by_comparison *comparison, struct by_out *out,
                          struct baryon_error *err)
{
    struct by_table table;
    const size_t before = out->text.size;
    open_table(&table, out, "Operators that differ");
    by_table_column(&table, "A", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "B", BY_RIGHT, BY_PLAIN);
    const size_t rows = operator_rows(&table, &comparison->a.profile, comparison, false) +
                        operator_rows(&table, &comparison->b.profile, comparison, true);
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    if (!rows)
        out->text.size = before;
    return 0;
}

/* --- Layers and tensors that differ --- */

static void types_cell(struct by_table *table, const struct by_profile_layer *layer)
{
    by_table_cell(table, "%s%s%s", layer->data.type.name, layer->has_weight ? " x " : "",
                  layer->has_weight ? layer->weight.type.name : "");
}

static void show_rest(struct by_out *out, size_t shown, size_t all, const char *what)
{
    if (shown == all)
        return;
    by_str_puts(&out->text, "  ");
    by_plural(&out->text, all - shown, what);
    by_str_puts(&out->text, " more; --top N shows N\n");
}

static int show_layers(const struct by_comparison *comparison, size_t top, struct by_out *out,
                       struct baryon_error *err)
{
    struct by_table table;
    const size_t all = comparison->layers.count - comparison->layers_alike;
    const size_t shown = top && top < all ? top : all;
    if (!all)
        return 0;
    open_table(&table, out, "Nodes of other types");
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "multiply-adds", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "A", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "B", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < shown; i++) {
        const struct by_layer_pair *pair = &comparison->layers.at[i];
        by_table_cell(&table, "%s", *pair->a->name ? pair->a->name : pair->a->output);
        by_table_cell(&table, "%s", pair->a->op_type);
        percent_cell(&table, pair->share, 1);
        types_cell(&table, pair->a);
        types_cell(&table, pair->b);
    }
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    show_rest(out, shown, all, "node");
    return 0;
}

static void type_cell(struct by_table *table, const char *type,
                      const struct by_profile_tensor *tensor)
{
    if (!type)
        by_table_cell(table, "none");
    else if (tensor && tensor->block)
        by_table_cell(table, "%s, blocks of %zu", type, tensor->block);
    else if (tensor && tensor->params.count > 1)
        by_table_cell(table, "%s, %zu scales", type, tensor->params.count);
    else
        by_table_cell(table, "%s", type);
}

static bool is_dynamic(const struct by_profile_tensor *tensor)
{
    const struct by_elem_info *info = tensor ? by_elem_info(tensor->elem) : NULL;
    return info && info->class == BY_CLASS_INT && tensor->role == BY_ROLE_ACTIVATION;
}

/* Of several the first. */
static void scale_cell(struct by_table *table, const struct by_profile_tensor *tensor)
{
    if (!tensor || !tensor->params.count)
        by_table_cell(table, "%s", is_dynamic(tensor) ? "dynamic" : "");
    else if (tensor->params.zeros[0])
        by_table_cell(table, "%.4g @ %" PRId64, (double)tensor->params.scales[0],
                      tensor->params.zeros[0]);
    else
        by_table_cell(table, "%.4g", (double)tensor->params.scales[0]);
}

static void ratio_cell(struct by_table *table, const struct by_tensor_pair *pair)
{
    if (!isfinite(pair->ratio))
        by_table_cell(table, "%s", "");
    else if (fabs(pair->farthest / pair->ratio - 1) > 0.001)
        by_table_cell(table, "%.3g, to %.3g", pair->ratio, pair->farthest);
    else
        by_table_cell(table, "%.3g", pair->ratio);
}

static const char *const roles[] = {
    [BY_ROLE_ACTIVATION] = "activation", [BY_ROLE_WEIGHT] = "weight", [BY_ROLE_BIAS] = "bias"};

static void tensor_row(struct by_table *table, const struct by_tensor_pair *pair)
{
    by_table_cell(table, "%s", pair->name);
    by_table_cell(table, "%s %s", roles[pair->role], by_difference_name(pair->difference));
    type_cell(table, pair->type_a, pair->a);
    type_cell(table, pair->type_b, pair->b);
    scale_cell(table, pair->a);
    scale_cell(table, pair->b);
    ratio_cell(table, pair);
    if (isfinite(pair->sqnr))
        by_table_cell(table, "%.1f", pair->sqnr);
    else
        by_table_cell(table, "%s", isinf(pair->sqnr) ? "same" : "");
}

static int show_tensors(const struct by_comparison *comparison, size_t top, struct by_out *out,
                        struct baryon_error *err)
{
    struct by_table table;
    const size_t all = comparison->tensors.count - comparison->differences[BY_DIFFERS_NOT];
    const size_t shown = top && top < all ? top : all;
    if (!all)
        return 0;
    open_table(&table, out, "Tensors that differ");
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "A", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "B", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "scale A", BY_RIGHT, BY_DIM);
    by_table_column(&table, "scale B", BY_RIGHT, BY_DIM);
    by_table_column(&table, "B / A", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "dB", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < shown; i++)
        tensor_row(&table, &comparison->tensors.at[i]);
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    show_rest(out, shown, all, "tensor");
    return 0;
}

/* "Tensors: 40 alike, 3 differ in type, 12 in scale" */
static void show_counts(const struct by_comparison *comparison, struct by_out *out)
{
    by_str_puts(&out->text, "\n  ");
    by_plural(&out->text, comparison->tensors.count, "tensor");
    by_str_printf(&out->text, ": %zu alike", comparison->differences[BY_DIFFERS_NOT]);
    for (int i = BY_DIFFERENCES - 1; i > BY_DIFFERS_NOT; i--)
        if (comparison->differences[i])
            by_str_printf(&out->text, ", %zu differ in %s", comparison->differences[i],
                          by_difference_name((enum by_difference)i));
    by_str_puts(&out->text, "\n  ");
    by_plural(&out->text, comparison->layers.count, "node");
    by_str_printf(&out->text, " in both: %zu of the same types", comparison->layers_alike);
    if (comparison->only_a)
        by_str_printf(&out->text, "; %zu only in A", comparison->only_a);
    if (comparison->only_b)
        by_str_printf(&out->text, "; %zu only in B", comparison->only_b);
    by_str_puts(&out->text, "\n");
}

/* --- Outputs --- */

/* --json has the others. */
static bool is_shown(const struct by_metric *metric)
{
    return by_has_word("sqnr max-error top1 accuracy baseline-accuracy", metric->name);
}

static void score_cell(struct by_table *table, const struct by_evaluation *evaluation,
                       const struct by_score *of)
{
    const struct by_score *score =
        evaluation ? by_compare_score(evaluation, of->output, of->metric->name) : NULL;
    if (score)
        by_table_cell(table, "%.6g", isnan(score->mean) ? (double)NAN : score->mean);
    else
        by_table_cell(table, "%s", "");
}

static int show_outputs(const struct by_comparison *comparison, struct by_out *out,
                        struct baryon_error *err)
{
    struct by_table table;
    const struct by_score *score, *last = NULL;
    open_table(&table, out, "Outputs");
    by_table_column(&table, "measure", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "B against A", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "worst sample", BY_RIGHT, BY_DIM);
    if (comparison->a_outputs) {
        by_table_column(&table, "A against float", BY_RIGHT, BY_PLAIN);
        by_table_column(&table, "B against float", BY_RIGHT, BY_PLAIN);
    }
    for (size_t i = 0; (score = by_evaluation_score(comparison->outputs, i)); i++) {
        if (!is_shown(score->metric))
            continue;
        by_table_cell(&table, "%s", last && last->output == score->output ? "" : score->output);
        by_table_cell(&table, "%s", score->metric->name);
        score_cell(&table, comparison->outputs, score);
        by_table_cell(&table, "%.6g", isnan(score->worst) ? (double)NAN : score->worst);
        if (comparison->a_outputs) {
            score_cell(&table, comparison->a_outputs, score);
            score_cell(&table, comparison->b_outputs, score);
        }
        last = score;
    }
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    by_str_puts(&out->text, "\n  ");
    by_plural(&out->text, comparison->outputs->samples, "sample");
    if (comparison->outputs->skipped)
        by_str_printf(&out->text, ", %" PRIu64 " skipped", comparison->outputs->skipped);
    by_str_puts(&out->text, "\n");
    return 0;
}

int by_compare_text(const struct by_comparison *comparison, size_t top, struct by_out *out,
                    struct baryon_error *err)
{
    if (show_models(comparison, out, err) < 0 || show_types(comparison, out, err) < 0 ||
        show_operators(comparison, out, err) < 0 || show_layers(comparison, top, out, err) < 0 ||
        show_tensors(comparison, top, out, err) < 0)
        return -1;
    show_counts(comparison, out);
    return comparison->outputs ? show_outputs(comparison, out, err) : 0;
}
