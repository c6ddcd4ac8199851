/* Writing safetensors folders and GGUF files: bytes, order, what a stopped run leaves. */
#include "llm/store/gguf_write.h"
#include "llm/store/safetensors_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define TENSORS 3

static struct by_new_tensor tensors[TENSORS] = {
    {"b", NULL, 2, {2, 2}},
    {"a", NULL, 1, {3}},
    {"c", NULL, 0, {0}},
};
static const char *const bytes[TENSORS] = {"0123456789abcdef", "xyz", "!?"};
static const size_t sizes[TENSORS] = {16, 3, 2};
static const struct by_stored_note note = {"format", "pt"};

static struct by_safetensors_plan plan_for(const char *path, uint64_t shard)
{
    tensors[0].type = by_stored_type_by_name("F32");
    tensors[1].type = by_stored_type_by_name("U8");
    tensors[2].type = by_stored_type_by_name("BF16");
    return (struct by_safetensors_plan){.path = path,
                                        .tensors = tensors,
                                        .count = TENSORS,
                                        .shard_bytes = shard,
                                        .notes = &note,
                                        .note_count = 1,
                                        .key = {1, 2},
                                        .flags = BY_WRITER_NO_SYNC};
}

static void put(struct by_safetensors_writer *writer, size_t i)
{
    assert_ok(by_safetensors_put(writer, i, 1, bytes[i] + 1, sizes[i] - 1, &err));
    assert_ok(by_safetensors_put(writer, i, 0, bytes[i], 1, &err));
}

static void check_read(const char *path, size_t files)
{
    struct by_checkpoint *checkpoint;
    assert_ok(by_checkpoint_open(&checkpoint, path, &err));
    assert_int_equal(checkpoint->file_count, files);
    assert_int_equal(checkpoint->tensor_count, TENSORS);
    for (size_t i = 0; i < TENSORS; i++) {
        const struct by_stored_tensor *tensor = by_checkpoint_find(checkpoint, tensors[i].name);
        assert_non_null(tensor);
        assert_ptr_equal(tensor->type, tensors[i].type);
        assert_int_equal(tensor->bytes, sizes[i]);
        assert_memory_equal(by_checkpoint_bytes(checkpoint, tensor), bytes[i], sizes[i]);
    }
    by_checkpoint_close(checkpoint);
}

static void writes_one_file(void **state)
{
    struct by_safetensors_plan plan = plan_for("a.safetensors", 0);
    struct by_safetensors_writer *writer;
    (void)state;
    assert_ok(by_safetensors_create(&writer, &plan, &err));
    for (size_t i = TENSORS; i-- > 0;)
        put(writer, i);
    assert_ok(by_safetensors_finish(writer, &err));
    by_safetensors_abort(writer);
    check_read("a.safetensors", 1);
}

static void writes_shards(void **state)
{
    struct by_safetensors_plan plan = plan_for("out/", 16);
    struct by_safetensors_writer *writer;
    (void)state;
    assert_ok(by_safetensors_create(&writer, &plan, &err));
    for (size_t i = 0; i < TENSORS; i++)
        put(writer, i);
    assert_false(by_file_exists("out"));
    assert_ok(by_safetensors_finish(writer, &err));
    by_safetensors_abort(writer);
    assert_false(by_file_exists("out.part"));
    check_read("out", 2);
    assert_file("out/model.safetensors.index.json",
                "{\n  \"metadata\": {\n    \"total_size\": 21\n  },\n  \"weight_map\": {\n"
                "    \"a\": \"model-00002-of-00002.safetensors\",\n"
                "    \"b\": \"model-00001-of-00002.safetensors\",\n"
                "    \"c\": \"model-00002-of-00002.safetensors\"\n  }\n}\n");
    assert_error(by_safetensors_create(&writer, &plan, &err), BARYON_ERR_USAGE,
                 "out/: is there and not an empty folder, must be new or empty; choose another "
                 "name");
}

static void goes_on(void **state)
{
    struct by_safetensors_plan plan = plan_for("out", 16);
    struct by_safetensors_writer *writer;
    (void)state;
    assert_ok(by_safetensors_create(&writer, &plan, &err));
    put(writer, 0);
    put(writer, 1);
    by_safetensors_abort(writer);
    assert_ok(by_safetensors_create(&writer, &plan, &err));
    assert_true(by_safetensors_has(writer, 0));
    assert_false(by_safetensors_has(writer, 1));
    assert_false(by_safetensors_has(writer, 2));
    put(writer, 1);
    put(writer, 2);
    assert_ok(by_safetensors_finish(writer, &err));
    by_safetensors_abort(writer);
    check_read("out", 2);
}

static void begins_anew_for_another_key(void **state)
{
    struct by_safetensors_plan plan = plan_for("out", 16);
    struct by_safetensors_writer *writer;
    (void)state;
    assert_ok(by_safetensors_create(&writer, &plan, &err));
    put(writer, 0);
    by_safetensors_abort(writer);
    plan.key.low++;
    assert_ok(by_safetensors_create(&writer, &plan, &err));
    assert_false(by_safetensors_has(writer, 0));
    assert_false(by_file_exists("out.part/model-00001-of-00002.safetensors"));
    by_safetensors_abort(writer);
}

static void writes_gguf(void **state)
{
    struct by_safetensors_plan names = plan_for("", 0);
    struct by_arena arena;
    struct by_str list;
    struct by_gguf_writer *writer;
    struct by_checkpoint *checkpoint;
    (void)state;
    (void)names;
    by_arena_init(&arena, 0);
    struct by_gguf_build build = {.arena = &arena};
    by_str_init(&list);
    struct by_gguf_value word = {.type = BY_GGUF_STRING, .text = {"ab", 2}};
    by_gguf_encode(&list, &word);
    by_gguf_encode(&list, &word);
    assert_ok(by_gguf_put_text(&build, "general.architecture", "llama", 5, &err));
    assert_ok(by_gguf_put_u32(&build, "general.alignment", 64, &err));
    assert_ok(by_gguf_put_f32(&build, "eps", 0.5f, &err));
    assert_ok(by_gguf_put_bool(&build, "flag", true, &err));
    assert_ok(by_gguf_put_array(&build, "words", BY_GGUF_STRING, 2, &list, &err));
    by_str_release(&list);
    tensors[1].type = by_stored_type_by_name("I8");
    struct by_gguf_plan plan = {.path = "a.gguf",
                                .pairs = build.at,
                                .pair_count = build.count,
                                .tensors = tensors,
                                .count = TENSORS,
                                .flags = BY_WRITER_NO_SYNC};
    assert_ok(by_gguf_create(&writer, &plan, &err));
    for (size_t i = TENSORS; i-- > 0;)
        assert_ok(by_gguf_add(writer, i, 0, bytes[i], sizes[i], &err));
    assert_ok(by_gguf_finish(writer, &err));
    by_gguf_abort(writer);
    check_read("a.gguf", 1);
    assert_ok(by_checkpoint_open(&checkpoint, "a.gguf", &err));
    assert_int_equal(checkpoint->gguf->alignment, 64);
    assert_int_equal(checkpoint->tensors[1].offset % 64, 0);
    struct by_gguf_walk walk;
    struct by_gguf_value value;
    size_t seen = 0;
    double eps;
    assert_true(by_gguf_float(checkpoint->gguf, "eps", &eps));
    assert_true(eps == 0.5);
    by_gguf_walk(&walk, by_gguf_get(checkpoint->gguf, "words"));
    for (; by_gguf_next(&walk, &value); seen++)
        assert_memory_equal(value.text.text, "ab", 2);
    assert_int_equal(seen, 2);
    by_checkpoint_close(checkpoint);
    by_arena_release(&arena);
}

/* --- GGUF files that go on, and those in parts --- */

static struct by_gguf_plan gguf_plan_for(const char *path, uint64_t shard)
{
    static const struct by_gguf_pair pair = {"general.architecture",
                                             {.type = BY_GGUF_STRING, .text = {"llama", 5}}};
    plan_for("", 0);
    tensors[1].type = by_stored_type_by_name("I8");
    return (struct by_gguf_plan){.path = path,
                                 .pairs = &pair,
                                 .pair_count = 1,
                                 .tensors = tensors,
                                 .count = TENSORS,
                                 .shard_bytes = shard,
                                 .key = {1, 2},
                                 .flags = BY_WRITER_NO_SYNC};
}

static void add(struct by_gguf_writer *writer, size_t i)
{
    assert_ok(by_gguf_add(writer, i, 1, bytes[i] + 1, sizes[i] - 1, &err));
    assert_ok(by_gguf_add(writer, i, 0, bytes[i], 1, &err));
}

static void gguf_goes_on(void **state)
{
    struct by_gguf_plan plan = gguf_plan_for("a.gguf", 0);
    struct by_gguf_writer *writer, *other;
    (void)state;
    assert_ok(by_gguf_create(&writer, &plan, &err));
    add(writer, 0);
    assert_ok(by_gguf_add(writer, 1, 0, bytes[1], 1, &err)); /* not whole */
    assert_error(by_gguf_create(&other, &plan, &err), BARYON_ERR_USAGE,
                 "a.gguf: another process writes to it; wait for it, or choose another name");
    by_gguf_abort(writer);
    assert_false(by_file_exists("a.gguf"));
    assert_ok(by_gguf_create(&writer, &plan, &err));
    assert_true(by_gguf_has(writer, 0));
    assert_false(by_gguf_has(writer, 1));
    assert_false(by_gguf_has(writer, 2));
    add(writer, 1);
    assert_int_equal(by_gguf_finish(writer, &err), -1); /* "c" has not come */
    add(writer, 2);
    assert_ok(by_gguf_finish(writer, &err));
    by_gguf_abort(writer);
    check_read("a.gguf", 1);
    assert_false(by_file_exists("a.gguf.part"));
}

static void gguf_begins_anew(void **state)
{
    struct by_gguf_plan plan = gguf_plan_for("a.gguf", 0);
    struct by_gguf_writer *writer;
    (void)state;
    for (int other = 0; other < 3; other++) {
        assert_ok(by_gguf_create(&writer, &plan, &err));
        add(writer, 0);
        by_gguf_abort(writer);
        plan.key.low += other == 0;
        plan.shard_bytes = other == 1 ? 16 : 0;
        if (other == 2) /* the file itself is another one */
            assert_ok(by_write_file("a.gguf.part/a.gguf", "x", 1, BY_WRITER_NO_SYNC, &err));
        assert_ok(by_gguf_create(&writer, &plan, &err));
        assert_false(by_gguf_has(writer, 0));
        by_gguf_abort(writer);
        /* Nothing is there to go on with. */
        assert_false(by_file_exists("a.gguf.part"));
    }
}

static void gguf_in_parts(void **state)
{
    struct by_gguf_plan plan = gguf_plan_for("a.gguf", 64);
    struct by_gguf_writer *writer;
    struct by_checkpoint *checkpoint;
    (void)state;
    assert_ok(by_gguf_create(&writer, &plan, &err));
    for (size_t i = TENSORS; i-- > 0;)
        add(writer, i);
    assert_false(by_file_exists("a-00001-of-00002.gguf"));
    assert_ok(by_gguf_finish(writer, &err));
    by_gguf_abort(writer);
    assert_false(by_file_exists("a.gguf"));
    assert_false(by_file_exists("a.gguf.part"));
    check_read("a-00001-of-00002.gguf", 2);
    assert_ok(by_checkpoint_open(&checkpoint, "a-00001-of-00002.gguf", &err));
    assert_int_equal(by_checkpoint_find(checkpoint, "a")->file, 0);
    assert_int_equal(by_checkpoint_find(checkpoint, "c")->file, 1);
    by_checkpoint_close(checkpoint);
}

static void links_stay(void **state)
{
    struct by_gguf_plan plan = gguf_plan_for("link.gguf", 0);
    struct by_gguf_writer *writer;
    struct stat status;
    (void)state;
    assert_ok(by_write_file("a.gguf", "old", 3, BY_WRITER_NO_SYNC, &err));
    assert_int_equal(chmod("a.gguf", 0640), 0);
    assert_int_equal(symlink("a.gguf", "link.gguf"), 0);
    assert_ok(by_gguf_create(&writer, &plan, &err));
    for (size_t i = 0; i < TENSORS; i++)
        add(writer, i);
    assert_file("a.gguf", "old");
    assert_ok(by_gguf_finish(writer, &err));
    by_gguf_abort(writer);
    assert_int_equal(lstat("link.gguf", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("a.gguf", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    check_read("a.gguf", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_one_file, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(writes_shards, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(goes_on, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(begins_anew_for_another_key, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(writes_gguf, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(gguf_goes_on, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(gguf_begins_anew, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(gguf_in_parts, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(links_stay, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
