/*
 * All that a quantization is asked for, for the command line and for the library, and what
 * becomes of it.
 */
#ifndef BY_SETTINGS_RECIPE_TAKE_H
#define BY_SETTINGS_RECIPE_TAKE_H

#include "quality/quality.h"
#include "settings/recipe/recipe.h"

struct by_quantize_settings {
    struct by_recipe_settings recipe;
    struct by_running_settings running;
    const char *stats;
    uint64_t max_memory;
    bool measures; /* on samples, whether the recipe needs any or not */
    bool judges;   /* measures what was written, as far as there are samples */
    bool no_judge;
    const char *judge_data;
};

extern const struct by_option_group by_quantize_statistics_group, by_quantize_quality_group;

/* callback: where samples come from, instead of --data; NULL: as the settings say. Where no
 * samples are needed, a notice says that those given have no effect. Progress is left to the
 * caller. What options point to lives in the config. */
int by_quantize_take(struct by_config *config, const struct by_quantize_settings *settings,
                     const struct by_input_callback *callback, const struct by_log *log,
                     struct by_quantize_options *options, struct baryon_error *err);

/* What the written model is measured on, after by_quantize_take(). */
int by_quantize_take_quality(struct by_config *config, const struct by_quantize_settings *settings,
                             const struct by_input_callback *callback,
                             const struct by_quantize_options *options,
                             struct by_quality_options *quality, struct baryon_error *err);

/* What a run that writes to `out` has in its folder while it works. */
int by_quantize_beside(struct by_quantize_options *options, struct by_arena *arena, const char *out,
                       struct baryon_error *err);

#endif
