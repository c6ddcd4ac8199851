/* Byte-pair encoding of one word: the pair that was learned first becomes one token, and again. */
#include "llm/text/tokenize_internal.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <string.h>

#define NOWHERE UINT32_MAX

/* Symbols are a list by places; a symbol that was joined with the one before it has no bytes. */
struct by_bpe_symbol {
    uint32_t id, before, after, size;
};

struct by_bpe_pair {
    uint32_t rank, at; /* place of the left symbol */
    uint32_t left, right, id;
};

void by_token_ids_release(struct by_token_ids *ids)
{
    by_free(ids->ids);
    *ids = (struct by_token_ids){0};
}

int by_token_ids_add(struct by_token_ids *ids, uint32_t id, struct baryon_error *err)
{
    if (ids->count == ids->cap) {
        size_t cap = ids->cap ? 2 * ids->cap : 256;
        uint32_t *grown = by_realloc(ids->ids, cap, sizeof *grown, err);
        if (!grown)
            return -1;
        ids->ids = grown;
        ids->cap = cap;
    }
    ids->ids[ids->count++] = id;
    return 0;
}

void by_tokenize_work_release(struct by_tokenize_work *work)
{
    by_regex_stack_release(&work->stack);
    by_free(work->symbols);
    by_free(work->heap);
}

/* --- What stands next to each other --- */

static const struct by_bpe_merge *merge_of(const struct by_bpe *bpe, uint32_t left, uint32_t right)
{
    uint64_t pair = (uint64_t)left << 32 | right;
    if (!bpe->slots)
        return NULL;
    for (size_t slot = by_hash(&pair, sizeof pair, 0);; slot++) {
        const struct by_bpe_merge *merge = &bpe->merges[slot & (bpe->slots - 1)];
        if (!merge->used || merge->pair == pair)
            return merge->used ? merge : NULL;
    }
}

/* --- The heap: the least rank, then the first place --- */

static bool is_before(const struct by_bpe_pair *one, const struct by_bpe_pair *other)
{
    return one->rank != other->rank ? one->rank < other->rank : one->at < other->at;
}

static int push_heap(struct by_tokenize_work *work, struct by_bpe_pair pair)
{
    if (work->heap_count == work->heap_cap) {
        size_t cap = work->heap_cap ? 2 * work->heap_cap : 256;
        struct by_bpe_pair *heap = by_realloc(work->heap, cap, sizeof *heap, work->err);
        if (!heap)
            return -1;
        work->heap = heap;
        work->heap_cap = cap;
    }
    size_t at = work->heap_count++;
    for (; at && is_before(&pair, &work->heap[(at - 1) / 2]); at = (at - 1) / 2)
        work->heap[at] = work->heap[(at - 1) / 2];
    work->heap[at] = pair;
    return 0;
}

static struct by_bpe_pair pop_heap(struct by_tokenize_work *work)
{
    const struct by_bpe_pair top = work->heap[0], last = work->heap[--work->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < work->heap_count; at = child) {
        if (child + 1 < work->heap_count && is_before(&work->heap[child + 1], &work->heap[child]))
            child++;
        if (!is_before(&work->heap[child], &last))
            break;
        work->heap[at] = work->heap[child];
    }
    work->heap[at] = last;
    return top;
}

static int push_pair(const struct by_bpe *bpe, struct by_tokenize_work *work, uint32_t at)
{
    const struct by_bpe_symbol *left = &work->symbols[at];
    if (left->after == NOWHERE)
        return 0;
    const struct by_bpe_symbol *right = &work->symbols[left->after];
    const struct by_bpe_merge *merge = merge_of(bpe, left->id, right->id);
    if (!merge)
        return 0;
    return push_heap(work, (struct by_bpe_pair){merge->rank, at, left->id, right->id, merge->id});
}

/* --- From characters to symbols --- */

static int add_symbol(struct by_tokenize_work *work, size_t *count, uint32_t id)
{
    if (*count == work->symbol_cap) {
        size_t cap = work->symbol_cap ? 2 * work->symbol_cap : 256;
        struct by_bpe_symbol *symbols = by_realloc(work->symbols, cap, sizeof *symbols, work->err);
        if (!symbols)
            return -1;
        work->symbols = symbols;
        work->symbol_cap = cap;
    }
    uint32_t place = (uint32_t)*count;
    work->symbols[place] = (struct by_bpe_symbol){id, place ? place - 1 : NOWHERE, NOWHERE, 1};
    if (place)
        work->symbols[place - 1].after = place;
    ++*count;
    return 0;
}

static bool has_bytes(const struct by_bpe *bpe, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bpe->bytes[(uint8_t)text[i]] < 0)
            return false;
    return bpe->byte_fallback;
}

static int make_symbols(const struct by_bpe *bpe, struct by_tokenize_work *work, const char *word,
                        size_t size, size_t *count)
{
    bool unknown = false;
    uint32_t code;
    *count = 0;
    for (size_t at = 0, length; at < size; at += length) {
        length = by_utf8_next((const uint8_t *)word + at, size - at, &code);
        uintptr_t id = (uintptr_t)by_map_get_bytes(&bpe->ids, word + at, length);
        bool was_unknown = unknown;
        unknown = false;
        if (id) {
            if (add_symbol(work, count, (uint32_t)id - 1))
                return -1;
        } else if (has_bytes(bpe, word + at, length)) {
            for (size_t i = 0; i < length; i++)
                if (add_symbol(work, count, (uint32_t)bpe->bytes[(uint8_t)word[at + i]]))
                    return -1;
        } else if (bpe->unknown >= 0) {
            unknown = true;
            if (!(was_unknown && bpe->fuses_unknown) &&
                add_symbol(work, count, (uint32_t)bpe->unknown))
                return -1;
        }
    }
    return 0;
}

/* --- Joining --- */

static int join(const struct by_bpe *bpe, struct by_tokenize_work *work,
                const struct by_bpe_pair *pair)
{
    struct by_bpe_symbol *left = &work->symbols[pair->at];
    if (!left->size || left->id != pair->left || left->after == NOWHERE ||
        work->symbols[left->after].id != pair->right)
        return 0; /* one of them was joined before */
    struct by_bpe_symbol *right = &work->symbols[left->after];
    left->id = pair->id;
    left->after = right->after;
    right->size = 0;
    if (left->after != NOWHERE)
        work->symbols[left->after].before = pair->at;
    if (left->before != NOWHERE && push_pair(bpe, work, left->before))
        return -1;
    return push_pair(bpe, work, pair->at);
}

int by_bpe_word(const struct by_bpe *bpe, struct by_tokenize_work *work, const char *word,
                size_t size)
{
    size_t count;
    uintptr_t whole = bpe->ignores_merges ? (uintptr_t)by_map_get_bytes(&bpe->ids, word, size) : 0;
    if (whole)
        return by_token_ids_add(work->ids, (uint32_t)whole - 1, work->err);
    if (size >= NOWHERE)
        return by_fail(work->err, BARYON_ERR_UNSUPPORTED, "a word of more than 4 GB");
    if (make_symbols(bpe, work, word, size, &count))
        return -1;
    work->heap_count = 0;
    for (size_t i = 0; i + 1 < count; i++)
        if (push_pair(bpe, work, (uint32_t)i))
            return -1;
    while (work->heap_count) {
        const struct by_bpe_pair pair = pop_heap(work);
        if (join(bpe, work, &pair))
            return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (work->symbols[i].size && by_token_ids_add(work->ids, work->symbols[i].id, work->err))
            return -1;
    return 0;
}
