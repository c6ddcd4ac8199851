/*
 * What the files of this folder share: rounding of an ONNX model's layers by the driver
 * (reconstruct/reconstruct.h), on two models that ONNX Runtime runs piece by piece.
 *
 *   rounding.c    one run over all layers: which, with what options, what the plan says of them
 *   open.c        the samples, the reference, the copy
 *   model.c       what the driver asks of a model
 *   judged.c      what held-out samples say of it, and all of it taken back
 *   layers.c      which nodes are layers
 *   target.c      a layer as arrays, out of the plan
 *   take.c        the solver's choice, into the plan
 *   patch.c       and into the copy
 *   floats.c      the copy where activations stay float
 *   input.c       what a layer reads in the quantized model
 *   key.c         what a checkpoint is of
 *   from_stats.c  a run without samples or models, on Gram matrices of a file
 *   best.c        several runs, for scales
 *   local.c       the scale of what a layer reads, by what the layer gives
 *   search.c      scales of activations, by what the model gives
 *   knobs.c       a copy to try them in
 *   move.c        one scale moves
 *   shared.c      weights that several layers read
 */
#ifndef BY_ROUNDING_INTERNAL_H
#define BY_ROUNDING_INTERNAL_H

#include "engine/stages.h"
#include "reconstruct/reconstruct.h"
#include "rounding/rounding.h"
#include "rounding/target.h"
#include "trial/draft.h"
#include "trial/judge.h"
#include "trial/snapshot.h"

/* What a layer reads, integers where they wait as such. */
struct by_rounding_source {
    struct baryon_value *value;
    bool dequantize;
    float scale, zero;
    struct baryon_value *reference; /* what it reads in the reference, to be solved on; NULL: the
                                       same as it is judged on */
};

/* Scales that are solved as well; of weights with either. */
enum by_rounding_scales {
    BY_ROUNDING_NO_SCALES,
    BY_ROUNDING_SCALES_OF_LAYERS, /* what a layer reads, by what it gives, and its weights */
    BY_ROUNDING_SCALES_OF_MODEL,  /* of activations, by what the model gives */
};

/* What all ways have in common: read, loaded, run and judged by the first one. Zero to begin with.
 */
struct by_rounding_shared {
    struct by_depot *depot;         /* what waits */
    struct by_judge *judge;         /* samples, and what the reference gives for those that judge */
    struct baryon_model *loaded;    /* the reference; NULL: it is the model itself */
    struct by_judgement *nearest;   /* by sample: with nearest integers; NULL: not judged yet */
    struct by_judgement *corrected; /* and corrected biases; NULL: these are no better */
};

struct by_rounding_way {
    enum by_rounding_scales scales;
    bool repeats;   /* another way came before */
    size_t moved;   /* out: scales of activations */
    size_t weights; /* out: layers whose weights got other scales */
};

/* All layers, in one way. */
int by_rounding_once(struct by_quantization *q, struct by_rounding_shared *shared,
                     struct by_rounding_way *way, struct by_reconstruct_keep *keep,
                     struct baryon_error *err);
/* After all ways. */
void by_rounding_shared_close(struct by_rounding_shared *shared);
/* In several ways, and the best of them by held-out samples. */
int by_rounding_best(struct by_quantization *q, struct baryon_error *err);

/* On statistics of the float model, which nothing runs. */
int by_rounding_from_stats(struct by_quantization *q, struct baryon_error *err);

/* The user has not asked for other operators alone. */
bool by_rounding_is_asked_for(const struct by_recipe *recipe, const struct baryon_node *node);
struct by_round_options by_rounding_options(const struct by_recipe *recipe, bool scales);
struct by_reconstruct_layer by_rounding_describe(const struct by_quantization *q,
                                                 const struct by_rounding_layer *layer);

/* A remark for each weight that several layers read, and a notice. */
int by_rounding_report_shared(struct by_quantization *q, struct baryon_error *err);

/* A move of one row's scale that rules of hardware do not answer by moving other scales, but those
 * of biases. Zero to begin with. */
struct by_rounding_move {
    bool moved;
    struct by_snapshot before;
};
int by_rounding_move(struct by_rounding_move *move, struct by_quant_plan *plan, size_t row,
                     const float *scales, struct baryon_error *err);
/* Takes the last one back. */
int by_rounding_move_back(const struct by_rounding_move *move, struct by_quant_plan *plan,
                          struct baryon_error *err);
void by_rounding_move_close(struct by_rounding_move *move);

/* One run over all layers. */
struct by_rounding_run {
    struct by_quantization *q;
    struct by_rounding_shared *shared;
    bool repeats;
    struct baryon_model *reference; /* what is to be computed: the model, or that before passes that
                                       simulate hardware */
    struct by_judge *judge;         /* shared, as the depot is */
    struct by_depot *depot;
    size_t train, judging; /* samples: the first ones, and those after them */
    const struct by_parked **inputs;
    struct by_recipe recipe;
    struct by_frame frame;
    struct by_draft copy;              /* lowered, with layers solved so far */
    struct by_stages *exact, *rounded; /* the model, and the copy */
    struct by_round_scratch *scratch;
    struct by_rounding_layer *layers;
    struct by_reconstruct_layer *described; /* the same, for the driver */
    struct by_snapshot as_came;             /* plan and biases, before anything is solved */
    size_t layer_count;
    const struct by_judgement *before; /* the shared ones; NULL: not judged yet */
    struct by_array read, wanted; /* one sample of what a layer reads and is to give, as floats */
    struct by_unpark_room read_room, wanted_room;
    float *values;
    size_t values_room;
    double begun;
    enum by_rounding_scales scales;
    size_t moved;   /* scales of activations */
    size_t weights; /* layers whose weights got other scales */
    struct by_rounding_move move;

    /* The layer in hand. */
    size_t place;
    struct by_rounding_target target;
    struct by_rounding_source source;
    struct baryon_value *reached[2]; /* in the reference: what it gives, what it reads or NULL */
};

/* --- open.c: everything that is done before the first layer --- */

int by_rounding_open_reference(struct by_rounding_run *run, struct baryon_error *err);
int by_rounding_open(struct by_rounding_run *run, struct baryon_error *err);
void by_rounding_close(struct by_rounding_run *run);

/* --- model.c --- */

/* What the driver gets; lives as long as the run. */
struct by_reconstruct_model by_rounding_model(struct by_rounding_run *run);
/* Reports how far the driver is; fails where that was the time to stop. context: the run. */
int by_rounding_go_on(void *context, const struct by_reconstruct_progress *now,
                      struct baryon_error *err);
/* What a layer gives in the reference; NULL: it has no such value. */
struct baryon_value *by_rounding_wanted(const struct by_rounding_run *run,
                                        const struct by_rounding_layer *layer);
/* What it reads there. */
struct baryon_value *by_rounding_given(const struct by_rounding_run *run,
                                       const struct by_rounding_layer *layer);
/* The layer's node in the copy. */
struct baryon_node *by_rounding_node_in_copy(const struct by_rounding_run *run,
                                             const struct by_rounding_layer *layer);
int by_rounding_key(void *context, struct by_hasher *hasher, struct baryon_error *err);

/* --- judged.c --- */

/* Plan and biases as they are now, for by_rounding_undo(). */
int by_rounding_remember(struct by_rounding_run *run, struct baryon_error *err);
/* judge() and undo() of the model. Solved layers have to be better than the nearest integers, with
 * corrected biases where held-out samples prefer these; undo() leaves the model so. */
int by_rounding_judge(void *context, struct by_reconstruct_score *score, struct baryon_error *err);
int by_rounding_undo(void *context, struct baryon_error *err);
/* Gives memory back to the system. */
void by_rounding_give_back(const struct by_rounding_run *run);

/* --- The copy --- */

/* Weights alone become integers: the copy has floats that mean the same in their place. */
bool by_rounding_floats_stay(const struct by_rounding_run *run);
/* All weights of the copy as their nearest integers have them. */
int by_rounding_nearest_floats(struct by_rounding_run *run, struct baryon_error *err);
/* Another constant of that shape in place of what the copy's node reads. */
int by_rounding_patch(struct by_rounding_run *run, struct baryon_node *node, size_t slot,
                      const struct baryon_tensor *like, int64_t elem, const void *values,
                      struct baryon_error *err);
/* A layer's choice, which the plan has already. */
int by_rounding_patch_copy(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                           const struct by_round_choice *choice, struct baryon_error *err);

/* --- What layers read --- */

int by_rounding_source_of(const struct baryon_node *node, struct by_rounding_source *source,
                          struct baryon_error *err);
/* What a layer reads in a sample, to be solved or judged on, and what it is to give; good until the
 * next call. */
int by_rounding_sample(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                       const struct by_rounding_source *source, size_t sample,
                       const struct by_array **x, const struct by_array **y,
                       struct baryon_error *err);
/* Room for as many floats as that has, and an array of them; good until the next call. */
float *by_rounding_values(struct by_rounding_run *run, const struct by_array *like,
                          struct by_array *array, struct baryon_error *err);

/* --- Scales --- */

/* Scales of a layer's weight become the choice's. */
int by_rounding_move_weight(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                            const struct by_round_choice *choice, bool *moved,
                            struct baryon_error *err);
/* Before the copy is made: scales of activations, by what the model gives on samples. */
int by_rounding_search(struct by_rounding_run *run, struct baryon_error *err);
/* Where the layer alone reads a tensor: chooses the tensor's scale by what the layer gives. */
int by_rounding_scale(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                      struct baryon_error *err);

#endif
