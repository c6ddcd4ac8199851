/* A hook changes a layer's float weights before they are rounded. */
#include "llm/calibrated_internal.h"

#include "array/elem.h"

#include <string.h>

/* --- What stays floats --- */

static void mark_one(struct by_llm_calibrated *job, const struct by_llm_weight *weight)
{
    if (!weight)
        return;
    struct by_llm_item *item = &job->plan->items[weight - job->opened->source.weights];
    if (item->scheme || item->blocks || item->method)
        return;
    struct by_llm_field *field = &item->fields.at[0];
    item->method = "kept";
    item->fields.count = 1;
    field->elem = by_llm_source_elem(weight);
    field->bytes = weight->rows * weight->columns * (field->elem == BY_ELEM_FLOAT ? 4 : 2);
}

void by_llm_mark_kept(struct by_llm_calibrated *job)
{
    for (size_t i = 0; i < job->decoder.layers; i++) {
        const struct by_decoder_layer *layer = &job->decoder.layer[i];
        for (size_t k = 0; k < BY_PARTS; k++) {
            mark_one(job, layer->parts[k].weight);
            mark_one(job, layer->parts[k].bias);
        }
        for (size_t k = 0; layer->experts && k < 3 * job->decoder.experts; k++) {
            mark_one(job, layer->experts[k].weight);
            mark_one(job, layer->experts[k].bias);
        }
    }
}

static int write_kept(struct by_llm_streams *streams, const struct by_llm_weight *weight,
                      const float *values, struct baryon_error *err)
{
    const struct by_llm_calibrated *job = streams->job;
    uint8_t *data[BY_LLM_FIELDS_MAX] = {0};
    if (!weight)
        return 0;
    const struct by_llm_item *item = &job->plan->items[weight - job->opened->source.weights];
    if (item->scheme || item->blocks)
        return 0;
    data[0] = by_alloc(item->fields.at[0].bytes, 1, err);
    if (!data[0])
        return -1;
    by_llm_store_floats(item->fields.at[0].elem, values, weight->rows * weight->columns, data[0]);
    return by_llm_streams_put(streams, item, data, err);
}

static int write_place(struct by_llm_streams *streams, const struct by_decoder_place *place,
                       const struct by_decoder_matrix *matrix, struct baryon_error *err)
{
    return write_kept(streams, place->weight, matrix->weight, err) ||
                   write_kept(streams, place->bias, matrix->bias, err)
               ? -1
               : 0;
}

static int write_all_kept(struct by_llm_streams *streams, struct baryon_error *err)
{
    const struct by_decoder *d = &streams->job->decoder;
    const struct by_decoder_layer *layer = &d->layer[streams->layer];
    const struct by_decoder_loaded *loaded = &streams->rounded.loaded;
    for (size_t i = 0; i < BY_PARTS; i++)
        if (write_place(streams, &layer->parts[i], &loaded->parts[i], err))
            return -1;
    for (size_t i = 0; layer->experts && i < 3 * d->experts; i++)
        if (write_place(streams, &layer->experts[i], &loaded->experts[i], err))
            return -1;
    return 0;
}

/* --- The hook --- */

/* Inputs that the float weights see in the quantized stream, which stays where it is. */
static int look_ahead(struct by_llm_streams *streams, struct by_llm_inputs inputs[BY_INPUTS],
                      struct baryon_error *err)
{
    struct by_decoder_run *run = &streams->rounded;
    const size_t size = run->windows * run->length * run->decoder->hidden;
    float *states = by_alloc(size, sizeof *states, err);
    int status = states ? 0 : -1;
    if (states)
        memcpy(states, run->states, size * sizeof *states);
    for (enum by_decoder_input i = BY_INPUT_ATTENTION; i < BY_INPUTS && !status; i++) {
        status = by_decoder_enter(run, streams->layer, &streams->rounded.loaded, i, err);
        if (!status && !(streams->rounded.loaded.experts && i == BY_INPUT_DOWN))
            status = by_llm_streams_gather(streams, i, NULL, &inputs[i], err);
    }
    if (states)
        memcpy(run->states, states, size * sizeof *states);
    by_free(states);
    return status ? -1 : 0;
}

int by_llm_streams_rescale(struct by_llm_streams *streams, struct baryon_error *err)
{
    struct by_llm_calibrated *job = streams->job;
    const struct by_llm_rescale *rescale = job->options->rescale;
    struct by_llm_inputs inputs[BY_INPUTS] = {{0}};
    struct by_llm_rescale_layer layer = {
        .decoder = &job->decoder, .layer = streams->layer, .loaded = &streams->rounded.loaded};
    int status = look_ahead(streams, inputs, err);
    for (size_t i = 0; i < BY_INPUTS; i++)
        layer.inputs[i] = inputs[i].gram ? &inputs[i] : NULL;
    if (!status)
        status = rescale->layer(rescale->context, &layer, job->pool, err) ||
                 write_all_kept(streams, err);
    for (size_t i = 0; i < BY_INPUTS; i++)
        by_llm_inputs_release(&inputs[i]);
    return status ? -1 : 0;
}
