/* config.json of a decoder: sizes, scales, windows of attention. */
#include "llm/decoder/decoder_internal.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SIZE_MAX_OF_CONFIG ((int64_t)1 << 30)

/* Keys that change what a model computes, and are not known here. */
static const char *const unknown_keys[] = {
    "embedding_multiplier",
    "residual_multiplier",
    "attention_multiplier",
    "logits_scaling",
    "n_shared_experts",
    "kv_lora_rank",
    "moe_layer_freq",
    "first_k_dense_replace",
    "no_rope_layers",
    "use_parallel_residual",
    "alibi",
    "mlp_only_layers",
    "num_attention_heads_per_layer",
    "clip_qkv",
    "use_qk_l2_norm",
};

/* A key that is there and says something: not null, false, 0, 1 or an empty list. */
static bool says_something(const struct by_doc_node *node)
{
    if (!node || node->kind == BY_DOC_NULL || (node->kind != BY_DOC_SCALAR && !node->count))
        return false;
    return node->kind != BY_DOC_SCALAR || !by_has_word("false 0 0.0 1 1.0", node->text);
}

static int refuse_unknown(const struct by_doc_node *config, struct baryon_error *err)
{
    for (size_t i = 0; i < sizeof unknown_keys / sizeof *unknown_keys; i++)
        if (says_something(by_doc_get(config, unknown_keys[i])))
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "config.json: %s changes what the model computes, and cannot be run",
                           unknown_keys[i]);
    return 0;
}

static int read_size(size_t *size, const struct by_doc_node *config, const char *keys,
                     struct baryon_error *err)
{
    int64_t value;
    if (!by_hf_int(config, keys, &value))
        return *size ? 0
                     : by_fail(err, BARYON_ERR_INPUT, "config.json has no %.*s, must have one",
                               (int)strcspn(keys, " "), keys);
    if (!value && *size)
        return 0;
    if (value < 1 || value > SIZE_MAX_OF_CONFIG)
        return by_fail(err, BARYON_ERR_INPUT,
                       "config.json: %.*s is %" PRIi64 ", must be 1 to %" PRIi64,
                       (int)strcspn(keys, " "), keys, value, SIZE_MAX_OF_CONFIG);
    *size = (size_t)value;
    return 0;
}

/* Each layer and each expert has weights: more than these would be memory for nothing. */
static int check_count(const struct by_decoder *d, const char *what, size_t count,
                       struct baryon_error *err)
{
    return count <= d->source->count
               ? 0
               : by_fail(err, BARYON_ERR_INPUT,
                         "config.json: %zu %s, the checkpoint has only %zu weights", count, what,
                         d->source->count);
}

static int read_sizes(struct by_decoder *d, const struct by_doc_node *config,
                      struct baryon_error *err)
{
    int64_t experts = 0;
    if (read_size(&d->layers, config, "num_hidden_layers", err) ||
        read_size(&d->hidden, config, "hidden_size", err) ||
        read_size(&d->heads, config, "num_attention_heads", err))
        return -1;
    d->kv_heads = d->heads;
    d->head_dim = d->hidden / d->heads;
    by_hf_int(config, "num_local_experts num_experts", &experts);
    if (read_size(&d->kv_heads, config, "num_key_value_heads", err) ||
        read_size(&d->head_dim, config, "head_dim", err))
        return -1;
    if (d->heads % d->kv_heads || d->head_dim % 2)
        return by_fail(err, BARYON_ERR_INPUT,
                       "config.json: %zu heads, %zu of keys, of %zu values; heads must be a "
                       "multiple of those of keys, and values even",
                       d->heads, d->kv_heads, d->head_dim);
    if (check_count(d, "layers", d->layers, err))
        return -1;
    if (experts <= 0)
        return 0;
    d->experts = (size_t)experts;
    return check_count(d, "experts", d->experts, err) ||
                   read_size(&d->top_k, config, "num_experts_per_tok", err)
               ? -1
               : 0;
}

static int read_activation(struct by_decoder *d, const struct by_doc_node *config,
                           struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *name = by_hf_string(config, "hidden_activation hidden_act activation_function");
    if (!name || by_has_word("silu swish", name))
        d->act = BY_ACT_SILU;
    else if (by_has_word("gelu_pytorch_tanh gelu_new gelu_fast", name))
        d->act = BY_ACT_GELU_TANH;
    else if (!strcmp(name, "gelu"))
        d->act = BY_ACT_GELU;
    else
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "config.json: hidden_act is %s, must be silu, gelu or gelu_pytorch_tanh",
                       by_quote(quoted, name));
    return 0;
}

/* Whether a layer sees a window alone. */
static bool layer_slides(const struct by_doc_node *config, const char *type, size_t layer)
{
    const struct by_doc_node *types = by_doc_get(config, "layer_types");
    int64_t pattern = 0, most = 0;
    bool uses = true;
    if (types && types->kind == BY_DOC_LIST && layer < types->count &&
        types->items[layer]->kind == BY_DOC_SCALAR)
        return !strcmp(types->items[layer]->text, "sliding_attention");
    by_hf_int(config, "sliding_window_pattern _sliding_window_pattern", &pattern);
    if (!pattern)
        pattern = !strcmp(type, "gemma2") ? 2 : !strncmp(type, "gemma3", 6) ? 6 : 0;
    if (pattern > 0)
        return (layer + 1) % (size_t)pattern != 0;
    if (by_hf_bool(config, "use_sliding_window", &uses))
        return uses && by_hf_int(config, "max_window_layers", &most) && (int64_t)layer >= most;
    return !by_has_word("qwen2 qwen3 qwen2_moe qwen3_moe", type);
}

static int read_layers(struct by_decoder *d, const struct by_doc_node *config, const char *type,
                       struct baryon_error *err)
{
    int64_t window = 0;
    by_hf_int(config, "sliding_window", &window);
    d->layer = by_arena_alloc(&d->arena, d->layers, sizeof *d->layer, err);
    for (size_t i = 0; d->layer && window > 0 && i < d->layers; i++)
        if (layer_slides(config, type, i)) {
            d->layer[i].window = window;
            d->layer[i].rope = !strncmp(type, "gemma3", 6);
        }
    return d->layer ? 0 : -1;
}

int by_decoder_config(struct by_decoder *d, const struct by_doc_node *config,
                      struct baryon_error *err)
{
    double scalar;
    const char *type = by_hf_string(config, "model_type");
    type = type ? type : "";
    if (refuse_unknown(config, err) || read_sizes(d, config, err) ||
        read_activation(d, config, err) || read_layers(d, config, type, err))
        return -1;
    d->eps = 1e-6;
    by_hf_number(config, "rms_norm_eps layer_norm_eps", &d->eps);
    if (!by_hf_number(config, "query_pre_attn_scalar", &scalar) || !(scalar > 0))
        scalar = (double)d->head_dim;
    d->attention_scale = 1 / sqrt(scalar);
    by_hf_number(config, "attn_logit_softcapping", &d->attention_cap);
    by_hf_number(config, "final_logit_softcapping", &d->logit_cap);
    /* Gemma 1 to 3. */
    d->centred = by_has_word("gemma gemma2 gemma3 gemma3_text", type);
    d->embedding_scale = d->centred ? sqrt((double)d->hidden) : 1;
    d->top_sums = !strcmp(type, "mixtral");
    by_hf_bool(config, "norm_topk_prob", &d->top_sums);
    return 0;
}
