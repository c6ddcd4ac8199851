/*
 * Quantizes a matrix of floats by a scheme of language models, lays it out, reads it back:
 * llm_fields SCHEME LAYOUT float32|float16|bfloat16 ROWS COLUMNS mse|minmax|quark IN FOLDER
 * writes FOLDER/SUFFIX for each tensor of the layout and FOLDER/floats, and prints what they are.
 */
#include "array/elem.h"
#include "base/file.h"
#include "base/str.h"
#include "llm/layout/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weight {
    struct by_llm_tensor tensor;
    struct by_llm_fields fields;
    struct by_llm_coded coded;
    uint8_t *data[BY_LLM_FIELDS_MAX];
    float *values;
    size_t rows, columns;
};

static int quantize_rows(struct weight *weight, struct baryon_error *err)
{
    struct by_llm_scratch *scratch = by_llm_scratch_open(&weight->tensor, err);
    const int failed = !scratch || by_llm_quantize_rows(&weight->tensor, scratch, weight->values,
                                                        weight->rows, &weight->coded, err);
    by_llm_scratch_close(scratch);
    return failed ? -1 : 0;
}

static int fill(struct weight *weight, struct baryon_error *err)
{
    struct by_llm_tensor *tensor = &weight->tensor;
    struct by_llm_range range = {0};
    struct by_llm_tries tries = {0};
    by_llm_look(&range, weight->values, weight->rows * weight->columns);
    by_llm_tensor_scale(tensor, &range);
    if (by_llm_needs_tries(tensor)) {
        struct by_llm_scratch *scratch = by_llm_scratch_open(tensor, err);
        if (!scratch)
            return -1;
        by_llm_try(tensor, scratch, weight->values, weight->rows, &tries);
        by_llm_scratch_close(scratch);
        by_llm_tensor_choose(tensor, &tries);
    }
    for (size_t i = 0; i < weight->fields.count; i++)
        if (!(weight->data[i] = by_alloc_zero(weight->fields.at[i].bytes, 1, err)))
            return -1;
    if (by_llm_coded_open(&weight->coded, tensor, weight->rows, err) ||
        quantize_rows(weight, err) ||
        by_llm_fields_put(&weight->fields, tensor, &weight->coded, 0, weight->rows, weight->data,
                          err))
        return -1;
    by_llm_fields_finish(&weight->fields, tensor, weight->rows, weight->data);
    return 0;
}

static int read_back(struct weight *weight, struct baryon_error *err)
{
    const uint8_t *data[BY_LLM_FIELDS_MAX];
    for (size_t i = 0; i < BY_LLM_FIELDS_MAX; i++)
        data[i] = weight->data[i];
    return by_llm_fields_open(&weight->fields, &weight->tensor, data, err) ||
                   by_llm_fields_get(&weight->fields, &weight->tensor, data, 0, weight->rows,
                                     &weight->coded, err) ||
                   by_llm_dequantize_rows(&weight->tensor, &weight->coded, weight->rows,
                                          weight->values, err)
               ? -1
               : 0;
}

static int save(const char *folder, const char *name, const void *bytes, size_t size,
                struct baryon_error *err)
{
    char path[4096];
    return by_join_path(path, sizeof path, folder, name)
               ? by_write_file(path, bytes, size, BY_WRITER_NO_SYNC, err)
               : by_fail(err, BARYON_ERR_USAGE, "the path is too long");
}

static int save_all(const struct weight *weight, const char *folder, struct baryon_error *err)
{
    for (size_t i = 0; i < weight->fields.count; i++) {
        const struct by_llm_field *field = &weight->fields.at[i];
        printf("%s %s", field->suffix, by_elem_name(field->elem));
        for (size_t d = 0; d < field->rank; d++)
            printf(" %llu", (unsigned long long)field->dims[d]);
        printf("\n");
        if (save(folder, field->suffix, weight->data[i], field->bytes, err))
            return -1;
    }
    return save(folder, "floats", weight->values, weight->rows * weight->columns * sizeof(float),
                err);
}

static int quantize(char **args, struct baryon_error *err)
{
    struct weight weight = {.rows = strtoull(args[4], NULL, 10),
                            .columns = strtoull(args[5], NULL, 10)};
    const struct by_llm_scheme *scheme = by_llm_scheme_find(args[1], err);
    const struct by_llm_layout *layout = scheme ? by_llm_layout_find(args[2], err) : NULL;
    char *bytes;
    size_t size;
    if (!layout || layout->accepts(scheme, err) ||
        by_llm_tensor_init(&weight.tensor, &scheme->weight, weight.columns, err) ||
        by_read_file(args[7], SIZE_MAX / 2, &bytes, &size, err))
        return -1;
    weight.values = (float *)(void *)bytes;
    weight.tensor.quark = !strcmp(args[6], "quark");
    weight.tensor.search = strcmp(args[6], "mse") ? BY_LLM_SEARCH_MINMAX : BY_LLM_SEARCH_MSE;
    weight.tensor.model = by_elem_by_name(args[3]);
    layout->prepare(&weight.tensor, by_elem_by_name(args[3]));
    weight.tensor.whole_bytes = by_llm_layout_whole_bytes(layout, scheme, NULL);
    return layout->list(&weight.tensor, weight.rows, &weight.fields, err) || fill(&weight, err) ||
                   read_back(&weight, err) || save_all(&weight, args[8], err)
               ? -1
               : 0;
}

int main(int count, char **args)
{
    struct baryon_error err = {0};
    if (count != 9) {
        fprintf(stderr, "see the head of llm_fields.c\n");
        return 2;
    }
    if (quantize(args, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0;
}
