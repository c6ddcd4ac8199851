#include "solve/round_behind.h"

#include "ir/tensor.h"

#include <math.h>

#define BLOCK 64 /* outputs at once */

/* --- What is seen --- */

static float constant_or(const struct baryon_node *node, size_t slot, float other)
{
    const struct baryon_value *value = by_node_in(node, slot);
    double found;
    bool is_one;
    if (!value || value->is_input ||
        by_tensor_number(value->initializer, &is_one, &found, NULL) < 0 || !is_one)
        return other;
    return (float)found;
}

void by_round_seen(const struct baryon_node *node, float *low, float *high)
{
    const struct baryon_value *out = by_node_out(node, 0);
    *low = -INFINITY;
    *high = INFINITY;
    if (out->use_count != 1 || !out->uses[0].node)
        return;
    const struct baryon_node *next = out->uses[0].node;
    if (by_node_is(next, "Relu"))
        *low = 0;
    if (by_node_is(next, "HardSwish"))
        *low = -3;
    if (by_node_is(next, "Clip") && out->uses[0].slot == 0) {
        *low = constant_or(next, 1, by_node_float(next, "min", -INFINITY));
        *high = constant_or(next, 2, by_node_float(next, "max", INFINITY));
    }
}

/* --- Looking at samples --- */

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

static void multiply(const struct looking *looking, const float *weights, size_t outs, size_t group,
                     float *to)
{
    const struct by_round_chunk *chunk = looking->chunk;
    const int columns = (int)chunk->layer->columns, length = (int)chunk->length;
    looking->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)outs, length,
                         columns, 1, weights, columns,
                         chunk->x + group * chunk->layer->columns * chunk->length, length, 0, to,
                         length);
}

/* exact becomes the way from what was aimed at to what will do as well. */
static double differ(const struct looking *looking, size_t out, float *exact, const float *now)
{
    const struct by_round_behind *behind = looking->behind;
    const struct by_round_layer *layer = looking->chunk->layer;
    const float *wanted = looking->chunk->y + out * looking->chunk->length;
    const float share = (float)behind->mix;
    const float exact_bias = (float)behind->exact_bias[out],
                now_bias = (float)behind->now_bias[out];
    double sum = 0;
    for (size_t i = 0; i < looking->chunk->length; i++) {
        const float y = wanted[i], given = now[i] + now_bias;
        const float aim = (1 - share) * y + share * (exact[i] + exact_bias);
        exact[i] = y <= layer->low    ? (given < layer->low ? given : layer->low) - aim
                   : y >= layer->high ? (given > layer->high ? given : layer->high) - aim
                                      : 0;
        sum += (double)exact[i];
    }
    return sum;
}

static void look(const struct looking *looking, size_t item, float *results)
{
    const struct by_round_behind *behind = looking->behind;
    const struct by_round_chunk *chunk = looking->chunk;
    const struct by_round_layer *layer = chunk->layer;
    const size_t group = item / looking->blocks, first = item % looking->blocks * BLOCK;
    const size_t left = layer->outs - first, outs = left < BLOCK ? left : BLOCK;
    const size_t place = group * layer->outs + first, length = chunk->length;
    float *exact = results, *now = results + BLOCK * length;
    multiply(looking, behind->exact + place * layer->columns, outs, group, exact);
    multiply(looking, behind->now + place * layer->columns, outs, group, now);
    for (size_t i = 0; i < outs; i++)
        behind->y[place + i] += differ(looking, place + i, exact + i * length, now + i * length);
    looking->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)outs,
                         (int)layer->columns, (int)length, 1, exact, (int)length,
                         chunk->x + group * layer->columns * length, (int)length, 1,
                         behind->cross + place * layer->columns, (int)layer->columns);
}

static int look_each(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct looking *looking = context;
    (void)err;
    for (size_t i = begin; i < end; i++)
        look(looking, i, looking->results + worker * 2 * BLOCK * looking->chunk->length);
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
    const int status = by_par_for(looking->pool, chunk->layer->groups * looking->blocks, 1,
                                  look_each, looking, err);
    by_free(looking->results);
    return status;
}

int by_round_behind_look(struct by_round_behind *behind, struct by_round_scratch *scratch,
                         const struct by_round_layer *layer, const struct by_array *x,
                         const struct by_array *y, uint64_t sample, struct baryon_error *err)
{
    struct looking looking = {.behind = behind,
                              .blas = by_round_blas(scratch),
                              .pool = by_round_pool(scratch),
                              .blocks = (layer->outs + BLOCK - 1) / BLOCK};
    return by_round_each_chunk(scratch, layer, x, y, sample, add_chunk, &looking, err);
}
