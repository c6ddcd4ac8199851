/* The operators that are followed on the elements of small tensors. */
#include "ir/infer_internal.h"

#include <math.h>
#include <string.h>

static struct by_item unknown_item(void)
{
    return (struct by_item){.kind = BY_ITEM_UNKNOWN};
}

static struct by_item real(double value)
{
    return (struct by_item){.kind = BY_ITEM_REAL, .r = value};
}

static bool both(const struct by_item *in, enum by_item_kind kind)
{
    return in[0].kind == kind && in[1].kind == kind;
}

static bool is_number(struct by_item item, int64_t number)
{
    return (item.kind == BY_ITEM_INT && item.i == number) ||
           (item.kind == BY_ITEM_REAL && item.r == (double)number);
}

static bool same_symbol(const struct by_item *in)
{
    return both(in, BY_ITEM_SYMBOL) && in[0].symbol == in[1].symbol;
}

static struct by_item add_items(const struct by_item *in)
{
    int64_t sum;
    if (is_number(in[0], 0))
        return in[1];
    if (is_number(in[1], 0))
        return in[0];
    if (both(in, BY_ITEM_REAL))
        return real(in[0].r + in[1].r);
    if (!both(in, BY_ITEM_INT) || __builtin_add_overflow(in[0].i, in[1].i, &sum))
        return unknown_item();
    return by_item_int(sum);
}

static struct by_item sub(const struct by_item *in)
{
    int64_t difference;
    if (is_number(in[1], 0))
        return in[0];
    if (both(in, BY_ITEM_REAL))
        return real(in[0].r - in[1].r);
    if (!both(in, BY_ITEM_INT) || __builtin_sub_overflow(in[0].i, in[1].i, &difference))
        return unknown_item();
    return by_item_int(difference);
}

static struct by_item mul(const struct by_item *in)
{
    int64_t product;
    if (is_number(in[0], 1))
        return in[1];
    if (is_number(in[1], 1))
        return in[0];
    if (both(in, BY_ITEM_REAL))
        return real(in[0].r * in[1].r);
    if (!both(in, BY_ITEM_INT) || __builtin_mul_overflow(in[0].i, in[1].i, &product))
        return unknown_item();
    return by_item_int(product);
}

static bool divides(const struct by_item *in)
{
    return both(in, BY_ITEM_INT) && in[1].i != 0 && !(in[0].i == INT64_MIN && in[1].i == -1);
}

static struct by_item divide(const struct by_item *in)
{
    if (is_number(in[1], 1))
        return in[0];
    if (both(in, BY_ITEM_REAL))
        return real(in[0].r / in[1].r);
    return divides(in) ? by_item_int(in[0].i / in[1].i) : unknown_item();
}

/* With the sign of the divisor, as in Python. */
static struct by_item mod(const struct by_item *in)
{
    if (!divides(in))
        return unknown_item();
    const int64_t rest = in[0].i % in[1].i;
    const bool wrong_sign = rest && (rest < 0) != (in[1].i < 0);
    return by_item_int(wrong_sign ? rest + in[1].i : rest);
}

/* With the sign of the dividend, as in C. */
static struct by_item fmod_of(const struct by_item *in)
{
    return divides(in) ? by_item_int(in[0].i % in[1].i) : unknown_item();
}

static struct by_item power(const struct by_item *in)
{
    if (is_number(in[1], 1))
        return in[0];
    return both(in, BY_ITEM_REAL) ? real(pow(in[0].r, in[1].r)) : unknown_item();
}

/* -1, 0, 1; false when it is not known. A symbol is at least 0. */
static bool compare_items(const struct by_item *in, int *order)
{
    *order = 0;
    if (same_symbol(in))
        return true;
    if (both(in, BY_ITEM_INT))
        *order = (in[0].i > in[1].i) - (in[0].i < in[1].i);
    else if (both(in, BY_ITEM_REAL) && !isunordered(in[0].r, in[1].r))
        *order = (in[0].r > in[1].r) - (in[0].r < in[1].r);
    else if (in[0].kind == BY_ITEM_SYMBOL && in[1].kind == BY_ITEM_INT && in[1].i < 0)
        *order = 1;
    else if (in[1].kind == BY_ITEM_SYMBOL && in[0].kind == BY_ITEM_INT && in[0].i < 0)
        *order = -1;
    else
        return false;
    return true;
}

#define COMPARISON(name, condition)                                                                \
    static struct by_item name(const struct by_item *in)                                           \
    {                                                                                              \
        int order;                                                                                 \
        return compare_items(in, &order) ? by_item_int(condition) : unknown_item();                \
    }
COMPARISON(equal, order == 0)
COMPARISON(less, order < 0)
COMPARISON(less_or_equal, order <= 0)
COMPARISON(greater, order > 0)
COMPARISON(greater_or_equal, order >= 0)

static struct by_item least_item(const struct by_item *in)
{
    int order;
    return compare_items(in, &order) ? in[order > 0] : unknown_item();
}

static struct by_item most(const struct by_item *in)
{
    int order;
    return compare_items(in, &order) ? in[order < 0] : unknown_item();
}

static struct by_item logical_and(const struct by_item *in)
{
    if (is_number(in[0], 0) || is_number(in[1], 0))
        return by_item_int(0);
    return both(in, BY_ITEM_INT) ? by_item_int(1) : unknown_item();
}

static struct by_item logical_or(const struct by_item *in)
{
    if ((in[0].kind == BY_ITEM_INT && in[0].i) || (in[1].kind == BY_ITEM_INT && in[1].i))
        return by_item_int(1);
    return both(in, BY_ITEM_INT) ? by_item_int(0) : unknown_item();
}

static struct by_item logical_not(const struct by_item *in)
{
    return in[0].kind == BY_ITEM_INT ? by_item_int(!in[0].i) : unknown_item();
}

static struct by_item negate(const struct by_item *in)
{
    if (in[0].kind == BY_ITEM_REAL)
        return real(-in[0].r);
    return in[0].kind == BY_ITEM_INT && in[0].i != INT64_MIN ? by_item_int(-in[0].i)
                                                             : unknown_item();
}

static struct by_item absolute(const struct by_item *in)
{
    const bool negative =
        (in[0].kind == BY_ITEM_INT && in[0].i < 0) || (in[0].kind == BY_ITEM_REAL && in[0].r < 0);
    return negative ? negate(in) : in[0];
}

#define ROUNDING(name, function)                                                                   \
    static struct by_item name(const struct by_item *in)                                           \
    {                                                                                              \
        return in[0].kind == BY_ITEM_REAL ? real(function(in[0].r)) : in[0];                       \
    }
ROUNDING(floor_of, floor)
ROUNDING(ceil_of, ceil)
ROUNDING(round_of, nearbyint)

static struct by_item square_root(const struct by_item *in)
{
    return in[0].kind == BY_ITEM_REAL && in[0].r >= 0 ? real(sqrt(in[0].r)) : unknown_item();
}

static struct by_item reciprocal(const struct by_item *in)
{
    return in[0].kind == BY_ITEM_REAL ? real(1 / in[0].r) : unknown_item();
}

static struct by_item where(const struct by_item *in)
{
    return in[0].kind == BY_ITEM_INT ? in[in[0].i ? 1 : 2] : unknown_item();
}

static const struct by_item_function functions[] = {
    {"Abs", absolute, false},
    {"Add", add_items, false},
    {"And", logical_and, false},
    {"Ceil", ceil_of, false},
    {"Div", divide, false},
    {"Equal", equal, false},
    {"Floor", floor_of, false},
    {"Greater", greater, false},
    {"GreaterOrEqual", greater_or_equal, false},
    {"Less", less, false},
    {"LessOrEqual", less_or_equal, false},
    {"Max", most, true},
    {"Min", least_item, true},
    {"Mod", mod, false},
    {"Mul", mul, false},
    {"Neg", negate, false},
    {"Not", logical_not, false},
    {"Or", logical_or, false},
    {"Pow", power, false},
    {"Reciprocal", reciprocal, false},
    {"Round", round_of, false},
    {"Sqrt", square_root, false},
    {"Sub", sub, false},
    {"Sum", add_items, true},
    {"Where", where, false},
};

const struct by_item_function *by_item_function(const struct baryon_node *node)
{
    static const struct by_item_function c_mod = {"Mod", fmod_of, false};
    if (strcmp(node->op_type, "Mod") == 0 && by_node_int(node, "fmod", 0))
        return &c_mod;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].op_type, node->op_type) == 0)
            return &functions[i];
    return NULL;
}

struct by_item by_item_settle(struct by_item item, int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    if (item.kind == BY_ITEM_REAL && elem == BY_ELEM_FLOAT)
        item.r = (double)(float)item.r;
    if (item.kind != BY_ITEM_INT || !info || info->bits >= 64 || elem == BY_ELEM_BOOL)
        return item;
    const int64_t half = (int64_t)1 << (info->bits - 1);
    const bool is_unsigned = info->name[0] == 'u';
    const int64_t low = is_unsigned ? 0 : -half, high = is_unsigned ? 2 * half : half;
    return item.i >= low && item.i < high ? item : unknown_item();
}

struct by_item by_item_cast(struct by_item item, int64_t elem)
{
    if (elem == BY_ELEM_BOOL) {
        const bool known = item.kind == BY_ITEM_INT || item.kind == BY_ITEM_REAL;
        return known ? by_item_int(!is_number(item, 0)) : unknown_item();
    }
    if (by_elem_is_real(elem) && item.kind == BY_ITEM_INT)
        item = real((double)item.i);
    if (!by_elem_is_real(elem) && item.kind == BY_ITEM_REAL) {
        const bool fits = item.r > -9e18 && item.r < 9e18;
        item = fits ? by_item_int((int64_t)item.r) : unknown_item();
    }
    return by_item_settle(item, elem);
}
