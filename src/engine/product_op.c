/* Implements the custom operator that adds a product to what a layer gives. */
#include "engine/product.h"

#include "base/blas.h"
#include "engine/own_op.h"

#include <limits.h>
#include <string.h>

bool by_products_wanted(const struct baryon_model *model)
{
    return by_model_opset(model, BY_PRODUCT_DOMAIN) != 0;
}

/* --- Computing --- */

struct product_kernel {
    const struct by_ort *ort;
    const struct by_blas *blas;
};

static bool shapes_fit(const struct by_own_tensor *out, const struct by_own_tensor *in, size_t k,
                       size_t n)
{
    return k && n && k <= INT_MAX && n <= INT_MAX && in->count % k == 0 &&
           in->count / k <= INT_MAX && in->count / k * n == out->count;
}

static OrtStatus *add_product(const struct product_kernel *kernel, const struct by_own_tensor *in,
                              const struct by_own_tensor *difference,
                              const struct by_own_tensor *like, float *out)
{
    const size_t k = difference->rank == 2 ? (size_t)difference->dims[0] : 0;
    const size_t n = difference->rank == 2 ? (size_t)difference->dims[1] : 0;
    if (!difference->count)
        return NULL;
    if (!shapes_fit(like, in, k, n))
        return kernel->ort->api->CreateStatus(ORT_FAIL, "the shapes of a product do not fit");
    kernel->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)(in->count / k),
                        (int)n, (int)k, 1, in->data, (int)k, difference->data, (int)n, 1, out,
                        (int)n);
    return NULL;
}

static OrtStatus *compute_product(void *state, OrtKernelContext *context)
{
    const struct product_kernel *kernel = state;
    const OrtApi *api = kernel->ort->api;
    struct by_own_tensor inputs[3];
    float *out = NULL;
    OrtStatus *status = by_own_op_tensors(api, context, inputs, 3, &out);
    if (status)
        return status;
    if (out != inputs[0].data)
        memcpy(out, inputs[0].data, inputs[0].count * sizeof *out);
    return add_product(kernel, &inputs[1], &inputs[2], &inputs[0], out);
}

/* --- What the runtime asks --- */

static OrtStatus *create_product(const OrtCustomOp *op, const OrtApi *api,
                                 const OrtKernelInfo *info, void **state)
{
    struct baryon_error error;
    struct product_kernel *kernel = by_alloc(1, sizeof *kernel, NULL);
    (void)info;
    *state = NULL;
    if (!kernel)
        return api->CreateStatus(ORT_FAIL, "out of memory");
    by_err_clear(&error);
    kernel->ort = ((const struct by_own_op *)op)->ort;
    if (by_blas_open(&kernel->blas, &error) < 0) {
        by_free(kernel);
        return api->CreateStatus(ORT_FAIL, error.message);
    }
    *state = kernel;
    return NULL;
}

static const char *product_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_PRODUCT_OP;
}

static size_t three_inputs(const OrtCustomOp *op)
{
    (void)op;
    return 3;
}

int by_product_ops_add(struct by_session *session, OrtSessionOptions *built,
                       struct baryon_error *err)
{
    static const struct by_own_kernel kernel = {.domain = BY_PRODUCT_DOMAIN,
                                                .name = product_name,
                                                .inputs = three_inputs,
                                                .create = create_product,
                                                .compute = compute_product};
    return by_own_op_add(session, built, &kernel, err);
}
