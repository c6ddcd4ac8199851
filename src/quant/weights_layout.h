/*
 * A constant as [before][first axis][between][last axis][inner], where the two axes are those of
 * channels and of groups, in whatever order; one that is not there has one element.
 */
#ifndef BY_WEIGHTS_LAYOUT_H
#define BY_WEIGHTS_LAYOUT_H

#include "quant/weights.h"

struct by_weight_axis {
    size_t count, stride; /* elements along it, and from one to the next */
};

struct by_weight_layout {
    size_t count; /* all elements */
    struct by_weight_axis before, between, inner, channel, group;
    size_t group_size, groups; /* elements along the group axis in a group; groups of a channel */
    size_t channel_count;      /* elements of a channel */
    bool in_place;             /* a channel's values stand together, group after group */
};

int by_weight_layout(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                     struct by_weight_layout *layout, struct baryon_error *err);
/* Channels [first, first + count), each as values in a row, group after group. */
void by_weight_gather(const struct by_weight_layout *layout, const float *values, size_t first,
                      size_t count, float *out);
/* Elements of a group in such a row. */
static inline size_t by_weight_group_elements(const struct by_weight_layout *layout, size_t group,
                                              size_t *begin)
{
    const size_t each = layout->channel_count / layout->group.count;
    const size_t first = group * layout->group_size;
    const size_t left = layout->group.count - first;
    *begin = first * each;
    return (left < layout->group_size ? left : layout->group_size) * each;
}
/* Says which value is NaN or infinite. */
int by_weight_refuse(const struct by_weight_view *view, struct baryon_error *err);

#endif
