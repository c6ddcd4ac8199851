/* Collects notices about options. */
#include "settings/notices.h"

#include "base/str.h"

#include <stdarg.h>
#include <string.h>

/* Each is reported once, whatever the number of ways that lead to it. */
static bool is_noted(const struct by_setting_texts *notices, const char *text)
{
    for (size_t i = 0; i < notices->count; i++)
        if (!strcmp(notices->at[i], text))
            return true;
    return false;
}

static int add_notice(struct by_arena *arena, struct by_setting_texts *notices, const char *text,
                      struct baryon_error *err)
{
    if (is_noted(notices, text))
        return 0;
    if (by_list_reserve(arena, notices, 1, sizeof *notices->at, err) < 0 ||
        !(notices->at[notices->count] = by_arena_text(arena, text, strlen(text), err)))
        return -1;
    notices->count++;
    return 0;
}

int by_settings_note(struct by_config *config, struct by_recipe_settings *settings,
                     struct baryon_error *err, const char *format, ...)
{
    va_list args;
    struct by_str text;
    by_str_init(&text);
    va_start(args, format);
    by_str_vprintf(&text, format, args);
    va_end(args);
    int status = by_str_error(&text, err);
    if (status == 0)
        status = add_notice(&config->arena, &settings->notices, by_str_text(&text), err);
    by_str_release(&text);
    return status;
}
