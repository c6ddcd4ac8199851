/* Blocks of MatMulNBits: known answers. Other tests compare with ONNX Runtime. */
#include "quant/nbits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define INPUTS 20

static const int64_t dims[] = {INPUTS, 2};
static float values[INPUTS][2];
static const struct by_weight_view view = {&values[0][0], 2, dims, 1, 0, "w"};

/* Channel 0: -8 to 7 and again, halves of them; channel 1: 0 but for one. */
static int fill(void **state)
{
    (void)state;
    for (int i = 0; i < INPUTS; i++) {
        values[i][0] = (float)(i % 16 - 8) / 2;
        values[i][1] = 0;
    }
    values[17][1] = 3;
    return 0;
}

static void symmetric(void **state)
{
    const struct by_nbits_spec spec = {.bits = 4, .block = 16, .symmetric = true};
    struct by_nbits made;
    (void)state;
    assert_ok(by_nbits_open(&made, &view, &spec, NULL, &err));
    assert_int_equal(made.channels, 2);
    assert_int_equal(made.inputs, INPUTS);
    assert_int_equal(made.blocks, 2);
    assert_int_equal(made.block_bytes, 8);
    assert_memory_equal(made.levels,
                        ((const uint8_t[]){0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}), 8);
    assert_float_equal(made.scales[0], 0.5f, 0);
    /* -4 to -2.5 with -4 as the lowest level; what is after the end stands for 0. */
    assert_memory_equal(made.levels + 8, ((const uint8_t[]){0x10, 0x32, 0x88, 0x88}), 4);
    assert_float_equal(made.scales[2], 1, 0); /* nothing but zeros */
    assert_float_equal(made.scales[3], -3.0f / 8, 0);
    assert_int_equal(made.levels[3 * 8], 0x08);
    assert_float_equal(made.zeros[3], 8, 0);
    assert_float_equal(made.error, 0, 0);
    by_nbits_close(&made);
}

static void asymmetric(void **state)
{
    const struct by_nbits_spec spec = {.bits = 4, .block = 16};
    struct by_nbits made;
    uint8_t zeros[2];
    (void)state;
    assert_ok(by_nbits_open(&made, &view, &spec, NULL, &err));
    assert_float_equal(made.scales[0], 0.5f, 0);
    assert_float_equal(made.scales[1], 4.0f / 15, 0);
    assert_float_equal(made.scales[3], 3.0f / 15, 0);
    assert_int_equal(by_nbits_zero_bytes(&made, &spec), 1);
    by_nbits_pack_zeros(&made, &spec, zeros);
    assert_int_equal(zeros[0], 0xf8); /* 8, and 15 where all are below zero */
    assert_int_equal(zeros[1], 0x00);
    by_nbits_close(&made);
}

static void eight_and_two_bits(void **state)
{
    struct by_nbits_spec spec = {.bits = 8, .block = 32, .symmetric = true};
    struct by_nbits made;
    (void)state;
    assert_ok(by_nbits_open(&made, &view, &spec, NULL, &err));
    assert_int_equal(made.block_bytes, 32);
    assert_float_equal(made.scales[0], 4.0f / 128, 0);
    assert_int_equal(made.levels[0], 0);
    assert_int_equal(made.levels[9], 144);
    by_nbits_close(&made);
    spec.bits = 2;
    assert_ok(by_nbits_open(&made, &view, &spec, NULL, &err));
    assert_int_equal(made.block_bytes, 8);
    assert_float_equal(made.scales[0], 2, 0);
    assert_int_equal(made.levels[0], 0x40); /* -4, -3.5, -3, -2.5 by 2: -2, -2, -2, -1 */
    by_nbits_close(&made);
}

static void refusals(void **state)
{
    struct by_nbits_spec spec = {.bits = 5, .block = 16};
    struct by_nbits made;
    (void)state;
    assert_int_equal(by_nbits_open(&made, &view, &spec, NULL, &err), -1);
    assert_non_null(strstr(error_text(), "5 bits"));
    spec.bits = 4;
    spec.block = 48;
    assert_int_equal(by_nbits_open(&made, &view, &spec, NULL, &err), -1);
    assert_non_null(strstr(error_text(), "block size 48"));
    spec.block = 16;
    values[5][1] = INFINITY;
    assert_int_equal(by_nbits_open(&made, &view, &spec, NULL, &err), -1);
    assert_non_null(strstr(error_text(), "value [5,1] is infinite"));
    by_nbits_close(&made);
}

/* Levels that are taken as found give the matrix that was found; others what they mean. */
static void levels_that_are_taken(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 6; form++) {
        const struct by_nbits_spec spec = {
            .bits = 2u << form / 2, .block = 16, .symmetric = form % 2 == 0};
        struct by_nbits found, made;
        struct by_params params = {.axis = 1};
        struct by_arena arena;
        float means[INPUTS][2], again[INPUTS][2];
        int32_t levels[INPUTS][2];
        by_arena_init(&arena, 0);
        assert_ok(by_nbits_open(&found, &view, &spec, NULL, &err));
        assert_ok(by_nbits_params(&found, &spec, &arena, &params, &err));
        by_nbits_values(&found, &view, &spec, &means[0][0]);
        for (size_t i = 0; i < INPUTS; i++)
            for (size_t c = 0; c < 2; c++) {
                const size_t at = c * params.groups + i / 16;
                assert_true(params.scales[at] > 0);
                levels[i][c] =
                    (int32_t)lrintf(means[i][c] / params.scales[at]) + (int32_t)params.zeros[at];
            }
        assert_ok(by_nbits_take(&made, &view, &spec, &params, &levels[0][0], &err));
        assert_memory_equal(made.levels, found.levels, 4 * made.block_bytes);
        assert_memory_equal(made.scales, found.scales, 4 * sizeof(float));
        for (size_t i = 0; i < 4; i++)
            assert_true(made.zeros[i] == found.zeros[i]);
        assert_float_equal(made.error, found.error, 1e-12);
        by_nbits_close(&made);

        levels[3][0] += levels[3][0] ? -1 : 1;
        assert_ok(by_nbits_take(&made, &view, &spec, &params, &levels[0][0], &err));
        by_nbits_values(&made, &view, &spec, &again[0][0]);
        for (size_t i = 0; i < INPUTS * 2; i++) {
            const float step = i == 6 ? params.scales[0] : 0;
            assert_float_equal(fabsf((&again[0][0])[i] - (&means[0][0])[i]), step, 1e-6);
        }
        by_nbits_close(&made);
        by_nbits_close(&found);
        by_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(symmetric, fill),
        cmocka_unit_test_setup(asymmetric, fill),
        cmocka_unit_test_setup(eight_and_two_bits, fill),
        cmocka_unit_test_setup(levels_that_are_taken, fill),
        cmocka_unit_test_setup(refusals, fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
