/*
 * What the files of this folder share.
 *
 *   rounding.c    the samples, the copy, all layers, what the samples kept aside say
 *   layer.c       one layer
 *   floats.c      the copy where activations stay float
 *   input.c       what it reads in the quantized model
 *   keep.c        layers that an interrupted run has solved already
 *   cost.c        how much work a layer is
 *   best.c        all of it in several ways, for scales
 *   local.c       the scale of what a layer reads, by what the layer gives
 *   search.c      scales of activations, by what the model gives
 *   knobs.c       a copy to try them in
 *   move.c        one scale moves
 *   shared.c      weights that several layers read
 */
#ifndef BY_ROUNDING_INTERNAL_H
#define BY_ROUNDING_INTERNAL_H

#include "engine/stages.h"
#include "rounding/rounding.h"
#include "solve/round.h"
#include "trial/copy.h"
#include "trial/judge.h"

/* What a layer reads, integers where they wait as such. */
struct by_rounding_source {
    struct baryon_value *value;
    bool dequantize;
    float scale, zero;
    struct baryon_value *reference; /* what it reads in the reference, to be solved on; NULL: the
                                       same as it is judged on */
};

/* What an interrupted run found out about the layer in hand. */
struct by_rounding_known {
    bool is_there;
    struct by_round_choice choice; /* no integers: the layer was left as it was */
};

/* Scales that are solved as well; of weights with either. */
enum by_rounding_scales {
    BY_ROUNDING_NO_SCALES,
    BY_ROUNDING_SCALES_OF_LAYERS, /* what a layer reads, by what it gives, and its weights */
    BY_ROUNDING_SCALES_OF_MODEL,  /* of activations, by what the model gives */
};

/* What is kept of layers that are solved, of one way after the other. Zero to begin with. */
struct by_rounding_keep {
    struct by_journal *journal; /* NULL: nothing is kept */
    bool is_open;
    bool reads; /* records of an earlier run */
};
void by_rounding_keep_close(struct by_rounding_keep *keep);

struct by_rounding_way {
    enum by_rounding_scales scales;
    bool has_to_move; /* nothing is solved where no scale of an activation moves before */
    size_t moved;     /* out: scales of activations */
};

/* All layers, in one way. */
int by_rounding_once(struct by_quantization *q, struct by_rounding_way *way,
                     struct by_rounding_keep *keep, struct baryon_error *err);
/* In several ways, and the best of them by samples kept aside. */
int by_rounding_best(struct by_quantization *q, struct baryon_error *err);

/* Nobody gave its scales, and they may have any value, or any power of two. */
static inline bool by_rounding_may_move(const struct by_quant_row *row)
{
    return !row->has_params &&
           (row->spec.scale == BY_SCALE_FLOAT32 || row->spec.scale == BY_SCALE_POW2);
}

/* A remark for each weight that several layers read, and a notice. */
int by_rounding_tell_shared(struct by_quantization *q, struct baryon_error *err);

/* A move of one row's scale that rules of hardware do not answer by moving other scales, but those
 * of biases. Zero to begin with. */
struct by_rounding_move {
    bool moved;
    size_t row;
    float *own;      /* the row's old scales */
    float *before;   /* by row: its first scale */
    size_t *remarks; /* by row */
};
int by_rounding_move(struct by_rounding_move *move, struct by_quant_plan *plan, size_t row,
                     const float *scales, struct baryon_error *err);
/* Takes the last one back. */
int by_rounding_move_back(const struct by_rounding_move *move, struct by_quant_plan *plan,
                          struct baryon_error *err);
void by_rounding_move_close(struct by_rounding_move *move);

struct by_solving {
    struct by_quantization *q;
    struct baryon_model *reference; /* what is to be computed: q->model, or `loaded` */
    struct baryon_model *loaded;    /* that before passes that simulate hardware; NULL: the same */
    struct by_judge *judge;
    size_t train, judging;  /* samples: the first ones, and those behind them */
    struct by_depot *depot; /* what waits */
    const struct by_parked **inputs;
    struct by_recipe recipe;
    struct by_frame frame;
    struct by_trial_copy copy;         /* lowered, with layers solved so far */
    struct by_stages *exact, *rounded; /* the model, and the copy */
    struct by_round_scratch *scratch;
    struct by_round_layer *layers;
    float **old_biases; /* by layer; NULL: it was not touched */
    size_t layer_count, done;
    double share;                 /* of all work that is done */
    struct by_array read, wanted; /* one sample of what a layer reads and is to give, as floats */
    struct by_unpark_room read_room, wanted_room;
    float *values;
    size_t values_room;
    struct by_rounding_keep *keep;
    struct by_rounding_known known;
    const struct by_round_choice *taken; /* of the layer in hand; NULL: it is left as it was */
    uint64_t left_out;                   /* rows, of layers that are known */
    size_t taken_up;                     /* layers that are known */
    double begun;
    enum by_rounding_scales scales;
    size_t moved; /* scales of activations */
    struct by_rounding_move move;
};

/* What a layer gives in the reference; NULL: it has no such value. */
struct baryon_value *by_rounding_wanted(const struct by_solving *solving,
                                        const struct by_round_layer *layer);
/* What it reads there. */
struct baryon_value *by_rounding_given(const struct by_solving *solving,
                                       const struct by_round_layer *layer);
/* The layer's node in the copy. */
struct baryon_node *by_rounding_node_in_copy(const struct by_solving *solving,
                                             const struct by_round_layer *layer);
/* Weights alone become integers: the copy has floats that mean the same in their place. */
bool by_rounding_floats_stay(const struct by_solving *solving);
/* All weights of the copy as their nearest integers have them. */
int by_rounding_nearest_floats(struct by_solving *solving, struct baryon_error *err);
/* Another constant of that shape in place of what the copy's node reads. */
int by_rounding_patch(struct by_solving *solving, struct baryon_node *node, size_t slot,
                      const struct baryon_tensor *like, int64_t elem, const void *values,
                      struct baryon_error *err);
/* What a choice means, where the copy has floats. */
void by_rounding_patch_floats(struct by_solving *solving, const struct by_round_layer *layer,
                              const struct by_round_choice *choice);
/* Tells how far it is; fails where that was the time to stop. */
int by_rounding_go_on(const struct by_solving *solving, struct baryon_error *err);
/* The same with scales that the copy's integers do not have. */
int by_rounding_patch_scaled(struct by_solving *solving, const struct by_round_layer *layer,
                             const struct by_round_choice *choice, struct baryon_error *err);
int by_rounding_layer(struct by_solving *solving, size_t place, struct baryon_error *err);

int by_rounding_source_of(const struct baryon_node *node, struct by_rounding_source *source,
                          struct baryon_error *err);
/* What a layer reads in a sample, to be solved or judged on, and what it is to give; good until the
 * next call. */
int by_rounding_sample(struct by_solving *solving, const struct by_round_layer *layer,
                       const struct by_rounding_source *source, size_t sample,
                       const struct by_array **x, const struct by_array **y,
                       struct baryon_error *err);

/* Room for as many floats as that has, and an array of them; good until the next call. */
float *by_rounding_values(struct by_solving *solving, const struct by_array *like,
                          struct by_array *array, struct baryon_error *err);

/* Looks whether an interrupted run left something. */
int by_rounding_keep_open(struct by_solving *solving, struct baryon_error *err);
/* What is known of the layer; all of them are asked for in turn. */
int by_rounding_keep_next(struct by_solving *solving, size_t place, struct baryon_error *err);
/* A layer that was solved, in their order. choice NULL: it is left as it was. */
int by_rounding_keep_add(struct by_solving *solving, size_t place,
                         const struct by_round_choice *choice, struct baryon_error *err);

/* Of all work, when so many layers are done. */
double by_rounding_share(const struct by_solving *solving, size_t done);

/* Its scales are its own, and nobody gave them. */
bool by_rounding_may_scale(const struct by_solving *solving, const struct by_round_layer *layer);
/* Scales of a layer's weight become the choice's. */
int by_rounding_move_weight(struct by_solving *solving, const struct by_round_layer *layer,
                            const struct by_round_choice *choice, bool *moved,
                            struct baryon_error *err);
/* Before the copy is made: scales of activations, by what the model gives on samples. */
int by_rounding_search(struct by_solving *solving, struct baryon_error *err);

/* Where the layer alone reads a tensor: chooses the tensor's scale by what the layer gives. */
int by_rounding_scale(struct by_solving *solving, size_t place, struct baryon_error *err);

#endif
