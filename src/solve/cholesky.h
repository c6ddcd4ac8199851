/* The factor of a symmetric matrix: a = l l', with l lower triangular. */
#ifndef BY_CHOLESKY_H
#define BY_CHOLESKY_H

#include "base/blas.h"
#include "base/par.h"

/* Rows and columns that are factored as one; no BLAS is needed for no more than these. */
#define BY_CHOLESKY_BLOCK 128

/*
 * Of matrix [n][n] the lower triangle and the diagonal are read and become l. *positive: false
 * when a pivot is not clearly above zero (a millionth of its diagonal element); what is in the
 * matrix is of no use then. blas may be NULL for one block. Same bits for any number of threads.
 */
int by_cholesky(float *matrix, size_t n, const struct by_blas *blas, struct by_pool *pool,
                bool *positive, struct baryon_error *err);

#endif
