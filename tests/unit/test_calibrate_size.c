/* How much the values take that a run holds at once. */
#include "engine_build.h"

#include "calibrate/size.h"
#include "ir/infer.h"

static uint64_t bytes_of(struct baryon_model *model)
{
    uint64_t bytes;
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_activation_bytes(model->graph, &bytes, &err));
    by_model_free(model);
    return bytes;
}

static struct baryon_model *model_of(const char *shape, const char *output)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, shape);
    gives(model, output, BY_ELEM_FLOAT, NULL);
    return model;
}

/* x -> Transpose a -> Transpose b -> Transpose y: two of them at once. */
static void test_a_line(void **state)
{
    (void)state;
    struct baryon_model *model = model_of("10,20", "y");
    put_node(model->graph, "1", "Transpose", "x", "a");
    put_node(model->graph, "2", "Transpose", "a", "b");
    put_node(model->graph, "3", "Transpose", "b", "y");
    assert_int_equal(bytes_of(model), 2 * 800);
}

/* Neg takes its input's place; not where somebody else reads that later. */
static void test_in_place(void **state)
{
    (void)state;
    struct baryon_model *model = model_of("10,20", "y");
    put_node(model->graph, "1", "Neg", "x", "a");
    put_node(model->graph, "2", "Neg", "a", "b");
    put_node(model->graph, "3", "Neg", "b", "y");
    assert_int_equal(bytes_of(model), 800);
    model = model_of("10,20", "y");
    put_node(model->graph, "1", "Neg", "x", "a");
    put_node(model->graph, "2", "Neg", "a", "b");
    put_node(model->graph, "3", "Add", "b,a", "y");
    assert_int_equal(bytes_of(model), 2 * 800);
}

static void test_outputs_stay(void **state)
{
    (void)state;
    struct baryon_model *model = model_of("10,20", "a");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "1", "Transpose", "x", "a");
    put_node(model->graph, "2", "Transpose", "a", "b");
    put_node(model->graph, "3", "Transpose", "b", "c");
    put_node(model->graph, "4", "Neg", "c", "y");
    assert_int_equal(bytes_of(model), 3 * 800);
}

static void test_unknown(void **state)
{
    (void)state;
    struct baryon_model *model = model_of("N,20", "y");
    put_node(model->graph, "1", "Neg", "x", "y");
    assert_true(bytes_of(model) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_outputs_stay),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
