/* The passes, one file each. */
#ifndef BY_PASSES_H
#define BY_PASSES_H

#include "pass/pass.h"

extern const struct by_pass by_pass_remove_input_init;
extern const struct by_pass by_pass_lift_constants;
extern const struct by_pass by_pass_fold_shapes;
extern const struct by_pass by_pass_fold_constants;
extern const struct by_pass by_pass_remove_noops;
extern const struct by_pass by_pass_remove_dead;
extern const struct by_pass by_pass_fold_batch_norm;
extern const struct by_pass by_pass_fold_batch_norm_concat;
extern const struct by_pass by_pass_fold_scale;
extern const struct by_pass by_pass_fold_pad;
extern const struct by_pass by_pass_merge_activations;
extern const struct by_pass by_pass_merge_moves;
extern const struct by_pass by_pass_matmul_add_to_gemm;
extern const struct by_pass by_pass_fold_div_matmul;

#endif
