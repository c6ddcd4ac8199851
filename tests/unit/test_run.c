/* What runs take and give. */
#include "engine_build.h"

/* --- what a run refuses --- */

static void test_refused_inputs(void **state)
{
    (void)state;
    struct by_session *session = open_model(add_model(), NULL);
    const int64_t wide[] = {2, 3}, narrow[] = {4, 1}, deep[] = {1, 2, 2}, negative[] = {-1, 2};
    const float six[6] = {0};
    const double doubles[4] = {0};
    struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    struct by_run *run;
    static const char missing[] = "model input 'x' is missing; its inputs are 'x'";
    assert_err(by_session_run(session, NULL, 0, NULL, 0, &run, &err), BARYON_ERR_INPUT, missing);
    assert_null(run);

    const struct {
        struct by_array array;
        enum baryon_code code;
        const char *message;
    } cases[] = {
        {FLOATS("X1", 2, two_by_two, one_to_four), BARYON_ERR_INPUT,
         "the model has no input 'X1'; its inputs are 'x'"},
        {array_of("x", BY_ELEM_DOUBLE, 2, two_by_two, doubles, sizeof doubles), BARYON_ERR_INPUT,
         "input 'x': the data is float64 [2,2], the model input is float32 [N,2]: the types "
         "differ"},
        {FLOATS("x", 2, wide, six), BARYON_ERR_INPUT,
         "input 'x': the data is float32 [2,3], the model input is float32 [N,2]"},
        {FLOATS("x", 2, narrow, one_to_four), BARYON_ERR_INPUT,
         "input 'x': the data is float32 [4,1], the model input is float32 [N,2]"},
        {array_of("x", BY_ELEM_FLOAT, 2, two_by_two, one_to_four, 12), BARYON_ERR_USAGE,
         "input 'x': 12 bytes are given, float32 [2,2] has 16"},
        {FLOATS("x", 3, deep, one_to_four), BARYON_ERR_INPUT,
         "input 'x': the data is float32 [1,2,2], the model input is float32 [N,2]: the ranks "
         "differ"},
        {FLOATS("x", 2, two_by_two, six), BARYON_ERR_USAGE,
         "input 'x': 24 bytes are given, float32 [2,2] has 16"},
        {array_of("x", BY_ELEM_FLOAT, 2, two_by_two, NULL, 16), BARYON_ERR_USAGE,
         "input 'x': no data is given"},
        {{.name = "x", .elem = BY_ELEM_FLOAT, .rank = 17},
         BARYON_ERR_USAGE,
         "input 'x': rank 17, must be at most 16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_err(by_session_run(session, &cases[i].array, 1, NULL, 0, &run, &err), cases[i].code,
                   cases[i].message);
    const struct by_array minus = FLOATS("x", 2, negative, one_to_four);
    assert_int_equal(by_session_run(session, &minus, 1, NULL, 0, &run, &err), -1);
    assert_non_null(strstr(err.message, "-1"));
    const struct by_array twice[] = {x, x};
    assert_err(by_session_run(session, twice, 2, NULL, 0, &run, &err), BARYON_ERR_USAGE,
               "input 'x' is given twice");
    by_session_close(session);
}

static void test_outputs_by_name(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    for (const char *const *name = (const char *const[]){"minus", "twice", NULL}; *name; name++)
        gives(model, *name, BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "a", "Neg", "x", "minus");
    put_node(model->graph, "b", "Add", "x,x", "twice");
    struct by_session *session = open_model(model, NULL);
    const struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    const char *const wanted[] = {"twice", "minus"};
    struct by_run *run;
    assert_ok(by_session_run(session, &x, 1, wanted, 2, &run, &err));
    assert_string_equal(output(run, 0)->name, "twice");
    assert_floats(output(run, 0), (const float[]){2, 4, 6, 8}, 4);
    assert_string_equal(output(run, 1)->name, "minus");
    assert_floats(output(run, 1), (const float[]){-1, -2, -3, -4}, 4);
    by_run_free(run);
    assert_err(by_session_run(session, &x, 1, (const char *const[]){"twise"}, 1, &run, &err),
               BARYON_ERR_USAGE, "the model has no output 'twise'; did you mean 'twice'?");
    assert_err(by_session_run(session, &x, 1, (const char *const[]){"q"}, 1, &run, &err),
               BARYON_ERR_USAGE, "the model has no output 'q'; its outputs are 'minus', 'twice'");
    by_session_close(session);
}

/* --- odd values --- */

static void test_empty_tensors(void **state)
{
    (void)state;
    struct by_session *session = open_model(add_model(), NULL);
    const struct by_array x = array_of("x", BY_ELEM_FLOAT, 2, (const int64_t[]){0, 2}, NULL, 0);
    struct by_run *run = run_ok(session, &x, 1);
    assert_int_equal(output(run, 0)->rank, 2);
    assert_int_equal(output(run, 0)->dims[0], 0);
    assert_int_equal(output(run, 0)->dims[1], 2);
    assert_int_equal(output(run, 0)->size, 0);
    by_run_free(run);
    by_session_close(session);
}

static void test_no_inputs(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2}, 1, one_to_four, 8);
    put_node(model->graph, "n", "Neg", "w", "y");
    struct by_session *session = open_model(model, NULL);
    struct by_run *run = run_ok(session, NULL, 0);
    assert_floats(output(run, 0), (const float[]){-1, -2}, 2);
    by_run_free(run);
    const struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    assert_err(by_session_run(session, &x, 1, NULL, 0, &run, &err), BARYON_ERR_INPUT,
               "the model has no input 'x'; it has no inputs");
    by_session_close(session);
}

static void test_unaligned_input(void **state)
{
    (void)state;
    char bytes[1 + sizeof one_to_four];
    memcpy(bytes + 1, one_to_four, sizeof one_to_four);
    struct by_session *session = open_model(add_model(), NULL);
    const struct by_array x =
        array_of("x", BY_ELEM_FLOAT, 2, two_by_two, bytes + 1, sizeof one_to_four);
    struct by_run *run = run_ok(session, &x, 1);
    assert_floats(output(run, 0), (const float[]){11, 22, 13, 24}, 4);
    by_run_free(run);
    by_session_close(session);
}

static void test_strings(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_STRING, "N");
    gives(model, "y", BY_ELEM_STRING, "N");
    put_node(model->graph, "n", "Identity", "x", "y");
    struct by_session *session = open_model(model, NULL);
    const char *const texts[] = {"one", "", "\303\274ber", "x\ty"};
    const struct by_array x =
        array_of("x", BY_ELEM_STRING, 1, (const int64_t[]){4}, texts, sizeof texts);
    struct by_run *run = run_ok(session, &x, 1);
    assert_int_equal(output(run, 0)->elem, BY_ELEM_STRING);
    assert_int_equal(output(run, 0)->size, sizeof texts);
    const char *const *back = output(run, 0)->data;
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(back[i], texts[i]);
    by_run_free(run);
    const char *const empty[] = {"", ""};
    const struct by_array blank =
        array_of("x", BY_ELEM_STRING, 1, (const int64_t[]){2}, empty, sizeof empty);
    run = run_ok(session, &blank, 1);
    assert_string_equal(((const char *const *)output(run, 0)->data)[1], "");
    by_run_free(run);
    const struct by_array none = array_of("x", BY_ELEM_STRING, 1, (const int64_t[]){0}, NULL, 0);
    run = run_ok(session, &none, 1);
    assert_int_equal(output(run, 0)->size, 0);
    by_run_free(run);
    by_session_close(session);
}

/* Bytes go in, through Identity, and come out; the type and its size are right. */
static void test_every_type(void **state)
{
    (void)state;
    static const int64_t types[] = {
        BY_ELEM_FLOAT,          BY_ELEM_UINT8,        BY_ELEM_INT8,           BY_ELEM_UINT16,
        BY_ELEM_INT16,          BY_ELEM_INT32,        BY_ELEM_INT64,          BY_ELEM_BOOL,
        BY_ELEM_FLOAT16,        BY_ELEM_DOUBLE,       BY_ELEM_UINT32,         BY_ELEM_UINT64,
        BY_ELEM_BFLOAT16,       BY_ELEM_FLOAT8E4M3FN, BY_ELEM_FLOAT8E4M3FNUZ, BY_ELEM_FLOAT8E5M2,
        BY_ELEM_FLOAT8E5M2FNUZ,
    };
    static const uint64_t bytes[3] = {0x0100010001000101, 0x0001010001000001, 0x0101000001000100};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct baryon_model *model = new_model();
        takes(model, "x", types[i], "3");
        gives(model, "y", types[i], "3");
        put_node(model->graph, "n", "Identity", "x", "y");
        struct by_session *session = open_model(model, NULL);
        size_t size;
        assert_ok(by_elem_bytes(types[i], 3, &size, &err));
        const struct by_array x = array_of("x", types[i], 1, (const int64_t[]){3}, bytes, size);
        struct by_run *run = run_ok(session, &x, 1);
        assert_int_equal(output(run, 0)->elem, types[i]);
        assert_int_equal(output(run, 0)->size, size);
        assert_memory_equal(output(run, 0)->data, bytes, size);
        by_run_free(run);
        by_session_close(session);
    }
}

/* Types that few operators take: float -> Cast -> the type -> Cast -> float. */
static void test_small_types(void **state)
{
    (void)state;
    static const struct small_row {
        int64_t elem, opset, ir;
        uint8_t bytes[3]; /* of 1, 0, 1 */
        size_t size;
    } rows[] = {
        {BY_ELEM_INT4, 21, 10, {0x01, 0x01}, 2},
        {BY_ELEM_UINT4, 21, 10, {0x01, 0x01}, 2},
        {BY_ELEM_INT2, 25, 13, {0x11}, 1},
        {BY_ELEM_UINT2, 25, 13, {0x11}, 1},
        {BY_ELEM_FLOAT8E8M0, 24, 11, {127, 0, 127}, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct baryon_model *model;
        assert_ok(by_model_new(&model, rows[i].ir, rows[i].opset, &err));
        model->graph->model = model;
        takes(model, "x", BY_ELEM_FLOAT, "3");
        takes(model, "z", rows[i].elem, "3");
        gives(model, "y", rows[i].elem, "3");
        gives(model, "back", BY_ELEM_FLOAT, "3");
        struct baryon_node *down = put_node(model->graph, "down", "Cast", "x", "y");
        struct baryon_node *up = put_node(model->graph, "up", "Cast", "z", "back");
        assert_ok(by_model_link(model, &err));
        assert_ok(by_node_set_int(down, "to", rows[i].elem, &err));
        assert_ok(by_node_set_int(up, "to", BY_ELEM_FLOAT, &err));
        struct by_session *session = open_model(model, NULL);
        const float values[] = {1, 0, 1};
        const struct by_array feed[] = {
            FLOATS("x", 1, (const int64_t[]){3}, values),
            array_of("z", rows[i].elem, 1, (const int64_t[]){3}, rows[i].bytes, rows[i].size)};
        struct by_run *run = run_ok(session, feed, 2);
        assert_int_equal(output(run, 0)->elem, rows[i].elem);
        assert_int_equal(output(run, 0)->size, rows[i].size);
        assert_memory_equal(output(run, 0)->data, rows[i].bytes, rows[i].size);
        const float *back = output(run, 1)->data;
        assert_true(back[0] == 1 && back[2] == 1 && back[1] < 1e-30f);
        by_run_free(run);
        by_session_close(session);
    }
}

static struct by_type *sequence_of_floats(struct baryon_model *model)
{
    struct by_type *type = BY_ARENA_NEW(&model->arena, struct by_type, &err);
    type->sequence = BY_ARENA_NEW(&model->arena, struct by_sequence_type, &err);
    type->sequence->elem_type = by_type_tensor(model, BY_ELEM_FLOAT, NULL, &err);
    return type;
}

static void put_sequence(struct baryon_model *model, struct by_ptrs *list, const char *name)
{
    put_port(model, list, name, BY_ELEM_FLOAT, NULL);
    ((struct by_value_info *)list->at[list->count - 1])->type = sequence_of_floats(model);
}

static void test_sequences(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    put_sequence(model, &model->graph->output, "list");
    gives(model, "y", BY_ELEM_FLOAT, "2,2");
    put_node(model->graph, "s", "SequenceConstruct", "x", "list");
    put_node(model->graph, "n", "Neg", "x", "y");
    struct by_session *session = open_model(model, NULL);
    size_t count;
    assert_string_equal(by_session_outputs(session, &count)[0].kind, "sequence");
    assert_int_equal(by_session_outputs(session, &count)[0].elem, 0);
    const struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    struct by_run *run;
    assert_err(by_session_run(session, &x, 1, NULL, 0, &run, &err), BARYON_ERR_UNSUPPORTED,
               "model output 'list' is a sequence, must be a tensor; select other outputs by name");
    assert_ok(by_session_run(session, &x, 1, (const char *const[]){"y"}, 1, &run, &err));
    assert_floats(output(run, 0), (const float[]){-1, -2, -3, -4}, 4);
    by_run_free(run);
    by_session_close(session);

    model = new_model();
    put_sequence(model, &model->graph->input, "list");
    gives(model, "n", BY_ELEM_INT64, "");
    put_node(model->graph, "s", "SequenceLength", "list", "n");
    session = open_model(model, NULL);
    assert_err(by_session_run(session, NULL, 0, NULL, 0, &run, &err), BARYON_ERR_UNSUPPORTED,
               "model input 'list' is a sequence, must be a tensor");
    const struct by_array list = FLOATS("list", 2, two_by_two, one_to_four);
    assert_err(by_session_run(session, &list, 1, NULL, 0, &run, &err), BARYON_ERR_UNSUPPORTED,
               "input 'list': the model input is a sequence, must be a tensor");
    by_session_close(session);
}

/* The kernel fails at run time; the message has no path of somebody's build. */
static void test_run_that_fails(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "?,?");
    takes(model, "shape", BY_ELEM_INT64, "?");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "reshape", "Reshape", "x,shape", "y");
    struct by_session *session = open_model(model, NULL);
    const int64_t five[] = {5}, one[] = {1};
    const struct by_array feed[] = {FLOATS("x", 2, two_by_two, one_to_four),
                                    array_of("shape", BY_ELEM_INT64, 1, one, five, sizeof five)};
    struct by_run *run;
    assert_int_equal(by_session_run(session, feed, 2, NULL, 0, &run, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_ENGINE);
    assert_non_null(strstr(err.message, "ONNX Runtime cannot run the model: "));
    assert_non_null(strstr(err.message, "requested shape:{5}"));
    assert_null(strstr(err.message, ".h:"));
    assert_null(strstr(err.message, "onnxruntime::"));
    by_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_inputs),  cmocka_unit_test(test_outputs_by_name),
        cmocka_unit_test(test_empty_tensors),   cmocka_unit_test(test_no_inputs),
        cmocka_unit_test(test_unaligned_input), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_every_type),      cmocka_unit_test(test_small_types),
        cmocka_unit_test(test_sequences),       cmocka_unit_test(test_run_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
