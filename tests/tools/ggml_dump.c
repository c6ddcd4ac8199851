/*
 * Floats to GGUF blocks and back, for tests that compare with ggml. A question on stdin, in native
 * numbers (see pipe.h):
 *
 *   text words   "encode TYPE ROWS WIDTH IMPORTANCE", then f32 values, with IMPORTANCE 1 f32 of
 * each column; or "decode TYPE COUNT", then the blocks
 *
 * The answer is text: "" or an error; without one the blocks, or f32 values.
 */
#include "llm/ggml/codec.h"

#include "tests/tools/pipe.h"

static void answer(int failed, const struct baryon_error *err, const void *out, size_t bytes)
{
    put_text(failed ? err->message : "");
    if (!failed)
        put(out, bytes);
}

static void encode(const struct by_ggml_type *type, size_t rows, size_t width, int important)
{
    struct baryon_error err;
    const size_t bytes = (width + type->block - 1) / type->block * type->bytes * rows;
    float *values = (float *)get_bytes(rows * width * sizeof *values);
    float *importance = important ? (float *)get_bytes(width * sizeof *importance) : NULL;
    void *out = have(bytes);
    answer(by_ggml_encode(type, values, rows, width, importance, out, &err), &err, out, bytes);
    free(out);
    free(importance);
    free(values);
}

static void decode(const struct by_ggml_type *type, size_t count)
{
    struct baryon_error err;
    char *blocks = get_bytes(count / type->block * type->bytes);
    float *out = have(count * sizeof *out);
    answer(by_ggml_decode(type, blocks, count, out, &err), &err, out, count * sizeof *out);
    free(out);
    free(blocks);
}

int main(void)
{
    uint32_t size;
    while (fread(&size, sizeof size, 1, stdin) == 1) {
        char what[16], name[16], *words = get_bytes(size);
        size_t rows = 0, width = 0;
        int important = 0;
        if (sscanf(words, "%15s %15s %zu %zu %d", what, name, &rows, &width, &important) < 3)
            return 2;
        const struct by_ggml_type *type = by_ggml_type_named(name);
        if (!type)
            return 2;
        if (what[0] == 'e')
            encode(type, rows, width, important);
        else
            decode(type, rows);
        free(words);
        fflush(stdout);
    }
    return 0;
}
