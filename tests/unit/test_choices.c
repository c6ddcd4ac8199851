/* What outputs that saturate are computed from, and the choices between values of the config. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/place.h"
#include "trial/choices.h"
#include "trial/more_outputs.h"
#include "trial/saturates.h"

#include <string.h>

static struct by_unsaturated found[4];

static struct baryon_model *made(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

static struct baryon_model *softmax_behind(const char *last, const char *name)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    put_node(model->graph, "relu", "Relu", "x", "r");
    put_node(model->graph, "end", last, "r", "s");
    put_node(model->graph, "same", "Identity", "s", name);
    gives(model, name, BY_ELEM_FLOAT, "2,3");
    return made(model);
}

static void what_a_softmax_reads_is_found(void **state)
{
    (void)state;
    struct baryon_model *model = softmax_behind("Softmax", "y");
    assert_int_equal(by_unsaturated_all(model->graph, NULL, found, 4), 1);
    assert_string_equal(found[0].value->name, "r");
    assert_true(found[0].centred);
    by_model_free(model);
    model = softmax_behind("Sigmoid", "y");
    assert_int_equal(by_unsaturated_all(model->graph, NULL, found, 4), 1);
    assert_string_equal(found[0].value->name, "r");
    assert_false(found[0].centred);
    by_model_free(model);
}

static void other_ends_have_none(void **state)
{
    (void)state;
    struct baryon_model *model = softmax_behind("Tanh", "y");
    assert_int_equal(by_unsaturated_all(model->graph, NULL, found, 4), 0);
    by_model_free(model);
}

/* Through a factor that is constant; two activations that are multiplied are no end. */
static void factors_are_passed_where_they_are_constant(void **state)
{
    (void)state;
    const float half = 0.5F;
    for (int gated = 0; gated < 2; gated++) {
        struct baryon_model *model = new_model();
        takes(model, "x", BY_ELEM_FLOAT, "2,3");
        put_weight(model, "half", BY_ELEM_FLOAT, NULL, 0, &half, sizeof half);
        put_node(model->graph, "relu", "Relu", "x", "r");
        put_node(model->graph, "end", "HardSigmoid", "r", "s");
        put_node(model->graph, "scale", "Mul", gated ? "s,x" : "half,s", "y");
        gives(model, "y", BY_ELEM_FLOAT, "2,3");
        made(model);
        assert_int_equal(by_unsaturated_all(model->graph, NULL, found, 4), !gated);
        by_model_free(model);
    }
}

/* An input of the model that a Sigmoid reads, and outputs of the model, are known already. */
static void outputs_are_not_listed_again(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    put_node(model->graph, "relu", "Relu", "x", "r");
    put_node(model->graph, "end", "Sigmoid", "r", "y");
    put_node(model->graph, "also", "Softmax", "r", "z");
    gives(model, "y", BY_ELEM_FLOAT, "2,3");
    gives(model, "z", BY_ELEM_FLOAT, "2,3");
    made(model);
    assert_int_equal(by_unsaturated_all(model->graph, NULL, found, 4), 1);
    by_model_free(model);
    model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    put_node(model->graph, "relu", "Relu", "x", "r");
    put_node(model->graph, "end", "Sigmoid", "r", "y");
    gives(model, "r", BY_ELEM_FLOAT, "2,3");
    gives(model, "y", BY_ELEM_FLOAT, "2,3");
    made(model);
    assert_int_equal(by_unsaturated_all(model->graph, NULL, found, 4), 0);
    by_model_free(model);
}

static void a_session_gives_both_and_the_model_stays(void **state)
{
    (void)state;
    struct by_session *session;
    size_t count;
    struct baryon_model *model = softmax_behind("Softmax", "y");
    const struct by_session_options options = {.optimization = -1};
    assert_int_equal(by_unsaturated_all(model->graph, NULL, found, 4), 1);
    struct by_more_outputs shown;
    assert_ok(by_more_outputs_show(model, &found[0].value, 1, &shown, &err));
    assert_ok(by_session_open_model(&session, model, 0, &options, &err));
    by_more_outputs_hide(&shown);
    const struct by_port *ports = by_session_outputs(session, &count);
    assert_int_equal(count, 2);
    assert_string_equal(ports[0].name, "y");
    assert_string_equal(ports[1].name, "r");
    assert_int_equal(model->graph->output.count, 1);
    by_session_close(session);
    by_model_free(model);
}

/* --- Choices --- */

static void each_choice_changes_what_it_names(void **state)
{
    (void)state;
    size_t count;
    static const char *const methods[] = {"minmse", "minmax"};
    const struct by_choice_row *rows = by_choices(&count);
    assert_int_equal(count, 8);
    struct by_recipe recipe = {.activation.calib.headroom = 1.5,
                               .spares_pairs = true,
                               .other_weight_method = by_calibrator_find("minmse")};
    for (size_t i = 0; i < count; i++) {
        struct by_candidate candidate = {0};
        candidate.edits[rows[i].kind] = rows[i].value;
        assert_true(by_candidate_edits_config(&candidate));
        assert_ok(by_candidate_edit_config(&candidate, &recipe, &err));
        assert_int_equal(recipe.logarithms, i ? BY_LOGARITHMS_FRONT_END : BY_LOGARITHMS_QUANTIZED);
        assert_true(recipe.activation.calib.headroom == (i < 2 ? 1.5 : 1));
        assert_int_equal(recipe.spares_pairs, i < 3);
        assert_int_equal(recipe.float_joins.on, i >= 4);
        assert_int_equal(recipe.weight.method == recipe.other_weight_method, i >= 5);
        assert_int_equal(rows[i].calibrated, i >= 4);
        assert_int_equal(rows[i].costs, i == 1 || i == 4);
        assert_ptr_equal(recipe.activation.method,
                         i < 6 ? NULL : by_calibrator_find(methods[i - 6]));
    }
    assert_int_equal(rows[0].rule, BY_VERDICT_LOGARITHMS);
    assert_int_equal(rows[1].rule, BY_VERDICT_FRONT_END);
    assert_int_equal(rows[2].rule, BY_VERDICT_HEADROOM);
    assert_int_equal(rows[3].rule, BY_VERDICT_PAIRS);
    assert_int_equal(rows[4].rule, BY_VERDICT_JOINS);
    assert_int_equal(rows[5].rule, BY_VERDICT_WEIGHT_METHOD);
    assert_int_equal(rows[6].rule, BY_VERDICT_ACTIVATION_METHOD);
    assert_int_equal(rows[7].rule, BY_VERDICT_ACTIVATION_METHOD);
}

static void headroom_is_open_for_wide_activations_alone(void **state)
{
    (void)state;
    size_t count;
    const struct by_choice_row *rows = by_choices(&count);
    struct by_recipe recipe = {.headroom_auto = true, .activation.calib.headroom = 1.5};
    struct by_quant_row row = {.role = BY_ROLE_ACTIVATION};
    struct by_quant_plan plan = {.recipe = &recipe, .rows = {.at = &row, .count = 1}};
    by_spec_set_type(&row.spec, BY_ELEM_INT16);
    assert_true(rows[2].applies(&plan));
    by_spec_set_type(&row.spec, BY_ELEM_INT8);
    assert_false(rows[2].applies(&plan));
    by_spec_set_type(&row.spec, BY_ELEM_INT16);
    row.role = BY_ROLE_WEIGHT;
    assert_false(rows[2].applies(&plan));
    row.role = BY_ROLE_ACTIVATION;
    recipe.headroom_auto = false;
    assert_false(rows[2].applies(&plan));
    recipe.headroom_auto = true;
    recipe.activation.calib.headroom = 1;
    assert_false(rows[2].applies(&plan));
    recipe.logarithms = BY_LOGARITHMS_FLOAT;
    assert_false(rows[0].applies(&plan));
}

/* Of 8 bits with scales that are no powers of two, and only methods that they do not have yet. */
static void methods_are_open_for_narrow_activations_alone(void **state)
{
    (void)state;
    size_t count;
    const struct by_choice_row *rows = by_choices(&count);
    const struct by_calibrator *percentile = by_calibrator_find("percentile");
    struct by_recipe recipe = {.activation_method_auto = true, .activation.method = percentile};
    struct by_quant_row row = {.role = BY_ROLE_ACTIVATION, .spec.method = percentile};
    struct by_quant_plan plan = {.recipe = &recipe, .rows = {.at = &row, .count = 1}};
    by_spec_set_type(&row.spec, BY_ELEM_UINT8);
    row.spec.scale = BY_SCALE_FLOAT32;
    assert_true(rows[6].applies(&plan) && rows[7].applies(&plan));
    recipe.activation.method = by_calibrator_find("minmse");
    assert_true(!rows[6].applies(&plan) && rows[7].applies(&plan));
    recipe.activation.method = by_calibrator_find("minmax");
    assert_true(rows[6].applies(&plan) && !rows[7].applies(&plan));
    recipe.activation.method = percentile;
    recipe.activation_method_auto = false;
    assert_true(!rows[6].applies(&plan) && !rows[7].applies(&plan));
    recipe.activation_method_auto = true;
    row.spec.scale = BY_SCALE_POW2;
    assert_true(!rows[6].applies(&plan) && !rows[7].applies(&plan));
    row.spec.scale = BY_SCALE_FLOAT32;
    by_spec_set_type(&row.spec, BY_ELEM_INT16);
    assert_true(!rows[6].applies(&plan) && !rows[7].applies(&plan));
    by_spec_set_type(&row.spec, BY_ELEM_UINT8);
    row.role = BY_ROLE_WEIGHT;
    assert_true(!rows[6].applies(&plan) && !rows[7].applies(&plan));
}

/* What is widened for other values stays so. */
static void another_method_keeps_the_headroom(void **state)
{
    (void)state;
    struct by_recipe recipe = {.activation.calib.headroom = 1.25};
    struct by_candidate candidate = {.edits = {[BY_EDIT_ACTIVATION_METHOD] = BY_OTHER_MINMSE}};
    char text[64];
    assert_ok(by_candidate_edit_config(&candidate, &recipe, &err));
    assert_true(recipe.activation.calib.headroom == 1.25);
    assert_string_equal(by_edit(BY_EDIT_ACTIVATION_METHOD)->describe(BY_OTHER_MINMAX, text, 64),
                        "activation method minmax");
}

/* One greater value among equal ones: the coarser the scale, the less is left of these. */
static void coarse_weights_may_be_clipped(void **state)
{
    (void)state;
    size_t count;
    const struct by_choice_row *rows = by_choices(&count);
    struct baryon_model *model = new_model();
    float values[1000], scale = 31.0F / 127;
    for (size_t i = 0; i < 1000; i++)
        values[i] = i ? 1 : 31;
    const struct by_calibrator *minmax = by_calibrator_find("minmax");
    struct by_recipe recipe = {.other_weight_method = by_calibrator_find("minmse"),
                               .weight.method = minmax};
    takes(model, "x", BY_ELEM_FLOAT, "1,1000");
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){1000, 1}, 2, values, sizeof values);
    put_node(model->graph, "matmul", "MatMul", "x,w", "y");
    gives(model, "y", BY_ELEM_FLOAT, "1,1");
    made(model);
    struct by_quant_row row = {
        .value = by_graph_value(model->graph, "w"),
        .role = BY_ROLE_WEIGHT,
        .spec.method = minmax,
        .shares = BY_NO_ROW,
        .params = {.count = 1, .scales = &scale, .axis = -1},
    };
    struct by_quant_plan plan = {
        .model = model, .recipe = &recipe, .rows = {.at = &row, .count = 1}};
    by_spec_set_type(&row.spec, BY_ELEM_INT8);
    assert_false(rows[5].applies(&plan)); /* 26 dB */
    scale *= 4;
    assert_true(rows[5].applies(&plan)); /* 14 dB */
    recipe.rounding = BY_ROUNDING_DESCENT;
    assert_false(rows[5].applies(&plan));
    recipe.rounding = BY_ROUNDING_NEAREST;
    row.spec.method = recipe.other_weight_method;
    assert_false(rows[5].applies(&plan));
    row.spec.method = minmax;
    recipe.other_weight_method = NULL;
    assert_false(rows[5].applies(&plan));
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_softmax_reads_is_found),
        cmocka_unit_test(other_ends_have_none),
        cmocka_unit_test(factors_are_passed_where_they_are_constant),
        cmocka_unit_test(outputs_are_not_listed_again),
        cmocka_unit_test(a_session_gives_both_and_the_model_stays),
        cmocka_unit_test(each_choice_changes_what_it_names),
        cmocka_unit_test(headroom_is_open_for_wide_activations_alone),
        cmocka_unit_test(methods_are_open_for_narrow_activations_alone),
        cmocka_unit_test(another_method_keeps_the_headroom),
        cmocka_unit_test(coarse_weights_may_be_clipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
