/* The roles of all tensors of a checkpoint, by rules that need more than a name. */
#include "llm/family/family.h"

#include <string.h>

#define KEYS_LAYERS  "num_hidden_layers n_layer n_layers num_layers"
#define KEYS_HIDDEN  "hidden_size n_embd d_model dim"
#define KEYS_EXPERTS "num_local_experts num_experts n_routed_experts moe_num_experts"

static uint64_t family_size(const struct by_doc_node *config, const char *keys)
{
    int64_t value;
    return by_hf_int(config, keys, &value) && value > 0 ? (uint64_t)value : 0;
}

static void read_config(struct by_family *family, const struct by_doc_node *config)
{
    const struct by_doc_node *text = by_hf_text(config);
    const struct by_doc_node *names = by_doc_get(config, "architectures");
    const char *type = by_hf_string(text, "model_type");
    family->config = text;
    family->model_type = type ? type : "";
    family->architecture = "";
    if (names && names->kind == BY_DOC_LIST && names->count && names->items[0]->quoted)
        family->architecture = names->items[0]->text;
    family->layers = family_size(text, KEYS_LAYERS);
    family->hidden = family_size(text, KEYS_HIDDEN);
    family->experts = family_size(text, KEYS_EXPERTS);
    if (!family->experts)
        family->experts = family_size(by_doc_get(text, "ffn_config"), KEYS_EXPERTS);
}

/* Layers and width where config.json does not say them. */
static void count_layers(struct by_family *family, const struct by_family_tensor *tensors)
{
    uint64_t layers = 0;
    for (size_t i = 0; i < family->count; i++) {
        const struct by_tensor_role *role = &family->roles[i];
        if (role->part != BY_LLM_PART_DECODER)
            continue;
        if (role->layer >= 0 && (uint64_t)role->layer + 1 > layers)
            layers = (uint64_t)role->layer + 1;
        if (role->role == BY_LLM_EMBEDDING && !family->hidden && tensors[i].rank == 2)
            family->hidden = tensors[i].dims[1];
    }
    if (!family->layers)
        family->layers = layers;
}

/* What an unrecognised matrix or vector is by its place and shape. */
static enum by_llm_role role_by_shape(const struct by_family *family,
                                      const struct by_tensor_role *role,
                                      const struct by_family_tensor *tensor, uint64_t vocab)
{
    bool matrix = tensor->rank == 2 && family->hidden && tensor->dims[1] == family->hidden;
    if (role->param != BY_LLM_PARAM_WEIGHT)
        return BY_LLM_UNKNOWN;
    if (role->layer < 0 && matrix && vocab && tensor->dims[0] == vocab)
        return BY_LLM_HEAD;
    if (tensor->rank == 1 && family->hidden && tensor->dims[0] == family->hidden &&
        strstr(tensor->name, "ln"))
        return BY_LLM_NORM;
    return BY_LLM_UNKNOWN;
}

static void settle_role(const struct by_family *family, struct by_tensor_role *role,
                        const struct by_family_tensor *tensor, uint64_t vocab)
{
    const char *gate = strstr(tensor->name, ".gate.");
    if (tensor->rank == 3 && role->expert < 0 && role->layer >= 0 && by_llm_role_is_linear(role))
        role->stacked = true;
    if (role->part == BY_LLM_PART_DECODER && role->layer >= 0 &&
        (uint64_t)role->layer >= family->layers)
        role->part = BY_LLM_PART_MTP;
    /* A layer without experts has a gate that is a projection. */
    if (role->role == BY_LLM_ROUTER && gate && !family->experts &&
        (tensor->rank != 2 || tensor->dims[0] >= family->hidden))
        role->role = BY_LLM_GATE;
    if (role->role == BY_LLM_UNKNOWN)
        role->role = role_by_shape(family, role, tensor, vocab);
    if (role->role == BY_LLM_UNKNOWN && role->part != BY_LLM_PART_DECODER)
        role->role = BY_LLM_OTHER;
}

/* -1: rows are inputs; 1: rows are outputs; 0: the shape does not tell. */
static int rows_are_outputs(const struct by_family *family, const struct by_tensor_role *role,
                            const struct by_family_tensor *tensor)
{
    if (role->param != BY_LLM_PARAM_WEIGHT || tensor->rank != (role->stacked ? 3u : 2u))
        return 0;
    uint64_t rows = tensor->dims[tensor->rank - 2], columns = tensor->dims[tensor->rank - 1];
    bool in = role->role == BY_LLM_QKV || role->role == BY_LLM_UP || role->role == BY_LLM_GATE_UP ||
              role->role == BY_LLM_GATE;
    bool out = role->role == BY_LLM_DOWN || role->role == BY_LLM_O;
    if (rows == columns || (rows != family->hidden && columns != family->hidden))
        return 0;
    if (in)
        return columns == family->hidden ? 1 : -1;
    return out ? (rows == family->hidden ? 1 : -1) : 0;
}

/* GPT-2 and GPT-OSS store [in, out]; a square matrix is stored as those beside it are. */
static void settle_transposed(struct by_family *family, const struct by_family_tensor *tensors,
                              bool stacked)
{
    size_t turned = 0, straight = 0;
    for (size_t i = 0; i < family->count; i++) {
        const struct by_tensor_role *role = &family->roles[i];
        if (role->stacked != stacked || role->part != BY_LLM_PART_DECODER)
            continue;
        int rows = rows_are_outputs(family, role, &tensors[i]);
        turned += rows < 0;
        straight += rows > 0;
    }
    if (!turned || straight)
        return;
    for (size_t i = 0; i < family->count; i++) {
        struct by_tensor_role *role = &family->roles[i];
        bool inside = by_llm_role_is_linear(role) && role->layer >= 0 &&
                      role->role != BY_LLM_ROUTER && role->role != BY_LLM_SHARED_GATE;
        if (role->stacked == stacked && role->part == BY_LLM_PART_DECODER && inside)
            role->transposed = true;
    }
}

int by_family_read(struct by_family *family, struct by_arena *arena,
                   const struct by_doc_node *config, const struct by_family_tensor *tensors,
                   size_t count, struct baryon_error *err)
{
    *family = (struct by_family){.count = count, .first_unknown = count, .tied = true};
    read_config(family, config);
    family->roles = by_arena_alloc(arena, count, sizeof *family->roles, err);
    if (!family->roles)
        return -1;
    for (size_t i = 0; i < count; i++)
        by_llm_role_of_name(tensors[i].name, &family->roles[i]);
    count_layers(family, tensors);
    uint64_t vocab = family_size(family->config, "vocab_size");
    for (size_t i = 0; i < count; i++) {
        struct by_tensor_role *role = &family->roles[i];
        settle_role(family, role, &tensors[i], vocab);
        if (role->role == BY_LLM_HEAD && role->part == BY_LLM_PART_DECODER)
            family->tied = false;
        if (role->role != BY_LLM_UNKNOWN)
            continue;
        if (!family->unknown++)
            family->first_unknown = i;
    }
    settle_transposed(family, tensors, false);
    settle_transposed(family, tensors, true);
    return 0;
}
