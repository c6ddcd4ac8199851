/* Normalizer, pre-tokenizer, post-processor and decoder of a tokenizer.json. */
#include "llm/family/tokenizer_out.h"

#define BLANK_TOKEN "\xe2\x96\x81"

static void put_pattern(struct by_json *json, const char *kind, const char *text)
{
    by_json_open(json, "pattern", '{');
    by_json_text(json, kind, text);
    by_json_close(json, '}');
}

static void put_replace(struct by_json *json, const char *key, const char *from, const char *to)
{
    by_json_open(json, key, '{');
    by_json_text(json, "type", "Replace");
    put_pattern(json, "String", from);
    by_json_text(json, "content", to);
    by_json_close(json, '}');
}

static void open_typed(struct by_json *json, const char *key, const char *type)
{
    by_json_open(json, key, '{');
    by_json_text(json, "type", type);
}

static void put_normalizer(const struct by_tokens_out *out, struct by_json *json)
{
    if (!out->pieces) {
        by_json_null(json, "normalizer");
        return;
    }
    open_typed(json, "normalizer", "Sequence");
    by_json_open(json, "normalizers", '[');
    if (out->prefix) {
        open_typed(json, NULL, "Prepend");
        by_json_text(json, "prepend", BLANK_TOKEN);
        by_json_close(json, '}');
    }
    put_replace(json, NULL, " ", BLANK_TOKEN);
    by_json_close(json, ']');
    by_json_close(json, '}');
}

static void put_byte_level(struct by_json *json, const char *key, bool use_regex)
{
    open_typed(json, key, "ByteLevel");
    by_json_bool(json, "add_prefix_space", false);
    by_json_bool(json, "trim_offsets", true);
    by_json_bool(json, "use_regex", use_regex);
    by_json_close(json, '}');
}

static void put_pre_tokenizer(const struct by_tokens_out *out, struct by_json *json)
{
    if (out->pieces) {
        by_json_null(json, "pre_tokenizer");
        return;
    }
    open_typed(json, "pre_tokenizer", "Sequence");
    by_json_open(json, "pretokenizers", '[');
    if (out->digits) {
        open_typed(json, NULL, "Digits");
        by_json_bool(json, "individual_digits", true);
        by_json_close(json, '}');
    }
    if (out->regex) {
        open_typed(json, NULL, "Split");
        put_pattern(json, "Regex", out->regex);
        by_json_text(json, "behavior", "Isolated");
        by_json_bool(json, "invert", false);
        by_json_close(json, '}');
    }
    put_byte_level(json, NULL, !out->regex);
    by_json_close(json, ']');
    by_json_close(json, '}');
}

static void put_special(struct by_json *json, const char *text)
{
    by_json_open(json, NULL, '{');
    by_json_open(json, "SpecialToken", '{');
    by_json_text(json, "id", text);
    by_json_int(json, "type_id", 0);
    by_json_close(json, '}');
    by_json_close(json, '}');
}

static void put_sequence(struct by_json *json, const char *id, int type)
{
    by_json_open(json, NULL, '{');
    by_json_open(json, "Sequence", '{');
    by_json_text(json, "id", id);
    by_json_int(json, "type_id", type);
    by_json_close(json, '}');
    by_json_close(json, '}');
}

static void put_used(struct by_json *json, const char *text, int64_t id)
{
    by_json_open(json, text, '{');
    by_json_text(json, "id", text);
    by_json_open(json, "ids", '[');
    by_json_int(json, NULL, id);
    by_json_close(json, ']');
    by_json_open(json, "tokens", '[');
    by_json_text(json, NULL, text);
    by_json_close(json, ']');
    by_json_close(json, '}');
}

static void put_template(struct by_json *json, const char *key, const char *first, const char *last,
                         bool pair)
{
    by_json_open(json, key, '[');
    if (first)
        put_special(json, first);
    put_sequence(json, "A", 0);
    if (last)
        put_special(json, last);
    if (pair)
        put_sequence(json, "B", 1);
    by_json_close(json, ']');
}

static void put_post_processor(struct by_tokens_out *out, struct by_json *json)
{
    const char *first = out->first && out->bos >= 0 ? by_token_text(out, out->bos) : NULL;
    const char *last = out->last && out->eos >= 0 ? by_token_text(out, out->eos) : NULL;
    if (!first && !last) {
        by_json_null(json, "post_processor");
        return;
    }
    open_typed(json, "post_processor", "TemplateProcessing");
    put_template(json, "single", first, last, false);
    put_template(json, "pair", first, last, true);
    by_json_open(json, "special_tokens", '{');
    if (first)
        put_used(json, first, out->bos);
    if (last && out->eos != out->bos)
        put_used(json, last, out->eos);
    by_json_close(json, '}');
    by_json_close(json, '}');
}

static void put_decoder(const struct by_tokens_out *out, struct by_json *json)
{
    if (!out->pieces) {
        put_byte_level(json, "decoder", true);
        return;
    }
    open_typed(json, "decoder", "Sequence");
    by_json_open(json, "decoders", '[');
    put_replace(json, NULL, BLANK_TOKEN, " ");
    open_typed(json, NULL, "ByteFallback");
    by_json_close(json, '}');
    open_typed(json, NULL, "Fuse");
    by_json_close(json, '}');
    if (out->prefix) {
        open_typed(json, NULL, "Strip");
        by_json_text(json, "content", " ");
        by_json_int(json, "start", 1);
        by_json_int(json, "stop", 0);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}

void by_tokens_put_stages(struct by_tokens_out *out, struct by_json *json)
{
    put_normalizer(out, json);
    put_pre_tokenizer(out, json);
    put_post_processor(out, json);
    put_decoder(out, json);
}
