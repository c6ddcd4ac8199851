/* Sparse tensors: values [n], indices [n] or [n, rank] in rising order, inside the dims. */
#include "ir/tensor.h"

#include "onnx/check_rule.h"

#include <stdio.h>

static int check_dims(const struct by_sparse_tensor *sparse, struct baryon_error *err)
{
    size_t count;
    if (!sparse->dims.count)
        by_fail(err, BARYON_ERR_INPUT, "no dims, a sparse tensor must have at least one");
    else if (!by_dims_count(sparse->dims.at, sparse->dims.count, &count, err)) {
        if (count)
            return 0;
        by_fail(err, BARYON_ERR_INPUT, "a dimension is 0, must be 1 or more in a sparse tensor");
    }
    return by_err_in(err, "dims");
}

static int check_values(const struct by_sparse_tensor *sparse, struct baryon_error *err)
{
    if (!sparse->values)
        return by_fail(err, BARYON_ERR_INPUT, "no values, must be given");
    if (sparse->values->dims.count == 1)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "values of rank %zu, must have rank 1",
            sparse->values->dims.count);
    return by_err_in(err, "values.dims");
}

static int check_index_dims(const struct by_sparse_tensor *sparse, struct baryon_error *err)
{
    const struct baryon_tensor *indices = sparse->indices;
    const long long entries = (long long)sparse->values->dims.at[0];
    const size_t rank = indices->dims.count;
    if (indices->data_type != BY_ELEM_INT64) {
        by_fail(err, BARYON_ERR_INPUT, "indices of type %s, must be int64",
                by_elem_name(indices->data_type));
        return by_err_in(err, "indices.data_type");
    }
    if (rank != 1 && rank != 2)
        by_fail(err, BARYON_ERR_INPUT, "indices of rank %zu, must have rank 1 or 2", rank);
    else if (indices->dims.at[0] != entries)
        by_fail(err, BARYON_ERR_INPUT, "%lld indices for %lld values, must be as many",
                (long long)indices->dims.at[0], entries);
    else if (rank == 2 && indices->dims.at[1] != (int64_t)sparse->dims.count)
        by_fail(err, BARYON_ERR_INPUT, "indices of %lld numbers each, must have the rank %zu",
                (long long)indices->dims.at[1], sparse->dims.count);
    else
        return 0;
    return by_err_in(err, "indices.dims");
}

static int64_t read_index(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0;)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

/* Numbers in one entry of indices: a place in the dense tensor, or one along each axis. */
static size_t entry_size(const struct by_sparse_tensor *sparse)
{
    return sparse->indices->dims.count == 2 ? sparse->dims.count : 1;
}

/* "7", "[1,4]" */
static const char *entry_text(const struct by_sparse_tensor *sparse, const uint8_t *entry,
                              char *buf, size_t size)
{
    const bool list = sparse->indices->dims.count == 2;
    size_t used = (size_t)snprintf(buf, size, "%s", list ? "[" : "");
    for (size_t i = 0; i < entry_size(sparse) && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%lld", i ? "," : "",
                                 (long long)read_index(entry + i * 8));
    if (list && used < size)
        snprintf(buf + used, size - used, "]");
    return buf;
}

/* The place of an entry in the dense tensor of `size` elements; -1 when it is outside. */
static int64_t linear(const struct by_sparse_tensor *sparse, const uint8_t *entry, size_t size)
{
    const bool list = sparse->indices->dims.count == 2;
    int64_t sum = 0;
    for (size_t i = 0; i < entry_size(sparse); i++) {
        const int64_t index = read_index(entry + i * 8);
        const int64_t dim = list ? sparse->dims.at[i] : (int64_t)size;
        if (index < 0 || index >= dim)
            return -1;
        sum = sum * dim + index;
    }
    return sum;
}

static int check_order(const struct by_sparse_tensor *sparse, const uint8_t *bytes,
                       struct baryon_error *err)
{
    const size_t entries = (size_t)sparse->values->dims.at[0], width = entry_size(sparse) * 8;
    char text[400];
    size_t size;
    int64_t last = -1;
    if (by_dims_count(sparse->dims.at, sparse->dims.count, &size, err))
        return -1;
    for (size_t i = 0; i < entries; i++) {
        const int64_t now = linear(sparse, bytes + i * width, size);
        if (now > last) {
            last = now;
            continue;
        }
        entry_text(sparse, bytes + i * width, text, sizeof text);
        if (now < 0)
            by_fail(err, BARYON_ERR_INPUT, "index %zu is %s, outside of the tensor's %zu elements",
                    i, text, size);
        else
            by_fail(err, BARYON_ERR_INPUT, "index %zu is %s, must be greater than the one before",
                    i, text);
        return by_err_in(err, "indices");
    }
    return 0;
}

static int check_indices(const struct by_sparse_tensor *sparse, struct baryon_error *err)
{
    struct by_arena scratch;
    struct by_span bytes;
    if (!sparse->indices) {
        if (!sparse->values->dims.at[0])
            return 0;
        return by_fail(err, BARYON_ERR_INPUT, "no indices for %lld values",
                       (long long)sparse->values->dims.at[0]);
    }
    if (check_index_dims(sparse, err))
        return -1;
    /* What is wrong with the payload is said by the rule for tensors. */
    if (by_tensor_check(sparse->indices, NULL) || sparse->values->dims.at[0] < 0 ||
        (by_tensor_is_external(sparse->indices) && !sparse->indices->external.data))
        return 0;
    by_arena_init(&scratch, 0);
    int result = by_tensor_bytes(sparse->indices, &scratch, &bytes, err);
    if (!result)
        result = check_order(sparse, bytes.data, err);
    by_arena_release(&scratch);
    return result;
}

static int check_sparse(struct by_check *check, const struct by_sparse_tensor *sparse,
                        struct baryon_error *err)
{
    by_err_clear(err);
    if (!check_dims(sparse, err) && !check_values(sparse, err) && !check_indices(sparse, err))
        return 0;
    if (err->code == BARYON_ERR_NOMEM)
        return -1;
    if (sparse->values)
        by_err_tensor(err, sparse->values);
    return by_report(check, BY_FINDING_ERROR, &sparse->msg, err);
}

const struct by_model_rule by_rule_sparse = {.worst = BY_FINDING_ERROR, .sparse = check_sparse};
