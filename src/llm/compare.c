/* Compares the weights of two checkpoints, a slab of rows at a time. */
#include "llm/compare.h"

#include "base/decibels.h"
#include "base/par.h"
#include "llm/ggml/codec.h"

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

static int weight_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                       size_t first, size_t count, float *out, struct baryon_error *err)
{
    const struct by_stored_type *type = weight->stored->type;
    if (type->elem != BY_ELEM_UNDEFINED)
        return by_llm_source_rows(source, weight, first, count, out, err);
    const struct by_ggml_type *blocks = by_ggml_type((uint32_t)type->ggml);
    if (!blocks || !blocks->decode)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "type %s cannot be decoded", type->name);
    size_t row = weight->columns / type->block * type->bytes;
    return by_ggml_decode(blocks,
                          by_checkpoint_bytes(source->checkpoint, weight->stored) + first * row,
                          count * weight->columns, out, err);
}

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
    int status = weight_rows(&work->comparison->a, pair->a, begin, end - begin, values, err);
    if (!status)
        status =
            weight_rows(&work->comparison->b, pair->b, begin, end - begin, values + count, err);
    if (!status)
        work->sums[begin / work->rows] = sum_values(values, values + count, count);
    by_free(values);
    by_llm_source_done(&work->comparison->a, pair->a, begin, end - begin);
    by_llm_source_done(&work->comparison->b, pair->b, begin, end - begin);
    return status;
}

static double bits_of(const struct by_llm_weight *weight)
{
    uint64_t bytes = weight->stored->bytes, values = (uint64_t)weight->rows * weight->columns;
    if (weight->as == BY_LLM_AS_CODES) {
        bytes = 0;
        for (size_t i = 0; i < weight->fields.count; i++)
            bytes += weight->parts[i] ? weight->parts[i]->bytes : 0;
    }
    bytes += weight->scales ? weight->scales->bytes : 0;
    return values ? 8.0 * (double)bytes / (double)values : 0;
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
    give_back(&comparison->a, pair->a);
    give_back(&comparison->b, pair->b);
    pair->sqnr = by_decibels(pair->signal, pair->noise);
    pair->bits_a = bits_of(pair->a);
    pair->bits_b = bits_of(pair->b);
    return status ? by_err_in(err, "tensor %s", by_quote(quoted, pair->name)) : 0;
}

/* Blocks of GGUF files count. */
static bool is_float(const struct by_llm_weight *weight)
{
    return weight->as != BY_LLM_AS_OTHER || weight->stored->type->elem == BY_ELEM_UNDEFINED;
}

static const char *pair_defect(const struct by_llm_pair *pair)
{
    if (!pair->b)
        return "only in the first";
    if (!is_float(pair->a) || !is_float(pair->b))
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
    for (size_t i = 0; !status && i < comparison->b.count; i++)
        status = by_map_put(&names, comparison->b.weights[i].name, &comparison->b.weights[i], err);
    comparison->only_b = comparison->b.count;
    for (size_t i = 0; !status && i < comparison->a.count; i++) {
        struct by_llm_pair *pair = &comparison->pairs[comparison->count++];
        pair->a = &comparison->a.weights[i];
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
    if (!comparison->compared) {
        by_fail(err, BARYON_ERR_INPUT, "no weight has a counterpart of its name and shape");
        return by_err_hint(err, "names of GGUF files are others than those of safetensors: convert "
                                "one of them first");
    }
    comparison->sqnr = by_decibels(signal, noise);
    comparison->bits_a /= values;
    comparison->bits_b /= values;
    return 0;
}

static int open_comparison(struct by_llm_comparison *comparison, const struct by_checkpoint *a,
                           const struct by_checkpoint *b, struct baryon_error *err)
{
    if (by_llm_source_open(&comparison->a, a, err) || by_llm_source_open(&comparison->b, b, err))
        return -1;
    comparison->pairs = by_alloc_zero(comparison->a.count, sizeof *comparison->pairs, err);
    return comparison->pairs ? match_pairs(comparison, err) : -1;
}

int by_llm_compare(struct by_llm_comparison *comparison, const struct by_checkpoint *a,
                   const struct by_checkpoint *b, unsigned threads, struct baryon_error *err)
{
    struct by_pool *pool = NULL;
    *comparison = (struct by_llm_comparison){0};
    int status = open_comparison(comparison, a, b, err);
    if (!status)
        status = by_pool_open(&pool, threads, err);
    if (!status)
        status = compare_all(comparison, pool, err);
    by_pool_close(pool);
    if (!status && (by_checkpoint_check(a, err) || by_checkpoint_check(b, err)))
        status = -1;
    return status;
}

void by_llm_comparison_release(struct by_llm_comparison *comparison)
{
    by_llm_source_close(&comparison->a);
    by_llm_source_close(&comparison->b);
    by_free(comparison->pairs);
    *comparison = (struct by_llm_comparison){0};
}
