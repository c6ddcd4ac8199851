/* Tests the messages for files that are no ONNX models. */
#include "onnx/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

struct sample {
    const uint8_t *bytes;
    size_t size;
    const char *message;
};

#define ZIP(name_size, name)                                                                       \
    "PK\3\4"                                                                                       \
    "aaaaaaaaaaaaaaaaaaaaaa" name_size "\0\0\0" name

static void refuses_other_files(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {BYTES(""), "an empty file (0 bytes)"},
        {BYTES(ZIP("\x10", "archive/data.pkl")), "a PyTorch file"},
        {BYTES(ZIP("\x05", "x.npy")), "an .npz archive of arrays"},
        {BYTES(ZIP("\x0d", "metadata.json")), "a Keras file"},
        {BYTES(ZIP("\x05", "a.txt")), "a zip archive"},
        {BYTES("PK\3\4"), "a zip archive"},
        {BYTES("\x1f\x8b\x08"), "a gzip file"},
        {BYTES("\x20\0\0\0ORTM\0\0"), "a model in ONNX Runtime's own format (.ort)"},
        {BYTES("\x1c\0\0\0TFL3\0\0"), "a TensorFlow Lite model"},
        {BYTES("\x80\2}q\0."), "a Python pickle, perhaps an old PyTorch file"},
        {BYTES("\x89HDF\r\n\x1a\n\0"), "an HDF5 file, perhaps a Keras model"},
        {BYTES("GGUF\3\0"), "a GGUF file"},
        {BYTES("\x93NUMPY\1\0"), "an .npy array"},
        {BYTES("\2\0\0\0\0\0\0\0{}"), "a safetensors file"},
        {BYTES("\x08\1\x12\5\x0a\3abc"), "a TensorFlow SavedModel"},
        {BYTES("\x0a\x10\x0a\1x\x12\x0bPlaceholder"), "a TensorFlow graph"},
        {BYTES("\x0a\3net\xa2\6\2\x0a\0"), "a Caffe model"},
        {BYTES("\x0a\5\x08\0\x10\1x"), "a PaddlePaddle program"},
        {BYTES("\x08\1\x08\3\x10\1\x4a\4abcd"), "a single ONNX tensor (.pb)"},
        {BYTES("\xef\xbb\xbf\r\n<!DOCTYPE HTML><p>"), "a web page"},
        {BYTES("<?xml version='1.0'?><net name='a'>"), "an OpenVINO model"},
        {BYTES("<?xml version='1.0'?><a>"), "an XML file"},
        {BYTES(" {\"a\": 1}"), "a JSON file"},
        {BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "zero bytes at the start"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct baryon_error err;
        char wanted[200];
        snprintf(wanted, sizeof wanted, "%s, must be an ONNX model", samples[i].message);
        assert_int_equal(by_sniff_model(samples[i].bytes, samples[i].size, &err), -1);
        assert_string_equal(err.message, wanted);
        assert_int_equal(err.code, BARYON_ERR_INPUT);
        assert_true(err.hint[0]);
    }
}

static void tells_what_a_pointer_stands_for(void **state)
{
    (void)state;
    struct baryon_error err;
    assert_int_equal(by_sniff_model(BYTES("version https://git-lfs.github.com/spec/v1\n"
                                          "oid sha256:00ff\nsize 102442450\n"),
                                    &err),
                     -1);
    assert_string_equal(
        err.message, "a Git LFS pointer (to a file of 102442450 bytes), must be the file itself");
    assert_string_equal(err.hint, "fetch it with 'git lfs pull'");
}

static void shows_how_a_text_begins(void **state)
{
    (void)state;
    struct baryon_error err;
    assert_int_equal(by_sniff_model(BYTES("404: Not Found\n"), &err), -1);
    assert_string_equal(err.message,
                        "a text that begins with '404: Not Found', must be an ONNX model");
}

static void lets_models_through(void **state)
{
    (void)state;
    struct baryon_error err;
    static const struct sample samples[] = {
        {BYTES("\x08\7\x12\7pytorch\x3a\0"), NULL},
        {BYTES("\x08\7\x12\x0bORTM Olive\x3a\0"), NULL}, /* a producer, not a format */
        {BYTES("\x08\7\x12\x0c"
               "abcdWEBP-x\x3a\0"),
         NULL},
        {BYTES("\x08\1\x12\1x\x3a\0"), NULL},
        {BYTES("\x3a\0\x42\4\x0a\0\x10\x0d"), NULL},
        {BYTES("\x42\4\x0a\0\x10\x0d\x3a\0"), NULL},
        {BYTES("\x08"), NULL},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        assert_int_equal(by_sniff_model(samples[i].bytes, samples[i].size, &err), 0);
}

/* Every beginning of every sample is looked at without reading beyond it. */
static void reads_nothing_behind_the_end(void **state)
{
    (void)state;
    static const char text[] = ZIP("\x10", "archive/data.pkl");
    static const char graph[] = "\x0a\x10\x0a\1x\x12\x0bPlaceholder";
    struct baryon_error err;
    for (size_t size = 0; size < sizeof text; size++) {
        uint8_t *copy = test_malloc(size);
        memcpy(copy, text, size);
        by_sniff_model(copy, size, &err);
        if (size < sizeof graph) {
            memcpy(copy, graph, size);
            by_sniff_model(copy, size, &err);
        }
        test_free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(tells_what_a_pointer_stands_for),
        cmocka_unit_test(shows_how_a_text_begins),
        cmocka_unit_test(lets_models_through),
        cmocka_unit_test(reads_nothing_behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
