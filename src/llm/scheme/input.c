/* Rounds inputs of linear layers as their scheme does. */
#include "llm/scheme/input.h"

#include "array/elem.h"

#define ROWS_AT_ONCE 32

bool by_llm_input_is_static(const struct by_llm_spec *spec)
{
    return spec->dtype && (spec->global || (spec->grain == BY_LLM_TENSOR && !spec->dynamic));
}

static int open_tensor(const struct by_llm_input *input, size_t columns,
                       struct by_llm_tensor *tensor, struct baryon_error *err)
{
    if (by_llm_tensor_init(tensor, &input->spec, columns, err))
        return -1;
    tensor->search = BY_LLM_SEARCH_MINMAX;
    tensor->stored = BY_ELEM_FLOAT;
    tensor->inverse = input->inverse;
    tensor->quark = input->quark;
    tensor->model = BY_ELEM_FLOAT;
    return 0;
}

float by_llm_input_scale(const struct by_llm_spec *spec, bool inverse, int64_t stored, float peak)
{
    const struct by_llm_range range = {-peak, peak, true};
    const size_t columns = spec->grain == BY_LLM_GROUP ? spec->group : 1;
    const struct by_llm_input input = {.spec = *spec, .inverse = inverse};
    struct by_llm_tensor tensor;
    if (open_tensor(&input, columns, &tensor, NULL))
        return 1; /* cannot be: the columns are one group */
    tensor.stored = stored;
    by_llm_tensor_scale(&tensor, &range);
    return tensor.scale;
}

static int round_rows(const struct by_llm_tensor *tensor, struct by_llm_scratch *scratch,
                      struct by_llm_coded *coded, const float *in, size_t rows, float *out,
                      struct baryon_error *err)
{
    const size_t columns = tensor->columns;
    for (size_t at = 0; at < rows; at += ROWS_AT_ONCE) {
        const size_t count = rows - at < ROWS_AT_ONCE ? rows - at : ROWS_AT_ONCE;
        if (by_llm_quantize_rows(tensor, scratch, in + at * columns, count, coded, err) ||
            by_llm_dequantize_rows(tensor, coded, count, out + at * columns, err))
            return -1;
    }
    return 0;
}

int by_llm_input_round(const struct by_llm_input *input, const float *in, size_t rows,
                       size_t columns, float *out, struct baryon_error *err)
{
    struct by_llm_tensor tensor;
    struct by_llm_coded coded = {0};
    struct by_llm_range range = {0};
    if (open_tensor(input, columns, &tensor, err))
        return -1;
    if (by_llm_strange(in, rows * columns) < rows * columns)
        return by_fail(err, BARYON_ERR_INPUT, "an input is NaN or infinite, must be finite");
    if (by_llm_input_is_static(&input->spec)) {
        tensor.scale = input->scale;
    } else if (by_llm_needs_range(&tensor)) {
        by_llm_look(&range, in, rows * columns);
        by_llm_tensor_scale(&tensor, &range);
    }
    struct by_llm_scratch *scratch = by_llm_scratch_open(&tensor, err);
    int status = scratch ? by_llm_coded_open(&coded, &tensor, ROWS_AT_ONCE, err) : -1;
    if (!status)
        status = round_rows(&tensor, scratch, &coded, in, rows, out, err);
    by_llm_coded_close(&coded);
    by_llm_scratch_close(scratch);
    return status;
}
