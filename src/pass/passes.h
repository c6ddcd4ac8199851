/* The passes, one file each. */
#ifndef BY_PASSES_H
#define BY_PASSES_H

#include "pass/pass.h"

extern const struct by_pass by_pass_convert_opset;
extern const struct by_pass by_pass_fp16_to_fp32, by_pass_bf16_to_fp32;
extern const struct by_pass by_pass_fp32_to_fp16, by_pass_fp32_to_bf16;
extern const struct by_pass by_pass_remove_input_init;
extern const struct by_pass by_pass_lift_constants;
extern const struct by_pass by_pass_fold_shapes;
extern const struct by_pass by_pass_fold_reshape;
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
extern const struct by_pass by_pass_split_weight_rows;
extern const struct by_pass by_pass_fix_shapes;
extern const struct by_pass by_pass_nchw_to_nhwc;
extern const struct by_pass by_pass_copy_shared_init;
extern const struct by_pass by_pass_copy_bias_init;
extern const struct by_pass by_pass_fuse_instance_norm;
extern const struct by_pass by_pass_fuse_l2_norm;
extern const struct by_pass by_pass_fuse_layer_norm;
extern const struct by_pass by_pass_fuse_gelu;
extern const struct by_pass by_pass_open_clip_to_relu;
extern const struct by_pass by_pass_mean_to_pool;
extern const struct by_pass by_pass_split_large_pool;
extern const struct by_pass by_pass_split_to_slice;
extern const struct by_pass by_pass_batch_norm_to_conv;
extern const struct by_pass by_pass_clip_to_relu;
extern const struct by_pass by_pass_leaky_relu_dpu;
extern const struct by_pass by_pass_sigmoid_to_hard_sigmoid;
extern const struct by_pass by_pass_hard_sigmoid_dpu;
extern const struct by_pass by_pass_average_pool_dpu;
extern const struct by_pass by_pass_reduce_mean_dpu;
extern const struct by_pass by_pass_softmax_dpu;
extern const struct by_pass by_pass_clip_dpu;

#endif
