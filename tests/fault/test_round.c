/*
 * Every allocation and every call on files fails, once and for good, while rounding is solved: the
 * samples that judge, the copy, pieces of both models, moments, descent, biases. What was asked
 * for fails as a whole, and says why, or gives the model of an undisturbed run.
 */
#include "base/fault.h"
#include "base/file.h"
#include "tests/fault/two_layers.h"

#define SAMPLES 5

static char folder[64], *whole;
static size_t whole_size, given;
/* Calls when rounding began, and when it was done. */
static enum by_fault_kind kind;
static uint64_t begun, ended;

/* --- Samples --- */

static int next(void *context, const struct baryon_array **arrays, size_t *count, const char **name,
                struct baryon_error *problem)
{
    static const int64_t row[] = {1, WIDTH};
    static struct baryon_array array;
    static float values[WIDTH];
    (void)context, (void)problem;
    if (given == SAMPLES)
        return 0;
    for (size_t i = 0; i < WIDTH; i++)
        values[i] = (float)((int)(given * 5 + i * 3) % 7 - 3) / 2;
    given++;
    array = (struct baryon_array){"x", BY_ELEM_FLOAT, 2, row, values, sizeof values};
    *arrays = &array;
    *count = 1;
    *name = "made";
    return 0;
}

static int again(void *context, struct baryon_error *problem)
{
    (void)context, (void)problem;
    given = 0;
    return 0;
}

/* --- One run --- */

static bool look(void *context, const struct baryon_progress *progress)
{
    (void)context;
    if (strcmp(progress->stage, "round"))
        begun = by_fault_count(kind);
    else
        ended = by_fault_count(kind);
    return true;
}

static int quantize(const char *preset)
{
    const struct baryon_samples samples = {.size = sizeof samples, .next = next, .rewind = again};
    const struct baryon_quantize_options options = {
        .size = sizeof options, .samples = &samples, .progress = look};
    struct baryon_setting settings[8] = {{"preset", preset}, {"threads", "1"}};
    size_t count = 2;
    if (kind == BY_FAULT_IO) /* values wait in a file */
        settings[count++] = (struct baryon_setting){"max-memory", "1"};
    if (!strcmp(preset, "MATMUL_NBITS")) {
        begun = by_fault_count(kind); /* nothing tells how far it is before */
        settings[count++] = (struct baryon_setting){"rounding", "descent"};
        settings[count++] = (struct baryon_setting){"extra-op-types", "Gemm"};
        settings[count++] = (struct baryon_setting){"nbits-group", "16"};
    }
    if (!strcmp(preset, "FP16_ADAQUANT")) {
        begun = by_fault_count(kind);
        settings[count++] = (struct baryon_setting){"float-form", "cast"};
        settings[count++] = (struct baryon_setting){"cle", "off"};
    }
    given = 0;
    return baryon_quantize_file("m.onnx", "out.onnx", settings, count, &options, NULL, &err);
}

static bool is_expected(enum baryon_code code)
{
    if (kind == BY_FAULT_ALLOC)
        return code == BARYON_ERR_NOMEM || code == BARYON_ERR_ENGINE;
    return code == BARYON_ERR_IO || code == BARYON_ERR_DEPENDENCY;
}

static void assert_whole(uint64_t k)
{
    char *bytes;
    size_t size;
    assert_ok(by_read_file("out.onnx", 1 << 20, &bytes, &size, &err));
    if (size != whole_size || memcmp(bytes, whole, size) != 0)
        fail_msg("call %d: other bytes", (int)k);
    by_free(bytes);
}

/* True when it did without. */
static bool fail_at(const char *preset, uint64_t k, bool forever)
{
    unlink("out.onnx");
    unlink("out.onnx.part");
    by_err_clear(&err);
    by_fault_arm(kind, k, forever);
    const int status = quantize(preset);
    by_fault_arm(kind, 0, false);
    if (status == 0) {
        assert_whole(k);
        return true;
    }
    if (!is_expected(err.code) || !err.message[0])
        fail_msg("call %d: code %d, '%s'", (int)k, (int)err.code, err.message);
    assert_int_not_equal(access("out.onnx", F_OK), 0);
    if (kind == BY_FAULT_IO && !forever) { /* goes on after what was kept */
        assert_ok(quantize(preset));
        assert_whole(k);
    }
    return false;
}

/* thorough: each call fails once and for good, otherwise in turn. */
static void sweep(enum by_fault_kind which, const char *preset, bool thorough)
{
    uint64_t did_without = 0;
    kind = which;
    unlink("out.onnx");
    unlink("out.onnx.part");
    assert_ok(quantize(preset));
    by_free(whole);
    assert_ok(by_read_file("out.onnx", 1 << 20, &whole, &whole_size, &err));
    const uint64_t before = by_fault_count(kind);
    assert_ok(quantize(preset));
    const uint64_t first = begun - before, last = ended - before;
    assert_true(last >= first);
    for (uint64_t k = first; k <= last; k++)
        for (int forever = 0; forever < 2; forever++)
            if (thorough || (k + (uint64_t)forever) % 2)
                did_without += fail_at(preset, k, forever);
    print_message("%s: %d calls, %d runs did without\n", preset, (int)(last - first + 1),
                  (int)did_without);
    if (last - first > 10)
        assert_true(did_without < (last - first) / 4);
}

static void memory_with_biases_of_32_bits(void **state)
{
    (void)state;
    sweep(BY_FAULT_ALLOC, "A8W8_ADAROUND", true);
}

static void memory_with_biases_of_8_bits(void **state)
{
    (void)state;
    sweep(BY_FAULT_ALLOC, "XINT8_ADAROUND", false);
}

static void memory_with_weights_alone(void **state)
{
    (void)state;
    sweep(BY_FAULT_ALLOC, "MATMUL_NBITS", false);
}

static void memory_with_floats(void **state)
{
    (void)state;
    sweep(BY_FAULT_ALLOC, "FP16_ADAQUANT", false);
}

static void files(void **state)
{
    (void)state;
    sweep(BY_FAULT_IO, "XINT8_ADAROUND", true);
}

/* Where writing waits for no disk, when there is such a place. */
static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/baryon-fault-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        return -1;
    save_two_layers(0.75F, false);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    char command[96];
    by_free(whole);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_with_biases_of_32_bits),
        cmocka_unit_test(memory_with_biases_of_8_bits),
        cmocka_unit_test(memory_with_weights_alone),
        cmocka_unit_test(memory_with_floats),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
