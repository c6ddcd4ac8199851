/* GPTQ's levels in blocks, beside error feedback as its inventors wrote it, in double. */
#include "llm/gguf_solve/solve.h"

#include "base/rng.h"
#include "llm/ggml/codec.h"
#include "llm/ggml/parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COLUMNS   256
#define ROWS      40 /* more than a piece */
#define FIRST     32 /* a piece */
#define SAMPLES   400
#define DAMPING   0.02
#define BYTES_MAX (ROWS * COLUMNS * 2)

static const char *const names[] = {"q4_0",   "q4_1",   "q5_0",  "q5_1",    "q8_0",
                                    "q2_K",   "q3_K",   "q4_K",  "q5_K",    "q6_K",
                                    "iq4_nl", "iq4_xs", "mxfp4", "iq3_xxs", "iq3_s"};
#define NAMES  (sizeof names / sizeof *names)
#define POINTS 2 /* of them, the last: four values at once */

static struct baryon_error err;
static float gram[COLUMNS * COLUMNS], weights[ROWS * COLUMNS], values[ROWS * COLUMNS];
static double inverse[COLUMNS][COLUMNS];
static uint8_t blocks[BYTES_MAX], others[BYTES_MAX];
static double errors[ROWS][2];

static void fill(void)
{
    static float x[SAMPLES][COLUMNS];
    for (size_t s = 0; s < SAMPLES; s++)
        for (size_t i = 0; i < COLUMNS; i++)
            x[s][i] = (i ? 0.6f * x[s][i - 1] : 0) +
                      (float)by_rng_normal(27, s, i) * (1 + (float)(i % 11) / 4);
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? DAMPING * SAMPLES : 0;
            for (size_t s = 0; s < SAMPLES; s++)
                sum += (double)x[s][i] * (double)x[s][j];
            gram[i * COLUMNS + j] = gram[j * COLUMNS + i] = (float)(sum / SAMPLES);
        }
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        weights[i] = (float)by_rng_normal(27, 1000, i) * (i % 97 ? 0.02f : 0.1f);
}

static void solve(const struct by_ggml_solve *problem, uint8_t *out)
{
    if (by_ggml_solve(problem, NULL, out, errors, &err))
        fail_msg("%s: %s", problem->type->name, err.message);
}

static struct by_ggml_solve problem_of(const char *name, const struct by_gptq_factor *factor)
{
    return (struct by_ggml_solve){.type = by_ggml_type_named(name),
                                  .rows = ROWS,
                                  .columns = COLUMNS,
                                  .weights = weights,
                                  .gram = gram,
                                  .factor = factor};
}

/* --- As its inventors wrote it --- */

static void invert(void)
{
    static double a[COLUMNS][COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            a[i][j] = (double)gram[i * COLUMNS + j];
            inverse[i][j] = i == j;
        }
    for (size_t pivot = 0; pivot < COLUMNS; pivot++) {
        const double by = a[pivot][pivot];
        for (size_t j = 0; j < COLUMNS; j++) {
            a[pivot][j] /= by;
            inverse[pivot][j] /= by;
        }
        for (size_t i = 0; i < COLUMNS; i++) {
            const double factor = a[i][pivot];
            for (size_t j = 0; i != pivot && j < COLUMNS; j++) {
                a[i][j] -= factor * a[pivot][j];
                inverse[i][j] -= factor * inverse[pivot][j];
            }
        }
    }
}

/* Of what a block can decode to in that place. */
static double nearest(const struct by_ggml_form *form, const struct by_ggml_parts *parts, size_t at,
                      double wanted)
{
    const double scale = (double)parts->halves[0] * parts->scales[at / form->group];
    const double min =
        form->min_high ? (double)parts->halves[1] * parts->mins[at / form->group] : 0;
    double best = INFINITY;
    for (int level = form->least; level <= form->most; level++) {
        const double number = form->table ? (double)form->table[level] : level - form->zero;
        if (fabs(scale * number - min - wanted) < fabs(best - wanted))
            best = scale * number - min;
    }
    return best;
}

static size_t next_column(const bool *done)
{
    size_t best = COLUMNS;
    for (size_t i = 0; i < COLUMNS; i++)
        if (!done[i] && (best == COLUMNS || gram[i * COLUMNS + i] > gram[best * COLUMNS + best]))
            best = i;
    return best;
}

static void take_column(size_t i)
{
    double own[COLUMNS];
    memcpy(own, inverse[i], sizeof own);
    for (size_t j = 0; j < COLUMNS; j++)
        for (size_t k = 0; k < COLUMNS; k++)
            inverse[j][k] -= own[j] * own[k] / own[i];
}

/* How many values differ from those of the blocks. `others` are blocks with the scales. */
static size_t count_apart(const struct by_ggml_type *type)
{
    static double wanted[ROWS][COLUMNS];
    const struct by_ggml_form *form = by_ggml_form(type);
    const size_t per_row = COLUMNS / type->block;
    bool done[COLUMNS] = {false};
    size_t apart = 0;
    for (size_t k = 0; k < ROWS * COLUMNS; k++)
        wanted[k / COLUMNS][k % COLUMNS] = (double)weights[k];
    invert();
    for (size_t step = 0; step < COLUMNS; step++) {
        const size_t i = next_column(done);
        for (size_t row = 0; row < ROWS; row++) {
            struct by_ggml_parts parts = {0};
            form->apart(others + (row * per_row + i / type->block) * type->bytes, &parts);
            const double value = nearest(form, &parts, i % type->block, wanted[row][i]);
            const double found = (double)values[row * COLUMNS + i], off = wanted[row][i] - value;
            apart += fabs(value - found) > 1e-5 * (fabs(value) + 1e-3);
            for (size_t j = 0; j < COLUMNS; j++)
                wanted[row][j] -= off / inverse[i][i] * inverse[i][j];
        }
        done[i] = true;
        take_column(i);
    }
    return apart;
}

/* --- The same of four columns at once, for points --- */

/* Four columns: what remains of gram in them, the inverse of a square of its inverse, and rows of
 * that. */
struct four {
    size_t first;
    double form[4][4], rows[4][COLUMNS];
};

static void invert_four(struct four *four)
{
    double a[4][8] = {{0}};
    for (size_t i = 0; i < 4; i++) {
        memcpy(a[i], &four->rows[i][four->first], 4 * sizeof **a);
        a[i][4 + i] = 1;
    }
    for (size_t k = 0; k < 4; k++) {
        const double by = a[k][k];
        for (size_t j = 0; j < 8; j++)
            a[k][j] /= by;
        for (size_t i = 0; i < 4; i++) {
            const double times = i == k ? 0 : a[i][k];
            for (size_t j = 0; j < 8; j++)
                a[i][j] -= times * a[k][j];
        }
    }
    for (size_t i = 0; i < 4; i++)
        memcpy(four->form[i], a[i] + 4, sizeof four->form[i]);
}

static void take_four(size_t first, bool *done, struct four *four)
{
    four->first = first;
    memcpy(four->rows, inverse[first], sizeof four->rows);
    invert_four(four);
    for (size_t k = first; k < first + 4; k++) {
        done[k] = true;
        take_column(k);
    }
}

static double cost_of(const struct four *four, const double *off)
{
    double sum = 0;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            sum += off[i] * four->form[i][j] * off[j];
    return sum;
}

/* Signs of which an even number is negative, an odd one, or any. */
enum signs { EVEN, ODD, ANY };

/* Of all points; best: how far they are from what is wanted. */
static double least_cost(const struct by_ggml_points *points, const struct four *four, double scale,
                         const double *wanted, enum signs which, double best[4])
{
    double least = INFINITY;
    for (size_t i = 0; i < points->count; i++)
        for (int signs = 0; signs < 16; signs++) {
            double off[4];
            if (which != ANY && __builtin_parity((unsigned)signs) != (which == ODD))
                continue;
            for (size_t k = 0; k < 4; k++)
                off[k] = (signs >> k & 1 ? -scale : scale) *
                             (double)points->sizes[by_point_step_at(points->cells[i], k)] -
                         wanted[four->first + k];
            const double cost = cost_of(four, off);
            if (cost < least) {
                least = cost;
                memcpy(best, off, sizeof off);
            }
        }
    return least;
}

/* Columns to come make up for what the four are off. */
static void make_up(const struct four *four, const double off[4], double *wanted)
{
    for (size_t i = 0; i < 4; i++) {
        double times = 0;
        for (size_t j = 0; j < 4; j++)
            times += four->form[i][j] * off[j];
        for (size_t j = 0; j < COLUMNS; j++)
            wanted[j] += times * four->rows[i][j];
    }
}

static double scale_of(const struct by_ggml_type *type, size_t row, size_t column)
{
    struct by_ggml_parts parts = {0};
    by_ggml_form(type)->apart(blocks + row * type->bytes, &parts);
    return (double)parts.halves[0] * parts.scales[column / 32];
}

/* Goes on with what was found; gives what it costs. */
static double feed_four(size_t row, const struct four *four, double *wanted)
{
    double off[4];
    for (size_t k = 0; k < 4; k++)
        off[k] = (double)values[row * COLUMNS + four->first + k] - wanted[four->first + k];
    make_up(four, off, wanted);
    return cost_of(four, off);
}

/* Of all points for the second of two fours, and then for the first; signs of both are alike. */
static double least_of_eight(const struct four *fours, double scale, const double *wanted)
{
    const struct by_ggml_points *points = by_ggml_points_xxs();
    double least = INFINITY;
    for (enum signs signs = EVEN; signs < ANY; signs++) {
        double moved[COLUMNS], off[4];
        memcpy(moved, wanted, sizeof moved);
        double cost = least_cost(points, &fours[1], scale, moved, signs, off);
        make_up(&fours[1], off, moved);
        cost += least_cost(points, &fours[0], scale, moved, signs, off);
        least = fmin(least, cost);
    }
    return least;
}

#define FED 8 /* rows */

/* Columns in the order of those with the largest inputs, and their neighbours with them; sets of
 * points near to what is wanted are searched. Gives the part that are not the best of all. */
static double part_not_best(const char *name)
{
    static double wanted[FED][COLUMNS];
    const struct by_ggml_type *type = by_ggml_type_named(name);
    const bool even = by_ggml_form(type)->points()->even;
    const size_t width = even ? 8 : 4;
    bool done[COLUMNS] = {false};
    size_t worse = 0;
    assert_int_equal(by_ggml_decode(type, blocks, ROWS * COLUMNS, values, &err), 0);
    for (size_t k = 0; k < FED * COLUMNS; k++)
        wanted[k / COLUMNS][k % COLUMNS] = (double)weights[k];
    invert();
    for (size_t step = 0; step < COLUMNS; step += width) {
        const size_t first = next_column(done) / width * width;
        struct four fours[2];
        for (size_t k = width; k > 0; k -= 4)
            take_four(first + k - 4, done, &fours[k / 4 - 1]);
        for (size_t row = 0; row < FED; row++) {
            double least, off[4], cost = 0;
            const double scale = scale_of(type, row, first);
            least = even ? least_of_eight(fours, scale, wanted[row])
                         : least_cost(by_ggml_points_s(), fours, scale, wanted[row], ANY, off);
            for (size_t k = width; k > 0; k -= 4)
                cost += feed_four(row, &fours[k / 4 - 1], wanted[row]);
            worse += cost > 1.001 * least;
        }
    }
    return (double)(worse * width) / (FED * COLUMNS);
}

static void points_at_once(void **state)
{
    struct by_gptq_factor *factor;
    (void)state;
    fill();
    assert_int_equal(
        by_gptq_factor_open(&factor, gram, COLUMNS, (struct by_gptq_way){0}, NULL, &err), 0);
    for (size_t n = NAMES - POINTS; n < NAMES; n++) {
        const struct by_ggml_solve problem = problem_of(names[n], factor);
        solve(&problem, blocks);
        const double part = part_not_best(names[n]);
        print_message("%s: %.3f are not the best\n", names[n], part);
        assert_true(part < 0.06);
    }
    by_gptq_factor_close(factor);
}

static void as_its_inventors_wrote_it(void **state)
{
    struct by_gptq_factor *factor;
    (void)state;
    fill();
    assert_int_equal(
        by_gptq_factor_open(&factor, gram, COLUMNS, (struct by_gptq_way){0}, NULL, &err), 0);
    for (size_t n = 0; n < NAMES - POINTS; n++) {
        struct by_ggml_solve problem = problem_of(names[n], NULL);
        solve(&problem, others);
        problem.factor = factor;
        solve(&problem, blocks);
        assert_int_equal(by_ggml_decode(problem.type, blocks, ROWS * COLUMNS, values, &err), 0);
        const size_t apart = count_apart(problem.type);
        print_message("%s: %zu of %d differ\n", names[n], apart, ROWS * COLUMNS);
        assert_true(apart * 100 <= ROWS * COLUMNS); /* all but those that a last bit decides */
    }
    by_gptq_factor_close(factor);
}

/* --- With descent --- */

static double sum_of_errors(void)
{
    double sum = 0;
    for (size_t row = 0; row < ROWS; row++) {
        assert_true(errors[row][1] <= errors[row][0]);
        sum += errors[row][1];
    }
    return sum;
}

static void descent_goes_on_from_there(void **state)
{
    struct by_gptq_factor *factor;
    (void)state;
    fill();
    assert_int_equal(
        by_gptq_factor_open(&factor, gram, COLUMNS, (struct by_gptq_way){0}, NULL, &err), 0);
    for (size_t n = 0; n < NAMES; n++) {
        struct by_ggml_solve problem = problem_of(names[n], factor);
        solve(&problem, blocks);
        const double alone = sum_of_errors();
        problem.sweeps = 6;
        problem.rounds = 1;
        solve(&problem, blocks);
        const double both = sum_of_errors();
        problem.factor = NULL;
        solve(&problem, blocks);
        assert_true(both < alone && both < sum_of_errors());
    }
    by_gptq_factor_close(factor);
}

/* Pieces of rows share a factor: the bytes of all at once. */
static void rows_in_pieces(void **state)
{
    struct by_gptq_factor *factor;
    (void)state;
    fill();
    assert_int_equal(
        by_gptq_factor_open(&factor, gram, COLUMNS, (struct by_gptq_way){0}, NULL, &err), 0);
    for (size_t n = 0; n < NAMES; n++) {
        struct by_ggml_solve problem = problem_of(names[n], factor);
        const size_t bytes = COLUMNS / problem.type->block * problem.type->bytes;
        problem.sweeps = 6;
        problem.rounds = 1;
        solve(&problem, blocks);
        problem.rows = FIRST;
        solve(&problem, others);
        problem.rows = ROWS - FIRST;
        problem.weights = weights + FIRST * COLUMNS;
        solve(&problem, others + FIRST * bytes);
        assert_memory_equal(blocks, others, ROWS * bytes);
    }
    by_gptq_factor_close(factor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_its_inventors_wrote_it), cmocka_unit_test(points_at_once),
        cmocka_unit_test(descent_goes_on_from_there), cmocka_unit_test(rows_in_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
