/* The merges of a BPE that keeps scores of pieces only. */
#include "llm/family/tokenizer_out.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Characters, of which UTF-8 has one to four bytes. */
static uint32_t count_characters(const char *bytes, size_t size)
{
    uint32_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((uint8_t)bytes[i] & 0xc0) != 0x80;
    return count;
}

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* The order of transformers: the best score first, then the longer parts, then by ids. */
static int compare_merges(const void *left, const void *right)
{
    const struct by_merge *a = left, *b = right;
    if (a->score > b->score || a->score < b->score)
        return a->score > b->score ? -1 : 1;
    if (a->left_size != b->left_size)
        return compare_u32(b->left_size, a->left_size);
    if (a->right_size != b->right_size)
        return compare_u32(b->right_size, a->right_size);
    if (a->id != b->id)
        return compare_u32(a->id, b->id);
    return a->left != b->left ? compare_u32(a->left, b->left) : compare_u32(a->right, b->right);
}

static int add_merge(struct by_tokens_out *out, struct by_merge merge, struct baryon_error *err)
{
    struct by_list any = {out->merges, out->merge_count, out->merge_cap};
    if (by_list_reserve(&out->arena, &any, 1, sizeof merge, err))
        return -1;
    out->merges = any.at;
    out->merge_cap = any.cap;
    out->merges[out->merge_count++] = merge;
    return 0;
}

/* Every cut of a token into two tokens is a merge. */
static int cut_token(struct by_tokens_out *out, size_t id, struct baryon_error *err)
{
    const struct by_meta_text *token = &out->tokens[id];
    uint32_t code;
    for (size_t at = 0, length; at < token->size; at += length) {
        length = by_utf8_next((const uint8_t *)token->bytes + at, token->size - at, &code);
        if (!length)
            return 0;
        if (!at)
            continue;
        uintptr_t left = (uintptr_t)by_map_get_bytes(&out->ids, token->bytes, at);
        uintptr_t right =
            (uintptr_t)by_map_get_bytes(&out->ids, token->bytes + at, token->size - at);
        if (!left || !right)
            continue;
        struct by_merge merge = {
            .score = out->scores[id],
            .id = (uint32_t)id,
            .left = (uint32_t)left - 1,
            .right = (uint32_t)right - 1,
            .left_size = count_characters(token->bytes, at),
            .right_size = count_characters(token->bytes + at, token->size - at),
        };
        if (add_merge(out, merge, err))
            return -1;
    }
    return 0;
}

int by_merges_of_scores(struct by_tokens_out *out, struct baryon_error *err)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->kinds[i] == BY_TOKEN_NORMAL && cut_token(out, i, err))
            return -1;
    if (out->merge_count)
        qsort(out->merges, out->merge_count, sizeof *out->merges, compare_merges);
    return 0;
}
