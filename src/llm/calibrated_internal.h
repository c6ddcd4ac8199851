/*
 * What the files calibrated*.c share.
 *
 *   calibrated.c          texts, windows, layers one after the other
 *   calibrated_inputs.c   what linears of a layer read, by which they are grouped
 *   calibrated_group.c    linears that share an input, their integers and bytes
 *   calibrated_memory.c   what that takes, and a limit
 *   calibrated_record.c   finished layers as records
 */
#ifndef BY_LLM_CALIBRATED_INTERNAL_H
#define BY_LLM_CALIBRATED_INTERNAL_H

#include "base/journal.h"
#include "base/str.h"
#include "llm/calibrated.h"
#include "llm/output.h"

struct by_llm_streams {
    struct by_llm_calibrated *job;
    struct by_decoder_run exact, rounded; /* the streams; weights are in rounded.loaded */
    bool drifts;                          /* there is the float stream, `exact` */
    struct by_journal *journal;
    const uint8_t *found; /* what is left of the record of an earlier run */
    size_t found_size;
    struct by_str record; /* of the layer: items, then their bytes, as they come */
    size_t layer;
    void *kept; /* of experts: what `exact` had at the input of gates */
};

/* Solves and writes the linears of an input that both streams have; their weights in memory become
 * what is stored. `exact` is one input further then. */
int by_llm_streams_solve(struct by_llm_streams *streams, enum by_decoder_input input,
                         struct baryon_error *err);

/* Solves linears on their inputs, or, where no token came to them, rounds to nearest; writes them;
 * their weights in memory become what is stored. */
int by_llm_sharing_solve(struct by_llm_streams *streams, const struct by_llm_sharing *sharing,
                         const struct by_llm_inputs *inputs, struct baryon_error *err);

/* The bytes of an item's fields, whose memory the output takes; they are added to the record. */
int by_llm_streams_put(struct by_llm_streams *streams, const struct by_llm_item *item,
                       uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err);
int by_llm_streams_open_journal(struct by_llm_streams *streams, struct by_hash128 key,
                                struct baryon_error *err);
/* Whether an earlier run has recorded the layer. */
int by_llm_streams_peek(struct by_llm_streams *streams, bool *found, struct baryon_error *err);
/* Takes items from that record whose weights are in memory: into the output, and as floats there.
 */
int by_llm_streams_resume(struct by_llm_streams *streams, struct baryon_error *err);
/* All of the record was taken. */
int by_llm_streams_resumed(const struct by_llm_streams *streams, struct baryon_error *err);
/* What lies in a file. */
struct by_llm_lies {
    bool states, weights;
};
/* Whether options->max_memory does; what has to lie in a file for that is set. */
int by_llm_streams_fit(const struct by_llm_calibrated *job, struct by_llm_lies *lies,
                       struct baryon_error *err);
/* The layer is done. */
int by_llm_streams_record(struct by_llm_streams *streams, struct baryon_error *err);

/* Where a weight or bias of the layer is in memory; NULL: it is none. */
float *by_llm_streams_values(struct by_llm_streams *streams, const struct by_llm_weight *weight);

#endif
