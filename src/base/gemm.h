/*
 * Products of float32 matrices in loops of our own, for systems without a BLAS: the same bytes on
 * every processor, and several times as slow as a BLAS. Arguments are those of CBLAS; matrices are
 * row-major.
 */
#ifndef BY_GEMM_H
#define BY_GEMM_H

void by_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
              int lda, const float *b, int ldb, float beta, float *c, int ldc);
/* C = alpha op(A) op(A)' + beta C, the upper half alone. */
void by_ssyrk(int order, int uplo, int trans, int n, int k, float alpha, const float *a, int lda,
              float beta, float *c, int ldc);

#endif
