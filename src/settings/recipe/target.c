/* Completes options by what the target requires. */
#include "settings/recipe/target.h"

#include "base/text.h"
#include "preset/presets.h"
#include "settings/notices.h"

#include <string.h>

static bool is_for_target(const struct by_recipe_settings *settings)
{
    return settings->hardware == BY_HARDWARE_XINT8 && settings->approach == BY_APPROACH_STATIC;
}

static bool is_default(const struct by_config *config, const char *option)
{
    return by_config_source(config, option) == BY_SOURCE_DEFAULT;
}

int by_recipe_take_target(struct by_config *config, struct by_recipe_settings *settings,
                          struct baryon_error *err)
{
    char list[512];
    struct by_text text;
    size_t count = 0;
    if (!is_for_target(settings))
        return 0;
    by_text_init(&text, list, sizeof list);
    for (const struct by_preset_value *row = by_preset_xint8.values; row->option; row++) {
        const struct by_option *option = by_config_find(config, row->option);
        const char *fallback = option && option->fallback ? option->fallback : "";
        if (!option || !is_default(config, row->option))
            continue;
        if (by_config_set(config, option, row->value, NULL, BY_SOURCE_PRESET, err) < 0)
            return -1;
        if (strcmp(fallback, row->value) != 0)
            by_text_add(&text, "%s%s %s", count++ ? ", " : "", row->option, row->value);
    }
    return count ? by_settings_note(config, settings, err, "hardware xint8 sets %s", list) : 0;
}

int by_recipe_note_target(struct by_config *config, struct by_recipe_settings *settings,
                          struct baryon_error *err)
{
    struct by_str bias;
    if (!is_for_target(settings) || !by_config_given(config, "bias") ||
        settings->bias == BY_BIAS_AS_WEIGHT || settings->bias == BY_ELEM_INT8)
        return 0;
    by_str_init(&bias);
    by_config_show(config, "bias", &bias);
    int status = by_str_error(&bias, err);
    if (status == 0)
        status = by_settings_note(config, settings, err,
                                  "bias %s: hardware xint8 requires int8 biases; "
                                  "'baryon check --target xint8' reports the others",
                                  by_str_text(&bias));
    by_str_release(&bias);
    return status;
}
