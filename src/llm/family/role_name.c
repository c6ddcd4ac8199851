/* The role of a tensor by the parts of its name. */
#include "llm/family/family.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Rows for the last part of a module's name; `above` must appear before it when given.
 * The first row that fits decides. */
struct name_row {
    const char *leaves; /* words */
    const char *above;
    enum by_llm_role role;
};

static const struct name_row name_rows[] = {
    {"shared_expert_gate ffn_gate_inp_shexp", NULL, BY_LLM_SHARED_GATE},
    {"router ffn_gate_inp e_score_correction_bias exp_probs_b", NULL, BY_LLM_ROUTER},
    {"proj layer linear wg scale per_expert_scale classifier", ".router", BY_LLM_ROUTER},
    {"wg", ".gate", BY_LLM_ROUTER},
    {"q_norm q_layernorm query_layernorm attn_q_norm", NULL, BY_LLM_Q_NORM},
    {"k_norm k_layernorm key_layernorm attn_k_norm", NULL, BY_LLM_K_NORM},
    {"q_proj wq query q attn_q to_q", NULL, BY_LLM_Q},
    {"k_proj wk key k attn_k to_k", NULL, BY_LLM_K},
    {"v_proj wv value v attn_v to_v", NULL, BY_LLM_V},
    {"qkv_proj query_key_value c_attn Wqkv wqkv qkv W_pack attn_qkv att_proj", NULL, BY_LLM_QKV},
    {"q_a_proj attn_q_a wq_a", NULL, BY_LLM_Q_A},
    {"q_b_proj attn_q_b wq_b", NULL, BY_LLM_Q_B},
    {"kv_a_proj_with_mqa kv_a_proj attn_kv_a_mqa wkv_a", NULL, BY_LLM_KV_A},
    {"kv_b_proj attn_kv_b attn_k_b attn_v_b wkv_b", NULL, BY_LLM_KV_B},
    {"sinks attn_sinks", NULL, BY_LLM_SINKS},
    {"o_proj wo attn_output attn_out", NULL, BY_LLM_O},
    {"out_proj", "linear_attn", BY_LLM_SSM_OUT},
    {"out_proj dense c_proj o proj linear_out", "att", BY_LLM_O},
    {"ffn_gate ffn_gate_exps ffn_gate_shexp gate_proj w1 linear_1_gate", NULL, BY_LLM_GATE},
    {"ffn_up ffn_up_exps ffn_up_shexp up_proj w3 v1", NULL, BY_LLM_UP},
    {"c_fc c_fc_0 fc1 dense_h_to_4h fc_in lin1 wi linear_fc1 ff_proj", NULL, BY_LLM_UP},
    {"c_fc_1", NULL, BY_LLM_UP},
    {"gate_up_proj gate_and_up_proj ffn_gate_up_exps input_linear dense_gate_up", NULL,
     BY_LLM_GATE_UP},
    {"ffn_down ffn_down_exps ffn_down_shexp down_proj w2 fc2 dense_4h_to_h fc_out lin2", NULL,
     BY_LLM_DOWN},
    {"linear_fc2 output_linear ff_out", ".", BY_LLM_DOWN},
    {"c_proj", "mlp", BY_LLM_DOWN},
    {"layer proj", ".gate", BY_LLM_ROUTER},
    {"conv1d conv_1d conv ssm_conv1d short_conv q_conv1d k_conv1d v_conv1d", NULL, BY_LLM_CONV},
    {"in_proj", ".conv", BY_LLM_SSM_IN},
    {"out_proj", ".conv", BY_LLM_SSM_OUT},
    {"in_proj in_proj_qkvz in_proj_qkv in_proj_z in_proj_ba in_proj_a in_proj_b ssm_in", NULL,
     BY_LLM_SSM_IN},
    {"out_proj ssm_out", NULL, BY_LLM_SSM_OUT},
    {"A_log D dt_bias x_proj dt_proj ssm_a ssm_d ssm_dt ssm_x ssm_ba A", NULL, BY_LLM_SSM},
    {"embed_tokens wte word_embeddings embed_in tok_embeddings token_embd tok_embd embed_tokens_"
     "per_layer per_layer_token_embd",
     NULL, BY_LLM_EMBEDDING},
    {"embedding embeddings", NULL, BY_LLM_EMBEDDING},
    {"wpe embed_positions position_embd position_embeddings rope_freqs rope_factors_long "
     "rope_factors_short",
     NULL, BY_LLM_POSITION},
    {"lm_head embed_out output_layer lm_output", NULL, BY_LLM_HEAD},
    {"inv_freq masked_bias rotary_emb attn_bias_mask causal_mask", NULL, BY_LLM_BUFFER},
    {"ln_1 ln_2 ln_f ln_mlp ln_attn ln_out ln_in ln", NULL, BY_LLM_NORM},
    {"input_layernorm post_attention_layernorm", NULL, BY_LLM_NORM},
};

/* Parts that say which network it is; a word stands for a part that contains it. */
struct part_row {
    const char *word;
    bool whole; /* the part is that word */
    enum by_llm_part part;
};

static const struct part_row part_rows[] = {
    {"multi_modal_projector", false, BY_LLM_PART_PROJECTOR},
    {"mm_projector", false, BY_LLM_PART_PROJECTOR},
    {"embed_vision", true, BY_LLM_PART_PROJECTOR},
    {"embed_audio", true, BY_LLM_PART_PROJECTOR},
    {"audio_projection", false, BY_LLM_PART_PROJECTOR},
    {"connector", true, BY_LLM_PART_PROJECTOR},
    {"mlp1", true, BY_LLM_PART_PROJECTOR},
    {"patch_merger", true, BY_LLM_PART_PROJECTOR},
    {"mm", true, BY_LLM_PART_PROJECTOR},
    {"vision", false, BY_LLM_PART_VISION},
    {"visual", false, BY_LLM_PART_VISION},
    {"image", false, BY_LLM_PART_VISION},
    {"patch_embed", false, BY_LLM_PART_VISION},
    {"vit", true, BY_LLM_PART_VISION},
    {"v", true, BY_LLM_PART_VISION},
    {"audio", false, BY_LLM_PART_AUDIO},
    {"speech", false, BY_LLM_PART_AUDIO},
    {"mtp", true, BY_LLM_PART_MTP},
    {"mtp_block", false, BY_LLM_PART_MTP},
    {"nextn", true, BY_LLM_PART_MTP},
    {"eh_proj", true, BY_LLM_PART_MTP},
    {"enorm", true, BY_LLM_PART_MTP},
    {"hnorm", true, BY_LLM_PART_MTP},
    {"shared_head", true, BY_LLM_PART_MTP},
};

/* The last part when it names a parameter of a module. */
static const struct {
    const char *words;
    enum by_llm_param param;
} param_rows[] = {
    {"weight qweight weight_packed", BY_LLM_PARAM_WEIGHT},
    {"bias b", BY_LLM_PARAM_BIAS},
    {"weight_scale weight_scale_2 weight_scale_inv weight_zero_point weight_zero_point_2 "
     "weight_shape weight_g_idx weight_global_scale input_global_scale input_scale input_scale_2 "
     "input_zero_point output_scale qzeros scales g_idx k_scale v_scale prob_output_scale "
     "weight_scale_1 scale",
     BY_LLM_PARAM_QUANT},
};

#define NAME_PARTS_MAX 32

/* A name in parts; the texts are in `buf`. */
struct name_parts {
    char buf[512];
    const char *at[NAME_PARTS_MAX];
    size_t count;
};

static bool name_split(struct name_parts *parts, const char *name)
{
    size_t size = strlen(name);
    parts->count = 0;
    if (size >= sizeof parts->buf)
        return false;
    memcpy(parts->buf, name, size + 1);
    for (char *at = parts->buf; at;) {
        if (parts->count == NAME_PARTS_MAX)
            return false;
        parts->at[parts->count++] = at;
        at = strchr(at, '.');
        if (at)
            *at++ = '\0';
    }
    return true;
}

static bool is_number(const char *part)
{
    size_t digits = strspn(part, "0123456789");
    return digits && digits < 10 && !part[digits];
}

/* gate_up_proj_blocks, gate_up_proj_bias: parameters without a module of their own. */
static void cut_suffix(char *part, enum by_llm_param *param)
{
    static const struct {
        const char *suffix;
        enum by_llm_param param;
    } rows[] = {{"_blocks", BY_LLM_PARAM_WEIGHT},
                {"_scales", BY_LLM_PARAM_QUANT},
                {"_scale_inv", BY_LLM_PARAM_QUANT},
                {"_scale", BY_LLM_PARAM_QUANT},
                {"_bias", BY_LLM_PARAM_BIAS}};
    size_t size = strlen(part);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i].suffix);
        if (size <= length || strcmp(part + size - length, rows[i].suffix) != 0)
            continue;
        part[size - length] = '\0';
        *param = rows[i].param;
        return;
    }
}

/* Takes the parameter off the end; what remains names the module. */
static enum by_llm_param take_param(struct name_parts *parts)
{
    const char *last = parts->at[parts->count - 1];
    for (size_t i = 0; parts->count > 1 && i < sizeof param_rows / sizeof *param_rows; i++) {
        if (!by_has_word(param_rows[i].words, last))
            continue;
        parts->count--;
        return param_rows[i].param;
    }
    enum by_llm_param param = BY_LLM_PARAM_WEIGHT;
    if (strcmp(last, "dt_bias") != 0 && strcmp(last, "e_score_correction_bias") != 0)
        cut_suffix(parts->buf + (last - parts->buf), &param);
    return param;
}

static enum by_llm_part part_of(const struct name_parts *parts)
{
    for (size_t row = 0; row < sizeof part_rows / sizeof *part_rows; row++)
        for (size_t i = 0; i < parts->count; i++) {
            /* "v" is the vision tower of GGUF only where the name begins with it. */
            if (part_rows[row].whole ? strcmp(parts->at[i], part_rows[row].word) == 0 &&
                                           (i == 0 || strlen(parts->at[i]) > 2)
                                     : strstr(parts->at[i], part_rows[row].word) != NULL)
                return part_rows[row].part;
        }
    return BY_LLM_PART_DECODER;
}

/* Numbers: of the layer, then of the expert after the part that says so. */
static void read_numbers(const struct name_parts *parts, struct by_tensor_role *role)
{
    bool in_experts = false;
    for (size_t i = 0; i < parts->count; i++) {
        const char *part = parts->at[i];
        in_experts = in_experts || !strcmp(part, "experts") || !strcmp(part, "moe");
        if (strstr(part, "shared_expert") || strstr(part, "shexp") || !strcmp(part, "shared_mlp"))
            role->shared = true;
        if (!is_number(part))
            continue;
        if (role->layer < 0)
            role->layer = strtoll(part, NULL, 10);
        else if (in_experts && role->expert < 0)
            role->expert = strtoll(part, NULL, 10);
    }
    const char *leaf = parts->at[parts->count - 1];
    size_t size = strlen(leaf);
    bool gguf = size > 5 && !strcmp(leaf + size - 5, "_exps");
    role->stacked = (in_experts && role->expert < 0 && !role->shared) || gguf;
}

/* The parts above the leaf as ".a.b." for a search of words in them. */
static void join_above(const struct name_parts *parts, char *buf, size_t size)
{
    size_t used = 0;
    buf[used++] = '.';
    for (size_t i = 0; i + 1 < parts->count; i++) {
        size_t length = strlen(parts->at[i]);
        if (used + length + 2 > size)
            break;
        memcpy(buf + used, parts->at[i], length);
        used += length;
        buf[used++] = '.';
    }
    buf[used] = '\0';
}

static bool ends_in_norm(const char *leaf)
{
    size_t size = strlen(leaf);
    return strstr(leaf, "norm") || (size > 3 && !strcmp(leaf + size - 3, "_ln"));
}

static enum by_llm_role role_by_rows(const struct name_parts *parts,
                                     const struct by_tensor_role *role)
{
    char above[512];
    const char *leaf = parts->at[parts->count - 1];
    join_above(parts, above, sizeof above);
    for (size_t i = 0; i < sizeof name_rows / sizeof *name_rows; i++)
        if (by_has_word(name_rows[i].leaves, leaf) &&
            (!name_rows[i].above || strstr(above, name_rows[i].above)))
            return name_rows[i].role;
    if (ends_in_norm(leaf))
        return BY_LLM_NORM;
    if (!strcmp(leaf, "gate"))
        return BY_LLM_ROUTER; /* by_family_read() looks whether there are experts */
    if (!strcmp(leaf, "output") && role->layer < 0)
        return BY_LLM_HEAD;
    if (!strcmp(leaf, "norm"))
        return BY_LLM_NORM;
    return role->part == BY_LLM_PART_DECODER ? BY_LLM_UNKNOWN : BY_LLM_OTHER;
}

void by_llm_role_of_name(const char *name, struct by_tensor_role *role)
{
    struct name_parts parts;
    *role = (struct by_tensor_role){.layer = -1, .expert = -1};
    if (!name_split(&parts, name))
        return;
    role->param = take_param(&parts);
    role->part = part_of(&parts);
    read_numbers(&parts, role);
    role->role = role_by_rows(&parts, role);
    /* attn.bias of GPT-2 and GPT-NeoX is a mask. */
    if (role->param == BY_LLM_PARAM_BIAS && role->role == BY_LLM_UNKNOWN &&
        by_has_word("attn attention", parts.at[parts.count - 1]))
        role->role = BY_LLM_BUFFER;
    if (role->role == BY_LLM_EMBEDDING && role->layer >= 0)
        role->role = BY_LLM_UNKNOWN;
}
