/* baryon plan: what quantization would do to a model. */
#include "cli/quantizing.h"

struct settings {
    struct by_quantize_settings quantize;
};

static int print_plan(struct by_quantizing *q, struct baryon_error *err)
{
    char before[32], after[32];
    struct by_out *out = &q->cli->out;
    const struct by_plan_view *view = &q->view;
    by_quantizing_head(q, out);
    by_str_puts(&out->text, "\n");
    if (by_plan_view_nodes(view, out, err) < 0)
        return -1;
    by_str_puts(&out->text, "\n");
    if (view->row_count && by_plan_view_rows(view, out, err) < 0)
        return -1;
    by_str_puts(&out->text, view->row_count ? "\n" : "");
    if (by_plan_view_ops(view, out, err) < 0)
        return -1;
    by_str_puts(&out->text, "\n");
    if (by_plan_view_coverage(view, out, err) < 0)
        return -1;
    by_str_printf(&out->text, "  %s before, about %s after\n",
                  by_bytes_text(view->bytes_before, before, sizeof before),
                  by_bytes_text(view->bytes_after, after, sizeof after));
    return 0;
}

static void write_plan_json(struct by_quantizing *q)
{
    struct by_json json;
    struct by_out *out = &q->cli->out;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_quantizing_head_json(q, &json);
    by_json_int(&json, "bytes_before", (int64_t)q->view.bytes_before);
    by_json_int(&json, "bytes_about", (int64_t)q->view.bytes_after);
    by_plan_view_json(&q->view, &json);
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static int run_plan(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_quantizing q = {.cli = cli};
    int status = -1;
    if (by_quantizing_take(&q, cli, &settings->quantize, err) == 0 &&
        by_quantizing_load(&q, err) == 0)
        status = by_quantizing_plan(&q, err);
    if (status == 0 && cli->common.json)
        write_plan_json(&q);
    else if (status == 0)
        status = print_plan(&q, err);
    by_quantizing_close(&q);
    return status;
}

static const struct by_example examples[] = {
    {"baryon plan model.onnx --preset XINT8 --data photos",
     "Show what becomes int8, what stays float, and why"},
    {"baryon plan model.onnx --preset A8W8 --stats model.stats --json",
     "Print the plan from statistics as JSON"},
    {0},
};

const struct by_command by_cmd_plan = {
    .name = "plan",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Show how a model would be quantized",
    .text = "Run 'baryon quantize' with the same options without writing a model. Print all nodes "
            "and tensors with types, parameters and the reason for each decision. Then print the "
            "types by operator, the share of multiply-adds in quantized nodes, the nodes that stay "
            "float with the reason, and the estimated size of the model.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {BY_QUANTIZING_GROUPS(struct settings)},
    .run = run_plan,
};
