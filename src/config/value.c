/* Parses the value of one option and stores it in its member of the settings struct. */
#include "config/value.h"

#include "base/format.h"
#include "base/str.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A type of value: how its member is filled from text. `set` says whether the text
 * was one; running out of memory is told through err.
 */
struct value_type {
    const char *what; /* "'x' is not WHAT" */
    size_t size;      /* of the member */
    bool list, takes_text;
    bool (*set)(struct by_arena *arena, const struct by_option *option, const char *text,
                void *slot, struct baryon_error *err);
};

static bool in_range(const struct by_option *option, double value)
{
    if (option->min == 0 && option->max == 0)
        return true;
    return value >= option->min && value <= option->max;
}

static bool set_flag(struct by_arena *arena, const struct by_option *option, const char *text,
                     void *slot, struct baryon_error *err)
{
    (void)arena, (void)option, (void)err;
    bool yes = !strcmp(text, "true");
    if (!yes && strcmp(text, "false") != 0)
        return false;
    memcpy(slot, &yes, sizeof yes);
    return true;
}

static bool set_int(struct by_arena *arena, const struct by_option *option, const char *text,
                    void *slot, struct baryon_error *err)
{
    (void)arena, (void)err;
    int64_t value;
    if (!by_parse_i64(text, &value) || !in_range(option, (double)value))
        return false;
    memcpy(slot, &value, sizeof value);
    return true;
}

static bool set_number(struct by_arena *arena, const struct by_option *option, const char *text,
                       void *slot, struct baryon_error *err)
{
    (void)arena, (void)err;
    double value;
    for (const struct by_choice *word = option->choices; word && word->name; word++)
        if (!strcmp(word->name, text)) {
            value = word->value;
            memcpy(slot, &value, sizeof value);
            return true;
        }
    if (!by_parse_double(text, &value) || !isfinite(value) || !in_range(option, value))
        return false;
    memcpy(slot, &value, sizeof value);
    return true;
}

static bool set_percent(struct by_arena *arena, const struct by_option *option, const char *text,
                        void *slot, struct baryon_error *err)
{
    char digits[64];
    size_t length = strlen(text);
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length + 1);
    if (length && digits[length - 1] == '%')
        digits[length - 1] = '\0';
    double percent;
    if (!set_number(arena, option, digits, &percent, err))
        return false;
    percent /= 100;
    memcpy(slot, &percent, sizeof percent);
    return true;
}

static bool set_bytes(struct by_arena *arena, const struct by_option *option, const char *text,
                      void *slot, struct baryon_error *err)
{
    (void)arena, (void)err;
    uint64_t value;
    if (!by_parse_bytes(text, &value) || !in_range(option, (double)value))
        return false;
    memcpy(slot, &value, sizeof value);
    return true;
}

static bool set_text(struct by_arena *arena, const struct by_option *option, const char *text,
                     void *slot, struct baryon_error *err)
{
    (void)arena, (void)option, (void)err;
    if (!*text)
        return false;
    memcpy(slot, &text, sizeof text);
    return true;
}

static bool set_choice(struct by_arena *arena, const struct by_option *option, const char *text,
                       void *slot, struct baryon_error *err)
{
    (void)arena, (void)err;
    for (const struct by_choice *choice = option->choices; choice->name; choice++)
        if (!strcmp(choice->name, text)) {
            memcpy(slot, &choice->value, sizeof choice->value);
            return true;
        }
    return false;
}

/* Splits "left<mark>right" into two whole numbers. */
static bool two_numbers(const char *text, const char *mark, int64_t *left, int64_t *right)
{
    char copy[64];
    size_t length = strlen(text);
    if (length >= sizeof copy || !mark)
        return false;
    memcpy(copy, text, length + 1);
    copy[mark - text] = '\0';
    return by_parse_i64(copy, left) && by_parse_i64(copy + (mark - text) + 1, right);
}

static bool set_extent(struct by_arena *arena, const struct by_option *option, const char *text,
                       void *slot, struct baryon_error *err)
{
    (void)arena, (void)err;
    struct by_setting_extent extent;
    if (by_parse_i64(text, &extent.width))
        extent.height = extent.width;
    else if (!two_numbers(text, strchr(text, 'x'), &extent.width, &extent.height))
        return false;
    if (!in_range(option, (double)extent.width) || !in_range(option, (double)extent.height))
        return false;
    memcpy(slot, &extent, sizeof extent);
    return true;
}

static bool set_range(struct by_arena *arena, const struct by_option *option, const char *text,
                      void *slot, struct baryon_error *err)
{
    (void)arena, (void)option, (void)err;
    struct by_setting_range range = {.set = true};
    if (!two_numbers(text, strchr(text, ':'), &range.low, &range.high) || range.low > range.high)
        return false;
    memcpy(slot, &range, sizeof range);
    return true;
}

static bool has_room(const struct by_option *option, size_t count)
{
    return !option->most || count < option->most;
}

/* Regular expressions have commas of their own: one ends the list. */
static size_t part_length(const struct by_option *option, const char *text)
{
    const bool expression = !strncmp(text, "re:", 3) || (*text == '^' && strstr(text, ".*"));
    return option->type == BY_OPT_TEXTS && expression ? strlen(text) : strcspn(text, ",");
}

/* Hands each part of "a,b,c" on; an empty part is refused. */
static bool each_part(struct by_arena *arena, const struct by_option *option, const char *text,
                      void *slot, struct baryon_error *err,
                      bool (*add)(struct by_arena *, const struct by_option *, const char *, void *,
                                  struct baryon_error *))
{
    for (;;) {
        size_t length = part_length(option, text);
        char *part = length ? by_arena_text(arena, text, length, err) : NULL;
        if (!part || !add(arena, option, part, slot, err))
            return false;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

static bool add_number(struct by_arena *arena, const struct by_option *option, const char *text,
                       void *slot, struct baryon_error *err)
{
    struct by_setting_numbers *list = slot;
    double value;
    if (!set_number(arena, option, text, &value, err) || !has_room(option, list->count) ||
        by_list_reserve(arena, list, 1, sizeof *list->at, err) < 0)
        return false;
    list->at[list->count++] = value;
    return true;
}

static bool set_numbers(struct by_arena *arena, const struct by_option *option, const char *text,
                        void *slot, struct baryon_error *err)
{
    return each_part(arena, option, text, slot, err, add_number);
}

static bool add_text(struct by_arena *arena, const struct by_option *option, const char *text,
                     void *slot, struct baryon_error *err)
{
    struct by_setting_texts *list = slot;
    if (!has_room(option, list->count) ||
        by_list_reserve(arena, list, 1, sizeof *list->at, err) < 0)
        return false;
    list->at[list->count++] = text;
    return true;
}

static bool set_texts(struct by_arena *arena, const struct by_option *option, const char *text,
                      void *slot, struct baryon_error *err)
{
    return each_part(arena, option, text, slot, err, add_text);
}

static bool add_pair(struct by_arena *arena, const struct by_option *option, const char *name,
                     const char *value, int64_t size, void *slot, struct baryon_error *err)
{
    struct by_setting_pairs *list = slot;
    if (!has_room(option, list->count) ||
        by_list_reserve(arena, list, 1, sizeof *list->at, err) < 0)
        return false;
    list->at[list->count++] = (struct by_setting_pair){name, value, size};
    return true;
}

/* The last '=' divides: names in models may have one. */
static bool set_pair(struct by_arena *arena, const struct by_option *option, const char *text,
                     void *slot, struct baryon_error *err)
{
    const char *mark = strrchr(text, '=');
    if (!mark || mark == text || !mark[1])
        return false;
    const char *name = by_arena_text(arena, text, (size_t)(mark - text), err);
    return name && add_pair(arena, option, name, mark + 1, 0, slot, err);
}

static bool set_size(struct by_arena *arena, const struct by_option *option, const char *text,
                     void *slot, struct baryon_error *err)
{
    const char *mark = strrchr(text, '=');
    int64_t size;
    if (!mark || mark == text || !by_parse_i64(mark + 1, &size) || !in_range(option, (double)size))
        return false;
    const char *name = by_arena_text(arena, text, (size_t)(mark - text), err);
    return name && add_pair(arena, option, name, mark + 1, size, slot, err);
}

static const struct value_type types[BY_OPT_TYPES] = {
    [BY_OPT_FLAG] = {"true or false", sizeof(bool), false, false, set_flag},
    [BY_OPT_INT] = {"a whole number", sizeof(int64_t), false, false, set_int},
    [BY_OPT_NUMBER] = {"a number", sizeof(double), false, false, set_number},
    [BY_OPT_PERCENT] = {"a percentage", sizeof(double), false, true, set_percent},
    [BY_OPT_BYTES] = {"a number of bytes such as 64MiB", sizeof(uint64_t), false, true, set_bytes},
    [BY_OPT_TEXT] = {"a text of at least one character", sizeof(char *), false, true, set_text},
    [BY_OPT_CHOICE] = {"one of", sizeof(int), false, true, set_choice},
    [BY_OPT_EXTENT] = {"a size WIDTHxHEIGHT or one number for both,",
                       sizeof(struct by_setting_extent), false, true, set_extent},
    [BY_OPT_RANGE] = {"a range LOW:HIGH of whole numbers", sizeof(struct by_setting_range), false,
                      true, set_range},
    [BY_OPT_NUMBERS] = {"a list of numbers separated by commas", sizeof(struct by_setting_numbers),
                        true, true, set_numbers},
    [BY_OPT_TEXTS] = {"a list of names separated by commas", sizeof(struct by_setting_texts), true,
                      true, set_texts},
    [BY_OPT_PAIRS] = {"a pair", sizeof(struct by_setting_pairs), true, true, set_pair},
    [BY_OPT_SIZES] = {"NAME=SIZE with a whole number", sizeof(struct by_setting_pairs), true, true,
                      set_size},
    [BY_OPT_SPANS] = {"two values", sizeof(struct by_setting_pairs), true, true, NULL},
};

size_t by_value_size(const struct by_option *option)
{
    return types[option->type].size;
}

void by_value_clear(const struct by_option *option, void *slot)
{
    memset(slot, 0, types[option->type].size);
}

bool by_option_is_list(const struct by_option *option)
{
    return types[option->type].list;
}

bool by_option_takes_text(const struct by_option *option)
{
    return types[option->type].takes_text;
}

unsigned by_option_arguments(const struct by_option *option)
{
    return option->type == BY_OPT_FLAG ? 0 : option->type == BY_OPT_SPANS ? 2 : 1;
}

/* What is beyond this stands for "no upper end" in a row. */
#define ENDLESS 9e15

static void add_range(struct by_text *text, const struct by_option *option)
{
    char low[BY_DOUBLE_MAX], high[BY_DOUBLE_MAX];
    if (option->min == 0 && option->max == 0)
        return;
    by_format_double(low, option->min);
    if (option->max >= ENDLESS)
        by_text_add(text, "at least %s", low);
    else
        by_text_add(text, "from %s to %s", low, by_format_double(high, option->max));
}

static void add_choices(struct by_text *text, const struct by_option *option)
{
    for (const struct by_choice *choice = option->choices; choice->name; choice++)
        by_text_add(text, "%s%s", choice == option->choices ? "" : ", ", choice->name);
}

const char *by_option_range(const struct by_option *option, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    if (option->type != BY_OPT_CHOICE)
        add_range(&text, option);
    if (option->type == BY_OPT_NUMBER && option->choices)
        by_text_add(&text, ", or ");
    if (by_option_has_words(option))
        add_choices(&text, option);
    if (option->most)
        by_text_add(&text, "%sat most %zu", text.used ? ", " : "", option->most);
    return buf;
}

const char *by_option_expects(const struct by_option *option, char *buf, size_t size)
{
    char range[256];
    by_option_range(option, range, sizeof range);
    bool named = option->type == BY_OPT_PAIRS || option->type == BY_OPT_SPANS;
    const char *more = named ? option->arg : range;
    const char *join = !*more ? "" : !strncmp(more, "at ", 3) ? ", " : " ";
    snprintf(buf, size, "%s%s%s", types[option->type].what, join, more);
    return buf;
}

static int not_expected(const struct by_option *option, const char *text, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], expects[256];
    return by_fail(err, BARYON_ERR_USAGE, "%s is not %s", by_quote(quoted, text),
                   by_option_expects(option, expects, sizeof expects));
}

static int hint_choice(const struct by_option *option, const char *text, struct baryon_error *err)
{
    const char *names[64] = {0};
    size_t count = 0;
    for (const struct by_choice *choice = option->choices; choice->name && count < 64; choice++)
        names[count++] = choice->name;
    const char *near = by_nearest(text, names, count);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

static int ran_out(const struct baryon_error *inner, struct baryon_error *err)
{
    if (err)
        *err = *inner;
    return -1;
}

int by_value_add_text(struct by_arena *arena, const struct by_option *option, const char *text,
                      void *slot, struct baryon_error *err)
{
    struct baryon_error inner;
    by_err_clear(&inner);
    if (*text && add_text(arena, option, text, slot, &inner))
        return 0;
    return inner.code == BARYON_ERR_NOMEM ? ran_out(&inner, err) : not_expected(option, text, err);
}

int by_value_parse(struct by_arena *arena, const struct by_option *option, const char *text,
                   const char *second, void *slot, struct baryon_error *err)
{
    struct baryon_error inner;
    by_err_clear(&inner);
    if (option->type == BY_OPT_SPANS) {
        if (!second || !*second || !*text)
            return not_expected(option, text, err);
        if (add_pair(arena, option, text, second, 0, slot, &inner))
            return 0;
    } else if (types[option->type].set(arena, option, text, slot, &inner)) {
        return 0;
    }
    if (inner.code == BARYON_ERR_NOMEM)
        return ran_out(&inner, err);
    not_expected(option, text, err);
    return by_option_has_words(option) ? hint_choice(option, text, err) : -1;
}
