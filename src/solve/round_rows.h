/*
 * Rows of one sample, for a layer's solver: what the layer reads in the quantized model, beside
 * what it gives in the float one. A few rows at a time, taken as moments take them
 * (moments/moments.h).
 */
#ifndef BY_ROUND_ROWS_H
#define BY_ROUND_ROWS_H

#include "base/par.h"
#include "moments/chunk.h"
#include "solve/round_target.h"

struct by_round_scratch;

int by_round_scratch_open(struct by_round_scratch **scratch, struct by_pool *pool,
                          struct baryon_error *err);
void by_round_scratch_close(struct by_round_scratch *scratch);
struct by_pool *by_round_pool(const struct by_round_scratch *scratch);
const struct by_blas *by_round_blas(const struct by_round_scratch *scratch);
/* How many samples a layer is going to be solved on. 0, at first: as if it were one. */
void by_round_set_samples(struct by_round_scratch *scratch, size_t samples);
/* Rows so far that were passed over, as numbers in them are not finite or beyond any sums. */
uint64_t by_round_left_out(const struct by_round_scratch *scratch);
/* As many as before samples were looked at once more. */
void by_round_set_left_out(struct by_round_scratch *scratch, uint64_t count);

/* Bytes of rows that are kept to be looked at again. */
#define BY_ROUND_KEPT ((size_t)16 << 20)

/* Rows of the samples that come next are kept until the next call, as long as they fit into so
 * many bytes; what was kept is given back. */
void by_round_keep(struct by_round_scratch *scratch, size_t budget);
/* How many there are: the first ones. */
size_t by_round_kept_samples(const struct by_round_scratch *scratch);

/* One chunk: of each number of x and y, `length` rows side by side. */
struct by_round_chunk {
    const struct by_round_target *target;
    const struct by_chunk *inputs; /* NULL: it was kept */
    size_t length;
    size_t rows;    /* of the sample, in all its chunks */
    const float *x; /* of inputs */
    const float *y; /* [groups * outs][length] */
};

typedef int by_round_chunk_fn(void *context, const struct by_round_chunk *chunk,
                              struct baryon_error *err);

/* x, y: floats. Shapes that do not fit are refused. */
int by_round_each_chunk(struct by_round_scratch *scratch, const struct by_round_target *target,
                        const struct by_array *x, const struct by_array *y, uint64_t sample,
                        by_round_chunk_fn *look, void *context, struct baryon_error *err);
/* The same of the samples that are kept, in their order. */
int by_round_each_kept(struct by_round_scratch *scratch, const struct by_round_target *target,
                       by_round_chunk_fn *look, void *context, struct baryon_error *err);

#endif
