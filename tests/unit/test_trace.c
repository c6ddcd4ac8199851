/* Tests types and shapes that come from ONNX Runtime and a traced run. */
#include "engine_build.h"

#include "base/str.h"
#include "engine/trace.h"
#include "ir/infer.h"
#include "onnx/save.h"

static const char *ops_path;

static int find_ops(void **state)
{
    (void)state;
    static char path[512];
    ops_path = strcpy(path, beside("../stub/ops.so"));
    return 0;
}

static struct by_session_options with_ops(void)
{
    return (struct by_session_options){.op_libraries = &ops_path, .op_library_count = 1};
}

/* An operator that our rules do not know. */
static void put_halve(struct baryon_model *model, const char *in, const char *out)
{
    put_node(model->graph, out, "Halve", in, out)->domain = name_of(model, "test.baryon");
}

static void ready(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "test.baryon", 1, &err));
    assert_ok(by_model_infer(model, NULL, &err));
}

static void forget(struct baryon_model *model, const char *name)
{
    struct baryon_value *value = value_of(model->graph, name);
    value->elem = 0;
    value->shape = NULL;
}

static void assert_value(struct baryon_model *model, const char *name, int64_t elem,
                         const char *shape)
{
    char text[128];
    const struct baryon_value *value = value_of(model->graph, name);
    assert_string_equal(by_elem_name(value->elem), by_elem_name(elem));
    assert_string_equal(by_shape_text(value->shape, text, sizeof text), shape);
}

static const float sample_data[6] = {1, 0, 3, 4, 5, 6};

static struct by_array sample(const char *name)
{
    return FLOATS(name, 2, ((const int64_t[]){2, 3}), sample_data);
}

static struct by_trace_result trace_ok(struct baryon_model *model, const struct by_array *inputs,
                                       size_t count)
{
    const struct by_session_options options = with_ops();
    struct by_trace_result result;
    assert_ok(by_model_trace(model, inputs, count, &options, &result, &err));
    assert_sound(model);
    return result;
}

/* --- */

static void test_nothing_to_ask(void **state)
{
    (void)state;
    struct baryon_model *model = add_model();
    ready(model);
    const struct by_session_options nonsense = {.ort_path = "/nowhere"};
    struct by_trace_result result;
    assert_ok(by_model_trace(model, NULL, 0, &nonsense, &result, &err));
    assert_int_equal(result.asked, 0);
    assert_int_equal(result.left, 0);
    by_model_free(model);
}

/* What ONNX Runtime infers by itself is had without a run, symbols included. */
static void test_opening(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,3");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "a", "Relu", "x", "r");
    put_node(model->graph, "b", "Neg", "r", "y");
    ready(model);
    forget(model, "r");
    forget(model, "y");
    struct by_trace_result result = trace_ok(model, NULL, 0);
    assert_int_equal(result.asked, 2);
    assert_int_equal(result.opened, 2);
    assert_int_equal(result.ran, 0);
    assert_int_equal(result.left, 0);
    assert_value(model, "r", BY_ELEM_FLOAT, "[N,3]");
    assert_value(model, "y", BY_ELEM_FLOAT, "[N,3]");
    assert_ptr_equal(value_of(model->graph, "r")->shape->dims[0].symbol,
                     value_of(model->graph, "x")->shape->dims[0].symbol);
    by_model_free(model);
}

static struct baryon_model *halve_model(const char *shape)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, shape);
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_halve(model, "x", "h");
    put_node(model->graph, "n", "Neg", "h", "y");
    ready(model);
    assert_value(model, "h", 0, "[...]");
    return model;
}

static void test_run_of_fixed_shapes(void **state)
{
    (void)state;
    struct baryon_model *model = halve_model("2,3");
    const struct by_array x = sample("x");
    struct by_trace_result result = trace_ok(model, &x, 1);
    assert_int_equal(result.asked, 2);
    assert_int_equal(result.ran, 2);
    assert_int_equal(result.left, 0);
    assert_value(model, "h", BY_ELEM_FLOAT, "[2,3]");
    assert_value(model, "y", BY_ELEM_FLOAT, "[2,3]");
    by_model_free(model);
}

static void test_run_of_open_shapes(void **state)
{
    (void)state;
    struct baryon_model *model = halve_model("N,3");
    struct by_trace_result result = trace_ok(model, NULL, 0);
    assert_int_equal(result.left, 2);
    assert_value(model, "h", BY_ELEM_FLOAT, "[...]");
    const struct by_array x = sample("x");
    result = trace_ok(model, &x, 1);
    assert_int_equal(result.ran, 2);
    assert_int_equal(result.left, 2); /* the sizes may be others the next time */
    assert_value(model, "h", BY_ELEM_FLOAT, "[?,?]");
    assert_value(model, "y", BY_ELEM_FLOAT, "[?,?]");
    by_model_free(model);
}

/* What is known stays; only the unknown dimension is filled. */
static void test_known_dimensions_stay(void **state)
{
    (void)state;
    struct baryon_model *model = halve_model("2,3");
    struct by_shape *shape = by_shape_new(&model->arena, 2, &err);
    shape->dims[0].symbol = name_of(model, "mine");
    value_of(model->graph, "h")->shape = shape;
    const struct by_array x = sample("x");
    trace_ok(model, &x, 1);
    assert_value(model, "h", BY_ELEM_FLOAT, "[mine,3]");
    by_model_free(model);
}

/* Sizes that come from data are not recorded, nor those after them. */
static void test_sizes_from_data(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    takes(model, "shape", BY_ELEM_INT64, "1");
    for (const char *const *name = (const char *const[]){"p", "q", "s", "f", NULL}; *name; name++)
        gives(model, *name, BY_ELEM_FLOAT, NULL);
    put_weight(model, "six", BY_ELEM_INT64, (const int64_t[]){1}, 1, (const int64_t[]){6}, 8);
    put_node(model->graph, "a", "NonZero", "x", "nz");
    put_node(model->graph, "b", "Cast", "nz", "p");
    put_node(model->graph, "c", "Reshape", "x,shape", "q");
    put_halve(model, "x", "h");
    put_node(model->graph, "d", "Shape", "h", "hs");
    put_node(model->graph, "e", "Reshape", "x,hs", "s");
    put_node(model->graph, "g", "Reshape", "h,six", "f");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node_at(model->graph, 1), "to", BY_ELEM_FLOAT, &err));
    ready(model);
    for (const char *const *name = (const char *const[]){"nz", "p", "q", NULL}; *name; name++)
        forget(model, *name);
    const int64_t six[] = {6};
    const struct by_array feed[] = {
        sample("x"), array_of("shape", BY_ELEM_INT64, 1, (const int64_t[]){1}, six, sizeof six)};
    trace_ok(model, feed, 2);
    assert_value(model, "nz", BY_ELEM_INT64, "[2,?]");
    assert_value(model, "p", BY_ELEM_FLOAT, "[2,?]");
    assert_value(model, "q", BY_ELEM_FLOAT, "[?]");
    assert_value(model, "h", BY_ELEM_FLOAT, "[2,3]");
    assert_value(model, "s", BY_ELEM_FLOAT, "[2,3]"); /* by the shape of a fixed one */
    assert_value(model, "f", BY_ELEM_FLOAT, "[6]");
    by_model_free(model);
}

/* What comes out of a branch that reads computed values from around it may vary. */
static void test_nested_readers(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "open", BY_ELEM_FLOAT, "N,3");
    takes(model, "fixed", BY_ELEM_FLOAT, "2,3");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    put_weight(model, "yes", BY_ELEM_BOOL, NULL, 0, (const bool[]){true}, 1);
    put_halve(model, "fixed", "h");
    const char *const read[] = {"open", "h"}, *const out[] = {"y", "z"};
    for (size_t i = 0; i < 2; i++) {
        struct baryon_node *node = put_node(model->graph, out[i], "If", "yes", out[i]);
        for (size_t k = 0; k < 2; k++) {
            struct baryon_graph *branch =
                put_nested(model, node, k ? "else_branch" : "then_branch");
            put_node(branch, "n", k ? "Neg" : "Abs", read[i], k ? "b" : "a");
            put_port(model, &branch->output, k ? "b" : "a", BY_ELEM_FLOAT, NULL);
        }
    }
    ready(model);
    forget(model, "y");
    forget(model, "z");
    const struct by_array feed[] = {sample("open"), sample("fixed")};
    trace_ok(model, feed, 2);
    assert_value(model, "h", BY_ELEM_FLOAT, "[2,3]");
    assert_value(model, "y", BY_ELEM_FLOAT, "[N,3]");
    assert_value(model, "z", BY_ELEM_FLOAT, "[?,?]");
    by_model_free(model);
}

static void test_scalars(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_halve(model, "x", "y");
    ready(model);
    const float one[] = {1};
    const struct by_array x = FLOATS("x", 0, NULL, one);
    trace_ok(model, &x, 1);
    assert_value(model, "y", BY_ELEM_FLOAT, "[]");
    by_model_free(model);
}

static void test_sequences_are_left(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    gives(model, "n", BY_ELEM_INT64, "");
    put_node(model->graph, "a", "SequenceConstruct", "x,x", "list");
    put_node(model->graph, "b", "SequenceLength", "list", "n");
    ready(model);
    forget(model, "n");
    const struct by_array x = sample("x");
    struct by_trace_result result = trace_ok(model, &x, 1);
    assert_int_equal(result.asked, 2);
    assert_int_equal(result.left, 1);
    assert_value(model, "list", 0, "[...]");
    assert_value(model, "n", BY_ELEM_INT64, "[]");
    by_model_free(model);
}

/* More values than are had in one run; and the model is what it was. */
static void test_many_values(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    char in[16] = "x", out[16];
    takes(model, "x", BY_ELEM_FLOAT, "2,3");
    for (int i = 0; i < 150; i++) {
        snprintf(out, sizeof out, "h%d", i);
        put_halve(model, in, out);
        strcpy(in, out);
    }
    gives(model, in, BY_ELEM_FLOAT, NULL);
    ready(model);
    struct by_str before, after;
    by_str_init(&before);
    by_str_init(&after);
    assert_ok(by_model_save_bytes(model, &before, &err));
    const struct by_array x = sample("x");
    struct by_trace_result result = trace_ok(model, &x, 1);
    assert_int_equal(result.asked, 150);
    assert_int_equal(result.ran, 150);
    assert_int_equal(result.left, 0);
    assert_value(model, "h0", BY_ELEM_FLOAT, "[2,3]");
    assert_value(model, "h77", BY_ELEM_FLOAT, "[2,3]");
    assert_value(model, "h149", BY_ELEM_FLOAT, "[2,3]");
    assert_int_equal(model->graph->output.count, 1);
    assert_ok(by_model_save_bytes(model, &after, &err));
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.text, after.text, after.size);
    by_str_release(&before);
    by_str_release(&after);
    by_model_free(model);
}

static void test_failures(void **state)
{
    (void)state;
    struct baryon_model *model = halve_model("2,3");
    const struct by_session_options without = {0}, with = with_ops();
    const struct by_array none[1] = {{0}};
    assert_int_equal(by_model_trace(model, NULL, 0, &without, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    assert_int_equal(model->graph->output.count, 1);
    assert_err(by_model_trace(model, none, 0, &with, NULL, &err), BARYON_ERR_INPUT,
               "model input 'x' is missing; its inputs are 'x'");
    assert_int_equal(model->graph->output.count, 1);
    assert_sound(model);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_ask),
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_run_of_fixed_shapes),
        cmocka_unit_test(test_run_of_open_shapes),
        cmocka_unit_test(test_known_dimensions_stay),
        cmocka_unit_test(test_sizes_from_data),
        cmocka_unit_test(test_nested_readers),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_sequences_are_left),
        cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, find_ops, NULL);
}
