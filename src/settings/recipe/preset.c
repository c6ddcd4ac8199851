/* What a preset stands for, by our names and by Quark's. */
#include "settings/recipe/preset.h"

#include "settings/quark/alias.h"
#include "settings/recipe/check.h"

#include <ctype.h>
#include <string.h>

static int add_preset_row(struct by_preset_view *view, struct by_preset_rows *rows,
                          const char *name, const struct by_str *value, struct baryon_error *err)
{
    struct by_arena *arena = &view->config.arena;
    const char *text = by_str_text(value);
    if (by_str_error(value, err) < 0 || by_list_reserve(arena, rows, 1, sizeof *rows->at, err) < 0)
        return -1;
    struct by_setting_pair *row = &rows->at[rows->count];
    *row = (struct by_setting_pair){.name = name};
    if (!(row->value = by_arena_text(arena, text, strlen(text), err)))
        return -1;
    rows->count++;
    return 0;
}

/* --- Our names --- */

static int add_option(struct by_preset_view *view, const struct by_option *option,
                      struct baryon_error *err)
{
    struct by_str value;
    if (option->command_line || !by_recipe_has_meaning(&view->settings, option))
        return 0;
    by_str_init(&value);
    by_config_show(&view->config, option->name, &value);
    int status = by_str_error(&value, err);
    if (status == 0 && value.size)
        status = add_preset_row(view, &view->ours, option->name, &value, err);
    by_str_release(&value);
    return status;
}

static int add_ours(struct by_preset_view *view, struct baryon_error *err)
{
    for (const struct by_option_group *const *group = by_recipe_groups(); *group; group++) {
        size_t count;
        const struct by_option *rows = by_group_rows(*group, &count);
        for (size_t i = 0; i < count; i++)
            if (add_option(view, &rows[i], err) < 0)
                return -1;
    }
    return 0;
}

/* --- Quark's --- */

/* How much of "option=value;?option=value" holds. */
struct held {
    size_t asked, holds; /* of what is not only asked for by default */
    bool by_preset;      /* the preset speaks of one of them */
    bool unsaid;         /* a list has neither the word nor its opposite */
    bool idle;           /* an option has no meaning here */
};

/* A switch in a list: "name", or "-name" against it. */
static bool list_has(const char *list, const char *word, size_t length)
{
    for (const char *at = strchr(list, '"'); at; at = strchr(at + 1, '"'))
        if (!strncmp(at + 1, word, length) && at[1 + length] == '"')
            return true;
    return false;
}

static void look_at_list(const char *list, const char *word, size_t length, struct held *held)
{
    if (list_has(list, word, length))
        held->holds++;
    else if (*word != '-' || !list_has(list, word + 1, length - 1))
        held->unsaid = true;
}

static int look_at_term(const struct by_preset_view *view, const char *term, size_t length,
                        struct held *held, struct baryon_error *err)
{
    char name[64];
    struct by_str now;
    const size_t named = strcspn(term, "=");
    const char *value = term + named + 1;
    const size_t size = length - named - 1;
    if (*term == '?' || named >= sizeof name)
        return 0;
    memcpy(name, term, named);
    name[named] = '\0';
    const struct by_option *option = by_config_find(&view->config, name);
    held->asked++;
    if (!option || !by_recipe_has_meaning(&view->settings, option)) {
        held->idle = true;
        return 0;
    }
    held->by_preset |= by_config_source(&view->config, name) == BY_SOURCE_PRESET;
    by_str_init(&now);
    by_config_show(&view->config, name, &now);
    if (by_option_is_list(option))
        look_at_list(by_str_text(&now), value, size, held);
    else
        held->holds += now.size == size && !memcmp(now.text, value, size);
    const int status = by_str_error(&now, err);
    by_str_release(&now);
    return status;
}

static int look_at_held(const struct by_preset_view *view, const char *what, struct held *held,
                        struct baryon_error *err)
{
    *held = (struct held){.asked = 0};
    while (what && *what) {
        const size_t length = strcspn(what, ";");
        if (look_at_term(view, what, length, held, err) < 0)
            return -1;
        what += length + (what[length] == ';');
    }
    return 0;
}

static bool is_field(const struct by_alias *alias)
{
    return islower((unsigned char)*alias->name);
}

static bool is_wanted_alias(const struct by_alias *alias, const struct held *held)
{
    return !held->idle && held->asked && (held->by_preset || is_field(alias));
}

/* True when it is what `on` says; where nothing is said by that, when it is not what `off` says. */
static int show_flag(const struct by_preset_view *view, const struct by_alias *alias,
                     struct by_str *out, struct baryon_error *err)
{
    struct held on, off;
    if (look_at_held(view, alias->on, &on, err) < 0 ||
        look_at_held(view, alias->off, &off, err) < 0)
        return -1;
    const struct held *said = on.asked ? &on : &off;
    if (!is_wanted_alias(alias, said) || (on.unsaid && (!off.asked || off.unsaid)))
        return 0;
    const bool flag = (said->holds == said->asked) == (said == &on);
    /* "Not int32" has words of its own: an option says neither where there is a third. */
    if (!flag && off.holds != off.asked && !is_field(alias))
        return 0;
    by_str_puts(out, flag ? "true" : "false");
    return 0;
}

/* The word that says most; a field that none fits has our own for what words differ in. */
static int show_word(const struct by_preset_view *view, const struct by_alias *alias,
                     struct by_str *out, struct baryon_error *err)
{
    char name[64] = "";
    const char *best = NULL;
    size_t most = 0;
    bool wanted = false;
    for (const struct by_alias_word *word = alias->words; word->word; word++) {
        struct held held;
        if (look_at_held(view, word->set, &held, err) < 0)
            return -1;
        wanted |= is_wanted_alias(alias, &held);
        if (is_wanted_alias(alias, &held) && held.holds == held.asked && held.asked > most) {
            most = held.asked;
            best = word->word;
        }
    }
    if (best)
        by_str_puts(out, best);
    else if (wanted && is_field(alias)) {
        memcpy(name, alias->words[0].set, strcspn(alias->words[0].set, "="));
        by_config_show(&view->config, name, out);
    }
    return 0;
}

static void show_value(const struct by_preset_view *view, const struct by_alias *alias,
                       struct by_str *out)
{
    const struct by_option *option = by_config_find(&view->config, alias->on);
    if (option && by_recipe_has_meaning(&view->settings, option) &&
        by_config_source(&view->config, alias->on) == BY_SOURCE_PRESET)
        by_config_show(&view->config, alias->on, out);
}

static int write_alias_value(const struct by_preset_view *view, const struct by_alias *alias,
                             struct by_str *out, struct baryon_error *err)
{
    if (alias->kind == BY_ALIAS_FLAG)
        return show_flag(view, alias, out, err);
    if (alias->kind == BY_ALIAS_WORDS)
        return show_word(view, alias, out, err);
    if (alias->kind == BY_ALIAS_VALUE)
        show_value(view, alias, out);
    if (alias->kind == BY_ALIAS_SPECIAL && alias->show)
        alias->show(&view->settings, out);
    return 0;
}

static bool same(const char *one, const char *other)
{
    return one == other || (one && other && !strcmp(one, other));
}

/* An option that is a field by another name is told as the field. */
static bool is_told(const struct by_alias *rows, size_t place)
{
    const struct by_alias *row = &rows[place];
    for (size_t i = 0; i < place; i++)
        if (rows[i].kind == row->kind && row->kind != BY_ALIAS_SPECIAL && row->on &&
            same(rows[i].on, row->on) && same(rows[i].off, row->off))
            return true;
    return false;
}

static int add_theirs(struct by_preset_view *view, struct baryon_error *err)
{
    size_t count;
    const struct by_alias *rows = by_aliases(&count);
    for (size_t i = 0; i < count; i++) {
        struct by_str value;
        if (is_told(rows, i))
            continue;
        by_str_init(&value);
        int status = write_alias_value(view, &rows[i], &value, err);
        if (status == 0)
            status = by_str_error(&value, err);
        if (status == 0 && value.size)
            status = add_preset_row(view, &view->theirs, rows[i].name, &value, err);
        by_str_release(&value);
        if (status < 0)
            return -1;
    }
    return 0;
}

static int open_view(struct by_preset_view *view, const char *preset, struct baryon_error *err)
{
    struct by_recipe *recipe;
    struct by_config *config = &view->config;
    if (by_recipe_bind(config, &view->settings, err) < 0 ||
        by_config_set(config, by_config_find(config, "preset"), preset, NULL, BY_SOURCE_FLAG, err) <
            0 ||
        by_recipe_make(config, &recipe, err) < 0 || add_ours(view, err) < 0)
        return -1;
    return add_theirs(view, err);
}

int by_preset_view_open(struct by_preset_view *view, const char *preset, struct baryon_error *err)
{
    *view = (struct by_preset_view){.ours = {.at = NULL}};
    by_config_init(&view->config);
    if (open_view(view, preset, err) == 0)
        return 0;
    by_preset_view_close(view);
    return -1;
}

void by_preset_view_close(struct by_preset_view *view)
{
    by_config_release(&view->config);
}
