/* The comparison of two checkpoints as JSON. */
#include "llm/compare.h"

static void write_numbers(struct by_json *json, double sqnr, double greatest, double bits_a,
                          double bits_b)
{
    by_json_double(json, "sqnr", sqnr);
    by_json_double(json, "greatest_error", greatest);
    by_json_double(json, "bits_a", bits_a);
    by_json_double(json, "bits_b", bits_b);
}

void by_llm_comparison_json(const struct by_llm_comparison *comparison, struct by_json *json)
{
    by_json_open(json, NULL, '{');
    write_numbers(json, comparison->sqnr, comparison->greatest, comparison->bits_a,
                  comparison->bits_b);
    by_json_int(json, "compared", (int64_t)comparison->compared);
    by_json_int(json, "only_a", (int64_t)comparison->only_a);
    by_json_int(json, "only_b", (int64_t)comparison->only_b);
    by_json_open(json, "weights", '[');
    for (size_t i = 0; i < comparison->count; i++) {
        const struct by_llm_pair *pair = &comparison->pairs[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", pair->name);
        if (pair->why)
            by_json_text(json, "not_compared", pair->why);
        else
            write_numbers(json, pair->sqnr, pair->greatest, pair->bits_a, pair->bits_b);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}
