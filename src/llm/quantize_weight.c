/* Quantizes one weight: all threads, a slab of rows each, some rows of it at a time. */
#include "llm/quantize.h"

#include "array/elem.h"
#include "base/str.h"
#include "llm/scheme/table.h"
#include "llm/scheme/tally.h"

#define SLAB_VALUES  ((size_t)1 << 20)
#define RUN_VALUES   ((size_t)1 << 13)    /* floats that stay in the nearest cache */
#define BLOCK_VALUES ((size_t)1 << 16)    /* codes that are packed at once */
#define TABLE_VALUES ((size_t)1 << 18)    /* a table is made for as many */
#define KEPT_BYTES   ((uint64_t)96 << 20) /* of a tensor that is read twice: its pages stay */

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
    const struct by_llm_sink *sink;
    size_t step;
    struct by_llm_range *ranges;  /* of pieces */
    struct by_llm_tries *tries;   /* of pieces */
    struct by_llm_errors *sums;   /* of pieces */
    struct by_llm_tally *tallies; /* of threads */
    struct by_llm_table *table;   /* NULL: codes are computed */
    struct block *blocks;         /* of threads; see below */
    uint8_t *const *data;
};

static size_t piece_count(const struct by_llm_weight *weight)
{
    const size_t step = by_llm_slab_rows(weight);
    return (weight->rows + step - 1) / step;
}

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

static const uint16_t *halves_of(const struct work *work, size_t row)
{
    const uint16_t *halves = by_llm_source_halves(work->source, work->weight);
    return halves ? halves + row * work->weight->columns : NULL;
}

/* Looking at 16 bits is quicker than at the floats that they are; it finds no place. */
static bool is_finite_surely(const struct work *work, size_t first, size_t count)
{
    const uint16_t *halves = halves_of(work, first);
    struct by_llm_range range = {0};
    return halves && by_llm_look_halves(&range, work->weight->stored->type->elem, halves,
                                        count * work->weight->columns);
}

/* Codes are unpacked a block at a time; floats are read where they are used. */
static size_t run_rows(const struct by_llm_weight *weight)
{
    const size_t rows = RUN_VALUES / weight->columns;
    if (weight->as == BY_LLM_AS_CODES || weight->as == BY_LLM_AS_EDITED)
        return BY_LLM_ROWS_STEP;
    return rows ? rows : 1;
}

static float *run_memory(const struct work *work, size_t rows, struct baryon_error *err)
{
    const size_t most = run_rows(work->weight);
    return by_alloc((rows < most ? rows : most) * work->weight->columns, sizeof(float), err);
}

static int read_run(const struct work *work, size_t begin, size_t count, float *values,
                    struct baryon_error *err)
{
    if (by_llm_source_rows(work->source, work->weight, begin, count, values, err))
        return -1;
    return is_finite_surely(work, begin, count) ? 0 : check_finite(work, values, begin, count, err);
}

typedef int run_fn(const struct work *work, size_t first, size_t count, const float *values,
                   void *context, struct baryon_error *err);

/* Rows [begin, end) as floats, a run after the other. */
static int each_run(const struct work *work, size_t begin, size_t end, run_fn *run, void *context,
                    struct baryon_error *err)
{
    const size_t most = run_rows(work->weight);
    float *values = run_memory(work, end - begin, err);
    int failed = values ? 0 : -1;
    by_llm_source_need(work->source, work->weight, begin, end - begin);
    for (size_t at = begin; at < end && !failed; at += most) {
        const size_t count = end - at < most ? end - at : most;
        failed =
            read_run(work, at, count, values, err) || run(work, at, count, values, context, err);
    }
    by_free(values);
    return failed ? -1 : 0;
}

/* --- What the tensor shares --- */

static int look_run(const struct work *work, size_t first, size_t count, const float *values,
                    void *context, struct baryon_error *err)
{
    (void)first, (void)err;
    by_llm_look(context, values, count * work->weight->columns);
    return 0;
}

/* The pages of a weight that is read again stay where they are few. */
static void done_once(const struct work *work, size_t begin, size_t end)
{
    if (work->weight->stored->bytes > KEPT_BYTES)
        by_llm_source_done(work->source, work->weight, begin, end - begin);
}

static int look_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct work *work = context;
    const uint16_t *halves = halves_of(work, begin);
    struct by_llm_range *range = &work->ranges[begin / work->step];
    int failed = 0;
    (void)worker;
    if (halves)
        by_llm_source_need(work->source, work->weight, begin, end - begin);
    if (!halves || !by_llm_look_halves(range, work->weight->stored->type->elem, halves,
                                       (end - begin) * work->weight->columns))
        failed = each_run(work, begin, end, look_run, range, err);
    done_once(work, begin, end);
    return failed;
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

static int try_run(const struct work *work, size_t first, size_t count, const float *values,
                   void *context, struct baryon_error *err)
{
    const struct by_llm_tensor *tensor = &work->item->tensor;
    (void)err;
    by_llm_try(tensor, context, values, count, &work->tries[first / work->step]);
    return 0;
}

static int try_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct work *work = context;
    struct by_llm_scratch *scratch = by_llm_scratch_open(&work->item->tensor, err);
    (void)worker;
    const int failed = scratch ? each_run(work, begin, end, try_run, scratch, err) : -1;
    by_llm_scratch_close(scratch);
    done_once(work, begin, end);
    return failed;
}

static void choose_scale(struct by_llm_item *item, const struct by_llm_tries *tries)
{
    item->sums.error = tries->errors[by_llm_tensor_choose(&item->tensor, tries)];
    item->sums.minmax_error = tries->errors[0];
}

static int find_scale(struct by_llm_item *item, struct work work, struct by_pool *pool,
                      struct baryon_error *err)
{
    const size_t pieces = piece_count(work.weight);
    struct by_llm_tries tries = {0};
    if (!(work.tries = by_alloc_zero(pieces, sizeof *work.tries, err)))
        return -1;
    const int failed = by_par_for(pool, work.weight->rows, work.step, try_piece, &work, err);
    for (size_t p = 0; p < pieces && !failed; p++)
        by_llm_tries_join(&tries, &work.tries[p]);
    by_free(work.tries);
    if (!failed)
        choose_scale(item, &tries);
    return failed;
}

/* --- The same of values of 16 bits, by their numbers --- */

static int tally_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct work *work = context;
    const struct by_llm_weight *weight = work->weight;
    const uint8_t *bytes = by_checkpoint_bytes(work->source->checkpoint, weight->stored);
    (void)err;
    by_llm_source_need(work->source, weight, begin, end - begin);
    by_llm_tally_add(&work->tallies[worker], bytes + 2 * begin * weight->columns,
                     (end - begin) * weight->columns);
    done_once(work, begin, end);
    return 0;
}

/* *found false: there are values that are not finite. */
static int use_tally(struct by_llm_item *item, const struct by_llm_tally *tally, bool *found,
                     struct baryon_error *err)
{
    const int64_t elem = item->weight->stored->type->elem;
    struct by_llm_tries tries = {0};
    *found = by_llm_tally_range(tally, elem, &item->range);
    if (!*found)
        return 0;
    by_llm_tensor_scale(&item->tensor, &item->range);
    item->sums.energy = by_llm_tally_energy(tally, elem);
    if (by_llm_tally_errors(tally, elem, &item->tensor, &tries, err))
        return -1;
    choose_scale(item, &tries);
    return 0;
}

static bool is_tallied(const struct by_llm_plan *plan, const struct by_llm_item *item)
{
    const int64_t elem = item->weight->stored->type->elem;
    return by_llm_needs_tries(&item->tensor) && !item->tensor.importance &&
           item->weight->as == BY_LLM_AS_FLOATS &&
           (elem == BY_ELEM_BFLOAT16 || elem == BY_ELEM_FLOAT16) &&
           &plan->items[item->shares] == item;
}

static int tally_weight(struct by_llm_item *item, struct work work, struct by_pool *pool,
                        bool *found, struct baryon_error *err)
{
    const unsigned threads = by_pool_threads(pool);
    if (!(work.tallies = by_alloc_zero(threads, sizeof *work.tallies, err)))
        return -1;
    int failed = by_par_for(pool, work.weight->rows, work.step, tally_piece, &work, err);
    for (unsigned i = 1; i < threads && !failed; i++)
        by_llm_tally_join(&work.tallies[0], &work.tallies[i]);
    if (!failed)
        failed = use_tally(item, &work.tallies[0], found, err);
    by_free(work.tallies);
    return failed;
}

/* *tallied: the values are finite, and sums of errors are known. */
static int find_shared(struct by_llm_plan *plan, struct by_llm_item *item, const struct work *work,
                       struct by_pool *pool, bool *tallied, struct baryon_error *err)
{
    struct by_llm_item *first = &plan->items[item->shares];
    *tallied = false;
    if (is_tallied(plan, item) && tally_weight(item, *work, pool, tallied, err))
        return -1;
    if (*tallied || !by_llm_needs_range(&item->tensor))
        return 0;
    if (find_range(plan, first, work, pool, err))
        return -1;
    by_llm_tensor_scale(&item->tensor, &first->range);
    return by_llm_needs_tries(&item->tensor) ? find_scale(item, *work, pool, err) : 0;
}

/* --- Codes --- */

/* What a thread needs, for all of its pieces. */
struct block {
    struct by_llm_scratch *scratch; /* NULL: nothing is open */
    struct by_llm_coded coded;
    size_t first;                       /* row */
    uint8_t *packed[BY_LLM_FIELDS_MAX]; /* of fields that go to the sink and are no codes as such */
};

/* Where words hold codes of several rows, a slab: what is written at a place is longer. */
static size_t block_rows(const struct work *work)
{
    const size_t rows = BLOCK_VALUES / work->weight->columns;
    for (size_t i = 0; i < work->item->fields.count; i++)
        if (work->item->fields.at[i].kind == BY_LLM_FIELD_CODES && work->data[i])
            return work->step;
    return rows < BY_LLM_ROWS_STEP ? BY_LLM_ROWS_STEP : rows - rows % BY_LLM_ROWS_STEP;
}

static int code_run(const struct work *work, size_t first, size_t count, const float *values,
                    void *context, struct baryon_error *err)
{
    const struct by_llm_tensor *tensor = &work->item->tensor;
    struct block *block = context;
    struct by_llm_errors *sums = &block->coded.sums;
    struct by_llm_coded part = by_llm_coded_from(&block->coded, tensor, first - block->first);
    if (by_llm_quantize_rows(tensor, block->scratch, values, count, &part, err))
        return -1;
    sums->energy += part.sums.energy;
    sums->error += part.sums.error;
    sums->minmax_error += part.sums.minmax_error;
    return 0;
}

static int code_block(const struct work *work, struct block *block, size_t count,
                      struct baryon_error *err)
{
    if (!work->table)
        return each_run(work, block->first, block->first + count, code_run, block, err);
    by_llm_source_need(work->source, work->weight, block->first, count);
    by_llm_table_codes(work->table, halves_of(work, block->first), count * work->weight->columns,
                       block->coded.codes);
    return 0;
}

static int pass_on(const struct work *work, const struct block *block, size_t count,
                   struct baryon_error *err)
{
    const struct by_llm_item *item = work->item;
    if (by_llm_fields_put(&item->fields, &item->tensor, &block->coded, block->first, count,
                          work->data, err))
        return -1;
    for (size_t i = 0; i < item->fields.count; i++) {
        const struct by_llm_field *field = &item->fields.at[i];
        const uint8_t *words = block->packed[i] ? block->packed[i] : block->coded.codes;
        const size_t bytes = field->bytes / work->weight->rows;
        if (!by_llm_field_in_rows(field))
            continue;
        if (block->packed[i])
            by_llm_form_put(&field->form, block->coded.codes, 0, count, block->packed[i]);
        if (work->sink->put(work->sink->context, i, (uint64_t)block->first * bytes, words,
                            count * bytes, err))
            return -1;
    }
    return 0;
}

static int open_block(struct block *block, const struct work *work, struct baryon_error *err)
{
    const struct by_llm_fields *fields = &work->item->fields;
    const size_t most = block_rows(work), all = work->weight->rows, rows = all < most ? all : most;
    if (!(block->scratch = by_llm_scratch_open(&work->item->tensor, err)) ||
        by_llm_coded_open(&block->coded, &work->item->tensor, rows, err))
        return -1;
    for (size_t i = 0; i < fields->count; i++)
        if (by_llm_field_in_rows(&fields->at[i]) && !by_llm_form_is_plain(&fields->at[i].form) &&
            !(block->packed[i] = by_alloc(rows, fields->at[i].bytes / work->weight->rows, err)))
            return -1;
    return 0;
}

static void close_block(struct block *block)
{
    for (size_t i = 0; i < BY_LLM_FIELDS_MAX; i++)
        by_free(block->packed[i]);
    by_llm_coded_close(&block->coded);
    by_llm_scratch_close(block->scratch);
    *block = (struct block){0};
}

static int code_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct work *work = context;
    const size_t most = block_rows(work);
    struct block *block = &work->blocks[worker];
    if (!block->scratch && open_block(block, work, err)) {
        close_block(block);
        return -1;
    }
    int failed = 0;
    block->coded.sums = (struct by_llm_errors){0};
    for (size_t at = begin; at < end && !failed; at += most) {
        const size_t count = end - at < most ? end - at : most;
        block->first = at;
        failed = code_block(work, block, count, err) || pass_on(work, block, count, err);
        by_llm_source_done(work->source, work->weight, at, count);
    }
    work->sums[begin / work->step] = block->coded.sums;
    return failed ? -1 : 0;
}

static int code_pieces(struct work *work, struct by_pool *pool, struct baryon_error *err)
{
    const unsigned threads = by_pool_threads(pool);
    if (!(work->blocks = by_alloc_zero(threads, sizeof *work->blocks, err)))
        return -1;
    const int failed = by_par_for(pool, work->weight->rows, work->step, code_piece, work, err);
    for (unsigned i = 0; i < threads; i++)
        close_block(&work->blocks[i]);
    by_free(work->blocks);
    return failed;
}

static int code_weight(struct by_llm_item *item, struct work *work, struct by_pool *pool,
                       struct baryon_error *err)
{
    const size_t pieces = piece_count(work->weight);
    if (!(work->sums = by_alloc_zero(pieces, sizeof *work->sums, err)))
        return -1;
    const int failed = code_pieces(work, pool, err);
    for (size_t i = 0; i < pieces && !failed; i++) {
        item->sums.energy += work->sums[i].energy;
        item->sums.error += work->sums[i].error;
        item->sums.minmax_error += work->sums[i].minmax_error;
    }
    by_free(work->sums);
    return failed;
}

/* Whether values were found to be finite, and are more than a table has or have been counted. */
static bool wants_table(const struct work *work, bool tallied)
{
    const struct by_llm_tensor *tensor = &work->item->tensor;
    if (!by_llm_table_fits(tensor) || !halves_of(work, 0))
        return false;
    return tallied || (tensor->search == BY_LLM_SEARCH_MINMAX && !work->options->allow_nonfinite &&
                       work->weight->rows >= TABLE_VALUES / work->weight->columns);
}

static int fill_table(struct work *work, struct baryon_error *err)
{
    if (!(work->table = by_alloc(1, sizeof *work->table, err)))
        return -1;
    return by_llm_table_fill(work->table, work->weight->stored->type->elem, &work->item->tensor,
                             err);
}

int by_llm_item_quantize(struct by_llm_plan *plan, const struct by_llm_source *source,
                         struct by_llm_item *item, const struct by_llm_quantize_options *options,
                         struct by_pool *pool, uint8_t *const data[BY_LLM_FIELDS_MAX],
                         const struct by_llm_sink *sink, struct baryon_error *err)
{
    struct work work = {.source = source,
                        .weight = item->weight,
                        .item = item,
                        .options = options,
                        .sink = sink,
                        .step = by_llm_slab_rows(item->weight),
                        .data = data};
    bool tallied;
    item->sums = (struct by_llm_errors){0};
    if (find_shared(plan, item, &work, pool, &tallied, err))
        return -1;
    const int failed = (wants_table(&work, tallied) && fill_table(&work, err)) ||
                       code_weight(item, &work, pool, err);
    by_free(work.table);
    if (failed)
        return -1;
    by_llm_fields_finish(&item->fields, &item->tensor, item->weight->rows, data);
    return 0;
}
