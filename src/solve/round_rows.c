/* Gathers rows of one layer in place of its Gram matrix. */
#include "solve/round_rows.h"

#include "moments/columns.h"

#include <stdatomic.h>
#include <string.h>

/* Numbers of columns that are out of the input at once, unless 64 rows are more. */
#define ROOM       ((size_t)8 << 20)
#define ROWS_LEAST 64
/* Columns from which on a layer's products would take most of the time: it gets fewer rows, so that
 * these take as long as with so many columns. But half as many rows as columns there are. */
#define WIDE           4096
#define A_COLUMN_LEAST 0.5

struct by_round_scratch {
    struct by_pool *pool;
    const struct by_blas *blas;
    struct by_fill_room *rooms; /* by worker */
    unsigned workers;
    float *x, *y;
    size_t x_room, y_room;
    size_t *list;
    size_t list_room;
    bool *needed;
    size_t needed_room;
    uint64_t left_out;
    size_t samples;
};

static int open_scratch(struct by_round_scratch *scratch, struct baryon_error *err)
{
    if (by_blas_open(&scratch->blas, err) < 0)
        return -1;
    scratch->rooms = by_alloc_zero(scratch->workers, sizeof *scratch->rooms, err);
    for (unsigned i = 0; scratch->rooms && i < scratch->workers; i++)
        if (by_fill_room_open(&scratch->rooms[i], err) < 0)
            return -1;
    return scratch->rooms ? 0 : -1;
}

int by_round_scratch_open(struct by_round_scratch **out, struct by_pool *pool,
                          struct baryon_error *err)
{
    *out = NULL;
    struct by_round_scratch *scratch = by_alloc_zero(1, sizeof *scratch, err);
    if (!scratch)
        return -1;
    scratch->pool = pool;
    scratch->workers = pool ? by_pool_threads(pool) : 1;
    if (open_scratch(scratch, err) < 0) {
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
    for (unsigned i = 0; scratch->rooms && i < scratch->workers; i++)
        by_fill_room_close(&scratch->rooms[i]);
    by_free(scratch->rooms);
    by_free(scratch->x);
    by_free(scratch->y);
    by_free(scratch->list);
    by_free(scratch->needed);
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

/* --- One chunk --- */

struct chunk {
    struct by_round_scratch *scratch;
    const struct by_round_target *target;
    const struct by_columns *columns;
    const struct by_moments_rows *rows;
    const float *y;
    size_t begin, length;
    size_t some; /* channels of a piece */
};

static size_t row_at(const struct chunk *chunk, size_t index)
{
    return chunk->rows->list ? chunk->rows->list[chunk->begin + index] : chunk->begin + index;
}

#define TURNED 16 /* columns that are written side by side: each in another line of the cache */

/* Rows of a matrix, turned. */
static void fill_matrix(const struct chunk *chunk, const float *from, size_t width, size_t first,
                        size_t end, float *out)
{
    for (size_t begin = first; begin < end; begin += TURNED) {
        const size_t until = end - begin < TURNED ? end : begin + TURNED;
        for (size_t row = 0; row < chunk->length; row++) {
            const float *values = from + row_at(chunk, row) * width;
            for (size_t i = begin; i < until; i++)
                out[i * chunk->length + row] = values[i];
        }
    }
}

/* Outputs of windows: [image][out][place]. */
static void fill_places(const struct chunk *chunk, size_t width, size_t first, size_t end)
{
    const size_t places = chunk->columns->places;
    for (size_t i = first; i < end; i++) {
        float *out = chunk->scratch->y + i * chunk->length;
        for (size_t row = 0; row < chunk->length; row++) {
            const size_t at = row_at(chunk, row);
            out[row] = chunk->y[(at / places * width + i) * places + at % places];
        }
    }
}

static void fill_windows(const struct chunk *chunk, size_t first, size_t end, unsigned worker)
{
    const struct by_fill fill = {.begin = chunk->begin,
                                 .length = chunk->length,
                                 .channel = first,
                                 .channels = end - first,
                                 .out = chunk->scratch->x,
                                 .group_step = chunk->target->columns * chunk->length,
                                 .needed = chunk->scratch->needed};
    by_columns_fill(chunk->columns, chunk->rows, &fill, &chunk->scratch->rooms[worker]);
}

static size_t x_channels(const struct chunk *chunk)
{
    return chunk->columns->in_rows ? chunk->target->columns : chunk->columns->channels;
}

static size_t x_pieces(const struct chunk *chunk)
{
    return (x_channels(chunk) + chunk->some - 1) / chunk->some;
}

static void fill_x(const struct chunk *chunk, size_t piece, unsigned worker)
{
    const size_t first = piece * chunk->some, left = x_channels(chunk) - first;
    const size_t end = first + (left < chunk->some ? left : chunk->some);
    if (chunk->columns->in_rows)
        fill_matrix(chunk, chunk->columns->values, chunk->target->columns, first, end,
                    chunk->scratch->x);
    else
        fill_windows(chunk, first, end, worker);
}

static void fill_y(const struct chunk *chunk, size_t piece)
{
    const size_t width = chunk->target->groups * chunk->target->outs;
    const size_t first = piece * chunk->some, left = width - first;
    const size_t end = first + (left < chunk->some ? left : chunk->some);
    if (chunk->columns->in_rows)
        fill_matrix(chunk, chunk->y, width, first, end, chunk->scratch->y);
    else
        fill_places(chunk, width, first, end);
}

static int fill_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct chunk *chunk = context;
    (void)err;
    for (size_t i = begin; i < end; i++)
        if (i < x_pieces(chunk))
            fill_x(chunk, i, worker);
        else
            fill_y(chunk, i - x_pieces(chunk));
    return 0;
}

static int fill_chunk(struct chunk *chunk, struct baryon_error *err)
{
    const size_t outs = chunk->target->groups * chunk->target->outs;
    const size_t pieces = x_pieces(chunk) + (outs + chunk->some - 1) / chunk->some;
    return by_par_for(chunk->scratch->pool, pieces, 1, fill_piece, chunk, err);
}

/* --- All rows of a sample --- */

size_t by_round_rows_most(size_t columns, size_t samples)
{
    const double width = (double)columns, narrow = columns > WIDE ? WIDE / width : 1;
    const double share = narrow * narrow;
    const double a_column = BY_MOMENTS_ROWS_A_COLUMN * share;
    const double all = width * (a_column > A_COLUMN_LEAST ? a_column : A_COLUMN_LEAST);
    const size_t wanted = (size_t)all / (samples ? samples : 1);
    const size_t least = (size_t)(BY_MOMENTS_ROWS_MIN * share * narrow);
    return wanted > least ? wanted : least;
}

void by_round_set_samples(struct by_round_scratch *scratch, size_t samples)
{
    scratch->samples = samples;
}

static size_t chunk_rows(size_t columns)
{
    const size_t fitting = ROOM / columns;
    if (fitting >= BY_CHUNK_ROWS)
        return BY_CHUNK_ROWS;
    return fitting < ROWS_LEAST ? ROWS_LEAST : fitting;
}

static int make_chunk_room(struct by_round_scratch *scratch, const struct by_round_target *target,
                           size_t rows, struct baryon_error *err)
{
    const size_t blocks = target->groups * by_layer_blocks(&target->rows);
    if (by_scratch_room(&scratch->x, &scratch->x_room, target->groups * target->columns * rows,
                        sizeof *scratch->x, err) < 0 ||
        by_scratch_room(&scratch->y, &scratch->y_room, target->groups * target->outs * rows,
                        sizeof *scratch->y, err) < 0 ||
        by_scratch_room(&scratch->needed, &scratch->needed_room, blocks, sizeof *scratch->needed,
                        err) < 0)
        return -1;
    memset(scratch->needed, true, blocks);
    return 0;
}

static int choose_rows(struct by_round_scratch *scratch, const struct by_columns *columns,
                       uint64_t sample, struct by_moments_rows *rows, struct baryon_error *err)
{
    struct by_pool_team team;
    const size_t most = by_rows_most(columns);
    by_pool_team(&team, scratch->pool);
    if (by_scratch_room(&scratch->list, &scratch->list_room,
                        columns->rows < most ? columns->rows : most, sizeof *scratch->list,
                        err) < 0)
        return -1;
    return by_rows_choose(columns, sample, scratch->list, rows, &team.team, err);
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
    struct scan scan = {.values = y};
    (void)by_par_for(scratch->pool, values, SCAN_GRAIN, scan_outputs, &scan, NULL);
    const bool bad = atomic_load(&scan.bad);
    if (bad) {
        rows->count = 0;
        for (size_t i = 0; i < taken; i++) {
            const size_t row = rows->list ? rows->list[i] : i;
            if (!output_is_bad(target, columns, y, row))
                scratch->list[rows->count++] = row;
        }
        rows->list = scratch->list;
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
    if (by_columns_init(&columns, &target->rows, x, err) < 0 ||
        check_output(target, &columns, y, err) < 0)
        return -1;
    columns.values = x->data;
    columns.most = by_round_rows_most(target->columns, scratch->samples);
    const size_t most = chunk_rows(target->groups * target->columns);
    if (choose_rows(scratch, &columns, sample, &rows, err) < 0 ||
        make_chunk_room(scratch, target, most, err) < 0)
        return -1;
    leave_bad_out(scratch, target, &columns, y->data, &rows);
    struct chunk chunk = {.scratch = scratch,
                          .target = target,
                          .columns = &columns,
                          .rows = &rows,
                          .y = y->data,
                          .some = BY_MOMENTS_TILE / (columns.kernel_size + 1) + 1};
    for (size_t done = 0; done < rows.count; done += chunk.length) {
        chunk.begin = done;
        chunk.length = rows.count - done < most ? rows.count - done : most;
        const struct by_round_chunk given = {target, chunk.length, rows.count, scratch->x,
                                             scratch->y};
        if (fill_chunk(&chunk, err) < 0 || look(context, &given, err) < 0)
            return -1;
    }
    return 0;
}
