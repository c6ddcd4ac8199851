/* Options that have no effect beside the others. */
#ifndef BY_SETTINGS_RECIPE_IDLE_H
#define BY_SETTINGS_RECIPE_IDLE_H

#include "settings/recipe/recipe.h"

/*
 * Options that were given and have no effect go back to their defaults, with a notice that says
 * what they require. *dropped: some did, so that defaults that depend on them have to be found
 * again. A target that cannot be kept is BARYON_ERR_USAGE: a model would come out that it does not
 * take.
 */
int by_recipe_drop_idle(struct by_config *config, struct by_recipe_settings *settings,
                        bool *dropped, struct baryon_error *err);

#endif
