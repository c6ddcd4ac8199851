/* Conversions by a file of passes through the public interface. */
#include "api_expect.h"

enum { FLOAT = 1, FLOAT16 = 10 };

/* x [2] -> Mul w -> y */
static struct baryon_model *make_model(void)
{
    struct baryon_model *model;
    const float values[] = {0.5F, 3};
    const int64_t dims[] = {2};
    const char *const out = "y";
    ok(baryon_model_new(&model, 10, 18, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    struct baryon_value *x = baryon_graph_add_input(graph, "x", FLOAT, dims, NULL, 1, &err);
    struct baryon_tensor *weight =
        baryon_tensor_new(model, "w", FLOAT, dims, 1, values, sizeof values, &err);
    struct baryon_value *inputs[] = {x, baryon_graph_add_initializer(graph, weight, &err)};
    struct baryon_node *node =
        baryon_graph_add_node(graph, "Mul", NULL, "mul", inputs, 2, &out, 1, &err);
    assert_non_null(node);
    ok(baryon_value_make_output(baryon_node_output(node, 0), FLOAT, dims, NULL, 1, &err));
    return model;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void count_notices(void *context, const char *message)
{
    assert_true(*message);
    ++*(int *)context;
}

static void test_to_half(void **state)
{
    (void)state;
    struct baryon_model *model = make_model();
    put("p.yaml", "passes: {fp32_to_fp16: {keep_io: false}}\n");
    ok(baryon_convert(model, "p.yaml", NULL, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    assert_int_equal(baryon_value_type(baryon_graph_input(graph, 0)), FLOAT16);
    assert_int_equal(baryon_value_type(baryon_graph_output(graph, 0)), FLOAT16);
    struct baryon_node *mul = baryon_graph_find_node(graph, "mul");
    struct baryon_tensor *weight = baryon_value_tensor(baryon_node_input(mul, 1));
    const void *bytes;
    size_t size;
    assert_int_equal(baryon_tensor_type(weight), FLOAT16);
    ok(baryon_tensor_bytes(model, weight, &bytes, &size, &err));
    assert_int_equal(size, 4);
    assert_memory_equal(bytes, ((const unsigned short[]){0x3800, 0x4200}), 4);
    ok(baryon_model_check(model, NULL, NULL, NULL, &err));
    baryon_model_free(model);
}

static void test_steps_and_notices(void **state)
{
    (void)state;
    int notices = 0;
    struct baryon_model *model = make_model();
    const struct baryon_convert_options options = {
        .size = sizeof options, .log = count_notices, .log_context = &notices};
    put("p.json", "{\"input_model_path\": \"never-read.onnx\","
                  " \"passes\": {\"onnx_convert_opset_version\": {\"target_opset_version\": 19},"
                  " \"onnx_convert_fp16_to_fp32\": {},"
                  " \"onnx_fix_shapes\": {\"input_output_name_shapes\": {\"x\": [2]}}}}");
    ok(baryon_convert(model, "p.json", &options, &err));
    assert_int_equal(baryon_model_opset(model, NULL), 19);
    assert_int_equal(notices, 1); /* a pass that nothing switches on */
    baryon_model_free(model);
}

static void test_refused(void **state)
{
    (void)state;
    struct baryon_model *model = make_model();
    assert_error(baryon_convert(model, "none.yaml", NULL, &err), BARYON_ERR_INPUT,
                 "none.yaml: cannot be opened: No such file or directory");
    put("p.yaml", "passes:\n  fold_pda: {}\n");
    assert_error(baryon_convert(model, "p.yaml", NULL, &err), BARYON_ERR_INPUT,
                 "p.yaml: 2:3: unknown pass 'fold_pda'; did you mean 'fold-pad'?");
    const struct baryon_convert_options options = {.size = sizeof options,
                                                   .onnxruntime = "none.so"};
    put("p.yaml", "passes: {onnx_convert_fp16_to_fp32: {convert_fp16_to_fp32: 1}}\n");
    assert_int_equal(baryon_convert(model, "p.yaml", &options, NULL), -1);
    baryon_model_free(model);
}

static void test_places(void **state)
{
    (void)state;
    char in[16], out[16];
    put("p.yaml", "input_model_path: a.onnx\noutput_model_path: b.onnx\npasses: {fold_pad: {}}\n");
    ok(baryon_convert_places("p.yaml", in, out, sizeof in, &err));
    assert_string_equal(in, "a.onnx");
    assert_string_equal(out, "b.onnx");
    assert_error(baryon_convert_places("p.yaml", in, out, 6, &err), BARYON_ERR_USAGE,
                 "a path of 6 bytes, must be at most 6");
    put("p.yaml", "passes: {fold_pad: {}}\n");
    ok(baryon_convert_places("p.yaml", in, out, sizeof in, NULL));
    assert_string_equal(in, "");
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_to_half, api_enter, api_leave),
        cmocka_unit_test_setup_teardown(test_steps_and_notices, api_enter, api_leave),
        cmocka_unit_test_setup_teardown(test_refused, api_enter, api_leave),
        cmocka_unit_test_setup_teardown(test_places, api_enter, api_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
