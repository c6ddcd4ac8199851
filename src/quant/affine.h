/* Scales and zero points of a tensor, of whatever plan: value = (integer - zero) * scale. */
#ifndef BY_AFFINE_H
#define BY_AFFINE_H

#include <stddef.h>
#include <stdint.h>

/* scales[i], zeros[i] for channel i along axis; groups: [channel][group] with groups of the
 * spec's size along group_axis. */
struct by_params {
    size_t count; /* 0: not known yet */
    float *scales;
    int64_t *zeros; /* NULL: all 0 */
    int axis;       /* -1: one for the whole tensor */
    int group_axis;
    size_t groups; /* a channel; 1 but for BY_PER_GROUP */
};

#endif
