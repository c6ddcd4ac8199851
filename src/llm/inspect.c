/* Adds up the tensors of a checkpoint by kind, by type and by what a quantizer would do. */
#include "llm/inspect.h"

#include <stdlib.h>
#include <string.h>

const char *by_llm_kind(const struct by_tensor_role *role)
{
    if (role->param == BY_LLM_PARAM_QUANT)
        return "scales";
    return role->part == BY_LLM_PART_DECODER ? by_llm_role_text(role->role)
                                             : by_llm_part_text(role->part);
}

/* Integers that hold several codes each. */
static bool is_packed(const struct by_llm_summary *summary, const struct by_stored_tensor *tensor,
                      const struct by_tensor_role *role)
{
    return summary->code_bits && by_llm_role_is_linear(role) &&
           (tensor->type->elem == BY_ELEM_INT32 || tensor->type->elem == BY_ELEM_UINT8) &&
           8 * tensor->type->bytes > summary->code_bits;
}

uint64_t by_llm_parameters(const struct by_llm_summary *summary,
                           const struct by_stored_tensor *tensor, const struct by_tensor_role *role)
{
    if (role->param == BY_LLM_PARAM_QUANT || role->role == BY_LLM_BUFFER)
        return 0;
    return is_packed(summary, tensor, role) ? tensor->bytes * 8 / summary->code_bits
                                            : tensor->elements;
}

static void add_to(struct by_llm_total *sum, uint64_t parameters, uint64_t bytes)
{
    sum->tensors++;
    sum->parameters += parameters;
    sum->bytes += bytes;
}

static int add_named(struct by_llm_totals *sums, struct by_arena *arena, const char *name,
                     uint64_t parameters, uint64_t bytes, struct baryon_error *err)
{
    size_t i = 0;
    while (i < sums->count && strcmp(sums->at[i].name, name) != 0)
        i++;
    if (i == sums->count) {
        if (by_list_reserve(arena, sums, 1, sizeof *sums->at, err))
            return -1;
        sums->at[sums->count++] = (struct by_llm_total){.name = name};
    }
    add_to(&sums->at[i], parameters, bytes);
    return 0;
}

static int compare_sums(const void *left, const void *right)
{
    const struct by_llm_total *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sort_sums(struct by_llm_totals *sums)
{
    if (sums->count)
        qsort(sums->at, sums->count, sizeof *sums->at, compare_sums);
}

static int add_tensor(struct by_llm_summary *summary, struct by_arena *arena,
                      const struct by_stored_tensor *tensor, const struct by_tensor_role *role,
                      struct baryon_error *err)
{
    uint64_t parameters = by_llm_parameters(summary, tensor, role);
    const char *reason = by_llm_role_excluded(role);
    add_to(&summary->all, parameters, tensor->bytes);
    if (add_named(&summary->kinds, arena, by_llm_kind(role), parameters, tensor->bytes, err) ||
        add_named(&summary->types, arena, tensor->type->name, tensor->elements, tensor->bytes, err))
        return -1;
    if (role->param != BY_LLM_PARAM_WEIGHT || tensor->rank < 2)
        return 0;
    if (by_llm_role_is_linear(role) && !reason) {
        add_to(&summary->linear, parameters, tensor->bytes);
        return 0;
    }
    return add_named(&summary->left, arena, reason ? reason : by_llm_kind(role), parameters,
                     tensor->bytes, err);
}

static int read_family(struct by_llm_summary *summary, struct by_checkpoint *checkpoint,
                       struct baryon_error *err)
{
    struct by_family_tensor *tensors = by_alloc(checkpoint->tensor_count, sizeof *tensors, err);
    if (!tensors)
        return -1;
    for (size_t i = 0; i < checkpoint->tensor_count; i++)
        tensors[i] = (struct by_family_tensor){
            checkpoint->tensors[i].name, checkpoint->tensors[i].dims, checkpoint->tensors[i].rank};
    int status = by_family_read(&summary->family, &checkpoint->arena, checkpoint->config, tensors,
                                checkpoint->tensor_count, err);
    by_free(tensors);
    return status;
}

static int find_architecture(struct by_llm_summary *summary, struct by_checkpoint *checkpoint,
                             struct baryon_error *err)
{
    struct by_gguf_text text;
    summary->architecture = summary->family.architecture;
    if (!*summary->architecture)
        summary->architecture = summary->family.model_type;
    if (!checkpoint->gguf || !by_gguf_text(checkpoint->gguf, "general.architecture", &text))
        return 0;
    summary->architecture = by_arena_text(&checkpoint->arena, text.text, text.size, err);
    return summary->architecture ? 0 : -1;
}

int by_llm_inspect(struct by_llm_summary *summary, struct by_checkpoint *checkpoint,
                   struct baryon_error *err)
{
    *summary = (struct by_llm_summary){0};
    if (read_family(summary, checkpoint, err) || find_architecture(summary, checkpoint, err))
        return -1;
    by_llm_find_scheme(summary, checkpoint);
    for (size_t i = 0; i < checkpoint->tensor_count; i++)
        if (add_tensor(summary, &checkpoint->arena, &checkpoint->tensors[i],
                       &summary->family.roles[i], err))
            return -1;
    sort_sums(&summary->kinds);
    sort_sums(&summary->types);
    sort_sums(&summary->left);
    return 0;
}
