/* From the tokenizer of a folder to GGUF's keys. */
#include "llm/family/tokenizer_in.h"

#include <inttypes.h>
#include <string.h>

int by_token_put(struct by_token_reader *reader, int64_t id, const char *text,
                 enum by_token_kind kind, float score, const char *from, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct by_vocab *vocab = &reader->vocab;
    if (id < 0 || (uint64_t)id >= vocab->count)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%s: id of %s (%" PRIi64 "), must be below the rows of the embedding (%zu)",
                       from, by_quote(quoted, text), id, vocab->count);
    size_t size = strlen(text);
    vocab->tokens[id] = (struct by_meta_text){text, size};
    vocab->kinds[id] = (int32_t)kind;
    vocab->scores[id] = score;
    return by_map_put_bytes(&reader->ids, text, size, (void *)(uintptr_t)(id + 1), err);
}

int64_t by_token_find(const struct by_token_reader *reader, const char *text)
{
    uintptr_t found = (uintptr_t)by_map_get_bytes(&reader->ids, text, strlen(text));
    return (int64_t)found - 1;
}

/* added_tokens.json: a map from tokens to ids. */
static int read_added_map(struct by_token_reader *reader, struct baryon_error *err)
{
    const struct by_doc_node *map = reader->files->added;
    for (size_t i = 0; map && map->kind == BY_DOC_MAP && i < map->count; i++) {
        int64_t id = -1;
        by_hf_int(map, map->pairs[i].key, &id);
        if (by_token_put(reader, id, map->pairs[i].key, BY_TOKEN_USER, -1000, "added_tokens.json",
                         err))
            return -1;
    }
    return 0;
}

/* added_tokens_decoder of tokenizer_config.json: a map from ids to tokens. */
static int read_decoder(struct by_token_reader *reader, struct baryon_error *err)
{
    const struct by_doc_node *map = by_doc_get(reader->files->settings, "added_tokens_decoder");
    for (size_t i = 0; map && map->kind == BY_DOC_MAP && i < map->count; i++) {
        int64_t id = -1;
        bool special = false;
        const char *text = by_hf_string(map->pairs[i].value, "content");
        by_hf_bool(map->pairs[i].value, "special", &special);
        if (!text)
            continue;
        by_parse_i64(map->pairs[i].key, &id);
        if (by_token_put(reader, id, text, by_token_kind_of(text, special), -1000,
                         "tokenizer_config.json", err))
            return -1;
    }
    return 0;
}

static int index_pieces(struct by_token_reader *reader, struct baryon_error *err)
{
    for (size_t i = 0; i < reader->vocab.count; i++)
        if (by_map_put_bytes(&reader->ids, reader->vocab.tokens[i].bytes,
                             reader->vocab.tokens[i].size, (void *)(uintptr_t)(i + 1), err))
            return -1;
    return 0;
}

void by_token_put_spec(struct by_token_reader *reader, const struct by_piece_spec *spec)
{
    struct by_meta *meta = reader->meta;
    by_meta_set_text(meta, "tokenizer.ggml.model", spec->unigram ? "t5" : "llama");
    by_meta_set_text(meta, "tokenizer.ggml.pre", "default");
    by_meta_set_bool(meta, "tokenizer.ggml.add_space_prefix", spec->prefix);
    if (!spec->unigram)
        return;
    by_meta_set_bool(meta, "tokenizer.ggml.remove_extra_whitespaces", spec->squeeze);
    if (spec->charsmap_size)
        by_meta_set_array(meta, "tokenizer.ggml.precompiled_charsmap", BY_META_U8, spec->charsmap,
                          spec->charsmap_size);
    if (spec->byte_fallback)
        by_str_puts(reader->notices, "the tokenizer is a unigram model with byte fallback, which "
                                     "llama.cpp does not have: characters without a piece are "
                                     "unknown there\n");
}

static int read_sentencepiece(struct by_token_reader *reader, struct baryon_error *err)
{
    struct by_piece_spec spec;
    const struct by_tokenizer_files *files = reader->files;
    if (by_sentencepiece_read(&reader->vocab, files->model, files->model_size, &spec, err))
        return by_err_file(err, "tokenizer.model");
    /* The user's pieces are normal ones unless the other files name them. */
    for (size_t i = 0; i < reader->vocab.count; i++)
        if (reader->vocab.kinds[i] == BY_TOKEN_USER)
            reader->vocab.kinds[i] = BY_TOKEN_NORMAL;
    if (index_pieces(reader, err) || read_added_map(reader, err) || read_decoder(reader, err))
        return -1;
    by_hf_bool(files->settings, "add_prefix_space", &spec.prefix);
    by_token_put_spec(reader, &spec);
    return 0;
}

static int read_files(struct by_token_reader *reader, struct baryon_error *err)
{
    const struct by_tokenizer_files *files = reader->files;
    if (files->model)
        return read_sentencepiece(reader, err);
    if (by_token_read_json(reader, err))
        return by_err_file(err, "tokenizer.json");
    return 0;
}

int by_meta_of_tokenizer(struct by_meta *meta, const struct by_tokenizer_files *files,
                         uint64_t vocab, struct by_str *notices, struct baryon_error *err)
{
    struct by_token_reader reader = {
        .arena = meta->arena, .files = files, .meta = meta, .notices = notices};
    if (!files->model && !files->tokenizer)
        return by_fail(err, BARYON_ERR_INPUT,
                       "there is no tokenizer.json and no tokenizer.model, one is needed; "
                       "--no-tokenizer converts without");
    if (by_vocab_make(&reader.vocab, meta->arena, vocab, err))
        return -1;
    by_map_init(&reader.ids);
    int status = read_files(&reader, err);
    if (!status) {
        const struct by_vocab *made = &reader.vocab;
        const char *model = by_meta_get_text(meta, "tokenizer.ggml.model");
        by_meta_set_array(meta, "tokenizer.ggml.tokens", BY_META_STRING, made->tokens, made->count);
        if (model && by_has_word("llama t5", model))
            by_meta_set_array(meta, "tokenizer.ggml.scores", BY_META_F32, made->scores,
                              made->count);
        by_meta_set_array(meta, "tokenizer.ggml.token_type", BY_META_I32, made->kinds, made->count);
        status = by_token_read_special(&reader, err);
    }
    by_map_release(&reader.ids);
    return status ? -1 : by_meta_error(meta, err);
}
