/* Settings as a configuration file. */
#include "base/format.h"
#include "config/config.h"

#include <inttypes.h>
#include <string.h>

/* In double quotes, which YAML reads as JSON does. */
static void put_text(struct by_str *out, const char *text)
{
    struct by_json json;
    by_json_init(&json, out, true);
    by_json_text(&json, NULL, text);
}

static void put_double(struct by_str *out, double value)
{
    char buf[BY_DOUBLE_MAX];
    by_str_puts(out, by_format_double(buf, value));
}

/* False: no word has that value. */
static bool put_choice(struct by_str *out, const struct by_option *option, double value)
{
    for (const struct by_choice *choice = option->choices; choice && choice->name; choice++)
        if (choice->value == value) {
            by_str_puts(out, choice->name);
            return true;
        }
    return false;
}

static void put_numbers(struct by_str *out, const struct by_setting_numbers *list)
{
    for (size_t i = 0; i < list->count; i++) {
        by_str_puts(out, i ? ", " : "[");
        put_double(out, list->at[i]);
    }
    by_str_puts(out, list->count ? "]" : "");
}

static void put_texts(struct by_str *out, const struct by_setting_texts *list)
{
    for (size_t i = 0; i < list->count; i++) {
        by_str_puts(out, i ? ", " : "[");
        put_text(out, list->at[i]);
    }
    by_str_puts(out, list->count ? "]" : "");
}

static void put_pairs(struct by_str *out, const struct by_setting_pairs *list, bool spans)
{
    for (size_t i = 0; i < list->count; i++) {
        by_str_puts(out, i ? ", " : spans ? "[" : "{");
        by_str_puts(out, spans ? "[" : "");
        put_text(out, list->at[i].name);
        by_str_puts(out, spans ? ", " : ": ");
        put_text(out, list->at[i].value);
        by_str_puts(out, spans ? "]" : "");
    }
    by_str_puts(out, !list->count ? "" : spans ? "]" : "}");
}

static void put_extent(struct by_str *out, const struct by_setting_extent *extent)
{
    if (extent->width)
        by_str_printf(out, "%" PRId64 "x%" PRId64, extent->width, extent->height);
}

static void put_range(struct by_str *out, const struct by_setting_range *range)
{
    if (range->set)
        by_str_printf(out, "\"%" PRId64 ":%" PRId64 "\"", range->low, range->high);
}

/* A number of zero where the row allows none is one that was not given. */
static bool is_absent(const struct by_option *option, double value)
{
    return value == 0 && !option->fallback && option->min > 0;
}

static void put_value(struct by_str *out, const struct by_option *option, const void *slot)
{
    const char *text;
    double number;
    int64_t whole;
    uint64_t bytes;
    bool flag;
    int choice;
    switch (option->type) {
    case BY_OPT_FLAG:
        memcpy(&flag, slot, sizeof flag);
        by_str_puts(out, flag ? "true" : "false");
        break;
    case BY_OPT_INT:
        memcpy(&whole, slot, sizeof whole);
        if (!is_absent(option, (double)whole))
            by_str_printf(out, "%" PRId64, whole);
        break;
    case BY_OPT_NUMBER:
    case BY_OPT_PERCENT:
        memcpy(&number, slot, sizeof number);
        if (!put_choice(out, option, number) && !is_absent(option, number))
            put_double(out, option->type == BY_OPT_PERCENT ? number * 100 : number);
        break;
    case BY_OPT_BYTES:
        memcpy(&bytes, slot, sizeof bytes);
        if (!is_absent(option, (double)bytes))
            by_str_printf(out, "%" PRIu64, bytes);
        break;
    case BY_OPT_TEXT:
        memcpy(&text, slot, sizeof text);
        if (text)
            put_text(out, text);
        break;
    case BY_OPT_CHOICE:
        memcpy(&choice, slot, sizeof choice);
        (void)put_choice(out, option, choice);
        break;
    case BY_OPT_EXTENT:
        put_extent(out, slot);
        break;
    case BY_OPT_RANGE:
        put_range(out, slot);
        break;
    case BY_OPT_NUMBERS:
        put_numbers(out, slot);
        break;
    case BY_OPT_TEXTS:
        put_texts(out, slot);
        break;
    case BY_OPT_PAIRS:
    case BY_OPT_SIZES:
    case BY_OPT_SPANS:
        put_pairs(out, slot, option->type == BY_OPT_SPANS);
        break;
    case BY_OPT_TYPES:
        break;
    }
}

static const struct by_binding *binding_of(const struct by_config *config,
                                           const struct by_option_group *group)
{
    for (size_t i = 0; i < config->count; i++)
        if (config->bindings[i].group == group)
            return &config->bindings[i];
    return NULL;
}

/* Calls `put` for each row that has a value and is wanted. */
static void each_value(const struct by_config *config, const struct by_option_group *group,
                       bool (*wanted)(const void *context, const struct by_option *option),
                       const void *context, struct by_str *out,
                       void (*put)(void *to, const struct by_option *option, const char *value),
                       void *to)
{
    const struct by_binding *binding = binding_of(config, group);
    for (size_t i = 0; binding && i < binding->count; i++) {
        const struct by_option *option = &binding->rows[i];
        struct by_str value;
        if (option->command_line || option->not_in_files || (wanted && !wanted(context, option)))
            continue;
        by_str_init(&value);
        put_value(&value, option, (const char *)binding->target + option->offset);
        if (value.size)
            put(to, option, by_str_text(&value));
        out->failed |= value.failed;
        by_str_release(&value);
    }
}

static void put_line(void *to, const struct by_option *option, const char *value)
{
    by_str_printf(to, "%s: %s\n", option->name, value);
}

void by_config_write(const struct by_config *config, const struct by_option_group *group,
                     bool (*wanted)(const void *context, const struct by_option *option),
                     const void *context, struct by_str *out)
{
    each_value(config, group, wanted, context, out, put_line, out);
}

/* What stands in a file without quotes is a word or a number. */
static void put_member(void *to, const struct by_option *option, const char *value)
{
    double number;
    const bool word = by_option_has_words(option) && !by_parse_double(value, &number);
    if (word || option->type == BY_OPT_CHOICE || option->type == BY_OPT_EXTENT)
        by_json_text(to, option->name, value);
    else
        by_json_raw(to, option->name, value);
}

void by_config_json(const struct by_config *config, const struct by_option_group *group,
                    bool (*wanted)(const void *context, const struct by_option *option),
                    const void *context, struct by_json *json)
{
    each_value(config, group, wanted, context, json->out, put_member, json);
}

void by_config_show(const struct by_config *config, const char *name, struct by_str *out)
{
    const struct by_option *option = by_config_find(config, name);
    for (size_t i = 0; option && i < config->count; i++) {
        const struct by_binding *binding = &config->bindings[i];
        if (option >= binding->rows && option < binding->rows + binding->count)
            put_value(out, option, (const char *)binding->target + option->offset);
    }
}
