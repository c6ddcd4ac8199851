/* Constants: what they hold, and new ones. */
#include "base/half.h"
#include "pass/edit.h"

#include <math.h>
#include <string.h>

bool by_elem_is_float(int64_t elem)
{
    return elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
           elem == BY_ELEM_DOUBLE;
}

/* --- looking --- */

const struct baryon_tensor *by_pass_tensor(const struct baryon_value *value)
{
    if (!value)
        return NULL;
    if (value->initializer)
        return value->is_input && value->graph->model->ir_version >= 4 ? NULL : value->initializer;
    if (!value->producer || !by_node_is(value->producer, "Constant"))
        return NULL;
    const struct baryon_attribute *attr = by_node_attr(value->producer, "value");
    return attr ? attr->t : NULL;
}

int by_pass_doubles(const struct baryon_value *value, struct by_arena *arena, double **values,
                    size_t *count, struct baryon_error *err)
{
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    struct by_span bytes;
    *values = NULL;
    *count = 0;
    if (!tensor || !by_elem_is_float(tensor->data_type))
        return 0;
    if (by_tensor_count(tensor, count, err) || by_tensor_bytes(tensor, arena, &bytes, err))
        return by_err_tensor(err, tensor);
    double *out = by_arena_alloc(arena, *count + 1, sizeof *out, err);
    if (!out || by_elem_to_doubles(tensor->data_type, bytes.data, 0, *count, out, err))
        return -1;
    *values = out;
    return 0;
}

int by_pass_ints(const struct baryon_value *value, size_t most, struct by_arena *arena,
                 int64_t **values, size_t *count, struct baryon_error *err)
{
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    *values = NULL;
    *count = 0;
    if (!tensor || (tensor->data_type != BY_ELEM_INT64 && tensor->data_type != BY_ELEM_INT32))
        return 0;
    if (by_tensor_count(tensor, count, err))
        return by_err_tensor(err, tensor);
    return *count > most ? 0 : by_tensor_ints(tensor, arena, most, values, count, err);
}

#define CHUNK 512u

int by_pass_uniform(const struct baryon_value *value, bool *is, double *element,
                    struct baryon_error *err)
{
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    struct by_arena arena;
    struct by_span bytes;
    double chunk[CHUNK];
    size_t count;
    *is = false;
    if (!tensor || !by_elem_is_float(tensor->data_type))
        return 0;
    by_arena_init(&arena, 0);
    int failed =
        by_tensor_count(tensor, &count, err) || by_tensor_bytes(tensor, &arena, &bytes, err);
    *is = !failed && count > 0;
    for (size_t at = 0; !failed && *is && at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        failed = by_elem_to_doubles(tensor->data_type, bytes.data, at, n, chunk, err);
        if (at == 0)
            *element = chunk[0];
        for (size_t i = 0; i < n && !failed; i++)
            *is = *is && chunk[i] == *element;
    }
    by_arena_release(&arena);
    return failed ? -1 : 0;
}

int by_pass_constant(const struct by_pass_context *context, const struct baryon_value *value,
                     struct by_arena *arena, float **values, size_t *count,
                     struct baryon_error *err)
{
    (void)context;
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    struct by_span bytes;
    *values = NULL;
    *count = 0;
    if (!tensor || !by_elem_is_float(tensor->data_type))
        return 0;
    if (by_tensor_count(tensor, count, err) || by_tensor_bytes(tensor, arena, &bytes, err))
        return by_err_tensor(err, tensor);
    float *out = by_arena_alloc(arena, *count + 1, sizeof *out, err);
    if (!out || by_elem_to_floats(tensor->data_type, bytes.data, 0, *count, out, err))
        return -1;
    *values = out;
    return 0;
}

/* --- new ones --- */

/* To float, the last bit set when something was cut off: rounding the result once more gives
 * what rounding the double at once gives. */
static float to_odd(double value)
{
    float cut = (float)value;
    uint32_t bits;
    if (!isfinite(value) || (double)cut == value)
        return cut;
    if (fabs((double)cut) > fabs(value))
        cut = nextafterf(cut, 0);
    memcpy(&bits, &cut, sizeof bits);
    bits |= 1;
    memcpy(&cut, &bits, sizeof cut);
    return cut;
}

static void round_one(int64_t elem, double value, uint8_t *out)
{
    float single = (float)value;
    uint16_t half;
    switch (elem) {
    case BY_ELEM_DOUBLE:
        memcpy(out, &value, sizeof value);
        return;
    case BY_ELEM_FLOAT16:
        half = by_f32_to_f16_one(to_odd(value));
        memcpy(out, &half, sizeof half);
        return;
    case BY_ELEM_BFLOAT16:
        half = by_f32_to_bf16_one(to_odd(value));
        memcpy(out, &half, sizeof half);
        return;
    default:
        memcpy(out, &single, sizeof single);
    }
}

struct baryon_tensor *by_pass_round(struct baryon_model *model, const char *name, int64_t elem,
                                    const int64_t *dims, size_t rank, const double *values,
                                    struct baryon_error *err)
{
    size_t count, size;
    struct baryon_tensor *tensor = by_tensor_new(model, name, elem, dims, rank, NULL, 0, err);
    if (!tensor || by_dims_count(dims, rank, &count, err) || by_elem_bytes(elem, 1, &size, err))
        return NULL;
    uint8_t *out = (uint8_t *)(uintptr_t)tensor->raw_data.data;
    for (size_t i = 0; i < count; i++)
        round_one(elem, values[i], out + i * size);
    return tensor;
}

struct baryon_value *by_pass_add_tensor(struct baryon_graph *graph, struct baryon_tensor *tensor,
                                        struct baryon_error *err)
{
    struct baryon_value *value = by_graph_add_initializer(graph, tensor, err);
    if (!value)
        return NULL;
    value->elem = tensor->data_type;
    if (by_shape_from_dims(&graph->model->arena, tensor->dims.at, tensor->dims.count, &value->shape,
                           err))
        return NULL;
    return value;
}

struct baryon_value *by_pass_add_doubles(struct baryon_graph *graph, const char *stem, int64_t elem,
                                         const int64_t *dims, size_t rank, const double *values,
                                         struct baryon_error *err)
{
    const char *name = by_model_fresh_name(graph->model, stem, err);
    struct baryon_tensor *tensor =
        name ? by_pass_round(graph->model, name, elem, dims, rank, values, err) : NULL;
    return tensor ? by_pass_add_tensor(graph, tensor, err) : NULL;
}

struct baryon_value *by_pass_add_ints(struct baryon_graph *graph, const char *stem,
                                      const int64_t *dims, size_t rank, const int64_t *values,
                                      struct baryon_error *err)
{
    size_t count;
    const char *name = by_model_fresh_name(graph->model, stem, err);
    if (!name || by_dims_count(dims, rank, &count, err))
        return NULL;
    struct baryon_tensor *tensor = by_tensor_new(graph->model, name, BY_ELEM_INT64, dims, rank,
                                                 values, count * sizeof *values, err);
    return tensor ? by_pass_add_tensor(graph, tensor, err) : NULL;
}

/* --- in place of old ones --- */

int by_pass_become_constant(struct baryon_value *value, struct baryon_tensor *tensor,
                            struct baryon_error *err)
{
    const char *name = value->name;
    const char *fresh = by_model_fresh_name(value->graph->model, name, err);
    if (!fresh || by_value_rename(value, fresh, err))
        return -1;
    tensor->name = name;
    struct baryon_value *made = by_pass_add_tensor(value->graph, tensor, err);
    return made ? by_value_replace_uses(value, made, NULL, err) : -1;
}

static bool same_dims(const struct baryon_tensor *tensor, const int64_t *dims, size_t rank)
{
    return tensor->dims.count == rank &&
           (!rank || memcmp(tensor->dims.at, dims, rank * sizeof *dims) == 0);
}

static bool is_own(const struct baryon_node *node, const struct baryon_value *value)
{
    return value && value->initializer && !value->is_input && value->graph == node->graph &&
           by_pass_only_reader(value) == node;
}

int by_pass_set_constant(struct baryon_node *node, size_t slot, const char *stem, int64_t elem,
                         const int64_t *dims, size_t rank, const double *values,
                         struct baryon_error *err)
{
    struct baryon_graph *graph = node->graph;
    struct baryon_value *old = by_node_in(node, slot);
    if (is_own(node, old) && old->initializer->data_type == elem &&
        same_dims(old->initializer, dims, rank)) {
        struct baryon_tensor *tensor =
            by_pass_round(graph->model, old->name, elem, dims, rank, values, err);
        if (!tensor)
            return -1;
        graph->initializer.at[old->init_slot] = tensor;
        old->initializer = tensor;
        return 0;
    }
    struct baryon_value *made =
        by_pass_add_doubles(graph, old ? old->name : stem, elem, dims, rank, values, err);
    return made ? by_node_set_input(node, slot, made, err) : -1;
}
