/* Number formats and lists through the public interface. */
#include "api_expect.h"

#include <math.h>

static void rounds_to(const char *format, const struct baryon_round_options *options,
                      const float in[4], const float wanted[4])
{
    const int64_t dims[] = {1, 4};
    float out[4];
    ok(baryon_round(format, in, dims, 2, options, out, &err));
    for (size_t i = 0; i < 4; i++)
        assert_true(out[i] == wanted[i] || (isnan(out[i]) && isnan(wanted[i])));
}

static void test_round(void **state)
{
    (void)state;
    const float in[] = {0.3F, -1.25F, 2.6F, 12.7F};
    const float steps[] = {0.3F, -1.3F, 2.6F, 12.7F}, fours[] = {0.5F, -1.5F, 3, 6};
    const struct baryon_round_options tenth = {
        .size = sizeof tenth, .scale = 0.1F, .ties = BARYON_TIES_AWAY};
    float out[4];
    rounds_to("fp4_e2m1", NULL, in, (const float[]){0.5F, -1, 3, 6});
    rounds_to("FP4E2M1",
              &(struct baryon_round_options){.size = sizeof tenth, .ties = BARYON_TIES_AWAY}, in,
              fours);
    rounds_to("MXFP4", &(struct baryon_round_options){.size = sizeof tenth, .axis = -1}, in,
              (const float[]){0, -1, 3, 12});
    ok(baryon_round("Int8", in, (const int64_t[]){4}, 1, &tenth, out, &err));
    for (size_t i = 0; i < 4; i++)
        assert_true(fabsf(out[i] - steps[i]) < 1e-5F);
    ok(baryon_round("uint8", in, (const int64_t[]){4}, 1, NULL, out, &err));
    for (size_t i = 0; i < 4; i++)
        assert_true(fabsf(out[i] - in[i]) < 13.95F / 255);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"BFloat16", "bf16"},        {"Float16", "fp16"},  {"float8e4m3fn", "fp8_e4m3"},
        {"MXFP4E2M1", "mxfp4_e2m1"}, {"mxint8", "mxint8"}, {"MX9", "mx9"},
        {"BFP16", "bfp16"},          {"UInt4", "uint4"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct baryon_format *format = baryon_format_find(names[i][0], &err);
        assert_non_null(format);
        assert_string_equal(format->name, names[i][1]);
    }
    assert_null(baryon_format_find("mxfp8", &err));
    assert_error(-1, BARYON_ERR_USAGE, "unknown format 'mxfp8'; did you mean 'mxfp8_e4m3'?");
    const struct baryon_format *format;
    size_t count = 0;
    for (; (format = baryon_format_at(count)); count++)
        assert_true(*format->name && *format->help && format->bits > 0 && format->most > 0);
    assert_true(count > 30);
}

static void test_refused(void **state)
{
    (void)state;
    const float in[] = {1};
    const int64_t dims[] = {1};
    float out[1];
    struct baryon_round_options options = {.size = sizeof options, .axis = 1};
    assert_error(baryon_round("int8", in, dims, 1, &options, out, &err), BARYON_ERR_USAGE,
                 "int8 has no blocks, axis and block size are not valid");
    options = (struct baryon_round_options){.size = sizeof options, .zero_point = 3};
    assert_error(baryon_round("int8", in, dims, 1, &options, out, &err), BARYON_ERR_USAGE,
                 "a zero point requires an integer format and a scale");
    assert_error(baryon_round("mx6", in, dims, 1, &options, out, &err), BARYON_ERR_USAGE,
                 "mx6 has no zero point");
    options = (struct baryon_round_options){.size = sizeof options, .scale = -1};
    assert_error(baryon_round("int8", in, dims, 1, &options, out, &err), BARYON_ERR_USAGE,
                 "the scale is -1, must be greater than 0");
    assert_error(baryon_round("mx6", in, dims, 1, &options, out, &err), BARYON_ERR_USAGE,
                 "mx6 computes its own scales");
    options = (struct baryon_round_options){.size = sizeof options, .ties = (enum baryon_ties)7};
    assert_error(baryon_round("bf16", in, dims, 1, &options, out, &err), BARYON_ERR_USAGE,
                 "ties 7, must be 0 to 2");
    assert_error(baryon_round("bf16", in, dims, 17, NULL, out, &err), BARYON_ERR_USAGE,
                 "rank 17, must be 0 to 16");
}

static void test_lists(void **state)
{
    (void)state;
    const char *help = NULL;
    assert_string_equal(baryon_list("presets", 0, &help), "XINT8");
    assert_true(strlen(help) > 5);
    assert_string_equal(baryon_list("metrics", 0, NULL), "cosine");
    assert_null(baryon_list("metrics", 1000, NULL));
    assert_null(baryon_list("nothing", 0, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
