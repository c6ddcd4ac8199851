/* Calibration methods and their options by Quark's names, from the rows of the methods. */
#include "base/text.h"
#include "calib/calib.h"
#include "settings/quark/alias.h"

#include <string.h>

#define WORDS_MAX 24
#define SET_MAX   160

struct words {
    struct by_alias_word at[WORDS_MAX + 1];
    char sets[WORDS_MAX][SET_MAX];
    size_t count;
};

static void add_word(struct words *words, const char *word, const char *set)
{
    if (words->count == WORDS_MAX)
        return;
    struct by_text text;
    by_text_init(&text, words->sets[words->count], SET_MAX);
    by_text_add(&text, "%s", set);
    words->at[words->count] = (struct by_alias_word){word, words->sets[words->count]};
    words->count++;
}

/* --- Methods --- */

/* In Quark a method for powers of two is one of weights too, and asks for such scales. */
static void set_of_method(const struct by_calibrator *method, struct by_text *set)
{
    static const struct by_calib_target plain = {.qmin = -127, .qmax = 127, .symmetric = true};
    by_text_add(set, "activation-method=%s", method->name);
    if (by_calib_needs(method, &plain) == BY_NEEDS_POW2)
        by_text_add(set, ";activation-scale=pow2;weight-method=%s;weight-scale=pow2", method->name);
}

static void add_words_of(struct words *words, const struct by_calibrator *method,
                         const char *option)
{
    char buf[SET_MAX];
    for (const struct by_calib_word *word = method->quark; word->option; word++) {
        struct by_text set;
        if (strcmp(word->option, option) != 0)
            continue;
        by_text_init(&set, buf, sizeof buf);
        if (!strcmp(option, BY_QUARK_METHOD))
            set_of_method(method, &set);
        else
            by_text_add(&set, "%s-method=%s",
                        strcmp(option, BY_QUARK_WEIGHT_METHOD) != 0 ? "activation" : "weight",
                        method->name);
        add_word(words, word->word, buf);
    }
}

static void add_methods(struct words *words, const char *option)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0; i < count; i++)
        add_words_of(words, methods[i], option);
}

const struct by_alias_word *by_alias_method_words(const char *option)
{
    static struct words all, of_weights, of_powers;
    if (!strcmp(option, BY_QUARK_METHOD)) {
        add_methods(&all, option);
        add_word(&all, "Int16Method", "activation-scale=int16;weight-scale=int16");
        return all.at;
    }
    if (!strcmp(option, BY_QUARK_WEIGHT_METHOD)) {
        add_methods(&of_weights, option);
        return of_weights.at;
    }
    of_powers.at[of_powers.count++] = (struct by_alias_word){"All", NULL};
    add_methods(&of_powers, option);
    return of_powers.at;
}

/* --- Options --- */

struct option {
    char on[SET_MAX], off[SET_MAX];
    struct words words;
};

static void set_value(char *buf, const char *option, const char *value)
{
    struct by_text text;
    by_text_init(&text, buf, SET_MAX);
    by_text_add(&text, "%s=%s", option, value);
}

static struct by_alias alias_of(const struct by_option *row, const char *quark, struct option *kept)
{
    if (row->type == BY_OPT_FLAG) {
        set_value(kept->on, row->name, "true");
        set_value(kept->off, row->name, "false");
        return (struct by_alias){
            .name = quark, .kind = BY_ALIAS_FLAG, .on = kept->on, .off = kept->off};
    }
    if (row->type != BY_OPT_CHOICE)
        return (struct by_alias){.name = quark, .kind = BY_ALIAS_VALUE, .on = row->name};
    for (const struct by_choice *choice = row->choices; choice->name; choice++) {
        set_value(kept->on, row->name, choice->name);
        add_word(&kept->words, choice->name, kept->on);
    }
    return (struct by_alias){.name = quark, .kind = BY_ALIAS_WORDS, .words = kept->words.at};
}

const struct by_alias *by_alias_method_options(size_t *count)
{
    static struct by_alias aliases[BY_METHOD_OPTIONS_MAX];
    static struct option kept[BY_METHOD_OPTIONS_MAX];
    size_t options;
    const struct by_option *rows = by_method_options(BY_FOR_ACTIVATIONS, &options);
    *count = 0;
    for (size_t i = 0; i < options; i++) {
        const char *quark = by_method_option_find(rows[i].name)->quark;
        if (quark) {
            aliases[*count] = alias_of(&rows[i], quark, &kept[*count]);
            ++*count;
        }
    }
    return aliases;
}
