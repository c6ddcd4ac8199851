/* Cutting a text into words: each step cuts what the one before it gives. */
#include "llm/text/tokenize_internal.h"
#include "llm/text/unicode.h"

#include "base/utf8.h"

#include <string.h>

struct splitting {
    const struct by_split_step *step;
    struct by_tokenize_work *work;
    const char *text;
    size_t size;
    bool first;
    by_word_fn *word;
    void *context;
    /* The piece that may still grow. */
    size_t begin, end;
    bool waits, is_match;
};

static int pass_on(struct splitting *s, const char *text, size_t size, bool first)
{
    return size ? by_split(s->step->next, s->work, text, size, first, s->word, s->context) : 0;
}

static int flush(struct splitting *s)
{
    bool waits = s->waits;
    s->waits = false;
    return waits ? pass_on(s, s->text + s->begin, s->end - s->begin, s->first && !s->begin) : 0;
}

/* Whether a piece becomes one with the piece before it. */
static bool joins(const struct splitting *s, bool is_match)
{
    switch (s->step->way) {
    case BY_SPLIT_CONTIGUOUS:
        return s->is_match == is_match;
    case BY_SPLIT_WITH_PREVIOUS:
        return is_match && !s->is_match;
    case BY_SPLIT_WITH_NEXT:
        return s->is_match && !is_match;
    default:
        return false;
    }
}

static int add_piece(struct splitting *s, size_t begin, size_t end, bool is_match)
{
    if (begin == end && !is_match)
        return 0;
    is_match = is_match != s->step->invert;
    if (s->waits && joins(s, is_match)) {
        s->end = end;
        s->is_match = is_match;
        return 0;
    }
    if (flush(s))
        return -1;
    if (is_match && s->step->way == BY_SPLIT_REMOVED)
        return 0;
    s->begin = begin;
    s->end = end;
    s->is_match = is_match;
    s->waits = true;
    return 0;
}

static int find_match(const struct splitting *s, size_t at, bool *found, size_t *first, size_t *end)
{
    if (s->step->kind == BY_SPLIT_REGEX || s->step->kind == BY_SPLIT_BYTES)
        return by_regex_find(&s->step->regex, &s->work->stack, s->text, s->size, at, found, first,
                             end, s->work->err);
    const char *match =
        *s->step->text ? memmem(s->text + at, s->size - at, s->step->text, strlen(s->step->text))
                       : NULL;
    *found = match != NULL;
    *first = match ? (size_t)(match - s->text) : 0;
    *end = *first + strlen(s->step->text);
    return 0;
}

static int cut(struct splitting *s)
{
    size_t at = 0, first, end;
    bool found, any = false;
    for (size_t from = 0; from < s->size;) {
        if (find_match(s, from, &found, &first, &end))
            return -1;
        if (!found)
            break;
        if (any && first == end && first == at) { /* not right after a match */
            uint32_t code;
            size_t length = first < s->size ? by_utf8_next((const uint8_t *)s->text + first,
                                                           s->size - first, &code)
                                            : 0;
            from = first + (length ? length : 1);
            continue;
        }
        if (add_piece(s, at, first, false) || add_piece(s, first, end, true))
            return -1;
        from = at = end;
        any = true;
    }
    return add_piece(s, at, s->size, false) ? -1 : flush(s);
}

/* GPT-2's sign for a byte: printable ones of Latin-1 are themselves, the others follow U+0100. */
static uint32_t sign_of(uint8_t byte)
{
    if ((byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae)
        return byte;
    if (byte <= ' ')
        return 0x100u + byte;
    return byte == 0xad ? 0x143 : 0x100u + 33 + byte - 0x7f;
}

/* A word in signs of its bytes. */
static int put_signs(void *context, const char *word, size_t size)
{
    struct splitting *s = context;
    struct by_str signs = {0};
    char bytes[4];
    for (size_t i = 0; i < size; i++)
        by_str_add(&signs, bytes, by_utf8_put(bytes, sign_of((uint8_t)word[i])));
    int status = by_str_error(&signs, s->work->err);
    if (!status)
        status = pass_on(s, signs.text, signs.size, false);
    by_str_release(&signs);
    return status;
}

static int split_bytes(struct splitting *s)
{
    const struct by_split_step cuts = {.kind = BY_SPLIT_REGEX, .regex = s->step->regex};
    struct by_str own = {0};
    if (s->step->prepend == BY_PREPEND_ALWAYS && *s->text != ' ') {
        by_str_puts(&own, " ");
        by_str_add(&own, s->text, s->size);
        s->text = by_str_text(&own);
        s->size = own.size;
    }
    int status = by_str_error(&own, s->work->err);
    if (!status && s->step->splits)
        status = by_split(&cuts, s->work, s->text, s->size, s->first, put_signs, s);
    else if (!status)
        status = put_signs(s, s->text, s->size);
    by_str_release(&own);
    return status;
}

static int split_metaspace(struct splitting *s)
{
    const char *sign = s->step->text;
    const size_t length = strlen(sign);
    struct by_str own = {0};
    bool starts = *s->text == ' ' || (s->size >= length && !memcmp(s->text, sign, length));
    if (!starts && (s->step->prepend == BY_PREPEND_ALWAYS ||
                    (s->step->prepend == BY_PREPEND_FIRST && s->first)))
        by_str_puts(&own, sign);
    for (size_t i = 0; i < s->size; i++)
        if (s->text[i] == ' ')
            by_str_puts(&own, sign);
        else
            by_str_add(&own, s->text + i, 1);
    s->text = by_str_text(&own);
    s->size = own.size;
    int status = by_str_error(&own, s->work->err);
    if (!status)
        status = s->step->splits ? cut(s) : pass_on(s, s->text, s->size, s->first);
    by_str_release(&own);
    return status;
}

int by_split(const struct by_split_step *step, struct by_tokenize_work *work, const char *text,
             size_t size, bool first, by_word_fn *word, void *context)
{
    struct splitting s = {step, work, text, size, first, word, context, 0, 0, false, false};
    if (!size)
        return 0;
    if (!step)
        return word(context, text, size);
    switch (step->kind) {
    case BY_SPLIT_BYTES:
        return split_bytes(&s);
    case BY_SPLIT_METASPACE:
        return split_metaspace(&s);
    default:
        return cut(&s);
    }
}
