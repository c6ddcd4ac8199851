/* Gathers what the report of a search says about the written model, and writes it. */
#include "cli/auto_report.h"

#include <math.h>

static int take_planned(void *context, const struct by_quantization *q, struct baryon_error *err)
{
    struct by_auto_reporting *reporting = context;
    reporting->prep = q->options->calibrate.input.prep;
    return by_plan_view_make(&reporting->view, q->plan, reporting->bytes_before, err) < 0
               ? -1
               : by_reporting_take(&reporting->reporting, q, err);
}

int by_auto_reporting_begin(struct by_auto_reporting *reporting, struct by_cli *cli,
                            const char *path, bool force, struct baryon_error *err)
{
    struct by_quality_options quality = {0};
    if (by_reporting_begin(&reporting->reporting, cli, path, force, err) < 0)
        return -1;
    by_reporting_listen(&reporting->reporting, &reporting->view, &reporting->prep, &quality);
    reporting->listener = (struct by_auto_listener){.planned = take_planned,
                                                    .context = reporting,
                                                    .details = quality.details,
                                                    .show = quality.show};
    return 0;
}

static void put_outcome(struct by_auto_reporting *reporting, const struct by_auto *search,
                        const struct by_auto_written *written)
{
    const struct by_auto_point *best = &search->points.at[search->best];
    const struct by_auto_candidate *candidate = &search->final->candidate;
    const struct by_report_head head = {
        .model = written->model,
        .file = written->out,
        .config = &candidate->config,
        .preset = candidate->settings.recipe.preset,
        .data = written->data,
        .random = !written->data,
    };
    struct by_str text;
    by_str_init(&text);
    by_str_puts(&text, search->outcome);
    if (search->needs)
        by_str_printf(&text, "; %s", search->needs);
    by_str_puts(&text, ".");
    const struct by_report_outcome outcome = {
        .text = by_str_text(&text),
        .goal = search->met ? "met" : "missed",
        .quality = best->last_sqnr,
        .low_bits = best->figures.low_share,
    };
    by_reporting_open(&reporting->reporting, head, &outcome);
    reporting->reporting.text.failed |= text.failed;
    by_str_release(&text);
}

static void put_seconds(const struct by_auto_reporting *reporting, const struct by_auto *search,
                        struct by_json *json)
{
    const double measured = search->final->quality.seconds;
    const struct by_report_seconds rows[] = {
        {"search", search->seconds - measured - reporting->reporting.seconds},
        {"measure", measured},
        {"report", reporting->reporting.seconds},
    };
    by_seconds_json(NULL, rows, sizeof rows / sizeof *rows, json);
}

int by_auto_reporting_write(struct by_auto_reporting *reporting, const struct by_auto *search,
                            const struct by_auto_written *written, struct baryon_error *err)
{
    struct by_json *json = &reporting->reporting.json;
    if (!reporting->reporting.path)
        return 0;
    const struct by_quantization *q = &search->final->candidate.q;
    put_outcome(reporting, search, written);
    by_json_int(json, "bytes_before", (int64_t)written->bytes_before);
    by_json_int(json, "bytes", (int64_t)written->bytes);
    by_json_int(json, "samples", (int64_t)by_quantization_samples(q));
    by_auto_members_json(search, json);
    put_seconds(reporting, search, json);
    by_choices_json(&q->report, json);
    by_quality_json(&search->final->quality, json);
    by_solved_json(&q->report.solved, json);
    by_plan_coverage_json(&reporting->view, json);
    return by_reporting_save(&reporting->reporting, err);
}

void by_auto_reporting_end(struct by_auto_reporting *reporting)
{
    by_reporting_end(&reporting->reporting);
    by_plan_view_release(&reporting->view);
}
