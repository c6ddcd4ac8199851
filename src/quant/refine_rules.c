/* Lists the hardware rules in the order in which they apply. */
#include "quant/refine_rules.h"

#include <string.h>

/* In the order they are applied in. */
static const struct by_refine_rule *const rules[] = {
    &by_refine_align_concat,    &by_refine_align_pool,   &by_refine_align_pad,
    &by_refine_align_slice,     &by_refine_shift_read,   &by_refine_shift_write,
    &by_refine_shift_write_mul, &by_refine_shift_cut,    &by_refine_shift_bias,
    &by_refine_hard_sigmoid,    &by_refine_swish,        &by_refine_copy_concat,
    &by_refine_copy_pool,       &by_refine_copy_pad,     &by_refine_copy_slice,
    &by_refine_copy_transpose,  &by_refine_copy_reshape,
};

const struct by_refine_rule *const *by_refine_rules(size_t *count)
{
    *count = sizeof rules / sizeof *rules;
    return rules;
}

const struct by_refine_rule *by_refine_rule_find(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i]->name, name) || !strcmp(rules[i]->alias, name))
            return rules[i];
    return NULL;
}
