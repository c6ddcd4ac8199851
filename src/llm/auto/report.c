/* What was found, as JSON. */
#include "llm/auto/auto.h"

#include "base/json.h"

#include <math.h>

static void write_measured(struct by_json *json, const char *name,
                           const struct by_llm_auto_measured *measured, const char *type)
{
    by_json_open(json, name, '{');
    if (type)
        by_json_text(json, "type", type);
    by_json_double(json, "bits_per_weight", measured->bits);
    by_json_int(json, "bytes", (int64_t)measured->bytes);
    by_json_double(json, "predicted_kl", measured->predicted);
    by_json_double(json, "kl", measured->kl.mean);
    by_json_double(json, "kl_error", measured->kl.error);
    by_json_double(json, "perplexity", measured->perplexity);
    by_json_double(json, "same_top", measured->agree.mean);
    by_json_close(json, '}');
}

static void write_by_type(struct by_json *json, const double *predicted, size_t types)
{
    by_json_open(json, "kl_by_choice", '[');
    for (size_t t = 0; t < types; t++) {
        if (isfinite(predicted[t]))
            by_json_double(json, NULL, predicted[t]);
        else
            by_json_null(json, NULL);
    }
    by_json_close(json, ']');
}

static void write_layers(struct by_json *json, const struct by_llm_auto_result *result)
{
    by_json_open(json, "candidates", '[');
    for (size_t t = 0; t < result->types; t++)
        by_json_text(json, NULL, result->type_names[t]);
    by_json_close(json, ']');
    by_json_open(json, "linears", '[');
    for (size_t i = 0; i < result->count; i++) {
        const struct by_llm_auto_linear *linear = &result->linears[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "layer", linear->layer);
        by_json_text(json, "type", linear->type);
        by_json_double(json, "bits_per_weight", linear->bits);
        by_json_double(json, "predicted_kl", linear->predicted);
        write_by_type(json, linear->by_type, result->types);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_open(json, "layers_kl", '[');
    for (size_t i = 0; i < result->layers; i++)
        by_json_double(json, NULL, result->layer_kl[i]);
    by_json_close(json, ']');
}

int by_llm_auto_judge(const struct by_llm_auto_result *result, struct baryon_error *err)
{
    if (!result->missed)
        return 0;
    by_fail(err, BARYON_ERR_GOAL, "the goal kl<=%g is missed with %.4g", result->goal,
            result->reached);
    return by_err_hint(err, "give a greater goal, a greater budget, or other types");
}

static void write_outcome(struct by_json *json, const struct by_llm_auto_result *result)
{
    struct by_str text;
    by_str_init(&text);
    by_str_printf(&text, "With %.2f bits a weight the model diverges by %.3g nats a token on ",
                  result->chosen.bits, result->chosen.kl.mean);
    by_plural(&text, result->judge_windows, "window");
    by_str_puts(&text, " that neither rounded nor chose");
    if (result->uniform)
        by_str_printf(&text, ", %s alone with %.2f bits by %.3g", result->uniform,
                      result->single.bits, result->single.kl.mean);
    by_str_puts(&text, ".");
    by_json_open(json, "outcome", '{');
    by_json_text(json, "text", by_str_text(&text));
    if (result->goal >= 0)
        by_json_text(json, "goal", result->missed ? "missed" : "met");
    by_json_close(json, '}');
    json->out->failed |= text.failed;
    by_str_release(&text);
}

void by_llm_auto_json(const struct by_llm_auto_result *result, const char *model, const char *out,
                      const char *repeat, struct by_str *text)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_json_int(&json, "report", 1);
    by_json_text(&json, "command", "llm auto");
    by_json_text(&json, "version", baryon_version());
    by_json_text(&json, "model", model);
    by_json_text(&json, "out", out);
    by_json_text(&json, "file", out);
    if (repeat)
        by_json_text(&json, "repeat", repeat);
    write_outcome(&json, result);
    by_json_double(&json, "bits_per_weight", result->chosen.bits);
    by_json_text(&json, "config", result->recipe);
    by_json_text(&json, "layout", result->layout);
    by_json_int(&json, "linear_weights", (int64_t)result->weights);
    by_json_int(&json, "other_bytes", (int64_t)result->rest);
    by_json_int(&json, "length", (int64_t)result->length);
    by_json_int(&json, "windows", (int64_t)result->solve_windows);
    by_json_int(&json, "judge_windows", (int64_t)result->judge_windows);
    by_json_int(&json, "types", (int64_t)result->types);
    by_json_int(&json, "trials", (int64_t)result->trials);
    if (result->goal >= 0) {
        by_json_double(&json, "goal_kl", result->goal);
        by_json_bool(&json, "missed", result->missed);
    }
    by_json_double(&json, "reference_perplexity", result->perplexity);
    write_measured(&json, "chosen", &result->chosen, NULL);
    if (result->uniform)
        write_measured(&json, "uniform", &result->single, result->uniform);
    write_layers(&json, result);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}
