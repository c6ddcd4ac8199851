/* Tests saving models with internal and external data. */
#include "onnx/save.h"

#include "ir/graph.h"
#include "ir/tensor.h"
#include "onnx/external.h"
#include "onnx/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct baryon_error err;
static char folder[64];

static const char *in_folder(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/baryon-save-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void assert_ok(int failed)
{
    char text[2048] = "";
    if (failed)
        baryon_error_format(&err, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(failed, 0);
}

static void assert_same_file(const char *a, const char *b)
{
    char *x, *y;
    size_t nx, ny;
    assert_ok(by_read_file(a, 1 << 24, &x, &nx, &err));
    assert_ok(by_read_file(b, 1 << 24, &y, &ny, &err));
    assert_int_equal(nx, ny);
    assert_memory_equal(x, y, nx);
    by_free(x);
    by_free(y);
}

static void add_weight(struct baryon_model *model, const char *name, int64_t count)
{
    float *data = calloc((size_t)count, sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)i + (float)name[0];
    struct baryon_tensor *tensor = by_tensor_new(model, name, BY_ELEM_FLOAT, &count, 1, data,
                                                 (size_t)count * sizeof *data, &err);
    free(data);
    assert_non_null(tensor);
    assert_ok(by_model_link(model, &err));
    assert_non_null(by_graph_add_initializer(model->graph, tensor, &err));
}

/* Three weights: 40000 and 4000 bytes, and 8. */
static struct baryon_model *weights_model(void)
{
    struct baryon_model *model;
    assert_ok(by_model_new(&model, 10, 21, &err));
    add_weight(model, "a", 10000);
    add_weight(model, "b", 1000);
    add_weight(model, "c", 2);
    return model;
}

static struct by_span bytes_of(struct baryon_model *model, size_t index)
{
    struct by_span bytes;
    assert_ok(by_tensor_bytes(model->graph->initializer.at[index], &model->arena, &bytes, &err));
    return bytes;
}

static void assert_weights(struct baryon_model *model)
{
    static const size_t sizes[] = {40000, 4000, 8};
    for (size_t i = 0; i < 3; i++) {
        struct by_span bytes = bytes_of(model, i);
        float last;
        assert_int_equal(bytes.size, sizes[i]);
        memcpy(&last, bytes.data + bytes.size - 4, 4);
        assert_true(last == (float)(sizes[i] / 4 - 1) + (float)("abc"[i]));
    }
}

static void save_as(struct baryon_model *model, const char *name, struct by_save_options options)
{
    options.writer_flags |= BY_WRITER_NO_SYNC;
    assert_ok(by_model_save(model, in_folder(name), &options, &err));
}

static struct baryon_model *load(const char *name)
{
    struct baryon_model *model;
    assert_ok(by_model_load(&model, in_folder(name), NULL, &err));
    return model;
}

static void test_inline(void **state)
{
    (void)state;
    struct baryon_model *model = weights_model();
    save_as(model, "m.onnx", (struct by_save_options){0});
    save_as(model, "again.onnx", (struct by_save_options){0});
    assert_same_file(in_folder("m.onnx"), in_folder("again.onnx"));
    by_model_free(model);
    model = load("m.onnx");
    assert_weights(model);
    save_as(model, "copy.onnx", (struct by_save_options){0});
    assert_same_file(in_folder("m.onnx"), in_folder("copy.onnx"));
    by_model_free(model);
}

static void test_external_and_back(void **state)
{
    (void)state;
    struct baryon_model *model = weights_model();
    save_as(model, "inline.onnx", (struct by_save_options){0});
    struct by_saved_size size;
    save_as(model, "m.onnx",
            (struct by_save_options){
                .data = BY_SAVE_EXTERNAL, .external_file = "w/m.bin", .size = &size});
    /* Saving did not change the model. */
    assert_weights(model);
    assert_null(((struct baryon_tensor *)model->graph->initializer.at[0])->external_data.at);
    by_model_free(model);
    struct stat data;
    assert_int_equal(stat(in_folder("w/m.bin"), &data), 0);
    assert_int_equal(data.st_size, 44000); /* 40000 is a multiple of 64 already */
    assert_int_equal(size.data, 44000);
    assert_int_equal(size.model, by_file_size(in_folder("m.onnx")));
    assert_int_equal(by_file_size(in_folder("none")), 0);
    model = load("m.onnx");
    assert_weights(model);
    assert_int_equal(((struct baryon_tensor *)model->graph->initializer.at[1])->data_location, 1);
    assert_int_equal(((struct baryon_tensor *)model->graph->initializer.at[2])->data_location, 0);
    assert_int_equal(by_model_data_size(model), 44000);
    assert_true(by_model_has_data_file(model, in_folder("w/m.bin")));
    assert_false(by_model_has_data_file(model, in_folder("m.onnx")));
    assert_false(by_model_has_data_file(model, in_folder("none")));
    save_as(model, "back.onnx", (struct by_save_options){.data = BY_SAVE_INLINE, .size = &size});
    assert_int_equal(size.model, by_file_size(in_folder("back.onnx")));
    assert_int_equal(size.data, 0);
    by_model_free(model);
    model = load("back.onnx");
    assert_weights(model);
    assert_int_equal(model->data_files.count, 0);
    by_model_free(model);
}

static void test_over_the_limit(void **state)
{
    (void)state;
    struct baryon_model *model = weights_model();
    save_as(model, "m.onnx", (struct by_save_options){.inline_max = 5000});
    by_model_free(model);
    assert_int_equal(access(in_folder("m.onnx.data"), F_OK), 0);
    model = load("m.onnx");
    assert_weights(model);
    const struct by_save_options inline_only = {.data = BY_SAVE_INLINE, .inline_max = 5000};
    assert_int_equal(by_model_save(model, in_folder("n.onnx"), &inline_only, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    assert_int_equal(access(in_folder("n.onnx"), F_OK), -1);
    by_model_free(model);
}

/* To another folder the data file goes along; both come out byte for byte. */
static void test_copy_with_data(void **state)
{
    (void)state;
    struct baryon_model *model = weights_model();
    save_as(model, "m.onnx", (struct by_save_options){.data = BY_SAVE_EXTERNAL});
    by_model_free(model);
    model = load("m.onnx");
    assert_ok(by_make_folders(in_folder("sub"), &err));
    save_as(model, "sub/m.onnx", (struct by_save_options){0});
    assert_same_file(in_folder("m.onnx"), in_folder("sub/m.onnx"));
    assert_same_file(in_folder("m.onnx.data"), in_folder("sub/m.onnx.data"));
    save_as(model, "beside.onnx", (struct by_save_options){0});
    assert_same_file(in_folder("m.onnx"), in_folder("beside.onnx"));
    by_model_free(model);
}

static void test_input_data_is_safe(void **state)
{
    (void)state;
    struct baryon_model *model = weights_model();
    save_as(model, "m.onnx", (struct by_save_options){.data = BY_SAVE_EXTERNAL});
    by_model_free(model);
    model = load("m.onnx");
    const struct by_save_options over = {.data = BY_SAVE_EXTERNAL, .external_file = "m.onnx.data"};
    assert_int_equal(by_model_save(model, in_folder("n.onnx"), &over, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    const struct by_save_options outside = {.data = BY_SAVE_EXTERNAL, .external_file = "../x"};
    assert_int_equal(by_model_save(model, in_folder("n.onnx"), &outside, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_int_equal(access(in_folder("n.onnx"), F_OK), -1);
    assert_weights(model);
    by_model_free(model);
}

static void test_bytes(void **state)
{
    (void)state;
    struct by_str out;
    by_str_init(&out);
    struct baryon_model *model = weights_model(), *again;
    assert_ok(by_model_save_bytes(model, &out, &err));
    assert_ok(by_model_load_bytes(&again, out.text, out.size, NULL, NULL, &err));
    assert_weights(again);
    by_model_free(again);
    by_model_free(model);
    by_str_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_inline, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_external_and_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_over_the_limit, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_copy_with_data, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_input_data_is_safe, make_folder, remove_folder),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
