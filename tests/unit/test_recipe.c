/* Changes of specs, specs as text, patterns. */
#include "ir/tensor.h"
#include "quant/recipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

static bool picks(const char *text, const char *name)
{
    const struct by_pattern pattern = {text, "here"};
    bool picked = false;
    by_err_clear(&err);
    assert_int_equal(by_pattern_picks(&pattern, name, &picked, &err), 0);
    return picked;
}

static void a_plain_name_picks_itself(void **state)
{
    (void)state;
    assert_true(picks("/model.22/Concat_3", "/model.22/Concat_3"));
    assert_false(picks("/model.22/Concat_3", "/model.22/Concat_31"));
    assert_false(picks("/model.22/Concat_3", "/modelx22/Concat_3"));
    assert_true(picks("odd[1]*name", "odd[1]*name"));
    assert_true(picks("re:(", "re:("));
}

static void a_glob_picks_whole_names(void **state)
{
    (void)state;
    assert_true(picks("conv*", "conv12"));
    assert_false(picks("conv*", "my_conv12"));
    assert_true(picks("/head/*/Conv", "/head/a/b/Conv"));
    assert_true(picks("conv?", "conv1"));
    assert_true(picks("conv[12]", "conv2"));
    assert_false(picks("conv[12]", "conv3"));
}

static void an_expression_is_searched(void **state)
{
    (void)state;
    assert_true(picks("re:onv[0-9]+$", "my_conv12"));
    assert_false(picks("re:^conv[0-9]+$", "my_conv12"));
    assert_true(picks("re:^(a|b){2}$", "ab"));
    assert_true(picks("^/backbone/.*", "/backbone/stem"));
    assert_false(picks("^/backbone/.*", "/neck/backbone/stem"));
    assert_false(picks("^conv", "conv1")); /* without ".*" it is a name */
    assert_true(picks("^conv", "^conv"));
}

static void a_broken_expression_is_named(void **state)
{
    const struct by_pattern pattern = {"re:a(", "--exclude"};
    bool picked;
    (void)state;
    by_err_clear(&err);
    assert_int_equal(by_pattern_picks(&pattern, "a", &picked, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_string_equal(err.place, "--exclude");
    assert_non_null(strstr(err.message, "'a(' is not a valid regular expression: "));
}

static void a_change_sets_what_it_names(void **state)
{
    struct by_tensor_spec spec = {.elem = BY_ELEM_INT8, .symmetric = true};
    const struct by_change change = {
        .spec = {.elem = BY_ELEM_UINT16, .granularity = BY_PER_GROUP, .group = 32},
        .set = BY_CHANGE_ELEM | BY_CHANGE_GRANULARITY,
    };
    (void)state;
    by_spec_apply(&spec, &change);
    assert_int_equal(spec.elem, BY_ELEM_UINT16);
    assert_true(spec.symmetric);
    assert_int_equal(spec.granularity, BY_PER_GROUP);
    assert_int_equal(spec.group, 32);

    const int own = 0;
    const struct by_change all = {
        .spec = {.reduce_range = true,
                 .scale = BY_SCALE_POW2,
                 .method = by_calibrator_find("minmse"),
                 .calib = {.own = &own}},
        .set = BY_CHANGE_SYMMETRIC | BY_CHANGE_REDUCE | BY_CHANGE_SCALE | BY_CHANGE_METHOD,
    };
    by_spec_apply(&spec, &all);
    assert_int_equal(spec.elem, BY_ELEM_UINT16);
    assert_false(spec.symmetric);
    assert_true(spec.reduce_range);
    assert_int_equal(spec.scale, BY_SCALE_POW2);
    assert_string_equal(spec.method->name, "minmse");
    assert_ptr_equal(spec.calib.own, &own);
}

static void a_spec_says_what_it_is(void **state)
{
    char buf[128], small[8];
    struct by_tensor_spec spec = {.elem = BY_ELEM_INT8, .symmetric = true, .scale = BY_SCALE_POW2};
    (void)state;
    assert_string_equal(by_spec_text(&spec, buf, sizeof buf),
                        "int8, symmetric, power of two, per tensor");
    spec = (struct by_tensor_spec){.elem = BY_ELEM_UINT4,
                                   .reduce_range = true,
                                   .granularity = BY_PER_GROUP,
                                   .group = 32,
                                   .method = by_calibrator_find("minmax")};
    assert_string_equal(by_spec_text(&spec, buf, sizeof buf),
                        "uint4, asymmetric, one bit less, groups of 32, minmax");
    assert_string_equal(by_spec_text(&spec, small, sizeof small), "uint4, ");
    spec = (struct by_tensor_spec){.elem = 0};
    assert_string_equal(by_spec_text(&spec, buf, sizeof buf), "float");
    spec = (struct by_tensor_spec){.elem = BY_ELEM_UINT8, .bits = 3};
    assert_string_equal(by_spec_text(&spec, buf, sizeof buf), "uint3, asymmetric, per tensor");
    assert_string_equal(by_spec_stored_text(&spec, buf, sizeof buf),
                        "uint3 in uint8, asymmetric, per tensor");
    spec = (struct by_tensor_spec){.elem = BY_ELEM_INT2, .bits = 2};
    assert_string_equal(by_spec_stored_type(&spec, buf, sizeof buf), "int2");
}

static void few_bits_are_stored_in_what_there_is(void **state)
{
    static const struct {
        int64_t type, opset;
        enum by_q_domain domain;
        enum by_approach approach;
        int64_t elem;
    } cases[] = {
        {BY_TYPE_INT3, 20, BY_Q_AUTO, BY_APPROACH_WEIGHTS, BY_ELEM_INT8},
        {BY_TYPE_INT3, 20, BY_Q_ONNX, BY_APPROACH_STATIC, BY_ELEM_INT8},
        {BY_TYPE_INT3, 20, BY_Q_MICROSOFT, BY_APPROACH_STATIC, BY_ELEM_INT4},
        {BY_TYPE_INT3, 21, BY_Q_AUTO, BY_APPROACH_WEIGHTS, BY_ELEM_INT4},
        {BY_TYPE_UINT3, 25, BY_Q_AUTO, BY_APPROACH_WEIGHTS, BY_ELEM_UINT4},
        {BY_ELEM_UINT2, 24, BY_Q_ONNX, BY_APPROACH_WEIGHTS, BY_ELEM_UINT4},
        {BY_ELEM_UINT2, 25, BY_Q_ONNX, BY_APPROACH_WEIGHTS, BY_ELEM_UINT2},
        {BY_ELEM_INT2, 25, BY_Q_AUTO, BY_APPROACH_WEIGHTS, BY_ELEM_INT2},
        {BY_ELEM_INT2, 25, BY_Q_AUTO, BY_APPROACH_STATIC, BY_ELEM_INT4},
        {BY_ELEM_INT2, 25, BY_Q_MICROSOFT, BY_APPROACH_WEIGHTS, BY_ELEM_INT4},
        {BY_ELEM_INT4, 13, BY_Q_AUTO, BY_APPROACH_WEIGHTS, BY_ELEM_INT4}, /* the domain follows */
        {BY_ELEM_INT8, 25, BY_Q_AUTO, BY_APPROACH_WEIGHTS, BY_ELEM_INT8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct by_recipe recipe = {.domain = cases[i].domain, .approach = cases[i].approach};
        struct by_tensor_spec spec = {0};
        by_spec_set_type(&spec, cases[i].type);
        by_spec_store(&spec, &recipe, cases[i].opset);
        assert_int_equal(spec.elem, cases[i].elem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_name_picks_itself),
        cmocka_unit_test(a_glob_picks_whole_names),
        cmocka_unit_test(an_expression_is_searched),
        cmocka_unit_test(a_broken_expression_is_named),
        cmocka_unit_test(a_change_sets_what_it_names),
        cmocka_unit_test(a_spec_says_what_it_is),
        cmocka_unit_test(few_bits_are_stored_in_what_there_is),
    };
    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
