/*
 * What the files of this folder share.
 *
 *   reconstruct.c   all layers, and what held-out samples say of them
 *   layer.c         one layer
 *   keep.c          layers that an interrupted run has solved already
 *   cost.c          how much work a layer is
 */
#ifndef BY_RECONSTRUCT_INTERNAL_H
#define BY_RECONSTRUCT_INTERNAL_H

#include "reconstruct/reconstruct.h"

/* What an interrupted run found out about the layer in hand. */
struct by_reconstruct_known {
    bool is_there;
    struct by_round_choice choice; /* no integers: the layer was left as it was */
};

struct by_reconstruction {
    const struct by_reconstruct_model *model;
    const struct by_reconstruct_options *options;
    struct by_solved *solved;
    const struct by_round_target *target; /* of the layer in hand */
    struct by_reconstruct_known known;
    const struct by_round_choice *taken; /* of the layer in hand; NULL: it is left as it was */
    size_t done;
    double share;      /* of all work that is done */
    uint64_t left_out; /* rows, of layers that are known */
    size_t taken_up;   /* layers that are known */
};

/* Reports how far it is; fails where that was the time to stop. */
int by_reconstruct_go_on(const struct by_reconstruction *all, struct baryon_error *err);
int by_reconstruct_layer(struct by_reconstruction *all, size_t place, struct baryon_error *err);
/* Rows that were passed over so far. */
uint64_t by_reconstruct_left_out(const struct by_reconstruction *all);
/* Of all work, when so many layers are done. */
double by_reconstruct_share(const struct by_reconstruction *all, size_t done);

/* Looks whether an interrupted run left something. */
int by_reconstruct_keep_open(struct by_reconstruction *all, struct baryon_error *err);
/* What is known of the layer in hand; all of them are asked for in turn. */
int by_reconstruct_keep_next(struct by_reconstruction *all, size_t place, struct baryon_error *err);
/* A layer that was solved, in their order. choice NULL: it is left as it was. */
int by_reconstruct_keep_add(struct by_reconstruction *all, size_t place,
                            const struct by_round_choice *choice, struct baryon_error *err);

#endif
