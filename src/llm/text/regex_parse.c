/* Parsing a regular expression into a program. Jumps are relative, so that a part can move. */
#include "llm/text/regex.h"

#include "base/utf8.h"
#include "llm/text/unicode.h"

#include <inttypes.h>
#include <string.h>

#define PATTERN_MAX 65536 /* bytes */
#define OPS_MAX     20000
#define DEPTH_MAX   32
#define TIMES_MAX   1000

struct parser {
    struct by_regex *regex;
    struct by_arena *arena;
    const char *pattern, *at;
    bool folds;
    unsigned depth;
    struct baryon_error *err;
};

static int refuse(struct parser *p, const char *what)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(p->err, BARYON_ERR_UNSUPPORTED, "the regular expression %s has %s at byte %zu",
                   by_quote(quoted, p->pattern), what, (size_t)(p->at - p->pattern));
}

/* --- The program --- */

static int emit_at(struct parser *p, size_t place, struct by_regex_op op)
{
    struct by_regex *regex = p->regex;
    struct by_list list = {regex->ops, regex->count, regex->cap};
    if (regex->count >= OPS_MAX)
        return refuse(p, "too many parts");
    if (by_list_reserve(p->arena, &list, 1, sizeof op, p->err))
        return -1;
    regex->ops = list.at;
    regex->cap = list.cap;
    memmove(regex->ops + place + 1, regex->ops + place, (regex->count - place) * sizeof op);
    regex->ops[place] = op;
    regex->count++;
    return 0;
}

static int emit(struct parser *p, struct by_regex_op op)
{
    return emit_at(p, p->regex->count, op);
}

/* Again what stands between two places. */
static int emit_copy(struct parser *p, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (emit(p, p->regex->ops[i]))
            return -1;
    return 0;
}

/* Code points that a program takes at least. */
static size_t least_length(const struct by_regex_op *op, const struct by_regex_op *end)
{
    size_t sum = 0;
    while (op < end) {
        if (op->kind == BY_REGEX_SPLIT) {
            /* What stands after either way is counted once, as nothing: this is a bound. */
            const struct by_regex_op *other = op + (op->a > op->b ? op->a : op->b);
            size_t one = least_length(op + 1, other < end ? other : end);
            bool joins = other > op + 1 && other[-1].kind == BY_REGEX_JUMP && other[-1].a > 0;
            const struct by_regex_op *after = joins ? other - 1 + other[-1].a : other;
            size_t two = joins && other < end ? least_length(other, after < end ? after : end) : 0;
            sum += one < two ? one : two;
            op = after;
        } else if (op->kind == BY_REGEX_JUMP) {
            op = op->a > 0 ? op + op->a : op + 1;
        } else if (op->kind == BY_REGEX_AHEAD || op->kind == BY_REGEX_NOT_AHEAD) {
            op += op->a;
        } else {
            sum += op->kind == BY_REGEX_CHAR || op->kind == BY_REGEX_SET    ? 1
                   : op->kind == BY_REGEX_LOOP || op->kind == BY_REGEX_HOLD ? (size_t)op->b
                                                                            : 0;
            op++;
        }
    }
    return sum;
}

/* --- Sets --- */

static int add_range(struct parser *p, struct by_regex_set *set, uint32_t first, uint32_t last)
{
    struct by_list list = {set->ranges, set->count, set->cap};
    if (by_list_reserve(p->arena, &list, 1, sizeof *set->ranges, p->err))
        return -1;
    set->ranges = list.at;
    set->cap = list.cap;
    set->ranges[set->count++] = (struct by_regex_range){first, last};
    return 0;
}

static int emit_set(struct parser *p, const struct by_regex_set *set)
{
    struct by_regex *regex = p->regex;
    struct by_list list = {regex->sets, regex->set_count, regex->set_cap};
    if (by_list_reserve(p->arena, &list, 1, sizeof *set, p->err))
        return -1;
    regex->sets = list.at;
    regex->set_cap = list.cap;
    struct by_regex_set *own = &regex->sets[regex->set_count];
    *own = *set;
    for (uint32_t code = 0; code < 128; code++)
        own->ascii[code] = by_regex_set_has(set, code);
    return emit(p, (struct by_regex_op){.kind = BY_REGEX_SET, .a = (int32_t)regex->set_count++});
}

static int take_code(struct parser *p, uint32_t *code)
{
    size_t length = by_utf8_next((const uint8_t *)p->at, strlen(p->at), code);
    if (!length)
        return refuse(p, "bytes that are not UTF-8");
    p->at += length;
    return 0;
}

/* Digits in base 16, in braces or so many of them. */
static int take_hex(struct parser *p, size_t digits, uint32_t *code)
{
    bool braces = *p->at == '{';
    size_t count = 0;
    *code = 0;
    for (p->at += braces; count < (braces ? 8 : digits); p->at++, count++) {
        const char *digit = *p->at ? strchr("0123456789abcdef", *p->at | 0x20) : NULL;
        if (!digit)
            break;
        *code = *code << 4 | (uint32_t)(strchr("0123456789abcdef", *digit) - "0123456789abcdef");
    }
    if (!count || (braces && *p->at++ != '}') || *code > 0x10ffff)
        return refuse(p, "a number of a code point that is not one");
    return 0;
}

/* All that are not of these categories; two such together leave out what is in both. */
static void add_others(struct by_regex_set *set, uint32_t categories)
{
    set->not_categories = set->not_categories ? set->not_categories & categories : categories;
    if (!set->not_categories) /* nothing is: the set is everything */
        set->white = set->not_white = true;
}

/* \p{L}, \P{L}, \p{^L} after the letter. */
static int take_property(struct parser *p, struct by_regex_set *set, bool negated)
{
    const char *close = *p->at == '{' ? strchr(p->at, '}') : NULL;
    const char *name = p->at + 1;
    if (close && *name == '^') {
        negated = !negated;
        name++;
    }
    uint32_t mask = close ? by_category_mask(name, (size_t)(close - name)) : 0;
    if (!mask)
        return refuse(p, "a property other than a general category");
    if (negated)
        add_others(set, mask);
    else
        set->categories |= mask;
    p->at = close + 1;
    return 0;
}

/* What stands after a backslash: a class into the set, or one code point. */
static int take_escape(struct parser *p, struct by_regex_set *set, bool *single, uint32_t *code)
{
    static const char from[] = "nrtfvae0", to[] = "\n\r\t\f\v\a\x1b";
    char letter = *p->at++;
    const char *plain = letter ? strchr(from, letter) : NULL;
    *single = false;
    switch (letter) {
    case 's':
        set->white = true;
        return 0;
    case 'S':
        set->not_white = true;
        return 0;
    case 'd':
        set->categories |= 1u << BY_ND;
        return 0;
    case 'D':
        add_others(set, 1u << BY_ND);
        return 0;
    case 'w':
        set->categories |= by_word_mask();
        return 0;
    case 'p':
    case 'P':
        return take_property(p, set, letter == 'P');
    default:
        break;
    }
    *single = true;
    if (letter == 'x' || letter == 'u')
        return take_hex(p, letter == 'x' ? 2 : 4, code);
    if (plain) {
        *code = (uint8_t)to[plain - from];
        return 0;
    }
    p->at--;
    if (!letter || (letter >= '0' && letter <= '9') ||
        ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z')) {
        p->at--;
        return refuse(p, "an escape that tokenizers are not known to use");
    }
    return take_code(p, code);
}

static int take_class_item(struct parser *p, struct by_regex_set *set)
{
    uint32_t first, last;
    bool single = true;
    if (*p->at == '[' || (p->at[0] == '&' && p->at[1] == '&'))
        return refuse(p, "a class within a class");
    if (*p->at == '\\') {
        p->at++;
        if (take_escape(p, set, &single, &first))
            return -1;
        if (!single)
            return 0;
    } else if (take_code(p, &first)) {
        return -1;
    }
    last = first;
    if (p->at[0] == '-' && p->at[1] && p->at[1] != ']') {
        struct by_regex_set none = {0};
        p->at++;
        if (*p->at == '\\' ? (p->at++, take_escape(p, &none, &single, &last)) : take_code(p, &last))
            return -1;
        if (!single || last < first)
            return refuse(p, "a range that is none");
    }
    if (p->folds && first < 0x80) /* both cases */
        for (uint32_t code = first; code <= last && code < 0x80; code++)
            if (((code | 0x20) >= 'a' && (code | 0x20) <= 'z') &&
                add_range(p, set, code ^ 0x20, code ^ 0x20))
                return -1;
    return add_range(p, set, first, last);
}

static int take_class(struct parser *p)
{
    struct by_regex_set set = {0};
    set.negated = *p->at == '^';
    p->at += set.negated;
    for (bool begins = true; begins || *p->at != ']'; begins = false) {
        if (!*p->at)
            return refuse(p, "a class without an end");
        if (take_class_item(p, &set))
            return -1;
    }
    p->at++;
    return emit_set(p, &set);
}

/* --- Parts --- */

static int take_alternatives(struct parser *p);

/* What stands in a group, with the kind of group around it; NULL: none. */
static int take_group(struct parser *p)
{
    const bool folds = p->folds;
    size_t place = p->regex->count;
    int kind = -1;
    if (*p->at == '?') {
        p->at++;
        if (*p->at == '=' || *p->at == '!' || *p->at == '>') {
            kind = *p->at == '='   ? BY_REGEX_AHEAD
                   : *p->at == '!' ? BY_REGEX_NOT_AHEAD
                                   : BY_REGEX_ATOMIC;
        } else if (!strncmp(p->at, "i:", 2)) {
            p->folds = true;
            p->at++;
        } else if (*p->at != ':') {
            return refuse(p, "a kind of group that tokenizers are not known to use");
        }
        p->at++;
    }
    if (kind >= 0 && emit(p, (struct by_regex_op){.kind = (enum by_regex_kind)kind}))
        return -1;
    if (take_alternatives(p))
        return -1;
    if (*p->at != ')')
        return refuse(p, "a group without an end");
    p->at++;
    p->folds = folds;
    if (kind < 0)
        return 0;
    if (emit(p, (struct by_regex_op){.kind = BY_REGEX_END}))
        return -1;
    p->regex->ops[place].a = (int32_t)(p->regex->count - place);
    return 0;
}

static int take_atom(struct parser *p)
{
    struct by_regex_set set = {0};
    uint32_t code;
    bool single = true;
    switch (*p->at) {
    case '(':
        p->at++;
        return take_group(p);
    case '[':
        p->at++;
        return take_class(p);
    case '.':
        p->at++;
        set.negated = true;
        return add_range(p, &set, '\n', '\n') ? -1 : emit_set(p, &set);
    case '^':
    case '$':
        return emit(p, (struct by_regex_op){.kind = *p->at++ == '^' ? BY_REGEX_LINE_FIRST
                                                                    : BY_REGEX_LINE_LAST});
    case '*':
    case '+':
    case '?':
        return refuse(p, "a quantifier of nothing");
    case '\\':
        p->at++;
        if (take_escape(p, &set, &single, &code))
            return -1;
        if (!single)
            return emit_set(p, &set);
        break;
    default:
        if (take_code(p, &code))
            return -1;
    }
    if (p->folds && code < 0x80 && (code | 0x20) >= 'a' && (code | 0x20) <= 'z')
        code |= 0x20;
    return emit(p,
                (struct by_regex_op){.kind = BY_REGEX_CHAR, .folds = p->folds, .a = (int32_t)code});
}

/* --- Quantifiers --- */

struct times {
    int32_t least, most;
    bool lazy, holds, fixed; /* fixed: {n} */
};

static bool take_number(struct parser *p, int32_t *number)
{
    const char *begin = p->at;
    for (*number = 0; *p->at >= '0' && *p->at <= '9' && *number <= TIMES_MAX; p->at++)
        *number = *number * 10 + (*p->at - '0');
    return p->at > begin;
}

/* {2}, {2,}, {,3}, {2,3}; without digits it is a text. */
static int take_braces(struct parser *p, struct times *times, bool *found)
{
    const char *begin = p->at++;
    bool has_least = take_number(p, &times->least), has_most = has_least;
    times->most = times->least;
    times->fixed = *p->at != ',';
    if (!times->fixed) {
        p->at++;
        has_most = take_number(p, &times->most);
        if (!has_most)
            times->most = BY_REGEX_FOREVER;
    }
    *found = (has_least || has_most) && *p->at == '}';
    if (!*found) {
        p->at = begin;
        return 0;
    }
    p->at++;
    if (times->least > TIMES_MAX || (has_most && times->most > TIMES_MAX) ||
        times->most < times->least)
        return refuse(p, "a number of times that is out of range");
    return 0;
}

static int take_times(struct parser *p, struct times *times, bool *found)
{
    bool braces = false;
    *times = (struct times){1, 1, false, false, false};
    *found = true;
    switch (*p->at) {
    case '*':
        times->least = 0;
        times->most = BY_REGEX_FOREVER;
        p->at++;
        break;
    case '+':
        times->most = BY_REGEX_FOREVER;
        p->at++;
        break;
    case '?':
        times->least = 0;
        p->at++;
        break;
    case '{':
        braces = true;
        if (take_braces(p, times, found))
            return -1;
        break;
    default:
        *found = false;
    }
    if (*found && *p->at == '?' && !times->fixed) { /* a{2}? is (a{2})? */
        times->lazy = true;
        p->at++;
    } else if (*found && *p->at == '+' && !braces) { /* a{2}+ is (a{2})+ */
        times->holds = true;
        p->at++;
    }
    return 0;
}

/* SPLIT around what stands from `place` on, which may be left out. */
static int may_skip(struct parser *p, size_t place, bool lazy)
{
    int32_t size = (int32_t)(p->regex->count - place) + 1;
    struct by_regex_op op = {.kind = BY_REGEX_SPLIT, .a = lazy ? size : 1, .b = lazy ? 1 : size};
    return emit_at(p, place, op);
}

/* What stands from `place` on any number of times. */
static int repeat_forever(struct parser *p, size_t place, bool lazy)
{
    int32_t size = (int32_t)(p->regex->count - place);
    if (emit(p, (struct by_regex_op){.kind = BY_REGEX_JUMP, .a = -size - 1}))
        return -1;
    return may_skip(p, place, lazy);
}

static int repeat_part(struct parser *p, size_t place, const struct times *times)
{
    const size_t size = p->regex->count - place;
    if (!least_length(p->regex->ops + place, p->regex->ops + p->regex->count) && times->most > 1)
        return refuse(p, "a quantifier of what may be empty");
    if (!times->most) {
        p->regex->count = place;
        return 0;
    }
    for (int32_t i = 1; i < times->least; i++)
        if (emit_copy(p, place, place + size))
            return -1;
    size_t last = p->regex->count;
    if (times->most == BY_REGEX_FOREVER) {
        if (times->least && emit_copy(p, place, place + size))
            return -1;
        return repeat_forever(p, times->least ? last : place, times->lazy);
    }
    if (times->most == times->least)
        return 0;
    /* a{1,3}: a(a(a)?)?; the innermost first. */
    size_t rest = (size_t)(times->most - times->least), from = times->least ? last : place;
    for (size_t i = times->least ? 0 : 1; i < rest; i++)
        if (emit_copy(p, place, place + size))
            return -1;
    for (size_t i = rest; i-- > 0;)
        if (may_skip(p, from + i * size, times->lazy))
            return -1;
    return 0;
}

static int repeat(struct parser *p, size_t place, const struct times *times)
{
    struct by_regex_op *op = &p->regex->ops[place];
    if (p->regex->count - place == 1 && op->kind == BY_REGEX_SET && !times->lazy) {
        op->kind = times->holds ? BY_REGEX_HOLD : BY_REGEX_LOOP;
        op->b = times->least;
        op->c = times->most;
        return 0;
    }
    if (repeat_part(p, place, times))
        return -1;
    if (!times->holds)
        return 0;
    if (emit_at(p, place, (struct by_regex_op){.kind = BY_REGEX_ATOMIC}) ||
        emit(p, (struct by_regex_op){.kind = BY_REGEX_END}))
        return -1;
    p->regex->ops[place].a = (int32_t)(p->regex->count - place);
    return 0;
}

static int take_sequence(struct parser *p)
{
    while (*p->at && *p->at != '|' && *p->at != ')') {
        size_t place = p->regex->count;
        struct times times;
        bool found;
        if (take_atom(p))
            return -1;
        do {
            if (take_times(p, &times, &found) ||
                (found && p->regex->count > place && repeat(p, place, &times)))
                return -1;
        } while (found);
    }
    return 0;
}

static int take_alternatives(struct parser *p)
{
    size_t place = p->regex->count;
    if (++p->depth > DEPTH_MAX)
        return refuse(p, "groups that are too deep");
    if (take_sequence(p))
        return -1;
    if (*p->at == '|') {
        /* The others are one part after this one. */
        p->at++;
        if (may_skip(p, place, false))
            return -1;
        size_t jump = p->regex->count;
        if (emit(p, (struct by_regex_op){.kind = BY_REGEX_JUMP}))
            return -1;
        p->regex->ops[place].b = (int32_t)(p->regex->count - place);
        p->depth--;
        if (take_alternatives(p))
            return -1;
        p->depth++;
        p->regex->ops[jump].a = (int32_t)(p->regex->count - jump);
    }
    p->depth--;
    return 0;
}

int by_regex_parse(struct by_regex *regex, struct by_arena *arena, const char *pattern,
                   struct baryon_error *err)
{
    struct parser parser = {
        .regex = regex, .arena = arena, .pattern = pattern, .at = pattern, .err = err};
    *regex = (struct by_regex){0};
    if (strlen(pattern) > PATTERN_MAX)
        return refuse(&parser, "too many bytes");
    if (take_alternatives(&parser))
        return -1;
    if (*parser.at)
        return refuse(&parser, "a bracket that nothing opened");
    return emit(&parser, (struct by_regex_op){.kind = BY_REGEX_END});
}
