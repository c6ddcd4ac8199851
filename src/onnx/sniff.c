/*
 * Files that people give instead of an ONNX model. One row a kind, the special
 * before the general; none of them can be the beginning of a model.
 */
#include "onnx/check.h"

#include "base/str.h"
#include "onnx/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TEXT_LOOKED_AT 1024u
#define ZEROS_NEEDED   16u

struct kind {
    size_t at;
    const char *magic; /* bytes at `at`; NULL: only matches() decides */
    size_t magic_size;
    bool (*matches)(struct by_span file); /* may be NULL */
    const char *what, *hint;
};

#define MAGIC(at, text) at, text, sizeof text - 1

static uint64_t little_endian(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static bool contains(struct by_span file, size_t within, const char *text)
{
    return memmem(file.data, file.size < within ? file.size : within, text, strlen(text));
}

/* --- archives --- */

/* The name of the first member begins at byte 30. */
static bool zip_begins_with(struct by_span file, const char *suffix)
{
    size_t length = strlen(suffix);
    if (file.size < 30)
        return false;
    size_t name = (size_t)little_endian(file.data + 26, 2);
    return name >= length && name <= file.size - 30 &&
           memcmp(file.data + 30 + name - length, suffix, length) == 0;
}

static bool is_torch_zip(struct by_span file)
{
    return zip_begins_with(file, "/data.pkl") || zip_begins_with(file, "/.format_version");
}

static bool is_npz(struct by_span file)
{
    return zip_begins_with(file, ".npy");
}

static bool is_keras_zip(struct by_span file)
{
    return zip_begins_with(file, "metadata.json");
}

/* The mode of the first member, in octal. */
static bool is_tar(struct by_span file)
{
    for (size_t i = 100; i < 107; i++)
        if (!memchr("01234567 ", file.data[i], 10))
            return false;
    return true;
}

/* --- other models --- */

/* A short way to the root, so that no model that says these letters is meant. */
static bool is_flatbuffer(struct by_span file)
{
    return little_endian(file.data, 4) < 4096;
}

static bool is_pickle(struct by_span file)
{
    return file.size > 3 && file.data[1] >= 2 && file.data[1] <= 5 &&
           file.data[file.size - 1] == '.';
}

static bool is_safetensors(struct by_span file)
{
    return file.size > 8 && file.data[8] == '{' && little_endian(file.data, 8) <= file.size - 8;
}

/* A length-delimited field: its content. */
static bool read_field(struct by_span *rest, uint8_t tag, struct by_span *content)
{
    uint64_t size;
    if (!rest->size || rest->data[0] != tag)
        return false;
    size_t used = by_varint_read(rest->data + 1, rest->size - 1, &size);
    if (!used || size > rest->size - 1 - used)
        return false;
    *content = (struct by_span){rest->data + 1 + used, (size_t)size};
    *rest = (struct by_span){content->data + size, rest->size - 1 - used - (size_t)size};
    return true;
}

/* Schema version 1, then one graph up to the end of the file. */
static bool is_saved_model(struct by_span file)
{
    struct by_span graph;
    if (file.size < 4 || file.data[0] != 0x08 || file.data[1] != 1)
        return false;
    file = (struct by_span){file.data + 2, file.size - 2};
    return read_field(&file, 0x12, &graph) && !file.size && graph.size && graph.data[0] == 0x0a;
}

/* Nodes of a name and an operator; the first is an input, a weight or nothing. */
static bool is_graph_def(struct by_span file)
{
    static const char *const ops[] = {"Placeholder", "Const",    "NoOp",        "VarHandleOp",
                                      "VariableV2",  "Variable", "RandomNormal"};
    struct by_span node, name, op;
    if (!read_field(&file, 0x0a, &node) || !read_field(&node, 0x0a, &name) ||
        !read_field(&node, 0x12, &op))
        return false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op.size == strlen(ops[i]) && memcmp(op.data, ops[i], op.size) == 0)
            return true;
    return false;
}

static bool is_caffe(struct by_span file)
{
    struct by_span name;
    return read_field(&file, 0x0a, &name) && file.size > 1 && file.data[0] == 0xa2 &&
           file.data[1] == 0x06;
}

static bool is_paddle(struct by_span file)
{
    struct by_span block;
    return read_field(&file, 0x0a, &block) && block.size > 3 &&
           memcmp(block.data, "\x08\x00\x10", 3) == 0;
}

/* TensorProto: dims, then the element type, where a model has the producer's name. */
static bool is_tensor(struct by_span file)
{
    size_t at = 0;
    while (at < file.size && file.data[at] == 0x08) {
        uint64_t dim;
        size_t used = by_varint_read(file.data + at + 1, file.size - at - 1, &dim);
        if (!used)
            return false;
        at += 1 + used;
    }
    return at + 1 < file.size && file.data[at] == 0x10 && file.data[at + 1] < 64;
}

/* --- text --- */

static struct by_span skip_blanks(struct by_span file)
{
    size_t at = file.size >= 3 && memcmp(file.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < file.size && memchr(" \t\r\n", file.data[at], 4))
        at++;
    return (struct by_span){file.data + at, file.size - at};
}

static bool text_begins_with(struct by_span file, const char *text)
{
    struct by_span rest = skip_blanks(file);
    return rest.size >= strlen(text) &&
           strncasecmp((const char *)rest.data, text, strlen(text)) == 0;
}

static bool is_html(struct by_span file)
{
    return text_begins_with(file, "<!doctype html") || text_begins_with(file, "<html") ||
           text_begins_with(file, "<head");
}

static bool is_openvino(struct by_span file)
{
    return text_begins_with(file, "<?xml") && contains(file, TEXT_LOOKED_AT, "<net ");
}

static bool is_xml(struct by_span file)
{
    return text_begins_with(file, "<?xml");
}

/* Every model has a control byte in its first bytes: the tag of one field or another. */
static bool is_text(struct by_span file)
{
    size_t size = file.size < TEXT_LOOKED_AT ? file.size : TEXT_LOOKED_AT;
    for (size_t i = 0; i < size; i++)
        if ((file.data[i] < 0x20 && !memchr("\t\n\r\f", file.data[i], 4)) || file.data[i] == 0x7f)
            return false;
    while (size && file.size > size && (file.data[size] & 0xc0) == 0x80)
        size--;
    return by_utf8_valid(file.data, size);
}

static bool is_json(struct by_span file)
{
    return (text_begins_with(file, "{") || text_begins_with(file, "[")) && is_text(file);
}

static bool is_zeros(struct by_span file)
{
    size_t size = file.size < TEXT_LOOKED_AT ? file.size : TEXT_LOOKED_AT;
    for (size_t i = 0; i < size; i++)
        if (file.data[i])
            return false;
    return size >= ZEROS_NEEDED;
}

static bool is_riff(struct by_span file)
{
    return memcmp(file.data, "RIFF", 4) == 0;
}

static bool is_bitmap(struct by_span file)
{
    return file.size > 14 && little_endian(file.data + 2, 4) == file.size &&
           little_endian(file.data + 6, 4) == 0;
}

#define UNPACK "unpack it and give the .onnx file"
#define EXPORT "export the model to ONNX where it was trained"

static const struct kind kinds[] = {
    {MAGIC(0, "PK\3\4"), is_torch_zip, "a PyTorch file", "export it with torch.onnx.export"},
    {MAGIC(0, "PK\3\4"), is_npz, "an .npz archive of arrays",
     "give it as --data, not as the model"},
    {MAGIC(0, "PK\3\4"), is_keras_zip, "a Keras file", "convert it with tf2onnx or keras.export"},
    {MAGIC(0, "PK\3\4"), NULL, "a zip archive", UNPACK},
    {MAGIC(0, "PK\5\6"), NULL, "an empty zip archive", "give the .onnx file"},
    {MAGIC(0, "\x1f\x8b"), NULL, "a gzip file", "unpack it with gunzip or tar -xzf"},
    {MAGIC(0, "\3757zXZ"), NULL, "an xz file", "unpack it with unxz or tar -xJf"},
    {MAGIC(0, "\x28\xb5\x2f\xfd"), NULL, "a zstd file", "unpack it with unzstd"},
    {MAGIC(0, "BZh"), NULL, "a bzip2 file", "unpack it with bunzip2 or tar -xjf"},
    {MAGIC(0, "7z\xbc\xaf\x27\x1c"), NULL, "a 7z archive", UNPACK},
    {MAGIC(0, "Rar!"), NULL, "a rar archive", UNPACK},
    {MAGIC(257, "ustar"), is_tar, "a tar archive", UNPACK},
    {MAGIC(4, "ORTM"), is_flatbuffer, "a model in ONNX Runtime's own format (.ort)",
     "give the .onnx file that it was built from"},
    {MAGIC(4, "TFL3"), is_flatbuffer, "a TensorFlow Lite model",
     "give the original model as ONNX, or convert it with tf2onnx --tflite"},
    {MAGIC(4, "PTMF"), is_flatbuffer, "a PyTorch mobile model", "export it with torch.onnx.export"},
    {MAGIC(4, "ET12"), is_flatbuffer, "an ExecuTorch program",
     "export the model with torch.onnx.export"},
    {MAGIC(0, "\x80"), is_pickle, "a Python pickle, perhaps an old PyTorch file",
     "export the model with torch.onnx.export"},
    {MAGIC(0, "\x89HDF\r\n\x1a\n"), NULL, "an HDF5 file, perhaps a Keras model",
     "convert it with tf2onnx"},
    {MAGIC(0, "GGUF"), NULL, "a GGUF file", EXPORT},
    {MAGIC(0, "\x93NUMPY"), NULL, "an .npy array", "give it as --data, not as the model"},
    {MAGIC(0, "\x12\1\0\0\0\0\0\0"), NULL, "MXNet parameters", EXPORT},
    {MAGIC(0, "ftrt"), NULL, "a TensorRT engine", "give the .onnx file that it was built from"},
    {MAGIC(0, "ptrt"), NULL, "a TensorRT engine", "give the .onnx file that it was built from"},
    {MAGIC(0, "7767517\n"), NULL, "an ncnn model", "give the .onnx file that it was built from"},
    {MAGIC(0, "%PDF"), NULL, "a PDF document", "give the .onnx file"},
    {MAGIC(0, "\x89PNG\r\n"), NULL, "a PNG picture", "give it as --data, not as the model"},
    {MAGIC(0, "\xff\xd8\xff"), NULL, "a JPEG picture", "give it as --data, not as the model"},
    {MAGIC(0, "GIF8"), NULL, "a GIF picture", "give the .onnx file"},
    {MAGIC(0, "BM"), is_bitmap, "a BMP picture", "give the .onnx file"},
    {MAGIC(8, "WEBP"), is_riff, "a WebP picture", "give the .onnx file"},
    {MAGIC(0, "II*\0"), NULL, "a TIFF picture", "give the .onnx file"},
    {MAGIC(0, "\177ELF"), NULL, "a program or library", "give the .onnx file"},
    {MAGIC(0, "\xff\xfe"), NULL, "a text in UTF-16", "give the .onnx file"},
    {0, NULL, 0, is_safetensors, "a safetensors file", EXPORT},
    {0, NULL, 0, is_saved_model, "a TensorFlow SavedModel", "convert it with tf2onnx"},
    {0, NULL, 0, is_graph_def, "a TensorFlow graph", "convert it with tf2onnx --graphdef"},
    {0, NULL, 0, is_caffe, "a Caffe model", EXPORT},
    {0, NULL, 0, is_paddle, "a PaddlePaddle program", "convert it with paddle2onnx"},
    {0, NULL, 0, is_tensor, "a single ONNX tensor (.pb)", "give the .onnx file"},
    {0, NULL, 0, is_html, "a web page",
     "a download page was saved instead of the file: use the direct link to the file"},
    {0, NULL, 0, is_openvino, "an OpenVINO model", EXPORT},
    {0, NULL, 0, is_xml, "an XML file", "give the .onnx file"},
    {0, NULL, 0, is_json, "a JSON file", "give the .onnx file"},
    {0, NULL, 0, is_zeros, "zero bytes at the start",
     "the download or the disk failed: download the file again"},
};

static bool is_kind(const struct kind *kind, struct by_span file)
{
    if (kind->magic && (file.size < kind->at + kind->magic_size ||
                        memcmp(file.data + kind->at, kind->magic, kind->magic_size) != 0))
        return false;
    return !kind->matches || kind->matches(file);
}

static int refuse_file_kind(struct baryon_error *err, const char *what, const char *hint)
{
    by_fail(err, BARYON_ERR_INPUT, "%s, must be an ONNX model", what);
    return by_err_hint(err, "%s", hint);
}

/* "version https://git-lfs.github.com/spec/v1", then lines "oid sha256:..." and "size N". */
static int refuse_lfs_pointer(struct by_span file, struct baryon_error *err)
{
    const uint8_t *line = memmem(file.data, file.size, "\nsize ", 6);
    unsigned long long size = 0;
    for (const uint8_t *at = line ? line + 6 : NULL;
         at && at < file.data + file.size && *at >= '0' && *at <= '9' && size < UINT32_MAX; at++)
        size = size * 10 + (unsigned)(*at - '0');
    by_fail(err, BARYON_ERR_INPUT,
            "a Git LFS pointer (to a file of %llu bytes), must be the file itself", size);
    return by_err_hint(err, "fetch it with 'git lfs pull'");
}

static int refuse_text(struct by_span file, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct by_span line = skip_blanks(file);
    size_t size = 0;
    while (size < line.size && size < 40 && line.data[size] != '\n' && line.data[size] != '\r')
        size++;
    by_fail(err, BARYON_ERR_INPUT, "a text that begins with %s, must be an ONNX model",
            by_quote_bytes(quoted, line.data, size));
    return by_err_hint(err, "give the .onnx file");
}

int by_sniff_model(const uint8_t *bytes, size_t size, struct baryon_error *err)
{
    const struct by_span file = {bytes, size};
    if (!size)
        return refuse_file_kind(err, "an empty file (0 bytes)",
                                "the download or the export was interrupted: repeat it");
    if (text_begins_with(file, "version https://git-lfs"))
        return refuse_lfs_pointer(file, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_kind(&kinds[i], file))
            return refuse_file_kind(err, kinds[i].what, kinds[i].hint);
    return is_text(file) ? refuse_text(file, err) : 0;
}
