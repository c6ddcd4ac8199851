/* The rows of refine_rules.c. */
#ifndef BY_REFINE_RULES_H
#define BY_REFINE_RULES_H

#include "quant/refine.h"

extern const struct by_refine_rule by_refine_align_concat, by_refine_align_pool,
    by_refine_align_pad, by_refine_align_slice, by_refine_shift_read, by_refine_shift_write,
    by_refine_shift_write_mul, by_refine_shift_cut, by_refine_shift_bias, by_refine_hard_sigmoid,
    by_refine_swish, by_refine_copy_concat, by_refine_copy_pool, by_refine_copy_pad,
    by_refine_copy_slice, by_refine_copy_transpose, by_refine_copy_reshape;

#endif
