/* The public interface: settings as pairs, by the rows of the command line. */
#include "api/api.h"

#include <string.h>

static int unknown_setting(const struct by_config *config, const char *name,
                           struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "unknown setting %s", by_quote(quoted, name));
    const char *near = by_config_nearest(config, name, BY_SOURCE_FILE);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

/* Two words of the command line in one text. */
static int split(struct by_config *config, const char **value, const char **second,
                 struct baryon_error *err)
{
    const char *blank = *value ? strchr(*value, ' ') : NULL;
    if (!blank)
        return 0;
    *second = blank + strspn(blank, " ");
    *value = by_arena_text(&config->arena, *value, (size_t)(blank - *value), err);
    return *value ? 0 : -1;
}

static int set(struct by_config *config, const struct baryon_setting *setting,
               struct baryon_error *err)
{
    const struct by_option *option = by_config_find(config, setting->name);
    if (!option || option->command_line)
        return unknown_setting(config, setting->name, err);
    const char *value = setting->value, *second = NULL;
    if (!value && option->type != BY_OPT_FLAG)
        return by_fail(err, BARYON_ERR_USAGE, "%s: a value is required", option->name);
    if (option->type == BY_OPT_SPANS && split(config, &value, &second, err) < 0)
        return -1;
    if (by_config_set(config, option, value, second, BY_SOURCE_FLAG, err) == 0)
        return 0;
    if (err)
        err->place[0] = '\0';
    return by_err_in(err, "%s", option->name);
}

static bool is_config(const struct baryon_setting *setting)
{
    return !strcmp(setting->name, "config");
}

/* The last one counts, as on the command line. */
static int load_config_setting(struct by_config *config, const struct baryon_setting *settings,
                               size_t count, struct baryon_error *err)
{
    const struct baryon_setting *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!settings[i].name)
            return by_fail(err, BARYON_ERR_USAGE, "setting %zu has no name", i);
        if (is_config(&settings[i]))
            last = &settings[i];
    }
    if (!last)
        return 0;
    if (!last->value)
        return by_fail(err, BARYON_ERR_USAGE, "config: must name a file");
    return by_config_load(config, last->value, err);
}

int by_api_settings(struct by_config *config, const struct baryon_setting *settings, size_t count,
                    struct baryon_error *err)
{
    if (load_config_setting(config, settings, count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!is_config(&settings[i]) && set(config, &settings[i], err) < 0)
            return -1;
    return 0;
}
