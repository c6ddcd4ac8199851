/* Attention in its kinds. */
#include "ir/infer_internal.h"

static struct by_extent divided(const struct baryon_node *node, struct by_extent hidden,
                                const char *heads)
{
    return by_extent_div(hidden, by_node_int(node, heads, 0));
}

/* past + now; the sum is known only as a number. */
static struct by_extent total(struct by_extent past, struct by_extent now)
{
    return by_extent_is_number(now) ? by_extent_add(past, now.size) : by_extent_unknown();
}

/* One of query, key, value as [batch, heads, length, size per head]. */
static void as_heads(const struct baryon_node *node, size_t slot, const char *heads,
                     struct by_extent *out)
{
    const struct by_shape *in = by_in_shape(node, slot);
    for (size_t i = 0; i < 4; i++)
        out[i] = in && in->rank == 4 ? in->dims[i] : by_extent_unknown();
    if (!in || in->rank != 3)
        return;
    out[0] = in->dims[0];
    out[1] = by_extent_of(by_node_int(node, heads, -1));
    out[2] = in->dims[1];
    out[3] = divided(node, in->dims[2], heads);
}

/* Present keys and values: the past ones and those that are new. */
static int out_present(struct by_infer *infer, struct baryon_node *node, size_t out_slot,
                       size_t past_slot, const struct by_extent *now, struct by_extent *length,
                       struct baryon_error *err)
{
    const struct by_shape *past = by_in_shape(node, past_slot);
    struct by_extent dims[] = {now[0], now[1], now[2], now[3]};
    if (by_in_given(node, past_slot))
        dims[2] = past && past->rank == 4 ? total(past->dims[2], now[2]) : by_extent_unknown();
    *length = dims[2];
    return by_out_dims(infer, node, out_slot, dims, 4, err);
}

/* Inputs of rank 4 [batch, heads, length, size], or 3 [batch, length, heads * size]. */
int by_infer_attention(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_extent query[4], key[4], value[4], length;
    if (!in)
        return 0;
    if (in->rank != 3 && in->rank != 4)
        return by_infer_fail(node, err, "the query has rank %zu, must be 3 or 4", in->rank);
    as_heads(node, 0, "q_num_heads", query);
    as_heads(node, 1, "kv_num_heads", key);
    as_heads(node, 2, "kv_num_heads", value);
    const struct by_extent out[] = {query[0], query[1], query[2], value[3]};
    const struct by_extent flat[] = {query[0], query[2], by_extent_mul(query[1], value[3])};
    if (by_out_dims(infer, node, 0, in->rank == 4 ? out : flat, in->rank, err) ||
        out_present(infer, node, 2, 5, value, &length, err) ||
        out_present(infer, node, 1, 4, key, &length, err))
        return -1;
    const struct by_extent scores[] = {query[0], query[1], query[2], length};
    return by_out_dims(infer, node, 3, scores, 4, err);
}

/* [batch, length, heads * size of a value]; the state [batch, heads, key size, value size]. */
int by_infer_linear_attention(struct by_infer *infer, struct baryon_node *node,
                              struct baryon_error *err)
{
    struct by_extent query[4], key[4], value[4];
    const struct by_shape *in = by_in_shape(node, 0);
    if (!in || in->rank != 3)
        return 0;
    as_heads(node, 0, "q_num_heads", query);
    as_heads(node, 1, "kv_num_heads", key);
    as_heads(node, 2, "kv_num_heads", value);
    const struct by_extent out[] = {query[0], query[2], by_extent_mul(query[1], value[3])};
    const struct by_extent state[] = {query[0], key[1], key[3], value[3]};
    return by_out_dims(infer, node, 0, out, 3, err) || by_out_dims(infer, node, 1, state, 4, err)
               ? -1
               : 0;
}

/* ONNX Runtime's: one weight for query, key and value side by side. */
int by_infer_ms_attention(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0), *weight = by_in_shape(node, 1);
    const struct by_ints *sizes = by_attr_ints(node, "qkv_hidden_sizes");
    struct by_extent hidden = by_extent_unknown();
    if (!in || in->rank != 3)
        return 0;
    if (sizes && sizes->count == 3)
        hidden = by_extent_of(sizes->at[2]);
    else if (weight && weight->rank == 2)
        hidden = by_extent_div(weight->dims[1], 3);
    const struct by_extent out[] = {in->dims[0], in->dims[1], hidden};
    const struct by_extent present[] = {by_extent_of(2), in->dims[0],
                                        by_extent_of(by_node_int(node, "num_heads", -1)),
                                        by_in_given(node, 4) ? by_extent_unknown() : in->dims[1],
                                        divided(node, hidden, "num_heads")};
    return by_out_dims(infer, node, 0, out, 3, err) || by_out_dims(infer, node, 1, present, 5, err)
               ? -1
               : 0;
}

/* The output is as wide as the values; packed inputs of rank 5 hold all three. */
int by_infer_multi_head_attention(struct by_infer *infer, struct baryon_node *node,
                                  struct baryon_error *err)
{
    const struct by_shape *query = by_in_shape(node, 0), *value = by_in_shape(node, 2);
    if (!query)
        return 0;
    if (query->rank == 5) {
        const struct by_extent packed[] = {query->dims[0], query->dims[1],
                                           by_extent_mul(query->dims[2], query->dims[4])};
        return by_out_dims(infer, node, 0, packed, 3, err);
    }
    if (query->rank != 3)
        return 0;
    struct by_extent hidden = query->dims[2];
    if (value && value->rank == 3)
        hidden = value->dims[2];
    else if (value && value->rank == 4)
        hidden = by_extent_mul(value->dims[1], value->dims[3]);
    else if (by_in_given(node, 2))
        hidden = by_extent_unknown();
    const struct by_extent out[] = {query->dims[0], query->dims[1], hidden};
    return by_out_dims(infer, node, 0, out, 3, err);
}

/* As wide as the query, which holds keys and values as well when those are left out. */
int by_infer_group_query_attention(struct by_infer *infer, struct baryon_node *node,
                                   struct baryon_error *err)
{
    const struct by_shape *query = by_in_shape(node, 0);
    const int64_t heads = by_node_int(node, "num_heads", -1);
    const int64_t kv_heads = by_node_int(node, "kv_num_heads", -1);
    int64_t all;
    if (heads < 1 || kv_heads < 1 || __builtin_mul_overflow(kv_heads, 2, &all) ||
        __builtin_add_overflow(all, heads, &all))
        return by_infer_fail(node, err,
                             "num_heads is %lld and kv_num_heads %lld, must be at "
                             "least 1",
                             (long long)heads, (long long)kv_heads);
    if (!query || query->rank != 3)
        return 0;
    const bool packed = !by_in_given(node, 1);
    const struct by_extent size = by_extent_div(query->dims[2], packed ? all : heads);
    const struct by_extent out[] = {query->dims[0], query->dims[1],
                                    packed ? by_extent_mul(size, by_extent_of(heads))
                                           : query->dims[2]};
    const struct by_extent present[] = {query->dims[0], by_extent_of(kv_heads), by_extent_unknown(),
                                        size};
    if (by_out_dims(infer, node, 0, out, 3, err) || by_out_dims(infer, node, 1, present, 4, err))
        return -1;
    return by_out_dims(infer, node, 2, present, 4, err);
}
