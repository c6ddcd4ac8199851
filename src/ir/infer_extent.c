/* Arithmetic on dimensions and broadcasting. */
#include "ir/infer_internal.h"

struct by_extent by_extent_add(struct by_extent a, int64_t b)
{
    int64_t sum;
    if (!b)
        return a;
    if (!by_extent_is_number(a) || __builtin_add_overflow(a.size, b, &sum))
        return by_extent_unknown();
    return by_extent_of(sum);
}

struct by_extent by_extent_mul(struct by_extent a, struct by_extent b)
{
    int64_t product;
    if (a.size == 1 || b.size == 0)
        return b;
    if (b.size == 1 || a.size == 0)
        return a;
    if (!by_extent_is_number(a) || !by_extent_is_number(b) ||
        __builtin_mul_overflow(a.size, b.size, &product))
        return by_extent_unknown();
    return by_extent_of(product);
}

struct by_extent by_extent_div(struct by_extent a, int64_t b)
{
    if (b == 1)
        return a;
    if (!by_extent_is_number(a) || b <= 0 || a.size % b)
        return by_extent_unknown();
    return by_extent_of(a.size / b);
}

struct by_extent by_extent_product(const struct by_shape *shape, size_t first, size_t last)
{
    struct by_extent product = by_extent_of(1);
    for (size_t i = first; i < last; i++)
        if (shape->dims[i].size == 0)
            return by_extent_of(0);
    for (size_t i = first; i < last; i++)
        product = by_extent_mul(product, shape->dims[i]);
    return product;
}

bool by_extent_unify(struct by_extent a, struct by_extent b, struct by_extent *out)
{
    if (by_extent_is_number(a) && by_extent_is_number(b) && a.size != b.size)
        return false;
    *out = by_extent_is_number(a) ? a : by_extent_is_number(b) ? b : a.symbol ? a : b;
    return true;
}

struct by_extent by_extent_from_item(struct by_item item)
{
    if (item.kind == BY_ITEM_INT)
        return by_extent_of(item.i);
    if (item.kind == BY_ITEM_SYMBOL)
        return (struct by_extent){-1, item.symbol};
    return by_extent_unknown();
}

struct by_item by_item_from_extent(struct by_extent extent)
{
    if (by_extent_is_number(extent))
        return by_item_int(extent.size);
    if (extent.symbol)
        return (struct by_item){.kind = BY_ITEM_SYMBOL, .symbol = extent.symbol};
    return (struct by_item){.kind = BY_ITEM_UNKNOWN};
}

struct by_item by_item_int(int64_t value)
{
    return (struct by_item){.kind = BY_ITEM_INT, .i = value};
}

/*
 * 1 gives way to anything. A number over 1 wins over a symbol or an unknown one, which
 * can only be 1 or the same. Two symbols, or one and an unknown, may be 1 and another.
 */
static bool broadcast_extent(struct by_extent a, struct by_extent b, struct by_extent *out)
{
    if (a.size == 1 || b.size == 1) {
        *out = a.size == 1 ? b : a;
        return true;
    }
    if (by_extent_is_number(a) && by_extent_is_number(b) && a.size != b.size)
        return false;
    if (by_extent_is_number(a) || by_extent_is_number(b))
        *out = by_extent_is_number(a) ? a : b;
    else
        *out = by_extent_equal(a, b) ? a : by_extent_unknown();
    return true;
}

static int broadcast_into(const struct baryon_node *node, struct by_shape *out,
                          const struct by_shape *shape, struct baryon_error *err)
{
    const size_t skipped = out->rank - shape->rank;
    for (size_t i = 0; i < shape->rank; i++) {
        const struct by_extent before = out->dims[skipped + i];
        if (!broadcast_extent(before, shape->dims[i], &out->dims[skipped + i]))
            return by_infer_fail(
                node, err, "dimension %zu is %lld and %lld, which do not broadcast", skipped + i,
                (long long)before.size, (long long)shape->dims[i].size);
    }
    return 0;
}

int by_broadcast(struct by_infer *infer, const struct baryon_node *node,
                 const struct by_shape *const *shapes, size_t count, const struct by_shape **out,
                 struct baryon_error *err)
{
    size_t rank = 0;
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!shapes[i])
            return 0;
        rank = shapes[i]->rank > rank ? shapes[i]->rank : rank;
    }
    struct by_shape *shape = by_new_shape(infer, rank, err);
    if (!shape)
        return -1;
    for (size_t i = 0; i < rank; i++)
        shape->dims[i] = by_extent_of(1);
    for (size_t i = 0; i < count; i++)
        if (broadcast_into(node, shape, shapes[i], err))
            return -1;
    *out = shape;
    return 0;
}
