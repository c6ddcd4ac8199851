/* Gathers what a report has while a command runs, and writes it. */
#include "cli/reporting.h"

#include "base/file.h"
#include "cli/places.h"
#include "cli/term.h"
#include "report/html/html.h"

#include <string.h>

/* --- Notices --- */

/* What does not fit into memory is not in the report. */
static void keep_notice(struct by_reporting *reporting, enum by_log_level level, const char *text)
{
    pthread_mutex_lock(&reporting->lock);
    const char *kept = by_arena_text(&reporting->arena, text, strlen(text), NULL);
    if (kept && by_list_reserve(&reporting->arena, &reporting->notices, 1,
                                sizeof *reporting->notices.at, NULL) == 0)
        reporting->notices.at[reporting->notices.count++] = (struct by_notice){level, kept};
    pthread_mutex_unlock(&reporting->lock);
}

static void log_and_keep(void *context, enum by_log_level level, const char *text)
{
    struct by_reporting *reporting = context;
    if (reporting->before.write)
        reporting->before.write(reporting->before.context, level, text);
    if (level >= BY_LOG_NOTICE)
        keep_notice(reporting, level, text);
}

static void put_notices(struct by_reporting *reporting)
{
    struct by_json *json = &reporting->json;
    if (!reporting->notices.count)
        return;
    by_json_open(json, "notices", '[');
    for (size_t i = 0; i < reporting->notices.count; i++) {
        const struct by_notice *notice = &reporting->notices.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "level", notice->level == BY_LOG_WARNING ? "warning" : "notice");
        by_json_text(json, "text", notice->text);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

/* --- Begin and end --- */

int by_reporting_begin(struct by_reporting *reporting, struct by_cli *cli, const char *path,
                       bool force, struct baryon_error *err)
{
    *reporting = (struct by_reporting){.path = path, .force = force, .cli = cli};
    if (!path)
        return 0;
    pthread_mutex_init(&reporting->lock, NULL);
    by_arena_init(&reporting->arena, 0);
    by_str_init(&reporting->text);
    by_examples_init(&reporting->examples, NULL);
    reporting->before = cli->log;
    cli->log = (struct by_log){
        .write = log_and_keep, .context = reporting, .level = reporting->before.level};
    if (!force && by_place_check_free("--report", path, err) < 0)
        return -1;
    return by_writer_probe(path, 0, err);
}

void by_reporting_end(struct by_reporting *reporting)
{
    if (!reporting->path)
        return;
    reporting->cli->log = reporting->before;
    if (reporting->taken)
        by_report_figures_release(&reporting->figures);
    by_examples_release(&reporting->examples);
    by_str_release(&reporting->text);
    by_arena_release(&reporting->arena);
    pthread_mutex_destroy(&reporting->lock);
    reporting->path = NULL;
}

/* --- Figures and samples --- */

static int get_details(void *context, const struct by_sensitivity *found, const char *why_not,
                       struct baryon_error *err)
{
    struct by_reporting *reporting = context;
    if (!found)
        return by_report_figures_unmeasured(&reporting->figures, why_not, err);
    return by_report_figures_measured(&reporting->figures, reporting->view, found, NULL, err);
}

void by_reporting_show(struct by_reporting *reporting, const struct by_prep *prep,
                       struct by_show *show)
{
    if (!reporting->path)
        return;
    reporting->examples.prep = prep;
    show->show = by_examples_show;
    show->context = &reporting->examples;
}

void by_reporting_listen(struct by_reporting *reporting, const struct by_plan_view *view,
                         const struct by_prep *prep, struct by_quality_options *quality)
{
    if (!reporting->path)
        return;
    reporting->view = view;
    quality->details.get = get_details;
    quality->details.context = reporting;
    by_reporting_show(reporting, prep, &quality->show);
}

int by_reporting_name(struct by_reporting *reporting, const struct baryon_model *model,
                      const struct by_class_names_settings *settings, struct baryon_error *err)
{
    if (!reporting->path && settings->path)
        return by_fail(err, BARYON_ERR_USAGE, "--class-names requires --report");
    return reporting->path ? by_examples_name(&reporting->examples, model, settings->path, err) : 0;
}

int by_reporting_take(struct by_reporting *reporting, const struct by_quantization *q,
                      struct baryon_error *err)
{
    if (!reporting->path)
        return 0;
    const double begun = by_term_seconds();
    reporting->taken = true;
    const int status = by_report_figures_take(&reporting->figures, q, err);
    reporting->seconds += by_term_seconds() - begun;
    return status;
}

/* --- The file --- */

/* As it was given. */
static void say_repeat(const struct by_reporting *reporting, struct by_str *text)
{
    const struct by_cli *cli = reporting->cli;
    by_str_printf(text, "baryon %s ", cli->command->name);
    by_report_say_command(cli->words, cli->word_count, text);
}

void by_reporting_open(struct by_reporting *reporting, struct by_report_head head,
                       const struct by_report_outcome *outcome)
{
    struct by_str repeat;
    by_str_init(&repeat);
    say_repeat(reporting, &repeat);
    head.command = reporting->cli->command->name;
    head.repeat = by_str_text(&repeat);
    by_report_begin(&reporting->json, &reporting->text);
    by_report_head_json(&head, &reporting->json);
    by_report_outcome_json(outcome, &reporting->json);
    reporting->text.failed |= repeat.failed;
    by_str_release(&repeat);
}

int by_reporting_save(struct by_reporting *reporting, struct baryon_error *err)
{
    struct by_json *json = &reporting->json;
    if (reporting->taken)
        by_report_figures_json(&reporting->figures, reporting->view, json);
    by_examples_json(&reporting->examples, json);
    put_notices(reporting);
    by_report_end(json);
    return by_report_write(reporting->path, &reporting->text,
                           reporting->force ? 0 : BY_WRITER_EXCLUSIVE, err);
}

/* --- The option --- */

static const struct by_option rows[] = {
    {.name = "report",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct by_reporting_settings, report),
     .help = "Write a report to FILE: a page to open in a browser if it ends in .html, else JSON"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = offsetof(struct by_reporting_settings, force),
     .help = "Replace an existing report"},
};

const struct by_option_group by_reporting_group = BY_OPTION_GROUP("Report", rows);

static const struct by_option names[] = {
    {.name = "class-names",
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct by_class_names_settings, path),
     .help = "Names of classes in the report: FILE has one a line; default: what the model's "
             "metadata has as 'names'"},
};

const struct by_option_group by_class_names_group = BY_OPTION_GROUP("Report", names);
