/* Stacks the rows of several files into one batch. */
#include "input/stack.h"

#include <string.h>

static bool same_dims(const struct by_array *a, const struct by_array *b, size_t from)
{
    if (a->rank != b->rank)
        return false;
    for (size_t i = from; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

static int refuse_sizes(const struct by_port *port, const struct by_array *batch,
                        const struct by_array *rows, struct baryon_error *err)
{
    char one[BY_SHAPE_TEXT_MAX], two[BY_SHAPE_TEXT_MAX], quoted[BY_QUOTE_MAX];
    int64_t dims[16];
    struct by_port first = {.elem = batch->elem, .rank = batch->rank, .dims = dims};
    const struct by_port other = {.elem = rows->elem, .rank = rows->rank, .dims = rows->dims};
    memcpy(dims, batch->dims, batch->rank * sizeof *dims);
    dims[0] = rows->dims[0];
    by_fail(err, BARYON_ERR_INPUT, "%s here, %s before, must be equal within a batch",
            by_port_text(&other, one, sizeof one), by_port_text(&first, two, sizeof two));
    return by_err_in(err, "input %s", by_quote(quoted, port->name));
}

/* The first rows settle the sizes. */
static int begin_batch(const struct by_stack *stack, size_t port, const struct by_array *rows,
                       bool batched, size_t count, struct baryon_error *err)
{
    struct by_array *batch = &stack->arrays[port];
    *batch = *rows;
    if (batched) {
        batch->dims[0] = (int64_t)stack->batch;
        if (by_mul_overflow(rows->size / count, stack->batch, &batch->size))
            return by_err_nomem(err, SIZE_MAX);
    }
    batch->data = by_arena_alloc(stack->arena, batch->size, 1, err);
    return batch->data ? 0 : -1;
}

static int add_to_batch(const struct by_stack *stack, size_t port, const struct by_array *rows,
                        size_t count, struct baryon_error *err)
{
    const struct by_port *of = &stack->ports[port];
    const bool batched = of->rank > 0 && of->dims[0] == (int64_t)stack->batch;
    struct by_array *batch = &stack->arrays[port];
    char quoted[BY_QUOTE_MAX];
    if (!stack->at && begin_batch(stack, port, rows, batched, count, err) < 0)
        return -1;
    uint8_t *data = (uint8_t *)batch->data;
    if (batched && !same_dims(batch, rows, 1))
        return refuse_sizes(of, batch, rows, err);
    if (batched || !stack->at) {
        memcpy(data + (batched ? stack->at * (rows->size / count) : 0), rows->data, rows->size);
        return 0;
    }
    if (same_dims(batch, rows, 0) && memcmp(data, rows->data, rows->size) == 0)
        return 0;
    by_fail(err, BARYON_ERR_INPUT,
            "it has no batch dimension, but differs between samples of one batch");
    return by_err_in(err, "input %s", by_quote(quoted, of->name));
}

int by_stack_add(struct by_stack *stack, const struct by_array *arrays, size_t rows,
                 struct baryon_error *err)
{
    for (size_t i = 0; i < stack->count; i++)
        if (add_to_batch(stack, i, &arrays[i], rows, err) < 0)
            return -1;
    stack->at += rows;
    return 0;
}
