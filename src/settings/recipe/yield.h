/* Values that nobody asked for give way to those that somebody did. */
#ifndef BY_SETTINGS_RECIPE_YIELD_H
#define BY_SETTINGS_RECIPE_YIELD_H

#include "settings/recipe/recipe.h"

/* Defaults and values of a preset that contradict what was given are replaced, with a notice.
 * *changed: some were. */
int by_recipe_yield(struct by_config *config, struct by_recipe_settings *settings, bool *changed,
                    struct baryon_error *err);

#endif
