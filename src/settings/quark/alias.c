/* Taking options by Quark's names. */
#include "settings/quark/alias.h"

#include "config/nodes.h"
#include "settings/notices.h"

#include <stdio.h>
#include <string.h>

static const struct by_alias *find_alias(const char *name)
{
    size_t count;
    const struct by_alias *rows = by_aliases(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static const char *nearest_alias(const char *name)
{
    const char *names[256] = {0};
    size_t count;
    const struct by_alias *rows = by_aliases(&count);
    if (count > sizeof names / sizeof *names)
        count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++)
        names[i] = rows[i].name;
    return by_nearest(name, names, count);
}

/* --- Setting our options --- */

/* No rules of an NPU are asked for beside the extended form, which has rules of its own. */
static bool has_own_rules(const struct by_aliasing *at)
{
    return by_config_source(at->config, "hardware") == at->source &&
           at->settings->hardware == BY_HARDWARE_EXTENDED;
}

static bool gives_way(const struct by_aliasing *at, const struct by_option *option)
{
    return !strcmp(option->name, "hardware") && at->settings->hardware == BY_HARDWARE_NONE;
}

/* Two names of one thing have to say the same. */
static int check_same(const struct by_aliasing *at, const struct by_option *option,
                      const char *value, struct baryon_error *err)
{
    struct by_str now;
    if (by_config_source(at->config, option->name) != at->source || by_option_is_list(option) ||
        gives_way(at, option))
        return 0;
    by_str_init(&now);
    by_config_show(at->config, option->name, &now);
    int status = by_str_error(&now, err);
    if (status == 0 && strcmp(by_str_text(&now), value) != 0)
        status = by_fail(err, BARYON_ERR_USAGE, "%s sets %s to %s, but it is already set to %s",
                         at->name, option->name, value, by_str_text(&now));
    by_str_release(&now);
    return status;
}

/* "option=value", "?option=value": the latter has the rank of a preset. */
static int set_one(const struct by_aliasing *at, const char *what, size_t length,
                   struct baryon_error *err)
{
    const bool weak = *what == '?';
    char *text = by_arena_text(&at->config->arena, what + weak, length - weak, err);
    if (!text)
        return -1;
    char *value = strchr(text, '=');
    *value++ = '\0';
    const struct by_option *option = by_config_find(at->config, text);
    if (!option)
        return by_fail(err, BARYON_ERR_USAGE,
                       "%s sets --%s, which is not available for this command", at->name, text);
    if (weak)
        return by_config_set(at->config, option, value, NULL, BY_SOURCE_PRESET, err);
    if (check_same(at, option, value, err) < 0)
        return -1;
    return by_config_set(at->config, option, value, NULL, at->source, err);
}

int by_alias_set(const struct by_aliasing *at, const char *what, struct baryon_error *err)
{
    while (what && *what) {
        const size_t length = strcspn(what, ";");
        if (set_one(at, what, length, err) < 0)
            return -1;
        what += length + (what[length] == ';');
    }
    return 0;
}

int by_alias_note(const struct by_aliasing *at, const char *inside, const char *why,
                  struct baryon_error *err)
{
    return by_settings_note(at->config, at->settings, err, "%s: %s%sno effect, %s", at->name,
                            inside ? inside : "", inside ? ": " : "", why);
}

/* --- Kinds of rows --- */

static bool is_nothing(const struct by_doc_node *node)
{
    if (node->kind == BY_DOC_NULL || (node->kind != BY_DOC_SCALAR && !node->count))
        return true;
    return node->kind == BY_DOC_SCALAR &&
           (!strcmp(node->text, "None") || !strcmp(node->text, "False") ||
            !strcmp(node->text, "false"));
}

static int take_flag(const struct by_aliasing *at, const struct by_alias *alias,
                     struct baryon_error *err)
{
    bool flag;
    if (by_node_flag(at->value, &flag, err) < 0)
        return -1;
    if (!flag && alias->off && !strncmp(alias->off, "hardware=", 9) && has_own_rules(at))
        return 0;
    return by_alias_set(at, flag ? alias->on : alias->off, err);
}

static int take_value(const struct by_aliasing *at, const struct by_alias *alias,
                      struct baryon_error *err)
{
    const struct by_option *option = by_config_find(at->config, alias->on);
    if (!option)
        return by_fail(err, BARYON_ERR_USAGE,
                       "%s sets --%s, which is not available for this command", at->name,
                       alias->on);
    if (is_nothing(at->value))
        return 0;
    if (at->value->kind == BY_DOC_SCALAR && check_same(at, option, at->value->text, err) < 0)
        return -1;
    return by_config_set_node(at->config, option, at->value, at->source, err);
}

/* "QuantType.QInt8" is QInt8. */
static bool is_word(const char *text, const char *word)
{
    const char *dot = strrchr(text, '.');
    return !strcmp(text, word) || (dot && !strcmp(dot + 1, word));
}

static int take_word(const struct by_aliasing *at, const struct by_alias *alias,
                     struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *names[32] = {0};
    size_t count = 0;
    const char *text = at->value->kind == BY_DOC_SCALAR ? at->value->text : "";
    /* The longest words first: ExtendedQuantFormat.QDQ is another one than QDQ. */
    for (const struct by_alias_word *word = alias->words; word->word; word++)
        if (!strcmp(text, word->word))
            return by_alias_set(at, word->set, err);
    for (const struct by_alias_word *word = alias->words; word->word; word++) {
        if (is_word(text, word->word))
            return by_alias_set(at, word->set, err);
        names[count++] = word->word;
    }
    by_node_fail(at->value, err, "unknown value %s", by_quote(quoted, text));
    const char *near = by_nearest(text, names, count);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

static int take_fixed(const struct by_aliasing *at, const struct by_alias *alias,
                      struct baryon_error *err)
{
    bool flag;
    if (at->value->kind == BY_DOC_SCALAR && is_word(at->value->text, alias->on))
        return 0;
    if (!strcmp(alias->on, "True") && by_node_flag(at->value, &flag, NULL) == 0 && flag)
        return 0;
    return by_node_fail(at->value, err, "must be %s", alias->on);
}

/* What is the default anyway asks for nothing. */
static bool is_usual(const struct by_aliasing *at, const struct by_alias *alias)
{
    bool flag;
    const struct by_doc_node *value = at->value;
    if (!alias->off || value->kind != BY_DOC_SCALAR)
        return is_nothing(value);
    if (!strcmp(alias->off, "True"))
        return by_node_flag(value, &flag, NULL) == 0 && flag;
    return !strcmp(value->text, alias->off) || is_nothing(value);
}

static int take_idle(const struct by_aliasing *at, const struct by_alias *alias,
                     struct baryon_error *err)
{
    return is_usual(at, alias) ? 0
                               : by_settings_note(at->config, at->settings, err,
                                                  "%s has no effect: %s", at->name, alias->on);
}

static int take_alias(const struct by_aliasing *at, const struct by_alias *alias,
                      struct baryon_error *err)
{
    switch (alias->kind) {
    case BY_ALIAS_FLAG:
        return take_flag(at, alias, err);
    case BY_ALIAS_VALUE:
        return take_value(at, alias, err);
    case BY_ALIAS_WORDS:
        return take_word(at, alias, err);
    case BY_ALIAS_FIXED:
        return take_fixed(at, alias, err);
    case BY_ALIAS_SPECIAL:
        return is_nothing(at->value) && !alias->takes_false ? 0 : alias->take(at, err);
    case BY_ALIAS_LATER:
        return is_nothing(at->value) ? 0
                                     : by_fail(err, BARYON_ERR_UNSUPPORTED, "not supported yet");
    case BY_ALIAS_IDLE:
        return take_idle(at, alias, err);
    case BY_ALIAS_NEVER:
        if (is_nothing(at->value))
            return 0;
        by_fail(err, BARYON_ERR_USAGE, "not supported");
        return by_err_hint(err, "%s", alias->on);
    }
    return by_fail(err, BARYON_ERR_INTERNAL, "unknown kind of option");
}

/* --- Where they stand --- */

/* "3:12" becomes "3:12: name". */
static int name_behind(struct baryon_error *err, const char *name)
{
    char place[sizeof err->place];
    if (!err || !err->place[0])
        return by_err_in(err, "%s", name);
    memcpy(place, err->place, sizeof place);
    err->place[0] = '\0';
    return by_err_in(err, "%s: %s", place, name);
}

static int name_place(const struct by_aliasing *at, struct baryon_error *err)
{
    if (!at->value->line)
        return by_err_in(err, "%s %s", at->origin, at->name);
    if (err && err->place[0])
        return name_behind(err, at->name);
    return by_err_in(err, "%zu:%zu: %s", at->value->line, at->value->column, at->name);
}

static int unknown_alias(const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "unknown option %s", by_quote(quoted, name));
    const char *near = nearest_alias(name);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

static int take_named(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_alias *alias = find_alias(at->name);
    const int status = alias ? take_alias(at, alias, err) : unknown_alias(at->name, err);
    return status < 0 ? name_place(at, err) : 0;
}

static int take_all(struct by_aliasing *at, const struct by_doc_node *map, struct baryon_error *err)
{
    if (map->kind == BY_DOC_NULL)
        return 0;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "expected a map of options");
    for (size_t i = 0; i < map->count; i++) {
        at->name = map->pairs[i].key;
        at->value = map->pairs[i].value;
        if (take_named(at, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_key(const char *key, const char *name)
{
    for (; *key && (*key == *name || (*key == '-' && *name == '_')); key++)
        name++;
    return !*key && !*name;
}

static int take_rules(const struct by_aliasing *at, const char *key, bool *taken,
                      struct baryon_error *err)
{
    static const struct {
        const char *key;
        enum by_rule_kind kind;
    } keys[] = {
        {"op_types", BY_RULE_OP_TYPE}, {"nodes", BY_RULE_NODE}, {"tensors", BY_RULE_TENSOR}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (is_key(key, keys[i].key) &&
            (at->value->kind == BY_DOC_MAP || keys[i].kind == BY_RULE_TENSOR)) {
            *taken = true;
            if (by_rules_read(&at->config->arena, keys[i].kind, at->value, at->origin,
                              &at->settings->file_rules, err) < 0)
                return name_behind(err, keys[i].key);
        }
    return 0;
}

static int take_between(const struct by_aliasing *at, struct baryon_error *err)
{
    if (by_rules_between(&at->config->arena, at->value, at->origin, &at->settings->file_rules,
                         err) < 0)
        return name_behind(err, at->name);
    return 0;
}

/* A word that is near one of Quark's options, and near none of ours. */
static int suggest(const struct by_aliasing *at, const struct by_doc_pair *pair,
                   struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (by_config_find(at->config, pair->key) ||
        by_config_nearest(at->config, pair->key, BY_SOURCE_FILE) || !nearest_alias(pair->key))
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "unknown key %s", by_quote(quoted, pair->key));
    by_err_in(err, "%zu:%zu", pair->line, pair->column);
    return by_err_hint(err, "did you mean '%s'?", nearest_alias(pair->key));
}

int by_recipe_take_key(struct by_config *config, void *target, const struct by_doc_pair *pair,
                       const char *path, bool *taken, struct baryon_error *err)
{
    struct by_aliasing at = {.config = config,
                             .settings = target,
                             .name = pair->key,
                             .value = pair->value,
                             .source = BY_SOURCE_FILE,
                             .origin = path};
    if (take_rules(&at, pair->key, taken, err) < 0)
        return -1;
    if (*taken)
        return 0;
    *taken = true;
    if (is_key(pair->key, "extra_options"))
        return take_all(&at, pair->value, err);
    if (is_key(pair->key, "exclude_between"))
        return by_alias_spans(&at, err) < 0 ? name_place(&at, err) : 0;
    if (is_key(pair->key, "nodes_between"))
        return take_between(&at, err);
    if (find_alias(pair->key))
        return take_named(&at, err);
    *taken = false;
    return suggest(&at, pair, err);
}

/* The value of the command line is what a file would have there. */
static int parse_value(struct by_arena *arena, const char *text, struct by_doc_node **node,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (by_yaml_parse(arena, text, strlen(text), "", node, err) == 0) {
        by_node_forget_places(*node);
        return 0;
    }
    return err && err->code == BARYON_ERR_NOMEM
               ? -1
               : by_fail(err, BARYON_ERR_USAGE, "%s is not valid YAML", by_quote(quoted, text));
}

int by_recipe_take_extra(struct by_config *config, struct by_recipe_settings *settings,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < settings->extra.count; i++) {
        struct by_doc_node *value;
        const struct by_setting_pair *pair = &settings->extra.at[i];
        if (parse_value(&config->arena, pair->value, &value, err) < 0)
            return by_err_in(err, "--extra %s", pair->name);
        const struct by_aliasing at = {.config = config,
                                       .settings = settings,
                                       .name = pair->name,
                                       .value = value,
                                       .source = BY_SOURCE_FLAG,
                                       .origin = "--extra"};
        if (take_named(&at, err) < 0)
            return -1;
    }
    return 0;
}
