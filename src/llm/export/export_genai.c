/* genai_config.json: what onnxruntime-genai has to know to generate text. */
#include "llm/export/export_internal.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* A number, or the numbers of a list. */
static void write_ids(struct by_json *json, const char *key, const struct by_doc_node *node)
{
    if (node && node->kind == BY_DOC_SCALAR && !node->quoted) {
        by_json_raw(json, key, node->text);
        return;
    }
    if (!node || node->kind != BY_DOC_LIST)
        return;
    by_json_open(json, key, '[');
    for (size_t i = 0; i < node->count; i++)
        if (node->items[i]->kind == BY_DOC_SCALAR && !node->items[i]->quoted)
            by_json_raw(json, NULL, node->items[i]->text);
    by_json_close(json, ']');
}

static const struct by_doc_node *first_of(const struct by_doc_node *node)
{
    return node && node->kind == BY_DOC_LIST && node->count ? node->items[0] : node;
}

static bool is_null(const struct by_doc_node *node)
{
    return !node || node->kind == BY_DOC_NULL;
}

static void write_tokens(struct by_json *json, const struct by_doc_node *config)
{
    const struct by_doc_node *end = by_doc_get(config, "eos_token_id");
    const struct by_doc_node *pad = by_doc_get(config, "pad_token_id");
    write_ids(json, "bos_token_id", by_doc_get(config, "bos_token_id"));
    write_ids(json, "eos_token_id", end);
    write_ids(json, "pad_token_id", first_of(is_null(pad) ? end : pad));
}

static void write_names(struct by_json *json)
{
    by_json_open(json, "inputs", '{');
    by_json_text(json, "input_ids", "input_ids");
    by_json_text(json, "attention_mask", "attention_mask");
    by_json_text(json, "past_key_names", "past_key_values.%d.key");
    by_json_text(json, "past_value_names", "past_key_values.%d.value");
    by_json_close(json, '}');
    by_json_open(json, "outputs", '{');
    by_json_text(json, "logits", "logits");
    by_json_text(json, "present_key_names", "present.%d.key");
    by_json_text(json, "present_value_names", "present.%d.value");
    by_json_close(json, '}');
}

static void write_decoder(struct by_json *json, const struct by_decoder *d)
{
    by_json_open(json, "decoder", '{');
    by_json_open(json, "session_options", '{');
    by_json_open(json, "provider_options", '[');
    by_json_close(json, ']');
    by_json_close(json, '}');
    by_json_text(json, "filename", "model.onnx");
    by_json_int(json, "head_size", (int64_t)d->head_dim);
    by_json_int(json, "hidden_size", (int64_t)d->hidden);
    by_json_int(json, "num_attention_heads", (int64_t)d->heads);
    by_json_int(json, "num_hidden_layers", (int64_t)d->layers);
    by_json_int(json, "num_key_value_heads", (int64_t)d->kv_heads);
    write_names(json);
    by_json_close(json, '}');
}

int by_export_genai(const struct by_export *e, struct by_str *text, struct baryon_error *err)
{
    const struct by_doc_node *config = by_hf_text(e->opened->checkpoint->config);
    const char *type = by_hf_string(config, "model_type");
    struct by_json json;
    by_json_init(&json, text, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, "model", '{');
    by_json_text(&json, "type", type ? type : "llama");
    by_json_int(&json, "context_length", (int64_t)e->context);
    by_json_int(&json, "vocab_size", (int64_t)e->decoder->vocab);
    write_tokens(&json, config);
    write_decoder(&json, e->decoder);
    by_json_close(&json, '}');
    by_json_open(&json, "search", '{');
    by_json_bool(&json, "do_sample", false);
    by_json_int(&json, "max_length", (int64_t)e->context);
    by_json_int(&json, "num_beams", 1);
    by_json_bool(&json, "past_present_share_buffer", true);
    by_json_close(&json, '}');
    by_json_close(&json, '}');
    by_str_puts(text, "\n");
    return by_str_error(text, err);
}
