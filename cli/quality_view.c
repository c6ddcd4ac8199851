/* Prints the quality of a written model, as text or JSON. */
#include "cli/quality_view.h"

#include "cli/help.h"

#include <string.h>

#define PAGE_WIDTH 79

/* A line's continuation stands behind its own indent. */
static void print_line(struct by_out *out, const char *line, size_t size)
{
    struct by_str text;
    const unsigned indent = 2 + (unsigned)strspn(line, " ");
    by_str_init(&text);
    by_str_add(&text, line + indent - 2, size - (indent - 2));
    by_str_printf(&out->text, "%*s", (int)indent, "");
    by_wrap(&out->text, by_str_text(&text), indent, indent, PAGE_WIDTH);
    by_str_puts(&out->text, "\n");
    out->text.failed |= text.failed;
    by_str_release(&text);
}

void by_quality_view(const struct by_quality *quality, struct by_out *out)
{
    struct by_str text;
    if (!quality->asked)
        return;
    by_str_init(&text);
    by_quality_text(quality, &text);
    for (const char *line = by_str_text(&text); *line;) {
        const size_t size = strcspn(line, "\n");
        print_line(out, line, size);
        line += size + 1;
    }
    out->text.failed |= text.failed;
    by_str_release(&text);
}

static void put_output(const struct by_quality_output *output, struct by_json *json)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", output->name);
    by_json_double(json, "sqnr_db", output->sqnr);
    by_json_double(json, "error_db", output->error);
    if (output->rows) {
        by_json_int(json, "rows", (int64_t)output->rows);
        by_json_int(json, "same_class", (int64_t)output->same);
    }
    by_json_int(json, "nonfinite", (int64_t)output->nonfinite);
    by_json_int(json, "reshaped", (int64_t)output->reshaped);
    by_json_close(json, '}');
}

static void put_measured(const struct by_quality *quality, struct by_json *json)
{
    by_json_int(json, "samples", (int64_t)quality->samples);
    by_json_int(json, "first_sample", (int64_t)quality->first);
    by_json_text(json, "which", by_quality_which(quality));
    by_json_bool(json, "random", quality->random);
    by_json_double(json, "worst_db", quality->worst);
    by_json_open(json, "outputs", '[');
    for (size_t i = 0; i < quality->count; i++)
        put_output(&quality->outputs[i], json);
    by_json_close(json, ']');
    if (quality->cause)
        by_json_text(json, "cause", quality->cause);
    if (quality->next)
        by_json_text(json, "next", quality->next);
}

void by_quality_json(const struct by_quality *quality, struct by_json *json)
{
    if (!quality->asked)
        return;
    by_json_open(json, "quality", '{');
    if (quality->unmeasured)
        by_json_text(json, "unmeasured", quality->unmeasured);
    else
        put_measured(quality, json);
    by_json_close(json, '}');
}
