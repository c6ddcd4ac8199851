/* SQNR of weights and activations by themselves, from plan and statistics: no model runs. */
#include "quant/floats.h"
#include "quant/own_sqnr.h"
#include "quant/rounded.h"
#include "sensitivity/sensitivity.h"
#include "stats/layers.h"

/* --- Activations --- */

static int sense_activation(struct by_sensitivity *out, const struct by_quantization *q,
                            size_t index, struct baryon_error *err)
{
    double sqnr;
    bool known;
    if (by_quant_own_sqnr(q->plan, index, q->stats, &sqnr, &known, err) < 0)
        return -1;
    if (known)
        out->tensors[out->tensor_count++] = (struct by_sensed_tensor){
            .name = q->plan->rows.at[index].value->name, .row = index, .alone = sqnr};
    return 0;
}

/* --- Weights --- */

static double sqnr_of(const float *exact, const float *rounded, size_t count)
{
    double signal = 0, noise = 0;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)exact[i] - (double)rounded[i];
        signal += (double)exact[i] * (double)exact[i];
        noise += difference * difference;
    }
    return by_decibels(signal, noise);
}

static int sense_weight(struct by_sensitivity *out, const struct by_quantization *q, size_t index,
                        struct baryon_error *err)
{
    const struct by_quant_row *row = &q->plan->rows.at[index];
    const struct by_quant_reader *reader = row->readers.count ? &row->readers.at[0] : NULL;
    struct by_moments_layer layer;
    struct by_floats_view floats;
    if (!reader || !reader->node || reader->slot != 1 || !row->value->initializer ||
        !by_layer_of_node(q->plan->model->graph, reader->node, &layer))
        return 0;
    if (by_floats_open(&floats, row->value->initializer, err) < 0)
        return -1;
    float *rounded = by_alloc(floats.count + 1, sizeof *rounded, err);
    int status =
        rounded ? by_quant_round(q->plan, index, floats.values, q->pool, rounded, err) : -1;
    if (status == 0)
        out->layers[out->layer_count++] = (struct by_sensed_layer){
            .name = reader->node->name ? reader->node->name : row->value->name,
            .weight = index,
            .weights = sqnr_of(floats.values, rounded, floats.count)};
    by_free(rounded);
    by_floats_close(&floats);
    return status;
}

int by_sensitivity_alone(struct by_sensitivity *out, const struct by_quantization *q,
                         struct baryon_error *err)
{
    const size_t most = q->plan->rows.count + 1;
    out->layers = by_arena_alloc(&out->arena, most, sizeof *out->layers, err);
    out->tensors = by_arena_alloc(&out->arena, most, sizeof *out->tensors, err);
    if (!out->layers || !out->tensors)
        return -1;
    for (size_t i = 0; i < q->plan->rows.count; i++) {
        const enum by_role role = q->plan->rows.at[i].role;
        if ((role == BY_ROLE_WEIGHT && sense_weight(out, q, i, err) < 0) ||
            (role == BY_ROLE_ACTIVATION && sense_activation(out, q, i, err) < 0))
            return -1;
    }
    return 0;
}
