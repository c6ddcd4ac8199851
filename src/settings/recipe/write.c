/* Effective settings as a configuration file, and as JSON. */
#include "settings/recipe/check.h"

#include <string.h>

bool by_recipe_has_meaning(const void *settings, const struct by_option *option)
{
    /* What a preset set stands in the other options. */
    return strcmp(option->name, "preset") != 0 && !by_recipe_lacks(settings, option->name);
}

void by_recipe_write(const struct by_config *config, struct by_str *out)
{
    const struct by_recipe_settings *settings = by_recipe_settings_of(config);
    const struct by_option_group *const *group = by_recipe_groups();
    for (; *group; group++) {
        struct by_str rows;
        by_str_init(&rows);
        by_config_write(config, *group, by_recipe_has_meaning, settings, &rows);
        if (rows.size)
            by_str_printf(out, "%s# %s\n%s", out->size ? "\n" : "", (*group)->title,
                          by_str_text(&rows));
        out->failed |= rows.failed;
        by_str_release(&rows);
    }
}

void by_recipe_json(const struct by_config *config, struct by_json *json)
{
    const struct by_recipe_settings *settings = by_recipe_settings_of(config);
    for (const struct by_option_group *const *group = by_recipe_groups(); *group; group++)
        by_config_json(config, *group, by_recipe_has_meaning, settings, json);
}
