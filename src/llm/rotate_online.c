/* Rotates the columns of down's weights, and writes the matrices that layouts store. */
#include "llm/rotate_online.h"

#include "array/elem.h"
#include "llm/decoder/decoder.h"
#include "llm/rotate_edit.h"

#include <string.h>

struct by_llm_rotated_inputs {
    struct by_arena arena;
    struct by_rotation rotation;
    struct by_llm_rotate_cache cache;
    const char **layers;
    size_t *places; /* of their weights in the source */
    struct by_llm_online online;
    struct by_llm_online_tensor tensor;
};

/* --- Sizes --- */

static int hint_size(size_t columns, struct baryon_error *err)
{
    const size_t power = columns & (~columns + 1);
    return by_err_hint(err, "--rotate-size %zu rotates blocks", power);
}

static int choose_size(struct by_llm_rotated_inputs *rotated, const struct by_llm_plan *plan,
                       size_t size, struct baryon_error *err)
{
    struct by_llm_online *online = &rotated->online;
    online->size = size ? size : online->columns;
    if (by_rotation_make(&rotated->rotation, online->size, BY_ROTATION_PLAIN, 0, err) == 0 &&
        plan->layout->online(online, &rotated->tensor, err) == 0)
        return 0;
    hint_size(online->columns, err);
    return by_err_in(err, "--rotate r4");
}

/* --- Layers --- */

/* One size of columns for all, since one matrix is for all. */
static int list_down(struct by_llm_rotated_inputs *rotated, const struct by_llm_source *source,
                     size_t place, size_t size, struct baryon_error *err)
{
    const struct by_llm_weight *weight = &source->weights[place];
    struct by_llm_online *online = &rotated->online;
    if (online->count && online->columns != weight->columns && !size)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "--rotate r4: %s has %zu inputs, %s has %zu; --rotate-size is one for all",
                       online->layers[0], online->columns, weight->layer, weight->columns);
    if (size && weight->columns % size)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--rotate-size %zu does not divide the %zu inputs of %s", size,
                       weight->columns, weight->layer);
    online->columns = weight->columns;
    rotated->places[online->count] = place;
    rotated->layers[online->count++] = weight->layer;
    return 0;
}

static int list_layers(struct by_llm_rotated_inputs *rotated, const struct by_decoder *decoder,
                       const struct by_llm_plan *plan, size_t size, struct baryon_error *err)
{
    const struct by_llm_source *source = decoder->source;
    rotated->layers =
        by_arena_alloc(&rotated->arena, decoder->layers, sizeof *rotated->layers, err);
    rotated->places =
        by_arena_alloc(&rotated->arena, decoder->layers, sizeof *rotated->places, err);
    if (!rotated->layers || !rotated->places)
        return -1;
    rotated->online.layers = rotated->layers;
    for (size_t i = 0; i < decoder->layers; i++) {
        const struct by_llm_weight *down = decoder->layer[i].parts[BY_PART_DOWN].weight;
        if (decoder->layer[i].experts || !down)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "--rotate r4: layer %zu has experts, whose inputs loaders do not rotate",
                           i);
        const size_t place = (size_t)(down - source->weights);
        if (plan->items[place].scheme && list_down(rotated, source, place, size, err))
            return -1;
    }
    return 0;
}

static int edit_layers(struct by_llm_rotated_inputs *rotated, struct by_llm_source *source,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < rotated->online.count; i++) {
        struct by_llm_weight *weight = &source->weights[rotated->places[i]];
        struct by_llm_rotate_edit *edit =
            BY_ARENA_NEW(&rotated->arena, struct by_llm_rotate_edit, err);
        if (!edit)
            return -1;
        by_llm_rotate_edit_open(edit, &rotated->cache);
        by_llm_source_edit(weight, &edit->edit);
        edit->columns = weight->rotation = &rotated->rotation;
    }
    return 0;
}

static int rotate_all(struct by_llm_rotated_inputs *rotated, struct by_llm_opened *opened,
                      const struct by_llm_plan *plan, size_t size, struct baryon_error *err)
{
    struct by_decoder decoder;
    if (!plan->layout->online)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--rotate r4: layout %s has no place for rotations while the model runs, "
                       "must be quark, compressed-tensors or json-safetensors",
                       plan->layout->name);
    int status = by_decoder_open(&decoder, &opened->source, opened->checkpoint->config, err) ||
                         list_layers(rotated, &decoder, plan, size, err)
                     ? -1
                     : 0;
    by_decoder_close(&decoder);
    if (status || !rotated->online.count)
        return status;
    return choose_size(rotated, plan, size, err) || edit_layers(rotated, &opened->source, err) ? -1
                                                                                               : 0;
}

int by_llm_rotate_inputs(struct by_llm_rotated_inputs **rotated, struct by_llm_opened *opened,
                         const struct by_llm_plan *plan, size_t size, struct baryon_error *err)
{
    *rotated = by_alloc_zero(1, sizeof **rotated, err);
    if (!*rotated)
        return -1;
    by_arena_init(&(*rotated)->arena, 0);
    by_llm_rotate_cache_open(&(*rotated)->cache);
    return rotate_all(*rotated, opened, plan, size, err);
}

void by_llm_rotated_inputs_close(struct by_llm_rotated_inputs *rotated)
{
    if (!rotated)
        return;
    by_llm_rotate_cache_close(&rotated->cache);
    by_rotation_free(&rotated->rotation);
    by_arena_release(&rotated->arena);
    by_free(rotated);
}

/* --- What is written --- */

struct by_llm_online by_llm_rotated_online(const struct by_llm_rotated_inputs *rotated)
{
    return rotated ? rotated->online : (struct by_llm_online){0};
}

size_t by_llm_rotated_tensors(const struct by_llm_rotated_inputs *rotated)
{
    if (!rotated || !rotated->tensor.suffix || !rotated->online.count)
        return 0;
    return rotated->tensor.once ? 1 : rotated->online.count;
}

int by_llm_rotated_declare(const struct by_llm_rotated_inputs *rotated,
                           struct by_llm_output *output, struct by_arena *arena,
                           struct baryon_error *err)
{
    for (size_t i = 0; i < by_llm_rotated_tensors(rotated); i++) {
        const uint64_t dims[2] = {rotated->online.size, rotated->online.size};
        if (by_llm_output_declare(output, arena, rotated->layers[i], rotated->tensor.suffix,
                                  rotated->tensor.elem, 2, dims, err))
            return -1;
    }
    return 0;
}

static int write_matrix(const struct by_llm_rotated_inputs *rotated, struct by_llm_output *output,
                        size_t tensor, const double *matrix, struct baryon_error *err)
{
    const size_t size = rotated->online.size, count = size * size;
    const size_t bytes = rotated->tensor.elem == BY_ELEM_INT8 ? 1 : sizeof(float);
    struct by_llm_bundle bundle = {.first = tensor, .count = 1, .sizes = {count * bytes}};
    if (by_safetensors_has(output->writer, tensor))
        return 0;
    bundle.bytes[0] = by_llm_output_room(output, count * bytes, err);
    if (!bundle.bytes[0])
        return -1;
    for (size_t i = 0; i < count; i++) {
        const float sign = matrix[i] < 0 ? -1 : 1;
        if (bytes == 1)
            bundle.bytes[0][i] = (uint8_t)(int8_t)sign;
        else
            memcpy(bundle.bytes[0] + i * sizeof sign, &sign, sizeof sign);
    }
    return by_llm_output_put(output, &bundle, err);
}

int by_llm_rotated_write(const struct by_llm_rotated_inputs *rotated, struct by_llm_output *output,
                         size_t first, struct baryon_error *err)
{
    const size_t tensors = by_llm_rotated_tensors(rotated);
    if (!tensors)
        return 0;
    struct by_rotation own = rotated->rotation; /* its scratch is nobody else's now */
    double *matrix = by_rotation_matrix(&own, err);
    int status = matrix ? 0 : -1;
    for (size_t i = 0; i < tensors && !status; i++)
        status = write_matrix(rotated, output, first + i, matrix, err);
    by_free(matrix);
    return status;
}
