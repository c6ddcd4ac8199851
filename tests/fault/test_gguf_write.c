/* A GGUF file, whole or in parts: every call on files or memory fails in turn, or is the last one
 * of the process. The next run goes on, and its bytes are those of an undisturbed one. */
#include "llm/store/gguf_write.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#include "tests/fault/sweep.h"

enum { TENSORS = 4, ELEMENTS = 300, PARTS = 2 };

static struct by_new_tensor tensors[TENSORS] = {
    {"a", NULL, 2, {3, 100}}, {"b", NULL, 1, {300}}, {"c", NULL, 1, {300}}, {"d", NULL, 1, {300}}};
static float values[TENSORS][ELEMENTS];
static uint64_t shard_bytes; /* 0: one file */
static size_t resumed;       /* tensors that the last run did not put */

static int make_values(void **state)
{
    for (size_t i = 0; i < TENSORS; i++) {
        tensors[i].type = by_stored_type_by_name("F32");
        for (size_t k = 0; k < ELEMENTS; k++)
            values[i][k] = (float)(i * ELEMENTS + k);
    }
    return scratch_enter(state);
}

static int put_all(struct by_gguf_writer *writer)
{
    const size_t half = sizeof values[0] / 2;
    for (size_t i = TENSORS; i-- > 0;)
        if (by_gguf_has(writer, i))
            resumed++;
        else if (by_gguf_add(writer, i, half, values[i] + ELEMENTS / 2, half, &err) ||
                 by_gguf_add(writer, i, 0, values[i], half, &err))
            return -1;
    return 0;
}

static int write_file(const char *path)
{
    static const struct by_gguf_pair pair = {"general.architecture",
                                             {.type = BY_GGUF_STRING, .text = {"llama", 5}}};
    const struct by_gguf_plan plan = {.path = path,
                                      .pairs = &pair,
                                      .pair_count = 1,
                                      .tensors = tensors,
                                      .count = TENSORS,
                                      .shard_bytes = shard_bytes};
    struct by_gguf_writer *writer = NULL;
    resumed = 0;
    int status = by_gguf_create(&writer, &plan, &err);
    if (!status)
        status = put_all(writer) || by_gguf_finish(writer, &err);
    by_gguf_abort(writer);
    return status ? -1 : 0;
}

static void expect_same(const char *name, const char *other)
{
    char *bytes, *wanted;
    size_t size, wanted_size;
    assert_ok(by_read_file(name, 1 << 20, &bytes, &size, &err));
    assert_ok(by_read_file(other, 1 << 20, &wanted, &wanted_size, &err));
    assert_int_equal(size, wanted_size);
    assert_memory_equal(bytes, wanted, size);
    by_free(bytes);
    by_free(wanted);
}

static void expect_whole(void)
{
    char name[64], wanted[64];
    assert_false(by_file_exists("out.gguf.part"));
    for (unsigned i = 1; i <= PARTS; i++) {
        snprintf(name, sizeof name, shard_bytes ? "out-%05u-of-%05u.gguf" : "out.gguf", i, PARTS);
        snprintf(wanted, sizeof wanted, shard_bytes ? "whole-%05u-of-%05u.gguf" : "whole.gguf", i,
                 PARTS);
        expect_same(name, wanted);
    }
}

/* Nothing takes half of a model for a whole one: the file that names all others comes last. */
static void expect_all_or_nothing(void)
{
    struct by_checkpoint *checkpoint;
    const char *name = shard_bytes ? "out-00001-of-00002.gguf" : "out.gguf";
    if (!by_file_exists(name))
        return;
    assert_ok(by_checkpoint_open(&checkpoint, name, &err));
    assert_int_equal(checkpoint->tensor_count, TENSORS);
    for (size_t i = 0; i < TENSORS; i++)
        assert_memory_equal(
            by_checkpoint_bytes(checkpoint, by_checkpoint_find(checkpoint, tensors[i].name)),
            values[i], sizeof values[i]);
    by_checkpoint_close(checkpoint);
}

static void remove_outputs(void)
{
    assert_int_equal(system("rm -rf out*"), 0);
}

static uint64_t calls_of_a_run(enum by_fault_kind kind)
{
    remove_outputs();
    assert_ok(write_file("whole.gguf"));
    const uint64_t before = by_fault_count(kind);
    assert_ok(write_file("out.gguf"));
    return by_fault_count(kind) - before;
}

static void sweep_kills(void)
{
    const uint64_t calls = calls_of_a_run(BY_FAULT_IO);
    size_t most = 0;
    assert_true(calls >= 10);
    for (uint64_t k = 1; k <= calls; k++) {
        int status;
        remove_outputs();
        const pid_t child = fork();
        if (child == 0) {
            by_fault_arm_kill(BY_FAULT_IO, k);
            _exit(write_file("out.gguf") ? 1 : 0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        expect_all_or_nothing();
        assert_ok(write_file("out.gguf"));
        most = resumed > most ? resumed : most;
        expect_whole();
    }
    /* Some of the kills came late enough for a record. */
    assert_true(most > 0);
}

static void sweep_faults(enum by_fault_kind kind)
{
    const uint64_t calls = calls_of_a_run(kind);
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++) {
            remove_outputs();
            by_fault_arm(kind, k, forever);
            const int status = write_file("out.gguf");
            by_fault_arm(kind, 0, false);
            if (status)
                expect_all_or_nothing();
            else
                expect_whole();
            assert_ok(write_file("out.gguf"));
            expect_whole();
        }
}

static void a_kill_of_one_file(void **state)
{
    (void)state;
    shard_bytes = 0;
    sweep_kills();
}

static void a_kill_of_parts(void **state)
{
    (void)state;
    shard_bytes = 2 * sizeof values[0] + 64;
    sweep_kills();
}

static void failing_files(void **state)
{
    (void)state;
    for (shard_bytes = 0; shard_bytes <= 2 * sizeof values[0] + 64;
         shard_bytes += 2 * sizeof values[0] + 64)
        sweep_faults(BY_FAULT_IO);
}

static void failing_memory(void **state)
{
    (void)state;
    shard_bytes = 2 * sizeof values[0] + 64;
    sweep_faults(BY_FAULT_ALLOC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kill_of_one_file, make_values, scratch_leave),
        cmocka_unit_test_setup_teardown(a_kill_of_parts, make_values, scratch_leave),
        cmocka_unit_test_setup_teardown(failing_files, make_values, scratch_leave),
        cmocka_unit_test_setup_teardown(failing_memory, make_values, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
