/*
 * Every allocation fails, once and for good, while a model becomes one of floats or blocks, in each
 * form: it fails as a whole and says why.
 */
#include "base/fault.h"
#include "tests/unit/engine_build.h"

#include "onnx/save.h"

#define WIDTH 6

static char folder[64];

static void put_numbers(struct baryon_model *model, const char *name, size_t rank, float factor)
{
    static const int64_t dims[] = {WIDTH, WIDTH};
    float values[WIDTH * WIDTH];
    const size_t count = rank == 1 ? WIDTH : WIDTH * WIDTH;
    for (size_t i = 0; i < count; i++)
        values[i] = factor * (float)((int)(i * 7 % 11) - 5) / 3;
    put_weight(model, name, BY_ELEM_FLOAT, dims, rank, values, count * sizeof *values);
}

/* x [1,6] -> Gemm -> Relu -> MatMul -> Softmax -> y; fp16 cannot hold w. */
static void save_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,6");
    gives(model, "y", BY_ELEM_FLOAT, "1,6");
    put_numbers(model, "v", 2, 0.5F);
    put_numbers(model, "b", 1, 0.25F);
    put_numbers(model, "w", 2, 1e5F);
    put_node(model->graph, "first", "Gemm", "x,v,b", "a");
    put_node(model->graph, "relu", "Relu", "a", "c");
    put_node(model->graph, "second", "MatMul", "c,w", "d");
    put_node(model->graph, "last", "Softmax", "d", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_save(model, "m.onnx", NULL, &err));
    by_model_free(model);
}

static int quantize(const char *preset, const char *option, const char *value)
{
    const struct baryon_setting settings[] = {
        {"preset", preset}, {"threads", "1"}, {option, value}};
    const struct baryon_quantize_options options = {.size = sizeof options};
    return baryon_quantize_file("m.onnx", "out.onnx", settings, option ? 3 : 2, &options, NULL,
                                &err);
}

static void sweep(const char *preset, const char *option, const char *value)
{
    unlink("out.onnx");
    assert_ok(quantize(preset, option, value));
    const uint64_t before = by_fault_count(BY_FAULT_ALLOC);
    unlink("out.onnx");
    assert_ok(quantize(preset, option, value));
    const uint64_t calls = by_fault_count(BY_FAULT_ALLOC) - before;
    uint64_t failed = 0;
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++) {
            unlink("out.onnx");
            by_err_clear(&err);
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            const int status = quantize(preset, option, value);
            by_fault_arm(BY_FAULT_ALLOC, 0, false);
            if (status == 0) /* what was refused is done without */
                continue;
            failed++;
            assert_int_equal(err.code, BARYON_ERR_NOMEM);
            assert_int_not_equal(access("out.onnx", F_OK), 0);
        }
    assert_true(calls > 100 && failed > calls);
}

static void in_each_form(void **state)
{
    static const char *const cases[][3] = {
        {"FP16", NULL, NULL},           {"BF16", "keep-float-weights", "false"},
        {"BF16", "float-form", "cast"}, {"BF16", "float-form", "compiler"},
        {"FP16", "float-clip", "true"}, {"MXINT8", NULL, NULL},
        {"BF16_BFP16", NULL, NULL},     {"MX9_INT8", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        sweep(cases[i][0], cases[i][1], cases[i][2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_each_form)};
    snprintf(folder, sizeof folder, "%s/baryon-fault-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    save_model();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("m.onnx");
    unlink("out.onnx");
    return rmdir(folder) || failed;
}
