/* Payloads in a nameless file: they stay what they are, and take no memory. */
#include "base/spill.h"

#include "ir/graph.h"
#include "ir/tensor.h"
#include "onnx/load.h"
#include "onnx/save.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define MIB ((size_t)1 << 20)

/* Kilobytes of mapped files that are in memory; what a sanitizer keeps beside is in no file. */
static size_t resident(void)
{
    char line[256];
    size_t kilobytes = 0, part;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "RssFile: %zu", &part) == 1 || sscanf(line, "RssShmem: %zu", &part) == 1)
            kilobytes += part;
    fclose(file);
    return kilobytes;
}

static void bytes_stay(void **state)
{
    struct by_spill spill;
    uint8_t *first, *second, *none;
    (void)state;
    assert_ok(by_spill_open(&spill, ".", 40 * MIB, &err));
    const size_t before = resident();
    assert_ok(by_spill_add(&spill, 32 * MIB, &first, &err));
    assert_ok(by_spill_add(&spill, 5, &second, &err));
    assert_ok(by_spill_add(&spill, 16 * MIB, &none, &err));
    assert_null(none);
    assert_int_equal((uintptr_t)second % 4096, 0);
    assert_int_equal(first[7], 0);
    memset(first, 9, 32 * MIB);
    memset(second, 8, 5);
    assert_true(resident() > before + 30000);
    assert_true(by_spill_has(&spill, first + 32 * MIB - 1) && by_spill_has(&spill, second + 4));
    assert_false(by_spill_has(&spill, second + 5) || by_spill_has(&spill, (uint8_t *)&spill));
    by_mapped_done(&spill.file, 0, 32 * MIB);
    assert_true(resident() < before + 8000);
    assert_int_equal(first[0] + first[32 * MIB - 1] + second[4], 26);
    by_spill_close(&spill);
    by_spill_close(&spill);
    assert_int_equal(system("test -z \"$(ls -A)\""), 0); /* nothing is left */
}

static void what_cannot_be(void **state)
{
    struct by_spill spill;
    (void)state;
    assert_int_equal(by_spill_open(&spill, "nowhere", MIB, &err), -1);
    assert_non_null(strstr(error_text(), "nowhere"));
    assert_int_equal(err.code, BARYON_ERR_IO);
    by_spill_close(&spill);
}

static const uint8_t *add(struct baryon_model *model, const char *name, size_t size, bool filled)
{
    const int64_t dims[] = {(int64_t)size};
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, *name, size);
    struct baryon_tensor *tensor =
        by_tensor_new(model, name, BY_ELEM_INT8, dims, 1, filled ? bytes : NULL, size, &err);
    free(bytes);
    if (!tensor || !by_graph_add_initializer(model->graph, tensor, &err))
        fail_msg("%s", error_text());
    by_tensor_done(model, tensor);
    return tensor->raw_data.data;
}

/* With and without, a model is saved as the same bytes. */
static void make_model(const char *path, bool spilled)
{
    struct baryon_model *model;
    assert_ok(by_model_new(&model, 8, 13, &err));
    assert_ok(by_model_link(model, &err));
    if (spilled)
        assert_ok(by_model_spill(model, ".", 20 * MIB, &err));
    const uint8_t *big = add(model, "a", 9 * MIB + 3, true), *small = add(model, "b", 100, true);
    const uint8_t *zeros = add(model, "c", 8 * MIB, false),
                  *beyond = add(model, "d", 9 * MIB, true);
    assert_int_equal(by_spill_has(&model->spill, big), spilled);
    assert_int_equal(by_spill_has(&model->spill, zeros), spilled);
    assert_false(by_spill_has(&model->spill, small) || by_spill_has(&model->spill, beyond));
    assert_int_equal(big[0] + big[9 * MIB + 2], 2 * 'a');
    assert_int_equal(zeros[0], 0);
    assert_ok(by_model_save(model, path, NULL, &err));
    by_model_free(model);
}

static void models_are_the_same(void **state)
{
    (void)state;
    make_model("memory.onnx", false);
    make_model("file.onnx", true);
    assert_int_equal(system("cmp memory.onnx file.onnx"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_stay, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(what_cannot_be, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(models_are_the_same, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
