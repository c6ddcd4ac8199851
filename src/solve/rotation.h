/*
 * Orthogonal matrices that spread the peaks of a few channels over all of them, as products of
 * small ones: Q = F1 x F2 x ... (Kronecker), after a change of order or of signs by the seed. They
 * are applied in n * (n1 + n2 + ...) products and never formed. Arrays in, arrays out, no graph.
 */
#ifndef BY_ROTATION_H
#define BY_ROTATION_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BY_ROTATION_FACTORS 32
#define BY_ROTATION_ODD     255  /* most of what is left of a size without its twos */
#define BY_ROTATION_DENSE   2048 /* most that is read of a matrix without halves */

enum by_rotation_kind {
    /* Hadamard of order 2^k m where one of Paley's is known; else the odd part is random. */
    BY_ROTATION_HADAMARD,
    /* Q 1 = 1, so it commutes with what takes the mean away: regular Hadamard matrices of order
     * 4^k, and a factor with the same property for the rest. */
    BY_ROTATION_KEEPS_MEAN,
    /* Hadamard alone, without signs: of a power of two it is Sylvester's, which others make too. */
    BY_ROTATION_PLAIN,
};

struct by_rotation {
    size_t size;
    size_t count;
    struct {
        size_t size;
        double *matrix; /* [size][size], row-major */
    } factors[BY_ROTATION_FACTORS];
    int32_t *order;  /* element i comes from order[i]; NULL: itself */
    double *signs;   /* NULL: all 1 */
    double *scratch; /* [size] */
};

/* There is one of that size. */
bool by_rotation_fits(size_t size);
/* There is a plain one. */
bool by_rotation_is_plain(size_t size);
/* Same matrix for the same size, kind and seed. */
int by_rotation_make(struct by_rotation *rotation, size_t size, enum by_rotation_kind kind,
                     uint64_t seed, struct baryon_error *err);
void by_rotation_free(struct by_rotation *rotation);

/* Of a matrix [size][size] with elements of one size, Q = matrix / sqrt(size), such as files hold.
 * Halves of Sylvester's form become factors. Refuses what is not orthogonal, and large matrices
 * without halves. */
int by_rotation_of_matrix(struct by_rotation *rotation, const int8_t *matrix, size_t size,
                          struct baryon_error *err);
/* Q becomes its transpose; neither order nor signs. */
void by_rotation_transpose(struct by_rotation *rotation);

/* values becomes values Q; one thread at a time. */
void by_rotation_apply(struct by_rotation *rotation, double *values);
/* The same for any thread, with scratch of its own. */
void by_rotation_apply_with(const struct by_rotation *rotation, double *values, double *scratch);
/* The same of floats; scratch: 2 * size numbers. */
void by_rotation_apply_floats(const struct by_rotation *rotation, float *values, double *scratch);
/* Q itself, [size][size]: row i is what the unit vector i becomes. by_free() it. */
double *by_rotation_matrix(struct by_rotation *rotation, struct baryon_error *err);

#endif
