/* Splits rows of a matrix that decide its only scale off into a product of their own. */
#include "pass/split_weight_rows.h"

#include "base/outliers.h"
#include "pass/edit.h"
#include "pass/passes.h"

#include <math.h>
#include <stdlib.h>

#define GOOD   20.0 /* dB that a weight has by itself, which is enough */
#define LEVELS 127.0

struct row {
    double peak, square; /* greatest magnitude, mean square */
    size_t index;
};

struct matrix {
    double *values; /* [ins][outs], or turned */
    size_t ins, outs;
    bool turned;
    double levels;    /* to each side of zero */
    struct row *rows; /* by falling peaks */
    size_t count;     /* of the first ones that are split */
};

static int compare_rows(const void *one, const void *other)
{
    const struct row *a = one, *b = other;
    if (a->peak != b->peak)
        return a->peak < b->peak ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_places(const void *one, const void *other)
{
    const struct row *a = one, *b = other;
    return a->index < b->index ? -1 : a->index > b->index;
}

static double *element(const struct matrix *matrix, size_t in, size_t out)
{
    return &matrix->values[matrix->turned ? out * matrix->ins + in : in * matrix->outs + out];
}

static void measure_rows(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->ins; i++) {
        struct row row = {.index = i};
        for (size_t k = 0; k < matrix->outs; k++) {
            const double value = *element(matrix, i, k);
            row.peak = fmax(row.peak, fabs(value));
            row.square += value * value / (double)matrix->outs;
        }
        matrix->rows[i] = row;
    }
    qsort(matrix->rows, matrix->ins, sizeof *matrix->rows, compare_rows);
}

/* Of rounding rows with one scale. What is rounded to zero loses no more than it has. */
static double noise_of(const struct matrix *matrix, size_t begin, size_t end)
{
    const double step = begin < end ? matrix->rows[begin].peak / matrix->levels : 0;
    double noise = 0;
    for (size_t i = begin; i < end; i++)
        noise += fmin(step * step / 12, matrix->rows[i].square);
    return noise;
}

/* Those that are split off have a scale of their own. */
static double noise_without(const void *context, size_t count)
{
    const struct matrix *matrix = context;
    return noise_of(matrix, 0, count) + noise_of(matrix, count, matrix->ins);
}

static void choose_rows(struct matrix *matrix)
{
    const double noise = noise_of(matrix, 0, matrix->ins);
    double signal = 0;
    for (size_t i = 0; i < matrix->ins; i++)
        signal += matrix->rows[i].square;
    if (!isfinite(signal) || !(noise > 0) || 10 * log10(signal / noise) >= GOOD)
        return;
    matrix->count = by_outliers_count(noise_without, matrix, matrix->ins, NULL);
    qsort(matrix->rows, matrix->count, sizeof *matrix->rows, compare_places);
}

static struct baryon_value *add_numbers(struct baryon_graph *graph, const struct matrix *matrix,
                                        struct by_arena *scratch, struct baryon_error *err)
{
    const int64_t dim = (int64_t)matrix->count;
    int64_t *numbers = by_arena_alloc(scratch, matrix->count, sizeof *numbers, err);
    for (size_t i = 0; numbers && i < matrix->count; i++)
        numbers[i] = (int64_t)matrix->rows[i].index;
    return numbers ? by_pass_add_ints(graph, "split_rows", &dim, 1, numbers, err) : NULL;
}

/* The rows, which become zero in the matrix. */
static struct baryon_value *split_off_rows(struct baryon_node *node, struct matrix *matrix,
                                           struct by_arena *scratch, struct baryon_error *err)
{
    const struct baryon_tensor *weight = by_pass_tensor(by_node_in(node, 1));
    const int64_t dims[] = {(int64_t)matrix->count, (int64_t)matrix->outs};
    const int64_t all[] = {weight->dims.at[0], weight->dims.at[1]}, elem = weight->data_type;
    const double alpha = by_node_is(node, "Gemm") ? (double)by_node_float(node, "alpha", 1) : 1;
    double *taken = by_arena_alloc(scratch, matrix->count * matrix->outs, sizeof *taken, err);
    for (size_t i = 0; taken && i < matrix->count; i++)
        for (size_t k = 0; k < matrix->outs; k++) {
            double *from = element(matrix, matrix->rows[i].index, k);
            taken[i * matrix->outs + k] = alpha * *from;
            *from = 0;
        }
    if (!taken || by_pass_set_constant(node, 1, "split_rest", elem, all, 2, matrix->values, err))
        return NULL;
    return by_pass_add_doubles(node->graph, "split_weight", elem, dims, 2, taken, err);
}

static int split_matrix(struct baryon_node *node, struct matrix *matrix, struct by_arena *scratch,
                        struct baryon_error *err)
{
    struct baryon_graph *graph = node->graph;
    struct baryon_value *rest = by_node_out(node, 0);
    struct baryon_value *numbers = add_numbers(graph, matrix, scratch, err);
    struct baryon_value *rows = numbers ? split_off_rows(node, matrix, scratch, err) : NULL;
    if (!rows)
        return -1;
    struct baryon_value *const read[] = {by_node_in(node, 0), numbers};
    struct baryon_node *gather = by_pass_add_node(graph, "Gather", "split_channels", read, 2, err);
    if (!gather || by_node_set_int(gather, "axis", -1, err) < 0)
        return -1;
    struct baryon_value *const factors[] = {by_node_out(gather, 0), rows};
    struct baryon_node *product =
        by_pass_add_node(graph, "MatMul", "split_product", factors, 2, err);
    if (!product)
        return -1;
    struct baryon_value *const terms[] = {rest, by_node_out(product, 0)};
    struct baryon_node *add = by_pass_add_node(graph, "Add", "split_sum", terms, 2, err);
    return add ? by_value_stand_in(by_node_out(add, 0), rest, add, "split_product", err) : -1;
}

/* --- One product --- */

static bool has_matrix(const struct baryon_node *node, struct matrix *matrix)
{
    if (!by_node_is(node, "MatMul") &&
        (!by_node_is(node, "Gemm") || by_node_int(node, "transA", 0)))
        return false;
    const struct baryon_tensor *weight = by_pass_tensor(by_node_in(node, 1));
    if (!weight || weight->dims.count != 2 || by_pass_tensor(by_node_in(node, 0)) ||
        by_pass_rank(by_node_in(node, 0)) < 1)
        return false;
    matrix->turned = by_node_int(node, "transB", 0) != 0;
    matrix->ins = (size_t)weight->dims.at[matrix->turned ? 1 : 0];
    matrix->outs = (size_t)weight->dims.at[matrix->turned ? 0 : 1];
    return matrix->ins >= BY_OUTLIERS_SHARE && matrix->outs;
}

static int find_rows(const struct baryon_node *node, struct matrix *matrix,
                     struct by_arena *scratch, struct baryon_error *err)
{
    size_t count;
    if (by_pass_doubles(by_node_in(node, 1), scratch, &matrix->values, &count, err) < 0)
        return -1;
    if (!matrix->values || !count)
        return 0;
    matrix->rows = by_arena_alloc(scratch, matrix->ins, sizeof *matrix->rows, err);
    if (!matrix->rows)
        return -1;
    measure_rows(matrix);
    choose_rows(matrix);
    return 0;
}

int by_split_weight_rows(struct baryon_node *node, double levels, bool write,
                         struct by_split_rows *rows, struct baryon_error *err)
{
    struct by_arena scratch;
    struct matrix matrix = {.levels = levels};
    *rows = (struct by_split_rows){0};
    if (!has_matrix(node, &matrix))
        return 0;
    by_arena_init(&scratch, SIZE_MAX);
    int status = find_rows(node, &matrix, &scratch, err);
    if (status == 0 && matrix.count && write)
        status = split_matrix(node, &matrix, &scratch, err);
    *rows = (struct by_split_rows){matrix.count, matrix.ins};
    by_arena_release(&scratch);
    return status;
}

static int split_weight_rows(struct by_pass_context *context, struct baryon_node *node,
                             struct baryon_error *err)
{
    struct by_split_rows rows = {0};
    if (!by_pass_is_excluded(context, node) &&
        by_split_weight_rows(node, LEVELS, true, &rows, err) < 0)
        return -1;
    context->changes += rows.count > 0;
    return 0;
}

static int run_split_weight_rows(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, split_weight_rows, err);
}

const struct by_pass by_pass_split_weight_rows = {
    .name = "split-weight-rows",
    .help = "Multiply the few rows of a matrix that leave the others too coarse steps of 8 bits in "
            "a product of their own",
    .fallback = BY_PASS_OFF,
    .exact = true,
    .shapes = true,
    .run = run_split_weight_rows,
};
