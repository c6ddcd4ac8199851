/* From config.json to GGUF's metadata. */
#include "llm/family/arch_rows.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct by_meta_row by_meta_rows[] = {
    {"block_count", BY_META_U32, "num_hidden_layers n_layer", NULL, true},
    {"context_length", BY_META_U32, "max_position_embeddings n_positions n_ctx", NULL, false},
    {"embedding_length", BY_META_U32, "hidden_size n_embd", NULL, true},
    {"feed_forward_length", BY_META_U32, "intermediate_size n_inner", NULL, true},
    {"attention.head_count", BY_META_U32, "num_attention_heads n_head", NULL, true},
    {"attention.head_count_kv", BY_META_U32, "num_key_value_heads", NULL, false},
    {"attention.layer_norm_rms_epsilon", BY_META_F32, "rms_norm_eps norm_eps", NULL, true},
    {"attention.key_length", BY_META_U32, "head_dim",
     "llama qwen2 qwen3 qwen2moe qwen3moe gemma gemma2 gemma3", false},
    {"attention.value_length", BY_META_U32, "head_dim",
     "llama qwen2 qwen3 qwen2moe qwen3moe gemma gemma2 gemma3", false},
    {"vocab_size", BY_META_U32, "vocab_size", "llama", false},
    {"expert_count", BY_META_U32, "num_local_experts", "llama", false},
    {"expert_count", BY_META_U32, "num_experts num_local_experts", "qwen2moe qwen3moe", true},
    {"expert_used_count", BY_META_U32, "num_experts_per_tok", "llama qwen2moe qwen3moe", false},
    {"expert_feed_forward_length", BY_META_U32, "moe_intermediate_size", "qwen2moe qwen3moe", true},
    {"expert_shared_feed_forward_length", BY_META_U32, "shared_expert_intermediate_size",
     "qwen2moe", true},
    {"attention.sliding_window", BY_META_U32, "sliding_window", "gemma2 gemma3 phi3", false},
    {"attn_logit_softcapping", BY_META_F32, "attn_logit_softcapping", "gemma2", false},
    {"final_logit_softcapping", BY_META_F32, "final_logit_softcapping", "gemma2 gemma3", false},
};
const size_t by_meta_row_count = sizeof by_meta_rows / sizeof *by_meta_rows;

const char *by_meta_key(char buf[BY_ARCH_NAME_MAX], const struct by_gguf_arch *arch,
                        const char *suffix)
{
    struct by_text text;
    by_text_init(&text, buf, BY_ARCH_NAME_MAX);
    by_text_add(&text, "%s.%s", arch->name, suffix);
    return buf;
}

const struct by_doc_node *by_hf_rope(const struct by_doc_node *config)
{
    const struct by_doc_node *rope = by_doc_get(config, "rope_parameters");
    if (!rope || rope->kind != BY_DOC_MAP)
        rope = by_doc_get(config, "rope_scaling");
    const struct by_doc_node *full = by_doc_get(rope, "full_attention");
    if (full && full->kind == BY_DOC_MAP)
        return full;
    return rope && rope->kind == BY_DOC_MAP ? rope : NULL;
}

static bool dim_of_head(const struct by_doc_node *config, int64_t *dim)
{
    int64_t hidden, heads;
    if (by_hf_int(config, "head_dim", dim))
        return *dim > 0;
    if (!by_hf_int(config, "hidden_size n_embd", &hidden) ||
        !by_hf_int(config, "num_attention_heads n_head", &heads) || heads < 1)
        return false;
    *dim = hidden / heads;
    return *dim > 0;
}

/* transformers' classes of these two fill the size of a head in. */
static bool has_head_dim(const struct by_doc_node *config, const struct by_meta_row *row,
                         int64_t *dim)
{
    const char *type = by_hf_string(config, "model_type");
    return !strcmp(row->keys, "head_dim") && type && by_has_word("llama mistral", type) &&
           dim_of_head(config, dim);
}

static int meta_of_row(struct by_meta *meta, const struct by_gguf_arch *arch,
                       const struct by_meta_row *row, const struct by_doc_node *config,
                       struct baryon_error *err)
{
    char key[BY_ARCH_NAME_MAX];
    int64_t integer;
    double real;
    by_meta_key(key, arch, row->suffix);
    if (row->kind == BY_META_F32 && by_hf_number(config, row->keys, &real)) {
        by_meta_set_f32(meta, key, real);
    } else if (row->kind == BY_META_U32 &&
               (by_hf_int(config, row->keys, &integer) || has_head_dim(config, row, &integer))) {
        if (integer < 0 || integer > UINT32_MAX)
            return by_fail(err, BARYON_ERR_INPUT, "%s is %" PRIi64 ", must be 0 to %u", row->keys,
                           integer, UINT32_MAX);
        by_meta_set_u32(meta, key, (uint64_t)integer);
    } else if (row->required) {
        return by_fail(err, BARYON_ERR_INPUT, "%.*s is missing, %s needs it",
                       (int)strcspn(row->keys, " "), row->keys, arch->name);
    }
    return 0;
}

/* YaRN's own numbers. */
static void meta_of_yarn(struct by_meta *meta, const struct by_gguf_arch *arch,
                         const struct by_doc_node *rope)
{
    static const struct {
        const char *suffix, *keys;
    } rows[] = {{"rope.scaling.yarn_ext_factor", "extrapolation_factor"},
                {"rope.scaling.yarn_attn_factor", "attention_factor attn_factor"},
                {"rope.scaling.yarn_beta_fast", "beta_fast"},
                {"rope.scaling.yarn_beta_slow", "beta_slow"}};
    char key[BY_ARCH_NAME_MAX];
    double real;
    int64_t context;
    if (by_hf_int(rope, "original_max_position_embeddings", &context) && context > 0)
        by_meta_set_u32(meta, by_meta_key(key, arch, "rope.scaling.original_context_length"),
                        (uint64_t)context);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (by_hf_number(rope, rows[i].keys, &real))
            by_meta_set_f32(meta, by_meta_key(key, arch, rows[i].suffix), real);
}

static int meta_of_scaling(struct by_meta *meta, const struct by_gguf_arch *arch,
                           const struct by_doc_node *config, struct baryon_error *err)
{
    char key[BY_ARCH_NAME_MAX], quoted[BY_QUOTE_MAX];
    double factor;
    const struct by_doc_node *rope = by_hf_rope(config);
    const char *type = by_hf_string(rope, "rope_type type");
    if (!type || by_has_word("default llama3", type))
        return 0;
    by_meta_key(key, arch, "rope.scaling.type");
    if (by_has_word("su longrope", type) && !strcmp(arch->name, "phi3"))
        return 0;
    if (!by_has_word("linear yarn", type))
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "rope_type is %s, must be default, linear, yarn or llama3",
                       by_quote(quoted, type));
    if (!by_hf_number(rope, "factor", &factor))
        return by_fail(err, BARYON_ERR_INPUT, "rope_type %s has no factor, must have one", type);
    by_meta_set_text(meta, key, type);
    by_meta_set_f32(meta, by_meta_key(key, arch, "rope.scaling.factor"), factor);
    if (!strcmp(type, "yarn"))
        meta_of_yarn(meta, arch, rope);
    return 0;
}

static void meta_of_theta(struct by_meta *meta, const struct by_gguf_arch *arch,
                          const struct by_doc_node *config)
{
    char key[BY_ARCH_NAME_MAX];
    double theta;
    const struct by_doc_node *rope = by_doc_get(config, "rope_parameters");
    const struct by_doc_node *sliding = by_doc_get(rope, "sliding_attention");
    /* Gemma 1 and 2 have no key for it: there is one value. */
    if (by_has_word("gemma gemma2", arch->name))
        return;
    if (by_hf_number(by_hf_rope(config), "rope_theta", &theta) ||
        by_hf_number(config, "rope_theta rotary_emb_base", &theta))
        by_meta_set_f32(meta, by_meta_key(key, arch, "rope.freq_base"), theta);
    if (by_hf_number(sliding, "rope_theta", &theta) ||
        by_hf_number(config, "rope_local_base_freq local_rope_theta", &theta))
        by_meta_set_f32(meta, by_meta_key(key, arch, "rope.freq_base_swa"), theta);
}

/* Phi-3: contexts longer than those of training. */
static int meta_of_phi(struct by_meta *meta, const struct by_gguf_arch *arch,
                       const struct by_doc_node *config, struct baryon_error *err)
{
    char key[BY_ARCH_NAME_MAX];
    const struct by_doc_node *rope = by_hf_rope(config);
    int64_t dim, before, now, window;
    double part = 1;
    if (!by_hf_int(rope, "original_max_position_embeddings", &before) &&
        !by_hf_int(config, "original_max_position_embeddings", &before))
        return by_fail(err, BARYON_ERR_INPUT,
                       "original_max_position_embeddings is missing, phi3 needs it");
    if (!by_hf_number(rope, "partial_rotary_factor", &part))
        by_hf_number(config, "partial_rotary_factor", &part);
    if (dim_of_head(config, &dim))
        by_meta_set_u32(meta, by_meta_key(key, arch, "rope.dimension_count"),
                        (uint64_t)((double)dim * part));
    by_meta_set_u32(meta, by_meta_key(key, arch, "rope.scaling.original_context_length"),
                    (uint64_t)before);
    if (!by_hf_int(config, "sliding_window", &window))
        by_meta_set_u32(meta, by_meta_key(key, arch, "attention.sliding_window"), 0);
    if (by_doc_get(rope, "long_factor") && by_hf_int(config, "max_position_embeddings", &now)) {
        double scale = (double)now / (double)before;
        by_meta_set_f32(meta, by_meta_key(key, arch, "rope.scaling.attn_factor"),
                        scale > 1 ? sqrt(1 + log(scale) / log((double)before)) : 1);
    }
    return 0;
}

int by_meta_of_config(struct by_meta *meta, const struct by_gguf_arch *arch,
                      const struct by_doc_node *config, struct baryon_error *err)
{
    char key[BY_ARCH_NAME_MAX];
    int64_t dim, heads;
    for (size_t i = 0; i < by_meta_row_count; i++) {
        const struct by_meta_row *row = &by_meta_rows[i];
        if ((!row->archs || by_has_word(row->archs, arch->name)) &&
            meta_of_row(meta, arch, row, config, err))
            return -1;
    }
    if (!by_hf_int(config, "num_key_value_heads", &heads) &&
        by_hf_int(config, "num_attention_heads n_head", &heads))
        by_meta_set_u32(meta, by_meta_key(key, arch, "attention.head_count_kv"), (uint64_t)heads);
    if (!strcmp(arch->name, "llama") && dim_of_head(config, &dim))
        by_meta_set_u32(meta, by_meta_key(key, arch, "rope.dimension_count"), (uint64_t)dim);
    if (!strcmp(arch->name, "phi3") && meta_of_phi(meta, arch, config, err))
        return -1;
    meta_of_theta(meta, arch, config);
    return meta_of_scaling(meta, arch, config, err) ? -1 : by_meta_error(meta, err);
}

static float factor_of(double wavelength, double factor, double low, double high, double context)
{
    if (wavelength < context / high)
        return 1;
    if (wavelength > context / low)
        return (float)factor;
    double smooth = (context / wavelength - low) / (high - low);
    return (float)(1 / ((1 - smooth) / factor + smooth));
}

int by_rope_factors(struct by_arena *arena, const struct by_doc_node *config, const float **factors,
                    size_t *count, struct baryon_error *err)
{
    const struct by_doc_node *rope = by_hf_rope(config);
    const char *type = by_hf_string(rope, "rope_type type");
    double base = 10000, factor = 8, low = 1, high = 4, context = 8192;
    int64_t dim;
    *count = 0;
    if (!type || strcmp(type, "llama3") != 0 || !dim_of_head(config, &dim))
        return 0;
    if (!by_hf_number(rope, "rope_theta", &base))
        by_hf_number(config, "rope_theta", &base);
    by_hf_number(rope, "factor", &factor);
    by_hf_number(rope, "low_freq_factor", &low);
    by_hf_number(rope, "high_freq_factor", &high);
    by_hf_number(rope, "original_max_position_embeddings", &context);
    if (!(factor > 0 && low > 0 && high > low && context > 0 && base > 0) || dim > 1 << 20)
        return by_fail(err, BARYON_ERR_INPUT,
                       "rope_type llama3: factors are not positive, must be, and "
                       "low_freq_factor must be below high_freq_factor");
    float *out = by_arena_alloc(arena, (size_t)dim / 2, sizeof *out, err);
    if (!out)
        return -1;
    for (int64_t i = 0; i < dim / 2; i++) {
        /* In float, as PyTorch has the frequencies. */
        float exponent = (float)(2 * i) / (float)dim;
        float frequency = 1.0f / powf((float)base, exponent);
        out[i] =
            factor_of(2 * 3.14159265358979323846 / (double)frequency, factor, low, high, context);
    }
    *factors = out;
    *count = (size_t)dim / 2;
    return 0;
}

int by_rope_list(struct by_arena *arena, const struct by_doc_node *config, const char *key,
                 const float **factors, size_t *count, struct baryon_error *err)
{
    const struct by_doc_node *list = by_doc_get(by_hf_rope(config), key);
    *count = 0;
    if (!list || list->kind != BY_DOC_LIST)
        return 0;
    float *out = by_arena_alloc(arena, list->count, sizeof *out, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        double value;
        if (list->items[i]->kind != BY_DOC_SCALAR || !by_parse_double(list->items[i]->text, &value))
            return by_fail(err, BARYON_ERR_INPUT, "%s[%zu] is no number, must be one", key, i);
        out[i] = (float)value;
    }
    *factors = out;
    *count = list->count;
    return 0;
}
