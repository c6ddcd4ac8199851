/* The BPE model of a tokenizer.json. */
#include "llm/text/tokenize_internal.h"

#include "base/hash.h"
#include "llm/family/family.h"

#include <inttypes.h>
#include <string.h>

static int64_t find_token(const struct by_bpe *bpe, const char *text, size_t size)
{
    return (int64_t)(uintptr_t)by_map_get_bytes(&bpe->ids, text, size) - 1;
}

static int read_vocab(struct by_bpe *bpe, struct by_arena *arena, const struct by_doc_node *vocab,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!vocab || vocab->kind != BY_DOC_MAP)
        return by_fail(err, BARYON_ERR_INPUT, "model.vocab is missing, must be a map of tokens");
    for (size_t i = 0; i < vocab->count; i++) {
        const struct by_doc_pair *pair = &vocab->pairs[i];
        const size_t size = strlen(pair->key);
        int64_t id = -1;
        if (pair->value->kind != BY_DOC_SCALAR || pair->value->quoted ||
            !by_parse_i64(pair->value->text, &id) || id < 0 || id > INT32_MAX)
            return by_fail(err, BARYON_ERR_INPUT,
                           "model.vocab: %s has no id, must be a whole number of at least 0",
                           by_quote(quoted, pair->key));
        char *key = by_arena_text(arena, pair->key, size, err);
        if (!key || by_map_put_bytes(&bpe->ids, key, size, (void *)(uintptr_t)(id + 1), err))
            return -1;
        if (id >= bpe->count)
            bpe->count = (uint32_t)id + 1;
    }
    return 0;
}

static void find_bytes(struct by_bpe *bpe)
{
    static const char digits[] = "0123456789ABCDEF";
    for (unsigned byte = 0; byte < 256; byte++) {
        const char text[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
        bpe->bytes[byte] = find_token(bpe, text, sizeof text);
    }
}

/* The two parts of a merge: "a b", or a list of both. */
static bool take_parts(const struct by_doc_node *merge, const char **parts, size_t *sizes)
{
    if (merge->kind == BY_DOC_LIST) {
        for (size_t i = 0; i < 2; i++) {
            if (merge->count != 2 || merge->items[i]->kind != BY_DOC_SCALAR)
                return false;
            parts[i] = merge->items[i]->text;
            sizes[i] = strlen(parts[i]);
        }
        return true;
    }
    const char *blank = merge->kind == BY_DOC_SCALAR ? strchr(merge->text, ' ') : NULL;
    if (!blank || strchr(blank + 1, ' '))
        return false;
    parts[0] = merge->text;
    sizes[0] = (size_t)(blank - merge->text);
    parts[1] = blank + 1;
    sizes[1] = strlen(blank + 1);
    return true;
}

static void put_merge(struct by_bpe *bpe, struct by_bpe_merge merge)
{
    for (size_t slot = by_hash(&merge.pair, sizeof merge.pair, 0);; slot++) {
        struct by_bpe_merge *place = &bpe->merges[slot & (bpe->slots - 1)];
        if (!place->used || place->pair == merge.pair) {
            *place = merge;
            return;
        }
    }
}

/* The token that both parts together are. */
static int64_t find_joined(const struct by_bpe *bpe, const char *const *parts, const size_t *sizes,
                           struct by_str *joined)
{
    by_str_clear(joined);
    by_str_add(joined, parts[0], sizes[0]);
    by_str_add(joined, parts[1], sizes[1]);
    return find_token(bpe, by_str_text(joined), joined->size);
}

static int read_merge(struct by_bpe *bpe, const struct by_doc_node *node, uint32_t rank,
                      struct by_str *joined, struct baryon_error *err)
{
    const char *parts[2];
    size_t sizes[2];
    if (!take_parts(node, parts, sizes))
        return by_fail(err, BARYON_ERR_INPUT, "must be two texts");
    int64_t left = find_token(bpe, parts[0], sizes[0]), right = find_token(bpe, parts[1], sizes[1]);
    int64_t id = find_joined(bpe, parts, sizes, joined);
    if (left < 0 || right < 0 || id < 0)
        return by_fail(err, BARYON_ERR_INPUT,
                       "both parts, and what they become, must be in model.vocab");
    put_merge(bpe, (struct by_bpe_merge){(uint64_t)left << 32 | (uint64_t)right, rank, (uint32_t)id,
                                         true});
    return 0;
}

static int read_merges(struct by_bpe *bpe, const struct by_doc_node *merges,
                       struct baryon_error *err)
{
    struct by_str joined = {0};
    int status = 0;
    if (!merges || merges->kind != BY_DOC_LIST || merges->count >= UINT32_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "model.merges is missing, must be a list");
    for (bpe->slots = 16; bpe->slots < 2 * merges->count;)
        bpe->slots *= 2;
    bpe->merges = by_alloc_zero(bpe->slots, sizeof *bpe->merges, err);
    if (!bpe->merges)
        return -1;
    for (size_t i = 0; i < merges->count && !status; i++)
        if (read_merge(bpe, merges->items[i], (uint32_t)i, &joined, err))
            status = by_err_in(err, "model.merges[%zu]", i);
    by_str_release(&joined);
    return status;
}

/* Options of the model that change ids and are not known here. */
static int refuse_others(const struct by_doc_node *model, struct baryon_error *err)
{
    static const char *const names[] = {"continuing_subword_prefix", "end_of_word_suffix",
                                        "dropout"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct by_doc_node *node = by_doc_get(model, names[i]);
        if (node && node->kind == BY_DOC_SCALAR && *node->text && strcmp(node->text, "0.0") != 0)
            return by_fail(err, BARYON_ERR_UNSUPPORTED, "model.%s, must be null", names[i]);
    }
    return 0;
}

int by_bpe_read(struct by_bpe *bpe, struct by_arena *arena, const struct by_doc_node *model,
                struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *type = by_hf_string(model, "type");
    const char *unknown = by_hf_string(model, "unk_token");
    by_map_init(&bpe->ids);
    if (type && strcmp(type, "BPE") != 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "model.type is %s, must be BPE",
                       by_quote(quoted, type));
    if (refuse_others(model, err) || read_vocab(bpe, arena, by_doc_get(model, "vocab"), err))
        return -1;
    by_hf_bool(model, "byte_fallback", &bpe->byte_fallback);
    by_hf_bool(model, "fuse_unk", &bpe->fuses_unknown);
    by_hf_bool(model, "ignore_merges", &bpe->ignores_merges);
    bpe->unknown = unknown ? find_token(bpe, unknown, strlen(unknown)) : -1;
    find_bytes(bpe);
    return read_merges(bpe, by_doc_get(model, "merges"), err);
}

void by_bpe_release(struct by_bpe *bpe)
{
    by_map_release(&bpe->ids);
    by_free(bpe->merges);
}
