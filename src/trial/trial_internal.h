/*
 * What the files of a trial share.
 */
#ifndef BY_TRIAL_INTERNAL_H
#define BY_TRIAL_INTERNAL_H

#include "onnx/frame.h"
#include "trial/trial.h"

#include <pthread.h>

#define BY_TRIAL_MODES   (BY_CLE_KEEP + 1)
#define BY_TRIAL_ENTRIES (2 * BY_TRIAL_MODES)

/* A way that was tried, or is. */
struct by_trial_entry {
    struct by_trial_way way;
    struct by_session *session;      /* NULL: closed, there is nothing more to run */
    bool lost;                       /* half of the samples were enough to rule it out */
    struct by_judgement *judgements; /* by sample */
    size_t judged;                   /* of them */
    double sqnr;                     /* over those */
};

struct by_trial {
    struct by_quantization *q;
    struct baryon_model *exact; /* before passes that simulate hardware; NULL: the model itself */
    struct by_judge *judge;
    struct by_stats *seen[BY_TRIAL_MODES]; /* by equalization; NULL: not looked at yet */
    struct by_frame frame;                 /* of the model as it is */
    struct by_trial_entry entries[BY_TRIAL_ENTRIES];
    size_t entry_count;
    unsigned threads; /* of one look */
    pthread_mutex_t lock;
    struct by_calibrate_progress progress;
    bool stopped;
};

/* --- trial.c --- */

/* So many samples are done; fails where that was the time to stop. */
int by_trial_go_on(struct by_trial *trial, uint64_t count, struct baryon_error *err);
int by_trial_look(struct by_trial *trial, struct baryon_model *model, struct by_quant_plan *plan,
                  bool per_channel, struct by_stats **stats, struct baryon_error *err);
/* Of all that was looked at in a sample: more than is alive at once. */
uint64_t by_trial_seen_bytes(const struct by_trial *trial);

/* --- candidate.c --- */

/* Sessions of copies of the model that were quantized in the ways of the entries, as many side by
 * side as there is memory for. */
int by_candidates_prepare(struct by_trial *trial, struct by_trial_entry *const *entries,
                          size_t count, struct baryon_error *err);

#endif
