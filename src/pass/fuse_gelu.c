/*
 * x * (1 + erf(x / sqrt 2)) / 2 and its approximation by tanh -> Gelu.
 *
 * The curve is the anchor. Before it stands the argument, a multiple of x or a polynomial of it;
 * after it + 1, then products with x and with constants in any order.
 */
#include "pass/make.h"
#include "pass/passes.h"

#include <math.h>

#define OPSET     20 /* that has the operator */
#define FACTORS   4  /* products after the curve */
#define CUBIC     0.044715
#define ROOT_HALF 0.70710678118654752440
#define ROOT_2_PI 0.79788456080286535588

struct gelu {
    struct baryon_value *x;
    double factor; /* of all that is multiplied with 1 + curve, x aside */
    bool has_x;
    struct baryon_node *end;
    struct by_node_set set;
};

/* --- The argument --- */

static struct baryon_node *inner(struct gelu *gelu, const struct baryon_node *node, size_t slot,
                                 const char *op_type)
{
    struct baryon_node *found = by_match_producer(node, slot, op_type);
    by_set_add(&gelu->set, found);
    return found;
}

/* The other factor, and the constant one, of a product or quotient. */
static struct baryon_value *scaled(struct by_matcher *match, const struct baryon_node *node,
                                   double *factor)
{
    size_t slot;
    if (!node || !by_match_constant_slot(node, &slot) ||
        !by_match_scalar(match, by_node_in(node, slot), factor))
        return NULL;
    if (by_node_is(node, "Div")) {
        *factor = 1 / *factor;
        return slot == 1 ? by_node_in(node, 0) : NULL;
    }
    return by_node_is(node, "Mul") ? by_node_in(node, 1 - slot) : NULL;
}

/* The value is x to that power. */
static bool is_power(struct by_matcher *match, struct gelu *gelu, const struct baryon_node *node,
                     size_t slot, int power)
{
    const size_t mark = gelu->set.count;
    if (power == 1)
        return by_node_in(node, slot) == gelu->x;
    const struct baryon_node *pow = inner(gelu, node, slot, "Pow");
    if (pow)
        return by_node_in(pow, 0) == gelu->x && by_match_number(match, by_node_in(pow, 1), power);
    const struct baryon_node *product = inner(gelu, node, slot, "Mul");
    for (size_t i = 0; product && i < 2; i++)
        if (by_node_in(product, i) == gelu->x && is_power(match, gelu, product, 1 - i, power - 1))
            return true;
    gelu->set.count = mark;
    return false;
}

/* The value is CUBIC times that power of x, multiplied in any order. */
static bool is_cubic_term(struct by_matcher *match, struct gelu *gelu,
                          const struct baryon_node *node, size_t slot, int power)
{
    double factor;
    size_t constant;
    const size_t mark = gelu->set.count;
    const struct baryon_node *product = inner(gelu, node, slot, "Mul");
    if (product && scaled(match, product, &factor) && by_match_constant_slot(product, &constant))
        return by_match_near(factor, CUBIC) && is_power(match, gelu, product, 1 - constant, power);
    for (size_t i = 0; product && power > 1 && i < 2; i++)
        if (by_node_in(product, i) == gelu->x &&
            is_cubic_term(match, gelu, product, 1 - i, power - 1))
            return true;
    gelu->set.count = mark;
    return false;
}

/* The sum is x + CUBIC x^3. */
static bool is_polynomial(struct by_matcher *match, struct gelu *gelu,
                          const struct baryon_node *node, size_t slot)
{
    const size_t mark = gelu->set.count;
    const struct baryon_node *sum = inner(gelu, node, slot, "Add");
    for (size_t i = 0; sum && i < 2; i++) {
        gelu->x = by_node_in(sum, i);
        if (gelu->x && is_cubic_term(match, gelu, sum, 1 - i, 3))
            return true;
        gelu->set.count = mark + 1;
    }
    gelu->set.count = mark;
    return false;
}

/* The product is x * (1 + CUBIC x^2). */
static bool is_factored(struct by_matcher *match, struct gelu *gelu, const struct baryon_node *node,
                        size_t slot)
{
    size_t one;
    const size_t mark = gelu->set.count;
    const struct baryon_node *product = inner(gelu, node, slot, "Mul");
    for (size_t i = 0; product && i < 2; i++) {
        const struct baryon_node *sum = inner(gelu, product, 1 - i, "Add");
        gelu->x = by_node_in(product, i);
        if (gelu->x && sum && by_match_constant_slot(sum, &one) &&
            by_match_number(match, by_node_in(sum, one), 1) &&
            is_cubic_term(match, gelu, sum, 1 - one, 2))
            return true;
        gelu->set.count = mark + 1;
    }
    gelu->set.count = mark;
    return false;
}

static bool is_erf_argument(struct by_matcher *match, struct gelu *gelu,
                            const struct baryon_node *curve)
{
    double factor;
    struct baryon_node *product = inner(gelu, curve, 0, "Div");
    if (!product)
        product = inner(gelu, curve, 0, "Mul");
    gelu->x = scaled(match, product, &factor);
    return gelu->x && by_match_near(factor, ROOT_HALF);
}

static bool is_tanh_argument(struct by_matcher *match, struct gelu *gelu,
                             const struct baryon_node *curve)
{
    double factor;
    size_t constant;
    const struct baryon_node *product = inner(gelu, curve, 0, "Mul");
    if (!scaled(match, product, &factor) || !by_match_near(factor, ROOT_2_PI) ||
        !by_match_constant_slot(product, &constant))
        return false;
    return is_polynomial(match, gelu, product, 1 - constant) ||
           is_factored(match, gelu, product, 1 - constant);
}

/* --- The products --- */

/* What stands beside the chain: a constant, x, or x times a constant. */
static bool take_factor(struct by_matcher *match, struct gelu *gelu, struct baryon_value *value)
{
    double factor;
    if (by_match_scalar(match, value, &factor)) {
        gelu->factor *= factor;
        return true;
    }
    if (gelu->has_x || !value)
        return false;
    gelu->has_x = true;
    if (value == gelu->x)
        return true;
    struct baryon_node *product = value->producer;
    if (!product || scaled(match, product, &factor) != gelu->x)
        return false;
    by_set_add(&gelu->set, product);
    gelu->factor *= factor;
    return true;
}

/* Follows the chain from 1 + curve on until x and the half are in it. */
static bool find_end(struct by_matcher *match, struct gelu *gelu, struct baryon_node *node)
{
    gelu->factor = 1;
    for (size_t i = 0; i < FACTORS; i++) {
        double divisor;
        struct baryon_node *next = by_match_reader(node);
        if (!next)
            return false;
        struct baryon_value *other = by_match_other(next, by_node_out(node, 0));
        if (by_node_is(next, "Div") && by_node_in(next, 0) == by_node_out(node, 0) &&
            by_match_scalar(match, other, &divisor))
            gelu->factor /= divisor;
        else if (!by_node_is(next, "Mul") || !take_factor(match, gelu, other))
            return false;
        by_set_add(&gelu->set, next);
        gelu->end = node = next;
        if (gelu->has_x && by_match_near(gelu->factor, 0.5))
            return true;
    }
    return false;
}

static struct baryon_node *plus_one(struct by_matcher *match, struct gelu *gelu,
                                    struct baryon_node *curve)
{
    struct baryon_node *sum = by_match_reader(curve);
    if (!sum || !by_node_is(sum, "Add") ||
        !by_match_number(match, by_match_other(sum, by_node_out(curve, 0)), 1))
        return NULL;
    by_set_add(&gelu->set, sum);
    return sum;
}

/* Constants must not make the result larger than x: all of them are of one element, but such a
 * one may have more axes. */
static bool keeps_rank(const struct gelu *gelu)
{
    const int rank = by_pass_rank(gelu->x);
    return rank >= 0 && rank == by_pass_rank(by_node_out(gelu->end, 0));
}

static int visit_erf_or_tanh(struct by_matcher *match, struct baryon_node *node)
{
    struct gelu gelu = {0};
    const bool tanh = by_node_is(node, "Tanh");
    if (!tanh && !by_node_is(node, "Erf"))
        return 0;
    by_set_add(&gelu.set, node);
    struct baryon_node *sum = plus_one(match, &gelu, node);
    if (!sum ||
        !(tanh ? is_tanh_argument(match, &gelu, node) : is_erf_argument(match, &gelu, node)) ||
        !by_match_is_float(gelu.x) || !find_end(match, &gelu, sum) || !keeps_rank(&gelu) ||
        !by_set_is_closed(match, &gelu.set, gelu.end))
        return 0;
    match->context->changes++;
    if (by_make_become(match, gelu.end, "Gelu", &gelu.x, 1))
        return -1;
    return tanh ? by_node_set_text(gelu.end, "approximate", "tanh", match->err) : 0;
}

static int run_fuse_gelu(struct by_pass_context *context, struct baryon_error *err)
{
    if (by_model_opset(context->model, "") < OPSET)
        return 0;
    return by_match_each(context, visit_erf_or_tanh, err);
}

const struct by_pass by_pass_fuse_gelu = {
    .name = "fuse-gelu",
    .alias = "FuseGelu",
    .help = "Fuse the nodes of a Gelu, by erf or tanh, to Gelu (opset 20 and later)",
    .exact = true,
    .shapes = true,
    .run = run_fuse_gelu,
};
