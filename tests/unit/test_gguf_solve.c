/* Blocks solved on Gram matrices: what holds for every type, beside sums in double. */
#include "llm/gguf_solve/solve.h"

#include "base/rng.h"
#include "llm/ggml/codec.h"
#include "llm/ggml/parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COLUMNS   512
#define ROWS      40 /* more than a piece */
#define SAMPLES   200
#define BYTES_MAX (ROWS * COLUMNS * 2)

static const char *const names[] = {"q4_0",   "q4_1",   "q5_0",    "q5_1",  "q8_0",
                                    "q2_K",   "q3_K",   "q4_K",    "q5_K",  "q6_K",
                                    "iq4_nl", "iq4_xs", "iq3_xxs", "iq3_s", "mxfp4"};
#define NAMES (sizeof names / sizeof *names)

static struct baryon_error err;
static float gram[COLUMNS * COLUMNS], weights[ROWS * COLUMNS], pull[ROWS * COLUMNS];
static float values[ROWS * COLUMNS];
static uint8_t blocks[BYTES_MAX], others[BYTES_MAX];
static double errors[ROWS][2];

/* Inputs that hang together, fewer samples than columns, and some that are always 0. */
static void fill(uint64_t seed, size_t dead)
{
    static float x[SAMPLES][COLUMNS];
    static size_t made = SIZE_MAX;
    for (size_t s = 0; s < SAMPLES; s++)
        for (size_t i = 0; i < COLUMNS; i++)
            x[s][i] = (i % 7 < dead) ? 0
                                     : (i ? 0.6f * x[s][i - 1] : 0) +
                                           (float)by_rng_normal(seed, s, i) * (i % 50 ? 1 : 4);
    for (size_t i = 0; i < COLUMNS && made != dead; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t s = 0; s < SAMPLES; s++)
                sum += (double)x[s][i] * (double)x[s][j];
            gram[i * COLUMNS + j] = gram[j * COLUMNS + i] = (float)(sum / SAMPLES);
        }
    made = dead;
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        weights[i] = (float)by_rng_normal(seed, 1000, i) * (i % 97 ? 0.02f : 0.1f);
}

static void fill_pull(uint64_t seed)
{
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < COLUMNS; i++)
            pull[row * COLUMNS + i] = (float)(0.002 * by_rng_normal(seed, 1001, row * COLUMNS + i));
}

static struct by_ggml_solve problem_of(const char *name, bool with_pull)
{
    return (struct by_ggml_solve){.type = by_ggml_type_named(name),
                                  .rows = ROWS,
                                  .columns = COLUMNS,
                                  .weights = weights,
                                  .gram = gram,
                                  .pull = with_pull ? pull : NULL,
                                  .sweeps = 12,
                                  .rounds = 2};
}

static void solve(const struct by_ggml_solve *problem, struct by_pool *pool, uint8_t *out)
{
    if (by_ggml_solve(problem, pool, out, errors, &err))
        fail_msg("%s: %s", problem->type->name, err.message);
}

/* The form of what the blocks decode to, less that of the weights. */
static double plain_error(size_t row, bool with_pull)
{
    const float *w = weights + row * COLUMNS, *v = values + row * COLUMNS;
    double sum = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        double apart = 0;
        for (size_t j = 0; j < COLUMNS; j++)
            apart += (double)gram[i * COLUMNS + j] * ((double)v[j] - (double)w[j]);
        apart -= with_pull ? 2 * (double)pull[row * COLUMNS + i] : 0;
        sum += ((double)v[i] - (double)w[i]) * apart;
    }
    return sum;
}

static double sum_of(size_t which)
{
    double sum = 0;
    for (size_t row = 0; row < ROWS; row++)
        sum += errors[row][which];
    return sum;
}

static void decode(const char *name)
{
    assert_int_equal(by_ggml_decode(by_ggml_type_named(name), blocks, ROWS * COLUMNS, values, &err),
                     0);
}

/* No row gets worse, all together get much better, and errors are those of the blocks. */
static void better(void **state)
{
    (void)state;
    fill(1, 0);
    fill_pull(1);
    for (size_t n = 0; n < 2 * NAMES; n++) {
        const char *name = names[n / 2];
        const bool with_pull = n % 2;
        const struct by_ggml_solve problem = problem_of(name, with_pull);
        solve(&problem, NULL, blocks);
        decode(name);
        for (size_t row = 0; row < ROWS; row++)
            assert_true(errors[row][1] <= errors[row][0]);
        for (size_t row = 0; row < ROWS; row += 9) {
            const double plain = plain_error(row, with_pull);
            assert_true(fabs(plain - errors[row][1]) <= 1e-3 * fabs(plain) + 1e-6);
        }
        assert_true(sum_of(1) < 0.7 * sum_of(0));
    }
}

/* What it starts from is what the encoder makes with the diagonal as importance. */
static void start(void **state)
{
    float importance[COLUMNS];
    (void)state;
    fill(1, 0);
    for (size_t i = 0; i < COLUMNS; i++)
        importance[i] = gram[i * COLUMNS + i];
    for (size_t n = 0; n < NAMES; n++) {
        struct by_ggml_solve problem = problem_of(names[n], false);
        problem.sweeps = problem.rounds = 0;
        solve(&problem, NULL, blocks);
        assert_int_equal(
            by_ggml_encode(problem.type, weights, ROWS, COLUMNS, importance, others, &err), 0);
        if (n + 1 < NAMES) /* MXFP4 may have other scales */
            assert_memory_equal(blocks, others,
                                ROWS * COLUMNS / problem.type->block * problem.type->bytes);
        decode(names[n]);
        for (size_t row = 0; row < ROWS; row += 13)
            assert_true(fabs(plain_error(row, false) - errors[row][0]) <=
                        1e-3 * errors[row][0] + 1e-6);
    }
}

/* One level up or down never pays more than what is noise. */
static double best_step(const struct by_ggml_form *form, const struct by_ggml_type *type,
                        size_t row)
{
    const size_t per_row = COLUMNS / type->block;
    double worst = 0;
    struct by_ggml_parts parts;
    for (size_t i = 0; i < COLUMNS; i++) {
        double slope = 0;
        form->apart(blocks + (row * per_row + i / type->block) * type->bytes, &parts);
        for (size_t j = 0; j < COLUMNS; j++)
            slope += (double)gram[i * COLUMNS + j] *
                     ((double)values[row * COLUMNS + j] - (double)weights[row * COLUMNS + j]);
        for (int way = -1; way <= 1; way += 2) {
            const size_t at = i % type->block;
            const int level = parts.levels[at], next = level + way;
            if (next < form->least || next > form->most)
                continue;
            const double one = form->table ? (double)(form->table[next] - form->table[level]) : way;
            const double step = one * (double)parts.halves[0] * parts.scales[at / form->group];
            const double own = (double)gram[i * COLUMNS + i] * step * step;
            const double change = own > 0 ? (2 * slope * step + own) / own : 0;
            worst = change < worst ? change : worst;
        }
    }
    return worst;
}

/* Halves of the derivatives of a row's form. */
static void find_slopes(size_t row, size_t column, size_t count, double *slopes)
{
    for (size_t i = 0; i < count; i++) {
        slopes[i] = 0;
        for (size_t j = 0; j < COLUMNS; j++)
            slopes[i] += (double)gram[(column + i) * COLUMNS + j] *
                         ((double)values[row * COLUMNS + j] - (double)weights[row * COLUMNS + j]);
    }
}

/* How the form changes where four values go so far. */
static double change_of(size_t column, const double slopes[4], const double way[4])
{
    double change = 0;
    for (size_t i = 0; i < 4; i++) {
        double slope = slopes[i];
        for (size_t j = 0; j < 4; j++)
            slope += 0.5 * (double)gram[(column + i) * COLUMNS + column + j] * way[j];
        change += 2 * way[i] * slope;
    }
    return change;
}

/* Four values of a row, the scale of their points, and whether an odd number is negative. */
struct four {
    size_t column;
    const float *values;
    double scale;
    bool odd;
    double slopes[4];
};

static struct four four_at(const struct by_ggml_form *form, const struct by_ggml_type *type,
                           size_t row, size_t column)
{
    struct by_ggml_parts parts = {0};
    struct four four = {.column = column, .values = values + row * COLUMNS + column};
    form->apart(blocks + (row * COLUMNS + column) / 256 * type->bytes, &parts);
    four.scale = (double)parts.halves[0] * parts.scales[column % 256 / form->group];
    for (size_t k = 0; k < 4; k++)
        four.odd ^= parts.levels[column % 256 + k] < 8;
    find_slopes(row, column, 4, four.slopes);
    return four;
}

/* The best of all points, with all signs or such of which an odd or even number is negative. */
static double best_four(const struct by_ggml_points *points, const struct four *four, bool odd,
                        double best[4])
{
    double least = points->even && odd != four->odd ? INFINITY : 0;
    memset(best, 0, 4 * sizeof *best);
    for (size_t i = 0; i < points->count; i++)
        for (int signs = 0; signs < 16; signs++) {
            double way[4];
            if (points->even && __builtin_parity((unsigned)signs) != odd)
                continue;
            for (size_t k = 0; k < 4; k++)
                way[k] = (signs >> k & 1 ? -four->scale : four->scale) *
                             (double)points->sizes[by_point_step_at(points->cells[i], k)] -
                         (double)four->values[k];
            const double change = change_of(four->column, four->slopes, way);
            if (change < least) {
                least = change;
                memcpy(best, way, sizeof way);
            }
        }
    return least;
}

/* Two fours whose signs depend on each other: the first, then the second. */
static double best_eight(const struct by_ggml_points *points, const struct four *fours)
{
    double least = 0;
    for (int turn = 0; turn < 2; turn++) {
        double way[4], later[4];
        struct four second = fours[1];
        double change = best_four(points, &fours[0], fours[0].odd != turn, way);
        for (size_t k = 0; k < 4; k++)
            for (size_t j = 0; j < 4; j++)
                second.slopes[k] +=
                    (double)gram[(second.column + k) * COLUMNS + fours[0].column + j] * way[j];
        change += best_four(points, &second, second.odd != turn, later);
        least = fmin(least, change);
    }
    return least;
}

/* What moves of fours, or eights, of a row are worth, in shares of its error. */
static double worth_of_row(const struct by_ggml_type *type, size_t row)
{
    const struct by_ggml_form *form = by_ggml_form(type);
    const struct by_ggml_points *points = form->points();
    double worth = 0;
    for (size_t column = 0; column < COLUMNS; column += 16) {
        struct four fours[2];
        double way[4];
        for (size_t k = 0; k < 2; k++)
            fours[k] = four_at(form, type, row, column + 4 * k);
        worth -= points->even ? best_eight(points, fours)
                              : best_four(points, &fours[0], fours[0].odd, way);
    }
    return worth / errors[row][1];
}

static double worth_of_points(const struct by_ggml_solve *problem)
{
    double worth = 0;
    solve(problem, NULL, blocks);
    decode(problem->type->name);
    for (size_t row = 0; row < 4; row++)
        worth += worth_of_row(problem->type, row) / 4;
    return worth;
}

/* Not every point is tried: those left out are worth nothing here. */
static void points_at_a_minimum(void **state)
{
    (void)state;
    fill(1, 0);
    for (size_t n = 0; n < NAMES; n++) {
        struct by_ggml_solve problem = problem_of(names[n], false);
        if (!by_ggml_form(problem.type)->points)
            continue;
        problem.sweeps = 100;
        assert_true(worth_of_points(&problem) < 1e-4);
        problem.sweeps = problem.rounds = 0;
        assert_true(worth_of_points(&problem) > 0.1);
    }
}

static void at_a_minimum(void **state)
{
    (void)state;
    fill(1, 0);
    for (size_t n = 0; n < NAMES; n++) {
        struct by_ggml_solve problem = problem_of(names[n], false);
        if (by_ggml_form(problem.type)->points)
            continue;
        problem.sweeps = 100;
        solve(&problem, NULL, blocks);
        decode(names[n]);
        for (size_t row = 0; row < 2; row++)
            assert_true(best_step(by_ggml_form(problem.type), problem.type, row) > -0.02);
    }
}

/* Scales add to what levels alone reach, where they are not powers of two. */
static void scales(void **state)
{
    (void)state;
    fill(1, 0);
    for (size_t n = 0; n + 1 < NAMES; n++) {
        struct by_ggml_solve problem = problem_of(names[n], false);
        problem.rounds = 0;
        solve(&problem, NULL, blocks);
        const double alone = sum_of(1);
        problem.rounds = 2;
        solve(&problem, NULL, blocks);
        assert_true(sum_of(1) < alone);
    }
}

static void threads(void **state)
{
    struct by_pool *pool;
    (void)state;
    fill(1, 0);
    fill_pull(1);
    assert_int_equal(by_pool_open(&pool, 3, &err), 0);
    for (size_t n = 0; n < NAMES; n++) {
        const struct by_ggml_solve problem = problem_of(names[n], true);
        const size_t bytes = ROWS * COLUMNS / problem.type->block * problem.type->bytes;
        solve(&problem, NULL, blocks);
        solve(&problem, pool, others);
        assert_memory_equal(blocks, others, bytes);
    }
    by_pool_close(pool);
}

/* Columns that are always 0, and none that is not. */
static void singular(void **state)
{
    (void)state;
    for (size_t dead = 3; dead <= 7; dead += 4) {
        fill(6, dead);
        for (size_t n = 0; n < NAMES; n++) {
            const struct by_ggml_solve problem = problem_of(names[n], false);
            double off = 0, all = 0;
            solve(&problem, NULL, blocks);
            decode(names[n]);
            for (size_t i = 0; i < ROWS * COLUMNS; i++) {
                assert_true(isfinite(values[i]));
                if (i % COLUMNS % 7 < dead) {
                    off += pow((double)values[i] - (double)weights[i], 2);
                    all += pow((double)weights[i], 2);
                }
            }
            assert_true(off < 0.6 * all); /* such columns are still the weights */
        }
    }
}

static void zeros(void **state)
{
    (void)state;
    fill(1, 0);
    memset(weights, 0, sizeof weights);
    memset(weights + 5 * COLUMNS, 0x3c, 32 * sizeof *weights);
    for (size_t n = 0; n < NAMES; n++) {
        const struct by_ggml_solve problem = problem_of(names[n], false);
        solve(&problem, NULL, blocks);
        decode(names[n]);
        for (size_t i = 0; i < 5 * COLUMNS; i++)
            assert_true(values[i] == 0);
    }
}

/* Blocks are what their parts say, and parts are put back as they were. */
static void parts(void **state)
{
    (void)state;
    fill(1, 0);
    for (size_t n = 0; n < NAMES; n++) {
        const struct by_ggml_type *type = by_ggml_type_named(names[n]);
        const struct by_ggml_form *form = by_ggml_form(type);
        assert_int_equal(by_ggml_encode(type, weights, ROWS, COLUMNS, NULL, blocks, &err), 0);
        decode(names[n]);
        for (size_t b = 0; b < ROWS * COLUMNS / type->block; b++) {
            struct by_ggml_parts part = {0};
            uint8_t again[256] = {0};
            form->apart(blocks + b * type->bytes, &part);
            form->together(&part, again);
            assert_memory_equal(again, blocks + b * type->bytes, type->bytes);
            for (size_t i = 0; i < type->block; i++) {
                const float number = form->table ? form->table[part.levels[i]]
                                                 : (float)(part.levels[i] - form->zero);
                const float scale = part.halves[0] * (float)part.scales[i / form->group];
                const float min =
                    form->min_high ? part.halves[1] * (float)part.mins[i / form->group] : 0;
                assert_true(scale * number - min == values[b * type->block + i]);
            }
        }
    }
}

static void assert_refused(const struct by_ggml_solve *problem, const char *message)
{
    assert_int_equal(by_ggml_solve(problem, NULL, blocks, NULL, &err), -1);
    assert_string_equal(err.message, message);
}

static void refused(void **state)
{
    (void)state;
    fill(1, 0);
    struct by_ggml_solve problem = problem_of("f16", false);
    assert_false(by_ggml_solves(problem.type));
    assert_refused(&problem, "type f16 cannot be solved");
    problem = problem_of("nvfp4", false);
    assert_refused(&problem, "type nvfp4 cannot be solved");
    problem = problem_of("q4_K", false);
    problem.columns = 480;
    assert_refused(&problem, "40 rows of 480 columns of type q4_K, which has blocks of 256");
    problem = problem_of("q4_0", false);
    weights[33 * COLUMNS + 7] = NAN;
    assert_refused(&problem, "column 7 is NaN, which a block cannot hold");
    weights[33 * COLUMNS + 7] = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(better),       cmocka_unit_test(start),
        cmocka_unit_test(at_a_minimum), cmocka_unit_test(points_at_a_minimum),
        cmocka_unit_test(scales),       cmocka_unit_test(threads),
        cmocka_unit_test(singular),     cmocka_unit_test(zeros),
        cmocka_unit_test(parts),        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
