/* The state of plan and biases: taken, restored byte for byte, and every difference found. */
#include "small_network.h"

#include "ir/infer.h"
#include "quant/floats.h"
#include "quant/params.h"
#include "quant/place.h"
#include "trial/snapshot.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;
static struct baryon_model *model;
static struct baryon_value *constants[3];
static struct by_snapshot before;

static int open_plan(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true, .granularity = BY_PER_CHANNEL},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    model = network(21);
    assert_ok(by_model_settle(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        row->has_range = row->role == BY_ROLE_ACTIVATION;
        if (row->has_range)
            row->range = (struct by_range){-16, 16, false, NAN};
    }
    assert_ok(by_quant_find_params(plan, NULL, NULL, &err));
    constants[0] = by_map_get(&model->graph->values, "b");
    constants[2] = by_map_get(&model->graph->values, "a");
    before = (struct by_snapshot){0};
    assert_ok(by_snapshot_take(&before, plan, constants, 3, &err));
    return 0;
}

static int close_plan(void **state)
{
    (void)state;
    by_snapshot_release(&before);
    by_quant_plan_close(plan);
    by_model_free(model);
    return 0;
}

static struct by_quant_row *row_of(const char *name)
{
    return &plan->rows.at[by_quant_find(plan, by_map_get(&model->graph->values, name))];
}

/* The check names what differs; after the restore nothing does. */
static void expect_difference(const char *name, const char *what)
{
    assert_int_equal(by_snapshot_check(&before, plan, &err), -1);
    assert_non_null(strstr(err.message, what));
    assert_true(!name || strstr(err.message, name));
    by_err_clear(&err);
    assert_ok(by_snapshot_restore(&before, plan, &err));
    assert_ok(by_snapshot_check(&before, plan, &err));
}

static void nothing_differs(void **state)
{
    (void)state;
    assert_ok(by_snapshot_check(&before, plan, &err));
    assert_ok(by_snapshot_restore(&before, plan, &err));
    assert_ok(by_snapshot_check(&before, plan, &err));
}

static void rows_are_restored(void **state)
{
    (void)state;
    static int32_t integers[72];
    static float values[72];
    struct by_quant_row *w = row_of("w"), *x = row_of("x");
    assert_int_equal(w->params.count, 4);
    const float first = w->params.scales[0];
    w->params.scales[0] *= 2;
    assert_float_equal(by_snapshot_scale(&before, (size_t)(w - plan->rows.at)), first, 0);
    expect_difference("'w'", "parameters");
    assert_float_equal(w->params.scales[0], first, 0);
    w->params.scales[3] = nextafterf(w->params.scales[3], 1);
    expect_difference("'w'", "parameters");
    x->params.zeros[0]++;
    expect_difference("'x'", "parameters");
    w->rounded = integers;
    expect_difference("'w'", "solved integers");
    w->solved = values;
    expect_difference("'w'", "solved integers");
    x->range.high = 17;
    expect_difference("'x'", "range");
    x->spec.bits = 3;
    expect_difference("'x'", "type");
    x->keep_float = !x->keep_float;
    expect_difference("'x'", "placement");
    x->readers.at[0].slot = 7;
    expect_difference("'x'", "readers");
    x->error = 0.5;
    expect_difference("'x'", "parameters");
}

/* A row gets scales at another place, and more of them. */
static void other_arrays_are_restored(void **state)
{
    (void)state;
    static float scales[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct by_quant_row *w = row_of("w");
    const float *own = w->params.scales;
    w->params = (struct by_params){.count = 8, .scales = scales, .axis = 0, .groups = 2};
    expect_difference("'w'", "parameters");
    assert_ptr_equal(w->params.scales, own);
    assert_true(scales[7] == 1);
}

static void nodes_are_restored(void **state)
{
    (void)state;
    plan->nodes[1].state = BY_NODE_FLOAT;
    expect_difference(NULL, "node 1");
    plan->nodes[0].folded = !plan->nodes[0].folded;
    expect_difference(NULL, "node 0");
}

/* Of two candidates each has its own remarks again, whichever came last. */
static void remarks_of_two_candidates(void **state)
{
    (void)state;
    struct by_snapshot one = {0};
    const size_t row = by_quant_find(plan, by_map_get(&model->graph->values, "w"));
    const size_t count = plan->rows.at[row].remarks.count;
    assert_ok(by_quant_remark(plan, row, "a", &err, "first"));
    assert_ok(by_quant_remark(plan, row, "a", &err, "second"));
    assert_ok(by_snapshot_take(&one, plan, constants, 3, &err));
    expect_difference("'w'", "remarks");
    assert_ok(by_quant_remark(plan, row, "b", &err, "third"));
    assert_ok(by_snapshot_restore(&one, plan, &err));
    assert_ok(by_snapshot_check(&one, plan, &err));
    assert_int_equal(plan->rows.at[row].remarks.count, count + 2);
    assert_string_equal(plan->rows.at[row].remarks.at[count].text, "first");
    plan->rows.at[row].remarks.at[count + 1].text = "other";
    assert_int_equal(by_snapshot_check(&one, plan, &err), -1);
    by_err_clear(&err);
    by_snapshot_release(&one);
}

static void constants_are_restored(void **state)
{
    (void)state;
    struct baryon_tensor *bias = constants[0]->initializer;
    const struct by_span payload = bias->raw_data;
    assert_ok(by_floats_write(model, bias, (const float[]){1, 2, 3, 4}, 4, &err));
    expect_difference("'b'", "values");
    assert_ptr_equal(bias->raw_data.data, payload.data);
    assert_ok(by_floats_write(model, constants[2]->initializer, (const float[]){0, 0, 0}, 3, &err));
    expect_difference("'a'", "values");
}

/* What the snapshot has no room for is no state of that plan. */
static void other_plans_are_refused(void **state)
{
    (void)state;
    plan->rows.count--;
    assert_int_equal(by_snapshot_restore(&before, plan, &err), -1);
    by_err_clear(&err);
    assert_int_equal(by_snapshot_check(&before, plan, &err), -1);
    by_err_clear(&err);
    plan->rows.count++;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_differs, open_plan, close_plan),
        cmocka_unit_test_setup_teardown(rows_are_restored, open_plan, close_plan),
        cmocka_unit_test_setup_teardown(other_arrays_are_restored, open_plan, close_plan),
        cmocka_unit_test_setup_teardown(nodes_are_restored, open_plan, close_plan),
        cmocka_unit_test_setup_teardown(remarks_of_two_candidates, open_plan, close_plan),
        cmocka_unit_test_setup_teardown(constants_are_restored, open_plan, close_plan),
        cmocka_unit_test_setup_teardown(other_plans_are_refused, open_plan, close_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
