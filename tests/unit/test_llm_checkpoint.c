/* Reading safetensors headers and GGUF files, and what of them is refused. */
#include "llm/store/checkpoint.h"

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

static void put_bytes(const char *path, const void *head, size_t head_size, size_t zeros)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, head_size, file), head_size);
    for (size_t i = 0; i < zeros; i++)
        fputc((int)(i & 0x7f), file);
    assert_int_equal(fclose(file), 0);
}

/* A safetensors file of a header and so many bytes 0, 1, 2, ... */
static void put_safetensors(const char *path, const char *header, size_t data)
{
    uint8_t bytes[4096] = {0};
    size_t size = strlen(header);
    bytes[0] = (uint8_t)size;
    bytes[1] = (uint8_t)(size >> 8);
    memcpy(bytes + 8, header, size);
    put_bytes(path, bytes, 8 + size, data);
}

static void refuse(const char *header, size_t data, enum baryon_code code, const char *text)
{
    struct by_checkpoint *checkpoint;
    put_safetensors("bad.safetensors", header, data);
    assert_error(by_checkpoint_open(&checkpoint, "bad.safetensors", &err), code, text);
}

static void reads_tensors(void **state)
{
    struct by_checkpoint *checkpoint;
    char shape[64];
    (void)state;
    put_safetensors("a.safetensors",
                    "{\"__metadata__\":{\"format\":\"pt\"},"
                    "\"b\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[4,28]},"
                    "\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                    "\"s\":{\"dtype\":\"F4\",\"shape\":[1,4],\"data_offsets\":[28,30]}}   ",
                    30);
    assert_ok(by_checkpoint_open(&checkpoint, "a.safetensors", &err));
    assert_int_equal(checkpoint->tensor_count, 3);
    assert_string_equal(checkpoint->tensors[0].name, "a");
    const struct by_stored_tensor *b = by_checkpoint_find(checkpoint, "b");
    assert_non_null(b);
    assert_string_equal(b->type->name, "F32");
    assert_string_equal(by_stored_shape(b, shape, sizeof shape), "[2, 3]");
    assert_int_equal(b->elements, 6);
    assert_int_equal(b->bytes, 24);
    assert_int_equal(by_checkpoint_bytes(checkpoint, b)[0], 4);
    assert_int_equal(by_stored_rows(b), 2);
    assert_int_equal(by_stored_columns(b), 3);
    by_checkpoint_done(checkpoint, b, 0, b->bytes);
    assert_int_equal(by_checkpoint_bytes(checkpoint, b)[23], 27);
    assert_null(by_checkpoint_find(checkpoint, "c"));
    assert_string_equal(checkpoint->files[0].notes[0].value, "pt");
    assert_null(checkpoint->config);
    assert_ok(by_checkpoint_check(checkpoint, &err));
    by_checkpoint_close(checkpoint);
}

#define ONE(dtype, shape, offsets)                                                                 \
    "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define TWO(first, second)                                                                         \
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" first                               \
    "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" second "}}"

static void refuses_headers(void **state)
{
    (void)state;
    refuse("[]", 0, BARYON_ERR_INPUT,
           "bad.safetensors@8: header begins with '[', must begin with '{'");
    refuse(ONE("F32", "[2]", "[0,4]"), 4, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'a': data_offsets span 4 bytes, F32 [2] requires 8");
    refuse(ONE("F99", "[2]", "[0,4]"), 4, BARYON_ERR_UNSUPPORTED,
           "bad.safetensors: tensor 'a': dtype 'F99' is not known; known ones are F32, F16, BF16, "
           "F8_E4M3, I8, U8 and the like");
    refuse(ONE("U8", "[-4]", "[0,4]"), 4, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'a': shape has a dimension '-4', must be an integer from 0");
    refuse(ONE("U8", "[4294967296,4294967296]", "[0,4]"), 4, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'a': shape [4294967296, 4294967296] has more elements than 64 "
           "bits count");
    refuse(ONE("U8", "[4]", "[4,0]"), 4, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'a': data_offsets begin at 4 and end at 0, must not end before "
           "they begin");
    refuse(ONE("U8", "[4]", "[0,4]"), 3, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'a': data_offsets end at 4, the file has 3 bytes after its "
           "header");
    refuse(ONE("U8", "[4]", "[0,4]"), 5, BARYON_ERR_INPUT,
           "bad.safetensors: tensors end at byte 4 of 5 after the header, must fill the file");
    refuse(ONE("F4", "[3]", "[0,1]"), 1, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'a': shape [3] has 3 elements, F4 requires a multiple of 2");
    refuse(TWO("[0,4]", "[2,6]"), 6, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'b': data_offsets begin at 2, before those of tensor 'a' end "
           "(4), must not overlap");
    refuse(TWO("[0,4]", "[6,10]"), 10, BARYON_ERR_INPUT,
           "bad.safetensors: tensor 'b': data_offsets begin at 6, the bytes from 4 on belong to no "
           "tensor, must not leave a hole");
}

static void reads_shards(void **state)
{
    struct by_checkpoint *checkpoint;
    (void)state;
    put_safetensors("model-00001-of-00002.safetensors", ONE("U8", "[4]", "[0,4]"), 4);
    assert_error(by_checkpoint_open(&checkpoint, ".", &err), BARYON_ERR_INPUT,
                 ".: has no 'model-00002-of-00002.safetensors', must have all 2 parts");
    put_safetensors("model-00002-of-00002.safetensors",
                    "{\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1);
    put_file("config.json", "{\"model_type\": \"llama\"}");
    assert_ok(by_checkpoint_open(&checkpoint, ".", &err));
    assert_int_equal(checkpoint->file_count, 2);
    assert_int_equal(checkpoint->tensors[1].file, 1);
    assert_string_equal(by_doc_get(checkpoint->config, "model_type")->text, "llama");
    by_checkpoint_close(checkpoint);
    put_file("model.safetensors.index.json",
             "{\"weight_map\": {\"b\": \"model-00002-of-00002.safetensors\"}}");
    assert_ok(by_checkpoint_open(&checkpoint, ".", &err));
    assert_int_equal(checkpoint->tensor_count, 1);
    by_checkpoint_close(checkpoint);
    put_file("model.safetensors.index.json",
             "{\"weight_map\": {\"c\": \"model-00002-of-00002.safetensors\"}}");
    assert_error(by_checkpoint_open(&checkpoint, ".", &err), BARYON_ERR_INPUT,
                 "model.safetensors.index.json: tensor 'b' of 'model-00002-of-00002.safetensors' "
                 "is not in weight_map, must be");
    put_file("model.safetensors.index.json", "{\"weight_map\": {\"c\": \"../x.safetensors\"}}");
    assert_error(by_checkpoint_open(&checkpoint, ".", &err), BARYON_ERR_INPUT,
                 "model.safetensors.index.json: location '../x.safetensors' has a part '..', must "
                 "stay in the folder of the model; use a path relative to the folder of the model");
}

static void notices_a_change(void **state)
{
    struct by_checkpoint *checkpoint;
    (void)state;
    put_safetensors("a.safetensors", ONE("U8", "[4]", "[0,4]"), 4);
    assert_ok(by_checkpoint_open(&checkpoint, "a.safetensors", &err));
    assert_ok(by_checkpoint_check(checkpoint, &err));
    FILE *file = fopen("a.safetensors", "ab");
    assert_non_null(file);
    fputc('!', file);
    assert_int_equal(fclose(file), 0);
    by_err_clear(&err);
    assert_int_equal(by_checkpoint_check(checkpoint, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_CHANGED);
    by_checkpoint_close(checkpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_tensors, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(refuses_headers, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(reads_shards, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(notices_a_change, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
