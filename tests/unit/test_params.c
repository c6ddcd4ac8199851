/* Scales and zero points of activations out of statistics, and how they are stored. */
#include "engine_build.h"

#include "calib/methods.h"
#include "ir/infer.h"
#include "quant/lower_internal.h"
#include "quant/params.h"
#include "quant/place.h"
#include "quant/unfit.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;
static struct by_stats *stats;
static bool has_softmax; /* of the model */

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8, .calib.headroom = 1.25},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
    };
    recipe.activation.method = recipe.weight.method = by_calibrator_find("minmax");
    recipe.activation.calib.own = recipe.activation.method->options->defaults;
    has_softmax = false;
    return 0;
}

/* y = x z + z, or softmax(z) + z, with the same values everywhere. */
static void open_plan(float low, float high)
{
    static const struct by_target targets[] = {{"x", BY_ELEM_FLOAT, -1, false},
                                               {"z", BY_ELEM_FLOAT, -1, false},
                                               {"m", BY_ELEM_FLOAT, -1, false},
                                               {"y", BY_ELEM_FLOAT, -1, false}};
    const float values[2] = {low, high};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2");
    takes(model, "z", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    if (has_softmax)
        put_node(model->graph, "softmax", "Softmax", "z", "m");
    else
        put_node(model->graph, "mul", "Mul", "x,z", "m");
    put_node(model->graph, "add", "Add", "m,z", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    assert_ok(by_stats_open(&stats, &err));
    assert_ok(by_stats_set_targets(stats, targets, 4, &err));
    for (size_t i = 0; i < 4; i++)
        assert_ok(by_sketch_look_ref(&stats->tensors[i].sketch, values, BY_ELEM_FLOAT, 2, 0, &err));
}

static void close_plan(void)
{
    struct baryon_model *model = plan->model;
    by_stats_close(stats);
    by_quant_plan_close(plan);
    by_model_free(model);
}

static struct by_quant_row *row_of(const char *name)
{
    const size_t row = by_quant_find(plan, by_graph_value(plan->model->graph, name));
    assert_true(row != BY_NO_ROW);
    return &plan->rows.at[row];
}

static void find(void)
{
    assert_ok(by_quant_find_params(plan, stats, NULL, &err));
}

/* --- Ranges --- */

/* Of 8 bits none can be spared for values to come, of 16 bits some. */
static void only_wide_types_have_headroom(void **state)
{
    (void)state;
    open_plan(-1, 3);
    find();
    assert_true(row_of("m")->range.low == -1 && row_of("m")->range.high == 3);
    close_plan();
    recipe.activation.elem = BY_ELEM_UINT16;
    open_plan(-1, 3);
    find();
    assert_true(row_of("m")->range.low == -1.25 && row_of("m")->range.high == 3.75);
    close_plan();
}

/* At most 128 steps for the mean, which is 0.5 here. The Softmax itself stays float: one that is
 * quantized has the range from 0 to 1. */
static void steps_of_an_even_softmax_are_coarse(void **state)
{
    static const struct {
        int64_t elem;
        bool symmetric, compat;
        double high;
    } rows[] = {{BY_ELEM_UINT8, false, false, 0.5 * 255 / 128},
                {BY_ELEM_UINT8, false, true, (double)0.625f},
                {BY_ELEM_INT8, true, false, (double)0.625f},
                {BY_ELEM_UINT16, false, false, 0.625 * 1.25}};
    (void)state;
    static struct by_pattern pattern = {"Softmax", "--exclude-op-type"};
    has_softmax = true;
    recipe.exclude_op_types = (struct by_patterns){.at = &pattern, .count = 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        recipe.compat = rows[i].compat;
        recipe.activation.elem = rows[i].elem;
        recipe.activation.symmetric = rows[i].symmetric;
        open_plan(0.375f, 0.625f);
        find();
        assert_true(fabs(row_of("m")->range.high - rows[i].high) < 1e-6);
        assert_true(row_of("y")->range.high <= 0.625 * 1.25);
        close_plan();
    }
}

/* Inputs of the model alone, and not where the results are to be the peer's. */
static void inputs_have_a_whole_zero(void **state)
{
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        recipe.compat = compat;
        open_plan(-0.585f, 1.965f);
        find();
        const bool same =
            row_of("x")->range.low == (double)-0.585f && row_of("x")->range.high == (double)1.965f;
        assert_int_equal(same, compat);
        assert_true(row_of("m")->range.low == (double)-0.585f &&
                    row_of("m")->range.high == (double)1.965f);
        close_plan();
    }
}

/* --- Scales --- */

/* The zero point is that of the scale which is stored, not of the one that was computed. */
static void zero_points_follow_rounded_scales(void **state)
{
    (void)state;
    recipe.activation.elem = BY_ELEM_UINT16;
    recipe.activation.scale = BY_SCALE_FLOAT16;
    recipe.activation.calib.headroom = 1;
    open_plan(-1, 1.3f);
    find();
    const struct by_params *params = &row_of("m")->params;
    const double exact = nearbyint(65535 / 2.3);
    assert_int_equal(params->zeros[0], (int64_t)nearbyint(1 / (double)params->scales[0]));
    assert_true(fabs((double)params->zeros[0] - exact) > 2);
    close_plan();
}

/* Who shares the range of a tensor with given parameters has the range that these reach. */
static void shared_ranges_of_given_parameters(void **state)
{
    static float scale = 0.5f;
    static int64_t zero = 10;
    (void)state;
    open_plan(-1, 3);
    struct by_quant_row *owner = row_of("m"), *row = row_of("y");
    owner->has_params = true;
    owner->params.count = 1;
    owner->params.scales = &scale;
    owner->params.zeros = &zero;
    row->range_of = by_quant_find(plan, owner->value);
    find();
    assert_true(row->range.low == -5 && row->range.high == 122.5);
    assert_true(row->params.scales[0] == 0.5f && row->params.zeros[0] == 10);
    close_plan();
}

/* --- Storing --- */

static void several_in_a_byte(void **state)
{
    (void)state;
    uint8_t out[4] = {0};
    by_lower_pack(BY_ELEM_INT4, (const int64_t[]){1, -2, 3}, 3, out);
    assert_memory_equal(out, ((const uint8_t[]){0xe1, 0x03}), 2);
    by_lower_pack(BY_ELEM_UINT2, (const int64_t[]){1, 2, 3, 0, 2}, 5, out);
    assert_memory_equal(out, ((const uint8_t[]){0x39, 0x02}), 2);
    by_lower_pack(BY_ELEM_INT16, (const int64_t[]){-2, 258}, 2, out);
    assert_memory_equal(out, ((const uint8_t[]){0xfe, 0xff, 2, 1}), 4);
}

/* --- What has no form with few bits --- */

static const char *why_unfit(const char *op_type, const char *inputs, const char *weight,
                             float beta)
{
    static char text[128];
    struct baryon_model *model = new_model();
    takes(model, "x", op_type[1] == 'a' ? BY_ELEM_INT64 : BY_ELEM_FLOAT, "2,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_floats(model, "w", weight, 1);
    put_floats(model, "b", "3", 1);
    put_node(model->graph, "node", op_type, inputs, "y");
    assert_ok(by_model_link(model, &err));
    struct baryon_node *node = model->graph->node.at[0];
    if (beta != 1)
        assert_ok(by_node_set_float(node, "beta", beta, &err));
    const char *why = by_unfit(node, &recipe);
    snprintf(text, sizeof text, "%s", why ? why : "");
    by_model_free(model);
    return text;
}

static void few_bits_do_not_fit_everything(void **state)
{
    (void)state;
    recipe.approach = BY_APPROACH_NBITS;
    recipe.nbits.group = 32;
    assert_string_equal(why_unfit("Gemm", "x,w,b", "2,3", 1), "");
    assert_string_equal(why_unfit("Gemm", "x,w,b", "2,3", 2), "it multiplies by beta");
    assert_string_equal(why_unfit("Gemm", "x,w", "2,3", 2), "");
    assert_string_equal(why_unfit("Gather", "w,x", "4,64", 1), "");
    assert_string_equal(why_unfit("Gather", "w,x", "4,33", 1),
                        "rows of its table are not whole blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_wide_types_have_headroom, prepare),
        cmocka_unit_test_setup(steps_of_an_even_softmax_are_coarse, prepare),
        cmocka_unit_test_setup(inputs_have_a_whole_zero, prepare),
        cmocka_unit_test_setup(zero_points_follow_rounded_scales, prepare),
        cmocka_unit_test_setup(shared_ranges_of_given_parameters, prepare),
        cmocka_unit_test_setup(several_in_a_byte, prepare),
        cmocka_unit_test_setup(few_bits_do_not_fit_everything, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
