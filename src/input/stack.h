/*
 * Putting rows of several files together to one batch.
 */
#ifndef BY_STACK_H
#define BY_STACK_H

#include "input/match.h"

struct by_stack {
    const struct by_port *ports; /* those with `batch` as dimension 0 are made of rows */
    struct by_array *arrays;     /* one a port, the batch as it grows */
    size_t count, batch;
    size_t at; /* rows that are there */
    struct by_arena *arena;
};

/*
 * Adds rows, one array a port. Sizes that differ from those of the rows before are refused.
 * An array of a port without the batch belongs to no row and must be the same every time.
 */
int by_stack_add(struct by_stack *stack, const struct by_array *arrays, size_t rows,
                 struct baryon_error *err);

#endif
