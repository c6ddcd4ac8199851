/* baryon copy: load, check, edit on request, write. */
#include "base/file.h"
#include "base/json.h"
#include "cli/edits.h"
#include "cli/models.h"
#include "cli/places.h"
#include "onnx/check.h"
#include "onnx/external.h"
#include "onnx/save.h"

#include <inttypes.h>
#include <string.h>

struct settings {
    struct by_model_settings model;
    struct by_verify_settings verify;
    struct by_runtime_settings runtime;
    const char *external;
    uint64_t external_min;
    bool inline_data, sort, force, custom_ops;
    struct by_setting_pairs shape, rename;
};

static int check_places(const struct by_cli *cli, const struct settings *settings,
                        struct baryon_error *err)
{
    const char *in = cli->operands[0], *out = cli->operands[1];
    char quoted[BY_QUOTE_MAX];
    if (!strcmp(out, "-"))
        return by_fail(err, BARYON_ERR_USAGE, "OUT is '-', a model can only be written to a file");
    if (settings->external && settings->inline_data)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--external and --inline are both given, only one is allowed");
    if (by_config_given(&cli->config, "external-min") && !settings->external)
        return by_fail(err, BARYON_ERR_USAGE, "--external-min requires --external");
    if (settings->force)
        return 0;
    if (by_same_file(in, out)) {
        by_fail(err, BARYON_ERR_USAGE, "OUT %s is the input model", by_quote(quoted, out));
        return by_err_hint(err, "--force overwrites it");
    }
    return by_place_check_free("OUT", out, err);
}

static int edit(struct baryon_model *model, const struct settings *settings,
                struct baryon_error *err)
{
    const struct by_check_options options = {.custom_ops = settings->custom_ops};
    if (by_model_link(model, err) < 0 || (settings->sort && by_model_sort(model, err) < 0))
        return -1;
    if (by_model_check(model, &options, NULL, NULL, err) < 0)
        return -1;
    if (by_edit_shapes(model, &settings->shape, err) < 0)
        return -1;
    return by_edit_names(model, &settings->rename, err);
}

static int save(struct baryon_model *model, const struct settings *settings, const char *out,
                struct by_saved_size *size, struct baryon_error *err)
{
    const struct by_save_options options = {
        .data = settings->external      ? BY_SAVE_EXTERNAL
                : settings->inline_data ? BY_SAVE_INLINE
                                        : BY_SAVE_KEEP,
        .external_file = settings->external,
        .external_min = settings->external_min,
        .writer_flags = settings->force ? 0 : BY_WRITER_EXCLUSIVE,
        .size = size,
    };
    if (by_place_check_data("OUT", model, out, err) < 0)
        return -1;
    return by_model_save(model, out, &options, err);
}

static void report_copy(struct by_cli *cli, const char *out, uint64_t bytes)
{
    char size[32];
    struct by_json json;
    if (cli->common.json) {
        by_json_init(&json, &cli->out.text, false);
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "file", out);
        by_json_int(&json, "bytes", (int64_t)bytes);
        by_json_close(&json, '}');
        by_str_puts(&cli->out.text, "\n");
    } else if (!cli->common.quiet) {
        by_clean(&cli->out.text, out);
        by_str_printf(&cli->out.text, ": %s\n", by_bytes_text(bytes, size, sizeof size));
    }
}

static int verify_written(const struct by_cli *cli, const struct settings *settings,
                          struct baryon_model *model, uint64_t bytes, struct baryon_error *err)
{
    const struct by_verify verify = {
        .path = cli->operands[1],
        .before = cli->operands[0],
        .model = model,
        .bytes = bytes,
        .session = {.ort_path = settings->runtime.onnxruntime, .log = &cli->log},
    };
    return by_verify_take(&settings->verify, &verify, &cli->log, err);
}

static int run_copy(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_loaded loaded;
    struct by_saved_size size;
    if (check_places(cli, settings, err) < 0 ||
        by_loaded_open(&loaded, cli, &settings->model, cli->operands[0], err) < 0)
        return -1;
    int status = edit(loaded.model, settings, err);
    if (status < 0 && err->code != BARYON_ERR_USAGE)
        by_err_file(err, loaded.name);
    if (status == 0)
        status = save(loaded.model, settings, cli->operands[1], &size, err);
    if (status < 0)
        status = by_model_judge(loaded.model, status, err);
    else
        status = verify_written(cli, settings, loaded.model, size.model + size.data, err);
    if (status == 0)
        report_copy(cli, cli->operands[1], size.model);
    by_loaded_close(&loaded);
    return status;
}

static const struct by_option rows[] = {
    {.name = "external",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, external),
     .help = "Move weights to a data file; its path is relative to the folder of OUT"},
    {.name = "external-min",
     .type = BY_OPT_BYTES,
     .arg = "BYTES",
     .min = 1,
     .max = 2147483647,
     .fallback = "1KiB",
     .offset = offsetof(struct settings, external_min),
     .help = "Keep tensors smaller than this in the model; shapes and the like stay as well"},
    {.name = "inline",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, inline_data),
     .help = "Move weights from data files into the model"},
    {.name = "shape",
     .type = BY_OPT_SIZES,
     .arg = "NAME=SIZE",
     .min = 1,
     .max = 9.2e18,
     .offset = offsetof(struct settings, shape),
     .help =
         "Set the size of a symbolic dimension, by its symbol or as INPUT:AXIS; can be repeated"},
    {.name = "rename",
     .type = BY_OPT_PAIRS,
     .arg = "OLD=NEW",
     .offset = offsetof(struct settings, rename),
     .help = "Rename an input, an output or another tensor of the main graph; can be repeated"},
    {.name = "sort",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, sort),
     .help = "Sort nodes topologically"},
    {.name = "custom-ops",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, custom_ops),
     .help =
         "Accept operators of unknown domains, for models that run with a custom operator library"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = offsetof(struct settings, force),
     .help = "Replace existing files"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Output", rows);

static const struct by_example examples[] = {
    {"baryon copy model.onnx fixed.onnx --shape N=1", "Fix the batch size to 1"},
    {"baryon copy big.onnx small.onnx --external weights.bin", "Store the weights in a data file"},
    {"baryon copy model.onnx out.onnx --rename 497=logits", "Rename an output"},
    {0},
};

const struct by_command by_cmd_copy = {
    .name = "copy",
    .operands = "MODEL OUT",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Copy a model and optionally edit it",
    .text =
        "Read a model, check it against all rules, and write it. Without edits the copy is "
        "identical, including fields that Baryon does not know. With edits, only the edited parts "
        "change. If OUT is in another folder, data files of the model are copied to it. A model "
        "over 2 GiB automatically gets a data file. Files appear complete or not at all.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0},
               {&by_verify_group, offsetof(struct settings, verify)},
               {&by_runtime_group, offsetof(struct settings, runtime)},
               {&by_model_group, offsetof(struct settings, model)}},
    .run = run_copy,
};
