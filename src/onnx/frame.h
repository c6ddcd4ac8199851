/*
 * Copies of a model that share its payloads. A frame is a model's messages without the bytes of
 * its tensors; each copy is made from it, and its tensors point at the model's. So a copy costs
 * little, whatever the weights, and is of any size.
 *
 * The model may be edited afterwards, as payloads are replaced and never changed; it and the frame
 * must outlive the copies. Several copies may be made at once.
 */
#ifndef BY_FRAME_H
#define BY_FRAME_H

#include "base/str.h"
#include "ir/graph.h"

struct by_frame {
    struct by_str bytes;
    struct by_arena arena;
    struct baryon_tensor *tensors; /* as they were, in the order of by_model_each_tensor() */
    size_t count;                  /* 0: there is none */
};

/* The model is linked; it is settled, and left as it was. */
int by_frame_take(struct by_frame *frame, struct baryon_model *model, struct baryon_error *err);
/* All zero is fine. */
void by_frame_release(struct by_frame *frame);
/* Bytes that copies share. */
uint64_t by_frame_payload(const struct by_frame *frame);
/* After sessions of models with so many bytes of weights were closed: the heap goes back to the
 * system, if they are so large that these leave it in pieces which the next ones do not fit into.
 */
void by_trim_after(uint64_t weights);
/* Linked; to be freed with by_model_free(). */
int by_frame_copy(const struct by_frame *frame, struct baryon_model **copy,
                  struct baryon_error *err);

#endif
