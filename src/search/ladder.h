/*
 * What a target has to offer a search, as data, one file a target: global rungs in order of cost,
 * what single tensors and layers may have instead, and what multiply-adds cost.
 *
 * To add one: src/search/target_NAME.c with its rows, and a row in ladders.c.
 */
#ifndef BY_LADDER_H
#define BY_LADDER_H

#include "base/mem.h"
#include "preset/preset.h"
#include "search/decision.h"

/* When a rung is tried. */
enum by_rung_when {
    BY_RUNG_FIRST,  /* in order, until one meets the goals */
    BY_RUNG_SOLVED, /* when the cheap ones miss the goals and weights are the cause */
    BY_RUNG_TUNED,  /* after those, with effort thorough */
    BY_RUNG_WIDE,   /* when what single layers and tensors may have does not suffice either */
};

struct by_rung {
    const char *name; /* "A8W8, per channel"; of a solved variant it goes on: "..., solved" */
    const char *text; /* what it changes, one sentence without a full stop */
    enum by_rung_when when;
    double cost;                          /* of the model if all multiply-adds are in its types */
    const struct by_preset_value *values; /* option NULL ends them */
    /* A rung before it, of the same granularity of weights: what samples chose there of
     * equalization, smoothing, biases and logarithms is not asked again. NULL: none */
    const char *choices_of;
    const char *only_with; /* an operator without which it is another rung; NULL: any model */
};

struct by_ladder {
    const char *name; /* "xint8" */
    const char *help;
    const struct by_rung *rungs;
    size_t rung_count;
    struct by_target_ladder decisions;
    const char *layer_options; /* lines of a config that alternatives require; NULL: none */
    /* Once the goals are met: a narrower type for the weights of all layers, and what of it goes
     * back. NULL: there is none. */
    const char *narrow_weight;
    const struct by_alternative *back;
    size_t back_count;
    /* On top of rungs of wider types, in place of the alternatives above. */
    const struct by_alternative *narrower;
    size_t narrower_count;
};

const struct by_ladder *const *by_ladders(size_t *count);
const struct by_ladder *by_ladder_find(const char *name, struct baryon_error *err);
/* Leaves out rungs that are about operators that the model does not have. */
int by_ladder_fit(struct by_ladder *copy, const struct baryon_model *model, struct by_arena *arena,
                  struct baryon_error *err);
/* The rung that leaves an operator as it is which this one replaces; NULL: there is none. */
const struct by_rung *by_ladder_sparing(const struct by_ladder *ladder, const struct by_rung *rung);

/* A copy whose costs are those of a YAML file, and the ladder's where it says nothing:
 *     macs:
 *       - {activation: int16, weight: int8, cost: 2.5}
 *     byte: 0.001
 */
int by_ladder_take_costs(struct by_ladder *copy, const struct by_ladder *from, const char *path,
                         struct by_arena *arena, struct baryon_error *err);

#define BY_RUNGS(array)    .rungs = (array), .rung_count = sizeof(array) / sizeof *(array)
#define BY_NARROWER(array) .narrower = (array), .narrower_count = sizeof(array) / sizeof *(array)
#define BY_NARROW_WEIGHTS(type, array)                                                             \
    .narrow_weight = (type), .back = (array), .back_count = sizeof(array) / sizeof *(array)
#define BY_DECISIONS(options, costs)                                                               \
    .decisions = {.alternatives = (options),                                                       \
                  .alternative_count = sizeof(options) / sizeof *(options),                        \
                  .macs = (costs),                                                                 \
                  .mac_count = sizeof(costs) / sizeof *(costs)}

#endif
