/*
 * Cross-layer equalization: scales of channels move from one layer's weights to the next one's.
 * It edits weights and biases of the float model, before statistics of it are taken.
 */
#ifndef BY_CLE_H
#define BY_CLE_H

#include "quant/plan.h"
#include "stats/stats.h"

struct by_cle_options {
    enum by_cle_mode mode; /* not BY_CLE_AUTO */
    double threshold;      /* of a channel's scale, below which it counts as dead */
    int64_t steps;         /* 0: until nothing moves */
    double range;          /* with statistics: times a tensor's that a channel may reach, 0: any */
    bool only_quantized;   /* layers that stay float are left alone after others, too */
};

struct by_cle_report {
    size_t pairs, depthwise, relu6; /* of pairs: into a layer with groups, through Relu6 */
    size_t stems;                   /* first layers with BatchNormalization after them */
    double stem_spread;             /* sum of them */
    double spread; /* bits by which peaks of channels differ from their layer's, mean of pairs and
                      stems */
    size_t rounds;
    double change; /* greatest factor of the last round */
};

/* What there is to equalize, without changing anything. */
int by_cle_survey(struct by_quant_plan *plan, struct by_cle_report *report,
                  struct baryon_error *err);
/* How many channels would go on if the tensor's range did not hold them, which are bounded then. */
int by_cle_held(struct by_quant_plan *plan, struct by_stats *stats,
                const struct by_cle_options *options, size_t *held, struct baryon_error *err);
/*
 * stats: with channels, so that no channel's activation leaves the tensor's range; NULL: weights
 * alone. Edits the plan's model; the plan must be placed anew afterwards where nodes changed
 * (*replaced).
 */
int by_cle_run(struct by_quant_plan *plan, struct by_stats *stats,
               const struct by_cle_options *options, struct by_cle_report *report, bool *replaced,
               struct baryon_error *err);

#endif
