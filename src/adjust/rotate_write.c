/* Multiplies rotations into constants, and puts products where no constant takes them. */
#include "adjust/rotate_internal.h"
#include "base/mem.h"
#include "quant/floats.h"
#include "quant/place.h"

#include <string.h>

/* --- Constants --- */

static void turn_vector(const struct by_rotate_turn *turn, double *vector, double *part)
{
    const size_t size = turn->rotation->size;
    if (!turn->channels) {
        by_rotation_apply(turn->rotation, vector);
        return;
    }
    for (size_t begin = 0; begin < turn->size; begin += size) {
        for (size_t i = 0; i < size; i++)
            part[i] = vector[turn->channels[begin + i]];
        by_rotation_apply(turn->rotation, part);
        for (size_t i = 0; i < size; i++)
            vector[turn->channels[begin + i]] = part[i];
    }
}

static size_t place_of(const struct by_rotate_edit *edit, size_t i)
{
    return edit->map ? (size_t)edit->map[i] : i;
}

static bool stays(const struct by_rotate_edit *edit, size_t i)
{
    return edit->map && edit->map[i] == BY_SMOOTH_NONE;
}

/* One vector, whose elements lie `inner` apart. */
static void turn_values(const struct by_rotate_edit *edit, const struct by_rotate_turn *turn,
                        const float *scale, float *values, double *vector)
{
    for (size_t i = 0; i < edit->count; i++)
        if (!stays(edit, i))
            vector[place_of(edit, i)] = (double)values[i * edit->inner] * (scale ? scale[i] : 1);
    turn_vector(turn, vector, vector + turn->size);
    for (size_t i = 0; i < edit->count; i++)
        if (!stays(edit, i))
            values[i * edit->inner] = (float)vector[place_of(edit, i)];
}

static int turn_all(const struct by_rotate_edit *edit, const struct by_rotate_turn *turn,
                    const float *scale, float *values, size_t count, struct baryon_error *err)
{
    double *vector = by_alloc(2 * turn->size, sizeof *vector, err);
    if (!vector)
        return -1;
    for (size_t at = 0; at < count; at += edit->count * edit->inner)
        for (size_t i = 0; i < edit->inner; i++)
            turn_values(edit, turn, scale, values + at + i, vector);
    by_free(vector);
    return 0;
}

int by_rotate_write(struct by_smooth *smooth, const struct by_rotate_edit *edit,
                    const struct by_rotate_turn *turn, struct baryon_error *err)
{
    struct by_floats_view scale = {0};
    size_t count;
    float *values = by_floats_copy(edit->value->initializer, &count, err);
    if (!values)
        return -1;
    int status = edit->scale ? by_floats_open(&scale, edit->scale->initializer, err) : 0;
    if (status == 0) {
        status = turn_all(edit, turn, scale.values, values, count, err);
        if (edit->scale)
            by_floats_close(&scale);
    }
    if (status == 0)
        status = by_floats_write(smooth->plan->model, edit->value->initializer, values, count, err);
    by_free(values);
    return status;
}

static int fill_constant(struct by_smooth *smooth, struct baryon_value *value, float with,
                         struct baryon_error *err)
{
    size_t count;
    float *values = by_floats_copy(value->initializer, &count, err);
    for (size_t i = 0; values && i < count; i++)
        values[i] = with;
    const int status =
        values ? by_floats_write(smooth->plan->model, value->initializer, values, count, err) : -1;
    by_free(values);
    return status;
}

static struct baryon_value *new_rotate_constant(struct by_smooth *smooth, const char *stem,
                                                const int64_t *dims, size_t rank,
                                                const float *values, struct baryon_error *err)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    const char *name = by_model_fresh_name(smooth->plan->model, stem, err);
    struct baryon_tensor *tensor =
        name ? by_tensor_new(smooth->plan->model, name, BY_ELEM_FLOAT, dims, rank, values,
                             count * sizeof *values, err)
             : NULL;
    return tensor ? by_graph_add_initializer(smooth->graph, tensor, err) : NULL;
}

/* --- Weights and shifts of norms --- */

/* The constant that is added to what the layer gives; NULL: there is none. */
static struct baryon_value *bias_of(const struct by_smooth_layer *layer)
{
    const struct baryon_value *out = by_node_out(layer->node, 0);
    struct baryon_value *bias = NULL;
    if (!by_node_is(layer->node, "MatMul") && !by_node_is(layer->node, "FusedMatMul")) {
        bias = by_node_in(layer->node, 2);
    } else if (out->use_count == 1 && out->uses[0].node && by_smooth_is_free(out) &&
               by_node_is(out->uses[0].node, "Add")) {
        const struct baryon_node *add = out->uses[0].node;
        bias = by_node_in(add, by_node_in(add, 0) == out ? 1 : 0);
    }
    size_t count = 0;
    return bias && !by_smooth_refuses(bias) &&
                   by_tensor_count(bias->initializer, &count, NULL) == 0 && count == layer->outs
               ? bias
               : NULL;
}

static int add_behind(struct by_smooth *smooth, const struct by_smooth_layer *layer,
                      struct baryon_value *bias, struct baryon_error *err)
{
    struct baryon_value *out = by_node_out(layer->node, 0);
    struct baryon_value *const inputs[] = {out, bias};
    const char *name = by_model_fresh_name(smooth->plan->model, "rotate_bias_add", err);
    struct baryon_node *add =
        name ? by_graph_add_node(smooth->graph, "Add", NULL, name, inputs, 2, &name, 1, err) : NULL;
    if (!add)
        return -1;
    by_node_out(add, 0)->elem = out->elem;
    by_node_out(add, 0)->shape = out->shape;
    return by_value_replace_uses(out, by_node_out(add, 0), add, err);
}

static int write_bias(struct by_smooth *smooth, const struct by_smooth_layer *layer,
                      const double *sums, struct baryon_error *err)
{
    struct baryon_value *bias = bias_of(layer);
    const int64_t outs = (int64_t)layer->outs;
    size_t count = layer->outs;
    float *values = bias ? by_floats_copy(bias->initializer, &count, err)
                         : by_alloc(layer->outs, sizeof *values, err);
    if (!values)
        return -1;
    for (size_t i = 0; i < layer->outs; i++)
        values[i] = (float)(sums[i] + (bias ? (double)values[i] : 0));
    int status = -1;
    if (bias) {
        status = by_floats_write(smooth->plan->model, bias->initializer, values, count, err);
    } else {
        bias = new_rotate_constant(smooth, "rotate_bias", &outs, 1, values, err);
        if (bias && (by_node_is(layer->node, "MatMul") || by_node_is(layer->node, "FusedMatMul")))
            status = add_behind(smooth, layer, bias, err);
        else if (bias)
            status = by_node_set_input(layer->node, 2, bias, err);
    }
    by_free(values);
    return status;
}

/* What the shift of a norm becomes after the layer. */
static int add_shift(struct by_smooth *smooth, const struct by_smooth_layer *layer,
                     const float *shift, struct baryon_error *err)
{
    struct by_floats_view weight;
    bool any = false;
    for (size_t i = 0; i < layer->ins; i++)
        any = any || shift[i] < 0 || shift[i] > 0;
    if (!any)
        return 0;
    double *sums = by_alloc(layer->outs, sizeof *sums, err);
    if (!sums || by_floats_open(&weight, layer->weight->initializer, err) < 0) {
        by_free(sums);
        return -1;
    }
    for (size_t out = 0; out < layer->outs; out++) {
        sums[out] = 0;
        for (size_t in = 0; in < layer->ins; in++)
            sums[out] +=
                (double)shift[in] *
                weight.values[layer->ins_first ? in * layer->outs + out : out * layer->ins + in];
    }
    by_floats_close(&weight);
    const int status = write_bias(smooth, layer, sums, err);
    by_free(sums);
    return status;
}

static int write_fold(const struct by_rotate_stream *stream, const struct by_rotate_fold *fold,
                      const struct by_rotate_turn *turn, struct baryon_error *err)
{
    size_t count;
    float *shift = fold->shift ? by_floats_copy(fold->shift->initializer, &count, err) : NULL;
    int status = fold->shift && !shift ? -1 : 0;
    for (size_t i = fold->first; status == 0 && i < fold->first + fold->count; i++) {
        const struct by_smooth_layer *layer = &stream->layers.at[i];
        const struct by_rotate_edit edit = {.value = layer->weight,
                                            .inner = layer->inner,
                                            .count = layer->ins,
                                            .scale = fold->scale};
        status = shift ? add_shift(stream->smooth, layer, shift, err) : 0;
        if (status == 0)
            status = by_rotate_write(stream->smooth, &edit, turn, err);
    }
    by_free(shift);
    if (status == 0 && fold->shift)
        status = fill_constant(stream->smooth, fold->shift, 0, err);
    return status < 0 ? -1 : fill_constant(stream->smooth, fold->scale, 1, err);
}

/* --- Products at the ends --- */

static struct baryon_value *new_matrix(const struct by_rotate_stream *stream,
                                       const struct by_rotate_turn *turn, bool back,
                                       struct baryon_error *err)
{
    const size_t size = stream->size;
    const int64_t dims[] = {(int64_t)size, (int64_t)size};
    double *matrix = by_rotation_matrix(turn->rotation, err);
    float *values = matrix ? by_alloc(size * size, sizeof *values, err) : NULL;
    for (size_t i = 0; values && i < size * size; i++)
        values[i] = (float)(back ? matrix[i % size * size + i / size] : matrix[i]);
    struct baryon_value *constant =
        values ? new_rotate_constant(stream->smooth, "rotate_matrix", dims, 2, values, err) : NULL;
    by_free(values);
    by_free(matrix);
    return constant;
}

static struct baryon_value *add_product(const struct by_rotate_stream *stream,
                                        struct baryon_value *value,
                                        const struct by_rotate_turn *turn, bool back,
                                        struct baryon_error *err)
{
    struct by_smooth *smooth = stream->smooth;
    struct baryon_value *const inputs[] = {value, new_matrix(stream, turn, back, err)};
    const char *name =
        inputs[1] ? by_model_fresh_name(smooth->plan->model, BY_ROTATE_MATMUL, err) : NULL;
    struct baryon_node *node =
        name ? by_graph_add_node(smooth->graph, "MatMul", NULL, name, inputs, 2, &name, 1, err)
             : NULL;
    if (!node)
        return NULL;
    by_node_out(node, 0)->elem = value->elem;
    by_node_out(node, 0)->shape = value->shape;
    return by_node_out(node, 0);
}

static bool leaves(const struct by_rotate_stream *stream, const struct baryon_value *value,
                   const struct by_use *use)
{
    for (size_t i = 0; i < stream->exits.count; i++)
        if (stream->exits.at[i].value == value && stream->exits.at[i].use.node == use->node &&
            stream->exits.at[i].use.slot == use->slot)
            return true;
    return false;
}

/* Nodes of the stream, or those that leave it, read `to` where they read `from`, which is the
 * value or stands for it. */
static int move_uses(const struct by_rotate_stream *stream, const struct baryon_value *value,
                     struct baryon_value *from, struct baryon_value *to,
                     const struct baryon_node *product, bool leaving, struct baryon_error *err)
{
    for (size_t i = from->use_count; i-- > 0;) {
        const struct by_use use = from->uses[i];
        if (!use.node || use.node == product || leaves(stream, value, &use) != leaving)
            continue;
        if (by_node_set_input(use.node, use.slot, to, err) < 0)
            return -1;
        i = from->use_count; /* their order is not kept */
    }
    return 0;
}

/* An output of the model keeps its name, so all readers move, and those of the stream back. */
static int move_readers(const struct by_rotate_stream *stream,
                        const struct by_rotate_member *member, struct baryon_value *turned,
                        struct baryon_error *err)
{
    struct baryon_value *value = member->value;
    const struct baryon_node *product = turned->producer;
    if (member->enters)
        return move_uses(stream, value, value, turned, product, false, err);
    if (!by_value_is_output(value))
        return move_uses(stream, value, value, turned, product, true, err);
    if (by_value_replace_uses(value, turned, product, err) < 0)
        return -1;
    return move_uses(stream, value, turned, value, product, false, err);
}

static bool leaves_anywhere(const struct by_rotate_stream *stream, const struct baryon_value *value)
{
    for (size_t i = 0; i < stream->exits.count; i++)
        if (stream->exits.at[i].value == value)
            return true;
    return false;
}

static int write_ends(const struct by_rotate_stream *stream, const struct by_rotate_turn *turn,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < stream->members.count; i++) {
        const struct by_rotate_member *member = &stream->members.at[i];
        if (!member->enters && !leaves_anywhere(stream, member->value))
            continue;
        struct baryon_value *turned =
            add_product(stream, member->value, turn, !member->enters, err);
        if (!turned || move_readers(stream, member, turned, err) < 0)
            return -1;
    }
    return 0;
}

/* --- The whole --- */

int by_rotate_write_stream(struct by_rotate_stream *stream, uint64_t seed, struct baryon_error *err)
{
    struct by_rotation rotation;
    const struct by_rotate_turn turn = {.rotation = &rotation, .size = stream->size};
    const enum by_rotation_kind kind =
        stream->means ? BY_ROTATION_KEEPS_MEAN : BY_ROTATION_HADAMARD;
    if (by_rotation_make(&rotation, stream->size, kind, seed, err) < 0)
        return -1;
    int status = 0;
    for (size_t i = 0; status == 0 && i < stream->folds.count; i++)
        status = write_fold(stream, &stream->folds.at[i], &turn, err);
    for (size_t i = 0; status == 0 && i < stream->edits.count; i++)
        status = by_rotate_write(stream->smooth, &stream->edits.at[i], &turn, err);
    for (size_t i = 0; status == 0 && i < stream->ones.count; i++)
        status = fill_constant(stream->smooth, stream->ones.at[i], 1, err);
    if (status == 0)
        status = write_ends(stream, &turn, err);
    by_rotation_free(&rotation);
    return status;
}
