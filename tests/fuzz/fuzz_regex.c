/*
 * A regular expression of a tokenizer and a text, with a zero byte between them: whatever is
 * accepted finds matches in order, on whole characters.
 */
#include "llm/text/regex.h"
#include "llm/text/unicode.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define TEXT_MAX 512

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool is_boundary(const char *text, size_t size, size_t at)
{
    return at == size || ((uint8_t)text[at] & 0xc0) != 0x80;
}

static void find_all(const struct by_regex *regex, const char *text, size_t size)
{
    struct by_regex_stack stack = {0};
    struct baryon_error err = {0};
    bool found = true;
    for (size_t at = 0, first, end; found && at <= size; at = end > at ? end : at + 1) {
        if (by_regex_find(regex, &stack, text, size, at, &found, &first, &end, &err)) {
            demand(err.message[0] != '\0');
            break;
        }
        if (!found)
            break;
        demand(first >= at && end >= first && end <= size);
        demand(is_boundary(text, size, first) && is_boundary(text, size, end));
    }
    by_regex_stack_release(&stack);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *zero = size ? memchr(bytes, 0, size) : NULL;
    const size_t length = zero ? (size_t)(zero - bytes) : size;
    const size_t rest = zero ? size - length - 1 : 0;
    struct by_arena arena;
    struct by_str text = {0};
    struct by_regex regex;
    struct baryon_error err = {0};
    by_arena_init(&arena, 0);
    if (zero)
        by_utf8_repair(&text, (const char *)zero + 1, rest < TEXT_MAX ? rest : TEXT_MAX);
    char *pattern = by_arena_text(&arena, (const char *)bytes, length, NULL);
    if (pattern && by_utf8_valid(pattern, length)) {
        if (by_regex_parse(&regex, &arena, pattern, &err) == 0)
            find_all(&regex, by_str_text(&text), text.size);
        else
            demand(by_utf8_valid(err.message, strlen(err.message)));
    }
    by_str_release(&text);
    by_arena_release(&arena);
    return 0;
}
