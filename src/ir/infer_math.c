/* Elementwise operators: broadcasting, and their values on followed tensors. */
#include "ir/infer_internal.h"

#include <string.h>

#define INPUTS_MAX 8 /* of an operator whose values are followed */

/* One of the inputs at an element of the output: a single element serves all. */
static bool pick(const struct by_content *content, size_t index, size_t count, struct by_item *item)
{
    if (!content || (content->count != 1 && content->count != count))
        return false;
    *item = content->items[content->count == 1 ? 0 : index];
    return true;
}

static bool evaluate(const struct by_infer *infer, const struct baryon_node *node,
                     const struct by_item_function *function, size_t index, size_t count,
                     struct by_item *out)
{
    struct by_item in[INPUTS_MAX] = {{0}};
    for (size_t i = 0; i < node->input.count; i++)
        if (!pick(by_in_content(infer, node, i), index, count, &in[i]))
            return false;
    if (!function->fold) {
        *out = function->apply(in);
        return true;
    }
    *out = in[0];
    for (size_t i = 1; i < node->input.count; i++)
        *out = function->apply((struct by_item[]){*out, in[i]});
    return true;
}

static bool all_followed(const struct by_infer *infer, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (!by_in_content(infer, node, i))
            return false;
    return node->input.count <= INPUTS_MAX;
}

/* Contents, where all inputs have some and none is broadcast but single elements. */
static int follow(struct by_infer *infer, struct baryon_node *node, const struct by_shape *shape,
                  struct baryon_error *err)
{
    int64_t count;
    const struct by_item_function *function = by_item_function(node);
    if (!function || !all_followed(infer, node) || !by_shape_count(shape, &count) ||
        count > BY_CONTENT_MAX)
        return 0;
    struct by_content *content = by_new_content(infer, (size_t)count, err);
    if (!content)
        return -1;
    const int64_t elem = by_node_out(node, 0) ? by_node_out(node, 0)->elem : 0;
    for (size_t i = 0; i < content->count; i++) {
        if (!evaluate(infer, node, function, i, content->count, &content->items[i]))
            return 0;
        content->items[i] = by_item_settle(content->items[i], elem);
    }
    by_out_content(infer, node, 0, content);
    return 0;
}

static int broadcast_slots(struct by_infer *infer, struct baryon_node *node, const size_t *slots,
                           size_t count, const struct by_shape **shape, struct baryon_error *err)
{
    const struct by_shape *shapes[INPUTS_MAX];
    for (size_t i = 0; i < count; i++)
        shapes[i] = by_in_shape(node, slots[i]);
    if (by_broadcast(infer, node, shapes, count, shape, err))
        return -1;
    by_out_shape(node, 0, *shape);
    return 0;
}

/* Many inputs: in steps, so that no list of their number is needed. */
static int broadcast_all(struct by_infer *infer, struct baryon_node *node,
                         const struct by_shape **shape, struct baryon_error *err)
{
    *shape = by_in_shape(node, 0);
    for (size_t i = 1; i < node->input.count && *shape; i++) {
        const struct by_shape *pair[] = {*shape, by_in_shape(node, i)};
        if (by_broadcast(infer, node, pair, 2, shape, err))
            return -1;
    }
    by_out_shape(node, 0, *shape);
    return 0;
}

int by_infer_math(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_shape *shape;
    if (broadcast_all(infer, node, &shape, err))
        return -1;
    return shape ? follow(infer, node, shape, err) : 0;
}

/* Scales and zero points stand between the operands. */
int by_infer_qlinear_math(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    static const size_t pair[] = {0, 3}, near_pair[] = {0, 2}, choice[] = {0, 1, 4};
    const struct by_shape *shape;
    if (strcmp(node->op_type, "QLinearWhere") == 0)
        return broadcast_slots(infer, node, choice, 3, &shape, err);
    const bool near = strcmp(node->op_type, "MulInteger") == 0;
    return broadcast_slots(infer, node, near ? near_pair : pair, 2, &shape, err);
}

int by_infer_same(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    (void)infer;
    (void)err;
    for (size_t slot = 0; slot < node->output.count; slot++)
        by_out_shape(node, slot, by_in_shape(node, 0));
    return 0;
}

int by_infer_identity(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    (void)err;
    by_out_same(infer, node, 0, by_node_in(node, 0));
    return 0;
}

int by_infer_scalar(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    return by_out_scalar(infer, node, 0, err);
}

int by_infer_cast(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_content *from = by_in_content(infer, node, 0);
    const int64_t elem = by_node_out(node, 0) ? by_node_out(node, 0)->elem : 0;
    by_out_shape(node, 0, by_in_shape(node, 0));
    if (!from || from->count > BY_CONTENT_MAX || !by_elem_is_followed(elem))
        return 0;
    struct by_content *content = by_new_content(infer, from->count, err);
    if (!content)
        return -1;
    for (size_t i = 0; i < from->count; i++)
        content->items[i] = by_item_cast(from->items[i], elem);
    by_out_content(infer, node, 0, content);
    return 0;
}
