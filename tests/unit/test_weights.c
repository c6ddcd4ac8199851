/* Parameters and integers of constants: known answers, and what holds for any. */
#include "quant/weights.h"

#include "base/rng.h"
#include "calib/calib.h"
#include "dtype/weights_path.h"
#include "ir/tensor.h"
#include "quant/weights_search.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct baryon_error err;

static struct by_tensor_spec spec_of(int64_t elem, bool symmetric, const char *method)
{
    struct by_tensor_spec spec = {.elem = elem, .symmetric = symmetric, .group = 32};
    spec.method = by_calibrator_find(method);
    by_calib_defaults(spec.method, &spec.calib);
    return spec;
}

static struct by_tensor_spec pow2_of(int64_t elem, const char *method)
{
    struct by_tensor_spec spec = spec_of(elem, true, method);
    spec.scale = BY_SCALE_POW2;
    return spec;
}

static void draw(float *values, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(by_rng_normal(seed, 1, i) * (i % 97 ? 0.1 : 1.3));
}

/* --- Levels --- */

static void levels(void **state)
{
    static const struct {
        int64_t type;
        bool symmetric, reduced;
        int64_t qmin, qmax;
    } cases[] = {
        {BY_ELEM_INT2, true, false, -1, 1},
        {BY_ELEM_INT2, false, false, -2, 1},
        {BY_ELEM_INT2, true, true, -1, 1},
        {BY_ELEM_UINT2, false, false, 0, 3},
        {BY_ELEM_UINT2, false, true, 0, 1},
        {BY_TYPE_INT3, true, false, -3, 3},
        {BY_TYPE_INT3, false, false, -4, 3},
        {BY_TYPE_INT3, true, true, -2, 2},
        {BY_TYPE_UINT3, false, false, 0, 7},
        {BY_TYPE_UINT3, false, true, 0, 3},
        {BY_ELEM_INT4, true, false, -7, 7},
        {BY_ELEM_INT4, false, false, -8, 7},
        {BY_ELEM_UINT4, true, false, 0, 15},
        {BY_ELEM_INT8, true, false, -127, 127},
        {BY_ELEM_INT8, false, false, -128, 127},
        {BY_ELEM_INT8, true, true, -64, 64},
        {BY_ELEM_UINT8, false, false, 0, 255},
        {BY_ELEM_UINT8, false, true, 0, 127},
        {BY_ELEM_INT16, true, false, -32767, 32767},
        {BY_ELEM_INT16, false, true, -16384, 16384},
        {BY_ELEM_UINT16, false, false, 0, 65535},
        {BY_ELEM_UINT16, false, true, 0, 32767},
        {BY_ELEM_UINT32, false, false, 0, UINT32_MAX},
        {BY_ELEM_INT32, true, false, -INT32_MAX, INT32_MAX},
        {BY_ELEM_FLOAT, true, false, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct by_tensor_spec spec = {.symmetric = cases[i].symmetric,
                                      .reduce_range = cases[i].reduced};
        int64_t qmin, qmax;
        by_spec_set_type(&spec, cases[i].type);
        by_spec_levels(&spec, &qmin, &qmax);
        assert_int_equal(qmin, cases[i].qmin);
        assert_int_equal(qmax, cases[i].qmax);
    }
}

/* --- Known answers of one channel --- */

static void assert_answer(struct by_tensor_spec spec, const float *values, size_t count,
                          float scale, int64_t zero, const int8_t *integers)
{
    const int64_t dims[] = {(int64_t)count};
    const struct by_weight_view view = {
        .values = values, .rank = 1, .dims = dims, .axis = -1, .group_axis = -1};
    struct by_arena arena;
    struct by_params params;
    double error;
    uint8_t out[16];
    by_arena_init(&arena, 0);
    assert_int_equal(by_weight_params(&view, &spec, NULL, &arena, &params, &error, &err), 0);
    assert_int_equal(params.count, 1);
    assert_float_equal(params.scales[0], scale, 0);
    assert_int_equal(params.zeros[0], zero);
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, count, &err), 0);
    assert_memory_equal(out, integers, count);
    by_arena_release(&arena);
}

static void known_answers(void **state)
{
    const float plain[] = {-1.27f, 0.005f, 0.015f, 0.5f, 1};
    const float positive[] = {0, 0.5f, 2.55f};
    const float powers[] = {-1, 0.25f, 0.99f};
    const float exact[] = {-2, -0.5f, 0, 1, 1.5f}; /* no error from scale 0.5 on: the coarser */
    const float none[] = {0, -0.0f, 0};
    const float tiny[] = {FLT_MIN / 2, -FLT_MIN / 4};
    (void)state;
    assert_answer(spec_of(BY_ELEM_INT8, true, "minmax"), plain, 5, 0.01f, 0,
                  (const int8_t[]){-127, 0, 2, 50, 100});
    assert_answer(spec_of(BY_ELEM_UINT8, false, "minmax"), positive, 3, 0.01f, 0,
                  (const int8_t[]){0, 50, -1});
    assert_answer(spec_of(BY_ELEM_INT8, false, "minmax"), positive, 3, 0.01f, -128,
                  (const int8_t[]){-128, -78, 127});
    assert_answer(spec_of(BY_ELEM_UINT8, true, "minmax"), positive, 3, 0.02f, 128,
                  (const int8_t[]){-128, -103, -1});
    assert_answer(pow2_of(BY_ELEM_INT8, "nonoverflow"), powers, 3, 0x1p-7f, 0,
                  (const int8_t[]){-127, 32, 127});
    assert_answer(pow2_of(BY_ELEM_INT8, "minmse-pow2"), exact, 5, 0x1p-5f, 0,
                  (const int8_t[]){-64, -16, 0, 32, 48});
    assert_answer(pow2_of(BY_ELEM_INT8, "minmse-pow2"), none, 3, 1, 0, (const int8_t[]){0, 0, 0});
    assert_answer(pow2_of(BY_ELEM_INT8, "minmse-pow2"), tiny, 2, 1, 0, (const int8_t[]){0, 0});
    assert_answer(spec_of(BY_ELEM_UINT8, false, "minmse"), none, 3, 1, 0,
                  (const int8_t[]){0, 0, 0});
}

/* A method that knows no more than a sketch, with an option: a part of what was seen. */
static int part_of_range(const struct by_sketch *sketch, const struct by_calib_target *target,
                         const struct by_calib_options *options, struct by_range *range,
                         struct baryon_error *error)
{
    const double *part = options->own;
    (void)target;
    (void)error;
    *range =
        (struct by_range){.low = (double)sketch->min * *part, .high = (double)sketch->max * *part};
    return 0;
}

static void methods_of_sketches(void **state)
{
    static const struct by_calibrator method = {
        .name = "part", .uses = BY_FOR_WEIGHTS, .range = part_of_range};
    static const double half = 0.5;
    struct by_tensor_spec spec = spec_of(BY_ELEM_INT8, true, "minmax");
    (void)state;
    spec.method = &method;
    spec.calib.own = &half;
    assert_answer(spec, (const float[]){-127, 254, 1, 0.4f}, 4, 1, 0,
                  (const int8_t[]){-127, 127, 1, 0});
}

static void scales_of_other_types(void **state)
{
    const float values[] = {-1.27f, 1};
    struct by_tensor_spec spec = spec_of(BY_ELEM_INT8, true, "minmax");
    (void)state;
    spec.scale = BY_SCALE_FLOAT16; /* 0.01 is 0x1.47bp-7, in half 0x1.48p-7 */
    assert_answer(spec, values, 2, 0x1.47cp-7f, 0, (const int8_t[]){-127, 100});
    spec.scale = BY_SCALE_INT16; /* 655 / 2^16 */
    assert_answer(spec, values, 2, 655.0f / 65536, 0, (const int8_t[]){-127, 100});
}

static void float16_scales_are_above_zero(void **state)
{
    (void)state;
    assert_true(by_scale_round(BY_SCALE_FLOAT16, 1e-12) == 0x1p-24f);
    assert_true(by_scale_round(BY_SCALE_FLOAT16, 1e12) == 65504);
    assert_true(by_scale_round(BY_SCALE_INT16, 1e-12) == 0x1p-14f);
    assert_true(by_scale_round(BY_SCALE_INT16, 1e12) == 32767);
}

/* Two in a byte, the first in the low bits; an odd one has a byte of its own. */
static void four_bits(void **state)
{
    const float values[] = {-7, 3, 7, 0.5f, -1.5f};
    const int64_t dims[] = {5};
    const struct by_weight_view view = {values, 1, dims, -1, -1, NULL};
    struct by_tensor_spec spec = spec_of(BY_ELEM_INT4, true, "minmax");
    float scale = 1, back[5];
    int64_t zero = 0;
    struct by_params params = {1, &scale, &zero, -1, -1, 1};
    uint8_t out[3];
    (void)state;
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 3, &err), 0);
    assert_memory_equal(out, ((const uint8_t[]){0x39, 0x07, 0x0e}), 3);
    assert_int_equal(by_weight_dequantize(out, &view, &spec, &params, back, &err), 0);
    assert_memory_equal(back, ((const float[]){-7, 3, 7, 0, -2}), sizeof back);
    memcpy(back, values, sizeof back);
    const struct by_weight_view own = {back, 1, dims, -1, -1, NULL};
    assert_int_equal(by_weight_round(&own, &spec, &params, NULL, back, &err), 0);
    assert_memory_equal(back, ((const float[]){-7, 3, 7, 0, -2}), sizeof back);
    spec.elem = BY_ELEM_UINT4;
    zero = 8;
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 3, &err), 0);
    assert_memory_equal(out, ((const uint8_t[]){0xb1, 0x8f, 0x06}), 3);
}

/* --- Channels and groups: as if each were a tensor of its own --- */

struct shape {
    size_t rank;
    int64_t dims[4];
    int axis, group_axis;
    int64_t group;
};

static size_t unit_of(const struct shape *shape, size_t at, size_t groups)
{
    size_t below = 1, channel = 0, group = 0;
    for (size_t i = shape->rank; i-- > 0;) {
        const size_t index = at / below % (size_t)shape->dims[i];
        channel = (int)i == shape->axis ? index : channel;
        group = (int)i == shape->group_axis ? index / (size_t)shape->group : group;
        below *= (size_t)shape->dims[i];
    }
    return channel * groups + group;
}

static void assert_units(const struct shape *shape, const char *method, int64_t elem,
                         bool symmetric, struct by_pool *pool)
{
    static float values[20000], part[20000];
    struct by_tensor_spec spec = spec_of(elem, symmetric, method), alone = spec;
    size_t count, size;
    assert_int_equal(by_dims_count(shape->dims, shape->rank, &count, &err), 0);
    assert_true(count <= COUNT(values));
    draw(values, count, count + (size_t)shape->axis);
    struct by_weight_view view = {values,      shape->rank,       shape->dims,
                                  shape->axis, shape->group_axis, NULL};
    spec.granularity = shape->group ? BY_PER_GROUP : BY_PER_CHANNEL;
    spec.group = shape->group;
    struct by_arena arena;
    struct by_params params, one;
    double error, sum = 0, each;
    uint8_t *out, *single;
    by_arena_init(&arena, 0);
    assert_int_equal(by_weight_params(&view, &spec, pool, &arena, &params, &error, &err), 0);
    assert_int_equal(by_elem_bytes(elem, count, &size, &err), 0);
    assert_non_null(out = malloc(size));
    assert_non_null(single = malloc(size));
    assert_int_equal(by_weight_quantize(&view, &spec, &params, pool, out, size, &err), 0);
    for (size_t u = 0; u < params.count; u++) {
        size_t n = 0, bytes;
        for (size_t i = 0; i < count; i++)
            if (unit_of(shape, i, params.groups) == u)
                part[n++] = values[i];
        const int64_t dims[] = {(int64_t)n};
        const struct by_weight_view row = {part, 1, dims, -1, -1, NULL};
        assert_int_equal(by_weight_params(&row, &alone, NULL, &arena, &one, &each, &err), 0);
        assert_float_equal(params.scales[u], one.scales[0], 0);
        assert_int_equal(params.zeros[u], one.zeros[0]);
        sum += each * (double)n;
        assert_int_equal(by_elem_bytes(elem, n, &bytes, &err), 0);
        assert_int_equal(by_weight_quantize(&row, &alone, &one, NULL, single, bytes, &err), 0);
        n = 0;
        for (size_t i = 0; i < count; i++)
            if (unit_of(shape, i, params.groups) == u) {
                int64_t a, b;
                by_elem_to_ints(elem, out, i, 1, &a, &err);
                by_elem_to_ints(elem, single, n++, 1, &b, &err);
                assert_int_equal(a, b);
            }
    }
    assert_true(fabs(sum / (double)count - error) <= 1e-9 * error);
    free(out);
    free(single);
    by_arena_release(&arena);
}

static const struct shape shapes[] = {
    {2, {37, 50}, 1, -1, 0},      {2, {37, 50}, 0, -1, 0},       {4, {20, 7, 3, 3}, 0, -1, 0},
    {4, {7, 20, 3, 3}, 1, -1, 0}, {2, {100, 40}, 1, 0, 32},      {2, {40, 100}, 0, 1, 32},
    {3, {3, 70, 20}, 2, 1, 16},   {4, {10, 40, 3, 3}, 0, 1, 16}, {2, {64, 3}, -1, 0, 16},
    {3, {4, 1, 33}, 1, 2, 5},     {2, {1, 200}, 0, 1, 64},
};

static void channels_and_groups(void **state)
{
    struct by_pool *pool;
    (void)state;
    assert_int_equal(by_pool_open(&pool, 3, &err), 0);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        assert_units(&shapes[i], "minmax", BY_ELEM_INT8, true, pool);
        assert_units(&shapes[i], "minmse", BY_ELEM_UINT4, false, pool);
        assert_units(&shapes[i], "percentile", BY_ELEM_INT16, true, NULL);
        assert_units(&shapes[i], "minmax", BY_ELEM_UINT32, false, pool);
    }
    by_pool_close(pool);
}

/* --- Searches --- */

static double error_of(const struct by_tensor_spec *spec, const float *values, size_t count,
                       float scale, int64_t zero)
{
    int64_t qmin, qmax;
    double sum = 0;
    by_spec_levels(spec, &qmin, &qmax);
    for (size_t i = 0; i < count; i++) {
        double level = nearbyint((double)(values[i] / scale));
        level = fmin(fmax(level, (double)(qmin - zero)), (double)(qmax - zero));
        double off = (double)((float)level * scale) - (double)values[i];
        sum += off * off;
    }
    return sum / (double)count;
}

static void assert_minmse_is_best(size_t count, uint64_t seeds)
{
    static float values[40000];
    const int64_t dims[] = {(int64_t)count};
    const struct by_weight_view view = {values, 1, dims, -1, -1, NULL};
    const int64_t elems[] = {BY_ELEM_INT8, BY_ELEM_INT4, BY_ELEM_UINT8};
    for (size_t e = 0; e < COUNT(elems); e++)
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct by_tensor_spec spec = spec_of(elems[e], true, "minmse");
            struct by_arena arena;
            struct by_params params, whole;
            double error;
            draw(values, count, seed);
            by_arena_init(&arena, 0);
            assert_int_equal(by_weight_params(&view, &spec, NULL, &arena, &params, &error, &err),
                             0);
            assert_true(fabs(error_of(&spec, values, count, params.scales[0], params.zeros[0]) -
                             error) <= 1e-6 * error);
            spec.method = by_calibrator_find("minmax");
            assert_int_equal(by_weight_params(&view, &spec, NULL, &arena, &whole, NULL, &err), 0);
            for (double f = 0.05; f < 1.1; f += 0.01) {
                const float scale = (float)(f * (double)whole.scales[0]);
                assert_true(error_of(&spec, values, count, scale, whole.zeros[0]) >= error * 0.99);
            }
            by_arena_release(&arena);
        }
}

/* Of many values a histogram finds it. */
static void minmse_is_best(void **state)
{
    (void)state;
    assert_minmse_is_best(5000, 5);
    assert_minmse_is_best(40000, 2);
}

/* --- Paths and threads --- */

enum { MOST = 100 };

/* In place too, with -0, NaN and infinity among the values. */
static void compare_way_back(const struct by_weight_path *path, const struct by_weight_path *plain,
                             const float *values, size_t count, const struct by_weight_grid *grid)
{
    float odd[MOST], meant[MOST], ref[MOST];
    memcpy(odd, values, count * sizeof *odd);
    odd[0] = NAN;
    odd[count / 2] = -0.0f;
    odd[count - 1] = INFINITY;
    plain->there_and_back(odd, count, grid, ref);
    path->there_and_back(odd, count, grid, meant);
    assert_memory_equal(meant, ref, count * sizeof *ref);
    path->there_and_back(odd, count, grid, odd);
    assert_memory_equal(odd, ref, count * sizeof *ref);
    assert_true(ref[count - 1] == grid->high * grid->scale);
}

static void compare_grids(const struct by_weight_path *path, const struct by_weight_path *plain,
                          const float *values, size_t count)
{
    static const struct by_weight_grid grids[] = {{1.0f, -130, 125, 3},
                                                  {0.37f, -128, 127, 0},
                                                  {0x1p-7f, -32768, 32767, 0},
                                                  {20.7f, 0, 15, 0}};
    int32_t out[MOST], ref[MOST];
    for (size_t g = 0; g < COUNT(grids); g++) {
        const double a = path->error(values, count, &grids[g], INFINITY);
        const double b = plain->error(values, count, &grids[g], INFINITY);
        assert_memory_equal(&a, &b, sizeof a);
        path->round(values, count, &grids[g], out);
        plain->round(values, count, &grids[g], ref);
        assert_memory_equal(out, ref, count * sizeof *out);
        compare_way_back(path, plain, values, count, &grids[g]);
    }
}

/* Bits of sums, also of those that end at a limit; bytes of codes. */
static void compare_sums(const struct by_weight_path *path, const struct by_weight_path *plain,
                         const float *values, size_t count)
{
    const struct by_weight_grid grid = {.scale = 3.7f, .low = -8, .high = 7};
    const double whole = plain->error(values, count, &grid, INFINITY);
    float out[2][MOST], shifted[MOST];
    uint8_t codes[2][MOST];
    assert_true(path->energy(values, count) == plain->energy(values, count));
    assert_true(path->peak(values, count) == plain->peak(values, count));
    path->divide(values, count, 3.7f, out[0]);
    plain->divide(values, count, 3.7f, out[1]);
    assert_memory_equal(out[0], out[1], count * sizeof *out[0]);
    for (size_t i = 0; i < count; i++)
        shifted[i] = values[i] * 1.01f + 1;
    assert_true(path->distance(values, shifted, count, 0.7f) ==
                plain->distance(values, shifted, count, 0.7f));
    for (double limit = whole * 2; limit > whole / 8; limit /= 2) {
        const double found = path->error(values, count, &grid, limit);
        assert_true(found == plain->error(values, count, &grid, limit));
        assert_true(limit > whole ? found == whole : found >= limit);
    }
    path->codes(values, count, &grid, codes[0]);
    plain->codes(values, count, &grid, codes[1]);
    assert_memory_equal(codes[0], codes[1], count);
}

static void paths_agree(void **state)
{
    static float values[MOST], scales[MOST], zeros[MOST];
    int32_t out[MOST], ref[MOST];
    size_t paths;
    const struct by_weight_path *const *path = by_weight_paths(&paths), *plain = path[paths - 1];
    (void)state;
    for (size_t count = 1; count <= MOST; count++)
        for (size_t p = 0; p + 1 < paths; p++) {
            float min[2], max[2];
            if (!path[p]->supported())
                continue;
            for (size_t i = 0; i < count; i++) {
                /* Also halves, and far beyond all levels. */
                values[i] = (float)by_rng_range(count, 1, i, -400, 400) / (i % 3 ? 2.0f : 3.7f);
                values[i] *= i % 11 ? 1 : 1e30f;
                scales[i] = 0.3f + (float)(i % 5);
                zeros[i] = (float)(i % 7);
            }
            assert_true(path[p]->extremes(values, count, &min[0], &max[0]));
            assert_true(plain->extremes(values, count, &min[1], &max[1]));
            assert_true(min[0] == min[1] && max[0] == max[1]);
            compare_grids(path[p], plain, values, count);
            compare_sums(path[p], plain, values, count);
            path[p]->round_each(values, count, scales, zeros, -127, 127, out);
            plain->round_each(values, count, scales, zeros, -127, 127, ref);
            assert_memory_equal(out, ref, count * sizeof *out);
            values[count * 7 % count] = NAN;
            values[count - 1] = INFINITY;
            assert_false(path[p]->extremes(values, count, &min[0], &max[0]));
        }
}

/* --- Refusals --- */

static void refused(const struct by_weight_view *view, struct by_tensor_spec spec, const char *text)
{
    struct by_arena arena;
    struct by_params params;
    by_arena_init(&arena, 0);
    assert_int_equal(by_weight_params(view, &spec, NULL, &arena, &params, NULL, &err), -1);
    char message[512];
    baryon_error_format(&err, message, sizeof message);
    if (!strstr(message, text))
        fail_msg("'%s' does not say '%s'", message, text);
    by_arena_release(&arena);
}

static void refusals(void **state)
{
    float values[12] = {1, 2, 3, 4, 5, 6, 7, NAN, -INFINITY, INFINITY, 1, 1};
    const int64_t dims[] = {3, 4};
    struct by_weight_view view = {values, 2, dims, 0, 1, "conv.weight"};
    struct by_tensor_spec spec = spec_of(BY_ELEM_INT8, true, "minmax");
    float scale = 0;
    int64_t zero = 0;
    struct by_params params = {1, &scale, &zero, -1, -1, 1};
    uint8_t out[12];
    (void)state;
    refused(&view, spec, "value [1,3] is NaN");
    refused(&view, spec, "conv.weight");
    values[7] = 0;
    refused(&view, spec, "value [2,0] is minus infinity");
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 12, &err), -1);
    scale = 1;
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 12, &err), -1);
    values[8] = values[9] = 0;
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 11, &err), -1);
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 12, &err), 0);
    zero = -128;
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 12, &err), -1);
    refused(&view, spec_of(BY_ELEM_INT8, true, "entropy"), "entropy");
    refused(&view, spec_of(BY_ELEM_INT8, true, "nonoverflow"), "nonoverflow");
    refused(&view, spec_of(BY_ELEM_INT64, true, "minmax"), "int64");
    spec.granularity = BY_PER_GROUP;
    view.group_axis = 0;
    refused(&view, spec, "the axes must differ");
    view.group_axis = 2;
    refused(&view, spec, "group axis 2");
}

static void nothing(void **state)
{
    const int64_t dims[] = {3, 0};
    const struct by_weight_view view = {NULL, 2, dims, 0, -1, NULL};
    struct by_tensor_spec spec = spec_of(BY_ELEM_INT8, true, "minmse");
    struct by_arena arena;
    struct by_params params;
    double error;
    uint8_t out[1];
    (void)state;
    spec.granularity = BY_PER_CHANNEL;
    by_arena_init(&arena, 0);
    assert_int_equal(by_weight_params(&view, &spec, NULL, &arena, &params, &error, &err), 0);
    assert_int_equal(params.count, 3);
    assert_float_equal(params.scales[2], 1, 0);
    assert_float_equal(error, 0, 0);
    assert_int_equal(by_weight_quantize(&view, &spec, &params, NULL, out, 0, &err), 0);
    by_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(known_answers),
        cmocka_unit_test(methods_of_sketches),
        cmocka_unit_test(scales_of_other_types),
        cmocka_unit_test(float16_scales_are_above_zero),
        cmocka_unit_test(four_bits),
        cmocka_unit_test(channels_and_groups),
        cmocka_unit_test(minmse_is_best),
        cmocka_unit_test(paths_agree),
        cmocka_unit_test(refusals),
        cmocka_unit_test(nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
