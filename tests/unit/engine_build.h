/*
 * Small models that run, and arrays for them. On top of graph_build.h: ports with
 * types and shapes, written as "N,3,?"; "" is a scalar and NULL an unknown rank.
 */
#ifndef ENGINE_BUILD_H
#define ENGINE_BUILD_H

#include "graph_build.h"

#include "base/rng.h"
#include "engine/session.h"
#include "ir/shape.h"

#include <unistd.h>

static inline const struct by_shape *shape_of(struct baryon_model *model, const char *text)
{
    size_t rank = *text != '\0';
    for (const char *at = text; *at; at++)
        rank += *at == ',';
    struct by_shape *shape = by_shape_new(&model->arena, rank, &err);
    assert_non_null(shape);
    for (size_t i = 0; i < rank; i++) {
        char part[32];
        size_t length = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        shape->dims[i].size = -1;
        if (part[0] >= '0' && part[0] <= '9')
            shape->dims[i].size = atol(part);
        else if (part[0] != '?')
            shape->dims[i].symbol = name_of(model, part);
        text += length + (text[length] == ',');
    }
    return shape;
}

static inline void put_port(struct baryon_model *model, struct by_ptrs *list, const char *name,
                            int64_t elem, const char *shape)
{
    struct by_value_info *info = BY_ARENA_NEW(&model->arena, struct by_value_info, &err);
    assert_non_null(info);
    info->name = name_of(model, name);
    info->type = by_type_tensor(model, elem, shape ? shape_of(model, shape) : NULL, &err);
    push(model, list, info);
}

static inline void takes(struct baryon_model *model, const char *name, int64_t elem,
                         const char *shape)
{
    put_port(model, &model->graph->input, name, elem, shape);
}

static inline void gives(struct baryon_model *model, const char *name, int64_t elem,
                         const char *shape)
{
    put_port(model, &model->graph->output, name, elem, shape);
}

static inline struct baryon_tensor *put_weight(struct baryon_model *model, const char *name,
                                               int64_t elem, const int64_t *dims, size_t rank,
                                               const void *data, size_t size)
{
    struct baryon_tensor *tensor = by_tensor_new(model, name, elem, dims, rank, data, size, &err);
    assert_non_null(tensor);
    push(model, &model->graph->initializer, tensor);
    return tensor;
}

static uint64_t drawn; /* values so far; 0 begins anew */

/* One of -1 to 1. */
static inline float draw(uint64_t seed)
{
    return (float)(by_rng_bits(seed, 0, drawn++) >> 40) / (float)(1 << 23) - 1;
}

#define PUT_MOST 512 /* values of a weight given by its shape */

static inline size_t count_of(struct baryon_model *model, const char *shape)
{
    int64_t count;
    assert_true(by_shape_count(shape_of(model, shape), &count) && count <= PUT_MOST);
    return (size_t)count;
}

static inline void put_values(struct baryon_model *model, const char *name, const char *shape,
                              const float *values)
{
    int64_t dims[8];
    const struct by_shape *wanted = shape_of(model, shape);
    assert_true(wanted->rank <= 8);
    for (size_t i = 0; i < wanted->rank; i++)
        dims[i] = wanted->dims[i].size;
    put_weight(model, name, BY_ELEM_FLOAT, dims, wanted->rank, values,
               count_of(model, shape) * sizeof *values);
}

/* One value everywhere. */
static inline void put_floats(struct baryon_model *model, const char *name, const char *shape,
                              float value)
{
    float values[PUT_MOST];
    for (size_t i = 0, count = count_of(model, shape); i < count; i++)
        values[i] = value;
    put_values(model, name, shape, values);
}

static inline void put_random(struct baryon_model *model, const char *name, const char *shape)
{
    float values[PUT_MOST];
    for (size_t i = 0, count = count_of(model, shape); i < count; i++)
        values[i] = draw(5);
    put_values(model, name, shape, values);
}

/* y = x + w; x is float[N,2], w is {10, 20}. */
static inline struct baryon_model *add_model(void)
{
    const float w[2] = {10, 20};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    gives(model, "y", BY_ELEM_FLOAT, "N,2");
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2}, 1, w, sizeof w);
    put_node(model->graph, "add", "Add", "x,w", "y");
    return model;
}

/* Opens it, and frees the model. */
static inline struct by_session *open_model(struct baryon_model *model,
                                            const struct by_session_options *options)
{
    struct by_session *session;
    int failed = by_session_open_model(&session, model, 0, options, &err);
    by_model_free(model);
    assert_ok(failed);
    return session;
}

static inline struct by_array array_of(const char *name, int64_t elem, size_t rank,
                                       const int64_t *dims, const void *data, size_t size)
{
    struct by_array array = {.name = name, .elem = elem, .rank = rank, .data = data, .size = size};
    for (size_t i = 0; i < rank; i++)
        array.dims[i] = dims[i];
    return array;
}

#define FLOATS(name, rank, dims, data)                                                             \
    array_of((name), BY_ELEM_FLOAT, (rank), (dims), (data), sizeof(data))

static const int64_t two_by_two[] = {2, 2};
static const float one_to_four[] = {1, 2, 3, 4};

static inline struct by_run *run_ok(struct by_session *session, const struct by_array *inputs,
                                    size_t count)
{
    struct by_run *run;
    assert_ok(by_session_run(session, inputs, count, NULL, 0, &run, &err));
    return run;
}

static inline const struct by_array *output(const struct by_run *run, size_t index)
{
    size_t count;
    const struct by_array *arrays = by_run_outputs(run, &count);
    assert_true(index < count);
    return &arrays[index];
}

static inline void assert_floats(const struct by_array *array, const float *wanted, size_t count)
{
    assert_int_equal(array->elem, BY_ELEM_FLOAT);
    assert_int_equal(array->size, count * sizeof *wanted);
    assert_memory_equal(array->data, wanted, array->size);
}

/* A file beside the test program: "../stub/ort.so". */
static inline const char *beside(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    ssize_t length = readlink("/proc/self/exe", path, sizeof paths[0] - 1);
    assert_true(length > 0);
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash + 1, sizeof paths[0] - (size_t)(slash + 1 - path), "%s", name);
    return path;
}

/* A Conv whose weight is drawn but for its first value. */
static inline void put_layer(struct baryon_model *model, const char *name, const char *weight,
                             const char *shape, const char *input, const char *output, float peak)
{
    float values[PUT_MOST];
    const size_t count = count_of(model, shape);
    for (size_t i = 0; i < count; i++)
        values[i] = draw(7) / 4;
    values[0] = peak;
    put_values(model, weight, shape, values);
    put_node(model->graph, name, "Conv", input, output);
}

#endif
