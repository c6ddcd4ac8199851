/* Added tokens: texts that are one token wherever they stand. */
#include "llm/text/tokenize_internal.h"
#include "llm/text/unicode.h"

#include "base/utf8.h"
#include "llm/family/family.h"

#include <stdlib.h>
#include <string.h>

static int compare_tokens(const void *left, const void *right)
{
    const struct by_added_token *a = left, *b = right;
    uint8_t first = (uint8_t)*a->text, other = (uint8_t)*b->text;
    if (first != other)
        return first < other ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    int order = memcmp(a->text, b->text, a->size);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static void index_set(struct by_added_set *set)
{
    size_t at = 0;
    if (set->count)
        qsort(set->tokens, set->count, sizeof *set->tokens, compare_tokens);
    for (unsigned byte = 0; byte <= 256; byte++) {
        while (at < set->count && (uint8_t)*set->tokens[at].text < byte)
            at++;
        set->first[byte] = at;
    }
}

static int read_token(struct by_added_token *token, struct by_arena *arena,
                      const struct by_doc_node *node, const struct by_normal_step *normalizer,
                      struct by_tokenize_work *work, struct baryon_error *err)
{
    const char *text = by_hf_string(node, "content");
    struct by_str normal = {0};
    bool special = false;
    int64_t id = -1;
    by_hf_int(node, "id", &id);
    by_hf_bool(node, "special", &special);
    token->normalized = !special;
    by_hf_bool(node, "normalized", &token->normalized);
    by_hf_bool(node, "single_word", &token->whole_word);
    by_hf_bool(node, "lstrip", &token->strips_left);
    by_hf_bool(node, "rstrip", &token->strips_right);
    if (!text || id < 0 || id > INT32_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "must have a content and an id of at least 0");
    int status = 0;
    if (token->normalized)
        status = by_normalize(normalizer, work, text, strlen(text), &normal);
    else
        by_str_puts(&normal, text);
    if (!status)
        status = by_str_error(&normal, err);
    token->id = (uint32_t)id;
    token->size = normal.size;
    token->text = status ? NULL : by_arena_text(arena, by_str_text(&normal), normal.size, err);
    by_str_release(&normal);
    return token->text ? 0 : -1;
}

int by_added_read(struct by_added *added, struct by_arena *arena, const struct by_doc_node *list,
                  const struct by_normal_step *normalizer, struct by_tokenize_work *work,
                  uint32_t *count, struct baryon_error *err)
{
    const size_t all = list && list->kind == BY_DOC_LIST ? list->count : 0;
    struct by_added_set *sets[] = {&added->raw, &added->normalized};
    for (size_t i = 0; i < 2; i++)
        if (!(sets[i]->tokens = by_arena_alloc(arena, all, sizeof *sets[i]->tokens, err)))
            return -1;
    for (size_t i = 0; i < all; i++) {
        struct by_added_token token = {0};
        if (read_token(&token, arena, list->items[i], normalizer, work, err))
            return by_err_in(err, "added_tokens[%zu]", i);
        struct by_added_set *set = sets[token.normalized];
        if (token.size)
            set->tokens[set->count++] = token;
        if (token.id >= *count)
            *count = token.id + 1;
    }
    index_set(&added->raw);
    index_set(&added->normalized);
    return 0;
}

static bool is_word(uint32_t code)
{
    return by_word_mask() >> by_category_of(code) & 1;
}

/* The code point that ends before `at`. */
static uint32_t code_before(const char *text, size_t at)
{
    uint32_t code = 0;
    size_t first = at - 1;
    while (first && ((uint8_t)text[first] & 0xc0) == 0x80)
        first--;
    by_utf8_next((const uint8_t *)text + first, at - first, &code);
    return code;
}

static uint32_t code_at(const char *text, size_t size, size_t at)
{
    uint32_t code = 0;
    by_utf8_next((const uint8_t *)text + at, size - at, &code);
    return code;
}

static bool stands_alone(const char *text, size_t size, size_t first, size_t end)
{
    return !(first && is_word(code_before(text, first))) &&
           !(end < size && is_word(code_at(text, size, end)));
}

static const struct by_added_token *token_at(const struct by_added_set *set, const char *text,
                                             size_t size, size_t at)
{
    const uint8_t byte = (uint8_t)text[at];
    for (size_t i = set->first[byte]; i < set->first[byte + 1]; i++) {
        const struct by_added_token *token = &set->tokens[i];
        if (token->size <= size - at && !memcmp(text + at, token->text, token->size))
            return token;
    }
    return NULL;
}

const struct by_added_token *by_added_find(const struct by_added_set *set, const char *text,
                                           size_t size, size_t at, size_t *first, size_t *end)
{
    for (size_t from = at; set->count && from < size; from++) {
        const struct by_added_token *token = token_at(set, text, size, from);
        if (!token)
            continue;
        *first = from;
        *end = from + token->size;
        if (token->whole_word && !stands_alone(text, size, *first, *end)) {
            from = *end - 1; /* what it would have taken is passed over, as tokenizers does */
            continue;
        }
        while (token->strips_left && *first > at && by_is_white(code_before(text, *first)))
            do
                --*first;
            while (((uint8_t)text[*first] & 0xc0) == 0x80);
        while (token->strips_right && *end < size && by_is_white(code_at(text, size, *end)))
            do
                ++*end;
            while (*end < size && ((uint8_t)text[*end] & 0xc0) == 0x80);
        return token;
    }
    return NULL;
}
