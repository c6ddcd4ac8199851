/* Matching a regular expression: a program that backtracks on a stack of its own. */
#include "llm/text/regex.h"

#include "base/utf8.h"
#include "llm/text/unicode.h"

#include <inttypes.h>

/* Steps that a text may take, and more for each byte: known patterns take less than ten a byte. */
#define STEPS_LEAST    1000000
#define STEPS_PER_BYTE 1000

struct by_regex_frame {
    const struct by_regex_op *op; /* where to go on */
    size_t at, least;             /* of a loop: it may give back down to `least` */
};

struct matcher {
    const struct by_regex *regex;
    struct by_regex_stack *stack;
    const char *text;
    size_t size;
    uint64_t steps_most;
    struct baryon_error *err;
};

void by_regex_stack_release(struct by_regex_stack *stack)
{
    by_free(stack->frames);
    *stack = (struct by_regex_stack){0};
}

static bool in_ranges(const struct by_regex_set *set, uint32_t code)
{
    for (size_t i = 0; i < set->count; i++)
        if (code >= set->ranges[i].first && code <= set->ranges[i].last)
            return true;
    return false;
}

bool by_regex_set_has(const struct by_regex_set *set, uint32_t code)
{
    bool has = in_ranges(set, code);
    if (!has && (set->white || set->not_white))
        has = by_is_white(code) ? set->white : set->not_white;
    if (!has && (set->categories || set->not_categories)) {
        uint32_t category = 1u << by_category_of(code);
        has = (set->categories & category) ||
              (set->not_categories && !(set->not_categories & category));
    }
    return has != set->negated;
}

static uint32_t fold(uint32_t code)
{
    if (code >= 'A' && code <= 'Z')
        return code + 'a' - 'A';
    return code == 0x17f ? 's' : code == 0x212a ? 'k' : code;
}

/* Bytes of the code point at `at` that the operation takes; 0: none. */
static size_t takes(const struct matcher *m, const struct by_regex_op *op, size_t at)
{
    uint32_t code;
    if (at == m->size)
        return 0;
    uint8_t byte = (uint8_t)m->text[at];
    if (op->kind != BY_REGEX_CHAR && byte < 0x80)
        return m->regex->sets[op->a].ascii[byte];
    size_t length = by_utf8_next((const uint8_t *)m->text + at, m->size - at, &code);
    if (op->kind == BY_REGEX_CHAR)
        return (op->folds ? fold(code) : code) == (uint32_t)op->a ? length : 0;
    return by_regex_set_has(&m->regex->sets[op->a], code) ? length : 0;
}

static int push_choice(struct matcher *m, const struct by_regex_op *op, size_t at, size_t least)
{
    struct by_regex_stack *stack = m->stack;
    if (stack->count == stack->cap) {
        size_t cap = stack->cap ? 2 * stack->cap : 64;
        struct by_regex_frame *frames = by_realloc(stack->frames, cap, sizeof *frames, m->err);
        if (!frames)
            return -1;
        stack->frames = frames;
        stack->cap = cap;
    }
    stack->frames[stack->count++] = (struct by_regex_frame){op, at, least};
    return 0;
}

/* The newest choice that is left, of those above `bottom`. */
static const struct by_regex_op *back(struct matcher *m, size_t bottom, size_t *at)
{
    struct by_regex_stack *stack = m->stack;
    if (stack->count == bottom)
        return NULL;
    struct by_regex_frame *top = &stack->frames[stack->count - 1];
    if (top->at > top->least) /* a loop gives one code point back */
        do
            top->at--;
        while (((uint8_t)m->text[top->at] & 0xc0) == 0x80);
    *at = top->at;
    if (top->at <= top->least)
        stack->count--;
    return top->op;
}

/* Takes as many as it can; false: too few. */
static int loop(struct matcher *m, const struct by_regex_op *op, size_t *at, bool *matched)
{
    size_t from = *at, least = from, length;
    int32_t times = 0;
    while (times < op->c && (length = takes(m, op, *at)) > 0) {
        *at += length;
        if (++times == op->b)
            least = *at;
    }
    m->stack->steps += (uint64_t)times / 8;
    *matched = times >= op->b;
    if (*matched && op->kind == BY_REGEX_LOOP && *at > least)
        return push_choice(m, op + 1, *at, least);
    return 0;
}

/* 1: it matches from `at` to *end, 0: it does not, -1: an error. */
static int run(struct matcher *m, const struct by_regex_op *op, size_t at, size_t *end)
{
    const size_t bottom = m->stack->count;
    for (;;) {
        bool matched = true;
        size_t length = 0;
        int status;
        if (++m->stack->steps > m->steps_most)
            return by_fail(m->err, BARYON_ERR_UNSUPPORTED,
                           "a regular expression of the tokenizer takes more than %" PRIu64
                           " steps on this text",
                           m->steps_most);
        switch (op->kind) {
        case BY_REGEX_CHAR:
        case BY_REGEX_SET:
            length = takes(m, op, at);
            matched = length > 0;
            at += length;
            op++;
            break;
        case BY_REGEX_LOOP:
        case BY_REGEX_HOLD:
            if (loop(m, op, &at, &matched) < 0)
                return -1;
            op++;
            break;
        case BY_REGEX_SPLIT:
            if (push_choice(m, op + op->b, at, at) < 0)
                return -1;
            op += op->a;
            break;
        case BY_REGEX_JUMP:
            op += op->a;
            break;
        case BY_REGEX_AHEAD:
        case BY_REGEX_NOT_AHEAD:
        case BY_REGEX_ATOMIC:
            if ((status = run(m, op + 1, at, &length)) < 0)
                return -1;
            matched = (status > 0) != (op->kind == BY_REGEX_NOT_AHEAD);
            if (op->kind == BY_REGEX_ATOMIC && matched)
                at = length;
            op += op->a;
            break;
        case BY_REGEX_LINE_FIRST:
            matched = !at || m->text[at - 1] == '\n';
            op++;
            break;
        case BY_REGEX_LINE_LAST:
            matched = at == m->size || m->text[at] == '\n';
            op++;
            break;
        case BY_REGEX_END:
            m->stack->count = bottom;
            *end = at;
            return 1;
        }
        if (!matched && !(op = back(m, bottom, &at)))
            return 0;
    }
}

int by_regex_find(const struct by_regex *regex, struct by_regex_stack *stack, const char *text,
                  size_t size, size_t at, bool *found, size_t *first, size_t *end,
                  struct baryon_error *err)
{
    struct matcher m = {regex, stack, text, size, STEPS_LEAST + STEPS_PER_BYTE * (uint64_t)size,
                        err};
    *found = false;
    stack->count = 0;
    if (!at)
        stack->steps = 0;
    for (size_t from = at; from <= size; from++) {
        if (from < size && ((uint8_t)text[from] & 0xc0) == 0x80)
            continue;
        int status = run(&m, regex->ops, from, end);
        if (status < 0)
            return -1;
        if (status) {
            *found = true;
            *first = from;
            return 0;
        }
    }
    return 0;
}
