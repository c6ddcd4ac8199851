/* The elements of a constant as floats, read and written. */
#ifndef BY_FLOATS_H
#define BY_FLOATS_H

#include "ir/tensor.h"

/* Without a copy where they lie in memory as such. */
struct by_floats_view {
    const float *values;
    size_t count;
    float *copy;
    struct by_arena arena;
};

int by_floats_open(struct by_floats_view *view, const struct baryon_tensor *tensor,
                   struct baryon_error *err);
void by_floats_close(struct by_floats_view *view);
/* Whether no element is a NaN or an infinity; without a copy of all of them. */
int by_floats_look_finite(const struct baryon_tensor *tensor, bool *finite,
                          struct baryon_error *err);
/* A copy to be edited; by_free() it. count may be NULL. */
float *by_floats_copy(const struct baryon_tensor *tensor, size_t *count, struct baryon_error *err);

/* The payload of a float tensor becomes those values, aligned or not; its shape stays. */
int by_floats_write(struct baryon_model *model, struct baryon_tensor *tensor, const void *values,
                    size_t count, struct baryon_error *err);

/*
 * Files put weights anywhere, and drafts and sessions copy those that no float may lie at: floats
 * of the main graph get a place of their own instead, once. Very large ones stay.
 */
int by_floats_align(struct baryon_model *model, struct baryon_error *err);

#endif
