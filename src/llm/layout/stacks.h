/* Experts that lie in one tensor, as weights. */
#ifndef BY_LLM_STACKS_H
#define BY_LLM_STACKS_H

#include "llm/layout/source.h"

/* What is known of a checkpoint's stacks before its tensors are read. */
struct by_llm_stacking {
    enum by_llm_stacks stacks;
    bool *turned; /* of each tensor: [experts, inputs, outputs]; NULL: there are none */
};

int by_llm_stacking_read(struct by_llm_stacking *stacking, const struct by_checkpoint *checkpoint,
                         struct by_arena *arena, struct baryon_error *err);
/* Weights that the tensor of that place becomes; 0: it is no stack, or stays one tensor. */
size_t by_llm_stack_parts(const struct by_llm_stacking *stacking,
                          const struct by_checkpoint *checkpoint, size_t place);
/* The scales of a stack in MXFP4, which are no weight of their own. */
bool by_llm_is_stack_scales(const struct by_checkpoint *checkpoint,
                            const struct by_stored_tensor *tensor);
/* Fills so many weights as by_llm_stack_parts() says. */
int by_llm_stack_read(struct by_llm_source *source, const struct by_llm_stacking *stacking,
                      size_t place, struct by_llm_weight *weights, struct baryon_error *err);
/* Rows of a weight of a stack; see by_llm_source_rows(). */
int by_llm_stack_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                      size_t first, size_t count, float *out, struct baryon_error *err);

#endif
