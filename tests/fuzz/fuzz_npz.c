/*
 * .npz archives: the directory, then the first bytes and the whole of each member
 * that is not too large, and what these hold as .npy.
 */
#include "input/npy.h"

#include <stdlib.h>

#define BYTES_MAX  ((uint64_t)1 << 20)
#define MEMORY_MAX ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_member(const uint8_t *bytes, size_t size, const struct by_npz_member *member)
{
    uint8_t start[256], *whole;
    size_t got;
    struct by_npy_header header;
    struct baryon_error err;
    if (member->offset > size || member->packed > size - member->offset)
        abort();
    if (by_npz_peek(bytes, size, member, start, sizeof start, &got, &err) == 0) {
        if (got > sizeof start || got > member->size)
            abort();
        by_npy_header_parse(start, got, &header, &err);
    }
    if (member->size > BYTES_MAX || by_npz_read(bytes, size, member, &whole, &err) < 0)
        return;
    by_npy_parse(whole, (size_t)member->size, &header, &err);
    by_free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct by_arena arena;
    struct by_npz npz;
    struct baryon_error err;
    by_arena_init(&arena, MEMORY_MAX);
    if (by_npz_parse(&arena, bytes, size, &npz, &err) == 0)
        for (size_t i = 0; i < npz.count; i++)
            read_member(bytes, size, &npz.members[i]);
    by_arena_release(&arena);
    return 0;
}
