/*
 * What commands with --report have in common: the option, what is gathered while they run, and the
 * file. Without --report nothing is gathered.
 *
 *   begin -> (run; by_reporting_take() before emission) -> open, members, save -> end
 */
#ifndef BY_REPORTING_H
#define BY_REPORTING_H

#include "cli/cmd.h"
#include "report/report.h"

#include <pthread.h>

struct by_reporting_settings {
    const char *report;
    bool force;
};

/* --report and --force of commands that write nothing else. */
extern const struct by_option_group by_reporting_group;

/* --class-names of commands whose report shows samples. */
struct by_class_names_settings {
    const char *path;
};
extern const struct by_option_group by_class_names_group;

struct by_notice {
    enum by_log_level level;
    const char *text;
};

struct by_reporting {
    const char *path; /* NULL: no report */
    bool force;
    struct by_cli *cli;
    struct by_log before; /* where notices went */
    pthread_mutex_t lock; /* of the notices */
    struct by_arena arena;
    struct {
        struct by_notice *at;
        size_t count, cap;
    } notices;
    const struct by_plan_view *view; /* of the quantization that figures are of */
    struct by_report_figures figures;
    bool taken; /* there are figures */
    struct by_examples examples;
    double seconds; /* that samples to show and figures took */
    struct by_str text;
    struct by_json json;
};

/* Checks the place of the file, and keeps what the log says from now on. Whatever comes out,
 * by_reporting_end() goes with it. */
int by_reporting_begin(struct by_reporting *reporting, struct by_cli *cli, const char *path,
                       bool force, struct baryon_error *err);
void by_reporting_end(struct by_reporting *reporting);

/* Samples come to the report as they are measured. prep: of pictures; NULL: none. */
void by_reporting_show(struct by_reporting *reporting, const struct by_prep *prep,
                       struct by_show *show);
/* And figures, as the quality is measured. view: as it will be. */
void by_reporting_listen(struct by_reporting *reporting, const struct by_plan_view *view,
                         const struct by_prep *prep, struct by_quality_options *quality);
/* Names of the float model's classes. */
int by_reporting_name(struct by_reporting *reporting, const struct baryon_model *model,
                      const struct by_class_names_settings *settings, struct baryon_error *err);
/* Figures of the quantization, before emission. */
int by_reporting_take(struct by_reporting *reporting, const struct by_quantization *q,
                      struct baryon_error *err);

/* The object's first members are there then. head: without command and repeat. */
void by_reporting_open(struct by_reporting *reporting, struct by_report_head head,
                       const struct by_report_outcome *outcome);
/* Figures, examples, notices, and all into the file. */
int by_reporting_save(struct by_reporting *reporting, struct baryon_error *err);

#endif
