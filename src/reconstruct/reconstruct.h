/*
 * Rounding reconstruction, layer after layer: each layer's integers are solved so that what it
 * gives on samples is closest to the reference, reading what the quantized model gives it, whose
 * layers before it are rounded already. A layer keeps them where held-out samples say that it got
 * better, the model keeps its layers where its outputs did. Knows no graph, plan or runtime: all of
 * that is after an interface (reconstruct/model.h). Same integers for any number of threads.
 */
#ifndef BY_RECONSTRUCT_H
#define BY_RECONSTRUCT_H

#include "base/journal.h"
#include "base/log.h"
#include "reconstruct/model.h"
#include "solve/round.h"

/* One layer that was solved: SQNR of what it gives, on held-out samples. */
struct by_solved_layer {
    const char *name;
    uint64_t rows; /* that its samples have */
    size_t columns;
    double nearest, solved; /* dB */
    bool kept;
};

struct by_solved {
    struct by_solved_layer *layers;
    size_t count;          /* 0: nothing was to be solved */
    size_t train, judging; /* samples */
    bool aside;            /* others judge than those it was solved on */
    double before, after;  /* SQNR of the model's outputs on those that judge */
    bool kept;             /* else all was taken back */
    /* Without samples, from Gram matrices of what layers read in the float model; before and after
     * are means over layers then. */
    bool from_statistics;
    bool on_float; /* layers were solved on what they read in the float model */
};

struct by_str;

/* Layers whose reconstruction stays. */
size_t by_solved_kept(const struct by_solved *solved);
/* What it came to, without a full stop. */
void by_solved_say(const struct by_solved *solved, struct by_str *text);

/* What is kept of layers that are solved, of one run after the other. Zero to begin with. */
struct by_reconstruct_keep {
    struct by_journal *journal; /* NULL: nothing is kept */
    bool is_open;
    bool reads;      /* records of an earlier process */
    size_t taken_up; /* of these */
};
/* log: of runs that finished; NULL: of others. */
void by_reconstruct_keep_close(struct by_reconstruct_keep *keep, const struct by_log *log);

struct by_reconstruct_progress {
    size_t done, total, taken_up; /* layers; taken_up: of done, those of an earlier process */
    double share;                 /* of all work that is done */
};

struct by_reconstruct_options {
    struct by_round_options round; /* but for what the driver knows: look, context, lots */
    struct by_pool *pool;
    struct by_round_scratch *scratch; /* of that pool */
    const struct by_log *log;         /* may be NULL */
    /* Called for every sample that is looked at; fails where it is time to stop. May be NULL. */
    int (*progress)(void *context, const struct by_reconstruct_progress *now,
                    struct baryon_error *err);
    void *context;
    const char *checkpoint; /* file that layers are kept in for the same run; NULL: none */
    struct by_reconstruct_keep *keep; /* NULL: without a checkpoint */
    /* Of several runs with the same keep: its number, and its name in messages. The first one
     * reports what makes the result worth less than it looks; the others repeat. */
    unsigned run;
    bool repeats;
    const char *run_name; /* ", with ..."; "" */
};

/* solved: all of it is set, but for `layers`, which is the caller's room for all layers. */
int by_reconstruct(const struct by_reconstruct_model *model,
                   const struct by_reconstruct_options *options, struct by_solved *solved,
                   struct baryon_error *err);

#endif
