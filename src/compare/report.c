/* Writes a comparison as members of a report: B's layers and tensors, with what A has instead. */
#include "compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- The outcome --- */

double by_compare_worst_sqnr(const struct by_comparison *comparison)
{
    const struct by_score *score;
    double worst = (double)NAN;
    for (size_t i = 0; comparison->outputs && (score = by_evaluation_score(comparison->outputs, i));
         i++)
        if (!strcmp(score->metric->name, "sqnr") && !(score->mean >= worst))
            worst = score->mean;
    return worst;
}

double by_compare_low_bits(const struct by_compared_model *model)
{
    double macs = 0;
    for (size_t i = 0; i < model->types.count; i++)
        if (model->types.at[i].bits <= 8)
            macs += model->types.at[i].macs;
    return model->profile.macs > 0 ? macs / model->profile.macs : (double)NAN;
}

void by_compare_say(const struct by_comparison *comparison, struct by_str *text)
{
    const size_t alike = comparison->differences[BY_DIFFERS_NOT];
    const double sqnr = by_compare_worst_sqnr(comparison);
    by_str_printf(text, "%zu of %zu tensors of the two models differ",
                  comparison->tensors.count - alike, comparison->tensors.count);
    if (comparison->differences[BY_DIFFERS_TYPE])
        by_str_printf(text, ", %zu of them in type", comparison->differences[BY_DIFFERS_TYPE]);
    if (isinf(sqnr))
        by_str_puts(text, "; outputs on samples are equal");
    else if (isfinite(sqnr))
        by_str_printf(text, "; outputs of B have %.1f dB against those of A", sqnr);
    by_str_puts(text, ".");
}

/* --- Layers --- */

static void type_pair(struct by_str *text, const struct by_profile_layer *layer)
{
    by_str_puts(text, layer->data.type.name);
    if (layer->has_weight)
        by_str_printf(text, " x %s", layer->weight.type.name);
}

static void why_of_layer(struct by_str *why, const struct by_layer_pair *pair)
{
    by_str_clear(why);
    if (!pair) {
        by_str_puts(why, "only in B");
        return;
    }
    by_str_puts(why, pair->differs ? "in A " : "as in A: ");
    type_pair(why, pair->a);
}

static void write_layer(struct by_json *json, const struct by_comparison *comparison,
                        const struct by_profile_layer *layer, const struct by_layer_pair *pair,
                        struct by_str *why)
{
    const double macs = comparison->b.profile.macs;
    why_of_layer(why, pair);
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", *layer->name ? layer->name : layer->output);
    by_json_text(json, "op_type", layer->op_type);
    by_json_text(json, "state", layer->data.tensor == BY_NO_ROW ? "float" : "quantized");
    by_json_text(json, "why", by_str_text(why));
    by_json_double(json, "multiply_adds", layer->macs);
    by_json_double(json, "cost", macs > 0 ? layer->macs / macs : 0);
    by_json_text(json, "activation", layer->data.type.name);
    if (layer->has_weight)
        by_json_text(json, "weight", layer->weight.type.name);
    by_json_close(json, '}');
}

/* --- Tensors --- */

static void say_tensor(struct by_str *text, const char *type,
                       const struct by_profile_tensor *tensor)
{
    by_str_puts(text, type ? type : "no such tensor");
    if (!tensor || !tensor->params.count)
        return;
    by_str_printf(text, ", scale %.4g", (double)tensor->params.scales[0]);
    if (tensor->params.count > 1)
        by_str_printf(text, " (the first of %zu)", tensor->params.count);
    if (tensor->params.zeros[0])
        by_str_printf(text, ", zero point %" PRId64, tensor->params.zeros[0]);
}

static void say_difference(struct by_str *text, const struct by_tensor_pair *pair)
{
    by_str_clear(text);
    by_str_puts(text, pair->difference == BY_DIFFERS_NOT ? "alike; A: " : "differs in ");
    if (pair->difference != BY_DIFFERS_NOT)
        by_str_printf(text, "%s; A: ", by_difference_name(pair->difference));
    say_tensor(text, pair->type_a, pair->a);
    if (isfinite(pair->ratio))
        by_str_printf(text, "; scale of B over A's %.4g", pair->ratio);
    if (isfinite(pair->sqnr))
        by_str_printf(text, "; values of B have %.1f dB against A's", pair->sqnr);
}

static void write_compared_tensor(struct by_json *json, const struct by_tensor_pair *pair,
                                  struct by_str *why)
{
    static const char *const roles[] = {
        [BY_ROLE_ACTIVATION] = "activation", [BY_ROLE_WEIGHT] = "weight", [BY_ROLE_BIAS] = "bias"};
    const struct by_params *params = pair->b ? &pair->b->params : NULL;
    say_difference(why, pair);
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", pair->name);
    by_json_text(json, "role", roles[pair->role]);
    by_json_text(json, "type", pair->type_b ? pair->type_b : "none");
    by_json_text(json, "why", by_str_text(why));
    if (params && params->count) {
        by_json_int(json, "scales", (int64_t)params->count);
        by_json_double(json, "scale", (double)params->scales[0]);
        by_json_int(json, "zero_point", params->zeros[0]);
        if (params->count > 1)
            by_json_double(json, "last_scale", (double)params->scales[params->count - 1]);
    }
    by_json_close(json, '}');
}

/* In the order of B; NULL in the table: only there. */
static int write_all_layers(struct by_json *json, const struct by_comparison *comparison,
                            struct by_str *why, struct baryon_error *err)
{
    const struct by_profile *b = &comparison->b.profile;
    const struct by_layer_pair **pairs = by_alloc_zero(b->layers.count, sizeof *pairs, err);
    if (!pairs)
        return -1;
    for (size_t i = 0; i < comparison->layers.count; i++)
        pairs[comparison->layers.at[i].b - b->layers.at] = &comparison->layers.at[i];
    by_json_open(json, "layers", '[');
    for (size_t i = 0; i < b->layers.count; i++)
        write_layer(json, comparison, &b->layers.at[i], pairs[i], why);
    by_json_close(json, ']');
    by_free(pairs);
    return 0;
}

int by_compare_report_json(const struct by_comparison *comparison, struct by_json *json,
                           struct baryon_error *err)
{
    struct by_str why;
    by_str_init(&why);
    if (write_all_layers(json, comparison, &why, err) < 0) {
        by_str_release(&why);
        return -1;
    }
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < comparison->tensors.count; i++)
        write_compared_tensor(json, &comparison->tensors.at[i], &why);
    by_json_close(json, ']');
    by_json_open(json, "comparison", '{');
    by_compare_json(comparison, json);
    by_json_close(json, '}');
    const int status = by_str_error(&why, err);
    by_str_release(&why);
    return status;
}
