/*
 * An option as a row of data. Its name is the long option of the command line and the key of a
 * configuration file, where _ may stand for -. The row says what a value looks like, its range, its
 * default, its help, and which member of a settings struct it sets.
 */
#ifndef BY_OPTION_H
#define BY_OPTION_H

#include "base/choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a value looks like, and the C type of the member it goes to. */
enum by_option_type {
    BY_OPT_FLAG,    /* bool */
    BY_OPT_INT,     /* int64_t */
    BY_OPT_NUMBER,  /* double */
    BY_OPT_PERCENT, /* double, a share: "5%" and "5" are 0.05 */
    BY_OPT_BYTES,   /* uint64_t: "64MiB" */
    BY_OPT_TEXT,    /* const char * */
    BY_OPT_CHOICE,  /* int: the value of the choice */
    BY_OPT_EXTENT,  /* struct by_setting_extent: "224" or "320x240" */
    BY_OPT_RANGE,   /* struct by_setting_range: "0:255" */
    BY_OPT_NUMBERS, /* struct by_setting_numbers: "0.5,0.5,0.5" */
    BY_OPT_TEXTS,   /* struct by_setting_texts, separated by commas or repeated */
    BY_OPT_PAIRS,   /* struct by_setting_pairs: NAME=TEXT, repeated */
    BY_OPT_SIZES,   /* struct by_setting_pairs: NAME=SIZE, repeated */
    BY_OPT_SPANS,   /* struct by_setting_pairs: two arguments, FIRST SECOND, repeated */
    BY_OPT_TYPES,
};

struct by_setting_extent {
    int64_t width, height; /* 0: not given */
};
struct by_setting_range {
    int64_t low, high;
    bool set;
};
struct by_setting_numbers {
    double *at;
    size_t count, cap;
};
struct by_setting_texts {
    const char **at;
    size_t count, cap;
};
struct by_setting_pair {
    const char *name, *value;
    int64_t size; /* of BY_OPT_SIZES */
};
struct by_setting_pairs {
    struct by_setting_pair *at;
    size_t count, cap;
};

struct by_option {
    const char *name;
    char letter; /* short option, 0: none */
    enum by_option_type type;
    const char *arg; /* what help calls the value: "FILE"; NULL for flags */
    double min, max; /* of numbers, both included; both 0: any */
    size_t most;     /* items of a list, 0: any number */
    const struct by_choice *choices;
    const char *fallback;     /* the default, as one would write it; NULL: zero, empty */
    size_t offset;            /* of the member in the settings struct */
    bool command_line;        /* not a key of configuration files */
    const char *not_in_files; /* why configuration files cannot have it; NULL: they can */
    const char *help;         /* one sentence, without a full stop */
};

/* Its values are words, or numbers and words. */
static inline bool by_option_has_words(const struct by_option *option)
{
    return option->type == BY_OPT_CHOICE || (option->type == BY_OPT_NUMBER && option->choices);
}

#endif
