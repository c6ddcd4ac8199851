/* Implements the custom operator that quantizes values and dequantizes them at once. */
#include "dtype/weights_path.h"
#include "engine/own_op.h"
#include "engine/pair.h"

#include <string.h>

bool by_pairs_wanted(const struct baryon_model *model)
{
    return by_model_opset(model, BY_PAIR_DOMAIN) != 0;
}

bool by_node_is_pair(const struct baryon_node *node)
{
    return node && !strcmp(by_domain(node->domain), BY_PAIR_DOMAIN);
}

/* --- Computing --- */

static OrtStatus *compute_pair(void *state, OrtKernelContext *context)
{
    const struct by_own_number *kernel = state;
    const OrtApi *api = kernel->ort->api;
    struct by_own_tensor input;
    const OrtValue *table;
    const float *rows = NULL;
    float *out = NULL;
    OrtStatus *status = by_own_op_input(api, context, 0, &input);
    if (!status)
        status = by_own_op_data(api, context, 1, &table, &rows);
    if (!status)
        status = by_own_op_output(api, context, &input, &out);
    if (status)
        return status;
    const float *row = rows + (size_t)kernel->number * BY_PAIR_TABLE;
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
    return by_own_op_number(op, api, info, BY_PAIR_INDEX, state);
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
    static const struct by_own_kernel kernel = {.domain = BY_PAIR_DOMAIN,
                                                .name = pair_name,
                                                .inputs = two_inputs,
                                                .create = create_pair,
                                                .compute = compute_pair};
    return by_own_op_add(session, built, &kernel, err);
}
