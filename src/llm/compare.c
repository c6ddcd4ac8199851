/* Compares the weights of two checkpoints, a slab of rows at a time. */
#include "llm/compare.h"

#include "base/decibels.h"
#include "base/par.h"

#include <math.h>
#include <string.h>

/* Values of a piece: a slab of rows, at least one. */
#define PIECE_VALUES ((size_t)1 << 18)

struct piece_sum {
    double signal, noise, greatest;
};

struct pair_work {
    struct by_llm_comparison *comparison;
    const struct by_llm_pair *pair;
    struct piece_sum *sums;
    size_t rows; /* of a piece */
};

static struct piece_sum sum_values(const float *a, const float *b, size_t count)
{
    struct piece_sum sum = {0};
    for (size_t i = 0; i < count; i++) {
        double difference = (double)b[i] - (double)a[i];
        sum.signal += (double)a[i] * (double)a[i];
        sum.noise += difference * difference;
        sum.greatest = fmax(sum.greatest, fabs(difference));
    }
    return sum;
}

static int compare_piece(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    struct pair_work *work = context;
    const struct by_llm_pair *pair = work->pair;
    size_t count = (end - begin) * pair->a->columns;
    float *values = by_alloc(count, 2 * sizeof *values, err);
    (void)worker;
    if (!values)
        return -1;
    int status =
        by_llm_source_rows(&work->comparison->a.source, pair->a, begin, end - begin, values, err);
    if (!status)
        status = by_llm_source_rows(&work->comparison->b.source, pair->b, begin, end - begin,
                                    values + count, err);
    if (!status)
        work->sums[begin / work->rows] = sum_values(values, values + count, count);
    by_free(values);
    by_llm_source_done(&work->comparison->a.source, pair->a, begin, end - begin);
    by_llm_source_done(&work->comparison->b.source, pair->b, begin, end - begin);
    return status;
}

static double bits_of(const struct by_llm_weight *weight)
{
    const double values = (double)weight->rows * (double)weight->columns;
    return values > 0 ? 8.0 * (double)by_llm_source_bytes(weight) / values : 0;
}

static void give_back(const struct by_llm_source *source, const struct by_llm_weight *weight)
{
    by_checkpoint_done(source->checkpoint, weight->stored, 0, weight->stored->bytes);
    for (size_t i = 0; weight->as == BY_LLM_AS_CODES && i < weight->fields.count; i++)
        if (weight->parts[i])
            by_checkpoint_done(source->checkpoint, weight->parts[i], 0, weight->parts[i]->bytes);
}

static int compare_pair(struct by_llm_comparison *comparison, struct by_llm_pair *pair,
                        struct by_pool *pool, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const size_t rows =
        (PIECE_VALUES / (pair->a->columns + 1) / BY_LLM_ROWS_STEP + 1) * BY_LLM_ROWS_STEP;
    const size_t pieces = (pair->a->rows + rows - 1) / rows;
    struct pair_work work = {.comparison = comparison, .pair = pair, .rows = rows};
    work.sums = by_alloc_zero(pieces, sizeof *work.sums, err);
    if (!work.sums)
        return -1;
    int status = by_par_for(pool, pair->a->rows, rows, compare_piece, &work, err);
    for (size_t i = 0; i < pieces; i++) {
        pair->signal += work.sums[i].signal;
        pair->noise += work.sums[i].noise;
        pair->greatest = fmax(pair->greatest, work.sums[i].greatest);
    }
    by_free(work.sums);
    give_back(&comparison->a.source, pair->a);
    give_back(&comparison->b.source, pair->b);
    pair->sqnr = by_decibels(pair->signal, pair->noise);
    pair->bits_a = bits_of(pair->a);
    pair->bits_b = bits_of(pair->b);
    return status ? by_err_in(err, "tensor %s", by_quote(quoted, pair->name)) : 0;
}

static const char *pair_defect(const struct by_llm_pair *pair)
{
    if (!pair->b)
        return "only in the first";
    if (pair->a->as == BY_LLM_AS_OTHER || pair->b->as == BY_LLM_AS_OTHER)
        return "no floats";
    if (pair->a->rank != pair->b->rank ||
        memcmp(pair->a->dims, pair->b->dims, pair->a->rank * sizeof *pair->a->dims) != 0)
        return "other shapes";
    return pair->a->rows && pair->a->columns ? NULL : "empty";
}

static int match_pairs(struct by_llm_comparison *comparison, struct baryon_error *err)
{
    struct by_map names;
    int status = 0;
    by_map_init(&names);
    for (size_t i = 0; !status && i < comparison->b.source.count; i++)
        status = by_map_put(&names, comparison->b.source.weights[i].name,
                            &comparison->b.source.weights[i], err);
    comparison->only_b = comparison->b.source.count;
    for (size_t i = 0; !status && i < comparison->a.source.count; i++) {
        struct by_llm_pair *pair = &comparison->pairs[comparison->count++];
        pair->a = &comparison->a.source.weights[i];
        pair->name = pair->a->name;
        pair->b = by_map_get(&names, pair->name);
        pair->why = pair_defect(pair);
        comparison->only_a += !pair->b;
        comparison->only_b -= pair->b != NULL;
    }
    by_map_release(&names);
    return status;
}

static int compare_all(struct by_llm_comparison *comparison, struct by_pool *pool,
                       struct baryon_error *err)
{
    double values = 0, signal = 0, noise = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        struct by_llm_pair *pair = &comparison->pairs[i];
        if (pair->why)
            continue;
        if (compare_pair(comparison, pair, pool, err))
            return -1;
        double count = (double)pair->a->rows * (double)pair->a->columns;
        values += count;
        signal += pair->signal;
        noise += pair->noise;
        comparison->bits_a += pair->bits_a * count;
        comparison->bits_b += pair->bits_b * count;
        comparison->greatest = fmax(comparison->greatest, pair->greatest);
        comparison->compared++;
    }
    if (!comparison->compared)
        return by_fail(err, BARYON_ERR_INPUT, "no weight has a counterpart of its name and shape");
    comparison->sqnr = by_decibels(signal, noise);
    comparison->bits_a /= values;
    comparison->bits_b /= values;
    return 0;
}

/* Files of one kind have the same names, whatever they are. */
static int open_both(struct by_llm_comparison *comparison, const char *a, const char *b,
                     struct baryon_error *err)
{
    const enum by_llm_names names = BY_LLM_NAMES_FILE;
    if (by_llm_open(&comparison->a, a, BY_LLM_STACKS_SPLIT, names, err) ||
        by_llm_open(&comparison->b, b, BY_LLM_STACKS_SPLIT, names, err))
        return -1;
    if (comparison->a.checkpoint->container == comparison->b.checkpoint->container)
        return 0;
    struct by_llm_opened *gguf =
        comparison->a.checkpoint->container == BY_GGUF ? &comparison->a : &comparison->b;
    by_llm_close(gguf);
    return by_llm_open(gguf, gguf == &comparison->a ? a : b, BY_LLM_STACKS_SPLIT,
                       BY_LLM_NAMES_FOLDER, err);
}

int by_llm_compare(struct by_llm_comparison *comparison, const char *a, const char *b,
                   unsigned threads, struct baryon_error *err)
{
    struct by_pool *pool = NULL;
    memset(comparison, 0, sizeof *comparison);
    int status = open_both(comparison, a, b, err);
    if (!status) {
        comparison->pairs =
            by_alloc_zero(comparison->a.source.count, sizeof *comparison->pairs, err);
        status = comparison->pairs ? match_pairs(comparison, err) : -1;
    }
    if (!status)
        status = by_pool_open(&pool, threads, err);
    if (!status)
        status = compare_all(comparison, pool, err);
    by_pool_close(pool);
    if (!status && (by_checkpoint_check(comparison->a.checkpoint, err) ||
                    by_checkpoint_check(comparison->b.checkpoint, err)))
        status = -1;
    return status;
}

void by_llm_comparison_release(struct by_llm_comparison *comparison)
{
    by_llm_close(&comparison->a);
    by_llm_close(&comparison->b);
    by_free(comparison->pairs);
    comparison->pairs = NULL;
}
