/* Recurrent layers. */
#include "ir/infer_internal.h"

/* Attribute hidden_size, else what the recurrent weight [directions, gates, hidden] says. */
static int hidden_size(const struct baryon_node *node, struct by_extent *hidden,
                       struct baryon_error *err)
{
    const struct by_shape *weight = by_in_shape(node, 2);
    const int64_t size = by_node_int(node, "hidden_size", -1);
    *hidden = by_extent_of(size);
    if (by_node_attr(node, "hidden_size") && size < 1)
        return by_infer_fail(node, err, "hidden_size is %lld, must be at least 1", (long long)size);
    if (!weight)
        return 0;
    if (weight->rank != 3)
        return by_infer_fail(node, err, "the recurrent weight has rank %zu, must be 3",
                             weight->rank);
    if (!by_extent_unify(*hidden, weight->dims[2], hidden))
        return by_infer_fail(node, err, "hidden_size is %lld, but the recurrent weight has %lld",
                             (long long)size, (long long)weight->dims[2].size);
    return 0;
}

/*
 * The input is [length, batch, features], with layout 1 [batch, length, features]. The
 * outputs are all states and the last one or two.
 */
int by_infer_rnn(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const bool batch_first = by_node_int(node, "layout", 0) == 1;
    const struct by_extent ways =
        by_extent_of(by_attr_text_is(node, "direction", "bidirectional") ? 2 : 1);
    struct by_extent hidden, length = by_extent_unknown(), batch = by_extent_unknown();
    if (hidden_size(node, &hidden, err))
        return -1;
    if (in && in->rank != 3)
        return by_infer_fail(node, err, "the input has rank %zu, must be 3", in->rank);
    if (in) {
        length = in->dims[batch_first];
        batch = in->dims[!batch_first];
    }
    const struct by_extent all[] = {length, ways, batch, hidden};
    const struct by_extent all_batch_first[] = {batch, length, ways, hidden};
    const struct by_extent last[] = {batch_first ? batch : ways, batch_first ? ways : batch,
                                     hidden};
    if (by_out_dims(infer, node, 0, batch_first ? all_batch_first : all, 4, err) ||
        by_out_dims(infer, node, 1, last, 3, err))
        return -1;
    return by_out_dims(infer, node, 2, last, 3, err);
}
