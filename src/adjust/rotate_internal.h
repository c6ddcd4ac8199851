/* What the files of rotation share. */
#ifndef BY_ROTATE_INTERNAL_H
#define BY_ROTATE_INTERNAL_H

#include "adjust/rotate.h"
#include "adjust/smooth_internal.h"
#include "solve/rotation.h"

/*
 * A constant that turns along one of its axes, [outer][count][inner]. map: places of its elements
 * in the vector that turns, BY_SMOOTH_NONE for those that stay; NULL: each its own.
 */
struct by_rotate_edit {
    struct baryon_value *value;
    size_t inner, count;
    const int32_t *map;
    const struct baryon_value *scale; /* multiplied before; NULL: none */
};

/* A rotation of parts of a vector. */
struct by_rotate_turn {
    struct by_rotation *rotation;
    size_t size;             /* of the vector */
    const int32_t *channels; /* [size]: part after part; NULL: in their order */
};

/* A value of a stream; scale: a constant that multiplies it before it joins the stream. */
struct by_rotate_member {
    struct baryon_value *value;
    size_t axis;
    struct baryon_value *scale;
    bool enters; /* a product turns it, since nothing in front can */
};

/* Weight and shift of a norm, which fold into layers [first, first + count). */
struct by_rotate_fold {
    struct baryon_value *scale, *shift; /* shift may be NULL */
    size_t first, count;
};

struct by_rotate_exit {
    struct baryon_value *value;
    struct by_use use;
};

struct by_rotate_stream {
    struct by_smooth *smooth; /* arena, graph, refusal */
    size_t size;
    bool fits;
    bool means; /* something takes the mean */
    struct {
        struct by_rotate_member *at;
        size_t count, cap;
    } members;
    struct {
        struct by_rotate_edit *at;
        size_t count, cap;
    } edits;
    struct {
        struct by_rotate_fold *at;
        size_t count, cap;
    } folds;
    struct {
        struct by_smooth_layer *at;
        size_t count, cap;
    } layers;
    struct {
        struct by_rotate_exit *at;
        size_t count, cap;
    } exits;
    struct {
        struct baryon_value **at;
        size_t count, cap;
    } ones; /* constants that became part of weights */
};

/* --- rotate_pass.c: nodes that turn with their input --- */

/* The axis of input `slot` that axis `out` of output 0 comes from; false: none. */
bool by_rotate_axis_in(struct by_smooth *smooth, const struct baryon_node *node, size_t slot,
                       size_t out, size_t *axis);
/* Inputs of that axis turn with the output, and all of them can. */
bool by_rotate_passes(const struct by_rotate_stream *stream, const struct baryon_node *node,
                      size_t out);
/* Of a node that passes: the input is a part of the stream. */
bool by_rotate_is_data(const struct by_rotate_stream *stream, const struct baryon_node *node,
                       size_t slot);
/* Mean over that axis alone, which is kept. */
bool by_rotate_is_mean(struct by_smooth *smooth, const struct baryon_node *node, size_t axis);

/* --- rotate_stream.c --- */

/* The stream that a value belongs to; stream->fits, or smooth->refusal tells why not. */
int by_rotate_find(struct by_rotate_stream *stream, struct baryon_value *value, size_t axis,
                   struct baryon_error *err);
bool by_rotate_has(const struct by_rotate_stream *stream, const struct baryon_value *value);
/* Products of its own that it requires. */
size_t by_rotate_products(const struct by_rotate_stream *stream);

/* --- rotate_write.c --- */

int by_rotate_write(struct by_smooth *smooth, const struct by_rotate_edit *edit,
                    const struct by_rotate_turn *turn, struct baryon_error *err);
int by_rotate_write_stream(struct by_rotate_stream *stream, uint64_t seed,
                           struct baryon_error *err);

#endif
