/*
 * NumPy's .npy files, and .npz archives of them.
 */
#ifndef BY_NPY_H
#define BY_NPY_H

#include "base/file.h"
#include "ir/tensor.h"

#define BY_NPY_HEADER_MAX 65536

struct by_npy_header {
    int64_t elem; /* enum by_elem */
    bool swap, fortran;
    size_t rank;
    int64_t dims[16];
    size_t data; /* offset of the payload */
    size_t count;
};

/* Checks everything, the payload's size included. */
int by_npy_parse(const uint8_t *bytes, size_t size, struct by_npy_header *header,
                 struct baryon_error *err);
/* Payload in native order and C layout into out (count * element size bytes). */
void by_npy_copy(const struct by_npy_header *header, const uint8_t *bytes, void *out);
/* Version 1.0 header for an array, as NumPy writes it; returns its length (<= 256 + rank * 24). */
size_t by_npy_header_write(char *out, size_t size, int64_t elem, const int64_t *dims, size_t rank);
/* Atomically writes an array. float16 and bool as they are, bfloat16 and smaller types as float32. */
int by_npy_save(const char *path, int64_t elem, const int64_t *dims, size_t rank,
                const void *data, size_t size, struct baryon_error *err);

/* .npz: a directory of stored or deflated members. */
struct by_npz_member {
    const char *name; /* without ".npy" */
    uint64_t offset, packed, size;
    uint32_t crc;
    int method; /* 0 stored, 8 deflated */
};

struct by_npz {
    struct by_npz_member *members;
    size_t count;
};

int by_npz_parse(struct by_arena *arena, const uint8_t *bytes, size_t size, struct by_npz *npz,
                 struct baryon_error *err);
/* Unpacks one member into the arena and checks its CRC. */
int by_npz_read(struct by_arena *arena, const uint8_t *bytes, size_t size,
                const struct by_npz_member *member, struct by_span *out,
                struct baryon_error *err);

#endif
