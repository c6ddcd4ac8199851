/* Writes a comparison as JSON. */
#include "compare/compare.h"

#include <math.h>

/* --- The models --- */

static void number_or_null(struct by_json *json, const char *key, double value)
{
    if (isfinite(value))
        by_json_double(json, key, value);
    else
        by_json_null(json, key);
}

static double fraction_of(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static void write_types(struct by_json *json, const struct by_compared_model *model)
{
    by_json_open(json, "types", '[');
    for (size_t i = 0; i < model->types.count; i++) {
        const struct by_type_share *share = &model->types.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "data", share->data);
        if (share->weight)
            by_json_text(json, "weight", share->weight);
        by_json_double(json, "bits", share->bits);
        by_json_int(json, "layers", (int64_t)share->layers);
        by_json_double(json, "multiply_adds", share->macs);
        number_or_null(json, "share", fraction_of(share->macs, model->profile.macs));
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void write_operators(struct by_json *json, const struct by_profile *profile)
{
    by_json_open(json, "operators", '[');
    for (size_t i = 0; i < profile->ops.count; i++) {
        const struct by_profile_op *op = &profile->ops.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "op_type", op->op_type);
        if (*op->domain)
            by_json_text(json, "domain", op->domain);
        by_json_int(json, "nodes", (int64_t)op->nodes);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void write_imports(struct by_json *json, const struct baryon_model *model)
{
    by_json_open(json, "opsets", '{');
    for (size_t i = 0; i < model->opset_import.count; i++) {
        const struct by_opset *opset = model->opset_import.at[i];
        const char *domain = by_domain(opset->domain);
        by_json_int(json, *domain ? domain : "ai.onnx", opset->version);
    }
    by_json_close(json, '}');
}

static void write_model(struct by_json *json, const char *key,
                        const struct by_compared_model *model)
{
    const struct by_profile *profile = &model->profile;
    by_json_open(json, key, '{');
    by_json_text(json, "model", model->name);
    if (model->bytes)
        by_json_int(json, "bytes", (int64_t)model->bytes);
    by_json_bytes(json, "producer", profile->model->producer_name.data,
                  profile->model->producer_name.size);
    write_imports(json, profile->model);
    by_json_open(json, "forms", '[');
    for (int form = 0; form < BY_QUANT_FORMS; form++)
        if (profile->forms[form])
            by_json_text(json, NULL, by_quant_form_name((enum by_quant_form)form));
    by_json_close(json, ']');
    by_json_int(json, "nodes", (int64_t)profile->nodes);
    by_json_int(json, "quantized_tensors", (int64_t)profile->tensors.count);
    by_json_double(json, "multiply_adds", profile->macs);
    by_json_bool(json, "open_sizes", profile->open);
    write_types(json, model);
    write_operators(json, profile);
    by_json_close(json, '}');
}

/* --- Layers and tensors --- */

static void write_layer_side(struct by_json *json, const char *key,
                             const struct by_profile_layer *layer)
{
    by_json_open(json, key, '{');
    by_json_text(json, "op_type", layer->op_type);
    by_json_text(json, "data", layer->data.type.name);
    if (layer->has_weight)
        by_json_text(json, "weight", layer->weight.type.name);
    by_json_close(json, '}');
}

static void write_layers(struct by_json *json, const struct by_comparison *comparison)
{
    by_json_open(json, "layers", '{');
    by_json_int(json, "alike", (int64_t)comparison->layers_alike);
    by_json_int(json, "only_a", (int64_t)comparison->only_a);
    by_json_int(json, "only_b", (int64_t)comparison->only_b);
    by_json_open(json, "different", '[');
    for (size_t i = 0; i < comparison->layers.count && comparison->layers.at[i].differs; i++) {
        const struct by_layer_pair *pair = &comparison->layers.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", *pair->a->name ? pair->a->name : pair->a->output);
        by_json_double(json, "share", pair->share);
        write_layer_side(json, "a", pair->a);
        write_layer_side(json, "b", pair->b);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}

static void write_tensor_side(struct by_json *json, const char *key, const char *type,
                              const struct by_profile_tensor *tensor)
{
    if (!type) {
        by_json_null(json, key);
        return;
    }
    by_json_open(json, key, '{');
    by_json_text(json, "type", type);
    if (tensor && tensor->block)
        by_json_int(json, "block", (int64_t)tensor->block);
    if (tensor && tensor->params.count) {
        by_json_int(json, "scales", (int64_t)tensor->params.count);
        by_json_double(json, "scale", (double)tensor->params.scales[0]);
        by_json_int(json, "zero_point", tensor->params.zeros[0]);
    }
    by_json_close(json, '}');
}

static void write_sqnr(struct by_json *json, double sqnr)
{
    if (isinf(sqnr))
        by_json_text(json, "values", "equal");
    else if (isfinite(sqnr))
        by_json_double(json, "sqnr", sqnr);
}

static void write_tensor(struct by_json *json, const struct by_tensor_pair *pair)
{
    static const char *const roles[] = {
        [BY_ROLE_ACTIVATION] = "activation", [BY_ROLE_WEIGHT] = "weight", [BY_ROLE_BIAS] = "bias"};
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", pair->name);
    by_json_text(json, "role", roles[pair->role]);
    by_json_text(json, "differs", by_difference_name(pair->difference));
    write_tensor_side(json, "a", pair->type_a, pair->a);
    write_tensor_side(json, "b", pair->type_b, pair->b);
    if (isfinite(pair->ratio)) {
        by_json_double(json, "ratio", pair->ratio);
        by_json_double(json, "farthest_ratio", pair->farthest);
    }
    write_sqnr(json, pair->sqnr);
    by_json_close(json, '}');
}

static void write_tensors(struct by_json *json, const struct by_comparison *comparison)
{
    by_json_open(json, "differences", '{');
    for (int i = BY_DIFFERENCES - 1; i >= 0; i--)
        by_json_int(json, by_difference_name((enum by_difference)i),
                    (int64_t)comparison->differences[i]);
    by_json_close(json, '}');
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < comparison->tensors.count; i++)
        write_tensor(json, &comparison->tensors.at[i]);
    by_json_close(json, ']');
}

/* --- Outputs --- */

static void write_scores(struct by_json *json, const char *key,
                         const struct by_evaluation *evaluation)
{
    const struct by_score *score;
    if (!evaluation)
        return;
    by_json_open(json, key, '[');
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++) {
        by_json_open(json, NULL, '{');
        by_json_text(json, "output", score->output);
        by_json_text(json, "metric", score->metric->name);
        by_json_double(json, "mean", score->mean);
        by_json_double(json, "worst", score->worst);
        by_json_text(json, "worst_sample", score->worst_sample);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_compare_json(const struct by_comparison *comparison, struct by_json *json)
{
    write_model(json, "a", &comparison->a);
    write_model(json, "b", &comparison->b);
    write_layers(json, comparison);
    write_tensors(json, comparison);
    if (!comparison->outputs)
        return;
    by_json_text(json, "data", comparison->outputs->data);
    by_json_int(json, "samples", (int64_t)comparison->outputs->samples);
    by_json_int(json, "skipped", (int64_t)comparison->outputs->skipped);
    write_scores(json, "outputs", comparison->outputs);
    write_scores(json, "a_against_float", comparison->a_outputs);
    write_scores(json, "b_against_float", comparison->b_outputs);
}
