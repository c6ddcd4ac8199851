/*
 * Figures of the nodes of a plan, for reports: the tensors around each, the types that it computes
 * with, and the error at its output. Taken before emission.
 */
#ifndef BY_REPORT_LAYERS_H
#define BY_REPORT_LAYERS_H

#include "quant/plan_view.h"
#include "report/tensors.h"
#include "sensitivity/sensitivity.h"

/* Rows of the plan. */
struct by_report_places {
    size_t *at;
    size_t count;
};

struct by_report_layer {
    const char *activation, *weight; /* types: "int8 per channel", "float"; NULL: it has none */
    unsigned bits;                   /* of the wider of both; 0: unknown */
    const char *output;              /* name of the first one */
    struct by_report_places inputs, outputs;
    bool nested;
    double weights, input, whole, shift; /* SQNR in dB; NaN: unknown */
};

struct by_report_layers {
    struct by_arena arena;
    struct by_report_layer *at; /* by place in the plan's list of nodes */
    size_t count;
};

int by_report_layers_take(struct by_report_layers *layers, const struct by_quant_plan *plan,
                          struct baryon_error *err);
void by_report_layers_release(struct by_report_layers *layers);

/* Puts what the twin found where layers and activations have the same names. */
int by_report_layers_measured(struct by_report_layers *layers, struct by_report_tensors *tensors,
                              const struct by_plan_view *view, const struct by_sensitivity *found,
                              struct baryon_error *err);

/* Share of multiply-adds that compute with at most so many bits, 0 to 1; NaN: unknown. */
double by_report_narrow_share(const struct by_report_layers *layers,
                              const struct by_plan_view *view, unsigned bits);

#endif
