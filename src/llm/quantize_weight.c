/* Quantizes one weight: all threads, a slab of rows each. */
#include "llm/quantize.h"

#include "base/str.h"

#define SLAB_VALUES ((size_t)1 << 18)

size_t by_llm_slab_rows(const struct by_llm_weight *weight)
{
    const size_t rows = SLAB_VALUES / (weight->columns ? weight->columns : 1);
    return rows < BY_LLM_ROWS_STEP ? BY_LLM_ROWS_STEP : rows - rows % BY_LLM_ROWS_STEP;
}

/* What the pieces of a weight need and give. */
struct work {
    const struct by_llm_source *source;
    const struct by_llm_weight *weight;
    const struct by_llm_item *item;
    const struct by_llm_quantize_options *options;
    size_t step;
    struct by_llm_range *ranges;         /* of pieces */
    double (*errors)[BY_LLM_CANDIDATES]; /* of pieces */
    struct by_llm_errors *sums;          /* of pieces */
    uint8_t *const *data;
};

/* --- Floats --- */

static int check_finite(const struct work *work, float *values, size_t first, size_t count,
                        struct baryon_error *err)
{
    const size_t columns = work->weight->columns;
    const size_t at = by_llm_strange(values, count * columns);
    char quoted[BY_QUOTE_MAX];
    if (at == count * columns)
        return 0;
    if (!work->options->allow_nonfinite) {
        by_fail(err, BARYON_ERR_INPUT, "%s[%zu, %zu] is %g, must be finite",
                by_quote(quoted, work->weight->name), first + at / columns, at % columns,
                (double)values[at]);
        return by_err_hint(err, "--allow-nonfinite quantizes it as 0 or the row's limit");
    }
    for (size_t r = 0; r < count; r++)
        by_llm_clean_row(values + r * columns, columns);
    return 0;
}

static float *slab_floats(const struct work *work, size_t begin, size_t end,
                          struct baryon_error *err)
{
    float *values = by_alloc((end - begin) * work->weight->columns, sizeof *values, err);
    if (values &&
        (by_llm_source_rows(work->source, work->weight, begin, end - begin, values, err) ||
         check_finite(work, values, begin, end - begin, err))) {
        by_free(values);
        return NULL;
    }
    return values;
}

/* --- What the tensor shares --- */

static int look_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct work *work = context;
    float *values = slab_floats(work, begin, end, err);
    (void)worker;
    if (!values)
        return -1;
    by_llm_look(&work->ranges[begin / work->step], values, (end - begin) * work->weight->columns);
    by_free(values);
    by_llm_source_done(work->source, work->weight, begin, end - begin);
    return 0;
}

static size_t piece_count(const struct by_llm_weight *weight)
{
    const size_t step = by_llm_slab_rows(weight);
    return (weight->rows + step - 1) / step;
}

static int look_weight(struct work work, struct by_pool *pool, struct by_llm_range *range,
                       struct baryon_error *err)
{
    const size_t pieces = piece_count(work.weight);
    work.step = by_llm_slab_rows(work.weight);
    if (!(work.ranges = by_alloc_zero(pieces, sizeof *work.ranges, err)))
        return -1;
    const int failed = by_par_for(pool, work.weight->rows, work.step, look_piece, &work, err);
    for (size_t i = 0; i < pieces && !failed; i++)
        by_llm_range_join(range, &work.ranges[i]);
    by_free(work.ranges);
    return failed;
}

static int find_range(struct by_llm_plan *plan, struct by_llm_item *first, const struct work *work,
                      struct by_pool *pool, struct baryon_error *err)
{
    if (first->range.known)
        return 0;
    for (size_t i = (size_t)(first - plan->items); i < plan->count; i++) {
        struct work own = *work;
        own.weight = plan->items[i].weight;
        if (plan->items[i].scheme && &plan->items[plan->items[i].shares] == first &&
            look_weight(own, pool, &first->range, err))
            return -1;
    }
    return 0;
}

static int try_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct work *work = context;
    float *values = slab_floats(work, begin, end, err);
    (void)worker;
    if (!values)
        return -1;
    const int failed =
        by_llm_try(&work->item->tensor, values, end - begin, work->errors[begin / work->step], err);
    by_free(values);
    return failed;
}

static int find_scale(struct by_llm_item *item, struct work work, struct by_pool *pool,
                      struct baryon_error *err)
{
    const size_t pieces = piece_count(work.weight);
    double errors[BY_LLM_CANDIDATES] = {0};
    if (!by_llm_needs_tries(&item->tensor))
        return 0;
    if (!(work.errors = by_alloc_zero(pieces, sizeof *work.errors, err)))
        return -1;
    const int failed = by_par_for(pool, work.weight->rows, work.step, try_piece, &work, err);
    for (size_t p = 0; p < pieces && !failed; p++)
        for (size_t i = 0; i < item->tensor.candidate_count; i++)
            errors[i] += work.errors[p][i];
    by_free(work.errors);
    if (!failed)
        by_llm_tensor_choose(&item->tensor, errors);
    item->sums.minmax_error = errors[0];
    return failed;
}

/* --- Codes --- */

static int code_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct work *work = context;
    const struct by_llm_item *item = work->item;
    struct by_llm_coded coded;
    (void)worker;
    float *values = slab_floats(work, begin, end, err);
    if (!values)
        return -1;
    int failed = by_llm_coded_open(&coded, &item->tensor, end - begin, err);
    if (!failed) {
        failed = by_llm_quantize_rows(&item->tensor, values, end - begin, &coded, err) ||
                 by_llm_fields_put(&item->fields, &item->tensor, &coded, begin, end - begin,
                                   work->data, err);
        work->sums[begin / work->step] = coded.sums;
        by_llm_coded_close(&coded);
    }
    by_free(values);
    by_llm_source_done(work->source, work->weight, begin, end - begin);
    return failed ? -1 : 0;
}

static int code_weight(struct by_llm_item *item, struct work *work, struct by_pool *pool,
                       struct baryon_error *err)
{
    const size_t pieces = piece_count(work->weight);
    const double minmax = item->sums.minmax_error;
    if (!(work->sums = by_alloc_zero(pieces, sizeof *work->sums, err)))
        return -1;
    const int failed = by_par_for(pool, work->weight->rows, work->step, code_piece, work, err);
    item->sums = (struct by_llm_errors){0};
    for (size_t i = 0; i < pieces && !failed; i++) {
        item->sums.energy += work->sums[i].energy;
        item->sums.error += work->sums[i].error;
        item->sums.minmax_error += work->sums[i].minmax_error;
    }
    if (by_llm_needs_tries(&item->tensor))
        item->sums.minmax_error = minmax;
    by_free(work->sums);
    return failed;
}

int by_llm_item_quantize(struct by_llm_plan *plan, const struct by_llm_source *source,
                         struct by_llm_item *item, const struct by_llm_quantize_options *options,
                         struct by_pool *pool, uint8_t *const data[BY_LLM_FIELDS_MAX],
                         struct baryon_error *err)
{
    struct work work = {.source = source,
                        .weight = item->weight,
                        .item = item,
                        .options = options,
                        .step = by_llm_slab_rows(item->weight),
                        .data = data};
    if (by_llm_needs_range(&item->tensor)) {
        struct by_llm_item *first = &plan->items[item->shares];
        if (find_range(plan, first, &work, pool, err))
            return -1;
        by_llm_tensor_scale(&item->tensor, &first->range);
    }
    if (find_scale(item, work, pool, err) || code_weight(item, &work, pool, err))
        return -1;
    by_llm_fields_finish(&item->fields, &item->tensor, item->weight->rows, data);
    return 0;
}
