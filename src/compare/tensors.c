/* Finds the tensors that two models have in common, and what differs in each. */
#include "compare/compare.h"

#include "ir/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative; scales that are computed in another order differ by rounding. */
#define SAME_SCALE 1e-3

const char *by_difference_name(enum by_difference difference)
{
    static const char *const names[] = {
        [BY_DIFFERS_NOT] = "alike",     [BY_DIFFERS_SIGN] = "sign",
        [BY_DIFFERS_VALUES] = "values", [BY_DIFFERS_ZERO] = "zero-point",
        [BY_DIFFERS_PLACE] = "place",   [BY_DIFFERS_SCALE] = "scale",
        [BY_DIFFERS_TYPE] = "type",
    };
    return names[difference];
}

/* --- Scales and zero points --- */

static size_t at_of(const struct by_params *params, size_t i)
{
    return params->count == 1 ? 0 : i;
}

/* Of as many scales, or of one with many. */
static bool can_compare(const struct by_params *a, const struct by_params *b)
{
    return a->count && b->count && (a->count == b->count || a->count == 1 || b->count == 1);
}

static void compare_scales(struct by_tensor_pair *pair)
{
    const struct by_params *a = &pair->a->params, *b = &pair->b->params;
    double sum = 0, most = 0;
    size_t known = 0;
    const size_t count = a->count > b->count ? a->count : b->count;
    for (size_t i = 0; can_compare(a, b) && i < count; i++) {
        const double ratio = log2((double)b->scales[at_of(b, i)] / (double)a->scales[at_of(a, i)]);
        if (!isfinite(ratio))
            continue;
        sum += ratio;
        known++;
        if (fabs(ratio) > fabs(most))
            most = ratio;
    }
    pair->ratio = known ? exp2(sum / (double)known) : (double)NAN;
    pair->farthest = known ? exp2(most) : (double)NAN;
}

/* Counted from the least level, so that int8 and uint8 can be compared. */
static int64_t zero_of(const struct by_profile_tensor *tensor, size_t i)
{
    const struct by_elem_info *info = by_elem_info(tensor->elem);
    const int64_t zero = tensor->params.zeros[at_of(&tensor->params, i)];
    if (!info || info->class != BY_CLASS_INT || info->bits > 32 || !by_elem_is_signed(tensor->elem))
        return zero;
    return zero + ((int64_t)1 << (info->bits - 1));
}

static bool zeros_differ(const struct by_tensor_pair *pair)
{
    const struct by_params *a = &pair->a->params, *b = &pair->b->params;
    const size_t count = a->count > b->count ? a->count : b->count;
    for (size_t i = 0; can_compare(a, b) && i < count; i++)
        if (zero_of(pair->a, i) != zero_of(pair->b, i))
            return true;
    return false;
}

/* --- Values of constants --- */

static double sqnr_of_values(const float *a, const float *b, size_t count)
{
    double energy = 0, error = 0;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)a[i] - (double)b[i];
        energy += (double)a[i] * (double)a[i];
        error += difference * difference;
    }
    return error > 0 ? 10 * log10(energy / error) : energy > 0 ? (double)INFINITY : (double)NAN;
}

static bool same_dims(const struct baryon_tensor *one, const struct baryon_tensor *other)
{
    if (one->dims.count != other->dims.count)
        return false;
    for (size_t i = 0; i < one->dims.count; i++)
        if (one->dims.at[i] != other->dims.at[i])
            return false;
    return true;
}

/* A constant that is not quantized. */
static struct by_profile_tensor as_tensor(const struct baryon_tensor *stored)
{
    return (struct by_profile_tensor){.elem = stored->data_type, .stored = stored};
}

static int compare_values(struct by_tensor_pair *pair, const struct by_profile_tensor *a,
                          const struct by_profile_tensor *b, struct baryon_error *err)
{
    struct by_arena arena;
    float *one, *other = NULL;
    size_t count, as_many;
    if (!a->stored || !b->stored || !same_dims(a->stored, b->stored))
        return 0;
    by_arena_init(&arena, 0);
    int status = by_profile_values(a, &arena, &one, &count, err);
    if (status == 0 && one)
        status = by_profile_values(b, &arena, &other, &as_many, err);
    if (status == 0 && other)
        pair->sqnr = sqnr_of_values(one, other, count);
    by_arena_release(&arena);
    return status;
}

/* --- One pair --- */

static enum by_difference judge_both(const struct by_tensor_pair *pair)
{
    const struct by_profile_tensor *a = pair->a, *b = pair->b;
    if (!by_compare_same_type(&a->type, &b->type))
        return BY_DIFFERS_TYPE;
    if (a->params.count != b->params.count || a->block != b->block ||
        fabs(pair->farthest - 1) > SAME_SCALE)
        return BY_DIFFERS_SCALE;
    if (zeros_differ(pair))
        return BY_DIFFERS_ZERO;
    if (isfinite(pair->sqnr))
        return BY_DIFFERS_VALUES;
    return strcmp(a->type.name, b->type.name) ? BY_DIFFERS_SIGN : BY_DIFFERS_NOT;
}

/* value: the float one of the model where it is not quantized; NULL: there is none. */
struct side {
    const struct by_profile_tensor *tensor;
    const struct baryon_tensor *stored;
    const char *type;
};

static struct side side_of(const struct by_profile *profile, size_t tensor)
{
    const struct by_profile_tensor *at = &profile->tensors.at[tensor];
    return (struct side){at, at->stored, at->type.name};
}

static int add_tensor_pair(struct by_comparison *comparison, const struct side *a,
                           const struct side *b, struct baryon_error *err)
{
    const struct by_profile_tensor *known = a->tensor ? a->tensor : b->tensor;
    struct by_tensor_pair pair = {.name = known->name,
                                  .role = known->role,
                                  .a = a->tensor,
                                  .b = b->tensor,
                                  .type_a = a->type,
                                  .type_b = b->type,
                                  .ratio = (double)NAN,
                                  .farthest = (double)NAN,
                                  .sqnr = (double)NAN,
                                  .place = comparison->tensors.count};
    if (a->stored && b->stored) {
        const struct by_profile_tensor one = a->tensor ? *a->tensor : as_tensor(a->stored),
                                       other = b->tensor ? *b->tensor : as_tensor(b->stored);
        if (compare_values(&pair, &one, &other, err) < 0)
            return -1;
    }
    if (pair.a && pair.b)
        compare_scales(&pair);
    pair.difference = pair.a && pair.b ? judge_both(&pair) : BY_DIFFERS_PLACE;
    if (by_list_reserve(&comparison->arena, &comparison->tensors, 1, sizeof pair, err) < 0)
        return -1;
    comparison->tensors.at[comparison->tensors.count++] = pair;
    comparison->differences[pair.difference]++;
    return 0;
}

/* --- Finding the counterpart --- */

struct matching {
    struct by_comparison *comparison;
    size_t *to_b; /* of A's tensors; BY_NO_ROW: none */
    bool *taken;  /* of B's */
};

static void match_by_name(struct matching *matching)
{
    const struct by_profile *a = &matching->comparison->a.profile,
                            *b = &matching->comparison->b.profile;
    for (size_t i = 0; i < a->tensors.count; i++) {
        size_t other = by_profile_find(b, a->tensors.at[i].name);
        while (other != BY_NO_ROW && matching->taken[other])
            other = b->tensors.at[other].next;
        matching->to_b[i] = other;
        if (other != BY_NO_ROW)
            matching->taken[other] = true;
    }
}

/* Weights and biases that tools name otherwise: what the same layer reads. */
static void match_operands(struct matching *matching, const struct by_profile_operand *a,
                           const struct by_profile_operand *b)
{
    if (a->tensor == BY_NO_ROW || b->tensor == BY_NO_ROW ||
        matching->to_b[a->tensor] != BY_NO_ROW || matching->taken[b->tensor])
        return;
    matching->to_b[a->tensor] = b->tensor;
    matching->taken[b->tensor] = true;
}

static void match_by_layer(struct matching *matching)
{
    const struct by_comparison *comparison = matching->comparison;
    for (size_t i = 0; i < comparison->layers.count; i++) {
        const struct by_layer_pair *pair = &comparison->layers.at[i];
        if (pair->a->has_weight && pair->b->has_weight)
            match_operands(matching, &pair->a->weight, &pair->b->weight);
        if (pair->a->has_bias && pair->b->has_bias)
            match_operands(matching, &pair->a->bias, &pair->b->bias);
        match_operands(matching, &pair->a->data, &pair->b->data);
    }
}

/* The value of that name that is float. */
static struct side float_side(const struct by_profile *profile, const char *name)
{
    const struct baryon_value *value = by_graph_value(profile->model->graph, name);
    if (!value)
        return (struct side){0};
    const struct baryon_tensor *stored = by_value_constant(value);
    const int64_t elem = stored ? stored->data_type : value->elem;
    return (struct side){.stored = stored, .type = elem ? by_elem_name(elem) : "float32"};
}

static int add_all(struct matching *matching, struct baryon_error *err)
{
    struct by_comparison *comparison = matching->comparison;
    const struct by_profile *a = &comparison->a.profile, *b = &comparison->b.profile;
    for (size_t i = 0; i < a->tensors.count; i++) {
        const size_t other = matching->to_b[i];
        const struct side one = side_of(a, i), two = other == BY_NO_ROW
                                                         ? float_side(b, a->tensors.at[i].name)
                                                         : side_of(b, other);
        if (add_tensor_pair(comparison, &one, &two, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < b->tensors.count; i++) {
        const struct side one = float_side(a, b->tensors.at[i].name), two = side_of(b, i);
        if (!matching->taken[i] && add_tensor_pair(comparison, &one, &two, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Order --- */

static double bits_of_side(const struct by_profile_tensor *tensor)
{
    return tensor ? tensor->type.bits : 32;
}

/* Within one kind of difference; greater is more important. */
static double weight_of(const struct by_tensor_pair *pair)
{
    switch (pair->difference) {
    case BY_DIFFERS_TYPE:
        return fabs(bits_of_side(pair->a) - bits_of_side(pair->b));
    case BY_DIFFERS_SCALE:
        return isfinite(pair->farthest) ? fabs(log2(pair->farthest)) : 0;
    case BY_DIFFERS_PLACE:
    case BY_DIFFERS_VALUES:
        return isfinite(pair->sqnr) ? -pair->sqnr : -1e9;
    default:
        return 0;
    }
}

/* Biases have 32 bits or few values; they hardly ever decide. */
static bool is_minor(const struct by_tensor_pair *pair)
{
    return pair->difference == BY_DIFFERS_NOT || pair->role == BY_ROLE_BIAS;
}

static int compare_importance(const void *left, const void *right)
{
    const struct by_tensor_pair *one = left, *other = right;
    if (is_minor(one) != is_minor(other))
        return is_minor(one) ? 1 : -1;
    if (one->difference != other->difference)
        return one->difference > other->difference ? -1 : 1;
    const double a = weight_of(one), b = weight_of(other);
    if (a != b)
        return a > b ? -1 : 1;
    return one->place < other->place ? -1 : 1;
}

int by_compare_tensors(struct by_comparison *comparison, struct baryon_error *err)
{
    const size_t a = comparison->a.profile.tensors.count, b = comparison->b.profile.tensors.count;
    struct matching matching = {.comparison = comparison};
    matching.to_b = by_arena_alloc(&comparison->arena, a, sizeof *matching.to_b, err);
    matching.taken = by_arena_alloc(&comparison->arena, b, sizeof *matching.taken, err);
    if (!matching.to_b || !matching.taken)
        return -1;
    match_by_name(&matching);
    match_by_layer(&matching);
    if (add_all(&matching, err) < 0)
        return -1;
    if (comparison->tensors.count)
        qsort(comparison->tensors.at, comparison->tensors.count, sizeof *comparison->tensors.at,
              compare_importance);
    return 0;
}
