/* What of LSTM, GRU and RNN is quantized, and where the scales of their two matrices lie. */
#include "place_case.h"

static int prepare(void **state)
{
    (void)state;
    static struct by_pattern gru = {"GRU", NULL};
    set_int8_recipe();
    recipe.weight.granularity = BY_PER_CHANNEL;
    recipe.extra_op_types.at = &gru;
    recipe.extra_op_types.count = 1;
    return 0;
}

/* x -> GRU(w, r, b, h) -> y; 3 inputs, hidden size 2. */
static struct baryon_model *gru_model(size_t directions)
{
    const bool both = directions == 2;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "5,1,3");
    put_floats(model, "w", both ? "2,6,3" : "1,6,3", 0.5f);
    put_floats(model, "r", both ? "2,6,2" : "1,6,2", 0.5f);
    put_floats(model, "b", both ? "2,12" : "1,12", 1);
    put_floats(model, "h", both ? "2,1,2" : "1,1,2", 1);
    struct baryon_node *node = put_node(model->graph, "gru", "GRU", "x,w,r,b,,h", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node, "hidden_size", 2, &err));
    assert_ok(by_node_set_text(node, "direction", both ? "bidirectional" : "forward", &err));
    return model;
}

static void place_gru(size_t directions)
{
    place(gru_model(directions), NULL);
}

/* Names of all rows, in their order. */
static void assert_rows(const char *wanted)
{
    char text[256] = "";
    place_gru(1);
    for (size_t i = 0; i < plan->rows.count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s ", plan->rows.at[i].value->name);
    }
    assert_string_equal(text, wanted);
    close_plan();
}

static void biases_stay_float(void **state)
{
    (void)state;
    recipe.bias_kind = BY_BIAS_OWN;
    assert_rows("x w r b h y ");
    recipe.bias_kind = BY_BIAS_PRODUCT;
    assert_rows("x w r h y ");
    recipe.compat = true;
    assert_rows("x w r b h y ");
    recipe.compat = false;
    recipe.approach = BY_APPROACH_WEIGHTS;
    assert_rows("w r ");
}

static void weights_alone_take_them_unasked(void **state)
{
    (void)state;
    recipe.extra_op_types.count = 0;
    recipe.approach = BY_APPROACH_WEIGHTS;
    assert_rows("w r ");
    recipe.operators = BY_OPERATORS_TRANSFORMER;
    assert_rows("w r ");
    recipe.approach = BY_APPROACH_DYNAMIC;
    open_plan(gru_model(1));
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_USAGE,
               "no node of the model can be quantized with this config; node 'gru' (GRU) stays "
               "float: ONNX Runtime has no GRU that quantizes at run time; --extra-op-types GRU "
               "stores its weights in 8 bits, which makes it slower");
    close_plan();
}

static void one_direction_has_channels_along_its_rows(void **state)
{
    (void)state;
    recipe.bias_kind = BY_BIAS_OWN;
    place_gru(1);
    assert_int_equal(row_of("w")->params.axis, 1);
    assert_int_equal(row_of("r")->params.axis, 1);
    assert_int_equal(row_of("r")->matrix.count, 0);
    assert_int_equal(by_quant_dims(row_of("r"))->count, 3);
    assert_int_equal(row_of("b")->params.axis, -1);
    assert_int_equal(row_of("h")->params.axis, -1);
    close_plan();
}

static void both_directions_are_one_matrix(void **state)
{
    (void)state;
    place_gru(2);
    const struct by_ints *dims = by_quant_dims(row_of("r"));
    assert_int_equal(row_of("r")->params.axis, 0);
    assert_int_equal(dims->count, 2);
    assert_int_equal(dims->at[0], 12);
    assert_int_equal(dims->at[1], 2);
    close_plan();

    recipe.keep_float_weights = true;
    place_gru(2);
    assert_int_equal(row_of("r")->params.axis, 1);
    assert_int_equal(row_of("r")->matrix.count, 0);
    close_plan();

    recipe.keep_float_weights = false;
    recipe.weight.granularity = BY_PER_TENSOR;
    place_gru(2);
    assert_int_equal(row_of("r")->params.axis, -1);
    assert_int_equal(row_of("r")->matrix.count, 0);
    close_plan();
}

static void groups_lie_along_inputs(void **state)
{
    (void)state;
    recipe.approach = BY_APPROACH_WEIGHTS;
    recipe.weight.granularity = BY_PER_GROUP;
    recipe.weight.group = 2;
    for (size_t directions = 1; directions <= 2; directions++) {
        place_gru(directions);
        assert_int_equal(row_of("w")->params.axis, directions == 1);
        assert_int_equal(row_of("w")->params.group_axis, directions == 1 ? 2 : 1);
        close_plan();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(biases_stay_float, prepare),
        cmocka_unit_test_setup(weights_alone_take_them_unasked, prepare),
        cmocka_unit_test_setup(one_direction_has_channels_along_its_rows, prepare),
        cmocka_unit_test_setup(both_directions_are_one_matrix, prepare),
        cmocka_unit_test_setup(groups_lie_along_inputs, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
