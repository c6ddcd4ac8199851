/* Whether the tensors of a checkpoint make the model that config.json describes. */
#include "llm/family/family.h"

#include "base/str.h"

#include <inttypes.h>

/* What a layer has; bits. */
enum { HAS_ANY = 1, HAS_DOWN = 2, HAS_IN = 4, HAS_OUT = 8, HAS_Q = 16, HAS_K = 32, HAS_V = 64 };

static unsigned part_of_layer(const struct by_tensor_role *role)
{
    switch (role->role) {
    case BY_LLM_DOWN:
        return HAS_ANY | HAS_DOWN;
    case BY_LLM_UP:
    case BY_LLM_GATE_UP:
        return HAS_ANY | HAS_IN;
    case BY_LLM_O:
    case BY_LLM_SSM_OUT:
        return HAS_ANY | HAS_OUT;
    case BY_LLM_QKV:
        return HAS_ANY | HAS_Q | HAS_K | HAS_V;
    case BY_LLM_Q:
    case BY_LLM_Q_B:
        return HAS_ANY | HAS_Q;
    case BY_LLM_K:
        return HAS_ANY | HAS_K;
    case BY_LLM_V:
        return HAS_ANY | HAS_V;
    case BY_LLM_KV_B:
        return HAS_ANY | HAS_K | HAS_V;
    default:
        return HAS_ANY;
    }
}

static const char *missing_of(unsigned has)
{
    if (!(has & HAS_ANY))
        return "tensor";
    if ((has & HAS_IN) && !(has & HAS_DOWN))
        return "down projection";
    if ((has & HAS_DOWN) && !(has & HAS_IN))
        return "up projection";
    if (!(has & HAS_Q))
        return has & (HAS_K | HAS_V) ? "q projection" : NULL;
    if (!(has & HAS_K))
        return "k projection";
    if (!(has & HAS_V))
        return "v projection";
    return has & HAS_OUT ? NULL : "o projection";
}

static int check_layers(const struct by_family *family, struct baryon_error *err)
{
    struct by_arena arena;
    by_arena_init(&arena, 0);
    if (family->layers > family->count)
        return by_fail(err, BARYON_ERR_INPUT,
                       "num_hidden_layers is %" PRIu64 ", the checkpoint has only %zu tensors",
                       family->layers, family->count);
    unsigned *has = by_arena_alloc(&arena, (size_t)family->layers, sizeof *has, err);
    int status = has ? 0 : -1;
    for (size_t i = 0; !status && i < family->count; i++) {
        const struct by_tensor_role *role = &family->roles[i];
        if (role->part == BY_LLM_PART_DECODER && role->layer >= 0 &&
            role->param == BY_LLM_PARAM_WEIGHT)
            has[role->layer] |= part_of_layer(role);
    }
    for (size_t i = 0; !status && i < family->layers; i++) {
        const char *missing = missing_of(has[i]);
        if (missing)
            status = by_fail(err, BARYON_ERR_INPUT,
                             "layer %zu has no %s, every layer of %" PRIu64 " needs it", i, missing,
                             family->layers);
    }
    by_arena_release(&arena);
    return status;
}

/* The side of a matrix that meets the residual stream: 0 rows, 1 columns, -1 neither. */
static int residual_side(const struct by_tensor_role *role)
{
    switch (role->role) {
    case BY_LLM_Q:
    case BY_LLM_K:
    case BY_LLM_V:
    case BY_LLM_QKV:
    case BY_LLM_UP:
    case BY_LLM_GATE:
    case BY_LLM_GATE_UP:
    case BY_LLM_ROUTER:
        return role->transposed ? 0 : 1;
    case BY_LLM_EMBEDDING:
    case BY_LLM_HEAD:
        return 1;
    case BY_LLM_O:
    case BY_LLM_DOWN:
        return role->transposed ? 1 : 0;
    default:
        return -1;
    }
}

static int check_shape(const struct by_family *family, const struct by_tensor_role *role,
                       const struct by_family_tensor *tensor, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    int side = residual_side(role);
    if (role->part != BY_LLM_PART_DECODER || role->param != BY_LLM_PARAM_WEIGHT || side < 0 ||
        !family->hidden || tensor->rank != (role->stacked ? 3u : 2u))
        return 0;
    uint64_t width = tensor->dims[tensor->rank - 2 + (size_t)side];
    if (width != family->hidden)
        return by_fail(
            err, BARYON_ERR_INPUT, "tensor %s: %s (%" PRIu64 "), must be hidden_size (%" PRIu64 ")",
            by_quote(quoted, tensor->name), side ? "columns" : "rows", width, family->hidden);
    return 0;
}

static int check_ends(const struct by_family *family, struct baryon_error *err)
{
    bool embedding = false, tied = true;
    for (size_t i = 0; i < family->count; i++)
        embedding |= family->roles[i].role == BY_LLM_EMBEDDING &&
                     family->roles[i].part == BY_LLM_PART_DECODER;
    if (!embedding)
        return by_fail(err, BARYON_ERR_INPUT, "the embedding is missing, a decoder needs it");
    if (family->tied && by_hf_bool(family->config, "tie_word_embeddings", &tied) && !tied)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the head is missing and tie_word_embeddings is false, must be there; "
                       "set tie_word_embeddings to true if the embedding is the head");
    return 0;
}

int by_family_check(const struct by_family *family, const struct by_family_tensor *tensors,
                    struct baryon_error *err)
{
    if (check_ends(family, err) || check_layers(family, err))
        return -1;
    /* Packed weights have other shapes. */
    if (by_doc_get(family->config, "quantization_config"))
        return 0;
    for (size_t i = 0; i < family->count; i++)
        if (check_shape(family, &family->roles[i], &tensors[i], err))
            return -1;
    return 0;
}
