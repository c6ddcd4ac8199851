/* Reads ids of tokens. */
#include "llm/ids.h"

#include "array/npy.h"
#include "base/str.h"

#include <inttypes.h>
#include <string.h>

static bool is_npy(const char *path)
{
    return by_has_suffix(path, ".npy");
}

bool by_llm_ids_given(const struct by_setting_texts *paths)
{
    return paths->count && is_npy(paths->at[0]);
}

static int check_header(const struct by_npy_header *header, size_t length, struct baryon_error *err)
{
    const int64_t elem = header->elem;
    if (elem != BY_ELEM_UINT16 && elem != BY_ELEM_UINT32 && elem != BY_ELEM_INT32 &&
        elem != BY_ELEM_INT64)
        return by_fail(err, BARYON_ERR_INPUT, "ids are %s, must be uint16, uint32, int32 or int64",
                       by_elem_name(elem));
    if (header->rank != 1 && header->rank != 2)
        return by_fail(err, BARYON_ERR_INPUT,
                       "ids have %zu dimensions, must have 1, or 2 [windows, length]",
                       header->rank);
    if (header->rank == 1 || (uint64_t)header->dims[1] >= length)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "windows have %" PRIi64 " ids, must have at least %zu",
            header->dims[1], length);
    return by_err_hint(err, "--length %" PRIi64 " takes all of them", header->dims[1]);
}

static int add_id(struct by_token_ids *ids, int64_t id, size_t index, size_t vocab,
                  struct baryon_error *err)
{
    if (id < 0 || (uint64_t)id >= vocab)
        return by_fail(err, BARYON_ERR_INPUT,
                       "id %" PRIi64 " at %zu, must be 0 to %zu, the ids that the model has", id,
                       index, vocab - 1);
    ids->ids[ids->count++] = (uint32_t)id;
    return 0;
}

static int add_ids(struct by_token_ids *ids, const struct by_npy_header *header,
                   const uint8_t *values, size_t length, size_t vocab, struct baryon_error *err)
{
    const size_t width = header->rank == 2 ? (size_t)header->dims[1] : header->count;
    const size_t taken = header->rank == 2 ? length : width;
    uint32_t *more = by_realloc(ids->ids, ids->count + header->count + 1, sizeof *more, err);
    if (!more)
        return -1;
    ids->ids = more;
    ids->cap = ids->count + header->count + 1;
    for (size_t i = 0; i < header->count; i++) {
        int64_t id;
        if (i % width < taken && (by_elem_to_ints(header->elem, values, i, 1, &id, err) ||
                                  add_id(ids, id, i, vocab, err)))
            return -1;
    }
    return 0;
}

static int read_array(struct by_token_ids *ids, const struct by_mapped *file, size_t length,
                      size_t vocab, struct baryon_error *err)
{
    struct by_npy_header header;
    if (by_npy_parse(file->bytes, file->size, &header, err) || check_header(&header, length, err))
        return -1;
    uint8_t *values = by_alloc(header.bytes, 1, err);
    if (!values)
        return -1;
    by_npy_copy(&header, file->bytes, values);
    const int status = add_ids(ids, &header, values, length, vocab, err);
    by_free(values);
    return status;
}

int by_llm_ids_read(struct by_token_ids *ids, const struct by_setting_texts *paths, size_t length,
                    size_t vocab, struct baryon_error *err)
{
    for (size_t i = 0; i < paths->count; i++) {
        const char *path = paths->at[i];
        struct by_mapped file;
        if (!is_npy(path)) {
            by_fail(err, BARYON_ERR_USAGE, "a text beside ids of .npy files, must be either");
            return by_err_file(err, path);
        }
        if (by_mapped_open(&file, path, err))
            return -1;
        const int status = read_array(ids, &file, length, vocab, err);
        by_mapped_close(&file);
        if (status)
            return by_err_file(err, path);
    }
    return 0;
}
