/* Weights of a layer into memory: all of them, or those that read one input after the other. */
#include "llm/decoder/decoder_internal.h"

struct reading {
    const struct by_llm_source *source;
    const struct by_llm_weight *weight;
    const struct by_spill *spill;
    float *out;
};

static int read_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct reading *r = context;
    const struct by_llm_weight *weight = r->weight;
    (void)worker;
    if (by_llm_source_rows(r->source, weight, begin, end - begin, r->out + begin * weight->columns,
                           err))
        return -1;
    by_llm_source_done(r->source, weight, begin, end - begin);
    by_decoder_done(r->spill, r->out + begin * weight->columns, (end - begin) * weight->columns);
    return 0;
}

int by_decoder_read(const struct by_decoder_run *run, const struct by_llm_weight *weight,
                    float *out, struct baryon_error *err)
{
    struct reading reading = {run->decoder->source, weight, run->loaded.spill, out};
    return by_par_for(run->pool, weight->rows, BY_DECODER_READ_ROWS, read_piece, &reading, err);
}

static size_t floats_of(const struct by_decoder_place *place)
{
    const struct by_llm_weight *bias = place->bias;
    return (place->weight ? place->weight->rows * place->weight->columns : 0) +
           (bias ? bias->rows * bias->columns : 0);
}

size_t by_decoder_layer_floats(const struct by_decoder *d, const struct by_decoder_layer *layer)
{
    size_t sum = 0;
    for (size_t i = 0; i < BY_PARTS; i++)
        sum += floats_of(&layer->parts[i]);
    for (size_t i = 0; layer->experts && i < 3 * d->experts; i++)
        sum += floats_of(&layer->experts[i]);
    return sum;
}

size_t by_decoder_most_floats(const struct by_decoder *decoder)
{
    size_t most = 0;
    for (size_t i = 0; i < decoder->layers; i++) {
        const size_t floats = by_decoder_layer_floats(decoder, &decoder->layer[i]);
        most = floats > most ? floats : most;
    }
    return most;
}

static int load_place(const struct by_decoder_run *run, const struct by_decoder_place *place,
                      struct by_decoder_matrix *matrix, float **free, struct baryon_error *err)
{
    const struct by_llm_weight *weights[2] = {place->weight, place->bias};
    float *at[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        if (!weights[i])
            continue;
        if (by_decoder_read(run, weights[i], *free, err))
            return -1;
        at[i] = *free;
        *free += weights[i]->rows * weights[i]->columns;
    }
    *matrix = (struct by_decoder_matrix){at[0], at[1], place->weight ? place->weight->rows : 0,
                                         place->weight ? place->weight->columns : 0, place};
    return 0;
}

static int open_experts(struct by_decoder_run *run, const struct by_decoder_layer *from,
                        struct baryon_error *err)
{
    struct by_decoder_loaded *loaded = &run->loaded;
    by_free(loaded->experts);
    loaded->experts = NULL;
    if (from->experts)
        loaded->experts = by_alloc_zero(3 * run->decoder->experts, sizeof *loaded->experts, err);
    return from->experts && !loaded->experts ? -1 : 0;
}

int by_decoder_load(struct by_decoder_run *run, size_t layer, struct baryon_error *err)
{
    const struct by_decoder_layer *from = &run->decoder->layer[layer];
    struct by_decoder_loaded *loaded = &run->loaded;
    if (!loaded->values)
        loaded->values = by_decoder_room(run, run->capacity, err);
    float *free = loaded->values;
    int status = free ? 0 : -1;
    for (size_t i = 0; i < BY_PARTS && !status; i++)
        status = load_place(run, &from->parts[i], &loaded->parts[i], &free, err);
    if (!status)
        status = open_experts(run, from, err);
    for (size_t i = 0; loaded->experts && i < 3 * run->decoder->experts && !status; i++)
        status = load_place(run, &from->experts[i], &loaded->experts[i], &free, err);
    return status ? by_err_in(err, "layer %zu", layer) : 0;
}

/* --- Those that read an input --- */

/* Which input a matrix reads; BY_INPUTS: it is small, and there for all of them. */
static enum by_decoder_input stage_of(enum by_decoder_part part)
{
    switch (part) {
    case BY_PART_Q:
    case BY_PART_K:
    case BY_PART_V:
    case BY_PART_QKV:
        return BY_INPUT_ATTENTION;
    case BY_PART_O:
        return BY_INPUT_O;
    case BY_PART_GATE:
    case BY_PART_UP:
    case BY_PART_GATE_UP:
    case BY_PART_SHARED_GATE:
    case BY_PART_SHARED_UP:
        return BY_INPUT_FEED;
    case BY_PART_DOWN:
    case BY_PART_SHARED_DOWN:
        return BY_INPUT_DOWN;
    default:
        return BY_INPUTS;
    }
}

static enum by_decoder_input stage_of_expert(size_t place)
{
    return place % 3 == 2 ? BY_INPUT_DOWN : BY_INPUT_FEED;
}

static size_t floats_of_stage(const struct by_decoder *d, const struct by_decoder_layer *layer,
                              enum by_decoder_input stage)
{
    size_t sum = 0;
    for (enum by_decoder_part i = 0; i < BY_PARTS; i++)
        sum += stage_of(i) == stage ? floats_of(&layer->parts[i]) : 0;
    for (size_t i = 0; layer->experts && i < 3 * d->experts; i++)
        sum += stage_of_expert(i) == stage ? floats_of(&layer->experts[i]) : 0;
    return sum;
}

size_t by_decoder_stage_floats(const struct by_decoder *decoder)
{
    size_t most = 0;
    for (size_t i = 0; i < decoder->layers; i++) {
        const struct by_decoder_layer *layer = &decoder->layer[i];
        const size_t small = floats_of_stage(decoder, layer, BY_INPUTS);
        for (enum by_decoder_input stage = 0; stage < BY_INPUTS; stage++) {
            const size_t all = small + floats_of_stage(decoder, layer, stage);
            most = all > most ? all : most;
        }
    }
    return most;
}

/* A matrix that is not there says how large it is. */
static void leave_out(const struct by_decoder_place *place, struct by_decoder_matrix *matrix)
{
    *matrix = (struct by_decoder_matrix){.place = place};
    if (!place->weight)
        return;
    matrix->rows = place->weight->rows;
    matrix->columns = place->weight->columns;
}

/* Matrices that read the input of `stage` from `free` on, the others of other inputs are left out.
 */
static int load_stage(struct by_decoder_run *run, const struct by_decoder_layer *from,
                      enum by_decoder_input stage, float *free, struct baryon_error *err)
{
    struct by_decoder_loaded *loaded = &run->loaded;
    for (enum by_decoder_part i = 0; i < BY_PARTS; i++) {
        if (stage_of(i) == stage) {
            if (load_place(run, &from->parts[i], &loaded->parts[i], &free, err))
                return -1;
        } else if (stage_of(i) != BY_INPUTS) {
            leave_out(&from->parts[i], &loaded->parts[i]);
        }
    }
    for (size_t i = 0; loaded->experts && i < 3 * run->decoder->experts; i++) {
        leave_out(&from->experts[i], &loaded->experts[i]);
        if (stage_of_expert(i) == stage &&
            load_place(run, &from->experts[i], &loaded->experts[i], &free, err))
            return -1;
    }
    return 0;
}

static int open_stages(struct by_decoder_run *run, const struct by_decoder_layer *from,
                       struct baryon_error *err)
{
    struct by_decoder_loaded *loaded = &run->loaded;
    if (!loaded->values)
        loaded->values = by_decoder_room(run, by_decoder_stage_floats(run->decoder), err);
    return loaded->values && !open_experts(run, from, err) ? 0 : -1;
}

int by_decoder_load_stage(struct by_decoder_run *run, size_t layer, enum by_decoder_input stage,
                          struct baryon_error *err)
{
    const struct by_decoder *d = run->decoder;
    const struct by_decoder_layer *from = &d->layer[layer];
    int status = 0;
    if (stage == BY_INPUT_ATTENTION)
        status = open_stages(run, from, err) ||
                 load_stage(run, from, BY_INPUTS, run->loaded.values, err);
    if (!status)
        status = load_stage(run, from, stage,
                            run->loaded.values + floats_of_stage(d, from, BY_INPUTS), err);
    return status ? by_err_in(err, "layer %zu", layer) : 0;
}
