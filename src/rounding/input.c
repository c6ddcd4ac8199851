/* Finds what a layer takes as input in the quantized model, integers where they are spilled. */
#include "rounding/rounding_internal.h"

/* 0 where there is none. */
static int scalar(const struct baryon_value *value, bool *is_one, double *number,
                  struct baryon_error *err)
{
    *number = 0;
    *is_one = true;
    return value ? by_tensor_number(value->initializer, is_one, number, err) : 0;
}

int by_rounding_source_of(const struct baryon_node *node, struct by_rounding_source *source,
                          struct baryon_error *err)
{
    struct baryon_value *value = by_node_in(node, 0);
    const struct baryon_node *producer = value->producer;
    double scale, zero;
    bool one_scale, one_zero;
    *source = (struct by_rounding_source){.value = value};
    if (!producer || !by_node_dequantizes(producer))
        return 0;
    if (scalar(by_node_in(producer, 1), &one_scale, &scale, err) < 0 ||
        scalar(by_node_in(producer, 2), &one_zero, &zero, err) < 0)
        return -1;
    if (!one_scale || !one_zero)
        return 0;
    source->value = by_node_in(producer, 0);
    source->dequantize = true;
    source->scale = (float)scale;
    source->zero = (float)zero;
    return 0;
}

/* --- Integers that wait --- */

#define GRAIN 32768 /* values that a thread takes at once */
#define LANES 16    /* of a loop whose length the compiler knows, for vectors */

struct dequantizing {
    const struct by_array *from;
    const struct by_rounding_source *source;
    float *out;
};

#define FROM_BYTES(name, type)                                                                     \
    static void name(const type *restrict from, float zero, float scale, size_t count,             \
                     float *restrict out)                                                          \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + LANES <= count; i += LANES)                                                     \
            for (size_t k = 0; k < LANES; k++)                                                     \
                out[i + k] = ((float)from[i + k] - zero) * scale;                                  \
        for (; i < count; i++)                                                                     \
            out[i] = ((float)from[i] - zero) * scale;                                              \
    }
FROM_BYTES(from_signed, int8_t)
FROM_BYTES(from_unsigned, uint8_t)

static int to_values(const struct dequantizing *job, size_t begin, size_t count,
                     struct baryon_error *err)
{
    const struct by_array *from = job->from;
    const float zero = job->source->zero, scale = job->source->scale;
    float *out = job->out + begin;
    if (from->elem == BY_ELEM_INT8) {
        from_signed((const int8_t *)from->data + begin, zero, scale, count, out);
        return 0;
    }
    if (from->elem == BY_ELEM_UINT8) {
        from_unsigned((const uint8_t *)from->data + begin, zero, scale, count, out);
        return 0;
    }
    if (by_elem_to_floats(from->elem, from->data, begin, count, out, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        out[i] = (out[i] - zero) * scale;
    return 0;
}

static int dequantize_piece(void *context, size_t begin, size_t end, unsigned worker,
                            struct baryon_error *err)
{
    (void)worker;
    return to_values(context, begin, end - begin, err);
}

float *by_rounding_values(struct by_rounding_run *run, const struct by_array *like,
                          struct by_array *array, struct baryon_error *err)
{
    size_t count;
    if (by_dims_count(like->dims, like->rank, &count, err) < 0)
        return NULL;
    if (count > run->values_room || !run->values) {
        const size_t room = count ? count : 1; /* a tensor without values has a place, too */
        by_free(run->values);
        run->values = by_alloc(room, sizeof(float), err);
        run->values_room = run->values ? room : 0;
    }
    *array = *like;
    array->elem = BY_ELEM_FLOAT;
    array->data = run->values;
    array->size = count * sizeof(float);
    return run->values;
}

static int dequantize(struct by_rounding_run *run, const struct by_rounding_source *source,
                      const struct by_array *from, struct baryon_error *err)
{
    float *values = by_rounding_values(run, from, &run->read, err);
    if (!values)
        return -1;
    struct dequantizing job = {from, source, values};
    return by_par_for(run->q->pool, run->read.size / sizeof *values, GRAIN, dequantize_piece, &job,
                      err);
}

static int read_copy(struct by_rounding_run *run, const struct by_rounding_source *source,
                     size_t sample, struct baryon_error *err)
{
    struct by_array waits;
    if (by_stages_look(run->rounded, source->value, sample, &run->read_room, &waits, err) < 0)
        return -1;
    if (source->dequantize)
        return dequantize(run, source, &waits, err);
    run->read = waits;
    return 0;
}

int by_rounding_sample(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                       const struct by_rounding_source *source, size_t sample,
                       const struct by_array **x, const struct by_array **y,
                       struct baryon_error *err)
{
    const bool learns_there = source->reference && sample < run->train;
    *x = &run->read;
    *y = &run->wanted;
    const int status = learns_there ? by_stages_look(run->exact, source->reference, sample,
                                                     &run->read_room, &run->read, err)
                                    : read_copy(run, source, sample, err);
    if (status < 0)
        return -1;
    return by_stages_look(run->exact, by_rounding_wanted(run, layer), sample, &run->wanted_room,
                          &run->wanted, err);
}
