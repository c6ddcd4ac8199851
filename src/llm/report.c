/* What became of each weight, as a file in JSON. */
#include "llm/quantize.h"

#include "base/decibels.h"
#include "base/file.h"
#include "base/json.h"

static void write_errors(struct by_json *json, const struct by_llm_item *item, bool searched)
{
    const struct by_llm_errors *sums = &item->sums;
    if (item->resumed || !(sums->energy > 0)) {
        by_json_null(json, "sqnr_db");
        by_json_null(json, "gain_db");
        return;
    }
    const double found = by_decibels(sums->energy, sums->error);
    by_json_double(json, "relative_error", sums->error / sums->energy);
    by_json_double(json, "sqnr_db", found);
    if (searched)
        by_json_double(json, "gain_db", found - by_decibels(sums->energy, sums->minmax_error));
    else
        by_json_null(json, "gain_db");
}

/* What a method made of the layer's output. */
static void write_solved(struct by_json *json, const struct by_llm_item *item)
{
    by_json_text(json, "method", item->method);
    by_json_int(json, "tokens", (int64_t)item->tokens);
    if (item->resumed || !item->tokens) {
        by_json_null(json, "output_error");
        return;
    }
    by_json_double(json, "shrink", item->shrink);
    by_json_bool(json, "held_out", item->output.held_out);
    by_json_double(json, "nearest_output_error", item->output.nearest);
    by_json_double(json, "output_error", item->output.solved);
}

static void write_item(struct by_json *json, const struct by_llm_item *item, bool searched)
{
    const struct by_llm_weight *weight = item->weight;
    const double values = (double)weight->rows * (double)weight->columns;
    uint64_t bytes = 0;
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", weight->name);
    by_json_open(json, "shape", '[');
    for (size_t i = 0; i < weight->rank; i++)
        by_json_int(json, NULL, (int64_t)weight->dims[i]);
    by_json_close(json, ']');
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
        by_json_bool(json, "resumed", item->resumed);
        if (item->method)
            write_solved(json, item);
        else
            write_errors(json, item, searched);
        by_json_double(json, "seconds", item->seconds);
    }
    by_json_close(json, '}');
}

static void write_report(struct by_json *json, const struct by_llm_plan *plan, const char *in,
                         const char *out, const struct by_llm_quantize_options *options)
{
    const bool searched = !options->quark && options->search == BY_LLM_SEARCH_MSE;
    by_json_open(json, NULL, '{');
    by_json_text(json, "version", baryon_version());
    by_json_text(json, "model", in);
    by_json_text(json, "folder", out);
    by_json_text(json, "layout", plan->layout->name);
    by_json_text(json, "scheme", plan->schemes[0]->name);
    by_json_text(json, "search", searched ? "mse" : "minmax");
    by_json_open(json, "weights", '[');
    for (size_t i = 0; i < plan->count; i++)
        write_item(json, &plan->items[i], searched);
    by_json_close(json, ']');
    by_json_close(json, '}');
}

int by_llm_report(const struct by_llm_plan *plan, const char *in, const char *out,
                  const struct by_llm_quantize_options *options, struct baryon_error *err)
{
    struct by_str text;
    struct by_json json;
    by_str_init(&text);
    by_json_init(&json, &text, false);
    write_report(&json, plan, in, out, options);
    by_str_puts(&text, "\n");
    int failed = by_str_error(&text, err);
    if (!failed)
        failed = by_write_file(options->report, text.text, text.size, 0, err);
    by_str_release(&text);
    return failed;
}
