/* NumPy's .npz archives. */
#ifndef BY_NPZ_H
#define BY_NPZ_H

#include "array/npy.h"
#include "ir/tensor.h"

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
