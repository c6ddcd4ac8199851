/* baryon stats: what is in a file of statistics. */
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/models.h"
#include "cli/stats_view.h"
#include "settings/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum sort { SORT_MODEL, SORT_NAME, SORT_RANGE, SORT_RMS, SORT_ZEROS, SORT_NONFINITE, SORT_MEMORY };

struct settings {
    struct by_model_settings links;
    struct by_setting_texts tensor;
    const char *model;
    int type, sort;
    int64_t top;
    bool symmetric, asymmetric, logarithmic;
};

/* --- Number formats --- */

/* The format twice: with scales as they come, and with powers of two. */
static int choose_types(const struct settings *settings, struct by_calib_type chosen[2],
                        struct baryon_error *err)
{
    size_t count;
    chosen[0] = by_calib_types(&count)[settings->type];
    struct by_calib_target *target = &chosen[0].target;
    if (settings->symmetric && settings->asymmetric)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--symmetric and --asymmetric are both given, only one is allowed");
    if (settings->asymmetric && target->is_float)
        return by_fail(err, BARYON_ERR_USAGE, "--asymmetric: %s has no zero point", chosen[0].name);
    if (settings->symmetric || settings->asymmetric)
        target->symmetric = settings->symmetric;
    chosen[1] = chosen[0];
    chosen[1].target.power_of_two = true;
    return 0;
}

static int check_options(struct by_cli *cli, const struct settings *settings,
                         struct baryon_error *err)
{
    static const char *const of_tensor[] = {"type", "symmetric", "asymmetric", "log"};
    static const char *const of_table[] = {"sort", "top"};
    if (!settings->tensor.count)
        for (size_t i = 0; i < sizeof of_tensor / sizeof *of_tensor; i++)
            if (by_config_source(&cli->config, of_tensor[i]) == BY_SOURCE_FLAG)
                return by_fail(err, BARYON_ERR_USAGE, "--%s requires --tensor", of_tensor[i]);
    for (size_t i = 0; settings->tensor.count && i < sizeof of_table / sizeof *of_table; i++)
        if (by_config_source(&cli->config, of_table[i]) == BY_SOURCE_FLAG)
            return by_fail(err, BARYON_ERR_USAGE, "--%s is not valid with --tensor", of_table[i]);
    return 0;
}

/* --- Which tensors, in which order --- */

static double sort_value(const struct by_tensor_stats *tensor, enum sort sort)
{
    const struct by_sketch *sketch = &tensor->sketch;
    switch (sort) {
    case SORT_RANGE:
        return fmax(fabs((double)sketch->min), fabs((double)sketch->max));
    case SORT_RMS:
        return by_sketch_rms(sketch);
    case SORT_ZEROS:
        return by_sketch_finite(sketch) ? (double)sketch->zeros / (double)by_sketch_finite(sketch)
                                        : -1;
    case SORT_NONFINITE:
        return (double)by_tensor_nonfinite(tensor);
    case SORT_MEMORY:
        return (double)by_tensor_memory(tensor);
    case SORT_MODEL:
    case SORT_NAME:
        break;
    }
    return 0;
}

struct sorted {
    const struct by_tensor_stats *tensor;
    const char *name; /* NULL: by value */
    double value;
};

/* Names from A on, numbers from the greatest on; equal ones as they are in the model. */
static int compare_sorted_tensors(const void *first, const void *second)
{
    const struct sorted *a = first, *b = second;
    int order = a->name ? strcmp(a->name, b->name) : (a->value < b->value) - (a->value > b->value);
    return order ? order : (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

static int sort_tensors(struct by_stats_view *view, enum sort sort, struct baryon_error *err)
{
    struct sorted *rows = by_alloc(view->tensor_count, sizeof *rows, err);
    if (!rows)
        return -1;
    for (size_t i = 0; i < view->tensor_count; i++)
        rows[i] = (struct sorted){.tensor = view->tensors[i],
                                  .name = sort == SORT_NAME ? view->tensors[i]->name : NULL,
                                  .value = sort_value(view->tensors[i], sort)};
    qsort(rows, view->tensor_count, sizeof *rows, compare_sorted_tensors);
    for (size_t i = 0; i < view->tensor_count; i++)
        view->tensors[i] = rows[i].tensor;
    by_free(rows);
    return 0;
}

static int list_tensors(struct by_cli *cli, const struct settings *settings,
                        struct by_stats_view *view, struct baryon_error *err)
{
    const struct by_stats *stats = view->stats;
    view->tensors = by_arena_alloc(&cli->config.arena, stats->tensor_count, sizeof(void *), err);
    if (!view->tensors)
        return -1;
    for (size_t i = 0; i < stats->tensor_count; i++)
        view->tensors[i] = &stats->tensors[i];
    view->tensor_count = stats->tensor_count;
    if (settings->sort != SORT_MODEL && sort_tensors(view, (enum sort)settings->sort, err) < 0)
        return -1;
    if (settings->top && (uint64_t)settings->top < view->tensor_count) {
        view->left_out = view->tensor_count - (size_t)settings->top;
        view->tensor_count = (size_t)settings->top;
    }
    return 0;
}

static int unknown_tensor(const struct by_stats *stats, const char *file, const char *name,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "the statistics have no tensor %s", by_quote(quoted, name));
    by_err_hint(err, "'baryon stats' lists them");
    const char **names = by_alloc(stats->tensor_count, sizeof *names, NULL);
    for (size_t i = 0; names && i < stats->tensor_count; i++)
        names[i] = stats->tensors[i].name;
    const char *near = names ? by_nearest(name, names, stats->tensor_count) : NULL;
    if (near)
        by_err_hint(err, "did you mean %s?", by_quote(quoted, near));
    by_free(names);
    return by_err_file(err, file);
}

/* --- Showing --- */

static int show_tensors(struct by_cli *cli, const struct settings *settings, struct by_stats *stats,
                        struct by_json *json, struct baryon_error *err)
{
    struct by_calib_type chosen[2];
    if (choose_types(settings, chosen, err) < 0)
        return -1;
    if (json)
        by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < settings->tensor.count; i++) {
        const char *name = settings->tensor.at[i];
        const struct by_tensor_stats *tensor = by_stats_find(stats, name);
        if (!tensor)
            return unknown_tensor(stats, cli->operands[0], name, err);
        if (i && !json)
            by_str_puts(&cli->out.text, "\n");
        int status =
            json ? by_stats_tensor_json(json, tensor, chosen, err)
                 : by_stats_tensor_text(&cli->out, tensor, chosen, settings->logarithmic, err);
        if (status < 0)
            return -1;
    }
    if (json)
        by_json_close(json, ']');
    return 0;
}

static int print_stats(struct by_cli *cli, const struct settings *settings,
                       struct by_stats_view *view, struct baryon_error *err)
{
    struct by_json json;
    int status;
    if (!settings->tensor.count && list_tensors(cli, settings, view, err) < 0)
        return -1;
    if (!cli->common.json)
        return settings->tensor.count ? show_tensors(cli, settings, view->stats, NULL, err)
                                      : by_stats_text(&cli->out, view, err);
    by_json_init(&json, &cli->out.text, false);
    by_json_open(&json, NULL, '{');
    if (settings->tensor.count)
        status = show_tensors(cli, settings, view->stats, &json, err);
    else {
        by_stats_json(&json, view);
        status = 0;
    }
    by_json_close(&json, '}');
    by_str_puts(&cli->out.text, "\n");
    return status;
}

/* --- Whether they are of that model --- */

static int check_model(const struct by_cli *cli, const struct settings *settings,
                       const struct by_stats *stats, struct baryon_error *err)
{
    struct by_loaded loaded;
    struct by_stats_key want = stats->key;
    char quoted[BY_QUOTE_MAX];
    if (by_loaded_open(&loaded, cli, &settings->links, settings->model, err) < 0)
        return -1;
    int status = by_model_content_hash(loaded.model, &want.model, err);
    status = by_model_judge(loaded.model, status, err);
    by_loaded_close(&loaded);
    if (status < 0)
        return by_err_file(err, settings->model);
    if (by_stats_check_key(&stats->key, &want, err) == 0)
        return 0;
    by_err_hint(err, "%s has the latter; calibrate it again", by_quote(quoted, settings->model));
    return by_err_file(err, cli->operands[0]);
}

static int run_stats(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_stats_view view = {.file = cli->operands[0], .checked = settings->model};
    if (check_options(cli, settings, err) < 0 ||
        by_stats_load(&view.stats, cli->operands[0], err) < 0)
        return -1;
    view.bytes = by_file_size(cli->operands[0]);
    int status = settings->model ? check_model(cli, settings, view.stats, err) : 0;
    if (status == 0)
        status = print_stats(cli, settings, &view, err);
    by_stats_close(view.stats);
    return status;
}

static const struct by_choice sort_choices[] = {
    {"model", SORT_MODEL, "order of the model"},
    {"name", SORT_NAME, "alphabetical order"},
    {"range", SORT_RANGE, "largest magnitude first"},
    {"rms", SORT_RMS, "largest root mean square first"},
    {"zeros", SORT_ZEROS, "most zeros first"},
    {"nonfinite", SORT_NONFINITE, "most NaN and infinite values first"},
    {"memory", SORT_MEMORY, "most memory first"},
    {0},
};

static const struct by_option rows[] = {
    {.name = "tensor",
     .type = BY_OPT_TEXTS,
     .arg = "NAME[,NAME...]",
     .offset = offsetof(struct settings, tensor),
     .help = "Draw the histogram of this tensor and show the range of each calibration method; can "
             "be repeated"},
    {.name = "type",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = by_calib_type_names,
     .fallback = "int8",
     .offset = offsetof(struct settings, type),
     .help = "Number format that ranges are chosen for"},
    {.name = "symmetric",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, symmetric),
     .help = "Use a fixed zero point in the middle, the default for signed formats"},
    {.name = "asymmetric",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, asymmetric),
     .help = "Compute the zero point from the range, the default for unsigned formats"},
    {.name = "log",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, logarithmic),
     .help = "Draw the histogram on a logarithmic scale"},
    {.name = "sort",
     .type = BY_OPT_CHOICE,
     .arg = "KEY",
     .choices = sort_choices,
     .fallback = "model",
     .offset = offsetof(struct settings, sort),
     .help = "Order of the table"},
    {.name = "top",
     .type = BY_OPT_INT,
     .arg = "N",
     .min = 1,
     .max = 9.2e18,
     .offset = offsetof(struct settings, top),
     .help = "Show only the first N tensors of the table"},
    {.name = "model",
     .type = BY_OPT_TEXT,
     .arg = "MODEL",
     .offset = offsetof(struct settings, model),
     .help = "Fail if the statistics are not of this model"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Contents", rows);

static const struct by_example examples[] = {
    {"baryon stats model.stats", "Show all tensors, and all layers with Gram matrices"},
    {"baryon stats model.stats --sort range --top 10", "Show the tensors with the largest values"},
    {"baryon stats model.stats --tensor conv1_out --log --type uint8",
     "Show the histogram of a tensor and the ranges of all methods"},
    {"baryon stats model.stats --model model.onnx -q",
     "Check by the exit status whether the statistics are of this model"},
    {"baryon stats model.stats --json | jq '.tensors[] | select(.all_zero) | .name'",
     "List the tensors that are all zero"},
    {0},
};

const struct by_command by_cmd_stats = {
    .name = "stats",
    .operands = "STATS",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Show the statistics of a calibration",
    .text =
        "Show the model and the samples of the statistics, and a line for each tensor: type, shape "
        "('?' where samples differ), number of values, minimum, mean, maximum, root mean square, "
        "share of zeros, and memory of its statistics. The last column names anomalies: constant, "
        "all zero, without values, varying shape, NaN or infinite values with the first sample "
        "that has them. Then show a line for each layer with a Gram matrix: columns of a row of "
        "weights, groups, number of rows, and memory of the matrix in use.\n\n"
        "With --tensor, draw the histogram in equal steps from minimum to maximum, with a separate "
        "bar for zeros. Then show for each calibration method the range, the scale and zero point "
        "for --type, and the share of values beyond the last levels, with scales of any value and "
        "with power-of-two scales. The methods use their default parameters; see 'baryon list "
        "methods'.\n\n"
        "A file that is damaged, truncated or of a newer version is an error, and with --model a "
        "file of another model (exit status 3).",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_model_group, offsetof(struct settings, links)}},
    .run = run_stats,
};
