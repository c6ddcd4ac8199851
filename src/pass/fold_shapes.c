/*
 * Integers that come out the same for every input, such as a static shape and what is computed
 * from it, become constants: the inference follows them by value.
 */
#include "pass/edit.h"
#include "pass/passes.h"

struct known {
    struct baryon_value *value;
    struct baryon_tensor *tensor;
};

struct finding {
    struct by_pass_context *context;
    struct by_arena arena;
    struct {
        struct known *at;
        size_t count, cap;
    } list;
};

static struct baryon_tensor *tensor_of(struct baryon_model *model, const struct baryon_value *value,
                                       const int64_t *items, size_t count, struct baryon_error *err)
{
    int64_t dims[BY_RANK_MAX];
    int32_t narrow[64];
    uint8_t flags[64];
    size_t rank = value->shape->rank;
    for (size_t i = 0; i < rank; i++)
        dims[i] = value->shape->dims[i].size;
    for (size_t i = 0; i < count; i++) {
        narrow[i] = (int32_t)items[i];
        flags[i] = items[i] != 0;
    }
    if (value->elem == BY_ELEM_INT64)
        return by_tensor_new(model, "", BY_ELEM_INT64, dims, rank, items, count * sizeof *items,
                             err);
    if (value->elem == BY_ELEM_INT32)
        return by_tensor_new(model, "", BY_ELEM_INT32, dims, rank, narrow, count * sizeof *narrow,
                             err);
    return by_tensor_new(model, "", BY_ELEM_BOOL, dims, rank, flags, count, err);
}

static bool is_wanted_integer(const struct by_pass_context *context,
                              const struct baryon_value *value)
{
    return (value->elem == BY_ELEM_INT64 || value->elem == BY_ELEM_INT32 ||
            value->elem == BY_ELEM_BOOL) &&
           value->use_count && !value->output_count && !by_value_is_kept(value) &&
           !by_node_is(value->producer, "Constant") &&
           !by_pass_is_excluded(context, value->producer);
}

static int find_known_shape(void *context, struct baryon_value *value, const int64_t *items,
                            size_t count, struct baryon_error *err)
{
    struct finding *finding = context;
    if (count > 64 || !is_wanted_integer(finding->context, value))
        return 0;
    if (by_list_reserve(&finding->arena, &finding->list, 1, sizeof *finding->list.at, err))
        return -1;
    struct baryon_tensor *tensor = tensor_of(finding->context->model, value, items, count, err);
    if (!tensor)
        return -1;
    finding->list.at[finding->list.count++] = (struct known){value, tensor};
    return 0;
}

static int fold_known_value(struct by_pass_context *context, const struct known *known,
                            struct baryon_error *err)
{
    if (by_pass_become_constant(known->value, known->tensor, err))
        return -1;
    context->changes++;
    return 0;
}

static int run_fold_shapes(struct by_pass_context *context, struct baryon_error *err)
{
    struct finding finding = {.context = context};
    by_arena_init(&finding.arena, 0);
    int failed = by_model_infer_known(context->model, find_known_shape, &finding, err);
    for (size_t i = 0; i < finding.list.count && !failed; i++)
        failed = fold_known_value(context, &finding.list.at[i], err);
    by_arena_release(&finding.arena);
    return failed ? -1 : 0;
}

const struct by_pass by_pass_fold_shapes = {
    .name = "fold-shapes",
    .help = "Fold shapes and values computed from them to constants if inputs cannot change them",
    .exact = true,
    .again = true,
    .run = run_fold_shapes,
};
