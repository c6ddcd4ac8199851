/*
 * The options of evaluation, for the command line and for the library, and what becomes of them.
 */
#ifndef BY_SETTINGS_EVALUATE_H
#define BY_SETTINGS_EVALUATE_H

#include "evaluate/evaluate.h"
#include "settings/settings.h"

extern const struct by_option_group by_evaluate_group;

/* Of models: samples come from the callback, or as the settings say with NULL. */
int by_evaluate_take(struct by_config *config, const struct by_running_settings *running,
                     const struct by_evaluate_settings *settings,
                     const struct by_input_callback *callback, const struct by_log *log,
                     struct by_evaluate_options *options, struct baryon_error *err);
/* True when an option says something about samples, measures or the engine. */
bool by_evaluate_is_given(struct by_config *config);
/* Of folders: what speaks of models and samples is refused. */
int by_evaluate_take_folders(struct by_config *config, const struct by_evaluate_settings *settings,
                             const struct by_log *log, struct by_evaluate_options *options,
                             struct baryon_error *err);

#endif
