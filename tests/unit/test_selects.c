/* What outputs that are selected by values are selected from. */
#include "engine_build.h"

#include "ir/infer.h"
#include "trial/selects.h"

static struct by_selects found;

/* x -> MatMul -> t; what the callers add decides what comes out. */
static struct baryon_model *product(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    put_random(model, "w", "3,4");
    put_node(model->graph, "product", "MatMul", "x,w", "t");
    return model;
}

static void find(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_selects_find(model, &found, &err));
}

static void end(struct baryon_model *model)
{
    by_selects_release(&found);
    assert_null(found.left_out);
    by_model_free(model);
}

static void plain_outputs_are_compared(void **state)
{
    (void)state;
    struct baryon_model *model = product();
    put_node(model->graph, "end", "Softmax", "t", "y");
    gives(model, "y", BY_ELEM_FLOAT, "2,4");
    find(model);
    assert_null(found.left_out);
    assert_int_equal(found.count, 0);
    end(model);
}

static void what_nonzero_counts_in_is_compared_instead(void **state)
{
    (void)state;
    struct baryon_model *model = product();
    put_node(model->graph, "relu", "Relu", "t", "r");
    put_node(model->graph, "count", "NonZero", "r", "places");
    put_node(model->graph, "turn", "Transpose", "places", "rows");
    put_node(model->graph, "pick", "GatherND", "r,rows", "y");
    put_node(model->graph, "also", "Tanh", "t", "z");
    gives(model, "y", BY_ELEM_FLOAT, "n");
    gives(model, "z", BY_ELEM_FLOAT, "2,4");
    find(model);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.values[0]->name, "r");
    assert_true(found.left_out[0]);
    assert_false(found.left_out[1]);
    end(model);
}

/* What is selected from is an output as well: nothing has to stand for the others. */
static void an_output_stands_for_another(void **state)
{
    (void)state;
    struct baryon_model *model = product();
    put_node(model->graph, "count", "NonZero", "t", "places");
    put_node(model->graph, "turn", "Transpose", "places", "rows");
    put_node(model->graph, "pick", "GatherND", "t,rows", "y");
    gives(model, "t", BY_ELEM_FLOAT, "2,4");
    gives(model, "y", BY_ELEM_FLOAT, "n");
    find(model);
    assert_int_equal(found.count, 0);
    assert_false(found.left_out[0]);
    assert_true(found.left_out[1]);
    end(model);
}

/* Sizes that inputs alone decide are the same in both models. */
static void sizes_of_inputs_select_nothing(void **state)
{
    (void)state;
    struct baryon_model *model = product();
    put_node(model->graph, "count", "NonZero", "x", "places");
    put_node(model->graph, "turn", "Transpose", "places", "rows");
    put_node(model->graph, "pick", "GatherND", "t,rows", "y");
    gives(model, "y", BY_ELEM_FLOAT, "n");
    find(model);
    assert_null(found.left_out);
    end(model);
}

static void of_integers_alone_what_they_are_made_from_is_compared(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct baryon_model *model = product();
        put_node(model->graph, "best", "ArgMax", "t", "label");
        gives(model, "label", BY_ELEM_INT64, "1,4");
        if (both) {
            put_node(model->graph, "end", "Softmax", "t", "y");
            gives(model, "y", BY_ELEM_FLOAT, "2,4");
        }
        find(model);
        assert_int_equal(found.count, !both);
        if (!both)
            assert_string_equal(found.values[0]->name, "t");
        end(model);
    }
}

static void body_of_loop(struct baryon_model *model, struct baryon_node *loop, bool by_values)
{
    struct baryon_graph *body = put_nested(model, loop, "body");
    put_port(model, &body->input, "i", BY_ELEM_INT64, "");
    put_port(model, &body->input, "c", BY_ELEM_BOOL, "");
    put_port(model, &body->input, "s", BY_ELEM_FLOAT, "2,4");
    put_port(model, &body->input, "k", BY_ELEM_INT64, "");
    put_node(body, "step", "Tanh", "s", "s2");
    put_node(body, "last", "ReduceMax", "s2", "m");
    put_node(body, "best", "ArgMax", "s2", "b");
    put_node(body, "more", "Add", by_values ? "k,b" : "k,i", "k2");
    put_node(body, "until", "Less", "k,k2", "c2");
    put_port(model, &body->output, "c2", BY_ELEM_BOOL, "");
    put_port(model, &body->output, "s2", BY_ELEM_FLOAT, "2,4");
    put_port(model, &body->output, "k2", BY_ELEM_INT64, "");
    put_port(model, &body->output, "m", BY_ELEM_FLOAT, "1,1");
}

/* Steps that a counter ends are the same ones in both models; those that a value ends are not. */
static void loops_that_end_by_values_select(void **state)
{
    (void)state;
    for (int by_values = 0; by_values < 2; by_values++) {
        struct baryon_model *model = product();
        takes(model, "n", BY_ELEM_INT64, "");
        takes(model, "go", BY_ELEM_BOOL, "");
        takes(model, "zero", BY_ELEM_INT64, "");
        struct baryon_node *loop =
            put_node(model->graph, "loop", "Loop", "n,go,t,zero", "state,steps,y");
        body_of_loop(model, loop, by_values);
        gives(model, "y", BY_ELEM_FLOAT, "n,1,1");
        find(model);
        assert_int_equal(found.count, by_values);
        if (by_values)
            assert_string_equal(found.values[0]->name, "t");
        end(model);
    }
}

static void too_many_values_leave_the_outputs(void **state)
{
    (void)state;
    struct baryon_model *model = product();
    char name[8], into[8], last[8] = "t";
    put_node(model->graph, "count", "NonZero", "t", "places");
    put_node(model->graph, "turn", "Transpose", "places", "rows");
    for (size_t i = 0; i < BY_SELECTS_MOST; i++) {
        char inputs[24];
        snprintf(into, sizeof into, "r%zu", i);
        snprintf(name, sizeof name, "y%zu", i);
        put_node(model->graph, into, "Relu", last, into);
        snprintf(inputs, sizeof inputs, "%s,rows", into);
        put_node(model->graph, name, "GatherND", inputs, name);
        gives(model, name, BY_ELEM_FLOAT, "n");
        snprintf(last, sizeof last, "%s", into);
    }
    find(model);
    assert_null(found.left_out);
    end(model);
}

static void integers_of_a_value_are_found_by_its_name(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    put_node(model->graph, "pair", "Relu", "x", "t_DequantizeLinear_Output");
    put_node(model->graph, "end", "Relu", "t_DequantizeLinear_Output", "y");
    gives(model, "y", BY_ELEM_FLOAT, "2,3");
    assert_ok(by_model_link(model, &err));
    assert_string_equal(by_selects_value(model->graph, "y")->name, "y");
    assert_string_equal(by_selects_value(model->graph, "t")->name, "t_DequantizeLinear_Output");
    assert_null(by_selects_value(model->graph, "z"));
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_outputs_are_compared),
        cmocka_unit_test(what_nonzero_counts_in_is_compared_instead),
        cmocka_unit_test(an_output_stands_for_another),
        cmocka_unit_test(sizes_of_inputs_select_nothing),
        cmocka_unit_test(of_integers_alone_what_they_are_made_from_is_compared),
        cmocka_unit_test(loops_that_end_by_values_select),
        cmocka_unit_test(too_many_values_leave_the_outputs),
        cmocka_unit_test(integers_of_a_value_are_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
