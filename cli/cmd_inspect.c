/* baryon inspect: what is in a model. */
#include "cli/between.h"
#include "cli/inspect.h"
#include "ir/infer.h"

struct settings {
    struct by_model_settings model;
    bool nodes;
    struct by_setting_pairs between;
};

static bool shows_nodes(const struct settings *settings)
{
    return settings->nodes || settings->between.count;
}

/* Shapes are worth showing where they are known; a model that contradicts itself still
 * has nodes to look at. */
static void infer(struct by_cli *cli, struct baryon_model *model)
{
    struct baryon_error err;
    char text[sizeof err + 64];
    by_err_clear(&err);
    if (by_model_infer(model, NULL, &err) == 0)
        return;
    baryon_error_format(&err, text, sizeof text);
    by_log(&cli->log, BY_LOG_WARNING, "types and shapes are incomplete: %s", text);
}

static int show_nodes(struct by_cli *cli, const struct settings *settings,
                      struct baryon_model *model, struct by_json *json, struct baryon_error *err)
{
    struct by_node_view view = {.model = model};
    bool *marks;
    size_t count;
    if (settings->between.count) {
        if (by_between(model, &settings->between, &cli->config.arena, &marks, &count, err) < 0)
            return -1;
        view.marks = marks;
        if (!count && !json) {
            by_str_puts(&cli->out.text, "No node is on a path between them.\n");
            return 0;
        }
    }
    infer(cli, model);
    return json ? by_nodes_json(json, &view, err) : by_nodes_text(&cli->out, &view, err);
}

static int write_inspect_json(struct by_cli *cli, const struct settings *settings,
                              const struct by_loaded *loaded, const struct by_summary *summary,
                              struct baryon_error *err)
{
    struct by_json json;
    by_json_init(&json, &cli->out.text, false);
    by_json_open(&json, NULL, '{');
    by_inspect_json(&json, loaded, summary);
    if (shows_nodes(settings) && show_nodes(cli, settings, loaded->model, &json, err) < 0)
        return -1;
    by_json_close(&json, '}');
    by_str_puts(&cli->out.text, "\n");
    return 0;
}

static int print_inspected(struct by_cli *cli, const struct settings *settings,
                           const struct by_loaded *loaded, struct baryon_error *err)
{
    struct by_summary summary;
    if (!cli->common.json && shows_nodes(settings))
        return show_nodes(cli, settings, loaded->model, NULL, err);
    if (by_summary_make(&summary, loaded->model, err) < 0)
        return -1;
    int status = cli->common.json ? write_inspect_json(cli, settings, loaded, &summary, err)
                                  : by_inspect_text(&cli->out, loaded, &summary, err);
    by_summary_release(&summary);
    return status;
}

static int run_inspect(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_loaded loaded;
    if (by_loaded_open(&loaded, cli, &settings->model, cli->operands[0], err) < 0)
        return -1;
    int status = by_model_link(loaded.model, err);
    if (status == 0)
        status = print_inspected(cli, settings, &loaded, err);
    status = by_model_judge(loaded.model, status, err);
    if (status < 0 && err->code != BARYON_ERR_USAGE)
        by_err_file(err, loaded.name);
    by_loaded_close(&loaded);
    return status;
}

static const struct by_option rows[] = {
    {.name = "nodes",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, nodes),
     .help = "List all nodes with name, type and shape of their first output"},
    {.name = "between",
     .type = BY_OPT_SPANS,
     .arg = "START END",
     .offset = offsetof(struct settings, between),
     .help = "List the nodes on the paths from START to END, both included; START and END are "
             "names or patterns, separated by commas; can be repeated"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Contents", rows);

static const struct by_example examples[] = {
    {"baryon inspect model.onnx", "Show a summary of the model"},
    {"baryon inspect model.onnx --nodes | grep Conv", "List all convolutions"},
    {"baryon inspect model.onnx --between /model.22/cv2 output0",
     "List the nodes between two nodes, to exclude them from quantization"},
    {"baryon inspect model.onnx --json | jq .inputs", "Print the inputs of the model as JSON"},
    {0},
};

const struct by_command by_cmd_inspect = {
    .name = "inspect",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Show the contents of a model",
    .text = "Show size, origin, opsets, inputs and outputs with types and shapes, and the "
            "parameters and bytes by operator and by type. A constant counts for its first "
            "consumer; conversions and rearrangements between them are skipped. The operators show "
            "whether the model is quantized.\n\n"
            "START and END are names of nodes or tensors. A tensor stands for its producer, an "
            "input of the model for its consumers. Nodes without a name are listed by their first "
            "output, in parentheses.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_model_group, offsetof(struct settings, model)}},
    .run = run_inspect,
};
