/* Maps element types of ONNX to those of ONNX Runtime and back. */
#include "engine/ort.h"

#include "ir/tensor.h"

/* ONNX Runtime gave float8e8m0 a number after it had given those after it theirs. */
static const struct elem_row {
    int64_t elem;
    int type;
} moved[] = {
    {BY_ELEM_FLOAT8E8M0, 26},
    {BY_ELEM_UINT2, 24},
    {BY_ELEM_INT2, 25},
};

enum ONNXTensorElementDataType by_ort_elem(int64_t elem)
{
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if (moved[i].elem == elem)
            return (enum ONNXTensorElementDataType)moved[i].type;
    return (enum ONNXTensorElementDataType)elem;
}

int64_t by_ort_elem_back(enum ONNXTensorElementDataType type)
{
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if (moved[i].type == (int)type)
            return moved[i].elem;
    return (int64_t)type;
}
