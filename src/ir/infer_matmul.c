/* Matrix products. */
#include "ir/infer_internal.h"

#include <string.h>

/* Slot of the second matrix: scales and zero points stand between in some operators. */
static size_t second_slot(const struct baryon_node *node)
{
    return (size_t)by_node_opinfo(node)->weight;
}

static int different(const struct baryon_node *node, struct by_extent a, struct by_extent b,
                     struct baryon_error *err)
{
    return by_infer_fail(node, err, "matrices of %lld columns and %lld rows cannot be multiplied",
                         (long long)a.size, (long long)b.size);
}

/* The leading dimensions of both, broadcast. */
static int batch_shape(struct by_infer *infer, const struct baryon_node *node,
                       const struct by_shape *a, const struct by_shape *b,
                       const struct by_shape **out, struct baryon_error *err)
{
    const struct by_shape *pair[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        struct by_shape *lead = by_new_copy(infer, pair[i], err);
        if (!lead)
            return -1;
        lead->rank = lead->rank > 2 ? lead->rank - 2 : 0;
        pair[i] = lead;
    }
    return by_broadcast(infer, node, pair, 2, out, err);
}

/* As numpy.matmul: a vector counts as a row on the left, as a column on the right. */
static int out_matmul(struct by_infer *infer, struct baryon_node *node, const struct by_shape *a,
                      const struct by_shape *b, struct baryon_error *err)
{
    const struct by_shape *batch;
    struct by_extent agreed, dims[BY_RANK_MAX + 2];
    if (!a->rank || !b->rank)
        return by_infer_fail(node, err, "an operand is a scalar, must have at least rank 1");
    const struct by_extent inner_a = a->dims[a->rank - 1];
    const struct by_extent inner_b = b->dims[b->rank > 1 ? b->rank - 2 : 0];
    if (!by_extent_unify(inner_a, inner_b, &agreed))
        return different(node, inner_a, inner_b, err);
    if (batch_shape(infer, node, a, b, &batch, err))
        return -1;
    size_t rank = batch->rank;
    memcpy(dims, batch->dims, rank * sizeof *dims);
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - 1];
    return by_out_dims(infer, node, 0, dims, rank, err);
}

int by_infer_matmul(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *a = by_in_shape(node, 0), *b = by_in_shape(node, second_slot(node));
    return a && b ? out_matmul(infer, node, a, b, err) : 0;
}

static void swap(struct by_extent *a, struct by_extent *b)
{
    const struct by_extent kept = *a;
    *a = *b;
    *b = kept;
}

/* transBatch moves the first axis to the last but one; trans swaps the last two. */
static const struct by_shape *transposed(struct by_infer *infer, const struct by_shape *shape,
                                         bool batch, bool last, struct baryon_error *err)
{
    struct by_shape *copy = by_new_copy(infer, shape, err);
    if (!copy || shape->rank < 2)
        return copy;
    const size_t rank = shape->rank;
    for (size_t i = 0; batch && i + 2 < rank; i++)
        swap(&copy->dims[i], &copy->dims[i + 1]);
    if (last)
        swap(&copy->dims[rank - 2], &copy->dims[rank - 1]);
    return copy;
}

int by_infer_fused_matmul(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    const struct by_shape *a = by_in_shape(node, 0), *b = by_in_shape(node, 1);
    if (!a || !b)
        return 0;
    a = transposed(infer, a, by_node_int(node, "transBatchA", 0), by_node_int(node, "transA", 0),
                   err);
    b = transposed(infer, b, by_node_int(node, "transBatchB", 0), by_node_int(node, "transB", 0),
                   err);
    return a && b ? out_matmul(infer, node, a, b, err) : -1;
}

int by_infer_gemm(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *a = by_in_shape(node, 0), *b = by_in_shape(node, second_slot(node));
    const bool trans_a = by_node_int(node, "transA", 0) != 0;
    const bool trans_b = by_node_int(node, "transB", 0) != 0;
    struct by_extent agreed;
    if ((a && a->rank != 2) || (b && b->rank != 2))
        return by_infer_fail(node, err, "a matrix has rank %zu, must be 2",
                             a && a->rank != 2 ? a->rank : b->rank);
    const struct by_extent dims[] = {a ? a->dims[trans_a] : by_extent_unknown(),
                                     b ? b->dims[!trans_b] : by_extent_unknown()};
    if (a && b && !by_extent_unify(a->dims[!trans_a], b->dims[trans_b], &agreed))
        return different(node, a->dims[!trans_a], b->dims[trans_b], err);
    return by_out_dims(infer, node, 0, dims, 2, err);
}

/* The packed weight does not show its shape; attributes K and N say it. */
int by_infer_matmul_packed(struct by_infer *infer, struct baryon_node *node,
                           struct baryon_error *err)
{
    const struct by_shape *a = by_in_shape(node, 0);
    const int64_t rows = by_node_int(node, "K", -1), columns = by_node_int(node, "N", -1);
    struct by_extent agreed;
    if (!a || !a->rank)
        return 0;
    if (rows < 1 || columns < 1)
        return by_infer_fail(node, err, "K is %lld and N is %lld, must be at least 1",
                             (long long)rows, (long long)columns);
    const bool forwards = by_node_int(node, "transB", 1) != 0;
    const struct by_extent inner = by_extent_of(forwards ? rows : columns);
    if (!by_extent_unify(a->dims[a->rank - 1], inner, &agreed))
        return different(node, a->dims[a->rank - 1], inner, err);
    struct by_shape *out = by_new_copy(infer, a, err);
    if (!out)
        return -1;
    out->dims[out->rank - 1] = by_extent_of(forwards ? columns : rows);
    by_out_shape(node, 0, out);
    return 0;
}
