/* The groups of options that make a recipe; rows of the first: presets. */
#include "settings/quark/alias.h"
#include "settings/recipe/recipe.h"

#define AT(member) .offset = offsetof(struct by_recipe_settings, member)

static const struct by_choice compats[] = {
    {"none", 0, "no compatibility mode"},
    {"quark-0.13", 1, "results of Quark 0.13, known defects included"},
    {0},
};

static const struct by_option preset_rows[] = {
    {.name = "preset",
     .letter = 'p',
     .type = BY_OPT_TEXT,
     .arg = "NAME",
     AT(preset),
     .help = "Named config; options override parts of it; see 'baryon presets'"},
    {.name = "compat",
     .type = BY_OPT_CHOICE,
     .arg = "TOOL",
     .choices = compats,
     .fallback = "none",
     AT(compat),
     .help = "Reproduce the results of another tool"},
    {.name = "extra",
     .type = BY_OPT_PAIRS,
     .arg = "NAME=VALUE",
     .command_line = true,
     AT(extra),
     .help = "Set an option of Quark by its own name, such as Int32Bias=False; can be repeated"},
};

const struct by_option_group by_recipe_preset_group = {
    .title = "Preset",
    .fixed_rows = preset_rows,
    .fixed_count = sizeof preset_rows / sizeof *preset_rows,
    .take_key = by_recipe_take_key,
};

const struct by_option_group *const *by_recipe_groups(void)
{
    static const struct by_option_group *const groups[BY_RECIPE_GROUPS + 1] = {
        &by_recipe_preset_group,   &by_recipe_types_group, &by_recipe_floats_group,
        &by_recipe_nodes_group,    &by_recipe_pairs_group, &by_recipe_graph_group,
        &by_recipe_hardware_group, &by_recipe_nbits_group, NULL,
    };
    return groups;
}

int by_recipe_bind(struct by_config *config, struct by_recipe_settings *settings,
                   struct baryon_error *err)
{
    *settings = (struct by_recipe_settings){.preset = NULL};
    for (const struct by_option_group *const *group = by_recipe_groups(); *group; group++)
        if (by_config_bind(config, *group, settings, err) < 0)
            return -1;
    return 0;
}
