/* Adds one tensor to a histogram, on all threads of a team. */
#include "array/elem.h"
#include "stats/sketch_scratch.h"

int by_sketch_scratch_open(struct by_sketch_scratch **scratch, unsigned workers,
                           struct baryon_error *err)
{
    struct by_sketch_scratch *fresh =
        by_alloc_zero(1, sizeof *fresh + workers * sizeof *fresh->workers, err);
    *scratch = NULL;
    if (!fresh)
        return -1;
    fresh->path = by_sketch_path_chosen();
    fresh->round = (size_t)1 << 31;
    fresh->worker_count = workers;
    for (unsigned w = 0; w < workers; w++) {
        struct by_sketch_worker *worker = &fresh->workers[w];
        size_t tables = BY_SKETCH_TABLES + 1;
        worker->buffer = by_alloc(BY_SKETCH_SPAN + BY_SKETCH_PIECE, sizeof *worker->buffer, err);
        worker->memory = worker->buffer
                             ? by_alloc_zero(tables * BY_SKETCH_TABLE, sizeof *worker->memory, err)
                             : NULL;
        if (!worker->memory) {
            by_sketch_scratch_close(fresh);
            return -1;
        }
        worker->clean = worker->buffer + BY_SKETCH_SPAN;
        worker->spare = worker->memory;
        for (size_t t = 0; t < BY_SKETCH_TABLES; t++)
            worker->tables.at[t] = worker->memory + (t + 1) * BY_SKETCH_TABLE;
        by_sketch_worker_reset(worker, false);
    }
    *scratch = fresh;
    return 0;
}

void by_sketch_scratch_close(struct by_sketch_scratch *scratch)
{
    if (!scratch)
        return;
    for (unsigned w = 0; w < scratch->worker_count; w++) {
        by_free(scratch->workers[w].buffer);
        by_free(scratch->workers[w].memory);
    }
    by_free(scratch);
}

struct look {
    struct by_sketch_scratch *scratch;
    const struct by_sketch_values *values;
    size_t begin; /* of the round */
    int top;      /* of the sketch before */
};

static const float *floats_of(const struct by_sketch_values *values, size_t begin, size_t count,
                              float *buffer)
{
    if (values->blocks)
        return by_blocks_floats(values->blocks, values->at, begin, count, buffer);
    return by_sketch_floats(values->at, values->elem, begin, count, buffer);
}

static int look_span(void *context, size_t begin, size_t end, unsigned number,
                     struct baryon_error *err)
{
    struct look *look = context;
    struct by_sketch_worker *worker = &look->scratch->workers[number];
    (void)err;
    const float *values = floats_of(look->values, look->begin + begin, end - begin, worker->buffer);
    by_sketch_worker_look(worker, look->scratch->path, values, end - begin, look->top);
    return 0;
}

static void lock(const struct by_sketch_values *values)
{
    if (values->lock)
        pthread_mutex_lock(values->lock);
}

static void unlock(const struct by_sketch_values *values)
{
    if (values->lock)
        pthread_mutex_unlock(values->lock);
}

/* What the workers counted goes to the rows; sums and the like to part. */
static int flush_workers(struct by_sketch_scratch *scratch, struct by_sketch *sketch,
                         struct by_sketch_part *part, uint64_t more, struct baryon_error *err)
{
    by_sketch_touched touched = {0};
    for (unsigned w = 0; w < scratch->worker_count; w++)
        if (scratch->workers[w].used) {
            by_sketch_worker_end(&scratch->workers[w]);
            by_sketch_worker_touched(&scratch->workers[w], sketch, touched);
            by_sketch_part_merge(part, &scratch->workers[w].part);
        }
    int status = by_sketch_prepare(sketch, by_sketch_range_top(&part->range), touched, more, err);
    for (unsigned w = 0; w < scratch->worker_count; w++)
        if (scratch->workers[w].used) {
            if (!status)
                by_sketch_worker_flush(&scratch->workers[w], scratch->path, sketch);
            by_sketch_worker_reset(&scratch->workers[w], status);
        }
    return status;
}

static int look_all(struct by_sketch *sketch, struct look *look, uint64_t sample,
                    const struct by_team *team, struct baryon_error *err)
{
    const size_t count = look->values->count;
    /* Between rounds another thread may look. */
    const uint64_t more = count > look->scratch->round ? UINT64_MAX : count;
    struct by_sketch_part part;
    by_sketch_part_init(&part);
    while (look->begin < count) {
        size_t left = count - look->begin;
        size_t round = left < look->scratch->round ? left : look->scratch->round;
        int failed = by_team_for(team, round, BY_SKETCH_SPAN, look_span, look, err);
        lock(look->values);
        failed |= flush_workers(look->scratch, sketch, &part, more, failed ? NULL : err);
        look->begin += round;
        if (!failed && look->begin == count)
            by_sketch_take(sketch, &part, count, sample);
        unlock(look->values);
        if (failed)
            return -1;
    }
    return 0;
}

static int look_small(struct by_sketch *sketch, struct by_sketch_scratch *scratch,
                      const struct by_sketch_values *values, uint64_t sample,
                      struct baryon_error *err)
{
    float *buffer = scratch->workers[0].buffer;
    const void *at = values->at;
    if (values->blocks)
        at = by_blocks_floats(values->blocks, at, 0, values->count, buffer);
    lock(values);
    int status = by_sketch_look_plain(sketch, buffer, at, values->elem, values->count, sample, err);
    unlock(values);
    return status;
}

static int top_of(const struct by_sketch *sketch, const struct by_sketch_values *values)
{
    lock(values);
    const int top = sketch->top;
    unlock(values);
    return top;
}

int by_sketch_look_at(struct by_sketch *sketch, struct by_sketch_scratch *scratch,
                      const struct by_sketch_values *values, uint64_t sample,
                      const struct by_team *team, struct baryon_error *err)
{
    if (by_sketch_check(values->elem, err))
        return -1;
    if (values->blocks && values->elem != BY_ELEM_FLOAT)
        return by_fail(err, BARYON_ERR_INTERNAL, "values of type %s in blocks, must be float32",
                       by_elem_name(values->elem));
    if (team && team->workers > scratch->worker_count)
        return by_fail(err, BARYON_ERR_INTERNAL, "a team of %u with working memory for %u",
                       team->workers, scratch->worker_count);
    if (!values->count)
        return 0;
    if (values->count < BY_SKETCH_SMALL)
        return look_small(sketch, scratch, values, sample, err);
    struct look look = {.scratch = scratch, .values = values, .top = top_of(sketch, values)};
    return look_all(sketch, &look, sample, team, err);
}

int by_sketch_look(struct by_sketch *sketch, struct by_sketch_scratch *scratch, const void *values,
                   int64_t elem, size_t count, uint64_t sample, const struct by_team *team,
                   struct baryon_error *err)
{
    const struct by_sketch_values all = {.at = values, .elem = elem, .count = count};
    return by_sketch_look_at(sketch, scratch, &all, sample, team, err);
}
