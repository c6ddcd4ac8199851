/*
 * What a preset stands for: the options that have a meaning in it, by our names, and what Quark
 * calls them. The latter are the rows of settings/quark/alias.h read backwards: fields of a
 * configuration, and those of its extra options that the preset itself speaks of.
 */
#ifndef BY_SETTINGS_RECIPE_PRESET_H
#define BY_SETTINGS_RECIPE_PRESET_H

#include "settings/recipe/recipe.h"

struct by_preset_rows {
    struct by_setting_pair *at; /* values as a configuration file has them */
    size_t count, cap;
};

struct by_preset_view {
    struct by_config config;
    struct by_recipe_settings settings;
    struct by_preset_rows ours, theirs;
};

int by_preset_view_open(struct by_preset_view *view, const char *preset, struct baryon_error *err);
void by_preset_view_close(struct by_preset_view *view);

#endif
