/* Tests pairs in a copy of a model: constants that both have are looked at once. */
#include "place_case.h"

#include "onnx/frame.h"
#include "quant/floats.h"

#include <math.h>

static struct by_frame frame;
static struct by_quant_plan *first; /* of the model */

/* y = x + k, z = x * m */
static void place_model(float k)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    put_floats(model, "k", "2", k);
    put_node(model->graph, "add", "Add", "x,k", "y");
    put_floats(model, "m", "2", 2);
    put_node(model->graph, "mul", "Mul", "x,m", "z");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    set_int8_recipe();
    place(model, NULL);
    first = plan;
    assert_ok(by_frame_take(&frame, model, &err));
}

static enum by_node_state state_in(struct baryon_model *copy)
{
    open_plan(copy);
    plan->like = first;
    assert_ok(by_place(plan, NULL, NULL, &err));
    const enum by_node_state state = plan_node("add")->state;
    close_plan();
    return state;
}

static struct baryon_model *copy_model(void)
{
    struct baryon_model *copy;
    assert_ok(by_frame_copy(&frame, &copy, &err));
    return copy;
}

static void set_k(struct baryon_model *copy, float k)
{
    assert_ok(
        by_floats_write(copy, value_of(copy->graph, "k")->initializer, (float[]){k, k}, 2, &err));
}

static void close_model(void)
{
    by_frame_release(&frame);
    plan = first;
    close_plan();
}

static void a_copy_is_placed_as_the_model_is(void **state)
{
    (void)state;
    place_model(1);
    assert_int_equal(state_in(copy_model()), BY_NODE_QUANTIZED);
    close_model();
    place_model(INFINITY);
    assert_int_equal(state_in(copy_model()), BY_NODE_FLOAT);
    close_model();
}

/* Values are not looked at where the payload is the one that was: the only way to see that is to
 * change them behind the plan's back. */
static void what_both_have_is_not_looked_at_again(void **state)
{
    (void)state;
    place_model(1);
    struct baryon_model *copy = copy_model();
    float *values = (float *)(uintptr_t)value_of(copy->graph, "k")->initializer->raw_data.data;
    values[0] = INFINITY;
    assert_int_equal(state_in(copy), BY_NODE_QUANTIZED);
    close_model();
}

static void what_was_edited_is_looked_at(void **state)
{
    (void)state;
    place_model(1);
    struct baryon_model *copy = copy_model();
    set_k(copy, INFINITY);
    assert_int_equal(state_in(copy), BY_NODE_FLOAT);
    close_model();
    place_model(INFINITY);
    copy = copy_model();
    set_k(copy, 1);
    assert_int_equal(state_in(copy), BY_NODE_QUANTIZED);
    close_model();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_placed_as_the_model_is),
        cmocka_unit_test(what_both_have_is_not_looked_at_again),
        cmocka_unit_test(what_was_edited_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
