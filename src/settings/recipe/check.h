/*
 * What settings of quantization cannot be together. Two kinds: an option that has no effect
 * beside another one (rows, which also say what `baryon presets NAME` leaves out; idle.h takes
 * them back), and values that contradict each other.
 */
#ifndef BY_SETTINGS_RECIPE_CHECK_H
#define BY_SETTINGS_RECIPE_CHECK_H

#include "settings/recipe/recipe.h"

/* NULL, or what has to be for the option to have a meaning: "--bias int32". */
const char *by_recipe_lacks(const struct by_recipe_settings *settings, const char *option);
int by_recipe_check(const struct by_config *config, const struct by_recipe_settings *settings,
                    const struct by_recipe *recipe, struct baryon_error *err);
/* The same for rules of operators, nodes and tensors. */
int by_recipe_check_rules(const struct by_recipe *recipe, struct baryon_error *err);

#endif
