/* Infers the output type and shape of our custom operators for ONNX Runtime. */
#include "engine/op_shape.h"

#include "ir/tensor.h"

#define DOING "infer a shape"

/*
 * The runtime tells neither an unknown rank from a scalar nor an unknown dimension from
 * one of -1, and would take both for known if they were handed on.
 */
static int is_told(const struct by_ort *ort, const OrtTensorTypeAndShapeInfo *info, bool *told,
                   struct baryon_error *err)
{
    const char *symbols[BY_RANK_MAX];
    int64_t dims[BY_RANK_MAX];
    size_t rank = 0;
    if (by_ort_status(ort, ort->api->GetDimensionsCount(info, &rank), DOING, err))
        return -1;
    *told = rank && rank <= BY_RANK_MAX;
    if (!*told)
        return 0;
    if (by_ort_status(ort, ort->api->GetDimensions(info, dims, rank), DOING, err) ||
        by_ort_status(ort, ort->api->GetSymbolicDimensions(info, symbols, rank), DOING, err))
        return -1;
    for (size_t i = 0; i < rank; i++)
        *told &= dims[i] >= 0 || (symbols[i] && symbols[i][0]);
    return 0;
}

/* The input's description is handed on with another type, and gets its own back. */
static int hand_on(const struct by_ort *ort, OrtShapeInferContext *context, size_t output,
                   OrtTensorTypeAndShapeInfo *info, enum ONNXTensorElementDataType type,
                   struct baryon_error *err)
{
    enum ONNXTensorElementDataType own;
    if (by_ort_status(ort, ort->api->GetTensorElementType(info, &own), DOING, err) ||
        by_ort_status(ort, ort->api->SetTensorElementType(info, type ? type : own), DOING, err))
        return -1;
    const int status = by_ort_status(
        ort, ort->api->ShapeInferContext_SetOutputTypeShape(context, output, info), DOING, err);
    return by_ort_status(ort, ort->api->SetTensorElementType(info, own), DOING, err) ? -1 : status;
}

int by_op_type_of(const struct by_ort *ort, OrtShapeInferContext *context, size_t input,
                  enum ONNXTensorElementDataType *type, struct baryon_error *err)
{
    OrtTensorTypeAndShapeInfo *info = NULL; /* the context's */
    return by_ort_status(ort, ort->api->ShapeInferContext_GetInputTypeShape(context, input, &info),
                         DOING, err) ||
                   by_ort_status(ort, ort->api->GetTensorElementType(info, type), DOING, err)
               ? -1
               : 0;
}

int by_op_shape_on(const struct by_ort *ort, OrtShapeInferContext *context, size_t input,
                   size_t output, enum ONNXTensorElementDataType type, struct baryon_error *err)
{
    OrtTensorTypeAndShapeInfo *info = NULL; /* the context's */
    bool told = false;
    if (by_ort_status(ort, ort->api->ShapeInferContext_GetInputTypeShape(context, input, &info),
                      DOING, err) ||
        is_told(ort, info, &told, err))
        return -1;
    if (!told)
        return 0;
    return hand_on(ort, context, output, info, type, err);
}
