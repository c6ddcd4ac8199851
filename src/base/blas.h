/*
 * Products of float32 matrices by whatever CBLAS the system has, opened at run time,
 * so that only what multiplies looks for one. Looked for: $BARYON_CBLAS, then OpenBLAS,
 * then libcblas and libblas of the system; without any, base/gemm.h multiplies. It is kept to one
 * thread: threads are the caller's business, and results must not depend on their number. Calls
 * from several threads at once are fine; where the library is not made for them, they take turns.
 */
#ifndef BY_BLAS_H
#define BY_BLAS_H

#include "base/err.h"

#include <stddef.h>

struct by_blas {
    const char *name; /* "OpenBLAS 0.3.21", or the file's name */
    const char *path;
    /* Row-major C[m][n] = alpha op(A) op(B) + beta C, as cblas_sgemm has it. */
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*ssyrk)(int order, int uplo, int trans, int n, int k, float alpha, const float *a,
                  int lda, float beta, float *c, int ldc);
};

enum { BY_BLAS_ROW_MAJOR = 101, BY_BLAS_NO_TRANS = 111, BY_BLAS_TRANS = 112, BY_BLAS_UPPER = 121 };

/* Safe from several threads; opening again gives the same. It stays loaded. */
int by_blas_open(const struct by_blas **blas, struct baryon_error *err);

#endif
