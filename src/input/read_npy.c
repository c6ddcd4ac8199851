/* Samples from .npy files. */
#include "input/input.h"
#include "input/npy.h"

#include <string.h>

static int read_npy(const struct by_reading *reading, struct by_stored **arrays, size_t *count,
                    struct baryon_error *err)
{
    struct by_npy_header header;
    if (by_npy_parse(reading->bytes, reading->size, &header, err) < 0)
        return -1;
    *arrays = BY_ARENA_NEW(reading->arena, struct by_stored, err);
    if (!*arrays)
        return -1;
    *count = 1;
    **arrays = (struct by_stored){
        .elem = header.elem,
        .swap = header.swap,
        .fortran = header.fortran,
        .rank = header.rank,
        .bytes = reading->header_only ? NULL : reading->bytes + header.data,
        .size = header.bytes,
    };
    memcpy((*arrays)->dims, header.dims, sizeof header.dims);
    return 0;
}

const struct by_reader by_read_npy = {
    .name = "npy",
    .suffixes = ".npy",
    .help = "one NumPy array of any plain number type and order",
    .untrusted_ok = true,
    .sniff = by_npy_sniff,
    .read = read_npy,
};
