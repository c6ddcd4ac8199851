/*
 * Outputs that a Concat joins from results of different kinds, such as the boxes and the scores of
 * a detector. One SQNR of all says nothing about a part of little energy, so each is measured by
 * itself.
 */
#ifndef BY_TRIAL_JOINED_H
#define BY_TRIAL_JOINED_H

#include "array/array.h"
#include "ir/graph.h"

#define BY_JOINED_MOST 6 /* parts; with more the output is measured as a whole */

struct by_joined {
    size_t count; /* of parts; 1: the whole */
    size_t axis;
    int64_t ends[BY_JOINED_MOST]; /* of parts, along the axis */
};

/* The parts of a graph's output. Shapes must be inferred. */
struct by_joined by_joined_find(const struct baryon_value *output);
/* Those parts as far as the array has their sizes, or the whole. */
struct by_joined by_joined_of(const struct by_joined *joined, const struct by_array *array);
/* "scores[:,4:22]"; the name itself of the whole. */
const char *by_joined_name(const struct by_joined *joined, size_t part, const char *name,
                           struct by_arena *arena, struct baryon_error *err);
/* A part has so many blocks, each of so many elements one after the other, from first + i * step
 * on. */
struct by_joined_blocks {
    size_t count, size, first, step;
};
struct by_joined_blocks by_joined_blocks(const struct by_joined *joined, size_t part,
                                         const struct by_array *array);
/* A copy of a part in the arena; of the whole the array itself. */
int by_joined_take(const struct by_joined *joined, size_t part, const struct by_array *array,
                   struct by_arena *arena, struct by_array *out, struct baryon_error *err);

#endif
