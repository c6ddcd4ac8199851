/* From GGUF's tokenizer keys to tokenizer.json and tokenizer_config.json. */
#include "llm/family/tokenizer_out.h"

#include <inttypes.h>
#include <string.h>

const char *by_token_text(struct by_tokens_out *out, int64_t id)
{
    const char *text =
        by_arena_text(&out->arena, out->tokens[id].bytes, out->tokens[id].size, NULL);
    return text ? text : "";
}

static bool is_padding(const struct by_tokens_out *out, size_t id)
{
    return out->kinds[id] == BY_TOKEN_UNUSED && out->tokens[id].size > 5 &&
           !memcmp(out->tokens[id].bytes, "[PAD", 4);
}

static int out_lists(struct by_tokens_out *out, struct baryon_error *err)
{
    const struct by_meta_value *tokens =
        by_meta_get_array(out->meta, "tokenizer.ggml.tokens", BY_META_STRING);
    const struct by_meta_value *kinds =
        by_meta_get_array(out->meta, "tokenizer.ggml.token_type", BY_META_I32);
    const struct by_meta_value *scores =
        by_meta_get_array(out->meta, "tokenizer.ggml.scores", BY_META_F32);
    if (!tokens || !kinds || (out->pieces && !scores))
        return by_fail(err, BARYON_ERR_INPUT,
                       "metadata tokenizer.ggml.%s is missing, must be there",
                       !tokens ? "tokens"
                       : kinds ? "scores"
                               : "token_type");
    if (kinds->count != tokens->count || (out->pieces && scores->count != tokens->count))
        return by_fail(err, BARYON_ERR_INPUT,
                       "metadata tokenizer.ggml.%s has another length than tokens (%zu), must "
                       "have the same",
                       kinds->count != tokens->count ? "token_type" : "scores", tokens->count);
    out->tokens = tokens->items;
    out->kinds = kinds->items;
    out->scores = out->pieces ? scores->items : NULL;
    out->count = tokens->count;
    return 0;
}

static int64_t out_id(const struct by_tokens_out *out, const char *key)
{
    int64_t id;
    return by_meta_get_int(out->meta, key, &id) && id >= 0 && (uint64_t)id < out->count ? id : -1;
}

static bool out_flag(const struct by_tokens_out *out, const char *key, bool fallback)
{
    int64_t value;
    return by_meta_get_int(out->meta, key, &value) ? value != 0 : fallback;
}

static int out_index(struct by_tokens_out *out, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < out->count; i++) {
        const struct by_meta_text *token = &out->tokens[i];
        if (is_padding(out, i))
            continue;
        if (!token->size || memchr(token->bytes, 0, token->size) ||
            !by_utf8_valid(token->bytes, token->size))
            return by_fail(err, BARYON_ERR_INPUT, "token %zu is %s, must be UTF-8 text without NUL",
                           i, by_quote_bytes(quoted, token->bytes, token->size));
        uintptr_t before = (uintptr_t)by_map_get_bytes(&out->ids, token->bytes, token->size);
        if (before)
            return by_fail(err, BARYON_ERR_INPUT, "tokens %zu and %zu are both %s, must differ",
                           (size_t)before - 1, i,
                           by_quote_bytes(quoted, token->bytes, token->size));
        if (by_map_put_bytes(&out->ids, token->bytes, token->size, (void *)(uintptr_t)(i + 1), err))
            return -1;
    }
    return 0;
}

/* Reads what decides about the stages; false: a kind that is not known. */
static bool out_kind(struct by_tokens_out *out, struct by_str *notices)
{
    const char *model = by_meta_get_text(out->meta, "tokenizer.ggml.model");
    const char *pre = by_meta_get_text(out->meta, "tokenizer.ggml.pre");
    char quoted[BY_QUOTE_MAX];
    if (!model || !by_has_word("llama gpt2", model)) {
        by_str_printf(notices,
                      "tokenizer.ggml.model is %s, known are llama and gpt2: no tokenizer.json is "
                      "written\n",
                      model ? by_quote(quoted, model) : "missing");
        return false;
    }
    out->pieces = !strcmp(model, "llama");
    if (!out->pieces && !by_pre_named(pre ? pre : "", &out->regex, &out->digits)) {
        by_str_printf(
            notices, "tokenizer.ggml.pre is %s, which is not known: no tokenizer.json is written\n",
            pre ? by_quote(quoted, pre) : "missing");
        return false;
    }
    bool llama3 = pre && by_has_word("llama-bpe llama3", pre);
    out->whole_words = pre && by_has_word("llama-bpe llama3 tekken", pre);
    out->first = out_flag(out, "tokenizer.ggml.add_bos_token", out->pieces || llama3);
    out->last = out_flag(out, "tokenizer.ggml.add_eos_token", false);
    out->prefix = out->pieces && out_flag(out, "tokenizer.ggml.add_space_prefix", true);
    return true;
}

static bool is_added(const struct by_tokens_out *out, size_t id)
{
    int32_t kind = out->kinds[id];
    return kind == BY_TOKEN_CONTROL || kind == BY_TOKEN_USER || kind == BY_TOKEN_UNKNOWN;
}

static void put_added(const struct by_tokens_out *out, struct by_json *json)
{
    by_json_open(json, "added_tokens", '[');
    for (size_t i = 0; i < out->count; i++) {
        if (!is_added(out, i))
            continue;
        by_json_open(json, NULL, '{');
        by_json_int(json, "id", (int64_t)i);
        by_json_bytes(json, "content", out->tokens[i].bytes, out->tokens[i].size);
        by_json_bool(json, "single_word", false);
        by_json_bool(json, "lstrip", false);
        by_json_bool(json, "rstrip", false);
        by_json_bool(json, "normalized", false);
        by_json_bool(json, "special", out->kinds[i] != BY_TOKEN_USER);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static int put_vocab(const struct by_tokens_out *out, struct by_json *json,
                     struct baryon_error *err)
{
    struct by_str key = {0};
    by_json_open(json, "vocab", '{');
    for (size_t i = 0; i < out->count; i++) {
        if (is_padding(out, i))
            continue;
        by_str_clear(&key);
        by_str_add(&key, out->tokens[i].bytes, out->tokens[i].size);
        by_json_int(json, by_str_text(&key), (int64_t)i);
    }
    by_json_close(json, '}');
    int status = by_str_error(&key, err);
    by_str_release(&key);
    return status;
}

static void put_merge(struct by_json *json, const struct by_meta_text *left,
                      const struct by_meta_text *right)
{
    by_json_open(json, NULL, '[');
    by_json_bytes(json, NULL, left->bytes, left->size);
    by_json_bytes(json, NULL, right->bytes, right->size);
    by_json_close(json, ']');
}

static int put_merges(struct by_tokens_out *out, struct by_json *json, struct baryon_error *err)
{
    const struct by_meta_value *merges =
        by_meta_get_array(out->meta, "tokenizer.ggml.merges", BY_META_STRING);
    if (out->pieces && by_merges_of_scores(out, err))
        return -1;
    if (!out->pieces && !merges)
        return by_fail(err, BARYON_ERR_INPUT,
                       "metadata tokenizer.ggml.merges is missing, must be there");
    by_json_open(json, "merges", '[');
    for (size_t i = 0; i < out->merge_count; i++)
        put_merge(json, &out->tokens[out->merges[i].left], &out->tokens[out->merges[i].right]);
    for (size_t i = 0; !out->pieces && i < merges->count; i++) {
        const struct by_meta_text *text = (const struct by_meta_text *)merges->items + i;
        const char *cut = text->size ? memchr(text->bytes + 1, ' ', text->size - 1) : NULL;
        if (!cut)
            return by_fail(err, BARYON_ERR_INPUT,
                           "metadata tokenizer.ggml.merges[%zu] has no blank, must be two parts",
                           i);
        struct by_meta_text left = {text->bytes, (size_t)(cut - text->bytes)};
        struct by_meta_text right = {cut + 1, text->size - left.size - 1};
        put_merge(json, &left, &right);
    }
    by_json_close(json, ']');
    return 0;
}

static int put_model(struct by_tokens_out *out, struct by_json *json, struct baryon_error *err)
{
    by_json_open(json, "model", '{');
    by_json_text(json, "type", "BPE");
    by_json_null(json, "dropout");
    if (out->pieces && out->unknown >= 0)
        by_json_text(json, "unk_token", by_token_text(out, out->unknown));
    else
        by_json_null(json, "unk_token");
    by_json_null(json, "continuing_subword_prefix");
    by_json_null(json, "end_of_word_suffix");
    by_json_bool(json, "fuse_unk", out->pieces);
    by_json_bool(json, "byte_fallback", out->pieces);
    by_json_bool(json, "ignore_merges", out->whole_words);
    if (put_vocab(out, json, err) || put_merges(out, json, err))
        return -1;
    by_json_close(json, '}');
    return 0;
}

static void put_settings(struct by_tokens_out *out, struct by_str *text)
{
    static const char *const rows[][2] = {
        {"bos_token", "tokenizer.ggml.bos_token_id"},
        {"eos_token", "tokenizer.ggml.eos_token_id"},
        {"unk_token", "tokenizer.ggml.unknown_token_id"},
        {"pad_token", "tokenizer.ggml.padding_token_id"},
    };
    struct by_json json;
    const char *chat = by_meta_get_text(out->meta, "tokenizer.chat_template");
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "tokenizer_class", "PreTrainedTokenizerFast");
    by_json_bool(&json, "clean_up_tokenization_spaces", false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t id = out_id(out, rows[i][1]);
        if (id >= 0)
            by_json_text(&json, rows[i][0], by_token_text(out, id));
    }
    by_json_bool(&json, "add_bos_token", out->first);
    if (out->last)
        by_json_bool(&json, "add_eos_token", true);
    if (chat)
        by_json_text(&json, "chat_template", chat);
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
}

static int put_tokenizer(struct by_tokens_out *out, struct by_str *text, struct baryon_error *err)
{
    struct by_json json;
    by_json_init(&json, text, true);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "version", "1.0");
    by_json_null(&json, "truncation");
    by_json_null(&json, "padding");
    put_added(out, &json);
    by_tokens_put_stages(out, &json);
    if (put_model(out, &json, err))
        return -1;
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
    return by_str_error(text, err);
}

int by_tokenizer_of_meta(struct by_str *tokenizer, struct by_str *settings,
                         const struct by_meta *meta, bool *known, struct by_str *notices,
                         struct baryon_error *err)
{
    struct by_tokens_out out = {.meta = meta};
    *known = out_kind(&out, notices);
    if (!*known)
        return by_str_error(notices, err);
    if (out_lists(&out, err))
        return -1;
    out.bos = out_id(&out, "tokenizer.ggml.bos_token_id");
    out.eos = out_id(&out, "tokenizer.ggml.eos_token_id");
    out.unknown = out_id(&out, "tokenizer.ggml.unknown_token_id");
    by_arena_init(&out.arena, 0);
    by_map_init(&out.ids);
    int status = out_index(&out, err);
    if (!status)
        status = put_tokenizer(&out, tokenizer, err);
    if (!status) {
        put_settings(&out, settings);
        status = by_str_error(settings, err);
    }
    by_map_release(&out.ids);
    by_arena_release(&out.arena);
    return status;
}
