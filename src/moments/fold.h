/*
 * Sums of many arrays of floats that do not depend on their order, at 16 bytes an entry.
 *
 * The line of magnitudes is cut at fixed places, every 40 bits. An array keeps sums of the two
 * highest cells that any of its entries reached, as whole numbers; each value is cut at the same
 * places whatever came before it, and what lies below the lower cell is rounded away. So
 * the result is that of knowing the highest cell from the beginning, and at least 40 bits below
 * the greatest entry are exact. Up to 2^23 additions.
 */
#ifndef BY_FOLD_H
#define BY_FOLD_H

#include "base/mem.h"

#define BY_FOLD_NONE INT32_MIN
#define BY_FOLD_BITS 40

struct by_fold {
    size_t count;
    int32_t cell; /* of `high`: units of 2^(40 cell); `low` is one below. BY_FOLD_NONE: empty */
    int64_t *high, *low;
};

int by_fold_init(struct by_fold *fold, size_t count, struct baryon_error *err);
void by_fold_release(struct by_fold *fold);
/* values must be finite. */
void by_fold_add(struct by_fold *fold, const float *values);
/* The same for entries [first, first + count): as if the others were zero. */
void by_fold_add_part(struct by_fold *fold, size_t first, size_t count, const float *values);
/* The plain definition of by_fold_add(). */
void by_fold_add_ref(struct by_fold *fold, const float *values);
void by_fold_merge(struct by_fold *fold, const struct by_fold *other);
double by_fold_value(const struct by_fold *fold, size_t index);
/* Name of the vector path in use: "avx512", "avx2", "portable". */
const char *by_fold_path(void);

#endif
