/* Reads options from command lines and configuration files into a settings struct. */
#include "config/config.h"

#include "base/str.h"
#include "config/value.h"

#include <stdio.h>
#include <string.h>

void by_config_init(struct by_config *config)
{
    *config = (struct by_config){.count = 0};
    by_arena_init(&config->arena, 0);
}

void by_config_release(struct by_config *config)
{
    by_arena_release(&config->arena);
    config->count = 0;
}

const struct by_option *by_group_rows(const struct by_option_group *group, size_t *count)
{
    if (group->make_rows)
        return group->make_rows(count);
    *count = group->fixed_count;
    return group->fixed_rows;
}

static void *slot_of(const struct by_binding *binding, const struct by_option *option)
{
    return (char *)binding->target + option->offset;
}

static int set_fallback(struct by_config *config, const struct by_option *option, void *slot,
                        struct baryon_error *err)
{
    by_value_clear(option, slot);
    if (option->fallback &&
        by_value_parse(&config->arena, option, option->fallback, NULL, slot, err) < 0)
        return by_err_in(err, "default of %s", option->name);
    return 0;
}

int by_config_bind(struct by_config *config, const struct by_option_group *group, void *target,
                   struct baryon_error *err)
{
    if (config->count == BY_CONFIG_GROUPS_MAX)
        return by_fail(err, BARYON_ERR_INTERNAL, "more than %d groups of options",
                       BY_CONFIG_GROUPS_MAX);
    struct by_binding *binding = &config->bindings[config->count];
    binding->group = group;
    binding->rows = by_group_rows(group, &binding->count);
    binding->target = target;
    binding->sources = by_arena_alloc(&config->arena, binding->count, 1, err);
    if (!binding->sources)
        return -1;
    config->count++;
    for (size_t i = 0; i < binding->count; i++) {
        const struct by_option *option = &binding->rows[i];
        if (set_fallback(config, option, slot_of(binding, option), err) < 0)
            return -1;
    }
    return 0;
}

bool by_config_same_name(const char *key, const char *name)
{
    for (; *key && *name; key++, name++)
        if (*key != *name && !(*key == '_' && *name == '-'))
            return false;
    return *key == *name;
}

/* The binding that has the row, and the place of the row in it; NULL when there is none. */
static const struct by_binding *find_bound_row(const struct by_config *config, const char *name,
                                               size_t *row)
{
    for (size_t i = 0; i < config->count; i++)
        for (*row = 0; *row < config->bindings[i].count; ++*row)
            if (by_config_same_name(name, config->bindings[i].rows[*row].name))
                return &config->bindings[i];
    return NULL;
}

const struct by_option *by_config_find(const struct by_config *config, const char *name)
{
    size_t row;
    const struct by_binding *binding = find_bound_row(config, name, &row);
    return binding ? &binding->rows[row] : NULL;
}

#define NAMES_MAX 256

const char *by_config_nearest(const struct by_config *config, const char *name,
                              enum by_option_source source)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    char dashed[64];
    for (size_t i = 0; i < config->count; i++) {
        const struct by_binding *binding = &config->bindings[i];
        for (size_t k = 0; k < binding->count && count < NAMES_MAX; k++)
            if (source == BY_SOURCE_FLAG || !binding->rows[k].command_line)
                names[count++] = binding->rows[k].name;
    }
    size_t length = strlen(name);
    if (length >= sizeof dashed)
        return NULL;
    for (size_t i = 0; i <= length; i++)
        dashed[i] = name[i] == '_' ? '-' : name[i];
    return by_nearest(dashed, names, count);
}

enum by_option_source by_config_source(const struct by_config *config, const char *name)
{
    size_t row;
    const struct by_binding *binding = find_bound_row(config, name, &row);
    return binding ? (enum by_option_source)binding->sources[row] : BY_SOURCE_DEFAULT;
}

bool by_config_given(const struct by_config *config, const char *name)
{
    return by_config_source(config, name) >= BY_SOURCE_FILE;
}

const char *by_config_given_of(const struct by_config *config, const struct by_option_group *group)
{
    size_t count;
    const struct by_option *rows = by_group_rows(group, &count);
    for (size_t i = 0; i < count; i++)
        if (by_config_given(config, rows[i].name))
            return rows[i].name;
    return NULL;
}

int by_config_reset(struct by_config *config, const struct by_option *option,
                    struct baryon_error *err)
{
    size_t row;
    const struct by_binding *binding = find_bound_row(config, option->name, &row);
    if (!binding)
        return 0;
    binding->sources[row] = BY_SOURCE_DEFAULT;
    return set_fallback(config, option, slot_of(binding, option), err);
}

/* Where a value of that source goes; NULL when a better one is there already. */
static int slot_for(struct by_config *config, const struct by_option *option,
                    enum by_option_source source, void **slot, struct baryon_error *err)
{
    size_t row;
    const struct by_binding *binding = find_bound_row(config, option->name, &row);
    *slot = NULL;
    if (source == BY_SOURCE_FILE && option->not_in_files) {
        by_fail(err, BARYON_ERR_USAGE, "a configuration file cannot set '%s', because %s",
                option->name, option->not_in_files);
        return by_err_hint(err, "give it on the command line or as a setting of the program");
    }
    if (!binding)
        return by_fail(err, BARYON_ERR_INTERNAL, "option '%s' is not bound", option->name);
    if (binding->sources[row] > source)
        return 0;
    *slot = slot_of(binding, option);
    if (binding->sources[row] < source)
        by_value_clear(option, *slot);
    binding->sources[row] = (unsigned char)source;
    return 0;
}

int by_config_set(struct by_config *config, const struct by_option *option, const char *text,
                  const char *second, enum by_option_source source, struct baryon_error *err)
{
    void *slot;
    if (slot_for(config, option, source, &slot, err) < 0)
        return -1;
    return slot ? by_value_parse(&config->arena, option, text ? text : "true", second, slot, err)
                : 0;
}

/* One scalar of a file. Quotes make a text of it, which no other type takes. */
static int set_scalar(struct by_config *config, const struct by_option *option,
                      const struct by_doc_node *node, enum by_option_source source,
                      struct baryon_error *err)
{
    if (node->quoted && !by_option_takes_text(option)) {
        char quoted[BY_QUOTE_MAX], expects[256];
        return by_fail(err, BARYON_ERR_USAGE, "the quoted text %s is not %s",
                       by_quote(quoted, node->text),
                       by_option_expects(option, expects, sizeof expects));
    }
    return by_config_set(config, option, node->text, NULL, source, err);
}

/* An item of a list is taken whole: commas in it divide nothing. */
static int set_item(struct by_config *config, const struct by_option *option,
                    const struct by_doc_node *node, enum by_option_source source,
                    struct baryon_error *err)
{
    void *slot;
    if (option->type != BY_OPT_TEXTS)
        return set_scalar(config, option, node, source, err);
    if (slot_for(config, option, source, &slot, err) < 0)
        return -1;
    return slot ? by_value_add_text(&config->arena, option, node->text, slot, err) : 0;
}

static int wrong_kind(const struct by_option *option, const struct by_doc_node *node,
                      struct baryon_error *err)
{
    static const char *const kinds[] = {
        [BY_DOC_NULL] = "an empty value",
        [BY_DOC_SCALAR] = "a single value",
        [BY_DOC_LIST] = "a list",
        [BY_DOC_MAP] = "a map",
    };
    char expects[256];
    return by_fail(err, BARYON_ERR_USAGE, "%s is not %s", kinds[node->kind],
                   by_option_expects(option, expects, sizeof expects));
}

static int set_pairs(struct by_config *config, const struct by_option *option,
                     const struct by_doc_node *map, enum by_option_source source,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct by_doc_pair *pair = &map->pairs[i];
        if (pair->value->kind != BY_DOC_SCALAR)
            return wrong_kind(option, pair->value, err);
        size_t size = strlen(pair->key) + strlen(pair->value->text) + 2;
        char *joined = by_arena_alloc(&config->arena, size, 1, err);
        if (!joined)
            return -1;
        snprintf(joined, size, "%s=%s", pair->key, pair->value->text);
        if (by_config_set(config, option, joined, NULL, source, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_two_scalars(const struct by_doc_node *node)
{
    return node->kind == BY_DOC_LIST && node->count == 2 && node->items[0]->kind == BY_DOC_SCALAR &&
           node->items[1]->kind == BY_DOC_SCALAR;
}

/* [FIRST, SECOND], or a list of such. */
static int set_spans(struct by_config *config, const struct by_option *option,
                     const struct by_doc_node *node, enum by_option_source source,
                     struct baryon_error *err)
{
    if (is_two_scalars(node))
        return by_config_set(config, option, node->items[0]->text, node->items[1]->text, source,
                             err);
    if (node->kind != BY_DOC_LIST)
        return wrong_kind(option, node, err);
    for (size_t i = 0; i < node->count; i++) {
        if (!is_two_scalars(node->items[i]))
            return wrong_kind(option, node->items[i], err);
        if (set_spans(config, option, node->items[i], source, err) < 0)
            return -1;
    }
    return 0;
}

int by_config_set_node(struct by_config *config, const struct by_option *option,
                       const struct by_doc_node *node, enum by_option_source source,
                       struct baryon_error *err)
{
    bool pairs = option->type == BY_OPT_PAIRS || option->type == BY_OPT_SIZES;
    if (option->type == BY_OPT_SPANS)
        return set_spans(config, option, node, source, err);
    if (node->kind == BY_DOC_SCALAR)
        return set_scalar(config, option, node, source, err);
    if (node->kind == BY_DOC_MAP && pairs)
        return set_pairs(config, option, node, source, err);
    if (node->kind != BY_DOC_LIST || !by_option_is_list(option))
        return wrong_kind(option, node, err);
    for (size_t i = 0; i < node->count; i++) {
        if (node->items[i]->kind != BY_DOC_SCALAR)
            return wrong_kind(option, node->items[i], err);
        if (set_item(config, option, node->items[i], source, err) < 0)
            return -1;
    }
    return 0;
}

/* Groups may know keys that are no options. */
static int ask_groups(struct by_config *config, const struct by_doc_pair *pair, const char *path,
                      bool *taken, struct baryon_error *err)
{
    *taken = false;
    for (size_t i = 0; i < config->count && !*taken; i++) {
        const struct by_binding *binding = &config->bindings[i];
        if (binding->group->take_key &&
            binding->group->take_key(config, binding->target, pair, path, taken, err) < 0)
            return -1;
    }
    return 0;
}

static int unknown_key(const struct by_config *config, const char *key, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "unknown key %s", by_quote(quoted, key));
    const char *near = by_config_nearest(config, key, BY_SOURCE_FILE);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

/* The place is the key's when the key is wrong, else the value's. */
static int load_pair(struct by_config *config, const struct by_doc_pair *pair, const char *path,
                     struct baryon_error *err)
{
    bool taken;
    const struct by_option *option = by_config_find(config, pair->key);
    if (ask_groups(config, pair, path, &taken, err) < 0)
        return -1;
    if (taken)
        return 0;
    if (!option || option->command_line) {
        unknown_key(config, pair->key, err);
        return by_err_in(err, "%zu:%zu", pair->line, pair->column);
    }
    if (by_config_source(config, pair->key) == BY_SOURCE_FILE) {
        by_fail(err, BARYON_ERR_INPUT, "'%s' is given twice", option->name);
        return by_err_in(err, "%zu:%zu", pair->line, pair->column);
    }
    if (by_config_set_node(config, option, pair->value, BY_SOURCE_FILE, err) == 0)
        return 0;
    return by_err_in(err, "%zu:%zu: %s", pair->value->line, pair->value->column, option->name);
}

static int load_root(struct by_config *config, const struct by_doc_node *root, const char *path,
                     struct baryon_error *err)
{
    if (root->kind == BY_DOC_NULL)
        return 0;
    if (root->kind != BY_DOC_MAP) {
        by_fail(err, BARYON_ERR_INPUT,
                "a configuration file must be a map of option names to values");
        by_err_in(err, "%zu:%zu", root->line, root->column);
        return by_err_file(err, path);
    }
    for (size_t i = 0; i < root->count; i++)
        if (load_pair(config, &root->pairs[i], path, err) < 0) {
            if (err && err->code == BARYON_ERR_USAGE)
                err->code = BARYON_ERR_INPUT;
            return by_err_file(err, path);
        }
    return 0;
}

int by_config_load(struct by_config *config, const char *path, struct baryon_error *err)
{
    struct by_doc_node *root;
    return by_doc_load(&config->arena, path, &root, err) < 0 ? -1
                                                             : load_root(config, root, path, err);
}

int by_config_load_text(struct by_config *config, const char *text, const char *name,
                        struct baryon_error *err)
{
    struct by_doc_node *root;
    return by_yaml_parse(&config->arena, text, strlen(text), name, &root, err) < 0
               ? -1
               : load_root(config, root, name, err);
}
