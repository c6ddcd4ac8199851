/* Roles as words, and which of them a quantizer takes unless it is told otherwise. */
#include "llm/family/family.h"

static const struct {
    const char *text;
    bool linear;
    const char *excluded; /* of its weights */
} role_rows[BY_LLM_COUNT] = {
    [BY_LLM_UNKNOWN] = {"unknown", false, "not recognised"},
    [BY_LLM_Q] = {"q", true, NULL},
    [BY_LLM_K] = {"k", true, NULL},
    [BY_LLM_V] = {"v", true, NULL},
    [BY_LLM_QKV] = {"qkv", true, NULL},
    [BY_LLM_O] = {"o", true, NULL},
    [BY_LLM_Q_A] = {"q_a", true, NULL},
    [BY_LLM_Q_B] = {"q_b", true, NULL},
    [BY_LLM_KV_A] = {"kv_a", true, NULL},
    [BY_LLM_KV_B] = {"kv_b", true, NULL},
    [BY_LLM_SINKS] = {"sinks", false, "attention sinks"},
    [BY_LLM_GATE] = {"gate", true, NULL},
    [BY_LLM_UP] = {"up", true, NULL},
    [BY_LLM_GATE_UP] = {"gate_up", true, NULL},
    [BY_LLM_DOWN] = {"down", true, NULL},
    [BY_LLM_ROUTER] = {"router", true, "a router of experts"},
    [BY_LLM_SHARED_GATE] = {"shared_gate", true, "the gate of a shared expert"},
    [BY_LLM_SSM_IN] = {"ssm_in", true, NULL},
    [BY_LLM_SSM_OUT] = {"ssm_out", true, NULL},
    [BY_LLM_SSM] = {"ssm", false, "a small part of a state space"},
    [BY_LLM_CONV] = {"conv", false, "a convolution"},
    [BY_LLM_NORM] = {"norm", false, "a norm"},
    [BY_LLM_Q_NORM] = {"q_norm", false, "a norm"},
    [BY_LLM_K_NORM] = {"k_norm", false, "a norm"},
    [BY_LLM_EMBEDDING] = {"embedding", false, "the embedding"},
    [BY_LLM_POSITION] = {"position", false, "positions"},
    [BY_LLM_HEAD] = {"head", true, "the head"},
    [BY_LLM_BUFFER] = {"buffer", false, "a buffer"},
    [BY_LLM_OTHER] = {"other", false, "not a part of the decoder"},
};

static const struct {
    const char *text, *excluded;
} rows_of_parts[] = {
    [BY_LLM_PART_DECODER] = {"decoder", NULL},
    [BY_LLM_PART_VISION] = {"vision", "of the vision tower"},
    [BY_LLM_PART_AUDIO] = {"audio", "of the audio tower"},
    [BY_LLM_PART_PROJECTOR] = {"projector", "of the projector"},
    [BY_LLM_PART_MTP] = {"mtp", "of a block that predicts more tokens"},
};

bool by_llm_role_is_linear(const struct by_tensor_role *role)
{
    return role->param == BY_LLM_PARAM_WEIGHT && role_rows[role->role].linear;
}

const char *by_llm_role_excluded(const struct by_tensor_role *role)
{
    if (rows_of_parts[role->part].excluded)
        return rows_of_parts[role->part].excluded;
    if (role_rows[role->role].excluded)
        return role_rows[role->role].excluded;
    if (role->param == BY_LLM_PARAM_BIAS)
        return "a bias";
    return role->param == BY_LLM_PARAM_QUANT ? "of a quantization" : NULL;
}

const char *by_llm_role_text(enum by_llm_role role)
{
    return role_rows[role].text;
}

const char *by_llm_part_text(enum by_llm_part part)
{
    return rows_of_parts[part].text;
}
