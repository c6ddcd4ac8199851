/* What an evaluation found, as JSON. */
#include "llm/eval.h"

#include "base/json.h"

#include <math.h>

static void write_mean(struct by_json *json, const char *name, const char *error,
                       const struct by_llm_mean *mean)
{
    by_json_double(json, name, mean->mean);
    by_json_double(json, error, mean->error);
}

static void write_windows(struct by_json *json, const struct by_llm_evaluation *result)
{
    by_json_open(json, "by_window", '[');
    for (size_t i = 0; i < result->windows; i++) {
        const struct by_llm_token_sums *window = &result->by_window[i];
        by_json_open(json, NULL, '{');
        by_json_double(json, "perplexity", exp(window->loss));
        if (result->compared) {
            by_json_double(json, "reference_perplexity", exp(window->loss_against));
            by_json_double(json, "kl", window->kl);
            by_json_double(json, "same_top", window->agree);
        }
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void say_figures(const struct by_llm_evaluation *result, struct by_str *text)
{
    by_str_printf(text, "Perplexity %.3f on ", result->perplexity);
    by_plural(text, result->windows, "window");
    if (result->compared)
        by_str_printf(text,
                      ", the reference %.3f; KL divergence %.4f nats a token, %.1f %% of "
                      "tokens have the same likeliest next one",
                      result->perplexity_against, result->kl.mean, 100 * result->agree.mean);
    by_str_puts(text, ".");
}

static void write_head(struct by_json *json, const struct by_llm_evaluation *result,
                       const struct by_llm_eval_options *options, const char *repeat)
{
    struct by_str text;
    by_str_init(&text);
    say_figures(result, &text);
    by_json_int(json, "report", 1);
    by_json_text(json, "command", "llm eval");
    by_json_text(json, "version", baryon_version());
    by_json_text(json, "model", options->path);
    if (options->against)
        by_json_text(json, "against", options->against);
    if (repeat)
        by_json_text(json, "repeat", repeat);
    by_json_open(json, "outcome", '{');
    by_json_text(json, "text", by_str_text(&text));
    by_json_close(json, '}');
    json->out->failed |= text.failed;
    by_str_release(&text);
}

void by_llm_evaluation_json(const struct by_llm_evaluation *result,
                            const struct by_llm_eval_options *options, const char *repeat,
                            struct by_str *text)
{
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    write_head(&json, result, options, repeat);
    by_json_int(&json, "tokens", (int64_t)result->tokens);
    by_json_int(&json, "windows", (int64_t)result->windows);
    by_json_int(&json, "length", (int64_t)result->length);
    by_json_int(&json, "rounded_inputs", (int64_t)result->rounded);
    by_json_double(&json, "perplexity", result->perplexity);
    by_json_double(&json, "perplexity_error", result->perplexity * result->loss.error);
    write_mean(&json, "loss", "loss_error", &result->loss);
    if (result->compared) {
        by_json_double(&json, "reference_perplexity", result->perplexity_against);
        write_mean(&json, "reference_loss", "reference_loss_error", &result->loss_against);
        write_mean(&json, "kl", "kl_error", &result->kl);
        write_mean(&json, "same_top", "same_top_error", &result->agree);
    }
    write_windows(&json, result);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}
