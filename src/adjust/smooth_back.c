/* Finds the constants after a tensor that can take factors of its channels. */
#include "adjust/cle_internal.h"
#include "adjust/smooth_internal.h"
#include "quant/floats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One step on the way back. */
struct back {
    struct by_smooth *smooth;
    struct baryon_node *node;
    struct baryon_value *value; /* what the node gives */
    const struct by_smooth_spread *spread;
};

typedef int back_fn(const struct back *at, bool *fits, struct baryon_error *err);

int by_smooth_refuse(struct by_smooth *smooth, bool *fits, struct baryon_error *err,
                     const char *format, ...)
{
    char text[512];
    va_list args;
    *fits = false;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    smooth->refusal = by_arena_text(&smooth->arena, text, strlen(text), err);
    return smooth->refusal ? 0 : -1;
}

static int refuse_node(const struct back *at, bool *fits, struct baryon_error *err,
                       const char *what)
{
    char label[256];
    return by_smooth_refuse(at->smooth, fits, err, "%s %s",
                            by_node_label(at->node, label, sizeof label), what);
}

/* --- Constants --- */

static bool is_finite(const struct baryon_value *value)
{
    bool finite;
    return by_floats_look_finite(value->initializer, &finite, NULL) == 0 && finite;
}

const char *by_smooth_refuses(const struct baryon_value *value)
{
    if (!value->initializer)
        return "is not constant";
    if (value->initializer->data_type != BY_ELEM_FLOAT)
        return "is not float32";
    if (value->is_input || value->pinned || by_value_is_output(value) || by_value_is_kept(value))
        return "can be changed from outside";
    if (value->use_count != 1)
        return "is shared with other nodes";
    return is_finite(value) ? NULL : "has infinities or NaN";
}

static bool is_constant(const struct baryon_value *value)
{
    return value && value->initializer;
}

static int add_edit(struct by_smooth *smooth, const struct by_smooth_edit *edit,
                    struct baryon_error *err)
{
    if (by_list_reserve(&smooth->arena, &smooth->edits, 1, sizeof *smooth->edits.at, err) < 0)
        return -1;
    smooth->edits.at[smooth->edits.count++] = *edit;
    return 0;
}

/* Elements of the constant belong to map[e / inner % count]. */
static int edit_constant(const struct back *at, struct baryon_value *value, size_t inner,
                         size_t count, const int32_t *map, bool *fits, struct baryon_error *err)
{
    const char *why = by_smooth_refuses(value);
    const struct by_smooth_edit edit = {.value = value, .inner = inner, .count = count, .map = map};
    if (why)
        return by_smooth_refuse(at->smooth, fits, err, "'%s' %s", value->name, why);
    *fits = true;
    return add_edit(at->smooth, &edit, err);
}

/* One number for each element of the last axis, or of axis 1. */
static bool is_along(const struct by_smooth_spread *spread, size_t axis)
{
    for (size_t i = 0; i < spread->rank; i++)
        if (spread->on[i] != (i == axis))
            return false;
    return true;
}

/* A vector of one value a channel. */
static int edit_vector(const struct back *at, struct baryon_value *value, bool *fits,
                       struct baryon_error *err)
{
    size_t count;
    if (!value || (value->initializer && by_tensor_count(value->initializer, &count, NULL) == 0 &&
                   count == at->spread->count))
        return value ? edit_constant(at, value, 1, at->spread->count, at->spread->map, fits, err)
                     : (*fits = true, 0);
    return refuse_node(at, fits, err, "has no value for each channel");
}

static int edit_vectors(const struct back *at, size_t axis, struct baryon_value *const *values,
                        size_t count, bool *fits, struct baryon_error *err)
{
    if (!is_along(at->spread, axis))
        return refuse_node(at, fits, err, "has its channels along another axis");
    *fits = true;
    for (size_t i = 0; *fits && i < count; i++)
        if (edit_vector(at, values[i], fits, err) < 0)
            return -1;
    return 0;
}

/* --- Going on --- */

bool by_smooth_is_free(const struct baryon_value *value)
{
    return value && !by_value_is_output(value) && !value->pinned && !by_value_is_kept(value);
}

static int go_on(const struct back *at, struct baryon_value *value,
                 const struct by_smooth_spread *spread, bool *fits, struct baryon_error *err)
{
    if (!value || !spread->count)
        return refuse_node(at, fits, err, "hides the channels");
    if (value->use_count != 1)
        return by_smooth_refuse(at->smooth, fits, err, "'%s' is read by other nodes, too",
                                value->name);
    return by_smooth_back(at->smooth, value, spread, fits, err);
}

static bool is_picture_wise(const struct by_smooth_spread *spread)
{
    for (size_t axis = 2; axis < spread->rank; axis++)
        if (spread->on[axis])
            return false;
    return true;
}

/* f(x / s) is f(x) / s, element by element, or for places of one channel. */
static int back_along(const struct back *at, bool *fits, struct baryon_error *err)
{
    static const char *const of_elements[] = {"Relu", "LeakyRelu", "Identity", "Dropout", NULL};
    if (!by_node_is_one_of(at->node, of_elements) && !is_picture_wise(at->spread))
        return refuse_node(at, fits, err, "mixes channels");
    return go_on(at, by_node_in(at->node, 0), at->spread, fits, err);
}

/* Its shape with all sizes that can be told. */
static int shape_of(const struct back *at, const struct baryon_value *value,
                    const struct by_smooth_spread *spread, struct by_shape **shape,
                    struct baryon_error *err)
{
    *shape = by_shape_copy(&at->smooth->arena, value->shape, err);
    for (size_t axis = 0; *shape && axis < (*shape)->rank; axis++) {
        const int64_t size =
            spread && spread->on[axis] ? spread->dims[axis] : by_smooth_size(value, axis);
        if (size >= 0)
            (*shape)->dims[axis] = by_extent_of(size);
    }
    return *shape ? 0 : -1;
}

static int back_reshape(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct by_smooth_spread spread;
    struct by_shape *to, *from;
    struct baryon_value *in = by_node_in(at->node, 0);
    char from_text[256], to_text[256], text[600];
    if (!in || !in->shape || !at->value->shape || at->value->shape->rank != at->spread->rank)
        return refuse_node(at, fits, err, "has shapes that are not known");
    if (shape_of(at, at->value, at->spread, &to, err) < 0 ||
        shape_of(at, in, NULL, &from, err) < 0 ||
        by_smooth_spread_reshape(&at->smooth->arena, at->spread, to, from, &spread, fits, err) < 0)
        return -1;
    if (*fits)
        return go_on(at, in, &spread, fits, err);
    (void)snprintf(text, sizeof text, "makes %s of %s, where channels are not followed",
                   by_shape_text(to, to_text, sizeof to_text),
                   by_shape_text(from, from_text, sizeof from_text));
    return refuse_node(at, fits, err, text);
}

/* Axes of size 1 that come or go; sizes do not have to be known. */
static bool axes_of(const struct back *at, size_t rank, bool *is_one)
{
    const struct baryon_attribute *given = by_node_attr(at->node, "axes");
    const struct baryon_value *axes = by_node_in(at->node, 1);
    int64_t *list = NULL;
    size_t count = given ? given->ints.count : 0;
    if (!given && (!is_constant(axes) || by_tensor_ints(axes->initializer, &at->smooth->arena,
                                                        BY_RANK_MAX, &list, &count, NULL) < 0))
        return false;
    for (size_t i = 0; i < count; i++) {
        int64_t axis = given ? given->ints.at[i] : list[i];
        axis += axis < 0 ? (int64_t)rank : 0;
        if (axis < 0 || axis >= (int64_t)rank || is_one[axis])
            return false;
        is_one[axis] = true;
    }
    return count > 0;
}

/* The larger of the two shapes has axes more than the other, of size 1. */
static int back_squeeze(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct baryon_value *in = by_node_in(at->node, 0);
    const bool less = by_node_is(at->node, "Squeeze");
    const struct by_shape *larger = less && in ? in->shape : at->value->shape;
    struct by_smooth_spread spread = *at->spread;
    bool is_one[BY_RANK_MAX] = {false};
    if (!in || !larger || !axes_of(at, larger->rank, is_one))
        return back_reshape(at, fits, err);
    memset(spread.on, 0, sizeof spread.on);
    for (size_t axis = 0, k = 0; axis < larger->rank; axis++) {
        if (is_one[axis] && !less && at->spread->on[axis])
            return refuse_node(at, fits, err, "hides the channels");
        const size_t from = less ? k : axis, to = less ? axis : k;
        k += !is_one[axis];
        if (is_one[axis])
            continue;
        spread.on[to] = at->spread->on[from];
        spread.dims[to] = at->spread->dims[from];
        spread.rank = to + 1;
    }
    spread.rank = less ? larger->rank : spread.rank;
    return go_on(at, in, &spread, fits, err);
}

static int back_transpose(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct by_smooth_spread spread;
    size_t perm[BY_RANK_MAX];
    const struct baryon_attribute *given = by_node_attr(at->node, "perm");
    const size_t rank = at->spread->rank;
    if (given && given->ints.count != rank)
        return refuse_node(at, fits, err, "has another rank");
    for (size_t i = 0; i < rank; i++)
        perm[i] = given ? (size_t)given->ints.at[i] : rank - 1 - i;
    if (by_smooth_spread_transpose(&at->smooth->arena, at->spread, perm, &spread, err) < 0)
        return -1;
    return go_on(at, by_node_in(at->node, 0), &spread, fits, err);
}

/* --- Parts of a tensor --- */

/* [begin, begin + size) of an axis; taken: a Gather of one place, whose result has no such axis. */
struct part {
    size_t axis;
    int64_t begin, size, whole;
    bool taken;
};

static bool ints_of(const struct baryon_value *value, struct by_arena *arena, int64_t *values,
                    size_t count)
{
    int64_t *found;
    size_t had;
    if (!is_constant(value) ||
        by_tensor_ints(value->initializer, arena, BY_RANK_MAX, &found, &had, NULL) < 0 ||
        had != count)
        return false;
    memcpy(values, found, count * sizeof *values);
    return true;
}

static bool settle_axis(struct part *part, const struct baryon_value *value, int64_t axis)
{
    const struct by_shape *shape = value->shape;
    if (!shape || axis < -(int64_t)shape->rank || axis >= (int64_t)shape->rank)
        return false;
    part->axis = (size_t)(axis < 0 ? axis + (int64_t)shape->rank : axis);
    part->whole = by_smooth_size(value, part->axis);
    return part->whole > 0;
}

static bool part_of_gather(const struct baryon_node *node, struct by_arena *arena,
                           struct part *part)
{
    const struct baryon_value *in = by_node_in(node, 0), *index = by_node_in(node, 1);
    *part = (struct part){.size = 1, .taken = true};
    if (!settle_axis(part, in, by_node_int(node, "axis", 0)) || !is_constant(index) ||
        index->initializer->dims.count || !ints_of(index, arena, &part->begin, 1))
        return false;
    part->begin += part->begin < 0 ? part->whole : 0;
    return part->begin >= 0 && part->begin < part->whole;
}

static int64_t clamp(int64_t at, int64_t whole)
{
    at += at < 0 ? whole : 0;
    return at < 0 ? 0 : at > whole ? whole : at;
}

static bool part_of_slice(const struct baryon_node *node, struct by_arena *arena, struct part *part)
{
    const struct baryon_value *in = by_node_in(node, 0);
    int64_t end, axis = 0, pace = 1;
    *part = (struct part){0};
    if (!ints_of(by_node_in(node, 1), arena, &part->begin, 1) ||
        !ints_of(by_node_in(node, 2), arena, &end, 1) ||
        (by_node_in(node, 3) && !ints_of(by_node_in(node, 3), arena, &axis, 1)) ||
        (by_node_in(node, 4) && !ints_of(by_node_in(node, 4), arena, &pace, 1)) || pace != 1 ||
        !settle_axis(part, in, axis))
        return false;
    part->begin = clamp(part->begin, part->whole);
    part->size = clamp(end, part->whole) - part->begin;
    return part->size > 0;
}

static bool part_of_split(const struct baryon_node *node, size_t slot, struct part *part)
{
    const struct baryon_value *in = by_node_in(node, 0);
    *part = (struct part){0};
    if (!settle_axis(part, in, by_node_int(node, "axis", 0)))
        return false;
    for (size_t i = 0; i <= slot; i++) {
        const struct baryon_value *out = by_node_out(node, i);
        if (!out || !out->shape || out->shape->dims[part->axis].size <= 0)
            return false;
        part->begin += i < slot ? out->shape->dims[part->axis].size : 0;
        part->size = out->shape->dims[part->axis].size;
    }
    return true;
}

static bool part_of(const struct baryon_node *node, size_t slot, struct by_arena *arena,
                    struct part *part)
{
    if (!by_node_in(node, 0))
        return false;
    if (by_node_is(node, "Gather"))
        return part_of_gather(node, arena, part);
    if (by_node_is(node, "Slice"))
        return part_of_slice(node, arena, part);
    return by_node_is(node, "Split") && part_of_split(node, slot, part);
}

/* Whoever else reads the value takes other parts of it. */
static bool others_are_apart(const struct back *at, const struct baryon_value *value,
                             const struct part *ours)
{
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *node = value->uses[i].node;
        struct part part;
        if (node == at->node)
            continue;
        if (!node || node->graph != value->graph || value->uses[i].slot != 0 ||
            by_node_is(node, "Split") || !part_of(node, 0, &at->smooth->arena, &part) ||
            part.axis != ours->axis ||
            (part.begin < ours->begin + ours->size && ours->begin < part.begin + part.size))
            return false;
    }
    return true;
}

static int back_part(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct by_smooth_spread spread;
    struct part part;
    struct baryon_value *in = by_node_in(at->node, 0);
    if (!part_of(at->node, at->value->slot, &at->smooth->arena, &part))
        return refuse_node(at, fits, err, "takes a part that is not known");
    if (!others_are_apart(at, in, &part) || !by_smooth_is_free(in))
        return by_smooth_refuse(at->smooth, fits, err, "'%s' is read by other nodes, too",
                                in->name);
    if (by_smooth_spread_widen(&at->smooth->arena, at->spread, part.axis, part.size, part.begin,
                               part.whole, part.taken, &spread, err) < 0)
        return -1;
    return spread.count ? by_smooth_back(at->smooth, in, &spread, fits, err)
                        : refuse_node(at, fits, err, "hides the channels");
}

/* --- Arithmetic --- */

/* The value has all the places that have factors of their own. */
static bool is_full(const struct by_smooth_spread *spread, const struct baryon_value *value)
{
    const struct by_shape *shape = value->shape;
    for (size_t axis = 0; axis < spread->rank; axis++)
        if (spread->on[axis] && (!shape || shape->rank != spread->rank ||
                                 by_smooth_size(value, axis) != spread->dims[axis]))
            return false;
    return true;
}

/* A constant beside a tensor: *fits only where each factor has elements of its own. */
static int edit_beside(const struct back *at, struct baryon_value *constant, bool multiplies,
                       bool *fits, struct baryon_error *err)
{
    int32_t *map;
    size_t count;
    if (by_smooth_spread_constant(&at->smooth->arena, at->spread, constant, &map, &count, fits,
                                  err) < 0)
        return -1;
    if (!*fits)
        return refuse_node(at, fits, err, "has a constant that is not one value a channel");
    if (edit_constant(at, constant, 1, count, map, fits, err) < 0)
        return -1;
    if (*fits)
        at->smooth->edits.at[at->smooth->edits.count - 1].multiplies = multiplies;
    return 0;
}

/* A number that all channels share becomes one for each. */
static int edit_number(const struct back *at, size_t slot, bool multiplies, bool *fits,
                       struct baryon_error *err)
{
    struct baryon_value *constant = by_node_in(at->node, slot);
    const struct by_smooth_spread *spread = at->spread;
    size_t count, axis = 0;
    struct by_smooth_edit edit = {.value = constant,
                                  .multiplies = multiplies,
                                  .inner = 1,
                                  .count = spread->count,
                                  .map = spread->map,
                                  .reader = at->node,
                                  .slot = slot};
    if (by_tensor_count(constant->initializer, &count, NULL) < 0 || count != 1 ||
        constant->initializer->data_type != BY_ELEM_FLOAT || constant->is_input ||
        constant->pinned || !is_finite(constant))
        return refuse_node(at, fits, err, "has a constant that is not one value a channel");
    while (axis < spread->rank && !spread->on[axis])
        axis++;
    for (; axis < spread->rank; axis++)
        edit.dims[edit.rank++] = spread->on[axis] ? spread->dims[axis] : 1;
    *fits = true;
    return add_edit(at->smooth, &edit, err);
}

/* The other factor takes it, else the constant does, which becomes larger then. */
static int back_scaled(const struct back *at, size_t data, size_t constant, bool multiplies,
                       bool *fits, struct baryon_error *err)
{
    const size_t edits = at->smooth->edits.count;
    if (edit_beside(at, by_node_in(at->node, constant), multiplies, fits, err) < 0)
        return -1;
    if (*fits)
        return 0;
    if (is_full(at->spread, by_node_in(at->node, data)) &&
        go_on(at, by_node_in(at->node, data), at->spread, fits, err) < 0)
        return -1;
    if (*fits)
        return 0;
    at->smooth->edits.count = edits;
    return edit_number(at, constant, multiplies, fits, err);
}

static int back_gate(const struct back *at, bool *fits, struct baryon_error *err)
{
    const size_t edits = at->smooth->edits.count;
    *fits = false;
    for (size_t slot = 2; !*fits && slot-- > 0;) {
        struct baryon_value *in = by_node_in(at->node, slot);
        at->smooth->edits.count = edits;
        if (in && is_full(at->spread, in) && go_on(at, in, at->spread, fits, err) < 0)
            return -1;
    }
    if (*fits)
        return 0;
    at->smooth->edits.count = edits;
    return refuse_node(at, fits, err, "multiplies two tensors, of which none takes the factors");
}

static int back_mul(const struct back *at, bool *fits, struct baryon_error *err)
{
    for (size_t slot = 0; slot < 2; slot++)
        if (is_constant(by_node_in(at->node, slot)))
            return back_scaled(at, 1 - slot, slot, false, fits, err);
    return back_gate(at, fits, err);
}

static int back_div(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct baryon_value *in = by_node_in(at->node, 0);
    if (is_constant(by_node_in(at->node, 1)))
        return back_scaled(at, 0, 1, true, fits, err);
    if (!in || !is_full(at->spread, in))
        return refuse_node(at, fits, err, "is not per channel");
    return go_on(at, in, at->spread, fits, err);
}

static int back_add(const struct back *at, bool *fits, struct baryon_error *err)
{
    for (size_t slot = 0; slot < 2; slot++) {
        struct baryon_value *in = by_node_in(at->node, 1 - slot);
        if (!is_constant(by_node_in(at->node, slot)))
            continue;
        if (!in || !is_full(at->spread, in))
            return refuse_node(at, fits, err, "is not per channel");
        if (edit_beside(at, by_node_in(at->node, slot), false, fits, err) < 0)
            return -1;
        return *fits ? go_on(at, in, at->spread, fits, err) : 0;
    }
    return refuse_node(at, fits, err, "joins a residual");
}

/* --- Layers --- */

static size_t dim(const struct baryon_value *value, size_t axis)
{
    return (size_t)value->initializer->dims.at[axis];
}

/* A product of an attention gives heads side by side, or one after the other in [count][size]. */
static void note_heads(const struct back *at, size_t count)
{
    at->smooth->heads.channels = at->spread->map;
    at->smooth->heads.count = count;
    at->smooth->heads.size = at->spread->count / count;
}

/* Attributes are as the file has them. */
static void note_heads_of(const struct back *at, const char *attribute)
{
    const int64_t count = by_node_int(at->node, attribute, 0);
    if (count > 0 && at->spread->count % (size_t)count == 0)
        note_heads(at, (size_t)count);
}

/* P V: factors of V's columns and of its matrices. */
static int back_product(const struct back *at, bool *fits, struct baryon_error *err)
{
    const struct by_smooth_spread *spread = at->spread;
    struct baryon_value *in = by_node_in(at->node, 1);
    if (spread->rank < 2 || spread->on[spread->rank - 2] || !spread->on[spread->rank - 1] || !in ||
        !is_full(spread, in))
        return refuse_node(at, fits, err, "mixes channels");
    if (at->smooth->mixes && at->smooth->heads.channels)
        return refuse_node(at, fits, err, "is the second product on the way");
    note_heads(at, spread->count / (size_t)spread->dims[spread->rank - 1]);
    return go_on(at, in, spread, fits, err);
}

static int back_matmul(const struct back *at, bool turned, bool *fits, struct baryon_error *err)
{
    struct baryon_value *weight = by_node_in(at->node, 1);
    if (!is_constant(weight))
        return turned ? refuse_node(at, fits, err, "mixes channels") : back_product(at, fits, err);
    if (weight->initializer->dims.count != 2 || !is_along(at->spread, at->spread->rank - 1) ||
        dim(weight, turned ? 0 : 1) != at->spread->count)
        return refuse_node(at, fits, err, "has weights of another shape");
    return edit_constant(at, weight, turned ? dim(weight, 1) : 1, at->spread->count,
                         at->spread->map, fits, err);
}

static int back_gemm(const struct back *at, bool *fits, struct baryon_error *err)
{
    const bool turned = by_node_int(at->node, "transB", 0) != 0;
    struct baryon_value *bias = by_node_in(at->node, 2);
    if (!is_constant(by_node_in(at->node, 1)))
        return refuse_node(at, fits, err, "has no constant weights");
    if (bias && !is_constant(bias))
        return refuse_node(at, fits, err, "has a bias that is not constant");
    if (back_matmul(at, turned, fits, err) < 0)
        return -1;
    return *fits && bias ? edit_beside(at, bias, false, fits, err) : 0;
}

static int back_conv(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct baryon_value *weight = by_node_in(at->node, 1), *bias = by_node_in(at->node, 2);
    size_t inner = 1;
    if (!is_constant(weight) || (bias && !is_constant(bias)) || !is_along(at->spread, 1) ||
        weight->initializer->dims.count < 3 || dim(weight, 0) != at->spread->count)
        return refuse_node(at, fits, err, "has weights of another shape");
    for (size_t axis = 1; axis < weight->initializer->dims.count; axis++)
        inner *= dim(weight, axis);
    if (edit_constant(at, weight, inner, at->spread->count, at->spread->map, fits, err) < 0)
        return -1;
    return *fits && bias ? edit_vector(at, bias, fits, err) : 0;
}

/* Scale and shift of a norm stand at those inputs. */
static int back_norm(const struct back *at, size_t axis, size_t scale, size_t shift, bool *fits,
                     struct baryon_error *err)
{
    struct baryon_value *const values[] = {by_node_in(at->node, scale),
                                           shift ? by_node_in(at->node, shift) : NULL};
    if (at->value->slot != 0 || !values[0])
        return refuse_node(at, fits, err, "has no weight");
    return edit_vectors(at, axis, values, 2, fits, err);
}

static int back_layer_norm(const struct back *at, bool *fits, struct baryon_error *err)
{
    const int64_t axis = by_node_int(at->node, "axis", -1);
    if (axis != -1 && axis != (int64_t)at->spread->rank - 1)
        return refuse_node(at, fits, err, "normalizes other axes");
    return back_norm(at, at->spread->rank - 1, 1,
                     by_node_is(at->node, "LayerNormalization") ? 2 : 0, fits, err);
}

static int back_batch_norm(const struct back *at, bool *fits, struct baryon_error *err)
{
    if (by_node_int(at->node, "training_mode", 0))
        return refuse_node(at, fits, err, "trains");
    return back_norm(at, 1, 1, 2, fits, err);
}

/* --- Fused operators --- */

static int back_skip_norm(const struct back *at, bool *fits, struct baryon_error *err)
{
    return back_norm(at, at->spread->rank - 1, 2, 3, fits, err);
}

static int back_skip_rms(const struct back *at, bool *fits, struct baryon_error *err)
{
    return back_norm(at, at->spread->rank - 1, 2, 0, fits, err);
}

static int back_embed_norm(const struct back *at, bool *fits, struct baryon_error *err)
{
    return back_norm(at, at->spread->rank - 1, 5, 6, fits, err);
}

static int back_fused_matmul(const struct back *at, bool *fits, struct baryon_error *err)
{
    if (by_node_int(at->node, "transBatchA", 0) || by_node_int(at->node, "transBatchB", 0))
        return refuse_node(at, fits, err, "mixes channels");
    return back_matmul(at, by_node_int(at->node, "transB", 0) != 0, fits, err);
}

/* Columns of Q, K and V stand side by side: the last ones are those of V. */
static int edit_values(const struct back *at, struct baryon_value *value, bool *fits,
                       struct baryon_error *err)
{
    const size_t rank = is_constant(value) ? value->initializer->dims.count : 0;
    const size_t all = rank ? dim(value, rank - 1) : 0, ours = at->spread->count;
    if (all < ours || rank > 2)
        return refuse_node(at, fits, err, "has weights of another shape");
    int32_t *map = by_arena_alloc(&at->smooth->arena, all, sizeof *map, err);
    if (!map)
        return -1;
    for (size_t i = 0; i < all; i++)
        map[i] = i < all - ours ? BY_SMOOTH_NONE : at->spread->map[i - (all - ours)];
    return edit_constant(at, value, 1, all, map, fits, err);
}

/* What is cached of earlier steps has no factors. */
static bool keeps_past(const struct baryon_node *node, size_t first_past)
{
    for (size_t i = 1; i < node->output.count; i++)
        if (by_node_out(node, i) && by_node_out(node, i)->use_count)
            return true;
    return by_node_in(node, first_past) != NULL;
}

static int back_attention(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct baryon_value *bias = by_node_in(at->node, 2);
    if (at->value->slot || keeps_past(at->node, 4) || !is_along(at->spread, at->spread->rank - 1))
        return refuse_node(at, fits, err, "keeps its values for later");
    note_heads_of(at, "num_heads");
    if (edit_values(at, by_node_in(at->node, 1), fits, err) < 0)
        return -1;
    return *fits && bias ? edit_values(at, bias, fits, err) : 0;
}

static int back_heads(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct baryon_value *value = by_node_in(at->node, 2), *bias = by_node_in(at->node, 3);
    if (at->value->slot || keeps_past(at->node, 6) || !value || !value->shape ||
        value->shape->rank != 3 || !is_full(at->spread, value) ||
        !is_along(at->spread, at->spread->rank - 1))
        return refuse_node(at, fits, err, "has values of another shape");
    note_heads_of(at, "num_heads");
    if (bias && edit_values(at, bias, fits, err) < 0)
        return -1;
    return bias && !*fits ? 0 : go_on(at, value, at->spread, fits, err);
}

/* ONNX's own: [N, heads, S, head] or [N, S, heads * head]. */
static int back_onnx_attention(const struct back *at, bool *fits, struct baryon_error *err)
{
    struct baryon_value *value = by_node_in(at->node, 2);
    const size_t rank = at->spread->rank;
    if (at->value->slot || keeps_past(at->node, 4) || by_node_in(at->node, 5) || !value ||
        !is_full(at->spread, value) || rank < 3 || at->spread->on[rank - 2] ||
        by_node_int(at->node, "q_num_heads", 0) != by_node_int(at->node, "kv_num_heads", 0))
        return refuse_node(at, fits, err, "has values of another shape");
    if (rank == 3)
        note_heads_of(at, "kv_num_heads");
    else
        note_heads(at, at->spread->count / (size_t)at->spread->dims[rank - 1]);
    return go_on(at, value, at->spread, fits, err);
}

static int back_plain_matmul(const struct back *at, bool *fits, struct baryon_error *err)
{
    return back_matmul(at, false, fits, err);
}

static const struct row {
    const char *op_type, *domain;
    back_fn *back;
    bool mixes; /* what is mixed after it may be mixed before it */
} rows[] = {
    {"Relu", "", back_along, false},
    {"LeakyRelu", "", back_along, false},
    {"Identity", "", back_along, true},
    {"Dropout", "", back_along, true},
    {"MaxPool", "", back_along, false},
    {"AveragePool", "", back_along, false},
    {"GlobalAveragePool", "", back_along, false},
    {"GlobalMaxPool", "", back_along, false},
    {"Reshape", "", back_reshape, true},
    {"Flatten", "", back_reshape, true},
    {"Squeeze", "", back_squeeze, true},
    {"Unsqueeze", "", back_squeeze, true},
    {"Transpose", "", back_transpose, true},
    {"Gather", "", back_part, true},
    {"Slice", "", back_part, true},
    {"Split", "", back_part, true},
    {"Mul", "", back_mul, false},
    {"Div", "", back_div, false},
    {"Add", "", back_add, true},
    {"Sub", "", back_add, true},
    {"MatMul", "", back_plain_matmul, true},
    {"Gemm", "", back_gemm, true},
    {"Conv", "", back_conv, true},
    {"LayerNormalization", "", back_layer_norm, false},
    {"RMSNormalization", "", back_layer_norm, false},
    {"SimplifiedLayerNormalization", "", back_layer_norm, false},
    {"BatchNormalization", "", back_batch_norm, false},
    {"InstanceNormalization", "", back_batch_norm, false},
    {"Attention", "", back_onnx_attention, true},
    {"FusedMatMul", "com.microsoft", back_fused_matmul, true},
    {"SkipLayerNormalization", "com.microsoft", back_skip_norm, false},
    {"SkipSimplifiedLayerNormalization", "com.microsoft", back_skip_rms, false},
    {"EmbedLayerNormalization", "com.microsoft", back_embed_norm, false},
    {"Attention", "com.microsoft", back_attention, true},
    {"MultiHeadAttention", "com.microsoft", back_heads, true},
};

int by_smooth_back(struct by_smooth *smooth, struct baryon_value *value,
                   const struct by_smooth_spread *spread, bool *fits, struct baryon_error *err)
{
    const struct back at = {
        .smooth = smooth, .node = value->producer, .value = value, .spread = spread};
    if (by_value_is_output(value))
        return by_smooth_refuse(smooth, fits, err, "'%s' is an output of the model", value->name);
    if (!at.node || !by_smooth_is_free(value))
        return by_smooth_refuse(smooth, fits, err, "'%s' comes from outside", value->name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(at.node->op_type, rows[i].op_type) &&
            !strcmp(by_domain(at.node->domain), rows[i].domain) &&
            (rows[i].mixes || !smooth->mixes))
            return rows[i].back(&at, fits, err);
    return refuse_node(&at, fits, err,
                       smooth->mixes ? "does not turn with its input"
                                     : "does not scale with its input");
}
