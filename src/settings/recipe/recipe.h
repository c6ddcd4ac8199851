/*
 * From the options of quantization, for the command line, files, presets and the library, to the
 * recipe that they make (quant/recipe.h).
 *
 * Three things stand besides plain values:
 *   - presets (preset/preset.h) are values between the defaults and what was given;
 *   - rules for operator types, nodes and tensors, maps in files and short texts on the command
 *     line (settings/rules.h);
 *   - options of Quark, which are translated into ours (settings/quark/alias.h).
 */
#ifndef BY_SETTINGS_RECIPE_H
#define BY_SETTINGS_RECIPE_H

#include "settings/quantize.h"

/* The groups of the recipe, in the order of help; all are bound to one struct by_recipe_settings.
 */
#define BY_RECIPE_GROUPS 8
extern const struct by_option_group by_recipe_preset_group;
const struct by_option_group *const *by_recipe_groups(void);

/*
 * The recipe, in the config's arena. Settings are completed on the way: values of the preset and
 * of --extra are put in, and defaults that depend on other values are made definite. What
 * contradicts itself, or has no meaning beside the rest, is BARYON_ERR_USAGE.
 */
int by_recipe_make(struct by_config *config, struct by_recipe **recipe, struct baryon_error *err);

/* Binds all groups to settings. */
int by_recipe_bind(struct by_config *config, struct by_recipe_settings *settings,
                   struct baryon_error *err);
/* All options of the recipe that have a meaning together, after by_recipe_make() completed them:
 * as a configuration file, and as members of an object. */
void by_recipe_write(const struct by_config *config, struct by_str *out);
/* settings: a struct by_recipe_settings. */
bool by_recipe_has_meaning(const void *settings, const struct by_option *option);
void by_recipe_json(const struct by_config *config, struct by_json *json);

#endif
