/* baryon llm compare: how far the weights of two checkpoints are from each other. */
#include "base/json.h"
#include "cli/cmd.h"
#include "llm/compare.h"
#include "settings/llm.h"

static void compared_row(struct by_table *table, const char *name, double sqnr, double greatest,
                         double bits_a, double bits_b)
{
    by_table_cell(table, "%s", name);
    by_table_cell(table, "%.2f", sqnr);
    by_table_cell(table, "%.3g", greatest);
    by_table_cell(table, "%.3f", bits_a);
    by_table_cell(table, "%.3f", bits_b);
}

static int print_comparison(struct by_out *out, const struct by_llm_comparison *comparison,
                            struct baryon_error *err)
{
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "weight", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "SQNR dB", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "greatest error", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "bits of A", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "bits of B", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct by_llm_pair *pair = &comparison->pairs[i];
        if (!pair->why)
            compared_row(&table, pair->name, pair->sqnr, pair->greatest, pair->bits_a,
                         pair->bits_b);
    }
    compared_row(&table, "all", comparison->sqnr, comparison->greatest, comparison->bits_a,
                 comparison->bits_b);
    if (by_table_print(&table, 0, err))
        return -1;
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->pairs[i].why) {
            by_str_puts(&out->text, "not compared: ");
            by_clean(&out->text, comparison->pairs[i].name);
            by_str_printf(&out->text, " (%s)\n", comparison->pairs[i].why);
        }
    if (comparison->only_b) {
        by_plural(&out->text, comparison->only_b, "weight");
        by_str_puts(&out->text, " only in the second\n");
    }
    return 0;
}

static void write_comparison(struct by_str *out, const struct by_llm_comparison *comparison)
{
    struct by_json json;
    by_json_init(&json, out, false);
    by_llm_comparison_json(comparison, &json);
    by_str_puts(out, "\n");
}

static int run_llm_compare(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct by_llm_reading *settings = data;
    struct by_llm_comparison comparison;
    int status = by_llm_compare(&comparison, cli->operands[0], cli->operands[1],
                                (unsigned)settings->threads, err);
    if (!status && cli->common.json)
        write_comparison(&cli->out.text, &comparison);
    else if (!status)
        status = print_comparison(&cli->out, &comparison, err);
    by_llm_comparison_release(&comparison);
    return status;
}

static const struct by_example examples[] = {
    {"baryon llm compare Qwen3-0.6B Qwen3-0.6B-int4", "Show what quantization did to each weight"},
    {0},
};

const struct by_command by_cmd_llm_compare = {
    .name = "llm compare",
    .operands = "A B",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Compare the weights of two checkpoints",
    .text = "Show the signal-to-noise ratio, the greatest error and the bits a value of each "
            "weight of B beside the one of that name in A, in one pass over both. Weights that are "
            "quantized are dequantized, whatever their layout. Bits include scales and zero "
            "points. The signal is A.",
    .examples = examples,
    .settings_size = sizeof(struct by_llm_reading),
    .groups = {{&by_llm_reading_group, 0}},
    .run = run_llm_compare,
};
