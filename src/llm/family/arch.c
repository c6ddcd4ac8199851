/* GGUF's architectures, names of their tensors, order of their rows. */
#include "llm/family/arch.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static const struct by_gguf_arch archs[] = {
    {"llama", "llama mistral smollm", "llama", "LlamaForCausalLM", BY_STYLE_PLAIN, true, false},
    {"llama", "mixtral", "mixtral", "MixtralForCausalLM", BY_STYLE_PLAIN | BY_STYLE_MIXTRAL, true,
     false},
    {"qwen2", "qwen2", "qwen2", "Qwen2ForCausalLM", BY_STYLE_PLAIN, false, false},
    {"qwen3", "qwen3", "qwen3", "Qwen3ForCausalLM", BY_STYLE_PLAIN, false, false},
    {"qwen2moe", "qwen2_moe", "qwen2_moe", "Qwen2MoeForCausalLM", BY_STYLE_PLAIN | BY_STYLE_MOE,
     false, false},
    {"qwen3moe", "qwen3_moe", "qwen3_moe", "Qwen3MoeForCausalLM", BY_STYLE_PLAIN | BY_STYLE_MOE,
     false, false},
    {"phi3", "phi3", "phi3", "Phi3ForCausalLM", BY_STYLE_FUSED, false, false},
    {"gemma", "gemma", "gemma", "GemmaForCausalLM", BY_STYLE_PLAIN, false, true},
    {"gemma2", "gemma2", "gemma2", "Gemma2ForCausalLM", BY_STYLE_SANDWICH, false, true},
    {"gemma3", "gemma3 gemma3_text", "gemma3_text", "Gemma3ForCausalLM", BY_STYLE_SANDWICH, false,
     true},
};

#define ALL_STYLES (BY_STYLE_PLAIN | BY_STYLE_FUSED | BY_STYLE_SANDWICH)

/* Modules below a layer ("model.layers.N." and "blk.N."); '#' is the number of an expert. */
static const struct {
    const char *gguf, *hf;
    unsigned styles;
} layer_rows[] = {
    {"attn_norm", "input_layernorm", ALL_STYLES},
    {"attn_q", "self_attn.q_proj", BY_STYLE_PLAIN | BY_STYLE_SANDWICH},
    {"attn_k", "self_attn.k_proj", BY_STYLE_PLAIN | BY_STYLE_SANDWICH},
    {"attn_v", "self_attn.v_proj", BY_STYLE_PLAIN | BY_STYLE_SANDWICH},
    {"attn_qkv", "self_attn.qkv_proj", BY_STYLE_FUSED},
    {"attn_output", "self_attn.o_proj", ALL_STYLES},
    {"attn_q_norm", "self_attn.q_norm", BY_STYLE_PLAIN | BY_STYLE_SANDWICH},
    {"attn_k_norm", "self_attn.k_norm", BY_STYLE_PLAIN | BY_STYLE_SANDWICH},
    {"ffn_norm", "post_attention_layernorm", BY_STYLE_PLAIN | BY_STYLE_FUSED},
    {"post_attention_norm", "post_attention_layernorm", BY_STYLE_SANDWICH},
    {"ffn_norm", "pre_feedforward_layernorm", BY_STYLE_SANDWICH},
    {"post_ffw_norm", "post_feedforward_layernorm", BY_STYLE_SANDWICH},
    {"ffn_gate", "mlp.gate_proj", BY_STYLE_PLAIN | BY_STYLE_SANDWICH},
    {"ffn_up", "mlp.up_proj", BY_STYLE_PLAIN | BY_STYLE_SANDWICH},
    {"ffn_up", "mlp.gate_up_proj", BY_STYLE_FUSED},
    {"ffn_down", "mlp.down_proj", ALL_STYLES},
    {"ffn_gate_inp", "block_sparse_moe.gate", BY_STYLE_MIXTRAL},
    {"ffn_gate_exps", "block_sparse_moe.experts.#.w1", BY_STYLE_MIXTRAL},
    {"ffn_down_exps", "block_sparse_moe.experts.#.w2", BY_STYLE_MIXTRAL},
    {"ffn_up_exps", "block_sparse_moe.experts.#.w3", BY_STYLE_MIXTRAL},
    {"ffn_gate_inp", "mlp.gate", BY_STYLE_MOE},
    {"ffn_gate_exps", "mlp.experts.#.gate_proj", BY_STYLE_MOE},
    {"ffn_down_exps", "mlp.experts.#.down_proj", BY_STYLE_MOE},
    {"ffn_up_exps", "mlp.experts.#.up_proj", BY_STYLE_MOE},
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate", BY_STYLE_MOE},
    {"ffn_gate_shexp", "mlp.shared_expert.gate_proj", BY_STYLE_MOE},
    {"ffn_down_shexp", "mlp.shared_expert.down_proj", BY_STYLE_MOE},
    {"ffn_up_shexp", "mlp.shared_expert.up_proj", BY_STYLE_MOE},
};

static const struct {
    const char *gguf, *hf;
} global_rows[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

const struct by_gguf_arch *by_gguf_arch_of_model(const char *model_type)
{
    for (size_t i = 0; i < COUNT(archs); i++)
        if (by_has_word(archs[i].models, model_type))
            return &archs[i];
    return NULL;
}

const struct by_gguf_arch *by_gguf_arch_named(const char *name, bool experts)
{
    const struct by_gguf_arch *found = NULL;
    for (size_t i = 0; i < COUNT(archs); i++)
        if (!strcmp(archs[i].name, name) && (!found || experts))
            found = &archs[i];
    return found;
}

void by_gguf_arch_list(char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    for (size_t i = 0; i < COUNT(archs); i++)
        if (!i || strcmp(archs[i].name, archs[i - 1].name) != 0)
            by_text_add(&text, "%s%s", i ? ", " : "", archs[i].name);
}

/* Digits at *at; moves after them. */
static bool take_number(const char **at, int64_t *number)
{
    size_t digits = strspn(*at, "0123456789");
    if (!digits || digits > 9)
        return false;
    *number = 0;
    for (size_t i = 0; i < digits; i++)
        *number = *number * 10 + ((*at)[i] - '0');
    *at += digits;
    return true;
}

/* Whether `module` is the pattern, whose '#' stands for a number. */
static bool module_fits(const char *pattern, const char *module, size_t size, int64_t *expert)
{
    const char *at = module, *end = module + size;
    *expert = -1;
    for (; *pattern; pattern++) {
        if (at >= end)
            return false;
        if (*pattern == '#') {
            if (!take_number(&at, expert))
                return false;
        } else if (*at++ != *pattern) {
            return false;
        }
    }
    return at == end;
}

/* Length of the module before ".weight" or ".bias", 0 when there is neither. */
static size_t module_size(const char *name, const char **suffix)
{
    const char *dot = strrchr(name, '.');
    if (!dot || (strcmp(dot, ".weight") != 0 && strcmp(dot, ".bias") != 0))
        return 0;
    *suffix = dot;
    return (size_t)(dot - name);
}

bool by_gguf_name_of(const struct by_gguf_arch *arch, const char *name, char out[BY_ARCH_NAME_MAX],
                     int64_t *expert)
{
    struct by_text text;
    const char *suffix, *at = strstr(name, "layers.");
    int64_t layer;
    *expert = -1;
    /* Models with other parts have the decoder below language_model. */
    const char *plain = strstr(name, "language_model.");
    const char *inner = plain ? plain + strlen("language_model.") : name;
    by_text_init(&text, out, BY_ARCH_NAME_MAX);
    if (!module_size(name, &suffix))
        return false;
    if (!at) {
        size_t size = (size_t)(suffix - inner);
        for (size_t i = 0; i < COUNT(global_rows); i++) {
            const char *hf = global_rows[i].hf;
            const char *leaf = strncmp(hf, "model.", 6) ? hf : hf + 6;
            if ((strlen(hf) == size && !memcmp(hf, inner, size)) ||
                (plain && strlen(leaf) == size && !memcmp(leaf, inner, size))) {
                by_text_add(&text, "%s%s", global_rows[i].gguf, suffix);
                return true;
            }
        }
        return false;
    }
    at += strlen("layers.");
    if (!take_number(&at, &layer) || *at++ != '.')
        return false;
    for (size_t i = 0; i < COUNT(layer_rows); i++)
        if ((layer_rows[i].styles & arch->styles) &&
            module_fits(layer_rows[i].hf, at, (size_t)(suffix - at), expert)) {
            by_text_add(&text, "blk.%" PRIi64 ".%s%s", layer, layer_rows[i].gguf, suffix);
            return true;
        }
    return false;
}

/* The module of a row with the expert's number in it. */
static void put_module(struct by_text *text, const char *module, int64_t expert)
{
    for (; *module; module++)
        if (*module == '#')
            by_text_add(text, "%" PRIi64, expert);
        else
            by_text_add(text, "%c", *module);
}

bool by_gguf_name_back(const struct by_gguf_arch *arch, const char *name, int64_t expert,
                       char out[BY_ARCH_NAME_MAX])
{
    struct by_text text;
    const char *suffix, *at = name + 4;
    int64_t layer;
    size_t size = module_size(name, &suffix);
    by_text_init(&text, out, BY_ARCH_NAME_MAX);
    for (size_t i = 0; i < COUNT(global_rows); i++)
        if (size && strlen(global_rows[i].gguf) == size &&
            !memcmp(global_rows[i].gguf, name, size)) {
            by_text_add(&text, "%s%s", global_rows[i].hf, suffix);
            return true;
        }
    if (!size || strncmp(name, "blk.", 4) != 0 || !take_number(&at, &layer) || *at++ != '.')
        return false;
    size = (size_t)(suffix - at);
    for (size_t i = 0; i < COUNT(layer_rows); i++)
        if ((layer_rows[i].styles & arch->styles) && strlen(layer_rows[i].gguf) == size &&
            !memcmp(layer_rows[i].gguf, at, size)) {
            by_text_add(&text, "model.layers.%" PRIi64 ".", layer);
            put_module(&text, layer_rows[i].hf, expert);
            by_text_add(&text, "%s", suffix);
            return true;
        }
    return false;
}

bool by_gguf_name_is_stack(const char *name)
{
    return strstr(name, "_exps.") != NULL;
}

uint64_t by_gguf_row_of(uint64_t row, uint64_t rows, uint64_t heads)
{
    uint64_t size = rows / heads, inside = row % size;
    return row - inside + inside % 2 * (size / 2) + inside / 2;
}

uint64_t by_gguf_row_back(uint64_t row, uint64_t rows, uint64_t heads)
{
    uint64_t size = rows / heads, inside = row % size;
    return row - inside + inside % (size / 2) * 2 + inside / (size / 2);
}
