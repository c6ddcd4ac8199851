/*
 * What the files of this folder share. A look at one sample goes:
 *
 *   window.c   where the windows lie: pads, size of the output
 *   rows.c     which rows are taken: sampled, without those that are not finite
 *   columns.c  columns out of the input: im2col of a few rows at a time
 *   chunk.c    spreads that over the team, multiplies
 *   few.c      products of few columns
 *   add.c      adds the products to the folds
 */
#ifndef BY_MOMENTS_INTERNAL_H
#define BY_MOMENTS_INTERNAL_H

#include "moments/chunk.h"

#include <pthread.h>

/* As by_few_products(), on any processor, for tests. */
void by_few_products_ref(const float *columns, size_t count, size_t length, float *out);

#define BY_MOMENTS_LOCKS 64

struct by_moments_scratch {
    const struct by_blas *blas;
    struct by_chunk_room room;
    float **tiles; /* by worker */
    float *values;
    size_t values_room; /* numbers */
    pthread_mutex_t locks[BY_MOMENTS_LOCKS];
};

/* Adds the products of the rows taken to the moments. */
int by_moments_add(struct by_moments *moments, const struct by_columns *columns,
                   const struct by_moments_rows *rows, struct by_moments_scratch *scratch,
                   const struct by_team *team, struct baryon_error *err);

#endif
