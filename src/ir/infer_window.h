/*
 * What convolutions and poolings have in common: a window that slides over the
 * spatial axes.
 */
#ifndef BY_INFER_WINDOW_H
#define BY_INFER_WINDOW_H

#include "ir/infer_internal.h"

struct by_window {
    size_t axes; /* spatial ones */
    struct by_extent kernel[BY_RANK_MAX];
    int64_t stride[BY_RANK_MAX], dilation[BY_RANK_MAX];
    int64_t begin[BY_RANK_MAX], end[BY_RANK_MAX]; /* pads */
    enum { BY_PAD_EXPLICIT, BY_PAD_SAME, BY_PAD_VALID } pad;
    bool ceil_mode;
};

/* Reads the attributes; kernel stays unknown where there is no kernel_shape. */
int by_read_window(const struct baryon_node *node, size_t axes, struct by_window *window,
                   struct baryon_error *err);
/* Positions of the window along an axis, by the input's size there. */
int by_window_positions(const struct baryon_node *node, const struct by_window *window, size_t axis,
                        struct by_extent in, struct by_extent *out, struct baryon_error *err);
/* "Nhwc..." and operators with channels_last set: the channels are the last axis. */
bool by_channels_last(const struct baryon_node *node);
/* Checks attribute `name`: `count` integers of at least `least`; NULL when it is absent. */
int by_window_ints(const struct baryon_node *node, const char *name, size_t count, int64_t least,
                   const int64_t **values, struct baryon_error *err);

#endif
