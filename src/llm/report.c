/* What became of each weight, as a file in JSON. */
#include "llm/report.h"

#include "base/decibels.h"
#include "report/html/html.h"

void by_llm_report_head(struct by_json *json, const struct by_llm_ran *ran, const char *layout,
                        const char *scheme, const char *search)
{
    by_json_int(json, "report", 1);
    by_json_text(json, "command", ran->command ? ran->command : "llm quantize");
    by_json_text(json, "version", baryon_version());
    by_json_text(json, "model", ran->in);
    by_json_text(json, "folder", ran->out);
    by_json_text(json, "file", ran->out);
    if (ran->repeat)
        by_json_text(json, "repeat", ran->repeat);
    by_json_text(json, "layout", layout);
    by_json_text(json, "scheme", scheme);
    if (search)
        by_json_text(json, "search", search);
}

void by_llm_report_shape(struct by_json *json, const uint64_t *dims, size_t rank)
{
    by_json_open(json, "shape", '[');
    for (size_t i = 0; i < rank; i++)
        by_json_int(json, NULL, (int64_t)dims[i]);
    by_json_close(json, ']');
}

void by_llm_report_errors(struct by_json *json, double energy, double error, const double *gain)
{
    if (energy > 0) {
        by_json_double(json, "relative_error", error / energy);
        by_json_double(json, "sqnr_db", by_decibels(energy, error));
    } else {
        by_json_null(json, "sqnr_db");
    }
    if (gain)
        by_json_double(json, "gain_db", *gain);
    else
        by_json_null(json, "gain_db");
}

void by_llm_outcome_add(struct by_llm_outcome *outcome, double values, double bits,
                        const struct by_llm_item *item, double energy, double error)
{
    outcome->layers++;
    outcome->values += values;
    outcome->bits += values * bits;
    if (!item) {
        outcome->energy += energy;
        outcome->error += error;
        return;
    }
    if (item->resumed || !item->tokens)
        return;
    outcome->solved++;
    outcome->nearest += item->output.nearest;
    outcome->output += item->output.solved;
    outcome->held_out = item->output.held_out;
}

static void say_outcome(const struct by_llm_outcome *outcome, struct by_str *text)
{
    const double solved = (double)outcome->solved;
    by_plural(text, outcome->layers, "weight");
    by_str_puts(text, outcome->layers == 1 ? " has" : " have");
    by_str_printf(text, " %.2f bits in the mean",
                  outcome->values > 0 ? outcome->bits / outcome->values : 0);
    if (outcome->solved)
        by_str_printf(text, "; the error of outputs is %.2f %% on %s, %.2f %% with nearest levels",
                      100 * outcome->output / solved,
                      outcome->held_out ? "held-out windows" : "the same windows",
                      100 * outcome->nearest / solved);
    else if (outcome->energy > 0)
        by_str_printf(text, "; they have a SQNR of %.1f dB",
                      by_decibels(outcome->energy, outcome->error));
    by_str_puts(text, ".");
}

void by_llm_report_outcome(struct by_json *json, const struct by_llm_outcome *outcome)
{
    struct by_str text;
    by_str_init(&text);
    say_outcome(outcome, &text);
    if (outcome->values > 0)
        by_json_double(json, "bits_per_weight", outcome->bits / outcome->values);
    by_json_open(json, "outcome", '{');
    by_json_text(json, "text", by_str_text(&text));
    by_json_close(json, '}');
    json->out->failed |= text.failed;
    by_str_release(&text);
}

static void write_errors(struct by_json *json, const struct by_llm_item *item, bool searched)
{
    const struct by_llm_errors *sums = &item->sums;
    const double energy = item->resumed ? 0 : sums->energy;
    const double gain =
        energy > 0 ? by_decibels(energy, sums->error) - by_decibels(energy, sums->minmax_error) : 0;
    by_llm_report_errors(json, energy, sums->error, searched && energy > 0 ? &gain : NULL);
}

void by_llm_report_solved(struct by_json *json, const struct by_llm_item *item)
{
    by_json_text(json, "method", item->method);
    by_json_int(json, "tokens", (int64_t)item->tokens);
    if (item->resumed || !item->tokens) {
        by_json_null(json, "output_error");
        return;
    }
    by_json_double(json, "shrink", item->shrink);
    by_json_double(json, "damping", item->damping);
    by_json_bool(json, "held_out", item->output.held_out);
    by_json_double(json, "nearest_output_error", item->output.nearest);
    by_json_double(json, "output_error", item->output.solved);
}

static void write_item(struct by_json *json, const struct by_llm_item *item, bool searched,
                       struct by_llm_outcome *outcome)
{
    const struct by_llm_weight *weight = item->weight;
    const double values = (double)weight->rows * (double)weight->columns;
    uint64_t bytes = 0;
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", weight->name);
    by_llm_report_shape(json, weight->dims, weight->rank);
    if (!item->scheme) {
        by_json_null(json, "scheme");
        by_json_text(json, "reason", item->reason ? item->reason : "no linear layer");
    } else {
        for (size_t i = 0; i < item->fields.count; i++)
            bytes += item->fields.at[i].bytes;
        by_json_text(json, "scheme", item->scheme->name);
        by_json_int(json, "group_size",
                    item->scheme->weight.grain == BY_LLM_GROUP ? (int64_t)item->tensor.group : 0);
        by_json_double(json, "bits", 8 * (double)bytes / values);
        by_llm_outcome_add(outcome, values, 8 * (double)bytes / values, item->method ? item : NULL,
                           item->sums.energy, item->sums.error);
        by_json_bool(json, "resumed", item->resumed);
        if (item->method)
            by_llm_report_solved(json, item);
        else
            write_errors(json, item, searched);
        by_json_double(json, "seconds", item->seconds);
    }
    by_json_close(json, '}');
}

static void write_report(struct by_json *json, const struct by_llm_plan *plan, const char *in,
                         const char *out, const struct by_llm_quantize_options *options)
{
    static const char *const searches[] = {[BY_LLM_SEARCH_MSE] = "mse",
                                           [BY_LLM_SEARCH_MINMAX] = "minmax",
                                           [BY_LLM_SEARCH_UNBIASED] = "unbiased"};
    const enum by_llm_search search = by_llm_plan_search(options);
    const bool searched = search != BY_LLM_SEARCH_MINMAX;
    const struct by_llm_ran ran = {NULL, options->repeat, in, out};
    struct by_llm_outcome outcome = {0};
    by_json_open(json, NULL, '{');
    by_llm_report_head(json, &ran, plan->layout->name, plan->schemes[0]->name, searches[search]);
    by_json_open(json, "weights", '[');
    for (size_t i = 0; i < plan->count; i++)
        write_item(json, &plan->items[i], searched, &outcome);
    by_json_close(json, ']');
    by_llm_report_outcome(json, &outcome);
    by_json_close(json, '}');
}

int by_llm_report_write(const char *path, struct by_str *text, struct baryon_error *err)
{
    by_str_puts(text, "\n");
    return by_report_write(path, text, 0, err);
}

int by_llm_report(const struct by_llm_plan *plan, const char *in, const char *out,
                  const struct by_llm_quantize_options *options, struct baryon_error *err)
{
    struct by_str text;
    struct by_json json;
    by_str_init(&text);
    by_json_init(&json, &text, false);
    write_report(&json, plan, in, out, options);
    const int failed = by_llm_report_write(options->report, &text, err);
    by_str_release(&text);
    return failed;
}
