/* Samples from .npz archives: one array an input, by name. Others stay packed. */
#include "input/input.h"
#include "input/npy.h"

#include <string.h>

#define PEEK_BYTES (BY_NPY_HEADER_MAX + 16)

static bool is_wanted_member(const struct by_reading *reading, const struct by_npz *npz,
                             const struct by_npz_member *member)
{
    if (npz->count == 1 && reading->port_count == 1)
        return true;
    for (size_t i = 0; i < reading->port_count; i++)
        if (strcmp(reading->ports[i].name, member->name) == 0)
            return true;
    return false;
}

static int check_payload(const struct by_npy_header *header, const struct by_npz_member *member,
                         struct baryon_error *err)
{
    if (header->data + header->bytes == member->size)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "%llu bytes after the header, but shape and type (%zu x %s) require %zu",
                   (unsigned long long)(member->size - header->data), header->count,
                   by_elem_name(header->elem), header->bytes);
}

/* Offsets in the member become offsets in the file, as far as its bytes are there as they are. */
static void shift_offset(const struct by_npz_member *member, struct baryon_error *err)
{
    if (!err || err->offset < 0)
        return;
    if (member->method != 0)
        err->offset = 0;
    err->offset += (int64_t)member->offset;
}

/* The header first: nothing large is unpacked for an array that cannot be right. */
static int read_header(const struct by_reading *reading, const struct by_npz_member *member,
                       struct by_npy_header *header, struct baryon_error *err)
{
    size_t got = 0;
    uint8_t *start = by_alloc(PEEK_BYTES, 1, err);
    if (!start)
        return -1;
    int failed = by_npz_peek(reading->bytes, reading->size, member, start, PEEK_BYTES, &got, err);
    if (failed == 0 && (failed = by_npy_header_parse(start, got, header, err)) < 0)
        shift_offset(member, err);
    if (failed == 0)
        failed = check_payload(header, member, err);
    by_free(start);
    return failed;
}

/* Stored members stay where they are; deflated ones are unpacked. */
static int read_payload(const struct by_reading *reading, const struct by_npz_member *member,
                        const struct by_npy_header *header, struct by_stored *array,
                        struct baryon_error *err)
{
    uint8_t *whole = NULL;
    if (reading->header_only)
        return 0;
    if (by_npz_read(reading->bytes, reading->size, member, &whole, err) < 0)
        return -1;
    array->owned = whole;
    array->bytes = whole + header->data;
    return 0;
}

static int read_member(const struct by_reading *reading, const struct by_npz_member *member,
                       struct by_stored *array, struct baryon_error *err)
{
    struct by_npy_header header = {0};
    if (read_header(reading, member, &header, err) < 0)
        return -1;
    *array = (struct by_stored){
        .name = member->name,
        .elem = header.elem,
        .swap = header.swap,
        .fortran = header.fortran,
        .rank = header.rank,
        .size = header.bytes,
    };
    memcpy(array->dims, header.dims, sizeof header.dims);
    return read_payload(reading, member, &header, array, err);
}

/* Names of what is left out stay in the list, without bytes, for messages. */
static int read_npz(const struct by_reading *reading, struct by_stored **arrays, size_t *count,
                    struct baryon_error *err)
{
    struct by_npz npz;
    char quoted[BY_QUOTE_MAX];
    if (by_npz_parse(reading->arena, reading->bytes, reading->size, &npz, err) < 0)
        return -1;
    *arrays = by_arena_alloc(reading->arena, npz.count, sizeof **arrays, err);
    if (!*arrays)
        return -1;
    *count = npz.count;
    for (size_t i = 0; i < npz.count; i++) {
        const struct by_npz_member *member = &npz.members[i];
        (*arrays)[i].name = member->name;
        if (!is_wanted_member(reading, &npz, member)) {
            by_tell_once(reading, BY_TOLD_EXTRA,
                         "arrays that are not inputs of the model are ignored");
            continue;
        }
        if (read_member(reading, member, &(*arrays)[i], err) < 0) {
            if (err && !strstr(err->place, "member "))
                by_err_in(err, "member %s%s", by_quote(quoted, member->name),
                          err->place[0] ? "." : "");
            return -1;
        }
    }
    return 0;
}

const struct by_reader by_read_npz = {
    .name = "npz",
    .suffixes = ".npz",
    .help = "NumPy arrays with the names of the inputs",
    .untrusted_ok = true,
    .sniff = by_npz_sniff,
    .read = read_npz,
};
