/*
 * Regular expressions of tokenizer.json, as Oniguruma reads them: alternatives, groups without
 * captures, (?i:), classes with categories, quantifiers greedy, lazy and possessive, lookahead,
 * line anchors. Anything else is refused by name.
 *
 * A pattern becomes a program that backtracks. Steps are counted over all searches of one text, so
 * that no pattern hangs.
 */
#ifndef BY_LLM_TEXT_REGEX_H
#define BY_LLM_TEXT_REGEX_H

#include "base/mem.h"

enum by_regex_kind {
    BY_REGEX_CHAR,      /* a: code point */
    BY_REGEX_SET,       /* a: place in sets */
    BY_REGEX_LOOP,      /* the set a, b times at least, c at most, as often as it can */
    BY_REGEX_HOLD,      /* the same, and never fewer afterwards */
    BY_REGEX_SPLIT,     /* goes on at a first, then at b; both from here */
    BY_REGEX_JUMP,      /* at a, from here */
    BY_REGEX_AHEAD,     /* what follows matches up to its end; goes on at a */
    BY_REGEX_NOT_AHEAD, /* it does not */
    BY_REGEX_ATOMIC,    /* what follows is matched once, up to its end; goes on at a */
    BY_REGEX_LINE_FIRST,
    BY_REGEX_LINE_LAST,
    BY_REGEX_END,
};

struct by_regex_op {
    enum by_regex_kind kind;
    bool folds; /* CHAR: upper and lower case are one */
    int32_t a, b, c;
};

struct by_regex_range {
    uint32_t first, last;
};

struct by_regex_set {
    bool ascii[128]; /* the answer for these */
    bool negated;
    uint32_t categories;     /* bits by enum by_category */
    bool white, not_white;   /* \s, \S */
    uint32_t not_categories; /* code points that are in none of these */
    struct by_regex_range *ranges;
    size_t count, cap;
};

#define BY_REGEX_FOREVER INT32_MAX

struct by_regex {
    struct by_regex_op *ops;
    size_t count, cap;
    struct by_regex_set *sets;
    size_t set_count, set_cap;
};

/* Lives in the arena. */
int by_regex_parse(struct by_regex *regex, struct by_arena *arena, const char *pattern,
                   struct baryon_error *err);
bool by_regex_set_has(const struct by_regex_set *set, uint32_t code);

/* One for each thread; all zero at first. */
struct by_regex_stack {
    struct by_regex_frame *frames;
    size_t count, cap;
    uint64_t steps;
};
void by_regex_stack_release(struct by_regex_stack *stack);

/* The first match at or after `at`; a search at 0 begins a text. The text is valid UTF-8. *found:
 * there is one. */
int by_regex_find(const struct by_regex *regex, struct by_regex_stack *stack, const char *text,
                  size_t size, size_t at, bool *found, size_t *first, size_t *end,
                  struct baryon_error *err);

#endif
