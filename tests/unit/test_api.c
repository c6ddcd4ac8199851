/* The public interface, as a program uses it: nothing but <baryon.h>. */
#include "api_expect.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/baryon-api-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.onnx", "b.onnx", "b.onnx.data", "c.onnx", "own.data"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* x [N,3] -> MatMul(w [3,2]) -> Relu -> y [N,2] */
static struct baryon_model *small_model(void)
{
    struct baryon_model *model;
    ok(baryon_model_new(&model, 9, 17, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    const int type = baryon_type_by_name("float32");
    const int64_t in[] = {-1, 3}, weight[] = {3, 2}, out[] = {-1, 2};
    const char *const batch[] = {"N", NULL};
    const float data[6] = {1, 2, 3, 4, 5, 6};
    struct baryon_value *inputs[2];
    inputs[0] = baryon_graph_add_input(graph, "x", type, in, batch, 2, &err);
    struct baryon_tensor *tensor =
        baryon_tensor_new(model, "w", type, weight, 2, data, sizeof data, &err);
    assert_non_null(tensor);
    inputs[1] = baryon_graph_add_initializer(graph, tensor, &err);
    assert_non_null(inputs[0]);
    assert_non_null(inputs[1]);
    const char *name = "m";
    struct baryon_node *node =
        baryon_graph_add_node(graph, "MatMul", NULL, "dense", inputs, 2, &name, 1, &err);
    assert_non_null(node);
    inputs[0] = baryon_node_output(node, 0);
    name = "y";
    node = baryon_graph_add_node(graph, "Relu", NULL, "act", inputs, 1, &name, 1, &err);
    assert_non_null(node);
    ok(baryon_value_make_output(baryon_node_output(node, 0), type, out, batch, 2, &err));
    return model;
}

static void tells_version_and_types(void **state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", BARYON_VERSION_MAJOR, BARYON_VERSION_MINOR,
             BARYON_VERSION_PATCH);
    assert_string_equal(baryon_version(), version);
    assert_string_equal(baryon_type_name(1), "float32");
    assert_int_equal(baryon_type_by_name("INT4"), 22);
    assert_int_equal(baryon_type_by_name("float33"), -1);
}

static void walks_a_model(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = baryon_model_graph(model);
    assert_int_equal(baryon_model_ir_version(model), 9);
    assert_int_equal(baryon_model_opset(model, "ai.onnx"), 17);
    assert_int_equal(baryon_model_import_count(model), 1);
    assert_string_equal(baryon_model_import_domain(model, 0), "");
    assert_null(baryon_model_import_domain(model, 1));
    assert_memory_equal(baryon_model_producer(model).data, "baryon",
                        baryon_model_producer(model).size);
    assert_null(baryon_graph_owner(graph));
    assert_int_equal(baryon_graph_node_count(graph), 2);
    assert_null(baryon_graph_node(graph, 2));

    struct baryon_node *node = baryon_graph_find_node(graph, "dense");
    assert_ptr_equal(node, baryon_graph_node(graph, 0));
    assert_null(baryon_graph_find_node(graph, "sparse"));
    assert_string_equal(baryon_node_op_type(node), "MatMul");
    assert_string_equal(baryon_node_domain(node), "");
    assert_string_equal(baryon_node_name(node), "dense");
    assert_ptr_equal(baryon_node_graph(node), graph);
    assert_int_equal(baryon_node_place(node), 0);
    assert_int_equal(baryon_node_input_count(node), 2);
    assert_int_equal(baryon_node_output_count(node), 1);
    assert_null(baryon_node_input(node, 2));

    struct baryon_value *m = baryon_node_output(node, 0);
    size_t slot = 9;
    assert_string_equal(baryon_value_name(m), "m");
    assert_ptr_equal(baryon_value_producer(m, &slot), node);
    assert_int_equal(slot, 0);
    assert_int_equal(baryon_value_use_count(m), 1);
    assert_ptr_equal(baryon_value_use(m, 0, &slot), baryon_graph_node(graph, 1));
    assert_false(baryon_value_is_input(m) || baryon_value_is_output(m));
    assert_null(baryon_value_tensor(m));

    struct baryon_value *x = baryon_graph_input(graph, 0), *y = baryon_graph_output(graph, 0);
    assert_ptr_equal(x, baryon_graph_find_value(graph, "x"));
    assert_true(baryon_value_is_input(x));
    assert_null(baryon_value_producer(x, NULL));
    assert_true(baryon_value_is_output(y));
    assert_null(baryon_value_use(y, 0, NULL));
    assert_int_equal(baryon_graph_input_count(graph), 1);
    assert_int_equal(baryon_graph_output_count(graph), 1);
    assert_int_equal(baryon_graph_value_count(graph), 4);
    baryon_model_free(model);
}

static void tells_types_and_shapes(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = baryon_model_graph(model);
    const char *symbol;
    struct baryon_value *x = baryon_graph_find_value(graph, "x");
    struct baryon_value *m = baryon_graph_find_value(graph, "m");
    struct baryon_value *w = baryon_graph_find_value(graph, "w");
    assert_int_equal(baryon_value_type(x), 1);
    assert_int_equal(baryon_value_rank(x), 2);
    assert_int_equal(baryon_value_dim(x, 0, &symbol), -1);
    assert_string_equal(symbol, "N");
    assert_int_equal(baryon_value_dim(x, 1, &symbol), 3);
    assert_null(symbol);
    assert_int_equal(baryon_value_dim(x, 2, NULL), -1);
    assert_int_equal(baryon_value_rank(w), 2);
    assert_int_equal(baryon_value_dim(w, 0, NULL), 3);
    assert_int_equal(baryon_value_type(m), 0);
    assert_int_equal(baryon_value_rank(m), -1);
    ok(baryon_model_infer(model, &err));
    assert_int_equal(baryon_value_type(m), 1);
    assert_int_equal(baryon_value_rank(m), 2);
    assert_int_equal(baryon_value_dim(m, 1, NULL), 2);
    assert_int_equal(baryon_value_dim(m, 0, &symbol), -1);
    assert_string_equal(symbol, "N");
    baryon_model_free(model);
}

static void reads_tensors(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_tensor *tensor =
        baryon_value_tensor(baryon_graph_find_value(baryon_model_graph(model), "w"));
    const void *bytes;
    size_t size;
    float first;
    assert_string_equal(baryon_tensor_name(tensor), "w");
    assert_int_equal(baryon_tensor_type(tensor), 1);
    assert_int_equal(baryon_tensor_rank(tensor), 2);
    assert_int_equal(baryon_tensor_dim(tensor, 0), 3);
    assert_int_equal(baryon_tensor_dim(tensor, 2), -1);
    ok(baryon_tensor_bytes(model, tensor, &bytes, &size, &err));
    assert_int_equal(size, 24);
    memcpy(&first, bytes, sizeof first);
    assert_true(first == 1);
    assert_null(baryon_tensor_new(model, "bad", 1, (const int64_t[]){-4}, 1, NULL, 0, &err));
    baryon_model_free(model);
}

static void sets_and_reads_attributes(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_node *node = baryon_graph_node(baryon_model_graph(model), 1);
    const int64_t ints[] = {3, -4};
    const float floats[] = {0.5f, 2};
    ok(baryon_node_set_int(node, "axis", -1, &err));
    ok(baryon_node_set_float(node, "alpha", 0.25f, &err));
    ok(baryon_node_set_text(node, "mode", "linear", &err));
    ok(baryon_node_set_ints(node, "pads", ints, 2, &err));
    ok(baryon_node_set_floats(node, "scales", floats, 2, &err));
    struct baryon_tensor *tensor = baryon_tensor_new(model, "t", 1, NULL, 0, NULL, 4, &err);
    ok(baryon_node_set_tensor(node, "value", tensor, &err));
    assert_int_equal(baryon_node_attribute_count(node), 6);
    const struct baryon_attribute *axis = baryon_node_attribute(node, 0);
    assert_string_equal(baryon_attribute_name(axis), "axis");
    assert_int_equal(baryon_attribute_kind(axis), BARYON_ATTRIBUTE_INT);
    assert_int_equal(baryon_attribute_count(axis), 1);
    assert_int_equal(baryon_attribute_int(axis, 0), -1);
    assert_int_equal(baryon_attribute_int(axis, 1), 0);
    assert_true(baryon_attribute_float(axis, 0) == 0);
    assert_null(baryon_attribute_text(axis, 0).data);
    assert_null(baryon_attribute_tensor(axis, 0));
    assert_null(baryon_attribute_graph(axis, 0));
    const struct baryon_attribute *pads = baryon_node_find_attribute(node, "pads");
    assert_int_equal(baryon_attribute_count(pads), 2);
    assert_int_equal(baryon_attribute_int(pads, 1), -4);
    assert_true(baryon_attribute_float(baryon_node_find_attribute(node, "alpha"), 0) == 0.25f);
    assert_true(baryon_attribute_float(baryon_node_find_attribute(node, "scales"), 1) == 2);
    struct baryon_text text = baryon_attribute_text(baryon_node_find_attribute(node, "mode"), 0);
    assert_int_equal(text.size, 6);
    assert_memory_equal(text.data, "linear", 6);
    assert_ptr_equal(baryon_attribute_tensor(baryon_node_find_attribute(node, "value"), 0), tensor);
    assert_true(baryon_node_remove_attribute(node, "axis"));
    assert_null(baryon_node_find_attribute(node, "axis"));
    baryon_model_free(model);
}

static void edits_a_model(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = baryon_model_graph(model);
    struct baryon_node *act = baryon_graph_find_node(graph, "act");
    struct baryon_value *w = baryon_graph_find_value(graph, "w"), *copy;

    struct baryon_node *between =
        baryon_graph_insert_on_edge(act, 0, "Identity", NULL, NULL, 0, &err);
    assert_non_null(between);
    assert_ptr_equal(baryon_node_input(act, 0), baryon_node_output(between, 0));
    assert_non_null(baryon_graph_insert_before_output(graph, 0, "Identity", NULL, NULL, 0, &err));
    assert_string_equal(baryon_value_name(baryon_graph_output(graph, 0)), "y");
    assert_string_equal(baryon_value_name(baryon_node_output(act, 0)), "y_1");

    assert_non_null(copy = baryon_value_duplicate_initializer(w, &err));
    ok(baryon_value_replace_uses(w, copy, NULL, &err));
    ok(baryon_value_remove_initializer(w, &err));
    assert_null(baryon_value_graph(w));
    ok(baryon_value_rename(copy, "weight", &err));
    assert_int_equal(baryon_value_rename(copy, "x", &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);

    ok(baryon_value_replace_uses(baryon_node_output(between, 0), baryon_node_input(between, 0),
                                 NULL, &err));
    ok(baryon_node_remove(between, &err));
    assert_null(baryon_node_graph(between));
    assert_null(baryon_graph_node(graph, 2));
    assert_int_equal(baryon_graph_node_count(graph), 4);
    ok(baryon_model_settle(model, false, &err));
    assert_int_equal(baryon_graph_node_count(graph), 3);

    ok(baryon_node_set_input(act, 1, copy, &err));
    assert_int_equal(baryon_value_use_count(copy), 2);
    ok(baryon_node_set_input(act, 1, NULL, &err));
    size_t removed = 9;
    ok(baryon_model_prune(model, &removed, &err));
    assert_int_equal(removed, 0);
    baryon_model_free(model);
}

static void marks_nodes_between(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = baryon_model_graph(model);
    struct baryon_value *x = baryon_graph_find_value(graph, "x");
    const char *name = "beside";
    bool marks[3];
    assert_non_null(baryon_graph_add_node(graph, "Relu", NULL, "beside", &x, 1, &name, 1, &err));
    struct baryon_node *start = baryon_graph_node(graph, 0), *end = baryon_graph_node(graph, 1);
    ok(baryon_graph_between(graph, &start, 1, &end, 1, marks, &err));
    assert_true(marks[0] && marks[1] && !marks[2]);
    baryon_model_free(model);
}

static void keeps_metadata_and_imports(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    ok(baryon_model_set_opset(model, "my.domain", 2, &err));
    assert_int_equal(baryon_model_opset(model, "my.domain"), 2);
    ok(baryon_model_set_metadata(model, "license", "MIT", &err));
    ok(baryon_model_set_metadata(model, "author", "somebody", &err));
    ok(baryon_model_set_metadata(model, "license", "BSD", &err));
    assert_int_equal(baryon_model_metadata_count(model), 2);
    assert_string_equal(baryon_model_metadata_key(model, 0), "license");
    assert_memory_equal(baryon_model_metadata_value(model, 0).data, "BSD", 3);
    ok(baryon_model_set_metadata(model, "license", NULL, &err));
    assert_int_equal(baryon_model_metadata_count(model), 1);
    assert_string_equal(baryon_model_metadata_key(model, 0), "author");
    assert_null(baryon_model_metadata_key(model, 1));
    assert_int_equal(baryon_model_metadata_value(model, 1).size, 0);
    assert_int_equal(baryon_model_set_metadata(model, "author", "\xff", &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_string_equal(err.message, "value '\\xff' of metadata is not valid UTF-8");
    assert_int_equal(baryon_model_set_metadata(model, "\xff", "x", &err), -1);
    assert_string_equal(err.message, "name '\\xff' is not valid UTF-8");
    assert_int_equal(baryon_model_set_opset(model, "\xff", 1, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_memory_equal(baryon_model_metadata_value(model, 0).data, "somebody", 8);
    baryon_model_free(model);
}

/* --- files --- */

static void saves_and_loads(void **state)
{
    (void)state;
    struct baryon_model *model = small_model(), *again;
    void *bytes, *same;
    size_t size, same_size;
    ok(baryon_model_save(model, in_folder("a.onnx"), NULL, &err));
    ok(baryon_model_save_bytes(model, &bytes, &size, &err));
    ok(baryon_model_load(&again, in_folder("a.onnx"), NULL, &err));
    ok(baryon_model_save_bytes(again, &same, &same_size, &err));
    assert_int_equal(size, same_size);
    assert_memory_equal(bytes, same, size);
    baryon_bytes_free(same);
    baryon_model_free(again);

    ok(baryon_model_load_bytes(&again, bytes, size, NULL, NULL, &err));
    assert_int_equal(baryon_graph_node_count(baryon_model_graph(again)), 2);
    baryon_model_free(again);
    baryon_bytes_free(bytes);
    baryon_model_free(model);
}

static void saves_data_beside(void **state)
{
    (void)state;
    struct baryon_model *model = small_model(), *again;
    struct baryon_save_options options = {
        .size = sizeof options, .data = BARYON_SAVE_EXTERNAL, .external_min = 1, .no_sync = true};
    const void *bytes;
    size_t size;
    ok(baryon_model_save(model, in_folder("b.onnx"), &options, &err));
    assert_int_equal(access(in_folder("b.onnx.data"), R_OK), 0);
    options.external_file = "own.data";
    ok(baryon_model_save(model, in_folder("c.onnx"), &options, &err));
    assert_int_equal(access(in_folder("own.data"), R_OK), 0);
    baryon_model_free(model);
    ok(baryon_model_load(&again, in_folder("b.onnx"), NULL, &err));
    ok(baryon_tensor_bytes(
        again, baryon_value_tensor(baryon_graph_find_value(baryon_model_graph(again), "w")), &bytes,
        &size, &err));
    assert_int_equal(size, 24);
    options.data = BARYON_SAVE_KEEP;
    options.keep_existing = true;
    assert_int_equal(baryon_model_save(again, in_folder("c.onnx"), &options, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    baryon_model_free(again);
    const struct baryon_load_options load = {.size = sizeof load, .without_data = true};
    unlink(in_folder("own.data"));
    assert_int_equal(baryon_model_load(&again, in_folder("c.onnx"), NULL, &err), -1);
    assert_null(again);
    ok(baryon_model_load(&again, in_folder("c.onnx"), &load, &err));
    baryon_model_free(again);
}

static void reports_what_cannot_be_loaded(void **state)
{
    (void)state;
    struct baryon_model *model = (void *)folder;
    assert_int_equal(baryon_model_load(&model, in_folder("none.onnx"), NULL, &err), -1);
    assert_null(model);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_int_equal(baryon_model_load_bytes(&model, "", 0, NULL, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_int_equal(baryon_model_load_bytes(&model, "", 0, NULL, NULL, NULL), -1);
    assert_int_equal(baryon_model_load_bytes(&model, "", (size_t)1 << 31, NULL, NULL, &err), -1);
    assert_string_equal(err.message,
                        "2147483648 bytes, a protobuf message must have at most 2147483647");
    baryon_model_free(NULL);
}

static void refuses_cycles_when_saving(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = baryon_model_graph(model);
    ok(baryon_node_set_input(baryon_graph_node(graph, 0), 0, baryon_graph_output(graph, 0), &err));
    assert_int_equal(baryon_model_save(model, in_folder("cycle.onnx"), NULL, &err), -1);
    assert_string_equal(err.place, "graph.node[0]");
    assert_int_equal(access(in_folder("cycle.onnx"), F_OK), -1);
    baryon_model_free(model);
}

/* --- checking --- */

struct findings {
    size_t count, errors;
    char first_error[2048];
    size_t stop_after; /* 0: never */
};

static bool note(void *context, const struct baryon_finding *finding)
{
    struct findings *findings = context;
    assert_non_null(finding->rule);
    assert_true(finding->error->message[0] != '\0');
    findings->count++;
    if (finding->severity == BARYON_ERROR && findings->errors++ == 0)
        baryon_error_format(finding->error, findings->first_error, sizeof findings->first_error);
    return findings->count != findings->stop_after;
}

static void checks_models(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = baryon_model_graph(model);
    struct findings findings = {0};
    char text[2048];
    /* Inserted nodes stand at the end until then: not an error. */
    assert_non_null(baryon_graph_insert_on_edge(baryon_graph_node(graph, 1), 0, "Identity", NULL,
                                                NULL, 0, &err));
    ok(baryon_model_check(model, NULL, note, &findings, &err));
    assert_int_equal(findings.errors, 0);

    struct baryon_value *x = baryon_graph_input(graph, 0);
    const char *names[] = {"n1", "n2"};
    assert_non_null(
        baryon_graph_add_node(graph, "Strange", "my.domain", NULL, &x, 1, &names[0], 1, &err));
    assert_non_null(
        baryon_graph_add_node(graph, "NoSuchThing", NULL, NULL, &x, 1, &names[1], 1, &err));
    findings = (struct findings){0};
    assert_int_equal(baryon_model_check(model, NULL, note, &findings, &err), -1);
    assert_true(findings.errors >= 2);
    baryon_error_format(&err, text, sizeof text);
    assert_string_equal(text, findings.first_error);

    size_t all = findings.count;
    findings = (struct findings){.stop_after = 1};
    baryon_model_check(model, NULL, note, &findings, &err);
    assert_int_equal(findings.count, 1);
    assert_true(all > 1);
    assert_int_equal(baryon_model_check(model, NULL, NULL, NULL, NULL), -1);

    ok(baryon_node_remove(baryon_value_producer(baryon_graph_find_value(graph, names[1]), NULL),
                          &err));
    ok(baryon_model_set_opset(model, "my.domain", 1, &err));
    assert_int_equal(baryon_model_check(model, NULL, NULL, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    const struct baryon_check_options options = {.size = sizeof options, .custom_operators = true};
    ok(baryon_model_check(model, &options, NULL, NULL, &err));
    baryon_model_free(model);
}

/* All that is wrong with a file, also when it could not be loaded. */
static void checks_files(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct findings findings = {0};
    void *bytes;
    size_t size;
    ok(baryon_model_save(model, in_folder("a.onnx"), NULL, &err));
    ok(baryon_check_file(in_folder("a.onnx"), NULL, NULL, note, &findings, &err));
    assert_int_equal(findings.errors, 0);

    ok(baryon_model_save_bytes(model, &bytes, &size, &err));
    baryon_model_free(model);
    /* The second node reads "m": let it read "q". */
    char *at = bytes;
    while (memcmp(at, "\x0a\x01m\x12\x01y", 6) != 0)
        at++;
    at[2] = 'q';
    FILE *file = fopen(in_folder("a.onnx"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    baryon_bytes_free(bytes);
    assert_int_equal(baryon_model_load(&model, in_folder("a.onnx"), NULL, &err), -1);
    assert_string_equal(err.place, "graph.node[1].input[0]");
    assert_true(err.offset > 0);
    assert_string_equal(err.file, in_folder("a.onnx"));
    assert_int_equal(baryon_check_file(in_folder("a.onnx"), NULL, NULL, note, &findings, &err), -1);
    assert_int_equal(findings.errors, 1);
    assert_string_equal(err.place, "graph.node[1].input[0]");
}

/* A caller of another version has another size of options. */
static void options_may_grow(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct {
        struct baryon_save_options known;
        int later;
    } newer = {.known = {.size = sizeof newer, .no_sync = true}};
    ok(baryon_model_save(model, in_folder("a.onnx"), &newer.known, &err));
    newer.later = 1;
    assert_int_equal(baryon_model_save(model, in_folder("a.onnx"), &newer.known, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    struct baryon_save_options older = {.size = sizeof(size_t), .data = (enum baryon_save_data)77};
    ok(baryon_model_save(model, in_folder("a.onnx"), &older, &err));
    older.size = sizeof older;
    assert_int_equal(baryon_model_save(model, in_folder("a.onnx"), &older, &err), -1);
    older.size = 0;
    assert_int_equal(baryon_model_save(model, in_folder("a.onnx"), &older, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    baryon_model_free(model);
}

/* --- nested graphs, from bytes --- */

struct bytes {
    unsigned char at[512];
    size_t size;
};

static void put(struct bytes *out, unsigned field, const void *data, size_t size)
{
    assert_true(size < 128 * 128 && out->size + size + 3 <= sizeof out->at);
    out->at[out->size++] = (unsigned char)(field << 3 | 2);
    if (size >= 128)
        out->at[out->size++] = (unsigned char)(size | 0x80);
    out->at[out->size++] = (unsigned char)(size >= 128 ? size >> 7 : size);
    memcpy(out->at + out->size, data, size);
    out->size += size;
}

static void put_text(struct bytes *out, unsigned field, const char *text)
{
    put(out, field, text, strlen(text));
}

static void put_number(struct bytes *out, unsigned field, unsigned char number)
{
    out->at[out->size++] = (unsigned char)(field << 3);
    out->at[out->size++] = number;
}

static void put_message(struct bytes *out, unsigned field, const struct bytes *message)
{
    put(out, field, message->at, message->size);
}

/* NodeProto: 1 input, 2 output, 4 op_type */
static struct bytes node_bytes(const char *op_type, const char *input, const char *output)
{
    struct bytes node = {.size = 0};
    put_text(&node, 1, input);
    put_text(&node, 2, output);
    put_text(&node, 4, op_type);
    return node;
}

/* ValueInfoProto: 1 name */
static void put_value(struct bytes *graph, unsigned field, const char *name)
{
    struct bytes info = {.size = 0};
    put_text(&info, 1, name);
    put_message(graph, field, &info);
}

/* x -> If (then: Relu(x)) -> y */
static struct bytes nested_bytes(void)
{
    struct bytes branch = {.size = 0}, attr = branch, graph = branch, opset = branch,
                 model = branch, inner = node_bytes("Relu", "x", "t"),
                 outer = node_bytes("If", "x", "y");
    put_message(&branch, 1, &inner);
    put_value(&branch, 12, "t");
    put_text(&attr, 1, "then_branch");
    put_message(&attr, 6, &branch);
    put_number(&attr, 20, 5);
    /* Field numbers from 16 on take two bytes. */
    attr.at[attr.size - 2] = 0xa0;
    attr.at[attr.size - 1] = 0x01;
    attr.at[attr.size++] = 5;
    put_message(&outer, 5, &attr);
    put_message(&graph, 1, &outer);
    put_value(&graph, 11, "x");
    put_value(&graph, 12, "y");
    put_number(&opset, 2, 17);
    put_number(&model, 1, 9);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    return model;
}

static void walks_nested_graphs(void **state)
{
    (void)state;
    const struct bytes bytes = nested_bytes();
    struct baryon_model *model;
    ok(baryon_model_load_bytes(&model, bytes.at, bytes.size, NULL, NULL, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    struct baryon_node *node = baryon_graph_node(graph, 0);
    const struct baryon_attribute *attr = baryon_node_attribute(node, 0);
    assert_int_equal(baryon_attribute_kind(attr), BARYON_ATTRIBUTE_GRAPH);
    struct baryon_graph *branch = baryon_attribute_graph(attr, 0);
    assert_ptr_equal(baryon_graph_owner(branch), node);
    struct baryon_value *x = baryon_graph_find_value(branch, "x");
    assert_ptr_equal(baryon_value_graph(x), graph);
    assert_int_equal(baryon_value_use_count(x), 2);
    assert_null(baryon_graph_find_value(graph, "t"));
    ok(baryon_value_rename(x, "image", &err));
    assert_string_equal(baryon_value_name(baryon_node_input(baryon_graph_node(branch, 0), 0)),
                        "image");
    void *out;
    size_t size;
    ok(baryon_model_save_bytes(model, &out, &size, &err));
    /* The name stands at three places, each four bytes longer. */
    assert_int_equal(size, bytes.size + 3 * 4);
    baryon_bytes_free(out);
    baryon_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_version_and_types),
        cmocka_unit_test(walks_a_model),
        cmocka_unit_test(tells_types_and_shapes),
        cmocka_unit_test(reads_tensors),
        cmocka_unit_test(sets_and_reads_attributes),
        cmocka_unit_test(edits_a_model),
        cmocka_unit_test(marks_nodes_between),
        cmocka_unit_test(keeps_metadata_and_imports),
        cmocka_unit_test(saves_and_loads),
        cmocka_unit_test(saves_data_beside),
        cmocka_unit_test(reports_what_cannot_be_loaded),
        cmocka_unit_test(refuses_cycles_when_saving),
        cmocka_unit_test(checks_models),
        cmocka_unit_test(checks_files),
        cmocka_unit_test(options_may_grow),
        cmocka_unit_test(walks_nested_graphs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
