/* Discounts errors that the activation after a layer cuts off. */
#include "solve/round_behind.h"

#include "solve/round_sums.h"

#include <math.h>

#define BLOCK 64 /* outputs at once */
#define LANES BY_ROUND_LANES

/* What is left of the mean of y when weights have done their part. */
static double left_of_mean(const struct by_round_moments *moments, const double *y, size_t out,
                           const float *weights)
{
    const size_t width = moments->columns;
    const double *x = moments->x + out / moments->outs * width;
    double mean = y[out];
    for (size_t i = 0; i < width; i++)
        mean -= (double)weights[out * width + i] * x[i];
    return mean;
}

int by_round_behind_open(struct by_round_behind *behind, struct baryon_error *err)
{
    const struct by_round_moments *moments = behind->moments;
    const size_t outs = moments->groups * moments->outs;
    behind->exact_bias = by_alloc_zero(outs, sizeof(double), err);
    behind->now_bias = by_alloc_zero(outs, sizeof(double), err);
    behind->y = by_alloc_zero(outs, sizeof(double), err);
    behind->cross = by_alloc_zero(outs * moments->columns, sizeof(float), err);
    if (!behind->exact_bias || !behind->now_bias || !behind->y || !behind->cross)
        return -1;
    for (size_t i = 0; behind->centred && i < outs; i++) {
        behind->exact_bias[i] = behind->biases
                                    ? (double)behind->biases[i]
                                    : left_of_mean(moments, moments->y, i, behind->exact);
        behind->now_bias[i] = left_of_mean(moments, behind->now_y, i, behind->now);
    }
    return 0;
}

void by_round_behind_close(struct by_round_behind *behind)
{
    by_free(behind->exact_bias);
    by_free(behind->now_bias);
    by_free(behind->y);
    by_free(behind->cross);
}

void by_round_behind_aim(const struct by_round_behind *behind, float *cross, double *y)
{
    const struct by_round_moments *moments = behind->moments;
    const size_t width = moments->columns;
    const double rows = (double)(behind->rows ? behind->rows : 1);
    for (size_t out = 0; out < moments->groups * moments->outs; out++) {
        const double *x = moments->x + out / moments->outs * width, mean = behind->y[out] / rows;
        for (size_t i = out * width; i < (out + 1) * width; i++)
            cross[i] =
                moments->cross[i] + (float)((double)behind->cross[i] / rows -
                                            (behind->centred ? mean * x[i - out * width] : 0));
        y[out] = moments->y[out] + mean;
    }
}

struct looking {
    struct by_round_behind *behind;
    const struct by_round_chunk *chunk;
    const struct by_blas *blas;
    struct by_pool *pool;
    size_t blocks;  /* of outputs, in a group */
    float *results; /* by worker, of two products */
};

static void multiply_block(const struct looking *looking, const float *weights, size_t outs,
                           size_t group, float *to)
{
    const struct by_round_chunk *chunk = looking->chunk;
    const int columns = (int)chunk->target->columns, length = (int)chunk->length;
    looking->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)outs, length,
                         columns, 1, weights, columns,
                         chunk->x + group * chunk->target->columns * chunk->length, length, 0, to,
                         length);
}

/* What the activation hides of one output. */
struct hidden {
    float low, high, share, exact_bias, now_bias;
};

/* From what is aimed at to what will do as well. */
static inline float way_from_aim(const struct hidden *hidden, float y, float exact, float now)
{
    const float given = now + hidden->now_bias;
    const float aim = (1 - hidden->share) * y + hidden->share * (exact + hidden->exact_bias);
    const float below = (given < hidden->low ? given : hidden->low) - aim;
    const float above = (given > hidden->high ? given : hidden->high) - aim;
    return y <= hidden->low ? below : y >= hidden->high ? above : 0;
}

/* exact becomes those ways; their sum. */
static double differ(const struct hidden *hidden, size_t length, const float *restrict wanted,
                     const float *restrict now, float *restrict exact)
{
    const struct hidden h = *hidden;
    double sums[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= length; i += LANES) {
        for (size_t k = 0; k < LANES; k++)
            exact[i + k] = way_from_aim(&h, wanted[i + k], exact[i + k], now[i + k]);
        for (size_t k = 0; k < LANES; k++)
            sums[k] += (double)exact[i + k];
    }
    for (; i < length; i++) {
        exact[i] = way_from_aim(&h, wanted[i], exact[i], now[i]);
        sums[i % LANES] += (double)exact[i];
    }
    return by_round_join(sums);
}

static double differ_at(const struct looking *looking, size_t out, float *exact, const float *now)
{
    const struct by_round_behind *behind = looking->behind;
    const struct by_round_chunk *chunk = looking->chunk;
    const struct hidden hidden = {chunk->target->low, chunk->target->high, (float)behind->mix,
                                  (float)behind->exact_bias[out], (float)behind->now_bias[out]};
    return differ(&hidden, chunk->length, chunk->y + out * chunk->length, now, exact);
}

static void look_at_block(const struct looking *looking, size_t item, float *results)
{
    const struct by_round_behind *behind = looking->behind;
    const struct by_round_chunk *chunk = looking->chunk;
    const struct by_round_target *target = chunk->target;
    const size_t group = item / looking->blocks, first = item % looking->blocks * BLOCK;
    const size_t left = target->outs - first, outs = left < BLOCK ? left : BLOCK;
    const size_t place = group * target->outs + first, length = chunk->length;
    float *exact = results, *now = results + BLOCK * length;
    multiply_block(looking, behind->exact + place * target->columns, outs, group, exact);
    multiply_block(looking, behind->now + place * target->columns, outs, group, now);
    for (size_t i = 0; i < outs; i++)
        behind->y[place + i] += differ_at(looking, place + i, exact + i * length, now + i * length);
    looking->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)outs,
                         (int)target->columns, (int)length, 1, exact, (int)length,
                         chunk->x + group * target->columns * length, (int)length, 1,
                         behind->cross + place * target->columns, (int)target->columns);
}

static int look_each(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct looking *looking = context;
    (void)err;
    for (size_t i = begin; i < end; i++)
        look_at_block(looking, i, looking->results + worker * 2 * BLOCK * looking->chunk->length);
    return 0;
}

static int add_chunk(void *context, const struct by_round_chunk *chunk, struct baryon_error *err)
{
    struct looking *looking = context;
    const unsigned workers = looking->pool ? by_pool_threads(looking->pool) : 1;
    looking->chunk = chunk;
    looking->behind->rows += chunk->length;
    /* Zeroed: some libraries multiply what is there by a zero beta. */
    looking->results = by_alloc_zero(workers * 2 * BLOCK * chunk->length, sizeof(float), err);
    if (!looking->results)
        return -1;
    const int status = by_par_for(looking->pool, chunk->target->groups * looking->blocks, 1,
                                  look_each, looking, err);
    by_free(looking->results);
    return status;
}

static struct looking look_with(struct by_round_behind *behind,
                                const struct by_round_scratch *scratch,
                                const struct by_round_target *target)
{
    return (struct looking){.behind = behind,
                            .blas = by_round_blas(scratch),
                            .pool = by_round_pool(scratch),
                            .blocks = (target->outs + BLOCK - 1) / BLOCK};
}

int by_round_behind_look(struct by_round_behind *behind, struct by_round_scratch *scratch,
                         const struct by_round_target *target, const struct by_array *x,
                         const struct by_array *y, uint64_t sample, struct baryon_error *err)
{
    struct looking looking = look_with(behind, scratch, target);
    return by_round_each_chunk(scratch, target, x, y, sample, add_chunk, &looking, err);
}

int by_round_behind_look_kept(struct by_round_behind *behind, struct by_round_scratch *scratch,
                              const struct by_round_target *target, struct baryon_error *err)
{
    struct looking looking = look_with(behind, scratch, target);
    return by_round_each_kept(scratch, target, add_chunk, &looking, err);
}
