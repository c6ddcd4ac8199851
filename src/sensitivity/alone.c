/* SQNR of weights and activations by themselves, from plan and statistics: no model runs. */
#include "quant/floats.h"
#include "quant/own_sqnr.h"
#include "quant/rounded.h"
#include "sensitivity/sensitivity.h"
#include "stats/layers.h"

/* What is known of a row. */
struct sensed {
    double sqnr;
    bool known;
    const char *layer; /* that reads a weight */
};

struct sensing_alone {
    const struct by_quantization *q;
    struct sensed *rows; /* by row */
};

/* --- Activations --- */

static int sense_activation(const struct sensing_alone *all, size_t index, struct sensed *sensed,
                            struct baryon_error *err)
{
    return by_quant_own_sqnr(all->q->plan, index, all->q->stats, &sensed->sqnr, &sensed->known,
                             err);
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

/* Rows are looked at side by side, so each by one thread. */
static int sense_weight(const struct sensing_alone *all, size_t index, struct sensed *sensed,
                        struct baryon_error *err)
{
    const struct by_quant_plan *plan = all->q->plan;
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct by_quant_reader *reader = row->readers.count ? &row->readers.at[0] : NULL;
    struct by_moments_layer layer;
    struct by_floats_view floats;
    if (!reader || !reader->node || reader->slot != 1 || !row->value->initializer ||
        !by_layer_of_node(plan->model->graph, reader->node, &layer))
        return 0;
    if (by_floats_open(&floats, row->value->initializer, err) < 0)
        return -1;
    float *rounded = by_alloc(floats.count + 1, sizeof *rounded, err);
    const int status =
        rounded ? by_quant_round(plan, index, floats.values, NULL, rounded, err) : -1;
    if (status == 0)
        *sensed = (struct sensed){sqnr_of(floats.values, rounded, floats.count), true,
                                  reader->node->name ? reader->node->name : row->value->name};
    by_free(rounded);
    by_floats_close(&floats);
    return status;
}

/* --- All rows --- */

static int sense_rows(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct sensing_alone *all = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const enum by_role role = all->q->plan->rows.at[i].role;
        if ((role == BY_ROLE_WEIGHT && sense_weight(all, i, &all->rows[i], err) < 0) ||
            (role == BY_ROLE_ACTIVATION && sense_activation(all, i, &all->rows[i], err) < 0))
            return -1;
    }
    return 0;
}

static void list_sensed(struct by_sensitivity *out, const struct by_quant_plan *plan,
                        const struct sensed *rows)
{
    for (size_t i = 0; i < plan->rows.count; i++) {
        if (!rows[i].known)
            continue;
        if (plan->rows.at[i].role == BY_ROLE_WEIGHT)
            out->layers[out->layer_count++] = (struct by_sensed_layer){
                .name = rows[i].layer, .weight = i, .weights = rows[i].sqnr};
        else
            out->tensors[out->tensor_count++] = (struct by_sensed_tensor){
                .name = plan->rows.at[i].value->name, .row = i, .alone = rows[i].sqnr};
    }
}

int by_sensitivity_alone(struct by_sensitivity *out, const struct by_quantization *q,
                         struct baryon_error *err)
{
    const size_t count = q->plan->rows.count;
    out->layers = by_arena_alloc(&out->arena, count + 1, sizeof *out->layers, err);
    out->tensors = by_arena_alloc(&out->arena, count + 1, sizeof *out->tensors, err);
    struct sensing_alone all = {q, by_alloc_zero(count + 1, sizeof *all.rows, err)};
    if (q->stats)
        (void)by_stats_find(q->stats, ""); /* from here on they are only read */
    const int status = out->layers && out->tensors && all.rows
                           ? by_par_for(q->pool, count, 1, sense_rows, &all, err)
                           : -1;
    if (status == 0)
        list_sensed(out, q->plan, all.rows);
    by_free(all.rows);
    return status;
}
