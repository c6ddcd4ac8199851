/*
 * What the files of a trial share.
 */
#ifndef BY_TRIAL_INTERNAL_H
#define BY_TRIAL_INTERNAL_H

#include "base/gate.h"
#include "base/hash.h"
#include "engine/pair.h"
#include "onnx/frame.h"
#include "quant/known.h"
#include "trial/recall.h"
#include "trial/trial.h"

#include <pthread.h>

#define BY_TRIAL_ENTRIES 64
#define BY_TRIAL_FEWEST  4 /* samples that say anything of a standard error */

/* Statistics of one model; candidates that do not edit it share them. */
struct by_trial_seen {
    struct by_candidate of;
    struct by_stats *stats;  /* NULL: not observed yet, or there are no ranges */
    struct by_stats *wider;  /* of more tensors, which some candidates quantize; or NULL */
    struct by_known *known;  /* parameters of its constants */
    struct by_known *ranges; /* of its tensors in these statistics */
    bool observed;
    bool by_channel;
};

/* An open session, of all candidates that differ in the table of their pairs alone. */
struct by_trial_session {
    struct by_hash128 key;      /* of the model without the table */
    struct by_session *session; /* NULL: the place is free, or it is being opened */
    bool opening;
    unsigned users; /* entries that run it */
};

/* A candidate that was tried, or is. */
struct by_trial_entry {
    struct by_candidate candidate;
    struct by_trial_seen *seen;
    struct by_trial_session *shared;
    struct by_session *session;      /* of that one; NULL: there is nothing more to run */
    struct by_pair_table table;      /* what it runs with */
    bool lost;                       /* some of the samples ruled it out, or it cannot run */
    bool failed;                     /* ONNX Runtime refuses it */
    struct by_hash128 model;         /* with the table */
    size_t recalled;                 /* judgements that an earlier trial made of that model */
    bool wakes;                      /* they do not suffice */
    bool ahead;                      /* prepared before its contest */
    struct by_judgement *judgements; /* by sample */
    size_t judged;                   /* of them */
    double sqnr;                     /* over those */
};

struct by_trial {
    struct by_quantization *q;
    struct baryon_model *exact; /* before passes that simulate hardware; NULL: the model itself */
    struct by_judge *judge;
    struct by_recall *recall; /* of that judge; or NULL */
    bool calibrated;          /* it is one after calibration */
    struct by_stats *part;    /* q->part, where samples after it judge; or NULL */
    bool judges;              /* there are samples for that */
    size_t referenced;        /* so many of the samples that judge ran in the float model */
    struct by_trial_seen seen[BY_TRIAL_ENTRIES]; /* the first one: of the model as it is */
    size_t seen_count;
    struct by_frame frame; /* of the model as it is */
    struct by_trial_entry entries[BY_TRIAL_ENTRIES];
    size_t entry_count;
    struct by_trial_session sessions[BY_TRIAL_ENTRIES];
    unsigned threads;     /* of one look */
    struct by_gate *gate; /* of runs beside each other, while the model as it is is looked at */
    pthread_mutex_t lock;
    pthread_cond_t opened; /* a session is open, or could not be */
    struct by_calibrate_progress progress;
    bool stopped;
};

/* --- trial.c --- */

/* So many samples are done; fails where that was the time to stop. */
int by_trial_go_on(struct by_trial *trial, uint64_t count, struct baryon_error *err);
int by_trial_look(struct by_trial *trial, struct baryon_model *model, struct by_quant_plan *plan,
                  bool per_channel, struct by_stats **stats, struct by_calibrate_report *report,
                  struct baryon_error *err);
/* The float outputs of so many of the samples that judge, where they are not there yet. */
int by_trial_references(struct by_trial *trial, size_t count, struct baryon_error *err);
/* Of all that was looked at in a sample: more than is alive at once. */
uint64_t by_trial_seen_bytes(const struct by_trial *trial);

/* --- share.c --- */

/* A session for an entry whose draft's model that is; the model is only good to be freed then. */
int by_trial_open_session(struct by_trial *trial, struct by_trial_entry *entry,
                          struct baryon_model *model, struct baryon_error *err);
/* The entry runs no more. The session stays open until another one takes its place. */
void by_trial_leave_session(struct by_trial *trial, struct by_trial_entry *entry);
void by_trial_close_sessions(struct by_trial *trial);

/* --- prepare.c --- */

/* Sessions of drafts with the edits of the entries, as many side by side as there is memory for.
 * Entries that share a model that was not observed yet are not in one call. */
int by_trial_prepare(struct by_trial *trial, struct by_trial_entry *const *entries, size_t count,
                     struct baryon_error *err);
/* Whether ONNX Runtime refuses a candidate: that candidate loses, and the trial goes on. */
bool by_trial_refused(struct by_trial *trial, struct by_trial_entry *entry,
                      const struct baryon_error *err);

#endif
