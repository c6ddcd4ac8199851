/*
 * NumPy's .npy files.
 *
 * Read are versions 1.0, 2.0 and 3.0 with the types bool, int8..int64,
 * uint8..uint64, float16..float64, complex64 and complex128 in either byte order
 * and either array order. Objects (pickle), records, texts and dates are refused;
 * nothing of a file is ever executed. The header must be the dictionary of three
 * keys that NumPy writes, at most BY_NPY_HEADER_MAX bytes, and the payload exactly
 * as long as shape and type say.
 */
#ifndef BY_NPY_H
#define BY_NPY_H

#include "array/array.h"
#include "base/file.h"

#define BY_NPY_HEADER_MAX 65536
/* Bytes that hold any header that we write: 128 bytes up to rank 16 need less than this. */
#define BY_NPY_WRITE_MAX 512

struct by_npy_header {
    int64_t elem; /* enum by_elem */
    bool swap, fortran;
    size_t rank;
    int64_t dims[16];
    size_t data;  /* offset of the payload */
    size_t count; /* elements */
    size_t bytes; /* of the payload */
};

/* True when the first bytes are a .npy magic. */
bool by_npy_sniff(const uint8_t *bytes, size_t size);
/* The header alone, from the first `size` bytes of a file. Offsets go into err. */
int by_npy_header_parse(const uint8_t *bytes, size_t size, struct by_npy_header *header,
                        struct baryon_error *err);
/* Checks everything, the payload's size included. */
int by_npy_parse(const uint8_t *bytes, size_t size, struct by_npy_header *header,
                 struct baryon_error *err);
/* Payload in native order and C layout into out (header->bytes bytes). */
void by_npy_copy(const struct by_npy_header *header, const uint8_t *bytes, void *out);
/* Header as numpy.save writes it, 64-byte aligned; returns its length, 0 when it does not fit. */
size_t by_npy_header_write(char *out, size_t size, int64_t elem, const int64_t *dims, size_t rank);
/*
 * Atomically writes the file that numpy.save would write. bfloat16, float8, float6, float4
 * and the packed 2- and 4-bit integers have no NumPy type: floats are written as float32
 * (exact), packed integers as int8 or uint8. data is in our native layout of `elem`,
 * `size` its bytes. flags are by_writer's.
 */
int by_npy_save(const char *path, int64_t elem, const int64_t *dims, size_t rank, const void *data,
                size_t size, unsigned flags, struct baryon_error *err);

#endif
