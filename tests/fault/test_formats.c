/*
 * Every allocation fails, once and for good, while a model becomes one of floats or blocks, in each
 * form: it fails as a whole and says why.
 */
#include "base/fault.h"
#include "tests/fault/two_layers.h"

static char folder[64];

static int quantize(const char *preset, const char *option, const char *value)
{
    const struct baryon_setting settings[] = {
        {"preset", preset}, {"threads", "1"}, {option, value}, {"keep-float-weights", "false"}};
    const struct baryon_quantize_options options = {.size = sizeof options};
    const size_t count = !option ? 2 : !strcmp(option, "block-form") ? 4 : 3;
    return baryon_quantize_file("m.onnx", "out.onnx", settings, count, &options, NULL, &err);
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
        {"FP16", NULL, NULL},
        {"BF16", "keep-float-weights", "false"},
        {"BF16", "float-form", "cast"},
        {"BF16", "float-form", "compiler"},
        {"FP16", "float-clip", "true"},
        {"MXINT8", NULL, NULL},
        {"BF16_BFP16", NULL, NULL},
        {"MX9_INT8", NULL, NULL},
        {"MX4", "keep-float-weights", "false"},
        {"MXFP4E2M1", "block-form", "onnx"},
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
    save_two_layers(1e5F, true); /* fp16 cannot hold that */
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("m.onnx");
    unlink("out.onnx");
    return rmdir(folder) || failed;
}
