/* The linears of a layer that share an input: what they read, their integers, their bytes. */
#include "llm/calibrated_internal.h"

#include "base/thread.h"

#include <string.h>

#define PIECE 64 /* rows that a thread looks at */

/* --- Nearest, and what a tensor shares --- */

struct looking {
    const struct by_llm_place *place;
    const struct by_spill *spill; /* where weights lie, or NULL */
    struct by_llm_tries *tries;   /* of pieces */
};

static int try_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct looking *looking = context;
    const struct by_decoder_matrix *matrix = looking->place->matrix;
    const struct by_llm_tensor *tensor = &looking->place->item->tensor;
    struct by_llm_scratch *scratch = by_llm_scratch_open(tensor, err);
    (void)worker;
    if (!scratch)
        return -1;
    const float *piece = matrix->weight + begin * matrix->columns;
    by_llm_try(tensor, scratch, piece, end - begin, &looking->tries[begin / PIECE]);
    by_decoder_done(looking->spill, piece, (end - begin) * matrix->columns);
    by_llm_scratch_close(scratch);
    return 0;
}

static int try_scales(const struct by_llm_place *place, const struct by_spill *spill,
                      struct by_pool *pool, struct baryon_error *err)
{
    const size_t rows = place->matrix->rows, pieces = (rows + PIECE - 1) / PIECE;
    struct by_llm_tries tries = {0};
    struct looking looking = {.place = place, .spill = spill};
    looking.tries = by_alloc_zero(pieces, sizeof *looking.tries, err);
    int status = looking.tries ? by_par_for(pool, rows, PIECE, try_piece, &looking, err) : -1;
    for (size_t p = 0; p < pieces && !status; p++)
        by_llm_tries_join(&tries, &looking.tries[p]);
    by_free(looking.tries);
    if (!status)
        by_llm_tensor_choose(&place->item->tensor, &tries);
    return status;
}

static void look_at_matrix(const struct by_decoder_matrix *matrix, const struct by_spill *spill,
                           struct by_llm_range *range)
{
    const size_t step = by_decoder_tile_rows(matrix->columns);
    for (size_t first = 0; first < matrix->rows; first += step) {
        const size_t left = matrix->rows - first, count = left < step ? left : step;
        const float *tile = matrix->weight + first * matrix->columns;
        by_llm_look(range, tile, count * matrix->columns);
        by_decoder_done(spill, tile, count * matrix->columns);
    }
}

/* Those of one range lie among the linears that share an input. */
int by_llm_sharing_scales(const struct by_llm_sharing *sharing, const struct by_spill *spill,
                          struct by_pool *pool, struct baryon_error *err)
{
    for (size_t i = 0; i < sharing->count; i++) {
        struct by_llm_item *item = sharing->places[i].item;
        struct by_llm_range range = {0};
        if (!item->scheme || !by_llm_needs_range(&item->tensor))
            continue;
        for (size_t k = 0; k < sharing->count; k++) {
            const struct by_decoder_matrix *matrix = sharing->places[k].matrix;
            if (sharing->places[k].item->shares == item->shares)
                look_at_matrix(matrix, spill, &range);
        }
        by_llm_tensor_scale(&item->tensor, &range);
        if (by_llm_needs_tries(&item->tensor) && try_scales(&sharing->places[i], spill, pool, err))
            return -1;
    }
    return 0;
}

/* --- One linear --- */

struct rounding {
    const struct by_llm_place *place;
    const struct by_llm_group *group; /* NULL: nearest */
    size_t index;                     /* in the group */
    const struct by_spill *spill;     /* where weights lie, or NULL */
    struct by_pool *pool;
};

static int round_rows(const struct rounding *r, size_t first, size_t count,
                      struct by_llm_coded *coded, struct baryon_error *err)
{
    const struct by_decoder_matrix *matrix = r->place->matrix;
    const struct by_llm_target target = by_llm_item_target(r->place->item);
    return r->group ? by_llm_group_solve(r->group, r->index, first, count, r->pool, coded, err)
                    : by_llm_target_nearest(&target, matrix->weight + first * matrix->columns,
                                            count, r->pool, coded, err);
}

static int put_rows(const struct by_llm_item *item, const struct by_llm_coded *coded, size_t first,
                    size_t count, uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err)
{
    const size_t bytes = item->fields.at[0].bytes / item->weight->rows;
    if (!item->blocks)
        return by_llm_fields_put(&item->fields, &item->tensor, coded, first, count, data, err);
    memcpy(data[0] + first * bytes, coded->codes, count * bytes);
    return 0;
}

/* Codes into the fields, and what they mean into memory. */
static int fill_fields(const struct rounding *r, uint8_t *const data[BY_LLM_FIELDS_MAX],
                       struct baryon_error *err)
{
    const struct by_llm_item *item = r->place->item;
    const struct by_llm_target target = by_llm_item_target(item);
    const struct by_decoder_matrix *matrix = r->place->matrix;
    const size_t step =
        r->group ? by_llm_group_rows(r->group, r->index) : by_decoder_tile_rows(matrix->columns);
    struct by_llm_coded coded = {0};
    int status =
        by_llm_target_open(&target, step < matrix->rows ? step : matrix->rows, &coded, err);
    for (size_t first = 0; first < matrix->rows && !status; first += step) {
        const size_t left = matrix->rows - first, count = left < step ? left : step;
        status = round_rows(r, first, count, &coded, err) ||
                 put_rows(item, &coded, first, count, data, err) ||
                 by_llm_target_values(&target, &coded, count,
                                      matrix->weight + first * matrix->columns, err);
        by_decoder_done(r->spill, matrix->weight + first * matrix->columns,
                        count * matrix->columns);
    }
    if (!status && item->scheme)
        by_llm_fields_finish(&item->fields, &item->tensor, matrix->rows, data);
    by_llm_coded_close(&coded);
    return status ? -1 : 0;
}

static int write_linear(struct by_llm_streams *streams, const struct rounding *r,
                        struct baryon_error *err)
{
    const struct by_llm_fields *fields = &r->place->item->fields;
    uint8_t *data[BY_LLM_FIELDS_MAX] = {0};
    int status = 0;
    for (size_t i = 0; i < fields->count && !status; i++)
        status = (data[i] = by_alloc_zero(fields->at[i].bytes, 1, err)) ? 0 : -1;
    if (!status)
        status = fill_fields(r, data, err);
    if (!status)
        return by_llm_streams_put(streams, r->place->item, data, err);
    for (size_t i = 0; i < BY_LLM_FIELDS_MAX; i++)
        by_free(data[i]);
    return -1;
}

/* --- All that share --- */

static void tell_item(const struct by_llm_streams *streams, const struct by_llm_group *group,
                      const struct by_llm_place *place, const struct by_llm_linear *linear,
                      double begun)
{
    struct by_llm_quantized *result = streams->job->result;
    struct by_llm_item *item = place->item;
    item->seconds = by_seconds() - begun;
    item->shrink = group->shrink;
    item->damping = group->damping;
    item->tokens = group->inputs->tokens;
    item->output = linear->errors;
    result->solved++;
    result->nearest += linear->errors.nearest;
    result->output += linear->errors.solved;
    result->held_out = linear->errors.held_out;
}

static int solve_group(struct by_llm_streams *streams, const struct by_llm_sharing *sharing,
                       const struct by_llm_inputs *inputs, struct baryon_error *err)
{
    struct by_pool *pool = streams->job->pool;
    struct by_llm_linear linears[BY_LLM_SHARING];
    const struct by_llm_place *places[BY_LLM_SHARING];
    struct by_llm_group group = {
        .inputs = inputs, .solver = &streams->job->options->solver, .linears = linears};
    for (size_t i = 0; i < sharing->count; i++) {
        const struct by_llm_place *place = &sharing->places[i];
        const struct by_llm_target target = by_llm_item_target(place->item);
        if (!by_llm_target_solves(&target))
            continue;
        places[group.count] = place;
        linears[group.count++] = (struct by_llm_linear){
            .weights = place->matrix->weight,
            .rows = place->matrix->rows,
            .target = target,
        };
    }
    int status = group.count && (by_llm_group_open(&group, pool, err) ||
                                 by_llm_group_form(&group, pool, err))
                     ? -1
                     : 0;
    for (size_t i = 0; i < group.count && !status; i++) {
        const struct rounding rounding = {places[i], &group, i, streams->rounded.loaded.spill,
                                          pool};
        const double begun = by_seconds();
        status = write_linear(streams, &rounding, err);
        tell_item(streams, &group, places[i], &linears[i], begun);
    }
    by_llm_group_close(&group);
    return status;
}

static int round_others(struct by_llm_streams *streams, const struct by_llm_sharing *sharing,
                        bool all, struct baryon_error *err)
{
    for (size_t i = 0; i < sharing->count; i++) {
        const struct rounding rounding = {&sharing->places[i], NULL, 0,
                                          streams->rounded.loaded.spill, streams->job->pool};
        struct by_llm_item *item = sharing->places[i].item;
        const struct by_llm_target target = by_llm_item_target(item);
        if (!all && by_llm_target_solves(&target))
            continue;
        item->method = "rtn";
        if (write_linear(streams, &rounding, err))
            return -1;
    }
    return 0;
}

int by_llm_sharing_solve(struct by_llm_streams *streams, const struct by_llm_sharing *sharing,
                         const struct by_llm_inputs *inputs, struct baryon_error *err)
{
    const struct by_llm_calibrated *job = streams->job;
    const bool reached = inputs->tokens > 0;
    if (job->look)
        return job->look(job->context, sharing, inputs, err);
    if (!reached)
        streams->job->result->unreached += sharing->count;
    return by_llm_sharing_scales(sharing, streams->rounded.loaded.spill, streams->job->pool, err) ||
                   (reached && solve_group(streams, sharing, inputs, err)) ||
                   round_others(streams, sharing, !reached, err)
               ? -1
               : 0;
}
