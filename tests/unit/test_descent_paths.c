/* The loops of descent: every path that this processor has gives the bits of the plain one. */
#include "solve/descent_path.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define WIDE (BY_DESCENT_BLOCK + BY_DESCENT_LANES)

struct line_case {
    struct by_descent_line line;
    float reach[WIDE], residual[WIDE], down[WIDE], up[WIDE], steps[WIDE];
    uint32_t stepped[WIDE];
    int32_t integers[WIDE];
};

static const float uneven[] = {-1.5f, -0.75f, 0.125f, 1};

static void line_open(struct line_case *c, const float *gram, size_t count, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < WIDE; i++) {
        c->reach[i] = by_rng_range(seed, 1, i, 0, 9) ? gram[i * WIDE + i] / 2 : INFINITY;
        c->residual[i] = (float)by_rng_normal(seed, 2, i) * 2;
        c->down[i] = (float)by_rng_range(seed, 3, i, -1, 2);
        c->up[i] = (float)by_rng_range(seed, 4, i, -1, 2);
    }
    c->line = (struct by_descent_line){.gram = gram,
                                       .stride = WIDE,
                                       .count = count,
                                       .reach = c->reach,
                                       .residual = c->residual,
                                       .down = c->down,
                                       .up = c->up,
                                       .steps = c->steps,
                                       .stepped = c->stepped,
                                       .integers = c->integers,
                                       .turn = 1};
}

/* The levels are those of a table, and every other case turns them around. */
static void line_make_far(struct line_case *c, uint64_t seed)
{
    struct by_descent_line *line = &c->line;
    line->table = uneven;
    line->high = (int32_t)COUNT(uneven) - 1;
    line->turn = seed % 2 ? -1 : 1;
    for (size_t i = 0; i < WIDE; i++) {
        c->integers[i] = (int32_t)by_rng_range(seed, 5, i, 0, line->high);
        by_descent_distances(uneven, 0, line->high, c->integers[i], line->turn, c->down + i,
                             c->up + i);
    }
}

static void assert_same_steps(const struct by_descent_path *path,
                              const struct by_descent_path *plain, const float *gram, size_t count)
{
    static struct line_case a, b;
    for (uint64_t seed = 0; seed < 10; seed++) {
        const size_t begin = seed % 5 * count / 9, end = seed % 2 ? count : count - begin / 2;
        line_open(&a, gram, count, seed);
        line_open(&b, gram, count, seed);
        if (seed >= 5) {
            line_make_far(&a, seed);
            line_make_far(&b, seed);
        }
        path->sweep(&a.line, begin, end, 0.75f);
        plain->sweep(&b.line, begin, end, 0.75f);
        assert_int_equal(a.line.stepped_count, b.line.stepped_count);
        assert_memory_equal(a.residual, b.residual, sizeof a.residual);
        assert_memory_equal(a.down, b.down, sizeof a.down);
        assert_memory_equal(a.up, b.up, sizeof a.up);
        assert_memory_equal(a.steps, b.steps, sizeof a.steps);
        assert_memory_equal(a.stepped, b.stepped, sizeof a.stepped);
        assert_memory_equal(a.integers, b.integers, sizeof a.integers);
    }
}

static void assert_same_sums(const struct by_descent_path *path,
                             const struct by_descent_path *plain, const float *gram, size_t count)
{
    const uint32_t which[] = {3, 0, 9, 9, 1, 30, 2, 5, 6, 7, 8};
    float a[WIDE] = {0}, b[WIDE] = {0};
    double with[WIDE];
    for (size_t i = 0; i < WIDE; i++)
        with[i] = by_rng_normal(3, 3, i);
    for (size_t n = 0; n <= COUNT(which); n++) {
        path->add(a, count, gram, WIDE, which, n, gram + 70);
        plain->add(b, count, gram, WIDE, which, n, gram + 70);
        assert_memory_equal(a, b, sizeof a);
    }
    const double x = path->dot(gram, with, count), y = plain->dot(gram, with, count);
    assert_memory_equal(&x, &y, sizeof x);
}

static void assert_same_sides(const struct by_descent_path *path,
                              const struct by_descent_path *plain, const float *gram, size_t count)
{
    float a[WIDE * BY_DESCENT_SIDE], b[WIDE * BY_DESCENT_SIDE];
    float sums[BY_DESCENT_SIDE], others[BY_DESCENT_SIDE];
    memcpy(a, gram + 5, sizeof a);
    memcpy(b, gram + 5, sizeof b);
    path->push(a, gram + 9, count, gram + 70);
    plain->push(b, gram + 9, count, gram + 70);
    assert_memory_equal(a, b, sizeof a);
    path->project(gram + 3, a, count, sums);
    plain->project(gram + 3, b, count, others);
    assert_memory_equal(sums, others, sizeof sums);
}

static void fill_square(float *gram)
{
    for (size_t i = 0; i < WIDE; i++)
        for (size_t j = 0; j < WIDE; j++)
            gram[i * WIDE + j] = i == j ? 1.5f : (float)by_rng_normal(7, i < j ? i : j, i + j) / 4;
}

static void paths_agree(void **state)
{
    size_t count;
    const struct by_descent_path *const *paths = by_descent_paths(&count);
    static float gram[WIDE * WIDE];
    (void)state;
    fill_square(gram);
    for (size_t p = 0; p + 1 < count; p++) {
        if (!paths[p]->supported())
            continue;
        for (size_t width = 1; width <= BY_DESCENT_BLOCK; width += width < 36 ? 1 : 23) {
            assert_same_steps(paths[p], paths[count - 1], gram, width);
            assert_same_sums(paths[p], paths[count - 1], gram, width);
            assert_same_sides(paths[p], paths[count - 1], gram, width);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
