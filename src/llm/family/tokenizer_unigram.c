/* Unigram models in tokenizer.json: pieces with scores, and SentencePiece's normalization. */
#include "llm/family/tokenizer_in.h"

#include <string.h>

/* --- Pieces --- */

static int put_piece(struct by_token_reader *reader, const struct by_doc_node *piece, size_t id,
                     int64_t unknown, struct baryon_error *err)
{
    double score;
    if (piece->kind != BY_DOC_LIST || piece->count != 2 || !piece->items[0]->quoted ||
        piece->items[1]->kind != BY_DOC_SCALAR || !by_parse_double(piece->items[1]->text, &score))
        return by_fail(err, BARYON_ERR_INPUT, "model.vocab[%zu] must be a text and a score", id);
    return by_token_put(reader, (int64_t)id, piece->items[0]->text,
                        (int64_t)id == unknown ? BY_TOKEN_UNKNOWN : BY_TOKEN_NORMAL, (float)score,
                        "model.vocab", err);
}

/* --- Normalization --- */

static int digit_of(char letter)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = letter ? strchr(digits, letter) : NULL;
    return at ? (int)(at - digits) : -1;
}

static int decode_charsmap(struct by_arena *arena, const char *text, struct by_piece_spec *spec,
                           struct baryon_error *err)
{
    const size_t size = strcspn(text, "=");
    uint8_t *bytes = by_arena_alloc(arena, size * 3 / 4 + 1, 1, err);
    uint32_t word = 0;
    if (!bytes)
        return -1;
    for (size_t i = 0; i < size; i++) {
        const int digit = digit_of(text[i]);
        if (digit < 0 || size % 4 == 1)
            return by_fail(err, BARYON_ERR_INPUT, "precompiled_charsmap must be base64");
        word = word << 6 | (uint32_t)digit;
        if (i % 4)
            bytes[spec->charsmap_size++] = (uint8_t)(word >> (6 - 2 * (i % 4)));
    }
    spec->charsmap = bytes;
    return 0;
}

static bool is_type(const struct by_doc_node *node, const char *type)
{
    const char *found = by_hf_string(node, "type");
    return found && !strcmp(found, type);
}

/* Blanks in a row become one: a rule of its own, or a part of Strip and the like. */
static bool squeezes(const struct by_doc_node *node)
{
    const char *regex = by_hf_string(by_doc_get(node, "pattern"), "Regex");
    return is_type(node, "Replace") && regex && !strcmp(regex, " {2,}");
}

static int read_normalizer(struct by_token_reader *reader, const struct by_doc_node *node,
                           struct by_piece_spec *spec, struct baryon_error *err)
{
    const struct by_doc_node *list = by_doc_get(node, "normalizers");
    const char *map = by_hf_string(node, "precompiled_charsmap");
    spec->squeeze = spec->squeeze || squeezes(node);
    if (is_type(node, "Precompiled") && map && !spec->charsmap &&
        decode_charsmap(reader->arena, map, spec, err))
        return -1;
    for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++)
        if (read_normalizer(reader, list->items[i], spec, err))
            return -1;
    return 0;
}

int by_token_read_unigram(struct by_token_reader *reader, struct by_piece_spec *spec,
                          struct baryon_error *err)
{
    const struct by_doc_node *root = reader->files->tokenizer, *model = by_doc_get(root, "model");
    const struct by_doc_node *vocab = by_doc_get(model, "vocab");
    int64_t unknown = -1;
    if (!vocab || vocab->kind != BY_DOC_LIST)
        return by_fail(err, BARYON_ERR_INPUT,
                       "model.vocab is missing, must be a list of pieces and scores");
    by_hf_int(model, "unk_id", &unknown);
    by_hf_bool(model, "byte_fallback", &spec->byte_fallback);
    for (size_t i = 0; i < vocab->count; i++)
        if (put_piece(reader, vocab->items[i], i, unknown, err))
            return -1;
    return read_normalizer(reader, by_doc_get(root, "normalizer"), spec, err);
}
