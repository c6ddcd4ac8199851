/* Windows of the float model, and beside them copies of their states that go through layers of
 * which a part is rounded; what the copies diverge at the output. */
#ifndef BY_LLM_AUTO_COPIES_H
#define BY_LLM_AUTO_COPIES_H

#include "llm/auto/auto_internal.h"

#define BY_BITS_TOKENS_AT_ONCE 64 /* whose logits are in memory, for each thread */
#define BY_BITS_COPIES         4  /* at most */

struct by_bits_copies {
    struct by_bits_search *s;
    const struct by_decoder *reference; /* the float model */
    const struct by_decoder *decoder;   /* what walks: the float model, or a quantized one */
    const uint32_t *ids; /* of all windows that choose, or judge; once open, of its own */
    uint32_t *spread;
    size_t windows, length, tokens; /* tokens: windows * length */
    struct by_decoder_run end;      /* the float model after its last layer */
    struct by_decoder_run walk;     /* the decoder on its way */
    struct by_decoder_run run;      /* `count` times the windows */
    size_t count;
    double *kl;   /* [count]: sums */
    double *sums; /* [pieces][count] */
    size_t pieces;
};

/* The float model, and the windows that choose, or as many as probes take; not open yet. */
struct by_bits_copies by_bits_copies_of(struct by_bits_search *s);
/* Runs the float model to its end. To be closed in any case. */
int by_bits_copies_open(struct by_bits_copies *p, struct baryon_error *err);
void by_bits_copies_close(struct by_bits_copies *p);

/* Which of the windows is a probe: the middle of its share of them. */
size_t by_bits_probe_window(size_t probe, size_t probes, size_t windows);

/* States of a copy, and their size. */
void *by_bits_copies_states(const struct by_bits_copies *p, size_t copy);
size_t by_bits_copies_bytes(const struct by_bits_copies *p);
/* A copy of the states before the layer goes through it with these weights; a copy goes on. */
int by_bits_copies_start(struct by_bits_copies *p, size_t copy, size_t layer,
                         const struct by_decoder_loaded *loaded, struct baryon_error *err);
int by_bits_copies_pass(struct by_bits_copies *p, size_t copy, size_t layer,
                        const struct by_decoder_loaded *loaded, struct baryon_error *err);
/* Fills p->kl of the first p->count copies: as they are; after all layers behind this one. */
int by_bits_copies_judge(struct by_bits_copies *p, struct baryon_error *err);
int by_bits_copies_finish(struct by_bits_copies *p, size_t layer, struct baryon_error *err);

#endif
