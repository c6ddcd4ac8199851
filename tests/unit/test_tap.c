/* Tests that taps see the right tensors of models of all kinds. */
#include "tap_watch.h"

#include <pthread.h>
#include <stdatomic.h>

static struct watch watch;

static const struct by_session_options plain = {.optimization = 0, .threads = 2};

static int clear_watch(void **state)
{
    (void)state;
    forget_seen(&watch);
    watch.fail_at = NULL;
    return 0;
}

/* x -> p = -x -> q = p * p -> y = |q|, and z = p + q. */
static struct baryon_model *line_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    gives(model, "z", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "a", "Neg", "x", "p");
    put_node(model->graph, "b", "Mul", "p,p", "q");
    put_node(model->graph, "c", "Abs", "q", "y");
    put_node(model->graph, "d", "Add", "p,q", "z");
    return model;
}

static struct by_array x_array(void)
{
    return FLOATS("x", 2, two_by_two, one_to_four);
}

static void run_taps(struct by_tapped *tapped, uint64_t sample)
{
    const struct by_array x = x_array();
    assert_ok(by_tapped_run(tapped, &x, 1, sample, &err));
}

/* --- what is seen --- */

static void test_values(void **state)
{
    (void)state;
    struct baryon_model *model = line_model();
    struct by_tapped *tapped = open_taps(model, &watch, "q p", &plain);
    by_model_free(model);
    run_taps(tapped, 7);
    assert_string_equal(seen_names(&watch), "p q");
    assert_floats(seen_of(&watch, "p"), (const float[]){-1, -2, -3, -4}, 4);
    assert_floats(seen_of(&watch, "q"), (const float[]){1, 4, 9, 16}, 4);
    assert_int_equal(seen_of(&watch, "q")->rank, 2);
    assert_int_equal(watch.at[0].sample, 7);
    run_taps(tapped, UINT64_MAX);
    assert_string_equal(seen_names(&watch), "p q p q");
    assert_true(watch.at[3].sample == UINT64_MAX);
    by_tapped_close(tapped);
}

static void test_inputs_outputs_and_several(void **state)
{
    (void)state;
    struct baryon_model *model = line_model();
    struct by_tapped *tapped = open_taps(model, &watch, "x y z p,q q,p,q p p", &plain);
    run_taps(tapped, 1);
    assert_int_equal(watch.count, 3 + 2 + 3 + 2);
    assert_string_equal(watch.at[0].name, "p");
    assert_string_equal(watch.at[1].name, "p");
    assert_floats(seen_of(&watch, "x"), one_to_four, 4);
    assert_floats(seen_of(&watch, "y"), (const float[]){1, 4, 9, 16}, 4);
    assert_floats(seen_of(&watch, "z"), (const float[]){0, 2, 6, 12}, 4);
    for (size_t i = 0; i < watch.count; i++)
        if (watch.at[i].tap == 4)
            assert_floats(&watch.at[i].array,
                          watch.at[i].name[0] == 'p' ? (const float[]){-1, -2, -3, -4}
                                                     : (const float[]){1, 4, 9, 16},
                          4);
    by_tapped_close(tapped);
    by_model_free(model);
}

/* The tap hands on; what is only read stays where it was. */
static void test_several_on_their_edges(void **state)
{
    (void)state;
    static const char *const names[] = {"p", "q", "x"}, *const behind[] = {"s"};
    struct watcher first = {&watch, 0}, second = {&watch, 1};
    for (size_t hands = 0; hands <= 2; hands++)
        for (int optimization = -1; optimization < 2; optimization++) {
            struct baryon_model *model = new_model();
            takes(model, "x", BY_ELEM_FLOAT, "N,2");
            gives(model, "y", BY_ELEM_FLOAT, NULL);
            put_node(model->graph, "a", "Neg", "x", "p");
            put_node(model->graph, "b", "Exp", "p", "r");
            put_node(model->graph, "c", "Abs", "x", "q");
            put_node(model->graph, "d", "Sub", "q,p", "s");
            put_node(model->graph, "e", "Add", "r,s", "y");
            const struct by_tap taps[] = {
                {.values = names,
                 .value_count = 3,
                 .hands = hands,
                 .look = watch_tap,
                 .context = &first},
                {.values = behind, .value_count = 1, .look = watch_tap, .context = &second},
            };
            const struct by_session_options options = {.optimization = optimization, .threads = 1};
            struct by_tapped *tapped;
            forget_seen(&watch);
            assert_ok(by_tapped_open(&tapped, model, taps, 2, &options, &err));
            run_taps(tapped, 0);
            if (hands) /* beside, it may come at any time */
                assert_string_equal(seen_names(&watch), "p q x s");
            assert_floats(seen_of(&watch, "p"), (const float[]){-1, -2, -3, -4}, 4);
            assert_floats(seen_of(&watch, "q"), one_to_four, 4);
            assert_floats(seen_of(&watch, "x"), one_to_four, 4);
            assert_floats(seen_of(&watch, "s"), (const float[]){2, 4, 6, 8}, 4);
            by_tapped_close(tapped);
            by_model_free(model);
        }
}

/* Nor where no size is known: the second tap reads what the first one passed on. */
static void test_nothing_is_copied(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    takes(model, "shape", BY_ELEM_INT64, "M");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "a", "Reshape", "x,shape", "p");
    put_node(model->graph, "b", "Neg", "p", "q");
    put_node(model->graph, "c", "Abs", "q", "y");
    struct by_tapped *tapped = open_taps(model, &watch, "q q", &plain);
    const int64_t flat = 4;
    const struct by_array inputs[] = {
        x_array(), array_of("shape", BY_ELEM_INT64, 1, (const int64_t[]){1}, &flat, sizeof flat)};
    assert_ok(by_tapped_run(tapped, inputs, 2, 0, &err));
    assert_string_equal(seen_names(&watch), "q q");
    assert_int_equal(watch.at[1].tap, 1 - watch.at[0].tap);
    assert_ptr_equal(watch.at[0].at, watch.at[1].at);
    by_tapped_close(tapped);
    by_model_free(model);
}

static void test_no_taps(void **state)
{
    (void)state;
    struct baryon_model *model = line_model();
    struct by_tapped *tapped;
    assert_ok(by_tapped_open(&tapped, model, NULL, 0, NULL, &err));
    run_taps(tapped, 0);
    by_tapped_close(tapped);
    by_tapped_close(NULL);
    by_model_free(model);
}

static void test_ports_are_the_models(void **state)
{
    (void)state;
    struct baryon_model *model = line_model();
    struct by_tapped *tapped = open_taps(model, &watch, "x y p", NULL);
    size_t count;
    const struct by_port *ports = by_session_inputs(by_tapped_session(tapped), &count);
    assert_int_equal(count, 1);
    assert_string_equal(ports[0].name, "x");
    ports = by_session_outputs(by_tapped_session(tapped), &count);
    assert_int_equal(count, 2);
    assert_string_equal(ports[0].name, "y");
    assert_string_equal(ports[1].name, "z");
    by_tapped_close(tapped);
    by_model_free(model);
}

static void test_the_model_is_as_it_was(void **state)
{
    (void)state;
    struct by_str before, after;
    struct baryon_model *model = line_model();
    assert_ok(by_model_link(model, &err));
    save_text(model, &before);
    struct by_tapped *tapped = open_taps(model, &watch, "x y p,q q p p", &plain);
    assert_sound(model);
    save_text(model, &after);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.text, after.text, after.size);
    by_tapped_close(tapped);
    by_str_release(&before);
    by_str_release(&after);
    by_model_free(model);
}

static void test_the_model_is_as_it_was_after_failures(void **state)
{
    (void)state;
    struct by_str before, after;
    struct baryon_model *model = line_model();
    put_node(model->graph, "e", "NoSuchOperator", "q", "lost");
    assert_ok(by_model_link(model, &err));
    save_text(model, &before);
    const struct taps *taps = taps_of(&watch, "p q x,q y p");
    struct by_tapped *tapped;
    for (int i = 0; i < 2; i++)
        assert_int_equal(by_tapped_open(&tapped, model, taps->at, taps->count, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    assert_sound(model);
    save_text(model, &after);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.text, after.text, after.size);
    by_str_release(&before);
    by_str_release(&after);
    by_model_free(model);
}

/* The names that taps get are nobody's. */
static void test_names_of_taps_are_taken(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    gives(model, "baryon.taps_1", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "baryon.taps_3", "Neg", "x", "baryon.taps_0");
    put_node(model->graph, "b", "Neg", "baryon.taps_0", "baryon.taps_1");
    struct by_tapped *tapped =
        open_taps(model, &watch, "baryon.taps_0 baryon.taps_1 baryon.taps_0", &plain);
    run_taps(tapped, 0);
    assert_string_equal(seen_names(&watch), "baryon.taps_0 baryon.taps_0 baryon.taps_1");
    assert_floats(&watch.at[2].array, one_to_four, 4);
    by_tapped_close(tapped);
    by_model_free(model);
}

/* --- models of all kinds --- */

static void run_on(struct baryon_model *model, const char *taps, int optimization,
                   const struct by_array *inputs, size_t count)
{
    const char *ops = beside("../stub/ops.so");
    const struct by_session_options options = {
        .optimization = optimization, .threads = 2, .op_libraries = &ops, .op_library_count = 1};
    forget_seen(&watch);
    struct by_tapped *tapped = open_taps(model, &watch, taps, &options);
    for (uint64_t i = 0; i < 2; i++)
        assert_ok(by_tapped_run(tapped, inputs, count, i, &err));
    by_tapped_close(tapped);
}

/* Shapes that are not known, or not by a name, are not taken for others. */
static void test_unknown_shapes(void **state)
{
    (void)state;
    static const char *const shapes[] = {NULL, "?,?", "N,?", "?,2", "2,2"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int optimization = -1; optimization <= 2; optimization++) {
            struct baryon_model *model = new_model();
            takes(model, "x", BY_ELEM_FLOAT, shapes[i]);
            gives(model, "y", BY_ELEM_FLOAT, shapes[i]);
            put_node(model->graph, "a", "Neg", "x", "p");
            put_node(model->graph, "b", "Abs", "p", "q");
            put_node(model->graph, "c", "Neg", "q", "y");
            const struct by_array x = x_array();
            run_on(model, "p q", optimization, &x, 1);
            assert_string_equal(seen_names(&watch), "p q p q");
            assert_floats(seen_of(&watch, "q"), one_to_four, 4);
            by_model_free(model);
        }
}

static void test_scalars_and_nothing(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, NULL);
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "a", "Neg", "x", "p");
    put_node(model->graph, "b", "Neg", "p", "y");
    struct by_tapped *tapped = open_taps(model, &watch, "p", &plain);
    const float one[] = {3};
    const struct by_array scalar = FLOATS("x", 0, NULL, one);
    const int64_t none[] = {2, 0};
    const struct by_array empty = array_of("x", BY_ELEM_FLOAT, 2, none, NULL, 0);
    const struct by_array matrix = x_array();
    assert_ok(by_tapped_run(tapped, &scalar, 1, 0, &err));
    assert_ok(by_tapped_run(tapped, &empty, 1, 1, &err));
    assert_ok(by_tapped_run(tapped, &matrix, 1, 2, &err));
    assert_int_equal(watch.count, 3);
    assert_int_equal(watch.at[0].array.rank, 0);
    assert_floats(&watch.at[0].array, (const float[]){-3}, 1);
    assert_int_equal(watch.at[1].array.size, 0);
    assert_int_equal(watch.at[1].array.dims[1], 0);
    assert_floats(&watch.at[2].array, (const float[]){-1, -2, -3, -4}, 4);
    by_tapped_close(tapped);
    by_model_free(model);
}

/* r = c ? p * p : -|p| in branches that read p from around them; y = r + p. */
static struct baryon_model *if_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    takes(model, "c", BY_ELEM_BOOL, "");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "a", "Neg", "x", "p");
    struct baryon_node *node = put_node(model->graph, "if", "If", "c", "r");
    struct baryon_graph *branch = put_nested(model, node, "then_branch");
    put_output(branch, "t");
    put_node(branch, "t1", "Mul", "p,p", "t");
    branch = put_nested(model, node, "else_branch");
    put_output(branch, "e");
    put_node(branch, "e1", "Abs", "p", "e0");
    put_node(branch, "e2", "Neg", "e0", "e");
    put_node(model->graph, "z", "Add", "r,p", "y");
    return model;
}

static void test_nested_readers(void **state)
{
    (void)state;
    for (int yes = 0; yes < 2; yes++)
        for (int optimization = -1; optimization < 1; optimization++) {
            struct baryon_model *model = if_model();
            const bool c[] = {yes};
            const struct by_array feed[] = {x_array(),
                                            array_of("c", BY_ELEM_BOOL, 0, NULL, c, sizeof c)};
            run_on(model, "p r y", optimization, feed, 2);
            assert_string_equal(seen_names(&watch), "p r y p r y");
            assert_floats(seen_of(&watch, "p"), (const float[]){-1, -2, -3, -4}, 4);
            assert_floats(seen_of(&watch, "r"),
                          yes ? (const float[]){1, 4, 9, 16} : (const float[]){-1, -2, -3, -4}, 4);
            by_model_free(model);
        }
}

/* What is computed from weights alone is not written over by those who read it. */
static void test_weights_stay(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_weight(model, "w", BY_ELEM_FLOAT, two_by_two, 2, one_to_four, sizeof one_to_four);
    put_node(model->graph, "i", "Identity", "w", "v");
    put_node(model->graph, "a", "Neg", "v", "p");
    put_node(model->graph, "b", "Add", "p,x", "y");
    const struct by_array x = x_array();
    for (int optimization = -1; optimization < 1; optimization++) {
        run_on(model, "v p", optimization, &x, 1);
        assert_int_equal(watch.count, 4);
        for (size_t i = 0; i < 4; i++)
            assert_floats(
                &watch.at[i].array,
                watch.at[i].name[0] == 'v' ? one_to_four : (const float[]){-1, -2, -3, -4}, 4);
    }
    by_model_free(model);
}

static void test_other_operators_beside(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "h", "Halve", "x", "h")->domain = name_of(model, "test.baryon");
    put_node(model->graph, "n", "Neg", "h", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "test.baryon", 1, &err));
    const struct by_array x = x_array();
    run_on(model, "h", -1, &x, 1);
    assert_floats(seen_of(&watch, "h"), (const float[]){0.5f, 1, 1.5f, 2}, 4);
    by_model_free(model);
}

/* Both sides of a quantization, packed elements among them. */
static void test_quantized(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    const float half[] = {0.5f};
    put_weight(model, "s", BY_ELEM_FLOAT, NULL, 0, half, sizeof half);
    put_weight(model, "z", BY_ELEM_INT4, NULL, 0, "", 1);
    put_node(model->graph, "q", "QuantizeLinear", "x,s,z", "q");
    put_node(model->graph, "d", "DequantizeLinear", "q,s,z", "d");
    put_node(model->graph, "n", "Relu", "d", "y");
    const struct by_array x = x_array();
    run_on(model, "q d x,q d,q", -1, &x, 1);
    const struct by_array *q = seen_of(&watch, "q");
    assert_int_equal(watch.count, 12);
    assert_int_equal(q->elem, BY_ELEM_INT4);
    assert_int_equal(q->size, 2);
    assert_memory_equal(q->data, "\x42\x76", 2);
    assert_floats(seen_of(&watch, "d"), (const float[]){1, 2, 3, 3.5f}, 4);
    by_model_free(model);
}

static void put_text(struct baryon_model *model, const char *name, const char *text)
{
    static int64_t one = 1;
    struct by_span *span = BY_ARENA_NEW(&model->arena, struct by_span, &err);
    struct baryon_tensor *tensor = BY_ARENA_NEW(&model->arena, struct baryon_tensor, &err);
    assert_true(span && tensor);
    *span = (struct by_span){(const uint8_t *)text, strlen(text)};
    tensor->name = name_of(model, name);
    tensor->data_type = BY_ELEM_STRING;
    tensor->dims.at = &one;
    tensor->dims.count = 1;
    tensor->string_data.at = span;
    tensor->string_data.count = 1;
    push(model, &model->graph->initializer, tensor);
}

static void test_strings(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_STRING, "3");
    put_text(model, "t", "a constant");
    put_node(model->graph, "d", "Identity", "t", "u");
    gives(model, "u", BY_ELEM_STRING, NULL);
    gives(model, "y", BY_ELEM_STRING, NULL);
    gives(model, "z", BY_ELEM_STRING, NULL);
    put_node(model->graph, "a", "Identity", "x", "p");
    put_node(model->graph, "b", "Identity", "p", "y");
    put_node(model->graph, "c", "Identity", "p", "z");
    static const char *const texts[] = {"a", "", "a text of more than sixteen bytes"};
    const struct by_array x =
        array_of("x", BY_ELEM_STRING, 1, (const int64_t[]){3}, texts, sizeof texts);
    for (int optimization = -1; optimization < 1; optimization++) {
        run_on(model, "p", optimization, &x, 1);
        assert_int_equal(watch.count, 2);
        assert_int_equal(watch.at[0].array.size, sizeof texts);
    }
    by_model_free(model);
}

/* --- what is refused --- */

static int try_open(struct baryon_model *model, const char *text,
                    const struct by_session_options *options)
{
    const struct taps *taps = taps_of(&watch, text);
    struct by_tapped *tapped = NULL;
    int failed = by_tapped_open(&tapped, model, taps->at, taps->count, options, &err);
    assert_true((failed != 0) == !tapped);
    by_tapped_close(tapped);
    return failed;
}

static void test_refused_values(void **state)
{
    (void)state;
    struct baryon_model *model = add_model();
    assert_err(try_open(model, "x no", NULL), BARYON_ERR_USAGE, "the model has no tensor 'no'");
    assert_err(try_open(model, "w", NULL), BARYON_ERR_USAGE,
               "value 'w' is a constant, must depend on samples");
    struct by_tapped *tapped;
    const struct by_tap empty = {.look = watch_tap};
    assert_err(by_tapped_open(&tapped, model, &empty, 1, NULL, &err), BARYON_ERR_USAGE,
               "tap 0 has no tensor name");
    assert_null(tapped);
    const char *const two[] = {"x", "y"};
    const struct by_tap more = {.values = two, .value_count = 2, .hands = 3, .look = watch_tap};
    assert_err(by_tapped_open(&tapped, model, &more, 1, NULL, &err), BARYON_ERR_USAGE,
               "tap 0 returns 3 of 2 tensors, must be at most as many");
    const struct by_session_options branches = {.branches = 2};
    assert_err(try_open(model, "x", &branches), BARYON_ERR_USAGE,
               "2 branches, must be 1 for a session with taps");
    by_model_free(model);
}

static void test_refused_domain(void **state)
{
    (void)state;
    struct baryon_model *model = add_model();
    node_at(model->graph, 0)->domain = name_of(model, "baryon.taps");
    assert_err(try_open(model, "x", NULL), BARYON_ERR_UNSUPPORTED,
               "the model has nodes of the domain 'baryon.taps', which is reserved");
    node_at(model->graph, 0)->domain = NULL;
    assert_ok(by_model_set_opset(model, "baryon.taps", 1, &err));
    assert_err(try_open(model, "x", NULL), BARYON_ERR_UNSUPPORTED,
               "the model imports the domain 'baryon.taps', which is reserved");
    by_model_free(model);
}

/* --- errors --- */

static void test_errors_come_out(void **state)
{
    (void)state;
    struct baryon_model *model = line_model();
    static const char *const values[] = {"x", "p", "q", "y"};
    const struct by_array x = x_array();
    struct by_tapped *tapped = open_taps(model, &watch, "x p q y", &plain);
    for (size_t i = 0; i < 4; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "no room for what '%s' is", values[i]);
        watch.fail_at = values[i];
        assert_err(by_tapped_run(tapped, &x, 1, 0, &err), BARYON_ERR_IO, wanted);
        assert_int_equal(by_tapped_run(tapped, &x, 1, 0, NULL), -1);
    }
    watch.fail_at = NULL;
    forget_seen(&watch);
    run_taps(tapped, 0);
    assert_int_equal(watch.count, 4);
    assert_err(by_tapped_run(tapped, NULL, 0, 0, &err), BARYON_ERR_INPUT,
               "model input 'x' is missing; its inputs are 'x'");
    by_tapped_close(tapped);
    by_model_free(model);
}

static int cancel_inside(void *context, const struct by_tap_look *look, struct baryon_error *e)
{
    struct by_tapped *const *tapped = context;
    (void)look, (void)e;
    by_session_cancel(by_tapped_session(*tapped));
    return 0;
}

static void test_cancelled(void **state)
{
    (void)state;
    struct baryon_model *model = line_model();
    struct by_tapped *tapped = NULL;
    const struct by_array x = x_array();
    struct watcher watcher = {&watch, 0};
    const struct by_tap taps[] = {
        {(const char *const[]){"p"}, 1, 0, cancel_inside, &tapped, false},
        {(const char *const[]){"y"}, 1, 0, watch_tap, &watcher, false},
    };
    assert_ok(by_tapped_open(&tapped, model, taps, 2, &plain, &err));
    for (int i = 0; i < 2; i++)
        assert_err(by_tapped_run(tapped, &x, 1, 0, &err), BARYON_ERR_CANCELLED,
                   "the run was cancelled");
    assert_int_equal(watch.count, 0);
    by_session_resume(by_tapped_session(tapped));
    assert_err(by_tapped_run(tapped, &x, 1, 0, &err), BARYON_ERR_CANCELLED,
               "the run was cancelled");
    by_tapped_close(tapped);
    by_model_free(model);
}

/* --- threads --- */

#define ITEMS 100003

struct parallel {
    _Atomic uint64_t sum;
    _Atomic unsigned busy[8];
    _Atomic bool wrong;
    _Atomic size_t pieces;
    unsigned workers;
    const struct by_tap_look *look;
    size_t fail_from;
};

static int nested_piece(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *e)
{
    const unsigned *outer = context;
    (void)begin, (void)end;
    return worker == *outer ? 0 : by_fail(e, BARYON_ERR_INTERNAL, "another worker");
}

static int sum_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *e)
{
    struct parallel *parallel = context;
    if (worker >= parallel->workers || parallel->busy[worker]++)
        parallel->wrong = true;
    uint64_t sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += (uint64_t)((const float *)parallel->look->values[0].data)[i];
    parallel->sum += sum;
    parallel->pieces++;
    if (by_team_for(parallel->look->team, 3, 1, nested_piece, &worker, e))
        return -1;
    parallel->busy[worker]--;
    return begin >= parallel->fail_from ? by_fail(e, BARYON_ERR_INPUT, "from %zu", begin) : 0;
}

static int sum_tap(void *context, const struct by_tap_look *look, struct baryon_error *e)
{
    struct parallel *parallel = context;
    parallel->look = look;
    parallel->workers = look->team->workers;
    return by_team_for(look->team, ITEMS, 1000, sum_piece, parallel, e);
}

static void try_threads(unsigned threads)
{
    static float data[ITEMS];
    uint64_t sum = 0;
    for (size_t i = 0; i < ITEMS; i++)
        sum += (uint64_t)(data[i] = (float)(i % 1000));
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "a", "Relu", "x", "p");
    put_node(model->graph, "b", "Relu", "p", "y");
    struct parallel parallel = {.fail_from = SIZE_MAX};
    const struct by_tap tap = {(const char *const[]){"p"}, 1, 0, sum_tap, &parallel, false};
    const struct by_session_options options = {.optimization = -1, .threads = threads};
    const int64_t dims[] = {ITEMS};
    const struct by_array x = FLOATS("x", 1, dims, data);
    struct by_tapped *tapped;
    assert_ok(by_tapped_open(&tapped, model, &tap, 1, &options, &err));
    for (uint64_t i = 1; i <= 5; i++) {
        assert_ok(by_tapped_run(tapped, &x, 1, i, &err));
        assert_int_equal(parallel.workers, threads);
        assert_true(parallel.sum == i * sum);
        assert_int_equal(parallel.pieces, i * 101);
        assert_false(parallel.wrong);
    }
    parallel.fail_from = 37000;
    for (int i = 0; i < 5; i++) {
        memset(parallel.busy, 0, sizeof parallel.busy);
        assert_err(by_tapped_run(tapped, &x, 1, 0, &err), BARYON_ERR_INPUT, "from 37000");
    }
    by_tapped_close(tapped);
    by_model_free(model);
}

static void test_threads(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++)
        try_threads(threads);
}

/* --- lanes --- */

#define LANES   4
#define SAMPLES 60

struct lane_sum {
    struct by_tap_lane *lane;
    double sum;
    uint64_t looks, last;
    bool failed;
};

static int add_in_lane(void *context, const struct by_tap_look *look, struct baryon_error *e)
{
    struct lane_sum *into = look->lane;
    (void)context;
    into->sum += ((const float *)look->values[0].data)[0];
    into->looks++;
    into->last = look->sample;
    return look->sample == 7 ? by_fail(e, BARYON_ERR_INPUT, "not this one") : 0;
}

/* Lane k has samples k, k + LANES, ...; the value that is seen is minus the sample's number. */
static void *run_lane(void *argument)
{
    struct lane_sum *into = argument;
    for (uint64_t i = into->last; i < SAMPLES; i += LANES) {
        struct baryon_error error;
        const float values[] = {(float)i, 0, 0, 0};
        const struct by_array x = FLOATS("x", 2, two_by_two, values);
        const int status = by_tap_lane_run(into->lane, &x, 1, i, &error);
        into->failed |= (status != 0) != (i == 7) || into->last != i;
        into->failed |= i == 7 && strcmp(error.message, "not this one") != 0;
    }
    return NULL;
}

/* Also where lanes have to take turns. */
static void test_lanes(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct baryon_model *model = line_model();
        struct lane_sum sums[LANES] = {0};
        pthread_t at[LANES];
        double sum = 0;
        const struct by_tap tap = {(const char *const[]){"p"}, 1, 0, add_in_lane, NULL, false};
        const struct by_session_options options = {.optimization = -1, .threads = threads};
        struct by_tapped *tapped;
        assert_ok(by_tapped_open(&tapped, model, &tap, 1, &options, &err));
        for (size_t i = 0; i < LANES; i++) {
            sums[i].last = i;
            assert_ok(by_tap_lane_open(&sums[i].lane, tapped, &sums[i], &err));
            assert_int_equal(pthread_create(&at[i], NULL, run_lane, &sums[i]), 0);
        }
        for (size_t i = 0; i < LANES; i++) {
            assert_int_equal(pthread_join(at[i], NULL), 0);
            assert_false(sums[i].failed);
            assert_int_equal(sums[i].looks, SAMPLES / LANES);
            sum += sums[i].sum;
            by_tap_lane_close(sums[i].lane);
        }
        assert_true(sum == -SAMPLES * (SAMPLES - 1) / 2.0);
        by_tapped_close(tapped);
        by_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_values, clear_watch),
        cmocka_unit_test_teardown(test_inputs_outputs_and_several, clear_watch),
        cmocka_unit_test_teardown(test_several_on_their_edges, clear_watch),
        cmocka_unit_test_teardown(test_nothing_is_copied, clear_watch),
        cmocka_unit_test_teardown(test_no_taps, clear_watch),
        cmocka_unit_test_teardown(test_ports_are_the_models, clear_watch),
        cmocka_unit_test_teardown(test_the_model_is_as_it_was, clear_watch),
        cmocka_unit_test_teardown(test_the_model_is_as_it_was_after_failures, clear_watch),
        cmocka_unit_test_teardown(test_names_of_taps_are_taken, clear_watch),
        cmocka_unit_test_teardown(test_unknown_shapes, clear_watch),
        cmocka_unit_test_teardown(test_scalars_and_nothing, clear_watch),
        cmocka_unit_test_teardown(test_nested_readers, clear_watch),
        cmocka_unit_test_teardown(test_weights_stay, clear_watch),
        cmocka_unit_test_teardown(test_other_operators_beside, clear_watch),
        cmocka_unit_test_teardown(test_quantized, clear_watch),
        cmocka_unit_test_teardown(test_strings, clear_watch),
        cmocka_unit_test_teardown(test_refused_values, clear_watch),
        cmocka_unit_test_teardown(test_refused_domain, clear_watch),
        cmocka_unit_test_teardown(test_errors_come_out, clear_watch),
        cmocka_unit_test_teardown(test_cancelled, clear_watch),
        cmocka_unit_test_teardown(test_threads, clear_watch),
        cmocka_unit_test_teardown(test_lanes, clear_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
