/* Fills the tensors of a quantized weight and reads them back. */
#include "llm/layout/fields.h"

#include "array/elem.h"
#include "base/half.h"
#include "llm/scheme/scale.h"

#include <string.h>

const uint8_t by_llm_awq_order[8] = {0, 2, 4, 6, 1, 3, 5, 7};

/* --- Lists --- */

struct by_llm_field *by_llm_field_add(struct by_llm_fields *fields, const char *suffix,
                                      enum by_llm_field_kind kind, int64_t elem)
{
    struct by_llm_field *field = &fields->at[fields->count++];
    *field = (struct by_llm_field){.suffix = suffix, .kind = kind, .elem = elem};
    return field;
}

struct by_llm_field *by_llm_field_words(struct by_llm_fields *fields, const char *suffix,
                                        enum by_llm_field_kind kind, int64_t elem,
                                        const struct by_llm_form *form)
{
    struct by_llm_field *field = by_llm_field_add(fields, suffix, kind, elem);
    field->form = *form;
    field->rank = 2;
    by_llm_form_dims(form, field->dims);
    /* Words of three bytes are stored as bytes. */
    if (form->word == 24)
        field->dims[1] *= 3;
    return field;
}

struct by_llm_field *by_llm_field_scalar(struct by_llm_fields *fields, const char *suffix,
                                         int64_t elem, size_t rank)
{
    struct by_llm_field *field = by_llm_field_add(fields, suffix, BY_LLM_FIELD_TENSOR_SCALE, elem);
    field->rank = rank;
    field->dims[0] = 1;
    return field;
}

struct by_llm_field *by_llm_field_scales(struct by_llm_fields *fields, const char *suffix,
                                         int64_t elem, const struct by_llm_tensor *tensor,
                                         size_t rows, bool turned)
{
    const struct by_llm_form form = {.direction = turned ? BY_FORM_ACROSS : BY_FORM_ROWS,
                                     .rows = rows,
                                     .columns = tensor->groups,
                                     .bits = 8,
                                     .word = 8};
    return by_llm_field_words(fields, suffix, BY_LLM_FIELD_SCALES, elem, &form);
}

static int64_t elem_of_scale(const struct by_llm_spec *spec, int64_t stored)
{
    switch (spec->scale) {
    case BY_LLM_SCALE_MODEL:
        return stored;
    case BY_LLM_SCALE_E4M3:
        return BY_ELEM_FLOAT8E4M3FN;
    case BY_LLM_SCALE_E8M0:
    case BY_LLM_SCALE_E5M3:
        return BY_ELEM_UINT8;
    default:
        return BY_ELEM_FLOAT;
    }
}

void by_llm_field_input(struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                        const char *suffix, size_t rank)
{
    const struct by_llm_spec *input = tensor->input;
    if (!input)
        return;
    struct by_llm_field *field =
        by_llm_field_add(fields, suffix, BY_LLM_FIELD_INPUT_SCALE,
                         input->global ? BY_ELEM_FLOAT : elem_of_scale(input, tensor->stored));
    field->rank = rank;
    field->dims[0] = 1;
}

int64_t by_llm_scale_elem(const struct by_llm_tensor *tensor)
{
    return elem_of_scale(tensor->spec, tensor->stored);
}

int by_llm_fields_size(struct by_llm_fields *fields, struct baryon_error *err)
{
    for (size_t i = 0; i < fields->count; i++) {
        struct by_llm_field *field = &fields->at[i];
        size_t count = 1;
        for (size_t d = 0; d < field->rank; d++)
            if (by_mul_overflow(count, (size_t)field->dims[d], &count))
                return by_err_nomem(err, SIZE_MAX);
        if (by_elem_bytes(field->elem, count, &field->bytes, err))
            return -1;
    }
    return 0;
}

/* --- Floats of files --- */

static size_t float_bytes(int64_t elem)
{
    return elem == BY_ELEM_FLOAT ? 4 : elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ? 2 : 1;
}

static void store_float(int64_t elem, float value, uint8_t *at)
{
    if (elem == BY_ELEM_FLOAT) {
        memcpy(at, &value, sizeof value);
        return;
    }
    const uint16_t half =
        elem == BY_ELEM_FLOAT16 ? by_f32_to_f16_one(value) : by_f32_to_bf16_one(value);
    memcpy(at, &half, sizeof half);
}

float by_llm_load_float(int64_t elem, const uint8_t *at)
{
    float value;
    uint16_t half;
    if (elem == BY_ELEM_FLOAT) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&half, at, sizeof half);
    return elem == BY_ELEM_FLOAT16 ? by_f16_to_f32_one(half) : by_bf16_to_f32_one(half);
}

static bool is_code(enum by_llm_scale_type type)
{
    return type == BY_LLM_SCALE_E8M0 || type == BY_LLM_SCALE_E4M3 || type == BY_LLM_SCALE_E5M3;
}

static size_t scale_place(const struct by_llm_form *form, size_t row, size_t group)
{
    return form->direction == BY_FORM_ACROSS ? group * form->rows + row
                                             : row * form->columns + group;
}

/* --- Rows --- */

static void put_scales(const struct by_llm_field *field, const struct by_llm_tensor *tensor,
                       const struct by_llm_coded *coded, size_t first, size_t count, uint8_t *data)
{
    const size_t groups = field->form.columns, bytes = float_bytes(field->elem);
    for (size_t r = 0; r < count; r++)
        for (size_t g = 0; g < groups; g++) {
            uint8_t *at = data + scale_place(&field->form, first + r, g) * bytes;
            if (is_code(tensor->spec->scale))
                *at = coded->scale_codes[r * groups + g];
            else
                store_float(field->elem, coded->scales[r * groups + g], at);
        }
}

static int put_zeros(const struct by_llm_field *field, const struct by_llm_coded *coded,
                     size_t first, size_t count, uint8_t *data, struct baryon_error *err)
{
    const size_t all = count * field->form.columns;
    if (field->rank == 0)
        return 0; /* that of the tensor is 0 */
    uint8_t *codes = by_alloc(all, 1, err);
    if (!codes)
        return -1;
    for (size_t i = 0; i < all; i++)
        codes[i] = (uint8_t)(coded->zeros[i] - field->less);
    by_llm_form_put(&field->form, codes, first, count, data);
    by_free(codes);
    return 0;
}

bool by_llm_field_in_rows(const struct by_llm_field *field)
{
    return field->kind == BY_LLM_FIELD_CODES && field->form.direction == BY_FORM_ROWS;
}

int by_llm_fields_put(const struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                      const struct by_llm_coded *coded, size_t first, size_t count,
                      uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct by_llm_field *field = &fields->at[i];
        if (!data[i])
            continue;
        if (field->kind == BY_LLM_FIELD_CODES)
            by_llm_form_put(&field->form, coded->codes, first, count, data[i]);
        else if (field->kind == BY_LLM_FIELD_SHARED)
            by_llm_form_put(&field->form, coded->shared, first, count, data[i]);
        else if (field->kind == BY_LLM_FIELD_SCALES)
            put_scales(field, tensor, coded, first, count, data[i]);
        else if (field->kind == BY_LLM_FIELD_ZEROS &&
                 put_zeros(field, coded, first, count, data[i], err))
            return -1;
    }
    return 0;
}

void by_llm_fields_finish(const struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                          size_t rows, uint8_t *const data[BY_LLM_FIELDS_MAX])
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct by_llm_field *field = &fields->at[i];
        const int64_t shape[2] = {(int64_t)rows, (int64_t)tensor->columns};
        if (field->kind == BY_LLM_FIELD_TENSOR_SCALE)
            store_float(field->elem, tensor->scale, data[i]);
        else if (field->kind == BY_LLM_FIELD_INPUT_SCALE)
            store_float(field->elem, tensor->input_scale, data[i]);
        else if (field->kind == BY_LLM_FIELD_CACHE_SCALE)
            store_float(field->elem, tensor->cache_scale, data[i]);
        else if (field->kind == BY_LLM_FIELD_SHAPE)
            memcpy(data[i], shape, sizeof shape);
        for (size_t c = 0; field->kind == BY_LLM_FIELD_GROUP_INDEX && c < tensor->columns; c++) {
            const int32_t group = (int32_t)(c / tensor->group);
            memcpy(data[i] + c * sizeof group, &group, sizeof group);
        }
    }
}

/* --- Back --- */

int by_llm_fields_open(const struct by_llm_fields *fields, struct by_llm_tensor *tensor,
                       const uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->at[i].kind != BY_LLM_FIELD_TENSOR_SCALE)
            continue;
        tensor->scale = by_llm_load_float(fields->at[i].elem, data[i]);
        if (!(tensor->scale > 0))
            return by_fail(err, BARYON_ERR_INPUT, "%s is %g, must be greater than 0",
                           fields->at[i].suffix, (double)tensor->scale);
    }
    return 0;
}

static void get_scales(const struct by_llm_field *field, const struct by_llm_tensor *tensor,
                       const uint8_t *data, size_t first, size_t count, struct by_llm_coded *coded)
{
    const size_t groups = field->form.columns, bytes = float_bytes(field->elem);
    for (size_t r = 0; r < count; r++)
        for (size_t g = 0; g < groups; g++) {
            const uint8_t *at = data + scale_place(&field->form, first + r, g) * bytes;
            coded->scales[r * groups + g] = is_code(tensor->spec->scale)
                                                ? by_llm_scale_value(tensor->spec->scale, *at)
                                                : by_llm_load_float(field->elem, at);
        }
}

static int32_t extended(const struct by_llm_tensor *tensor, uint8_t code)
{
    const unsigned bits = tensor->spec->dtype->bits;
    const int32_t sign = tensor->spec->dtype->low < 0 ? 1 << (bits - 1) : 0;
    return ((code & ((1 << bits) - 1)) ^ sign) - sign;
}

static int get_zeros(const struct by_llm_field *field, const struct by_llm_tensor *tensor,
                     const uint8_t *data, size_t first, size_t count, struct by_llm_coded *coded,
                     struct baryon_error *err)
{
    const size_t all = count * field->form.columns;
    if (field->rank == 0)
        return 0;
    uint8_t *codes = by_alloc(all, 1, err);
    if (!codes)
        return -1;
    by_llm_form_get(&field->form, data, first, count, codes);
    for (size_t i = 0; i < all; i++)
        coded->zeros[i] = extended(tensor, codes[i]) + (int32_t)field->less;
    by_free(codes);
    return 0;
}

static void get_codes(const struct by_llm_field *field, const struct by_llm_tensor *tensor,
                      const uint8_t *data, size_t first, size_t count, uint8_t *codes)
{
    by_llm_form_get(&field->form, data, first, count, codes);
    if (!by_llm_spec_is_int(tensor->spec) || tensor->spec->dtype->low >= 0)
        return;
    for (size_t i = 0; i < count * field->form.columns; i++)
        codes[i] = (uint8_t)extended(tensor, codes[i]);
}

int by_llm_fields_get(const struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                      const uint8_t *const data[BY_LLM_FIELDS_MAX], size_t first, size_t count,
                      struct by_llm_coded *coded, struct baryon_error *err)
{
    const size_t scales = count * tensor->groups;
    for (size_t i = 0; i < scales; i++) {
        coded->scales[i] = tensor->spec->grain == BY_LLM_TENSOR ? tensor->scale : 1;
        coded->zeros[i] = 0;
    }
    for (size_t i = 0; i < fields->count; i++) {
        const struct by_llm_field *field = &fields->at[i];
        if (field->kind == BY_LLM_FIELD_CODES)
            get_codes(field, tensor, data[i], first, count, coded->codes);
        else if (field->kind == BY_LLM_FIELD_SHARED)
            by_llm_form_get(&field->form, data[i], first, count, coded->shared);
        else if (field->kind == BY_LLM_FIELD_SCALES)
            get_scales(field, tensor, data[i], first, count, coded);
        else if (field->kind == BY_LLM_FIELD_ZEROS && data[i] &&
                 get_zeros(field, tensor, data[i], first, count, coded, err))
            return -1;
    }
    return 0;
}
