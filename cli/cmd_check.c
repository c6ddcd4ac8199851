/* baryon check: all rules that a model has to keep. */
#include "cli/inspect.h"
#include "cli/lists.h"
#include "cli/models.h"
#include "ir/infer.h"
#include "onnx/check.h"
#include "quant/hardware.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct settings {
    struct by_model_settings model;
    bool rules, custom_ops;
    const char *target;
};

struct findings {
    struct by_cli *cli;
    struct by_json *json; /* NULL: as text */
    const char *file;
    uint64_t counts[BY_FINDING_ERROR + 1];
};

static const char *const severities[] = {
    [BY_FINDING_NOTICE] = "notice",
    [BY_FINDING_WARNING] = "warning",
    [BY_FINDING_ERROR] = "error",
};

static void print_finding(struct by_out *out, const char *file, const struct by_finding *finding)
{
    static const enum by_style styles[] = {
        [BY_FINDING_NOTICE] = BY_CYAN,
        [BY_FINDING_WARNING] = BY_YELLOW,
        [BY_FINDING_ERROR] = BY_RED,
    };
    const struct baryon_error *error = &finding->error;
    struct by_str *text = &out->text;
    by_clean(text, file);
    if (error->offset >= 0)
        by_str_printf(text, "@%" PRId64, error->offset);
    by_str_puts(text, ": ");
    by_out_printf(out, styles[finding->severity], "%s", severities[finding->severity]);
    by_str_puts(text, ": ");
    by_clean(text, error->place);
    by_str_puts(text, error->place[0] ? ": " : "");
    by_clean(text, error->message);
    by_str_puts(text, error->hint[0] ? "; " : "");
    by_clean(text, error->hint);
    by_out_printf(out, BY_DIM, " [%s]", finding->rule);
    by_str_puts(text, "\n");
}

static void write_finding_json(struct by_json *json, const struct by_finding *finding)
{
    const struct baryon_error *error = &finding->error;
    by_json_open(json, NULL, '{');
    by_json_text(json, "severity", severities[finding->severity]);
    by_json_text(json, "rule", finding->rule);
    by_json_text(json, "code", baryon_code_name(error->code));
    by_json_text(json, "place", error->place);
    if (error->offset >= 0)
        by_json_int(json, "offset", error->offset);
    else
        by_json_null(json, "offset");
    by_json_text(json, "message", error->message);
    by_json_text(json, "hint", error->hint);
    by_json_close(json, '}');
}

static bool visit_finding(void *context, const struct by_finding *finding)
{
    struct findings *findings = context;
    findings->counts[finding->severity]++;
    if (findings->json)
        write_finding_json(findings->json, finding);
    else if (finding->severity > BY_FINDING_NOTICE || !findings->cli->common.quiet)
        print_finding(&findings->cli->out, findings->file, finding);
    return true;
}

static void close_text(struct findings *findings)
{
    struct by_out *out = &findings->cli->out;
    const uint64_t *counts = findings->counts;
    by_clean(&out->text, findings->file);
    by_str_puts(&out->text, ": ");
    if (!counts[BY_FINDING_ERROR] && !counts[BY_FINDING_WARNING] && !counts[BY_FINDING_NOTICE]) {
        by_out_printf(out, BY_GREEN, "no findings");
        by_str_puts(&out->text, "\n");
        return;
    }
    by_plural(&out->text, counts[BY_FINDING_ERROR], "error");
    by_str_puts(&out->text, ", ");
    by_plural(&out->text, counts[BY_FINDING_WARNING], "warning");
    by_str_puts(&out->text, ", ");
    by_plural(&out->text, counts[BY_FINDING_NOTICE], "notice");
    by_str_puts(&out->text, "\n");
}

static void close_json(struct findings *findings)
{
    struct by_json *json = findings->json;
    by_json_close(json, ']');
    by_json_int(json, "errors", (int64_t)findings->counts[BY_FINDING_ERROR]);
    by_json_int(json, "warnings", (int64_t)findings->counts[BY_FINDING_WARNING]);
    by_json_int(json, "notices", (int64_t)findings->counts[BY_FINDING_NOTICE]);
    by_json_close(json, '}');
    by_str_puts(&findings->cli->out.text, "\n");
}

/* --- Targets --- */

static void tell_line(struct findings *findings, const char *target, const char *line, size_t size)
{
    struct by_finding finding = {.rule = target, .severity = BY_FINDING_ERROR};
    struct baryon_error *error = &finding.error;
    const char *tab = memchr(line, '\t', size);
    const size_t place = tab ? (size_t)(tab - line) : 0, skip = tab ? place + 1 : 0;
    error->code = BARYON_ERR_UNSUPPORTED;
    error->offset = -1;
    snprintf(error->place, sizeof error->place, "%.*s", (int)place, line);
    snprintf(error->message, sizeof error->message, "%.*s", (int)(size - skip), line + skip);
    visit_finding(findings, &finding);
}

/* Lines as findings. Targets know nothing of a model that breaks other rules: it is none. */
static int check_target(struct findings *findings, struct by_loaded *loaded, const char *name,
                        struct baryon_error *err)
{
    const struct by_hardware_target *target = by_hardware_target_find(name);
    struct by_str broken;
    size_t count;
    if (by_model_link(loaded->model, err) < 0 || by_model_infer(loaded->model, NULL, err) < 0)
        return -1;
    by_str_init(&broken);
    int status = by_hardware_check(loaded->model, target, &broken, &count, err);
    const char *line = by_str_text(&broken);
    while (status == 0 && *line) {
        const size_t size = strcspn(line, "\n");
        tell_line(findings, target->name, line, size);
        line += size + (line[size] == '\n');
    }
    by_str_release(&broken);
    if (status == 0 && count)
        status = by_fail(err, BARYON_ERR_UNSUPPORTED, "the model breaks %zu rules of the target %s",
                         count, target->name);
    return status;
}

static int find_target(const char *name, struct baryon_error *err)
{
    const char *names[16];
    char quoted[BY_QUOTE_MAX];
    size_t count;
    const struct by_hardware_target *targets = by_hardware_targets(&count);
    if (!name || by_hardware_target_find(name))
        return 0;
    for (size_t i = 0; i < count && i < 16; i++)
        names[i] = targets[i].name;
    const char *nearest = by_nearest(name, names, count);
    by_fail(err, BARYON_ERR_USAGE, "unknown target %s", by_quote(quoted, name));
    return by_err_hint(err, "%s%s%s'baryon list targets' lists them",
                       nearest ? "did you mean " : "", nearest ? nearest : "", nearest ? "? " : "");
}

/* The findings are the result: with errors among them, only the status is left to tell. */
static int check_loaded_model(struct by_cli *cli, const struct settings *settings,
                              struct by_loaded *loaded, struct baryon_error *err)
{
    const struct by_check_options options = {.custom_ops = settings->custom_ops};
    struct findings findings = {.cli = cli, .file = loaded->name};
    struct by_json json;
    if (cli->common.json) {
        by_json_init(&json, &cli->out.text, false);
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "file", loaded->name);
        by_json_open(&json, "findings", '[');
        findings.json = &json;
    }
    int status = by_model_check(loaded->model, &options, visit_finding, &findings, err);
    if (status == 0 && settings->target)
        status = check_target(&findings, loaded, settings->target, err);
    status = by_model_judge(loaded->model, status, err);
    if (status < 0 && (!findings.counts[BY_FINDING_ERROR] || err->code == BARYON_ERR_CHANGED))
        return by_err_file(err, loaded->name);
    if (findings.json)
        close_json(&findings);
    else
        close_text(&findings);
    if (status < 0 && by_out_flush(&cli->out, err) == 0)
        err->message[0] = '\0';
    return status;
}

static int run_check(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_loaded loaded;
    if (settings->rules)
        return by_list_show(cli, by_registry_find("rules"), err);
    if (!cli->operand_count)
        return by_fail(err, BARYON_ERR_USAGE, "check requires MODEL");
    if (find_target(settings->target, err) < 0)
        return -1;
    if (by_loaded_open(&loaded, cli, &settings->model, cli->operands[0], err) < 0)
        return -1;
    int status = check_loaded_model(cli, settings, &loaded, err);
    by_loaded_close(&loaded);
    return status;
}

static const struct by_option rows[] = {
    {.name = "custom-ops",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, custom_ops),
     .help =
         "Accept operators of unknown domains, for models that run with a custom operator library"},
    {.name = "rules",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, rules),
     .help = "List the rules instead of checking a model"},
    {.name = "target",
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     .offset = offsetof(struct settings, target),
     .help = "Also check a quantized model against the rules of a target: xint8, vitis-ai"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Checks", rows);

static const struct by_example examples[] = {
    {"baryon check model.onnx", "Print all findings, one per line"},
    {"baryon check --rules", "List the rules"},
    {"baryon check model_int8.onnx --target xint8", "Check whether a quantized model suits an NPU"},
    {0},
};

const struct by_command by_cmd_check = {
    .name = "check",
    .operands = "MODEL",
    .max_operands = 1,
    .summary = "Check a model against all rules",
    .text = "Print each finding on a separate line: FILE@OFFSET: SEVERITY: PLACE: MESSAGE [RULE]. "
            "OFFSET is the byte in the file where the part begins. If there are errors, the exit "
            "status is that of the first one, 3 or 4; warnings and notices do not change it. A "
            "file that is no readable model is one error on standard error.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}, {&by_model_group, offsetof(struct settings, model)}},
    .run = run_check,
};
