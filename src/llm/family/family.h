/*
 * What each tensor of a decoder is for, found from its name, its shape and
 * config.json. Names are recognised by their parts (`self_attn.q_proj`,
 * `h.3.mlp.c_fc`, `blk.0.ffn_down`), not by the name of the model, so that a new
 * model made of known parts needs nothing. It takes names and dims, no container.
 */
#ifndef BY_LLM_FAMILY_H
#define BY_LLM_FAMILY_H

#include "base/doc.h"

enum by_llm_role {
    BY_LLM_UNKNOWN,
    /* Attention; Q_A to KV_B are the factors of latent attention (DeepSeek). */
    BY_LLM_Q,
    BY_LLM_K,
    BY_LLM_V,
    BY_LLM_QKV,
    BY_LLM_O,
    BY_LLM_Q_A,
    BY_LLM_Q_B,
    BY_LLM_KV_A,
    BY_LLM_KV_B,
    BY_LLM_SINKS,
    /* Feed-forward; with `expert` or `stacked` set these are an expert's. */
    BY_LLM_GATE,
    BY_LLM_UP,
    BY_LLM_GATE_UP,
    BY_LLM_DOWN,
    BY_LLM_ROUTER,
    BY_LLM_SHARED_GATE,
    /* Linear attention and state spaces. */
    BY_LLM_SSM_IN,
    BY_LLM_SSM_OUT,
    BY_LLM_SSM, /* their small parts: A, D, dt, x */
    BY_LLM_CONV,
    /* Outside of the matrix products. */
    BY_LLM_NORM,
    BY_LLM_Q_NORM,
    BY_LLM_K_NORM,
    BY_LLM_EMBEDDING,
    BY_LLM_POSITION, /* learned positions, factors of rotary ones */
    BY_LLM_HEAD,
    BY_LLM_BUFFER, /* of a running model: masks, inv_freq; needed by nobody */
    BY_LLM_OTHER,  /* of a part that is not the decoder, see `part` */
    BY_LLM_COUNT,
};

/* Which network of the checkpoint it belongs to. */
enum by_llm_part {
    BY_LLM_PART_DECODER,
    BY_LLM_PART_VISION,
    BY_LLM_PART_AUDIO,
    BY_LLM_PART_PROJECTOR, /* from vision or audio to the decoder */
    BY_LLM_PART_MTP,       /* blocks that predict more than one token */
};

enum by_llm_param {
    BY_LLM_PARAM_WEIGHT, /* packed ones too: qweight, weight_packed, *_blocks */
    BY_LLM_PARAM_BIAS,
    BY_LLM_PARAM_QUANT, /* what a quantization stores beside: scales, zero points, order */
};

struct by_tensor_role {
    enum by_llm_role role;
    enum by_llm_part part;
    enum by_llm_param param;
    int64_t layer;   /* -1: outside of the layers */
    int64_t expert;  /* -1: none, or stacked */
    bool stacked;    /* all experts of a layer in one tensor of three dimensions */
    bool shared;     /* of an expert that every token takes */
    bool transposed; /* stored as [in, out] (GPT-2's Conv1D, stacked experts of some) */
};

/* A tensor as its container lists it; dims in the order of safetensors, slowest first. */
struct by_family_tensor {
    const char *name;
    const uint64_t *dims;
    size_t rank;
};

struct by_family {
    const char *model_type;           /* of the decoder; "" when config.json has none */
    const char *architecture;         /* the first of `architectures`, "" */
    const struct by_doc_node *config; /* the decoder's part of config.json; NULL: none */
    struct by_tensor_role *roles;     /* one a tensor, in their order */
    size_t count;
    size_t unknown;       /* tensors with BY_LLM_UNKNOWN */
    size_t first_unknown; /* its index, count when there is none */
    uint64_t layers;      /* of the decoder, MTP blocks not counted */
    uint64_t hidden;      /* 0: not known */
    uint64_t experts;     /* 0: none */
    bool tied;            /* the embedding is the head as well */
};

/* The name alone: layer and expert are numbers in it, no rule that needs other tensors. */
void by_llm_role_of_name(const char *name, struct by_tensor_role *role);

/*
 * The roles of all tensors; memory comes from the arena. config may be NULL (a bare file of
 * tensors). Names that are not recognised get BY_LLM_UNKNOWN, no error.
 */
int by_family_read(struct by_family *family, struct by_arena *arena,
                   const struct by_doc_node *config, const struct by_family_tensor *tensors,
                   size_t count, struct baryon_error *err);

/*
 * What a model needs to run: every layer has its projections, the embedding is there, and so is
 * the head unless it is tied; shapes agree with config.json. Fails with the tensor and the rule.
 */
int by_family_check(const struct by_family *family, const struct by_family_tensor *tensors,
                    struct baryon_error *err);

/* A matrix of a linear layer or a stack of them: what a quantizer can take. */
bool by_llm_role_is_linear(const struct by_tensor_role *role);
/* Why a linear layer or another matrix is left alone unless asked for; NULL: it is quantized. */
const char *by_llm_role_excluded(const struct by_tensor_role *role);
/* "q", "gate_up", "embedding"; "vision", "mtp". */
const char *by_llm_role_text(enum by_llm_role role);
const char *by_llm_part_text(enum by_llm_part part);

/* config.json: the decoder's own map where a model of several parts nests it (text_config). */
const struct by_doc_node *by_hf_text(const struct by_doc_node *config);
/* Values of a key, or of the first of several names separated by spaces that is there and is not
 * null; false when none is. A value of another kind counts as absent. */
bool by_hf_int(const struct by_doc_node *config, const char *keys, int64_t *value);
bool by_hf_number(const struct by_doc_node *config, const char *keys, double *value);
bool by_hf_bool(const struct by_doc_node *config, const char *keys, bool *value);
const char *by_hf_string(const struct by_doc_node *config, const char *keys);

#endif
