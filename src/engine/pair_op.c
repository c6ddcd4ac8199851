/* Implements the custom operator that quantizes values and dequantizes them at once. */
#include "dtype/weights_path.h"
#include "engine/own_op.h"
#include "engine/pair.h"

#include <string.h>

/* A node. */
struct pair_kernel {
    const struct by_ort *ort;
    size_t index;
};

bool by_pairs_wanted(const struct baryon_model *model)
{
    return by_model_opset(model, BY_PAIR_DOMAIN) != 0;
}

/* --- Computing --- */

static OrtStatus *compute_pair(void *state, OrtKernelContext *context)
{
    const struct pair_kernel *kernel = state;
    const OrtApi *api = kernel->ort->api;
    struct by_own_tensor input, table;
    float *out = NULL;
    OrtStatus *status = by_own_op_input(api, context, 0, &input);
    if (!status)
        status = by_own_op_input(api, context, 1, &table);
    if (!status)
        status = by_own_op_output(api, context, &input, &out);
    if (status)
        return status;
    const float *row = table.data + kernel->index * BY_PAIR_TABLE;
    const struct by_weight_grid grid = {.scale = row[0], .low = row[1], .high = row[2]};
    if (grid.scale > 0)
        by_weight_path_chosen()->there_and_back(input.data, input.count, &grid, out);
    else if (out != input.data)
        memcpy(out, input.data, input.count * sizeof *out);
    return NULL;
}

/* --- What the runtime asks --- */

static OrtStatus *create_pair(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                              void **state)
{
    int64_t index = 0;
    struct pair_kernel *kernel = NULL;
    OrtStatus *status = api->KernelInfoGetAttribute_int64(info, BY_PAIR_INDEX, &index);
    *state = NULL;
    if (status)
        return status;
    if (!(kernel = by_alloc(1, sizeof *kernel, NULL)))
        return api->CreateStatus(ORT_FAIL, "out of memory");
    *kernel = (struct pair_kernel){((const struct by_own_op *)op)->ort, (size_t)index};
    *state = kernel;
    return NULL;
}

static void destroy_pair(void *state)
{
    by_free(state);
}

static const char *pair_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_PAIR_OP;
}

static size_t two_inputs(const OrtCustomOp *op)
{
    (void)op;
    return 2;
}

int by_pair_ops_add(struct by_session *session, OrtSessionOptions *built, struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    struct by_own_op *op = BY_ARENA_NEW(&session->arena, struct by_own_op, err);
    if (!op)
        return -1;
    *op = (struct by_own_op){by_own_op_describe(ort), ort};
    op->op.GetName = pair_name;
    op->op.GetInputTypeCount = two_inputs;
    op->op.CreateKernelV2 = create_pair;
    op->op.KernelComputeV2 = compute_pair;
    op->op.KernelDestroy = destroy_pair;
    const OrtCustomOp *const ops[] = {&op->op};
    return by_session_add_ops(session, built, BY_PAIR_DOMAIN, ops, 1, err);
}
