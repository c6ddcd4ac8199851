/* Gathers rows of one layer in place of its Gram matrix. */
#include "solve/round_rows.h"

#include <stdatomic.h>
#include <string.h>

/* A chunk that is kept: x, and y after it. */
struct kept_chunk {
    float *x, *y;
    size_t length, rows;
    uint64_t sample;
};

struct by_round_scratch {
    struct by_pool *pool;
    const struct by_blas *blas;
    struct by_chunk_room room;
    float *y;
    size_t y_room;
    uint64_t left_out;
    size_t samples;
    struct kept_chunk *kept;
    size_t kept_count, kept_room;
    bool joined;   /* what is kept: chunks of several samples are one */
    size_t budget; /* bytes that may be kept yet */
};

int by_round_scratch_open(struct by_round_scratch **out, struct by_pool *pool,
                          struct baryon_error *err)
{
    *out = NULL;
    struct by_round_scratch *scratch = by_alloc_zero(1, sizeof *scratch, err);
    if (!scratch)
        return -1;
    scratch->pool = pool;
    if (by_chunk_room_open(&scratch->room, pool ? by_pool_threads(pool) : 1, err) < 0 ||
        by_blas_open(&scratch->blas, err) < 0) {
        by_round_scratch_close(scratch);
        return -1;
    }
    *out = scratch;
    return 0;
}

void by_round_scratch_close(struct by_round_scratch *scratch)
{
    if (!scratch)
        return;
    by_chunk_room_close(&scratch->room);
    by_round_keep(scratch, 0);
    by_free(scratch->kept);
    by_free(scratch->y);
    by_free(scratch);
}

struct by_pool *by_round_pool(const struct by_round_scratch *scratch)
{
    return scratch->pool;
}

const struct by_blas *by_round_blas(const struct by_round_scratch *scratch)
{
    return scratch->blas;
}

uint64_t by_round_left_out(const struct by_round_scratch *scratch)
{
    return scratch->left_out;
}

void by_round_set_left_out(struct by_round_scratch *scratch, uint64_t count)
{
    scratch->left_out = count;
}

/* --- Chunks that are kept --- */

void by_round_keep(struct by_round_scratch *scratch, size_t budget)
{
    for (size_t i = 0; i < scratch->kept_count; i++)
        by_free(scratch->kept[i].x);
    scratch->kept_count = 0;
    scratch->joined = false;
    scratch->budget = budget;
}

size_t by_round_kept_samples(const struct by_round_scratch *scratch)
{
    return scratch->kept_count ? (size_t)scratch->kept[scratch->kept_count - 1].sample + 1 : 0;
}

/* Samples are kept whole, the first ones. */
static bool may_keep(struct by_round_scratch *scratch, const struct by_round_chunk *chunk,
                     size_t columns, size_t outs)
{
    const size_t bytes = chunk->rows * (columns + outs) * sizeof(float);
    if (chunk->inputs->begin)
        return scratch->budget > 0;
    scratch->budget = bytes < scratch->budget ? scratch->budget - bytes : 0;
    return scratch->budget > 0;
}

static int make_kept_room(struct by_round_scratch *scratch, struct baryon_error *err)
{
    if (scratch->kept_count < scratch->kept_room)
        return 0;
    const size_t room = 2 * scratch->kept_room + 16;
    struct kept_chunk *kept = by_realloc(scratch->kept, room, sizeof *kept, err);
    if (!kept)
        return -1;
    scratch->kept = kept;
    scratch->kept_room = room;
    return 0;
}

static int keep_chunk(struct by_round_scratch *scratch, const struct by_round_chunk *chunk,
                      uint64_t sample, struct baryon_error *err)
{
    const struct by_round_target *target = chunk->target;
    const size_t columns = target->groups * target->columns, outs = target->groups * target->outs;
    if (!may_keep(scratch, chunk, columns, outs))
        return 0;
    if (make_kept_room(scratch, err) < 0)
        return -1;
    scratch->joined = false;
    float *x = by_alloc((columns + outs) * chunk->length, sizeof *x, err);
    if (!x)
        return -1;
    float *y = x + columns * chunk->length;
    memcpy(x, chunk->x, columns * chunk->length * sizeof *x);
    memcpy(y, chunk->y, outs * chunk->length * sizeof *y);
    scratch->kept[scratch->kept_count++] =
        (struct kept_chunk){x, y, chunk->length, chunk->rows, sample};
    return 0;
}

/* Products of many rows take less time than those of a few. */
#define JOINED 1024 /* rows, or a little more */

/* Chunks [first, end), as one in place of the first. */
static int join_chunks(struct by_round_scratch *scratch, size_t first, size_t end, size_t length,
                       size_t values, struct baryon_error *err)
{
    struct kept_chunk *kept = scratch->kept;
    float *x = by_alloc(values * length, sizeof *x, err);
    size_t at = 0;
    if (!x)
        return -1;
    for (size_t k = first; k < end; k++) {
        for (size_t i = 0; i < values; i++)
            memcpy(x + i * length + at, kept[k].x + i * kept[k].length, kept[k].length * sizeof *x);
        at += kept[k].length;
        by_free(kept[k].x);
        kept[k].x = NULL;
    }
    kept[first].x = x;
    return 0;
}

/* From chunk `first` on, as many as make up enough rows; the first after them. */
static size_t end_of_joined(const struct by_round_scratch *scratch, size_t first, size_t *length)
{
    size_t end = first;
    for (*length = 0; end < scratch->kept_count && *length < JOINED; end++)
        *length += scratch->kept[end].length;
    return end;
}

/* Chunks of several samples become one. columns, outs: of all groups. */
static int join_kept(struct by_round_scratch *scratch, size_t columns, size_t outs,
                     struct baryon_error *err)
{
    size_t count = 0, length;
    for (size_t first = 0, end; first < scratch->kept_count; first = end) {
        end = end_of_joined(scratch, first, &length);
        if (end > first + 1 && join_chunks(scratch, first, end, length, columns + outs, err) < 0)
            return -1;
        float *x = scratch->kept[first].x;
        scratch->kept[first].x = NULL;
        scratch->kept[count++] = (struct kept_chunk){x, x + columns * length, length, length,
                                                     scratch->kept[end - 1].sample};
    }
    scratch->kept_count = count;
    scratch->joined = true;
    return 0;
}

int by_round_each_kept(struct by_round_scratch *scratch, const struct by_round_target *target,
                       by_round_chunk_fn *look, void *context, struct baryon_error *err)
{
    if (!scratch->joined && join_kept(scratch, target->groups * target->columns,
                                      target->groups * target->outs, err) < 0)
        return -1;
    for (size_t i = 0; i < scratch->kept_count; i++) {
        const struct kept_chunk *kept = &scratch->kept[i];
        const struct by_round_chunk chunk = {target,     NULL,    kept->length,
                                             kept->rows, kept->x, kept->y};
        if (look(context, &chunk, err) < 0)
            return -1;
    }
    return 0;
}

/* --- One chunk --- */

struct looking {
    struct by_round_scratch *scratch;
    const struct by_round_target *target;
    const struct by_chunk *chunk;
    const float *y;
    uint64_t sample;
    by_round_chunk_fn *look;
    void *context;
};

/* Outputs of windows: [image][out][place]. */
static void fill_places(const struct looking *looking, size_t width, size_t first, size_t end)
{
    const struct by_chunk *chunk = looking->chunk;
    const size_t places = chunk->columns->places;
    for (size_t i = first; i < end; i++) {
        float *out = looking->scratch->y + i * chunk->length;
        for (size_t row = 0; row < chunk->length; row++) {
            const size_t at = by_chunk_row(chunk, row);
            out[row] = looking->y[(at / places * width + i) * places + at % places];
        }
    }
}

static int fill_outputs(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct looking *looking = context;
    const size_t width = looking->target->groups * looking->target->outs;
    (void)worker, (void)err;
    if (looking->chunk->columns->in_rows)
        by_chunk_turn(looking->chunk, looking->y, width, begin, end, looking->scratch->y);
    else
        fill_places(looking, width, begin, end);
    return 0;
}

static int look_at_chunk(void *context, const struct by_chunk *chunk, struct baryon_error *err)
{
    struct looking *looking = context;
    struct by_round_scratch *scratch = looking->scratch;
    const size_t outs = looking->target->groups * looking->target->outs;
    looking->chunk = chunk;
    if (by_scratch_room(&scratch->y, &scratch->y_room, outs * chunk->length, sizeof *scratch->y,
                        err) < 0 ||
        by_par_for(scratch->pool, outs, BY_MOMENTS_TILE, fill_outputs, looking, err) < 0)
        return -1;
    const struct by_round_chunk given = {looking->target,    chunk,    chunk->length,
                                         chunk->rows->count, chunk->x, scratch->y};
    return keep_chunk(scratch, &given, looking->sample, err) < 0
               ? -1
               : looking->look(looking->context, &given, err);
}

/* --- All rows of a sample --- */

void by_round_set_samples(struct by_round_scratch *scratch, size_t samples)
{
    scratch->samples = samples;
}

static int check_output(const struct by_round_target *target, const struct by_columns *columns,
                        const struct by_array *y, struct baryon_error *err)
{
    size_t count;
    if (by_dims_count(y->dims, y->rank, &count, err) < 0)
        return -1;
    if (y->elem == BY_ELEM_FLOAT && count == columns->rows * target->groups * target->outs)
        return 0;
    return by_fail(err, BARYON_ERR_INTERNAL, "layer '%s' has %zu output values, expected %zu",
                   target->rows.name, count, columns->rows * target->groups * target->outs);
}

static bool is_bad(float value)
{
    return !(value < BY_MAGNITUDE_MAX && value > -BY_MAGNITUDE_MAX);
}

static bool output_is_bad(const struct by_round_target *target, const struct by_columns *columns,
                          const float *y, size_t row)
{
    const size_t width = target->groups * target->outs;
    const size_t step = columns->in_rows ? 1 : columns->places;
    const float *first =
        columns->in_rows ? y + row * width : y + row / step * width * step + row % step;
    for (size_t i = 0; i < width; i++)
        if (is_bad(first[i * step]))
            return true;
    return false;
}

#define SCAN_LANES 16    /* of a loop whose length the compiler knows, for vectors */
#define SCAN_GRAIN 65536 /* values that a thread takes at once */
#define APART      16    /* values of a row lie apart: looking at each costs as much as so many */

struct scan {
    const float *values;
    atomic_bool bad;
};

/* Of positive floats the bits order as the values do, with infinities and NaN above. */
static uint32_t bits_of_bad(uint32_t most, const float *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return (most - 1 - (bits & 0x7fffffffu)) >> 31;
}

static int scan_outputs(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    struct scan *scan = context;
    const float *values = scan->values, limit = BY_MAGNITUDE_MAX;
    uint32_t most, bad[SCAN_LANES] = {0};
    size_t i = begin;
    (void)worker, (void)err;
    memcpy(&most, &limit, sizeof most);
    for (; i + SCAN_LANES <= end; i += SCAN_LANES)
        for (size_t k = 0; k < SCAN_LANES; k++)
            bad[k] |= bits_of_bad(most, values + i + k);
    for (; i < end; i++)
        bad[0] |= bits_of_bad(most, values + i);
    for (size_t k = 1; k < SCAN_LANES; k++)
        bad[0] |= bad[k];
    if (bad[0])
        atomic_store_explicit(&scan->bad, true, memory_order_relaxed);
    return 0;
}

/* Of rows with proper inputs, those whose outputs are none: quantized inputs are always proper. */
static void leave_bad_out(struct by_round_scratch *scratch, const struct by_round_target *target,
                          const struct by_columns *columns, const float *y,
                          struct by_moments_rows *rows)
{
    const size_t taken = rows->count, values = columns->rows * target->groups * target->outs;
    const bool few = taken * APART < columns->rows;
    struct scan scan = {.values = y};
    if (!few)
        (void)by_par_for(scratch->pool, values, SCAN_GRAIN, scan_outputs, &scan, NULL);
    if (few || atomic_load(&scan.bad)) {
        rows->count = 0;
        for (size_t i = 0; i < taken; i++) {
            const size_t row = rows->list ? rows->list[i] : i;
            if (!output_is_bad(target, columns, y, row))
                scratch->room.list[rows->count++] = row;
        }
        rows->list = scratch->room.list;
        rows->left_out += taken - rows->count;
    }
    scratch->left_out += rows->left_out;
}

int by_round_each_chunk(struct by_round_scratch *scratch, const struct by_round_target *target,
                        const struct by_array *x, const struct by_array *y, uint64_t sample,
                        by_round_chunk_fn *look, void *context, struct baryon_error *err)
{
    struct by_columns columns;
    struct by_moments_rows rows;
    struct by_pool_team team;
    struct looking looking = {.scratch = scratch,
                              .target = target,
                              .y = y->data,
                              .sample = sample,
                              .look = look,
                              .context = context};
    by_pool_team(&team, scratch->pool);
    if (by_columns_init(&columns, &target->rows, x, err) < 0 ||
        check_output(target, &columns, y, err) < 0)
        return -1;
    columns.values = x->data;
    columns.most = by_rows_enough(target->columns, scratch->samples);
    if (by_chunk_rows(&scratch->room, &columns, sample, &rows, &team.team, err) < 0 ||
        by_chunk_need(&scratch->room, &target->rows, err) < 0)
        return -1;
    leave_bad_out(scratch, target, &columns, y->data, &rows);
    return by_chunk_each(&scratch->room, &columns, &rows, &team.team, look_at_chunk, &looking, err);
}
