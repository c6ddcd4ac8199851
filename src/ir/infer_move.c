/* Operators that give the same elements another shape or order. */
#include "ir/infer_internal.h"

#include <string.h>

/* The contents go along when the order of the elements stays. */
static int out_reshaped(struct by_infer *infer, struct baryon_node *node,
                        const struct by_shape *shape)
{
    by_out_shape(node, 0, shape);
    by_out_content(infer, node, 0, by_in_content(infer, node, 0));
    return 0;
}

/*
 * Reshape: what one dimension is that is not known, by the number of elements. The
 * known dimensions of both sides are struck out, numbers as products, symbols one by
 * one; what is left of the input is the answer.
 */
struct balance {
    int64_t numbers[2]; /* products: of the input, of the output */
    const char *symbols[BY_RANK_MAX];
    size_t symbol_count;
    bool lost; /* cannot be told */
};

static void weigh(struct balance *balance, int side, struct by_extent extent)
{
    if (by_extent_is_number(extent)) {
        balance->lost |=
            __builtin_mul_overflow(balance->numbers[side], extent.size, &balance->numbers[side]);
        return;
    }
    if (!extent.symbol) {
        balance->lost = true;
    } else if (side == 0) {
        balance->symbols[balance->symbol_count++] = extent.symbol;
    } else {
        size_t i = 0;
        while (i < balance->symbol_count && balance->symbols[i] != extent.symbol)
            i++;
        balance->lost |= i == balance->symbol_count;
        if (i < balance->symbol_count)
            balance->symbols[i] = balance->symbols[--balance->symbol_count];
    }
}

static struct by_extent rest(const struct balance *balance)
{
    const int64_t in = balance->numbers[0], out = balance->numbers[1];
    if (balance->lost || !out || in % out || balance->symbol_count > 1)
        return by_extent_unknown();
    if (!balance->symbol_count)
        return by_extent_of(in / out);
    return in == out ? (struct by_extent){-1, balance->symbols[0]} : by_extent_unknown();
}

struct reshape {
    const struct by_shape *in;
    struct by_shape *out;
    bool copied[BY_RANK_MAX]; /* output dimensions that are the input's at the same place */
    size_t open;              /* how many are not known, -1 included */
    size_t open_at;
    bool asked; /* one of them is -1 */
};

static int read_dimension(const struct baryon_node *node, struct reshape *reshape, size_t i,
                          struct by_item item, struct baryon_error *err)
{
    const bool allow_zero = by_node_int(node, "allowzero", 0) == 1;
    const bool copy = item.kind == BY_ITEM_INT && !item.i && !allow_zero;
    if (item.kind == BY_ITEM_INT && (item.i < -1 || (item.i == -1 && reshape->asked)))
        return by_infer_fail(node, err,
                             "dimension %zu of the shape is %lld, must be at least 0, "
                             "or -1 once",
                             i, (long long)item.i);
    reshape->asked |= item.kind == BY_ITEM_INT && item.i == -1;
    if (copy && reshape->in && i >= reshape->in->rank)
        return by_infer_fail(node, err, "dimension %zu is copied, but the input has rank %zu", i,
                             reshape->in->rank);
    reshape->copied[i] = copy && reshape->in;
    if (copy)
        reshape->out->dims[i] = reshape->in ? reshape->in->dims[i] : by_extent_unknown();
    else
        reshape->out->dims[i] = by_extent_from_item(item);
    if (!reshape->copied[i] && !by_extent_is_known(reshape->out->dims[i])) {
        reshape->open++;
        reshape->open_at = i;
    }
    return 0;
}

static int check_count(const struct baryon_node *node, const struct reshape *reshape,
                       struct baryon_error *err)
{
    int64_t in, out;
    if (by_shape_count(reshape->in, &in) && by_shape_count(reshape->out, &out) && in != out)
        return by_infer_fail(node, err, "%lld elements cannot have a shape of %lld", (long long)in,
                             (long long)out);
    return 0;
}

static void close_open(struct reshape *reshape)
{
    struct balance balance = {.numbers = {1, 1}};
    if (!reshape->in || reshape->open != 1)
        return;
    for (size_t i = 0; i < reshape->in->rank; i++)
        if (i >= reshape->out->rank || !reshape->copied[i])
            weigh(&balance, 0, reshape->in->dims[i]);
    for (size_t i = 0; i < reshape->out->rank; i++)
        if (!reshape->copied[i] && i != reshape->open_at)
            weigh(&balance, 1, reshape->out->dims[i]);
    reshape->out->dims[reshape->open_at] = rest(&balance);
}

int by_infer_reshape(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_content *wanted = by_in_content(infer, node, 1);
    struct reshape reshape = {.in = by_in_shape(node, 0)};
    int64_t rank;
    if (!by_shape_count(by_in_shape(node, 1), &rank))
        return 0;
    if (rank > BY_RANK_MAX)
        return by_infer_fail(node, err, "the shape has %lld dimensions, must have at most %d",
                             (long long)rank, BY_RANK_MAX);
    reshape.out = by_new_shape(infer, (size_t)rank, err);
    if (!reshape.out)
        return -1;
    for (size_t i = 0; wanted && i < wanted->count; i++)
        if (read_dimension(node, &reshape, i, wanted->items[i], err))
            return -1;
    if (wanted)
        close_open(&reshape);
    if (check_count(node, &reshape, err))
        return -1;
    return out_reshaped(infer, node, reshape.out);
}

static int read_permutation(const struct baryon_node *node, size_t rank, size_t *perm,
                            struct baryon_error *err)
{
    const struct by_ints *given = by_attr_ints(node, "perm");
    bool seen[BY_RANK_MAX] = {false};
    if (given && given->count && given->count != rank)
        return by_infer_fail(node, err, "perm has %zu axes, but the input has rank %zu",
                             given->count, rank);
    for (size_t i = 0; i < rank; i++) {
        const int64_t axis = given && given->count ? given->at[i] : (int64_t)(rank - 1 - i);
        if (by_axis(node, axis, rank, &perm[i], err))
            return -1;
        if (seen[perm[i]])
            return by_infer_fail(node, err, "perm contains axis %zu twice", perm[i]);
        seen[perm[i]] = true;
    }
    return 0;
}

int by_infer_transpose(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_content *content = by_in_content(infer, node, 0);
    size_t perm[BY_RANK_MAX] = {0};
    int64_t strides[BY_RANK_MAX] = {0}, from[BY_RANK_MAX];
    if (!in)
        return 0;
    if (read_permutation(node, in->rank, perm, err))
        return -1;
    struct by_shape *out = by_new_shape(infer, in->rank, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < in->rank; i++)
        out->dims[i] = in->dims[perm[i]];
    by_out_shape(node, 0, out);
    if (!content)
        return 0;
    by_strides(in, from);
    for (size_t i = 0; i < in->rank; i++)
        strides[i] = from[perm[i]];
    if (by_content_view(infer, content, out, 0, strides, &content, err))
        return -1;
    by_out_content(infer, node, 0, content);
    return 0;
}

int by_infer_flatten(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    int64_t axis = by_node_int(node, "axis", 1);
    if (!in)
        return 0;
    const int64_t rank = (int64_t)in->rank;
    if (axis < -rank || axis > rank)
        return by_infer_fail(node, err, "axis is %lld, must be in [%lld, %lld]", (long long)axis,
                             (long long)-rank, (long long)rank);
    const size_t cut = (size_t)(axis < 0 ? axis + rank : axis);
    const struct by_extent dims[] = {by_extent_product(in, 0, cut),
                                     by_extent_product(in, cut, in->rank)};
    by_out_content(infer, node, 0, by_in_content(infer, node, 0));
    return by_out_dims(infer, node, 0, dims, 2, err);
}

/* Without axes: all dimensions of 1, which have to be known then. */
static bool choose_squeezed(const struct by_shape *in, struct by_axes *axes)
{
    for (size_t i = 0; !axes->given && i < in->rank; i++) {
        if (!by_extent_is_number(in->dims[i]))
            return false;
        axes->set[i] = in->dims[i].size == 1;
    }
    return axes->known;
}

int by_infer_squeeze(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    struct by_extent dims[BY_RANK_MAX];
    struct by_axes axes;
    size_t rank = 0;
    if (!in)
        return 0;
    if (by_read_axes(infer, node, 1, in->rank, &axes, err))
        return -1;
    if (!choose_squeezed(in, &axes)) {
        if (!axes.given || !axes.count_known || axes.count > in->rank)
            return 0;
        struct by_shape *out = by_new_shape(infer, in->rank - axes.count, err);
        by_out_shape(node, 0, out);
        return out ? 0 : -1;
    }
    for (size_t i = 0; i < in->rank; i++) {
        if (!axes.set[i])
            dims[rank++] = in->dims[i];
        else if (by_extent_is_number(in->dims[i]) && in->dims[i].size != 1)
            return by_infer_fail(node, err, "axis %zu has %lld elements, must have 1", i,
                                 (long long)in->dims[i].size);
    }
    by_out_content(infer, node, 0, by_in_content(infer, node, 0));
    return by_out_dims(infer, node, 0, dims, rank, err);
}

static int out_unsqueezed(struct by_infer *infer, struct baryon_node *node,
                          const struct by_shape *in, size_t rank, const bool *added,
                          struct baryon_error *err)
{
    size_t from = 0;
    struct by_shape *out = by_new_shape(infer, rank, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < rank; i++)
        out->dims[i] = added[i] ? by_extent_of(1) : in->dims[from++];
    return out_reshaped(infer, node, out);
}

int by_infer_unsqueeze(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_ints *attr = by_attr_ints(node, "axes");
    struct by_axes axes;
    int64_t count = attr ? (int64_t)attr->count : 0;
    if (!in || (by_in_given(node, 1) && !by_shape_count(by_in_shape(node, 1), &count)))
        return 0;
    if (count > BY_RANK_MAX)
        return by_infer_fail(node, err, "%lld axes are added, must be at most %d", (long long)count,
                             BY_RANK_MAX);
    const size_t rank = in->rank + (size_t)count;
    if (rank > BY_RANK_MAX)
        return by_infer_fail(node, err, "the rank becomes %zu, must be at most %d", rank,
                             BY_RANK_MAX);
    if (by_read_axes(infer, node, 1, rank, &axes, err))
        return -1;
    if (axes.repeated)
        return by_infer_fail(node, err, "an axis is given twice");
    if (axes.known)
        return out_unsqueezed(infer, node, in, rank, axes.set, err);
    struct by_shape *out = by_new_shape(infer, rank, err);
    by_out_shape(node, 0, out);
    return out ? 0 : -1;
}

int by_infer_expand_dims(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_item axis = by_in_item(infer, node, 1);
    bool added[BY_RANK_MAX + 1] = {false};
    size_t place;
    if (!in || axis.kind != BY_ITEM_INT)
        return 0;
    if (by_axis(node, axis.i, in->rank + 1, &place, err))
        return -1;
    added[place] = true;
    return out_unsqueezed(infer, node, in, in->rank + 1, added, err);
}

int by_infer_expand(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *out;
    const struct by_content *content = by_in_content(infer, node, 0);
    int64_t strides[BY_RANK_MAX] = {0};
    struct by_shape *wanted;
    if (by_spelled_shape(infer, node, 1, &wanted, err))
        return -1;
    const struct by_shape *pair[] = {by_in_shape(node, 0), wanted};
    if (by_broadcast(infer, node, pair, 2, &out, err))
        return -1;
    by_out_shape(node, 0, out);
    if (!out || !content || content->count != 1)
        return 0;
    if (by_content_view(infer, content, out, 0, strides, &content, err))
        return -1;
    by_out_content(infer, node, 0, content);
    return 0;
}

int by_infer_tile(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_content *repeats = by_in_content(infer, node, 1);
    if (!in)
        return 0;
    if (repeats && repeats->count != in->rank)
        return by_infer_fail(node, err, "there are %zu repeats, but the input has rank %zu",
                             repeats->count, in->rank);
    struct by_shape *out = by_new_shape(infer, in->rank, err);
    if (!out)
        return -1;
    for (size_t i = 0; repeats && i < in->rank; i++)
        out->dims[i] = by_extent_mul(in->dims[i], by_extent_from_item(repeats->items[i]));
    by_out_shape(node, 0, out);
    return 0;
}

/* Blocks of space and depth: [N, C, H, W]. */
static int out_blocks(struct by_infer *infer, struct baryon_node *node, bool to_space,
                      struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const int64_t block = by_node_int(node, "blocksize", 0);
    if (block < 1 || block > INT32_MAX)
        return by_infer_fail(node, err, "blocksize is %lld, must be at least 1", (long long)block);
    if (!in)
        return 0;
    if (in->rank != 4)
        return by_infer_fail(node, err, "the input has rank %zu, must be 4", in->rank);
    struct by_shape *out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    for (size_t i = 1; i < 4; i++) {
        const int64_t factor = i == 1 ? block * block : block;
        const bool divided = (i == 1) == to_space;
        if (divided && by_extent_is_number(in->dims[i]) && in->dims[i].size % factor)
            return by_infer_fail(node, err,
                                 "axis %zu has %lld elements, must be a multiple of %lld", i,
                                 (long long)in->dims[i].size, (long long)factor);
        out->dims[i] = divided ? by_extent_div(in->dims[i], factor)
                               : by_extent_mul(in->dims[i], by_extent_of(factor));
    }
    by_out_shape(node, 0, out);
    return 0;
}

int by_infer_depth_to_space(struct by_infer *infer, struct baryon_node *node,
                            struct baryon_error *err)
{
    return out_blocks(infer, node, true, err);
}

int by_infer_space_to_depth(struct by_infer *infer, struct baryon_node *node,
                            struct baryon_error *err)
{
    return out_blocks(infer, node, false, err);
}
