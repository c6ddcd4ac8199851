/* Tokens, merges and pre-tokenizer of a tokenizer.json. */
#include "llm/family/tokenizer_in.h"

#include <inttypes.h>
#include <string.h>

#define BLANK_TOKEN "\xe2\x96\x81" /* SentencePiece's sign for a blank */

static bool starts_and_ends(const char *text, const char *start, const char *end)
{
    size_t size = strlen(text), first = strlen(start), last = strlen(end);
    return size >= first + last && !strncmp(text, start, first) && !strcmp(text + size - last, end);
}

/* Some models mark control tokens as if they were ordinary ones. */
enum by_token_kind by_token_kind_of(const char *text, bool special)
{
    bool looks = by_has_word("<pad> <mask> <2mass> [@BOS@]", text) ||
                 starts_and_ends(text, "<|", "|>") ||
                 starts_and_ends(text, "<\xef\xbd\x9c", "\xef\xbd\x9c>") ||
                 starts_and_ends(text, "<unused", ">");
    return special || looks ? BY_TOKEN_CONTROL : BY_TOKEN_USER;
}

static bool is_byte_token(const char *text)
{
    return strlen(text) == 6 && !strncmp(text, "<0x", 3) && text[5] == '>';
}

static int read_vocab(struct by_token_reader *reader, const struct by_doc_node *vocab, bool pieces,
                      const char *unknown, struct baryon_error *err)
{
    int64_t id;
    if (!vocab || vocab->kind != BY_DOC_MAP)
        return by_fail(err, BARYON_ERR_INPUT, "model.vocab is missing, must be a map of tokens");
    for (size_t i = 0; i < vocab->count; i++) {
        const struct by_doc_pair *pair = &vocab->pairs[i];
        enum by_token_kind kind = BY_TOKEN_NORMAL;
        if (pair->value->kind != BY_DOC_SCALAR || pair->value->quoted ||
            !by_parse_i64(pair->value->text, &id))
            id = -1;
        if (pieces && is_byte_token(pair->key))
            kind = BY_TOKEN_BYTE;
        else if (pieces && unknown && !strcmp(pair->key, unknown))
            kind = BY_TOKEN_UNKNOWN;
        if (by_token_put(reader, id, pair->key, kind, 0, "model.vocab", err))
            return -1;
    }
    return 0;
}

/* SentencePiece's sign is a blank again in tokens that are matched as they stand. */
static const char *with_blanks(struct by_arena *arena, const char *text, struct baryon_error *err)
{
    char *copy = by_arena_text(arena, text, strlen(text), err), *to = copy;
    if (!copy)
        return NULL;
    for (const char *from = text; *from; to++)
        if (!strncmp(from, BLANK_TOKEN, 3)) {
            *to = ' ';
            from += 3;
        } else {
            *to = *from++;
        }
    *to = '\0';
    return copy;
}

static int read_added(struct by_token_reader *reader, const struct by_doc_node *list,
                      struct baryon_error *err)
{
    for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++) {
        int64_t id = -1;
        bool special = false;
        const char *text = by_hf_string(list->items[i], "content");
        by_hf_int(list->items[i], "id", &id);
        by_hf_bool(list->items[i], "special", &special);
        if (!text)
            return by_fail(err, BARYON_ERR_INPUT, "added_tokens[%zu] has no content, must have one",
                           i);
        enum by_token_kind kind = by_token_kind_of(text, special);
        bool unknown = id >= 0 && (uint64_t)id < reader->vocab.count &&
                       reader->vocab.kinds[id] == BY_TOKEN_UNKNOWN;
        if (kind == BY_TOKEN_USER && !(text = with_blanks(reader->arena, text, err)))
            return -1;
        if (by_token_put(reader, id, text, unknown ? BY_TOKEN_UNKNOWN : kind, -1000, "added_tokens",
                         err))
            return -1;
    }
    return 0;
}

/* "a b", or a list of both. Blanks inside of a part get GPT-2's sign for them. */
static const char *merge_text(struct by_arena *arena, const struct by_doc_node *merge,
                              struct baryon_error *err)
{
    if (merge->kind == BY_DOC_SCALAR && merge->quoted && strchr(merge->text, ' '))
        return merge->text;
    if (merge->kind != BY_DOC_LIST || merge->count != 2 || !merge->items[0]->quoted ||
        !merge->items[1]->quoted) {
        by_fail(err, BARYON_ERR_INPUT, "must be two texts");
        return NULL;
    }
    struct by_str text = {0};
    for (size_t i = 0; i < 2; i++) {
        for (const char *at = merge->items[i]->text; *at; at++)
            if (*at == ' ')
                by_str_puts(&text, "\xc4\xa0");
            else
                by_str_add(&text, at, 1);
        by_str_puts(&text, i ? "" : " ");
    }
    char *copy = by_str_error(&text, err) ? NULL : by_arena_text(arena, text.text, text.size, err);
    by_str_release(&text);
    return copy;
}

static int read_merges(struct by_token_reader *reader, const struct by_doc_node *merges,
                       struct by_meta_text **texts, struct baryon_error *err)
{
    if (!merges || merges->kind != BY_DOC_LIST)
        return by_fail(err, BARYON_ERR_INPUT, "model.merges is missing, must be a list");
    *texts = by_arena_alloc(reader->arena, merges->count, sizeof **texts, err);
    for (size_t i = 0; *texts && i < merges->count; i++) {
        const char *text = merge_text(reader->arena, merges->items[i], err);
        if (!text)
            return by_err_in(err, "model.merges[%zu]", i);
        (*texts)[i] = (struct by_meta_text){text, strlen(text)};
    }
    return *texts ? 0 : -1;
}

/* SentencePiece decides by scores, which fall with the rank of the merge that makes a token. */
static int score_pieces(struct by_token_reader *reader, const struct by_meta_text *merges,
                        size_t count, struct baryon_error *err)
{
    struct by_str joined = {0};
    struct by_vocab *vocab = &reader->vocab;
    for (size_t i = 0; i < vocab->count; i++)
        if (vocab->kinds[i] == BY_TOKEN_NORMAL)
            vocab->scores[i] = -(float)count - 1;
    for (size_t i = count; i-- > 0;) {
        const char *cut = memchr(merges[i].bytes, ' ', merges[i].size);
        size_t first = (size_t)(cut - merges[i].bytes);
        by_str_clear(&joined);
        by_str_add(&joined, merges[i].bytes, first);
        by_str_add(&joined, cut + 1, merges[i].size - first - 1);
        int64_t id = by_token_find(reader, by_str_text(&joined));
        if (id >= 0)
            vocab->scores[id] = -(float)i;
    }
    int status = by_str_error(&joined, err);
    by_str_release(&joined);
    return status;
}

/* Whether the normalizer puts a blank before a text. */
static bool has_prefix(const struct by_doc_node *node)
{
    const char *type = by_hf_string(node, "type");
    const struct by_doc_node *list = by_doc_get(node, "normalizers");
    const char *scheme = by_hf_string(node, "prepend_scheme");
    for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++)
        if (has_prefix(list->items[i]))
            return true;
    if (type && !strcmp(type, "Metaspace"))
        return !scheme || strcmp(scheme, "never") != 0;
    return type && !strcmp(type, "Prepend");
}

static bool puts_prefix(const struct by_doc_node *root)
{
    return has_prefix(by_doc_get(root, "normalizer")) ||
           has_prefix(by_doc_get(root, "pre_tokenizer"));
}

static int read_pieces(struct by_token_reader *reader, const struct by_doc_node *root,
                       const struct by_meta_text *merges, size_t count, struct baryon_error *err)
{
    const struct by_piece_spec spec = {.prefix = puts_prefix(root)};
    by_token_put_spec(reader, &spec);
    return score_pieces(reader, merges, count, err);
}

static void read_byte_level(struct by_token_reader *reader, const struct by_doc_node *root,
                            const struct by_meta_text *merges, size_t count)
{
    const char *pre = by_pre_of(by_doc_get(root, "pre_tokenizer"));
    if (!pre)
        by_str_puts(reader->notices, "the pre_tokenizer of tokenizer.json is none that GGUF has a "
                                     "name for: llama.cpp will use its default, ids may differ\n");
    by_meta_set_text(reader->meta, "tokenizer.ggml.model", "gpt2");
    by_meta_set_text(reader->meta, "tokenizer.ggml.pre", pre ? pre : "default");
    by_meta_set_array(reader->meta, "tokenizer.ggml.merges", BY_META_STRING, merges, count);
}

static int read_bpe(struct by_token_reader *reader, const struct by_doc_node *root,
                    const struct by_doc_node *model, struct baryon_error *err)
{
    const struct by_doc_node *merges = by_doc_get(model, "merges");
    struct by_meta_text *texts;
    bool pieces = false;
    by_hf_bool(model, "byte_fallback", &pieces);
    if (read_vocab(reader, by_doc_get(model, "vocab"), pieces, by_hf_string(model, "unk_token"),
                   err) ||
        read_merges(reader, merges, &texts, err))
        return -1;
    if (pieces)
        return read_pieces(reader, root, texts, merges->count, err);
    read_byte_level(reader, root, texts, merges->count);
    return 0;
}

static int read_unigram(struct by_token_reader *reader, const struct by_doc_node *root,
                        struct baryon_error *err)
{
    struct by_piece_spec spec = {.unigram = true, .prefix = puts_prefix(root)};
    if (by_token_read_unigram(reader, &spec, err))
        return -1;
    by_token_put_spec(reader, &spec);
    return 0;
}

int by_token_read_json(struct by_token_reader *reader, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_doc_node *root = reader->files->tokenizer, *model = by_doc_get(root, "model");
    const char *type = by_hf_string(model, "type");
    const bool unigram = type && !strcmp(type, "Unigram");
    if (type && !unigram && strcmp(type, "BPE") != 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "model.type is %s, must be BPE or Unigram; other kinds cannot be converted",
                       by_quote(quoted, type));
    if (unigram ? read_unigram(reader, root, err) : read_bpe(reader, root, model, err))
        return -1;
    return read_added(reader, by_doc_get(root, "added_tokens"), err);
}
