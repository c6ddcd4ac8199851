/* Writing .npy, byte for byte as numpy.save does. */
#include "array/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREAMBLE     10 /* magic, version 1.0, 16-bit length */
#define ALIGN        64
#define GROWTH_ROOM  21 /* NumPy leaves room for the first dimension to become this long */
#define CHUNK_VALUES 4096

/* What an array of `elem` is stored as. */
static int stored_elem(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    if (!info || info->bits == 0)
        return BY_ELEM_UNDEFINED;
    if (info->numpy)
        return (int)elem;
    if (info->class == BY_CLASS_FLOAT)
        return BY_ELEM_FLOAT;
    return by_elem_is_signed(elem) ? BY_ELEM_INT8 : BY_ELEM_UINT8;
}

struct text {
    char *out;
    size_t size, used;
};

static void add_header_text(struct text *text, const char *part)
{
    size_t length = strlen(part);
    if (text->used + length < text->size)
        memcpy(text->out + text->used, part, length);
    text->used += length;
}

/* "(2, 3)", "(3,)", "()"; returns the digits of the first dimension. */
static size_t add_shape(struct text *text, const int64_t *dims, size_t rank)
{
    char number[24];
    size_t digits = 0;
    add_header_text(text, "(");
    for (size_t i = 0; i < rank; i++) {
        snprintf(number, sizeof number, "%" PRId64, dims[i]);
        if (i == 0)
            digits = strlen(number);
        add_header_text(text, number);
        if (i + 1 < rank)
            add_header_text(text, ", ");
    }
    add_header_text(text, rank == 1 ? ",)" : ")");
    return digits;
}

size_t by_npy_header_write(char *out, size_t size, int64_t elem, const int64_t *dims, size_t rank)
{
    const struct by_elem_info *info = by_elem_info(stored_elem(elem));
    if (!info || rank > 16)
        return 0;
    struct text text = {out, size, PREAMBLE};
    add_header_text(&text, "{'descr': '");
    add_header_text(&text, info->numpy);
    add_header_text(&text, "', 'fortran_order': False, 'shape': ");
    size_t digits = add_shape(&text, dims, rank);
    add_header_text(&text, ", }");
    size_t spaces = rank ? GROWTH_ROOM - digits : 0;
    spaces += ALIGN - (text.used + spaces + 1) % ALIGN;
    size_t total = text.used + spaces + 1;
    if (total > size)
        return 0;
    memset(out + text.used, ' ', spaces);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", PREAMBLE - 2);
    out[PREAMBLE - 2] = (char)((total - PREAMBLE) & 0xff);
    out[PREAMBLE - 1] = (char)((total - PREAMBLE) >> 8);
    return total;
}

static int add_converted(struct by_writer *writer, int64_t elem, const void *data, size_t count,
                         struct baryon_error *err)
{
    float values[CHUNK_VALUES];
    uint8_t narrow[CHUNK_VALUES];
    const bool integers = by_elem_info(elem)->class == BY_CLASS_INT;
    for (size_t done = 0; done < count;) {
        size_t part = count - done < CHUNK_VALUES ? count - done : CHUNK_VALUES;
        if (by_elem_to_floats(elem, data, done, part, values, err) < 0)
            return -1;
        for (size_t i = 0; integers && i < part; i++)
            narrow[i] = (uint8_t)(int)values[i];
        int failed = integers ? by_writer_add(writer, narrow, part, err)
                              : by_writer_add(writer, values, part * sizeof *values, err);
        if (failed < 0)
            return -1;
        done += part;
    }
    return 0;
}

static int check_size(int64_t elem, size_t count, size_t size, struct baryon_error *err)
{
    size_t need;
    if (stored_elem(elem) == BY_ELEM_UNDEFINED)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "a %s tensor cannot be stored in a .npy file",
                       by_elem_name(elem));
    if (by_elem_bytes(elem, count, &need, err) < 0)
        return -1;
    if (need != size)
        return by_fail(err, BARYON_ERR_INTERNAL, "an array of %zu %s must have %zu bytes, not %zu",
                       count, by_elem_name(elem), need, size);
    return 0;
}

int by_npy_save(const char *path, int64_t elem, const int64_t *dims, size_t rank, const void *data,
                size_t size, unsigned flags, struct baryon_error *err)
{
    char header[BY_NPY_WRITE_MAX];
    size_t count;
    struct by_writer *writer = NULL;
    if (by_dims_count(dims, rank, &count, err) < 0 || check_size(elem, count, size, err) < 0)
        return by_err_file(err, path);
    size_t length = by_npy_header_write(header, sizeof header, elem, dims, rank);
    if (!length)
        return by_fail(err, BARYON_ERR_INTERNAL, "rank %zu is not possible in a .npy header", rank);
    if (by_writer_open(&writer, path, flags, err) < 0)
        return -1;
    int failed = by_writer_add(writer, header, length, err);
    if (failed == 0 && stored_elem(elem) == elem)
        failed = by_writer_add(writer, data, size, err);
    else if (failed == 0)
        failed = add_converted(writer, elem, data, count, err);
    if (failed == 0)
        failed = by_writer_commit(writer, err);
    by_writer_abort(writer);
    return failed < 0 ? by_err_file(err, path) : 0;
}
