/* Passes as a list, origins of nodes, and the edits that passes are made of. */
#include "engine_build.h"

#include "pass/edit.h"

static struct by_origins *origins;
static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/baryon-test-XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static struct by_pass_context context_of(struct baryon_model *model)
{
    static const struct by_session_options session = {.threads = 1};
    assert_ok(by_model_link(model, &err));
    assert_ok(by_origins_open(&origins, model, &err));
    return (struct by_pass_context){.model = model, .origins = origins, .session = &session};
}

static void end(struct baryon_model *model)
{
    assert_sound(model);
    by_origins_close(origins);
    by_model_free(model);
}

/* "a b" of the user's names, in the order they were found. */
static const char *origins_of(const struct baryon_node *node)
{
    static char text[1024];
    size_t users, count, used = 0;
    const struct by_user_node *user = by_origins_user(origins, &users);
    const size_t *of = by_origins_of(origins, node, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 user[of[i]].name);
    return text;
}

static void rows(void **state)
{
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct by_pass *pass = passes[i];
        assert_true(*pass->name && *pass->help && pass->run);
        assert_true(pass->help[strlen(pass->help) - 1] != '.');
        assert_ptr_equal(by_pass_find(pass->name), pass);
        if (pass->alias)
            assert_ptr_equal(by_pass_find(pass->alias), pass);
    }
    assert_null(by_pass_find("no-such-pass"));
    assert_non_null(by_pass_find("FoldBatchNorm"));
}

/* A node is put in, one taken out, one replaced, one widened. */
static void tracking(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    (void)state;
    takes(model, "x", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_node(graph, "one", "Relu", "x", "a");
    put_node(graph, "two", "Identity", "a", "b");
    put_node(graph, "three", "Neg", "b", "c");
    put_node(graph, "four", "Abs", "c", "y");
    context_of(model);
    assert_string_equal(origins_of(node_at(graph, 2)), "three");

    bool done;
    assert_ok(by_origins_before(origins, &err));
    assert_ok(by_pass_bypass(node_at(graph, 1), value_of(graph, "a"), &done, &err));
    assert_true(done);
    assert_ok(by_origins_after(origins, &err));
    assert_string_equal(order_of(graph), "one three four");
    assert_string_equal(origins_of(node_at(graph, 1)), "three two");
    assert_string_equal(origins_of(node_at(graph, 0)), "one");

    assert_ok(by_origins_before(origins, &err));
    struct baryon_value *a = value_of(graph, "a");
    struct baryon_node *made = by_pass_add_node(graph, "Sigmoid", "new", &a, 1, &err);
    assert_non_null(made);
    assert_ok(by_pass_replace(node_at(graph, 1), made, &err));
    assert_ok(by_origins_after(origins, &err));
    assert_string_equal(order_of(graph), "one new four");
    assert_string_equal(origins_of(made), "three two");
    assert_string_equal(made->outs[0]->name, "c");

    assert_ok(by_origins_before(origins, &err));
    struct baryon_node *put = by_graph_insert_on_edge(made, 0, "Tanh", NULL, NULL, 0, &err);
    assert_non_null(put);
    assert_ok(by_origins_after(origins, &err));
    assert_string_equal(origins_of(put), "three two");

    assert_ok(by_origins_before(origins, &err));
    assert_true(by_pass_can_take_over(made, node_at(graph, 3)));
    assert_ok(by_pass_take_over(made, node_at(graph, 3), &err));
    assert_ok(by_origins_after(origins, &err));
    assert_string_equal(made->outs[0]->name, "y");
    assert_string_equal(origins_of(made), "three two four");
    end(model);
}

/* What is excluded is not joined, and does not exclude others when it goes. */
static void exclusion(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    size_t count;
    (void)state;
    takes(model, "x", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_node(graph, "one", "Identity", "x", "a");
    put_node(graph, "two", "Relu", "a", "y");
    const struct by_pass_context context = context_of(model);
    struct by_user_node *users = by_origins_user(origins, &count);
    assert_int_equal(count, 2);
    assert_string_equal(users[1].output, "y");
    assert_string_equal(users[1].op_type, "Relu");
    assert_true(by_pass_may_join(&context, node_at(graph, 0), node_at(graph, 1)));
    users[0].excluded = true;
    users[0].why = "because";
    assert_false(by_pass_may_join(&context, node_at(graph, 0), node_at(graph, 1)));
    assert_string_equal(by_origins_excluded(origins, node_at(graph, 0)), "because");
    assert_null(by_origins_excluded(origins, node_at(graph, 1)));
    bool done;
    assert_ok(by_origins_before(origins, &err));
    assert_ok(by_pass_bypass(node_at(graph, 0), value_of(graph, "x"), &done, &err));
    assert_ok(by_origins_after(origins, &err));
    assert_null(by_origins_excluded(origins, node_at(graph, 0)));
    end(model);
}

/* A node that takes over the whole of a long chain has the nearest 256. */
static void limit(void **state)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    char names[3][16] = {"x", "", ""};
    bool on[128] = {false};
    size_t count;
    (void)state;
    takes(model, "x", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    for (int i = 0; i < 400; i++) {
        snprintf(names[1], sizeof names[1], "v%d", i);
        snprintf(names[2], sizeof names[2], "n%d", i);
        put_node(graph, names[2], "Identity", names[0], names[1]);
        memcpy(names[0], names[1], sizeof names[0]);
    }
    put_node(graph, "last", "Relu", names[0], "y");
    struct by_pass_context context = context_of(model);
    const struct by_pass *const *passes = by_passes(&count);
    for (size_t i = 0; i < count; i++)
        on[i] = strcmp(passes[i]->name, "remove-noops") == 0;
    assert_ok(by_passes_run(&context, on, "dumps", &err));
    assert_int_equal(graph->node.count, 1);
    by_origins_of(origins, node_at(graph, 0), &count);
    assert_int_equal(count, 256);
    assert_string_equal(by_origins_user(origins, &count)[0].name, "n0");
    assert_true(by_file_exists("dumps/01-remove-noops.onnx"));
    end(model);
}

static void constants(void **state)
{
    const float w[2] = {1.5f, -2}, halves[3] = {0.25f, 0.25f, 0.25f};
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    struct by_arena arena;
    float *floats;
    double *doubles, element = 0;
    int64_t *ints;
    size_t count;
    bool is;
    (void)state;
    takes(model, "x", BY_ELEM_FLOAT, "2");
    takes(model, "given", BY_ELEM_FLOAT, "3");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2}, 1, w, sizeof w);
    put_weight(model, "given", BY_ELEM_FLOAT, (const int64_t[]){3}, 1, halves, sizeof halves);
    put_weight(model, "h", BY_ELEM_FLOAT, (const int64_t[]){3}, 1, halves, sizeof halves);
    put_node(graph, "add", "Add", "x,w", "y");
    const struct by_pass_context context = context_of(model);
    by_arena_init(&arena, 0);
    assert_ok(by_pass_constant(&context, value_of(graph, "w"), &arena, &floats, &count, &err));
    assert_int_equal(count, 2);
    assert_true(floats[1] == -2);
    assert_ok(by_pass_constant(&context, value_of(graph, "x"), &arena, &floats, &count, &err));
    assert_null(floats);
    assert_null(by_pass_tensor(value_of(graph, "given")));
    assert_ok(by_pass_uniform(value_of(graph, "h"), &is, &element, &err));
    assert_true(is && element == 0.25);
    assert_ok(by_pass_uniform(value_of(graph, "w"), &is, &element, &err));
    assert_false(is);
    assert_ok(by_pass_ints(value_of(graph, "w"), 9, &arena, &ints, &count, &err));
    assert_null(ints);

    /* In place where nobody else reads it; a new one where dims differ. */
    const double values[3] = {1.0 / 3, 2, 3};
    assert_ok(by_pass_set_constant(node_at(graph, 0), 1, "k", BY_ELEM_FLOAT, (const int64_t[]){2},
                                   1, values, &err));
    assert_ok(by_pass_doubles(value_of(graph, "w"), &arena, &doubles, &count, &err));
    assert_true(doubles[0] == (double)(float)(1.0 / 3));
    assert_ok(by_pass_set_constant(node_at(graph, 0), 1, "k", BY_ELEM_FLOAT,
                                   (const int64_t[]){1, 3}, 2, values, &err));
    assert_string_equal(node_at(graph, 0)->input.at[1], "w_1");
    by_arena_release(&arena);
    end(model);
}

/* 1 + 2^-11 + 2^-30: half of the last place of float16, and a little more that single rounding
 * to float loses. */
static void rounded_once(void **state)
{
    const double value = 1 + 0x1p-11 + 0x1p-30;
    struct baryon_model *model = new_model();
    double back;
    (void)state;
    const struct baryon_tensor *tensor =
        by_pass_round(model, "t", BY_ELEM_FLOAT16, NULL, 0, &value, &err);
    assert_non_null(tensor);
    assert_ok(by_elem_to_doubles(BY_ELEM_FLOAT16, tensor->raw_data.data, 0, 1, &back, &err));
    assert_true(back == 1 + 0x1p-10);
    by_model_free(model);
}

/* Inputs of old models that are initializers as well. */
static void default_inputs(void **state)
{
    const float w[2] = {1, 2};
    struct baryon_model *model = new_model();
    (void)state;
    model->ir_version = 3;
    takes(model, "x", BY_ELEM_FLOAT, "2");
    takes(model, "w", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2}, 1, w, sizeof w);
    put_node(model->graph, "add", "Add", "x,w", "y");
    assert_ok(by_model_link(model, &err));
    struct baryon_value *value = value_of(model->graph, "w");
    assert_ok(by_graph_remove_default_input(value, &err));
    assert_ok(by_model_settle(model, &err));
    assert_sound(model);
    assert_int_equal(model->graph->input.count, 1);
    assert_int_equal(model->graph->value_info.count, 1);
    assert_int_equal(model->ir_version, 4);
    assert_non_null(value->info);
    assert_err(by_graph_remove_default_input(value, &err), BARYON_ERR_USAGE,
               "value 'w' is not an input with a default");
    by_model_free(model);
}

static int keep_known(void *context, struct baryon_value *value, const int64_t *items, size_t count,
                      struct baryon_error *error)
{
    char *text = context;
    (void)error;
    size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s:", value->name);
    for (size_t i = 0; i < count; i++) {
        used = strlen(text);
        snprintf(text + used, 256 - used, "%lld,", (long long)items[i]);
    }
    return 0;
}

static void known(void **state)
{
    const int64_t one = 1;
    char text[256] = "";
    struct baryon_model *model = new_model();
    (void)state;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,4");
    gives(model, "y", BY_ELEM_INT64, NULL);
    put_weight(model, "one", BY_ELEM_INT64, NULL, 0, &one, sizeof one);
    put_node(model->graph, "shape", "Shape", "x", "s");
    put_node(model->graph, "gather", "Gather", "s,one", "g");
    put_node(model->graph, "mul", "Mul", "g,g", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer_known(model, keep_known, text, &err));
    assert_string_equal(text, "g:3,y:9,");
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(tracking),
        cmocka_unit_test(exclusion),
        cmocka_unit_test_setup_teardown(limit, enter_folder, leave_folder),
        cmocka_unit_test(constants),
        cmocka_unit_test(rounded_once),
        cmocka_unit_test(default_inputs),
        cmocka_unit_test(known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
