/* GGUF blocks: known ones, limits, any bytes, and vector paths beside the plain one. */
#include "llm/ggml/codec.h"

#include "base/rng.h"
#include "llm/ggml/block.h"
#include "llm/ggml/points.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WIDTH     512
#define BYTES_MAX (WIDTH * 8)

static struct baryon_error err;
static float values[WIDTH], back[WIDTH];
static uint8_t blocks[BYTES_MAX];

static void draw(uint64_t seed, double scale)
{
    for (size_t i = 0; i < WIDTH; i++)
        values[i] = (float)(by_rng_normal(seed, 1, i) * scale * (i % 61 ? 1 : 7));
}

/* Relative error of each type on normal values, at most. */
static void errors(void **state)
{
    static const struct {
        const char *name;
        double most;
    } cases[] = {
        {"f32", 0},      {"f64", 0},       {"f16", 0.0002},    {"bf16", 0.0015},  {"q8_0", 0.0098},
        {"q6_K", 0.027}, {"q5_0", 0.074},  {"q5_1", 0.048},    {"q5_K", 0.047},   {"q4_0", 0.16},
        {"q4_1", 0.107}, {"q4_K", 0.094},  {"iq4_nl", 0.115},  {"iq4_xs", 0.117}, {"q3_K", 0.229},
        {"q2_K", 0.379}, {"mxfp4", 0.141}, {"iq3_xxs", 0.244}, {"iq3_s", 0.179},
    };
    (void)state;
    draw(3, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct by_ggml_type *type = by_ggml_type_named(cases[i].name);
        double off = 0, all = 0;
        assert_int_equal(by_ggml_encode(type, values, 1, WIDTH, NULL, blocks, &err), 0);
        assert_int_equal(by_ggml_decode(type, blocks, WIDTH, back, &err), 0);
        for (size_t k = 0; k < WIDTH; k++) {
            off += pow((double)back[k] - (double)values[k], 2);
            all += pow((double)values[k], 2);
        }
        assert_true(sqrt(off / all) <= cases[i].most);
    }
}

static void known_q8_0(void **state)
{
    (void)state;
    memset(values, 0, sizeof values);
    values[0] = 127;
    values[1] = -127;
    values[2] = 0.5f;
    values[3] = -1.5f;
    const struct by_ggml_type *type = by_ggml_type(BY_GGML_Q8_0);
    assert_int_equal(by_ggml_encode(type, values, 1, 32, NULL, blocks, &err), 0);
    const uint8_t expected[] = {0x00, 0x3c, 127, 0x81, 1, 0xfe, 0};
    assert_memory_equal(blocks, expected, sizeof expected);
}

static void known_q4_0(void **state)
{
    (void)state;
    memset(values, 0, sizeof values);
    values[0] = -8;
    values[16] = 7;
    const struct by_ggml_type *type = by_ggml_type(BY_GGML_Q4_0);
    assert_int_equal(by_ggml_encode(type, values, 1, 32, NULL, blocks, &err), 0);
    const uint8_t expected[] = {0x00, 0x3c, 0xf0, 0x88};
    assert_memory_equal(blocks, expected, sizeof expected);
}

/* What holds for every type that is written. */
static void zeros_stay(void **state)
{
    (void)state;
    memset(values, 0, sizeof values);
    for (size_t i = 0; by_ggml_type_at(i); i++) {
        const struct by_ggml_type *type = by_ggml_type_at(i);
        if (!type->encode)
            continue;
        assert_int_equal(by_ggml_encode(type, values, 1, WIDTH, NULL, blocks, &err), 0);
        assert_int_equal(by_ggml_decode(type, blocks, WIDTH, back, &err), 0);
        for (size_t k = 0; k < WIDTH; k++)
            assert_true(back[k] == 0);
    }
}

static void strange_values(void **state)
{
    static const float strange[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (size_t i = 0; by_ggml_type_at(i); i++) {
        const struct by_ggml_type *type = by_ggml_type_at(i);
        for (size_t k = 0; type->encode && k < 3; k++) {
            draw(4, 1);
            values[300] = strange[k];
            int left = by_ggml_encode(type, values, 1, WIDTH, NULL, blocks, &err);
            assert_int_equal(left, type->block > 1 ? -1 : 0);
            assert_true(!left || strstr(err.message, "column 300 is "));
        }
    }
}

/* Scales beyond float16 are refused, the smallest values are not. */
static void limits(void **state)
{
    (void)state;
    static const struct {
        enum by_ggml_number type;
        double scale;
    } cases[] = {{BY_GGML_Q4_K, 1e30},
                 {BY_GGML_IQ3_S, 1e9},
                 {BY_GGML_IQ3_S, 1e30},
                 {BY_GGML_IQ3_XXS, 1e9},
                 {BY_GGML_IQ3_XXS, 1e36}};
    const struct by_ggml_type *type;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[64];
        type = by_ggml_type(cases[i].type);
        draw(5, cases[i].scale);
        assert_int_equal(by_ggml_encode(type, values, 1, WIDTH, NULL, blocks, &err), -1);
        snprintf(message, sizeof message, "scale of type %s is not a finite float16", type->name);
        assert_non_null(strstr(err.message, message));
    }
    for (size_t i = 0; by_ggml_type_at(i); i++) {
        type = by_ggml_type_at(i);
        draw(5, 1e-40);
        if (type->encode)
            assert_int_equal(by_ggml_encode(type, values, 1, WIDTH, NULL, blocks, &err), 0);
    }
}

static void refusals(void **state)
{
    float importance[WIDTH] = {0};
    const struct by_ggml_type *type = by_ggml_type(BY_GGML_Q4_K);
    (void)state;
    draw(6, 1);
    assert_int_equal(by_ggml_encode(type, values, 1, 100, NULL, blocks, &err), -1);
    assert_string_equal(err.message, "100 elements of type q4_K, which has blocks of 256");
    importance[7] = -1;
    assert_int_equal(by_ggml_encode(type, values, 1, WIDTH, importance, blocks, &err), -1);
    assert_string_equal(err.message, "importance of column 7 is -1, not 0 or more");
    type = by_ggml_type(BY_GGML_IQ2_XS);
    assert_int_equal(by_ggml_encode(type, values, 1, WIDTH, NULL, blocks, &err), -1);
    assert_int_equal(by_ggml_decode(type, blocks, WIDTH, back, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
}

/* Exactly as many bytes are read as the blocks have. */
static void any_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; by_ggml_type_at(i); i++) {
        const struct by_ggml_type *type = by_ggml_type_at(i);
        if (!type->decode)
            continue;
        const size_t size = WIDTH / type->block * type->bytes;
        uint8_t *random = malloc(size);
        float *out = malloc(WIDTH * sizeof *out);
        assert_non_null(random);
        for (uint64_t turn = 0; turn < 50; turn++) {
            for (size_t k = 0; k < size; k++)
                random[k] = (uint8_t)by_rng_bits(turn, i, k);
            assert_int_equal(by_ggml_decode(type, random, WIDTH, out, &err), 0);
            by_ggml_check_scales(type, random, WIDTH, &err);
        }
        free(random);
        free(out);
    }
}

/* --- Paths --- */

static void fill_set(struct by_ggml_set *set, size_t count, uint64_t seed)
{
    static const float scales[] = {1, 0, 1e-14f, 1e-40f, 1e30f, 1e-3f, 3e38f, 1};
    memset(set, 0, sizeof *set);
    set->count = count;
    for (size_t i = 0; i < count; i++)
        for (size_t g = 0; g < BY_GGML_GROUPS; g++) {
            const size_t at = i * BY_GGML_GROUPS + g;
            float x = (float)by_rng_normal(seed, g, i);
            x = seed % 3 == 1 ? fabsf(x) : seed % 3 == 2 ? rintf(x) : x;
            set->x[at] = (seed % 5 || g > 3) && scales[g] < 1e37f ? x * scales[g] : x;
            set->weights[at] = (float)fabs(by_rng_normal(seed, g + 8, i)) * (i % 7 > 0);
        }
}

static void compare_paths(const struct by_ggml_search *path, const struct by_ggml_set *set)
{
    static const struct by_ggml_affine ways[] = {
        {3, -0.5f, 0.1f, 15, true}, {15, -1, 0.1f, 20, false}, {31, -0.9f, 0.05f, 36, false}};
    const struct by_ggml_search *plain = &by_ggml_search_plain;
    struct by_ggml_fit a, b;
    float c[BY_GGML_GROUPS], d[BY_GGML_GROUPS];
    int8_t e[BY_GGML_ELEMENTS * BY_GGML_GROUPS] = {0}, f[BY_GGML_ELEMENTS * BY_GGML_GROUPS] = {0};
    for (size_t i = 0; i < 3; i++) {
        plain->affine(set, &ways[i], &a);
        path->affine(set, &ways[i], &b);
        assert_memory_equal(a.scale, b.scale, sizeof a.scale);
        assert_memory_equal(a.min, b.min, sizeof a.min);
        plain->symmetric(set, 4 << i, &a);
        path->symmetric(set, 4 << i, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
    plain->table(set, c);
    path->table(set, d);
    assert_memory_equal(c, d, sizeof c);
    plain->descent(set, 4, c, e);
    path->descent(set, 4, d, f);
    assert_memory_equal(c, d, sizeof c);
    assert_memory_equal(e, f, sizeof e);
}

static void paths(void **state)
{
    static const struct by_ggml_search *const all[] = {
#if defined(__x86_64__)
        &by_ggml_search_avx2,
#elif defined(__aarch64__)
        &by_ggml_search_neon,
#endif
        &by_ggml_search_plain
    };
    struct by_ggml_set set;
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint64_t seed = 0; all[i]->supported() && seed < 60; seed++) {
            fill_set(&set, seed % 2 ? 16 : 32, seed);
            compare_paths(all[i], &set);
        }
}

static void draw_ways(uint64_t seed, struct by_point_ways *ways)
{
    for (size_t i = 0; i < BY_POINT_VALUES * BY_POINT_STEPS; i++)
        ways->of[i / BY_POINT_STEPS][i % BY_POINT_STEPS] = (float)by_rng_normal(seed, 4, i);
    for (size_t i = 0; i < 6; i++)
        ways->pairs[i] = seed % 4 ? (float)by_rng_normal(seed, 5, i) : 0;
}

/* Costs with equal ones among them, and such that no point has. */
static void point_paths(void **state)
{
    const struct by_ggml_points *points = by_ggml_points_s();
    const struct by_point_path *path = by_point_path();
    struct by_point_costs costs;
    struct by_point_ways ways;
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        const size_t count = seed % 2 ? points->count : BY_POINTS_NEAR;
        const uint16_t *cells = seed % 2 ? points->cells : points->near[seed * 10];
        float one, other;
        for (size_t k = 0; k < BY_POINT_VALUES; k++)
            for (size_t i = 0; i < BY_POINT_STEPS; i++) {
                const float cost = (float)fabs(by_rng_normal(seed, k, i));
                costs.of[k][i] = seed % 5 == 4 ? INFINITY : seed % 3 ? cost : rintf(2 * cost);
            }
        const unsigned expected = by_point_plain.least(cells, count, &costs, &one);
        assert_int_equal(path->least(cells, count, &costs, &other), expected);
        assert_memory_equal(&one, &other, sizeof one);
        assert_int_not_equal(points->of_cell[expected], BY_POINT_NONE);
        draw_ways(seed, &ways);
        const unsigned joint = by_point_plain.least_joint(cells, count, &costs, &ways, &one);
        assert_int_equal(path->least_joint(cells, count, &costs, &ways, &other), joint);
        assert_memory_equal(&one, &other, sizeof one);
        assert_true(seed % 4 || joint == expected);
    }
}

/* Those of a cell that is a point begin with it, and none that is left out is nearer. */
static void near_points(void **state)
{
    const struct by_ggml_points *all[] = {by_ggml_points_xxs(), by_ggml_points_s()};
    (void)state;
    assert_int_equal(all[0]->count, 256);
    assert_int_equal(all[1]->count, 512);
    for (size_t n = 0; n < 2; n++)
        for (size_t cell = 0; cell < BY_POINT_CELLS; cell += 7) {
            const uint16_t *near = all[n]->near[cell];
            int last = 0;
            for (size_t i = 0; i < BY_POINTS_NEAR; i++) {
                int far = 0;
                for (size_t k = 0; k < BY_POINT_VALUES; k++) {
                    const int off = (int)by_point_step_at((unsigned)cell, k) -
                                    (int)by_point_step_at(near[i], k);
                    far += off * off;
                }
                assert_true(far >= last);
                assert_int_not_equal(all[n]->of_cell[near[i]], BY_POINT_NONE);
                last = far;
            }
            if (all[n]->of_cell[cell] != BY_POINT_NONE)
                assert_int_equal(near[0], cell);
        }
}

/* A point, the sign that makes the negative ones even, and a scale of (2 * 3 + 1) / 4. */
static void known_iq3_xxs(void **state)
{
    uint8_t block[98] = {0x00, 0x3c, 1};
    (void)state;
    block[66] = 1;
    block[69] = 0x30;
    assert_int_equal(by_ggml_decode(by_ggml_type(BY_GGML_IQ3_XXS), block, 256, back, &err), 0);
    assert_true(back[0] == -7 * 5 && back[1] == 7 && back[6] == 7 && back[7] == -7);
    assert_true(back[8] == 7 && back[32] == 1);
}

/* Values at points, with zeros whose sign is what has to change, come back as they were. */
static void points_come_back(void **state)
{
    static const float sizes[] = {1, 3, 1, 1};
    (void)state;
    for (size_t i = 0; i < 256; i++)
        values[i] = i == 9 ? 0.001f : sizes[i % 4] * (i % 3 ? -1 : 1);
    const struct by_ggml_type *type = by_ggml_type(BY_GGML_IQ3_S);
    assert_int_equal(by_ggml_encode(type, values, 1, 256, NULL, blocks, &err), 0);
    assert_int_equal(by_ggml_decode(type, blocks, 256, back, &err), 0);
    for (size_t i = 0; i < 256; i++)
        assert_true(i == 9 || fabsf(back[i] - values[i]) < 0.05f);
    memset(values, 0, sizeof values);
    for (size_t i = 0; i < 256; i += 8) {
        values[i] = -1;
        values[i + 7] = 1;
    }
    type = by_ggml_type(BY_GGML_IQ3_XXS);
    assert_int_equal(by_ggml_encode(type, values, 1, 256, NULL, blocks, &err), 0);
    assert_int_equal(by_ggml_decode(type, blocks, 256, back, &err), 0);
    for (size_t i = 0; i < 256; i += 8)
        assert_true(back[i] < -0.8f && back[i] > -1.2f && back[i + 7] > 0.8f);
}

/* Rows are independent, and blocks of a row that are not a multiple of eight are searched too. */
static void rows(void **state)
{
    float importance[96];
    uint8_t one[3 * 54], other[3 * 54];
    (void)state;
    draw(8, 0.1);
    for (size_t i = 0; i < 96; i++)
        importance[i] = 1;
    const struct by_ggml_type *type = by_ggml_type(BY_GGML_IQ4_NL);
    assert_int_equal(by_ggml_encode(type, values, 3, 96, importance, one, &err), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            by_ggml_encode(type, values + i * 96, 1, 96, importance, other + i * 54, &err), 0);
    assert_memory_equal(one, other, sizeof one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),         cmocka_unit_test(known_q8_0),
        cmocka_unit_test(known_q4_0),     cmocka_unit_test(zeros_stay),
        cmocka_unit_test(strange_values), cmocka_unit_test(limits),
        cmocka_unit_test(refusals),       cmocka_unit_test(any_bytes),
        cmocka_unit_test(paths),          cmocka_unit_test(rows),
        cmocka_unit_test(point_paths),    cmocka_unit_test(near_points),
        cmocka_unit_test(known_iq3_xxs),  cmocka_unit_test(points_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
