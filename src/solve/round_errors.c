/* What choices of a layer's weights cost on samples. */
#include "solve/round.h"

#include "solve/round_sums.h"

#include <string.h>

#define BLOCK 64 /* outputs at once */

struct measuring {
    struct by_round_errors *errors;
    const struct by_round_chunk *chunk;
    const struct by_blas *blas;
    struct by_pool *pool;
    size_t blocks;  /* of outputs, in a group */
    float *results; /* by worker */
    double *sums;   /* by item: noise of each choice, then the signal */
};

static size_t items_of(const struct measuring *measuring)
{
    return measuring->chunk->target->groups * measuring->blocks;
}

static void measure_block(const struct measuring *measuring, size_t item, float *results)
{
    const struct by_round_chunk *chunk = measuring->chunk;
    const struct by_round_target *target = chunk->target;
    const size_t group = item / measuring->blocks, first = item % measuring->blocks * BLOCK;
    const size_t left = target->outs - first, outs = left < BLOCK ? left : BLOCK;
    const size_t place = group * target->outs + first, length = chunk->length;
    const float *wanted = chunk->y + place * length;
    double sum, energy, *sums = measuring->sums + item * (measuring->errors->count + 1);
    for (size_t k = 0; k < measuring->errors->count; k++) {
        const struct by_round_choice *choice = &measuring->errors->choices[k];
        measuring->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)outs,
                               (int)length, (int)target->columns, 1,
                               choice->weights + place * target->columns, (int)target->columns,
                               chunk->x + group * target->columns * length, (int)length, 0, results,
                               (int)length);
        for (size_t i = 0; i < outs; i++)
            sums[k] +=
                by_round_distance(results + i * length, wanted + i * length,
                                  choice->biases ? (double)choice->biases[place + i] : 0, length);
    }
    by_round_sums(wanted, outs * length, &sum, &energy);
    sums[measuring->errors->count] += energy;
}

static int measure_each(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct measuring *measuring = context;
    (void)err;
    for (size_t i = begin; i < end; i++)
        measure_block(measuring, i, measuring->results + worker * BLOCK * measuring->chunk->length);
    return 0;
}

static int measure_items(struct measuring *measuring, struct baryon_error *err)
{
    struct by_round_errors *errors = measuring->errors;
    const size_t items = items_of(measuring), each = errors->count + 1;
    if (by_par_for(measuring->pool, items, 1, measure_each, measuring, err) < 0)
        return -1;
    for (size_t i = 0; i < items; i++) {
        for (size_t k = 0; k < errors->count; k++)
            errors->noise[k] += measuring->sums[i * each + k];
        errors->signal += measuring->sums[i * each + errors->count];
    }
    return 0;
}

static int measure_chunk(struct measuring *measuring, struct baryon_error *err)
{
    const struct by_round_chunk *chunk = measuring->chunk;
    const unsigned workers = measuring->pool ? by_pool_threads(measuring->pool) : 1;
    /* Zeroed: some libraries multiply what is there by a zero beta. */
    measuring->results =
        by_alloc_zero(workers * BLOCK * chunk->length, sizeof *measuring->results, err);
    measuring->sums = by_alloc_zero(items_of(measuring) * (measuring->errors->count + 1),
                                    sizeof *measuring->sums, err);
    const int status = measuring->results && measuring->sums ? measure_items(measuring, err) : -1;
    by_free(measuring->results);
    by_free(measuring->sums);
    return status;
}

static int measure_edited(struct measuring *measuring, struct baryon_error *err)
{
    const struct by_round_errors *errors = measuring->errors;
    struct by_round_chunk edited = *measuring->chunk;
    const size_t count = edited.target->groups * edited.target->columns * edited.length;
    float *x = by_alloc(count, sizeof *x, err);
    if (!x)
        return -1;
    memcpy(x, edited.x, count * sizeof *x);
    errors->edit(errors->context, x, count);
    edited.x = x;
    measuring->chunk = &edited;
    const int status = measure_chunk(measuring, err);
    by_free(x);
    return status;
}

static int add_chunk(void *context, const struct by_round_chunk *chunk, struct baryon_error *err)
{
    struct measuring *measuring = context;
    measuring->chunk = chunk;
    return measuring->errors->edit ? measure_edited(measuring, err) : measure_chunk(measuring, err);
}

static struct measuring measure_with(struct by_round_errors *errors,
                                     const struct by_round_scratch *scratch,
                                     const struct by_round_target *target)
{
    return (struct measuring){.errors = errors,
                              .blas = by_round_blas(scratch),
                              .pool = by_round_pool(scratch),
                              .blocks = (target->outs + BLOCK - 1) / BLOCK};
}

int by_round_errors_look(struct by_round_errors *errors, struct by_round_scratch *scratch,
                         const struct by_round_target *target, const struct by_array *x,
                         const struct by_array *y, uint64_t sample, struct baryon_error *err)
{
    struct measuring measuring = measure_with(errors, scratch, target);
    return by_round_each_chunk(scratch, target, x, y, sample, add_chunk, &measuring, err);
}

int by_round_errors_look_kept(struct by_round_errors *errors, struct by_round_scratch *scratch,
                              const struct by_round_target *target, struct baryon_error *err)
{
    struct measuring measuring = measure_with(errors, scratch, target);
    return by_round_each_kept(scratch, target, add_chunk, &measuring, err);
}
