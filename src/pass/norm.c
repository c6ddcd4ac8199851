/* Recognizes a normalization that is written out as single operators. */
#include "pass/norm.h"

#include "pass/make.h"

#include <string.h>

#define SIZE_LIMIT ((size_t)1 << 24)

/* --- Mean and square --- */

/* A mean that keeps its axes; all of them have to be known. */
static bool find_mean_axes(struct by_matcher *match, const struct baryon_node *node,
                           const int64_t **axes, size_t *count)
{
    const int rank = by_pass_rank(by_node_in(node, 0));
    if (rank < 1)
        return false;
    if (by_node_is(node, "ReduceMean")) {
        if (!by_node_int(node, "keepdims", 1))
            return false;
        *axes = by_match_axes(match, node, count);
        return *axes && *count;
    }
    static const int64_t spatial[BY_RANK_MAX] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    *axes = spatial;
    *count = (size_t)rank - 2;
    return by_node_is(node, "GlobalAveragePool") && rank > 2;
}

static bool is_mean(struct by_matcher *match, const struct baryon_node *node,
                    const struct by_norm *norm)
{
    const int64_t *axes;
    size_t count;
    return find_mean_axes(match, node, &axes, &count) && count == norm->axis_count &&
           memcmp(axes, norm->axes, count * sizeof *axes) == 0;
}

static struct baryon_node *producer_in(const struct by_norm *norm, const struct baryon_value *value)
{
    struct baryon_node *node = value && value->slot == 0 ? value->producer : NULL;
    return node && node->graph == norm->set.nodes[0]->graph ? node : NULL;
}

/* The value is the mean of x. */
static bool is_mean_of_x(struct by_matcher *match, struct by_norm *norm,
                         const struct baryon_value *value)
{
    struct baryon_node *node = producer_in(norm, value);
    if (!node || by_node_in(node, 0) != norm->x || !is_mean(match, node, norm))
        return false;
    by_set_add(&norm->set, node);
    return true;
}

/* The value is x - mean; x is found here when it is not known yet. */
static bool is_centred(struct by_matcher *match, struct by_norm *norm,
                       const struct baryon_value *value)
{
    struct baryon_node *sub = producer_in(norm, value);
    if (!sub || !by_node_is(sub, "Sub") || !by_node_in(sub, 0))
        return false;
    if (!norm->x)
        norm->x = by_node_in(sub, 0);
    if (by_node_in(sub, 0) != norm->x || !is_mean_of_x(match, norm, by_node_in(sub, 1)))
        return false;
    by_set_add(&norm->set, sub);
    return true;
}

static bool is_squared_centred(struct by_matcher *match, struct by_norm *norm,
                               const struct baryon_value *value)
{
    struct baryon_node *node = producer_in(norm, value);
    by_set_add(&norm->set, node);
    if (node && by_node_is(node, "Pow"))
        return by_match_number(match, by_node_in(node, 1), 2) &&
               is_centred(match, norm, by_node_in(node, 0));
    return node && by_node_is(node, "Mul") && is_centred(match, norm, by_node_in(node, 0)) &&
           is_centred(match, norm, by_node_in(node, 1));
}

bool by_norm_begin(struct by_matcher *match, struct baryon_node *root, struct by_norm *norm)
{
    size_t slot;
    *norm = (struct by_norm){0};
    by_set_add(&norm->set, root);
    struct baryon_node *sum = by_match_producer(root, 0, "Add");
    if (!sum || !by_match_constant_slot(sum, &slot) ||
        !by_match_scalar(match, by_node_in(sum, slot), &norm->epsilon) || norm->epsilon < 0)
        return false;
    struct baryon_node *mean = producer_in(norm, by_node_in(sum, 1 - slot));
    if (!mean || !find_mean_axes(match, mean, &norm->axes, &norm->axis_count))
        return false;
    by_set_add(&norm->set, sum);
    by_set_add(&norm->set, mean);
    return is_squared_centred(match, norm, by_node_in(mean, 0)) && by_match_is_float(norm->x);
}

/* --- Scale and shift --- */

/* A constant that says something about axes first to last alone. */
static bool fits(const struct by_norm *norm, const struct baryon_value *value)
{
    const int rank = by_pass_rank(norm->x), own = by_pass_rank(value);
    if (!by_match_is_float(value) || !by_match_is_constant(value) || own < 0 || own > rank)
        return false;
    for (int i = 0; i < own; i++) {
        const size_t axis = (size_t)(rank - own + i);
        const int64_t size = by_match_size(value, (size_t)i);
        const bool inside = axis >= norm->first && axis <= norm->last;
        if (size != 1 && (!inside || size != by_match_size(norm->x, axis)))
            return false;
    }
    return true;
}

/* The only reader, when it is that operator with a constant that fits. */
static struct baryon_node *step_with_constant(const struct by_norm *norm,
                                              const struct baryon_node *node, const char *op_type,
                                              struct baryon_value **constant)
{
    struct baryon_node *next = by_match_reader(node);
    if (!next || !by_node_is(next, op_type))
        return NULL;
    struct baryon_value *other = by_match_other(next, by_node_out(node, 0));
    if (!other || !fits(norm, other))
        return NULL;
    *constant = other;
    return next;
}

/* What may stand after the normalized value. */
static bool end_behind(struct by_norm *norm, struct baryon_node *node)
{
    struct baryon_node *next =
        norm->scale ? NULL : step_with_constant(norm, node, "Mul", &norm->scale);
    by_set_add(&norm->set, node);
    if (next)
        by_set_add(&norm->set, node = next);
    next = step_with_constant(norm, node, "Add", &norm->shift);
    if (next)
        by_set_add(&norm->set, node = next);
    norm->end = node;
    return true;
}

/* --- Forms --- */

/* 1 / root; NULL when the node is not that. */
static struct baryon_node *inverse(struct by_matcher *match, struct baryon_node *node)
{
    const bool is = by_node_is(node, "Reciprocal") ||
                    (by_node_is(node, "Div") && by_match_number(match, by_node_in(node, 0), 1));
    return is ? node : NULL;
}

/* Add(Mul(x, k), Sub(shift, Mul(mean, k))), or Sub(Mul(x, k), Mul(mean, k)). */
static bool end_of_sum(struct by_norm *norm, struct baryon_node *of_x, struct baryon_node *of_mean)
{
    struct baryon_node *end = by_match_reader(of_x);
    struct baryon_node *sub = by_match_reader(of_mean);
    if (!end || !sub || !by_node_is(sub, "Sub") || by_node_in(sub, 1) != by_node_out(of_mean, 0))
        return false;
    if (end == sub) {
        norm->end = end;
    } else {
        norm->shift = by_node_in(sub, 0);
        norm->end = end;
        if (!by_node_is(end, "Add") || !fits(norm, norm->shift) ||
            by_match_other(end, by_node_out(of_x, 0)) != by_node_out(sub, 0))
            return false;
        by_set_add(&norm->set, sub);
    }
    by_set_add(&norm->set, of_x);
    by_set_add(&norm->set, of_mean);
    by_set_add(&norm->set, end);
    return true;
}

/* k is multiplied with x - mean, or with x and mean each. */
static bool finish_product(struct by_matcher *match, struct by_norm *norm,
                           const struct baryon_value *k)
{
    struct baryon_node *one = by_pass_only_reader(k);
    if (one)
        return by_node_is(one, "Mul") && is_centred(match, norm, by_match_other(one, k)) &&
               end_behind(norm, one);
    if (k->use_count != 2 || k->output_count || k->uses[0].graph != k->graph ||
        k->uses[1].graph != k->graph)
        return false;
    struct baryon_node *of_x = k->uses[0].node, *of_mean = k->uses[1].node;
    if (by_match_other(of_x, k) != norm->x) {
        of_x = k->uses[1].node;
        of_mean = k->uses[0].node;
    }
    return of_x != of_mean && by_node_is(of_x, "Mul") && by_node_is(of_mean, "Mul") &&
           by_match_other(of_x, k) == norm->x &&
           is_mean_of_x(match, norm, by_match_other(of_mean, k)) && end_of_sum(norm, of_x, of_mean);
}

static bool finish_inverse(struct by_matcher *match, struct by_norm *norm,
                           struct baryon_node *reciprocal)
{
    by_set_add(&norm->set, reciprocal);
    struct baryon_node *scaled = step_with_constant(norm, reciprocal, "Mul", &norm->scale);
    by_set_add(&norm->set, scaled);
    return finish_product(match, norm, by_node_out(scaled ? scaled : reciprocal, 0));
}

bool by_norm_finish(struct by_matcher *match, struct baryon_node *root, struct by_norm *norm)
{
    struct baryon_node *divide = by_match_reader(root);
    if (!divide)
        return false;
    const bool found =
        inverse(match, divide)
            ? finish_inverse(match, norm, divide)
            : by_node_is(divide, "Div") && by_node_in(divide, 1) == by_node_out(root, 0) &&
                  is_centred(match, norm, by_node_in(divide, 0)) && end_behind(norm, divide);
    return found && by_set_is_closed(match, &norm->set, norm->end);
}

/* --- Constants in the form that the operator wants --- */

size_t by_norm_size(const struct by_norm *norm)
{
    size_t product = 1;
    for (size_t i = norm->first; i <= norm->last; i++) {
        const int64_t size = by_match_size(norm->x, i);
        if (size < 1 || by_mul_overflow(product, (size_t)size, &product) || product > SIZE_LIMIT)
            return 0;
    }
    return product;
}

/* Dims of axes first to last in the constant; 1 where it has none. */
static void own_dims(const struct by_norm *norm, const struct baryon_value *value, size_t count,
                     int64_t *dims)
{
    const int rank = by_pass_rank(norm->x), own = by_pass_rank(value);
    for (size_t i = 0; i < count; i++) {
        const int at = (int)(norm->first + i) - (rank - own);
        dims[i] = at < 0 ? 1 : by_match_size(value, (size_t)at);
    }
}

/* Repeats the elements along axes of size 1. */
static void expand(const double *from, const int64_t *own, const int64_t *dims, size_t rank,
                   size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = 0, rest = i, stride = 1;
        for (size_t k = rank; k-- > 0;) {
            const size_t place = rest % (size_t)dims[k];
            rest /= (size_t)dims[k];
            at += own[k] == 1 ? 0 : place * stride;
            stride *= (size_t)own[k];
        }
        out[i] = from[at];
    }
}

struct baryon_value *by_norm_constant(struct by_matcher *match, const struct by_norm *norm,
                                      struct baryon_value *value, double fill, const char *suffix)
{
    char stem[BY_STEM_MAX];
    int64_t dims[BY_RANK_MAX], own[BY_RANK_MAX];
    const size_t rank = norm->last - norm->first + 1, count = by_norm_size(norm);
    size_t given = 1;
    for (size_t i = 0; i < rank; i++)
        dims[i] = by_match_size(norm->x, norm->first + i);
    if (value && by_pass_rank(value) == (int)rank) {
        own_dims(norm, value, rank, own);
        if (norm->first + rank == (size_t)by_pass_rank(norm->x) &&
            memcmp(own, dims, rank * sizeof *dims) == 0)
            return value;
    }
    const double *numbers = value ? by_match_numbers(match, value, count, &given) : &fill;
    double *all = by_arena_alloc(&match->arena, count, sizeof *all, match->err);
    if (!all || match->failed)
        return NULL;
    if (!numbers || !given)
        return by_fail(match->err, BARYON_ERR_INPUT, "a constant cannot be read"), NULL;
    for (size_t i = 0; i < rank; i++)
        own[i] = 1;
    if (value)
        own_dims(norm, value, rank, own);
    expand(numbers, own, dims, rank, count, all);
    return by_pass_add_doubles(norm->end->graph,
                               by_make_stem(stem, by_node_out(norm->end, 0)->name, suffix),
                               BY_ELEM_FLOAT, dims, rank, all, match->err);
}
