/*
 * QuaRot's R4: inputs of down are multiplied by a Hadamard matrix while the model runs, and its
 * weights by the same before they are rounded. It changes no output, and spreads peaks of products
 * of gate and up, which no other weight can take. The layout has to say it.
 */
#ifndef BY_LLM_ROTATE_ONLINE_H
#define BY_LLM_ROTATE_ONLINE_H

#include "llm/output.h"
#include "llm/quantize.h"

struct by_llm_rotated_inputs;

/* Edits the weights of those layers that are quantized. size: of the matrix; 0: all columns. To be
 * closed after the last use of these weights. */
int by_llm_rotate_inputs(struct by_llm_rotated_inputs **rotated, struct by_llm_opened *opened,
                         const struct by_llm_plan *plan, size_t size, struct baryon_error *err);
/* What config.json says of it. NULL: nothing is rotated. */
struct by_llm_online by_llm_rotated_online(const struct by_llm_rotated_inputs *rotated);
/* Tensors that hold matrices. */
size_t by_llm_rotated_tensors(const struct by_llm_rotated_inputs *rotated);
int by_llm_rotated_declare(const struct by_llm_rotated_inputs *rotated,
                           struct by_llm_output *output, struct by_arena *arena,
                           struct baryon_error *err);
/* first: place of the first among the output's tensors. */
int by_llm_rotated_write(const struct by_llm_rotated_inputs *rotated, struct by_llm_output *output,
                         size_t first, struct baryon_error *err);
/* NULL is fine. */
void by_llm_rotated_inputs_close(struct by_llm_rotated_inputs *rotated);

#endif
