/* Builds orthogonal matrices of small factors and applies them. */
#include "solve/rotation.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

#define STREAM_ORDER  0x726f7461u
#define STREAM_SIGNS  0x726f7462u
#define STREAM_RANDOM 0x726f7463u

/* --- Small factors --- */

static double *zeros(size_t count, struct baryon_error *err)
{
    double *values = by_alloc(count, sizeof *values, err);
    if (values)
        memset(values, 0, count * sizeof *values);
    return values;
}

static double *add_factor(struct by_rotation *rotation, size_t size, struct baryon_error *err)
{
    double *matrix = zeros(size * size, err);
    if (!matrix)
        return NULL;
    rotation->factors[rotation->count].size = size;
    rotation->factors[rotation->count++].matrix = matrix;
    return matrix;
}

static int add_factor_of(struct by_rotation *rotation, size_t size, const double *values,
                         struct baryon_error *err)
{
    double *matrix = add_factor(rotation, size, err);
    if (!matrix)
        return -1;
    memcpy(matrix, values, size * size * sizeof *matrix);
    return 0;
}

/* 2/n J - I, whose rows have the sum 1. */
static int add_mirror(struct by_rotation *rotation, size_t size, struct baryon_error *err)
{
    double *matrix = add_factor(rotation, size, err);
    for (size_t i = 0; matrix && i < size * size; i++)
        matrix[i] = 2.0 / (double)size - (i % (size + 1) ? 0 : 1);
    return matrix ? 0 : -1;
}

static double dot(const double *one, const double *other, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += one[i] * other[i];
    return sum;
}

static void subtract(double *row, const double *other, double times, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row[i] -= times * other[i];
}

/* Rows of normal numbers made orthogonal, twice for the sake of rounding. */
static void make_random(double *matrix, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        double *row = matrix + i * size;
        for (size_t k = 0; k < size; k++)
            row[k] = by_rng_normal(seed, STREAM_RANDOM, i * size + k);
        for (size_t k = 0; k < 2 * i; k++) {
            const double *other = matrix + k % i * size;
            subtract(row, other, dot(row, other, size), size);
        }
        const double length = sqrt(dot(row, row, size));
        for (size_t k = 0; k < size; k++)
            row[k] /= length;
    }
}

/* The mirror that swaps the first axis and that of equal values: x - v (v x) / (1 - 1/sqrt(n)). */
static void mirror(double *values, size_t stride, size_t size)
{
    const double root = 1 / sqrt((double)size), length = 2 * (1 - root);
    double sum = values[0];
    for (size_t i = 0; i < size; i++)
        sum -= root * values[i * stride];
    for (size_t i = 0; i < size; i++)
        values[i * stride] -= 2 / length * sum * ((i ? 0 : 1) - root);
}

/* Random, but equal values stay equal: 1 and a random matrix, between two mirrors. */
static int add_random_even(struct by_rotation *rotation, size_t size, uint64_t seed,
                           struct baryon_error *err)
{
    double *matrix = add_factor(rotation, size, err);
    double *inside = matrix ? zeros((size - 1) * (size - 1), err) : NULL;
    if (!inside)
        return -1;
    make_random(inside, size - 1, seed);
    matrix[0] = 1;
    for (size_t i = 1; i < size; i++)
        memcpy(matrix + i * size + 1, inside + (i - 1) * (size - 1), (size - 1) * sizeof *matrix);
    for (size_t i = 0; i < size; i++)
        mirror(matrix + i * size, 1, size);
    for (size_t i = 0; i < size; i++)
        mirror(matrix + i, size, size);
    by_free(inside);
    return 0;
}

/* --- Hadamard matrices of Paley --- */

static bool is_prime(size_t number)
{
    for (size_t i = 2; i * i <= number; i++)
        if (number % i == 0)
            return false;
    return number > 1;
}

/* 1 for squares modulo q, -1 for the others, 0 for 0. */
static void make_characters(int8_t *characters, size_t q)
{
    memset(characters, -1, q);
    for (size_t i = 0; i < q; i++)
        characters[i * i % q] = 1;
    characters[0] = 0;
}

/* The bordered matrix of characters, [q + 1][q + 1]; `turned` is the sign of its first column. */
static double conference(const int8_t *characters, size_t row, size_t column, size_t q, int turned)
{
    if (!row || !column)
        return row == column ? 0 : row ? turned : 1;
    return characters[(row + q - column) % q];
}

static void make_paley(double *matrix, size_t order, size_t q)
{
    static const int of_zero[2][2] = {{1, -1}, {-1, -1}}, of_one[2][2] = {{1, 1}, {1, -1}};
    const bool twice = order == 2 * (q + 1);
    int8_t characters[8 * BY_ROTATION_ODD];
    const double unit = 1 / sqrt((double)order);
    make_characters(characters, q);
    for (size_t i = 0; i < order; i++)
        for (size_t k = 0; k < order; k++) {
            const double entry = twice ? conference(characters, i / 2, k / 2, q, 1)
                                       : conference(characters, i, k, q, -1) + (i == k ? 1 : 0);
            const double sign = !twice           ? 1
                                : i / 2 == k / 2 ? of_zero[i % 2][k % 2]
                                                 : entry * of_one[i % 2][k % 2];
            matrix[i * order + k] = unit * (twice ? sign : entry);
        }
}

/* A prime that gives a Hadamard matrix of that order; 0: none. */
static size_t paley_prime(size_t order)
{
    if (order % 4)
        return 0;
    if (is_prime(order - 1))
        return order - 1;
    const size_t q = order / 2 - 1;
    return q % 4 == 1 && is_prime(q) ? q : 0;
}

static int add_paley(struct by_rotation *rotation, size_t order, struct baryon_error *err)
{
    double *matrix = add_factor(rotation, order, err);
    if (!matrix)
        return -1;
    make_paley(matrix, order, paley_prime(order));
    return 0;
}

/* --- The two kinds --- */

static int add_random(struct by_rotation *rotation, size_t size, uint64_t seed,
                      struct baryon_error *err)
{
    double *matrix = add_factor(rotation, size, err);
    if (!matrix)
        return -1;
    make_random(matrix, size, seed);
    return 0;
}

/* size = odd 2^twos; of these the odd part takes two or three to become an order of Paley's. */
struct parts {
    size_t odd, twos, taken;
};

static struct parts parts_of(size_t size)
{
    struct parts parts = {.odd = size};
    for (; parts.odd && parts.odd % 2 == 0; parts.odd /= 2)
        parts.twos++;
    for (size_t more = 2; parts.odd > 1 && !parts.taken && more <= 3 && more <= parts.twos; more++)
        parts.taken = paley_prime(parts.odd << more) ? more : 0;
    return parts;
}

static int add_halving(struct by_rotation *rotation, struct baryon_error *err)
{
    static const double pair[] = {M_SQRT1_2, M_SQRT1_2, M_SQRT1_2, -M_SQRT1_2};
    return add_factor_of(rotation, 2, pair, err);
}

static int make_hadamard(struct by_rotation *rotation, uint64_t seed, struct baryon_error *err)
{
    const struct parts parts = parts_of(rotation->size);
    for (size_t i = parts.taken; i < parts.twos; i++)
        if (add_halving(rotation, err) < 0)
            return -1;
    if (parts.odd == 1)
        return 0;
    return parts.taken ? add_paley(rotation, parts.odd << parts.taken, err)
                       : add_random(rotation, parts.odd, seed, err);
}

#define MIRROR_MOST 8 /* up to there its diagonal is at most 0.75 */

static int make_even(struct by_rotation *rotation, uint64_t seed, struct baryon_error *err)
{
    static const double four[] = {.5, .5,  .5, -.5, .5,  .5, -.5, .5,
                                  .5, -.5, .5, .5,  -.5, .5, .5,  .5};
    size_t rest = rotation->size, fours = 0;
    for (; rest % 4 == 0; rest /= 4)
        fours++;
    if (rest == 2 && fours) { /* of order 2 there is but the identity and a swap */
        rest = 8;
        fours--;
    }
    for (size_t i = 0; i < fours; i++)
        if (add_factor_of(rotation, 4, four, err) < 0)
            return -1;
    if (rest == 1)
        return 0;
    return rest <= MIRROR_MOST ? add_mirror(rotation, rest, err)
                               : add_random_even(rotation, rest, seed, err);
}

/* --- Order and signs --- */

static int make_order(struct by_rotation *rotation, uint64_t seed, struct baryon_error *err)
{
    int32_t *order = rotation->order = by_alloc(rotation->size, sizeof *order, err);
    for (size_t i = 0; order && i < rotation->size; i++)
        order[i] = (int32_t)i;
    for (size_t i = rotation->size; order && i-- > 1;) {
        const size_t other = (size_t)by_rng_range(seed, STREAM_ORDER, i, 0, (int64_t)i);
        const int32_t held = order[i];
        order[i] = order[other];
        order[other] = held;
    }
    return order ? 0 : -1;
}

static int make_signs(struct by_rotation *rotation, uint64_t seed, struct baryon_error *err)
{
    rotation->signs = by_alloc(rotation->size, sizeof *rotation->signs, err);
    for (size_t i = 0; rotation->signs && i < rotation->size; i++)
        rotation->signs[i] = by_rng_bits(seed, STREAM_SIGNS, i) & 1 ? 1 : -1;
    return rotation->signs ? 0 : -1;
}

bool by_rotation_fits(size_t size)
{
    while (size && size % 2 == 0)
        size /= 2;
    return size && size <= BY_ROTATION_ODD;
}

bool by_rotation_is_plain(size_t size)
{
    const struct parts parts = parts_of(size);
    return by_rotation_fits(size) && (parts.odd == 1 || parts.taken);
}

static int make_kind(struct by_rotation *rotation, enum by_rotation_kind kind, uint64_t seed,
                     struct baryon_error *err)
{
    switch (kind) {
    case BY_ROTATION_KEEPS_MEAN:
        return make_even(rotation, seed, err) || make_order(rotation, seed, err) ? -1 : 0;
    case BY_ROTATION_PLAIN:
        return by_rotation_is_plain(rotation->size)
                   ? make_hadamard(rotation, seed, err)
                   : by_fail(err, BARYON_ERR_UNSUPPORTED,
                             "no Hadamard matrix of order %zu is known", rotation->size);
    default:
        return make_hadamard(rotation, seed, err) || make_signs(rotation, seed, err) ? -1 : 0;
    }
}

int by_rotation_make(struct by_rotation *rotation, size_t size, enum by_rotation_kind kind,
                     uint64_t seed, struct baryon_error *err)
{
    *rotation = (struct by_rotation){.size = size};
    if (!by_rotation_fits(size))
        return by_fail(err, BARYON_ERR_INPUT,
                       "no rotation of %zu channels, the odd factor of which "
                       "has to be 1 to %d",
                       size, BY_ROTATION_ODD);
    rotation->scratch = by_alloc(size, sizeof *rotation->scratch, err);
    if (rotation->scratch && size && make_kind(rotation, kind, seed, err) == 0)
        return 0;
    by_rotation_free(rotation);
    return -1;
}

void by_rotation_free(struct by_rotation *rotation)
{
    for (size_t i = 0; i < rotation->count; i++)
        by_free(rotation->factors[i].matrix);
    by_free(rotation->order);
    by_free(rotation->signs);
    by_free(rotation->scratch);
    *rotation = (struct by_rotation){0};
}

/* --- Matrices of others --- */

/* The first `size` rows and columns; rows are `stride` apart. */
static bool is_orthogonal(const int8_t *matrix, size_t size, size_t stride)
{
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k <= i; k++) {
            int64_t sum = 0;
            for (size_t n = 0; n < size; n++)
                sum += matrix[i * stride + n] * matrix[k * stride + n];
            if (sum != (i == k ? (int64_t)size : 0))
                return false;
        }
    return true;
}

/* The first `size` rows and columns are [[A, A], [A, -A]]; rows are `stride` apart. */
static bool has_halves(const int8_t *matrix, size_t size, size_t stride)
{
    const size_t half = size / 2;
    for (size_t i = 0; i < half; i++)
        for (size_t k = 0; k < half; k++) {
            const int8_t *at = matrix + i * stride + k, *below = at + half * stride;
            if (at[0] != at[half] || at[0] != below[0] || at[0] != -below[half])
                return false;
        }
    return true;
}

/* The part without halves is dense. */
static int add_core(struct by_rotation *rotation, const int8_t *matrix, size_t rest, size_t stride,
                    struct baryon_error *err)
{
    if (rest > BY_ROTATION_DENSE)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "a rotation of %zu channels in no known form, at most %d can be read", rest,
                       BY_ROTATION_DENSE);
    if (!is_orthogonal(matrix, rest, stride))
        return by_fail(err, BARYON_ERR_INPUT, "the matrix of a rotation is not orthogonal");
    double *core = add_factor(rotation, rest, err);
    for (size_t i = 0; core && i < rest * rest; i++)
        core[i] = matrix[i / rest * stride + i % rest] / sqrt((double)rest);
    return core ? 0 : -1;
}

int by_rotation_of_matrix(struct by_rotation *rotation, const int8_t *matrix, size_t size,
                          struct baryon_error *err)
{
    size_t rest = size;
    *rotation = (struct by_rotation){.size = size};
    rotation->scratch = by_alloc(size, sizeof *rotation->scratch, err);
    int status = rotation->scratch ? 0 : -1;
    for (; !status && rest > 1 && rest % 2 == 0 && has_halves(matrix, rest, size); rest /= 2)
        status = add_halving(rotation, err);
    if (!status && add_core(rotation, matrix, rest, size, err) == 0)
        return 0;
    by_rotation_free(rotation);
    return -1;
}

void by_rotation_transpose(struct by_rotation *rotation)
{
    for (size_t f = 0; f < rotation->count; f++) {
        const size_t size = rotation->factors[f].size;
        double *matrix = rotation->factors[f].matrix;
        for (size_t i = 0; i < size; i++)
            for (size_t k = 0; k < i; k++) {
                const double held = matrix[i * size + k];
                matrix[i * size + k] = matrix[k * size + i];
                matrix[k * size + i] = held;
            }
    }
}

/* --- Applying --- */

/* One factor: values[outer][size][inner], along the middle. */
static void apply_factor(const double *matrix, size_t size, size_t outer, size_t inner,
                         const double *from, double *to)
{
    memset(to, 0, outer * size * inner * sizeof *to);
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < size; i++)
            for (size_t k = 0; k < size; k++) {
                const double times = matrix[i * size + k];
                const double *source = from + (o * size + i) * inner;
                double *target = to + (o * size + k) * inner;
                for (size_t n = 0; n < inner; n++)
                    target[n] += times * source[n];
            }
}

void by_rotation_apply_with(const struct by_rotation *rotation, double *values, double *scratch)
{
    size_t inner = rotation->size, outer = 1;
    for (size_t i = 0; i < rotation->size; i++)
        scratch[i] = values[rotation->order ? (size_t)rotation->order[i] : i] *
                     (rotation->signs ? rotation->signs[i] : 1);
    memcpy(values, scratch, rotation->size * sizeof *values);
    for (size_t i = 0; i < rotation->count; i++) {
        const size_t size = rotation->factors[i].size;
        inner /= size;
        apply_factor(rotation->factors[i].matrix, size, outer, inner, values, scratch);
        memcpy(values, scratch, rotation->size * sizeof *values);
        outer *= size;
    }
}

void by_rotation_apply(struct by_rotation *rotation, double *values)
{
    by_rotation_apply_with(rotation, values, rotation->scratch);
}

void by_rotation_apply_floats(const struct by_rotation *rotation, float *values, double *scratch)
{
    for (size_t i = 0; i < rotation->size; i++)
        scratch[i] = (double)values[i];
    by_rotation_apply_with(rotation, scratch, scratch + rotation->size);
    for (size_t i = 0; i < rotation->size; i++)
        values[i] = (float)scratch[i];
}

double *by_rotation_matrix(struct by_rotation *rotation, struct baryon_error *err)
{
    const size_t size = rotation->size;
    if (size > SIZE_MAX / size / sizeof(double))
        return by_fail(err, BARYON_ERR_INPUT, "a rotation has too many elements (%zu)", size), NULL;
    double *matrix = zeros(size * size, err);
    for (size_t i = 0; matrix && i < size; i++) {
        matrix[i * size + i] = 1;
        by_rotation_apply(rotation, matrix + i * size);
    }
    return matrix;
}
