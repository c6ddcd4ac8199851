/*
 * NumPy's .npy files, and .npz archives of them.
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

#include "base/file.h"
#include "ir/tensor.h"

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

/*
 * .npz: a zip file with stored or deflated members. What the central directory says
 * is checked against each member's own header before anything is unpacked: encrypted,
 * overlapping, duplicate or other-method members are refused, and sizes that deflate
 * cannot reach (more than BY_NPZ_RATIO_MAX to 1). Nothing is written to disk.
 */
#define BY_NPZ_MEMBERS_MAX 65536
#define BY_NPZ_RATIO_MAX   1100

struct by_npz_member {
    const char *name; /* without ".npy" */
    uint64_t offset;  /* of the packed bytes */
    uint64_t packed, size;
    uint32_t crc;
    int method; /* 0 stored, 8 deflated */
};

struct by_npz {
    struct by_npz_member *members;
    size_t count;
};

bool by_npz_sniff(const uint8_t *bytes, size_t size);
int by_npz_parse(struct by_arena *arena, const uint8_t *bytes, size_t size, struct by_npz *npz,
                 struct baryon_error *err);
/* Unpacks one member into memory for by_free() and checks its size and CRC. */
int by_npz_read(const uint8_t *bytes, size_t size, const struct by_npz_member *member,
                uint8_t **out, struct baryon_error *err);
/* The first bytes of a member, *got of at most `want`; enough for a .npy header. */
int by_npz_peek(const uint8_t *bytes, size_t size, const struct by_npz_member *member, uint8_t *out,
                size_t want, size_t *got, struct baryon_error *err);

#endif
