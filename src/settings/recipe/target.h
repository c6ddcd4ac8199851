/* What a target asks of options: its preset holds without being named. */
#ifndef BY_SETTINGS_RECIPE_TARGET_H
#define BY_SETTINGS_RECIPE_TARGET_H

#include "settings/recipe/recipe.h"

/*
 * Options that stand at their defaults become what the target requires, so that every way to ask
 * for one gives the model that its preset gives; a notice lists them. Values that a preset or the
 * user gave stay.
 */
int by_recipe_take_target(struct by_config *config, struct by_recipe_settings *settings,
                          struct baryon_error *err);
/* Notices about what was asked for and the target does not take. */
int by_recipe_note_target(struct by_config *config, struct by_recipe_settings *settings,
                          struct baryon_error *err);

#endif
