/*
 * What commands that run a model on samples have in common: their options, and the rules
 * that the model has to keep.
 */
#ifndef BY_RUNNING_H
#define BY_RUNNING_H

#include "cli/models.h"
#include "cli/progress.h"

/* Groups of a command: samples, its own, engine. settings has a `running`. */
#define BY_RUNNING_GROUPS(settings, own)                                                           \
    {                                                                                              \
        {&by_data_group, offsetof(settings, running.data)},                                        \
            {&by_prep_group, offsetof(settings, running.prep)}, {&(own), 0},                       \
            {&by_engine_group, offsetof(settings, running.engine)},                                \
            {&by_model_group, offsetof(settings, running.model)},                                  \
        {                                                                                          \
            &by_runtime_group, offsetof(settings, running.runtime)                                 \
        }                                                                                          \
    }

/* What contradicts itself is refused, before anything is opened. */
int by_running_input(struct by_cli *cli, const struct by_running_settings *settings,
                     struct by_input_options *options, struct baryon_error *err);
void by_running_session(const struct by_cli *cli, const struct by_running_settings *settings,
                        struct by_session_options *options);
struct by_progress_style by_running_style(const struct by_cli *cli);
/* Our own rules first: their messages are better, and hostile files stop here. */
int by_running_check(const struct by_loaded *loaded, const struct by_running_settings *settings,
                     struct baryon_error *err);
/* "ONNX Runtime 1.31.1, cuda, cpu" */
void by_running_engine(const struct by_running_settings *settings, const struct by_ort *ort,
                       char *buf, size_t size);
/* "model      centerface.onnx": a label and what it stands for, wrapped; more after a colon. */
void by_running_line(struct by_out *out, const char *label, const char *text, const char *more);

#endif
