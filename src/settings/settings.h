/*
 * Groups of options that several commands share, and what becomes of them.
 *
 * The members are what the rows in settings/settings.c write; the by_..._options() functions
 * turn them into what the modules take. Lists in the results live in the config.
 */
#ifndef BY_SETTINGS_H
#define BY_SETTINGS_H

#include "config/config.h"
#include "engine/verify.h"
#include "input/input.h"

struct by_data_settings {
    const char *data;
    int64_t random, limit, seed; /* 0 samples: not given */
    struct by_setting_range int_range;
    struct by_setting_pairs value_range;
    struct by_setting_pairs shape;
    double skip_bad;
    bool allow_nonfinite;
};

struct by_prep_settings {
    int prep;
    int resize, filter, pixels, layout;
    struct by_setting_extent size;
    int64_t short_side, stride, pad;
    bool no_upscale;
    double scale;
    struct by_setting_numbers mean, std;
};

struct by_engine_settings {
    int64_t threads;
    struct by_setting_texts provider, ops_library;
    int opt_level;
    bool deterministic;
};

struct by_model_settings {
    bool allow_links;
};

struct by_runtime_settings {
    const char *onnxruntime;
};

struct by_verify_settings {
    bool no_verify;
};

/* What commands that run a model on samples have in common. */
struct by_running_settings {
    struct by_model_settings model;
    struct by_data_settings data;
    struct by_prep_settings prep;
    struct by_engine_settings engine;
    struct by_runtime_settings runtime;
};

extern const struct by_option_group by_data_group, by_prep_group, by_engine_group, by_runtime_group,
    by_model_group, by_verify_group;

/* Binds their groups, with `own` of a struct of its own between. file: the model comes from one. */
int by_running_bind(struct by_config *config, struct by_running_settings *running,
                    const struct by_option_group *own, void *settings, bool file,
                    struct baryon_error *err);

/* Session and input as the settings say; samples come from the callback where it is not NULL. */
int by_running_take(struct by_config *config, const struct by_running_settings *running,
                    const struct by_input_callback *callback, const struct by_log *log,
                    struct by_session_options *session, struct by_input_options *input,
                    struct baryon_error *err);

/* Refuses what contradicts itself: both or neither of --data and --random. */
int by_data_options(struct by_config *config, const struct by_data_settings *data,
                    struct by_input_options *options, struct baryon_error *err);
/* The same where samples come from the caller as arrays: what chooses, makes up or prepares
 * samples is refused. */
int by_data_options_of_caller(struct by_config *config, const struct by_data_settings *data,
                              struct by_input_options *options, struct baryon_error *err);
/* The preset with what was given on top. */
void by_prep_options(const struct by_config *config, const struct by_prep_settings *settings,
                     struct by_prep *prep);
/* Opens the written model once, unless the settings say otherwise. */
int by_verify_take(const struct by_verify_settings *settings, const struct by_verify *verify,
                   const struct by_log *log, struct baryon_error *err);
void by_engine_options(const struct by_engine_settings *settings,
                       const struct by_runtime_settings *runtime,
                       struct by_session_options *options);

#endif
