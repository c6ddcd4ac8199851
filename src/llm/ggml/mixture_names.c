/* What tensors of GGUF files are, by their names, as far as types depend on it. */
#include "llm/ggml/mixture.h"

#include <string.h>

static const struct {
    const char *part;
    enum by_ggml_kind kind;
} kinds[] = {
    {"attn_qkv.weight", BY_GGML_ATTN_V}, {"attn_kv_b.weight", BY_GGML_ATTN_V},
    {"attn_v.weight", BY_GGML_ATTN_V},   {"attn_k.weight", BY_GGML_ATTN_K},
    {"attn_q.weight", BY_GGML_ATTN_Q},   {"attn_output.weight", BY_GGML_ATTN_OUTPUT},
    {"ffn_up", BY_GGML_FFN_UP},          {"ffn_gate", BY_GGML_FFN_GATE},
    {"ffn_down", BY_GGML_FFN_DOWN},
};

enum by_ggml_kind by_ggml_kind_of(const char *name)
{
    if (!strcmp(name, "output.weight"))
        return BY_GGML_OUTPUT;
    if (!strcmp(name, "token_embd.weight") || !strcmp(name, "per_layer_token_embd.weight"))
        return BY_GGML_TOKEN_EMBD;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(name, kinds[i].part))
            return kinds[i].kind;
    return BY_GGML_OTHER;
}

/* Norms, routers, positions, small convolutions and what else is small but matters. */
static const char *const kept[] = {
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_inp_shexp.weight",
    "ffn_gate_tid2eid.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "attn_rel_b.weight",
    ".position_embd",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
    "a.rvq.codebook",
    "mm.a.code_embd",
};

bool by_ggml_may_quantize(const char *name, size_t dims)
{
    static const char end[] = "weight";
    const size_t length = strlen(name);
    if (dims < 2 || length < sizeof end - 1 || strcmp(name + length - (sizeof end - 1), end) != 0)
        return false;
    if (!strcmp(name, "position_embd.weight") || !strcmp(name, "token_types.weight"))
        return false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strstr(name, kept[i]))
            return false;
    return true;
}
