/* baryon version: what runs here. */
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/versions.h"
#include "engine/ops_find.h"
#include "settings/settings.h"

static void write_version_json(struct by_out *out, const struct by_versions *versions)
{
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "baryon", baryon_version());
    by_json_text(&json, "compiler", versions->compiler);
    by_json_text(&json, "vectors", versions->vectors);
    if (versions->has_ort) {
        by_json_open(&json, "onnxruntime", '{');
        by_json_text(&json, "version", versions->ort_version);
        by_json_text(&json, "path", versions->ort_path);
        by_json_close(&json, '}');
    } else
        by_json_null(&json, "onnxruntime");
    if (versions->blas) {
        by_json_open(&json, "blas", '{');
        by_json_text(&json, "name", versions->blas->name);
        by_json_text(&json, "path", versions->blas->path);
        by_json_close(&json, '}');
    } else
        by_json_null(&json, "blas");
    if (versions->has_ops)
        by_json_text(&json, "operators", versions->ops_path);
    else
        by_json_null(&json, "operators");
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static int print_versions(struct by_out *out, const struct by_versions *versions,
                          struct baryon_error *err)
{
    struct by_table table;
    by_out_printf(out, BY_BOLD, "baryon %s\n", baryon_version());
    by_table_init(&table, out);
    by_table_column(&table, "", BY_LEFT, BY_DIM);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_cell(&table, "ONNX Runtime");
    if (versions->has_ort)
        by_table_cell(&table, "%s (%s)", versions->ort_version, versions->ort_path);
    else
        by_table_cell(&table, "not found");
    by_table_cell(&table, "BLAS");
    if (versions->blas)
        by_table_cell(&table, "%s (%s)", versions->blas->name, versions->blas->path);
    else
        by_table_cell(&table, "not found");
    by_table_cell(&table, "operators");
    by_table_cell(&table, "%s", versions->has_ops ? versions->ops_path : "not found");
    by_table_cell(&table, "compiler");
    by_table_cell(&table, "%s", versions->compiler);
    by_table_cell(&table, "vector path");
    by_table_cell(&table, "%s", versions->vectors);
    return by_table_print(&table, 2, err);
}

struct settings {
    struct by_runtime_settings runtime;
    bool ops_path;
};

static const struct by_option rows[] = {
    {.name = "ops-path",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, ops_path),
     .help = "Print only the path of the library with Quark operators"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Contents", rows);

static int show_ops_path(struct by_cli *cli, const struct by_versions *versions,
                         struct baryon_error *err)
{
    struct by_str *text = &cli->out.text;
    struct by_json json;
    if (!versions->has_ops)
        return by_ops_missing(err);
    if (!cli->common.json) {
        by_str_printf(text, "%s\n", versions->ops_path);
        return 0;
    }
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "operators", versions->ops_path);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
    return 0;
}

static int run_version(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_versions versions;
    by_versions_find(&versions, settings->runtime.onnxruntime);
    if (settings->ops_path)
        return show_ops_path(cli, &versions, err);
    if (!cli->common.json)
        return print_versions(&cli->out, &versions, err);
    write_version_json(&cli->out, &versions);
    return 0;
}

static const struct by_example examples[] = {
    {"baryon version --json", "Print the versions as JSON"},
    {"baryon version --ops-path", "Print the path for register_custom_ops_library() in Python"},
    {0},
};

const struct by_command by_cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "Show the versions of Baryon and of its libraries",
    .text = "Show the version of Baryon, the version and path of ONNX Runtime, the BLAS library, "
            "the library with Quark operators, the compiler, and the vector instructions chosen "
            "for this processor. See 'baryon doctor' for more.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_runtime_group, offsetof(struct settings, runtime)}},
    .run = run_version,
};
