/* What became of each weight in a GGUF file, as a file in JSON. */
#include "llm/convert_internal.h"
#include "llm/importance.h"
#include "llm/report.h"

#include <string.h>

struct place {
    const struct by_convert_run *run;
    size_t tensor, part;
};

static const struct by_llm_item *item_of(const struct place *place)
{
    const struct by_convert_solve *solve = place->run->options->solve;
    return solve && !place->run->options->dry_run
               ? solve->item(solve->context, place->tensor, place->part)
               : NULL;
}

/* By the name of the source, as in reports of folders. */
static void write_name(struct by_json *json, const struct by_made_tensor *made, size_t part)
{
    const size_t skip = made->part_count > 1;
    const char *name = made->values                           ? made->name
                       : made->weights && made->weights[part] ? made->weights[part]->name
                                                              : made->parts[part]->name;
    by_json_text(json, "name", name);
    by_json_text(json, "tensor", made->name);
    by_llm_report_shape(json, made->dims + skip, made->rank - skip);
}

/* Of a part. */
static double values_of(const struct by_made_tensor *made)
{
    double values = 1;
    for (size_t i = made->part_count > 1; i < made->rank; i++)
        values *= (double)made->dims[i];
    return values;
}

static void write_blocks(struct by_json *json, const struct place *place,
                         struct by_llm_outcome *outcome)
{
    const struct by_made_tensor *made = &place->run->made.at[place->tensor];
    const struct by_made_fate *fate = &place->run->fates[place->tensor];
    const struct by_llm_item *item = item_of(place);
    const bool solved = item && item->method;
    by_json_text(json, "scheme", made->type->name);
    if (fate->wanted && fate->wanted != made->type)
        by_json_text(json, "wanted", fate->wanted->name);
    by_json_int(json, "group_size", made->type->block);
    by_json_double(json, "bits", by_ggml_bits_per_weight(made->type));
    by_llm_outcome_add(outcome, values_of(made), by_ggml_bits_per_weight(made->type),
                       solved ? item : NULL, fate->errors[place->part].energy,
                       fate->errors[place->part].error);
    by_json_bool(json, "importance", made->importance != NULL);
    by_json_bool(json, "resumed", fate->resumed || (solved && item->resumed));
    if (solved)
        by_llm_report_solved(json, item);
    else
        by_llm_report_errors(json, fate->resumed ? 0 : fate->errors[place->part].energy,
                             fate->errors[place->part].error, NULL);
    by_json_double(json, "seconds",
                   solved ? item->seconds : fate->seconds / (double)made->part_count);
}

/* Why a tensor has no blocks. */
static const char *reason_of(const struct by_made_fate *fate)
{
    return !fate->wanted             ? "no linear layer"
           : fate->excluded          ? "--exclude"
           : fate->wanted->block > 1 ? "no blocks divide its rows"
                                     : "the scheme has no blocks";
}

static void write_part(struct by_json *json, const struct place *place,
                       struct by_llm_outcome *outcome)
{
    const struct by_made_tensor *made = &place->run->made.at[place->tensor];
    by_json_open(json, NULL, '{');
    write_name(json, made, place->part);
    if (made->type->block > 1) {
        write_blocks(json, place, outcome);
    } else {
        by_json_null(json, "scheme");
        by_json_text(json, "type", made->type->name);
        by_json_text(json, "reason", reason_of(&place->run->fates[place->tensor]));
    }
    by_json_close(json, '}');
}

static void write_gguf_report(struct by_json *json, const struct by_convert_run *run)
{
    const struct by_llm_convert *options = run->options;
    const struct by_llm_ran ran = {NULL, options->repeat, options->in, options->out};
    struct by_llm_outcome outcome = {0};
    by_json_open(json, NULL, '{');
    by_llm_report_head(json, &ran, "gguf", options->type ? options->type : "bf16", NULL);
    if (options->importance)
        by_json_text(json, "importance", options->importance->path);
    by_json_open(json, "weights", '[');
    for (size_t i = 0; i < run->made.count; i++)
        for (size_t part = 0; !part || part < run->made.at[i].part_count; part++)
            write_part(json, &(struct place){run, i, part}, &outcome);
    by_json_close(json, ']');
    by_llm_report_outcome(json, &outcome);
    by_json_close(json, '}');
}

int by_convert_report(const struct by_convert_run *run, struct baryon_error *err)
{
    struct by_str text;
    struct by_json json;
    by_str_init(&text);
    by_json_init(&json, &text, false);
    write_gguf_report(&json, run);
    const int status = by_llm_report_write(run->options->report, &text, err);
    by_str_release(&text);
    return status;
}
