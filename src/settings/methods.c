/* Makes choices, options and checks out of the rows of calibration methods. */
#include "settings/methods.h"

#include "base/str.h"
#include "base/text.h"
#include "config/value.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define TEXT_MAX 256

/* What there is for one use. */
struct list {
    struct by_choice choices[BY_METHODS_MAX + 1];
    struct by_option options[BY_METHOD_OPTIONS_MAX];
    char help[BY_METHOD_OPTIONS_MAX][TEXT_MAX], takers[BY_METHOD_OPTIONS_MAX][TEXT_MAX],
        needs[BY_METHOD_OPTIONS_MAX][TEXT_MAX];
    size_t choice_count, option_count;
};

static struct list for_activations, for_weights, for_biases;

static bool is_for_activations(enum by_calib_use use)
{
    return use == BY_FOR_ACTIVATIONS;
}

/* The option's name for that use; NULL: it has none. */
static const char *name_for(enum by_calib_use use, const struct by_calib_option *option)
{
    return is_for_activations(use) ? option->row.name : option->weight_name;
}

bool by_method_has_option(enum by_calib_use use, const struct by_calibrator *method,
                          const char *name)
{
    const struct by_calib_option_set *set = method->uses & use ? method->options : NULL;
    for (size_t i = 0; set && i < set->count; i++) {
        const char *known = name_for(use, &set->rows[i]);
        if (known && !strcmp(known, name))
            return true;
    }
    return false;
}

/* --- Building the lists --- */

static void add_choice(struct list *list, const char *name, int value)
{
    if (list->choice_count < BY_METHODS_MAX)
        list->choices[list->choice_count++] = (struct by_choice){name, value, NULL};
}

static bool has_option(const struct list *list, const char *name)
{
    for (size_t i = 0; i < list->option_count; i++)
        if (!strcmp(list->options[i].name, name))
            return true;
    return false;
}

/* "a, b or c" of the methods that have the option. */
static size_t list_takers(enum by_calib_use use, const char *name, const char *last, char *buf)
{
    const char *takers[BY_METHODS_MAX];
    size_t methods, count = 0;
    const struct by_calibrator *const *method = by_calibrators(&methods);
    struct by_text text;
    for (size_t i = 0; i < methods && count < BY_METHODS_MAX; i++)
        if (by_method_has_option(use, method[i], name))
            takers[count++] = method[i]->name;
    by_text_init(&text, buf, TEXT_MAX);
    for (size_t i = 0; i < count; i++)
        by_text_add(&text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : last, takers[i]);
    return count;
}

static void add_option(struct list *list, enum by_calib_use use,
                       const struct by_calib_option *option)
{
    const size_t place = list->option_count;
    const char *name = name_for(use, option);
    const bool activations = is_for_activations(use);
    char *takers = list->takers[place], all[TEXT_MAX];
    struct by_text help, needs;
    if (!name || has_option(list, name) || place == BY_METHOD_OPTIONS_MAX)
        return;
    list_takers(use, name, " or ", takers);
    by_text_init(&needs, list->needs[place], TEXT_MAX);
    by_text_add(&needs, "--%s-method %s", activations ? "activation" : "weight", takers);
    const size_t count = list_takers(use, name, " and ", all);
    by_text_init(&help, list->help[place], TEXT_MAX);
    by_text_add(&help, "For %smethod%s %s: %s", activations ? "" : "weight ", count > 1 ? "s" : "",
                all, activations ? option->row.help : option->weight_help);
    list->options[place] = option->row;
    list->options[place].name = name;
    list->options[place].help = list->help[place];
    list->options[place].offset = offsetof(struct by_method_values, at[place]);
    list->option_count++;
}

static void add_options(struct list *list, enum by_calib_use use, bool last)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0; i < count; i++) {
        const struct by_calib_option_set *set = methods[i]->options;
        if (set && (methods[i]->uses & use) && methods[i]->options_last == last)
            for (size_t k = 0; k < set->count; k++)
                add_option(list, use, &set->rows[k]);
    }
}

static void add_methods(struct list *list, enum by_calib_use use)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0; i < count; i++)
        if (methods[i]->uses & use)
            add_choice(list, methods[i]->name, (int)i);
}

static void build_all(void)
{
    add_methods(&for_activations, BY_FOR_ACTIVATIONS);
    add_options(&for_activations, BY_FOR_ACTIVATIONS, false);
    add_options(&for_activations, BY_FOR_ACTIVATIONS, true);
    add_methods(&for_weights, BY_FOR_WEIGHTS);
    add_options(&for_weights, BY_FOR_WEIGHTS, false);
    add_options(&for_weights, BY_FOR_WEIGHTS, true);
    add_choice(&for_biases, "as-weight", BY_AS_WEIGHT);
    add_methods(&for_biases, BY_FOR_BIASES);
}

static const struct list *list_for(enum by_calib_use use)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build_all);
    return use == BY_FOR_ACTIVATIONS ? &for_activations
           : use == BY_FOR_WEIGHTS   ? &for_weights
                                     : &for_biases;
}

/* --- Choices and options --- */

const struct by_choice *by_method_choices(enum by_calib_use use)
{
    return list_for(use)->choices;
}

const struct by_calibrator *by_method_of(int choice)
{
    size_t count;
    return by_calibrators(&count)[choice];
}

const struct by_option *by_method_options(enum by_calib_use use, size_t *count)
{
    const struct list *list = list_for(use);
    *count = list->option_count;
    return list->options;
}

static const struct by_option *find_row(const struct list *list, const char *name)
{
    for (size_t i = 0; i < list->option_count; i++)
        if (!strcmp(list->options[i].name, name))
            return &list->options[i];
    return NULL;
}

const char *by_method_option_takers(enum by_calib_use use, const char *name)
{
    const struct list *list = list_for(use);
    const struct by_option *row = find_row(list, name);
    return row ? list->takers[row - list->options] : NULL;
}

const char *by_method_option_needs(enum by_calib_use use, const char *name)
{
    const struct list *list = list_for(use);
    const struct by_option *row = find_row(list, name);
    return row ? list->needs[row - list->options] : NULL;
}

/* --- Values --- */

/* Where the option's value is in struct by_method_values; NULL: it has none for that use. */
static const struct by_option *method_row_of(enum by_calib_use use,
                                             const struct by_calib_option *option)
{
    const char *name = name_for(use, option);
    return name ? find_row(list_for(use), name) : NULL;
}

int by_method_own(enum by_calib_use use, const struct by_calibrator *method,
                  const struct by_method_values *values, struct by_arena *arena, const void **own,
                  struct baryon_error *err)
{
    const struct by_calib_option_set *set = method->options;
    *own = NULL;
    if (!set)
        return 0;
    char *filled = by_arena_alloc(arena, 1, set->size, err);
    if (!filled)
        return -1;
    memcpy(filled, set->defaults, set->size);
    for (size_t i = 0; i < set->count; i++) {
        const struct by_option *row = method_row_of(use, &set->rows[i]);
        if (row)
            memcpy(filled + set->rows[i].row.offset, (const char *)values + row->offset,
                   by_value_size(row));
    }
    *own = filled;
    return 0;
}

void by_method_settle(enum by_calib_use use, const struct by_calibrator *method,
                      const struct by_config *config, struct by_method_values *values)
{
    const struct by_calib_option_set *set = method->options;
    for (size_t i = 0; set && i < set->count; i++) {
        const struct by_option *row = method_row_of(use, &set->rows[i]);
        if (row && by_config_source(config, row->name) == BY_SOURCE_DEFAULT)
            memcpy((char *)values + row->offset,
                   (const char *)set->defaults + set->rows[i].row.offset, by_value_size(row));
    }
}

/* --- Rules --- */

static bool is_key(const char *key, const char *name)
{
    for (; *key && (*key == *name || (*key == '_' && *name == '-')); key++)
        name++;
    return !*key && !*name;
}

const struct by_calib_option *by_method_option_of(const struct by_calibrator *method,
                                                  const char *key)
{
    const struct by_calib_option_set *set = method->options;
    for (size_t i = 0; set && i < set->count; i++)
        if (is_key(key, set->rows[i].row.name))
            return &set->rows[i];
    return NULL;
}

const struct by_calib_option *by_method_option_find(const char *key)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    const struct by_calib_option *found = NULL;
    for (size_t i = 0; i < count && !found; i++)
        found = by_method_option_of(methods[i], key);
    return found;
}
