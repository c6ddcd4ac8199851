/* Takes back options that have no effect beside the others. */
#include "settings/recipe/idle.h"

#include "base/text.h"
#include "settings/notices.h"
#include "settings/recipe/check.h"

#include <string.h>

#define IDLE_MAX 128

struct idle {
    const struct by_option *option;
    const char *lacks; /* what it requires; NULL once it was reported */
};

/* Flags that say no and modes that are off ask for nothing, nor do defaults that a file states:
 * files that 'baryon presets' wrote have them, and one value of those may be changed without
 * removing others. */
static bool asks_for_nothing(const struct by_config *config, const struct by_option *option)
{
    struct by_str text;
    by_str_init(&text);
    by_config_show(config, option->name, &text);
    const bool off = !strcmp(by_str_text(&text), option->type == BY_OPT_FLAG ? "false" : "off");
    const bool stated = by_config_source(config, option->name) == BY_SOURCE_FILE &&
                        option->fallback && !strcmp(by_str_text(&text), option->fallback);
    by_str_release(&text);
    return off || stated;
}

static size_t find_idle(const struct by_config *config, const struct by_recipe_settings *settings,
                        struct idle idle[IDLE_MAX])
{
    size_t count = 0;
    for (const struct by_option_group *const *group = by_recipe_groups(); *group; group++) {
        size_t rows;
        const struct by_option *option = by_group_rows(*group, &rows);
        for (const struct by_option *end = option + rows; option < end && count < IDLE_MAX;
             option++) {
            const char *lacks = by_config_given(config, option->name)
                                    ? by_recipe_lacks(settings, option->name)
                                    : NULL;
            if (lacks && !asks_for_nothing(config, option))
                idle[count++] = (struct idle){option, lacks};
        }
    }
    return count;
}

/* One notice for all options that require the same. */
static int note_idle_options(struct by_config *config, struct by_recipe_settings *settings,
                             struct idle *idle, size_t count, struct baryon_error *err)
{
    char names[1024];
    struct by_text text;
    const char *lacks = idle->lacks;
    size_t same = 0;
    if (!lacks)
        return 0;
    by_text_init(&text, names, sizeof names);
    for (size_t i = 0; i < count; i++)
        if (idle[i].lacks && !strcmp(idle[i].lacks, lacks)) {
            by_text_add(&text, "%s--%s", same++ ? ", " : "", idle[i].option->name);
            idle[i].lacks = NULL;
        }
    return by_settings_note(config, settings, err,
                            same > 1 ? "%s have no effect: they require %s"
                                     : "%s has no effect: it requires %s",
                            names, lacks);
}

static int refuse_idle_target(const struct by_recipe_settings *settings, const struct idle *idle,
                              struct baryon_error *err)
{
    if (strcmp(idle->option->name, "hardware") != 0 || settings->hardware != BY_HARDWARE_XINT8)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "--hardware xint8 requires %s", idle->lacks);
}

int by_recipe_drop_idle(struct by_config *config, struct by_recipe_settings *settings,
                        bool *dropped, struct baryon_error *err)
{
    struct idle idle[IDLE_MAX];
    const size_t count = find_idle(config, settings, idle);
    *dropped = count > 0;
    for (size_t i = 0; i < count; i++)
        if (refuse_idle_target(settings, &idle[i], err) < 0 ||
            by_config_reset(config, idle[i].option, err) < 0)
            return -1;
    for (size_t i = 0; i < count; i++)
        if (note_idle_options(config, settings, &idle[i], count - i, err) < 0)
            return -1;
    return 0;
}
