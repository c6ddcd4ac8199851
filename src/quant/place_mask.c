/*
 * Masks of attention: what is not to be looked at gets a great negative number added, or put in
 * its place, before Softmax. No range has room for it: one that reaches so far has no steps
 * left for scores, one of scores alone blocks nothing. So from the mask to Softmax it stays float.
 */
#include "ir/softmax_parts.h"
#include "quant/floats.h"
#include "quant/place_internal.h"

#define BLOCKS (-1e4f) /* what masks are made with, or less */
#define DEPTH  8       /* operators from Softmax back to the mask */

const char by_place_masked[] = "a mask added before Softmax: no range covers its values";

/* By value->index, as far as it was asked. */
enum { UNKNOWN, ASKED, NO_MASK, PART, MASK };

struct masking {
    struct by_placing *placing;
    unsigned char *known;
    struct baryon_error *err;
    bool failed;
};

/* --- What a mask is made of --- */

static bool has_block(struct masking *masking, const struct baryon_tensor *tensor)
{
    struct by_floats_view view;
    bool found = false;
    if (tensor->data_type != BY_ELEM_FLOAT)
        return false;
    if (by_floats_open(&view, tensor, masking->err)) {
        masking->failed = true;
        return false;
    }
    for (size_t i = 0; i < view.count && !found; i++)
        found = view.values[i] <= BLOCKS;
    by_floats_close(&view);
    return found;
}

static bool makes_masks(const struct baryon_node *node)
{
    static const char *const names[] = {
        "Add",       "Sub",    "Mul",   "Div",     "Where",    "Expand",    "Unsqueeze",
        "Squeeze",   "Concat", "Slice", "Reshape", "Identity", "Transpose", "Tile",
        "ScatterND", "Min",    "Max",   "Neg",     "Trilu",    "Cast",      "ConstantOfShape",
        NULL};
    return by_node_is_one_of(node, names);
}

static int judge_mask_value(struct masking *masking, const struct baryon_value *value);

static int judge_node(struct masking *masking, const struct baryon_node *node)
{
    const struct baryon_attribute *fill = by_node_attr(node, "value");
    int found = PART;
    if (!makes_masks(node))
        return NO_MASK;
    if (by_node_is(node, "ConstantOfShape") && fill && fill->t && has_block(masking, fill->t))
        found = MASK;
    for (size_t i = 0; i < node->input.count && found != NO_MASK; i++) {
        const struct baryon_value *in = by_node_in(node, i);
        const int part = in && by_place_is_float(in) ? judge_mask_value(masking, in) : PART;
        found = part == MASK || part == NO_MASK ? part : found;
    }
    return found;
}

/* MASK: made of constants, of the model's inputs and of what is no float, without any layer, and
 * something of it blocks; an input of the model is taken to do so. */
static int judge_mask_value(struct masking *masking, const struct baryon_value *value)
{
    if (!by_place_in(masking->placing, value))
        return NO_MASK;
    unsigned char *known = &masking->known[value->index];
    if (*known != UNKNOWN)
        return *known == ASKED ? NO_MASK : *known;
    *known = ASKED;
    if (value->initializer)
        *known = has_block(masking, value->initializer) ? MASK : PART;
    else
        *known = (unsigned char)(value->producer ? judge_node(masking, value->producer) : MASK);
    return *known;
}

/* --- From Softmax back to it --- */

/* The nodes that make the mask. */
static void keep_mask(struct by_placing *placing, const struct baryon_value *value)
{
    const struct baryon_node *node = value->producer;
    if (!node || node->graph != placing->graph || placing->stays[node->index] == by_place_masked)
        return;
    by_place_keep(placing, node, by_place_masked);
    for (size_t i = 0; i < node->input.count; i++)
        if (by_place_is_float(by_node_in(node, i)))
            keep_mask(placing, by_node_in(node, i));
}

/* Slot of what is masked, where the node masks it; the mask is kept float then. */
static bool masks(struct masking *masking, const struct baryon_node *node, size_t *scores)
{
    const bool adds = by_node_is(node, "Add");
    if (!adds && !by_node_is(node, "Where"))
        return false;
    const size_t slots[2] = {adds ? 0 : 1, adds ? 1 : 2};
    for (size_t i = 0; i < 2; i++) {
        const struct baryon_value *mask = by_node_in(node, slots[i]);
        const struct baryon_value *other = by_node_in(node, slots[1 - i]);
        if (!mask || !other || judge_mask_value(masking, mask) != MASK ||
            judge_mask_value(masking, other) != NO_MASK)
            continue;
        keep_mask(masking->placing, mask);
        *scores = slots[1 - i];
        return true;
    }
    return false;
}

static bool hands_on_mask(const struct baryon_node *node)
{
    static const char *const names[] = {"Add",     "Mul",       "Div",       "Reshape",
                                        "Squeeze", "Unsqueeze", "Transpose", "Identity",
                                        "Max",     "Clip",      "Where",     NULL};
    return by_node_is_one_of(node, names);
}

/* True when a mask is found; all nodes from it to here stay float. */
static bool walk_to_mask(struct masking *masking, const struct baryon_value *value, unsigned depth)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    size_t scores;
    if (!node || node->graph != masking->placing->graph || !depth || masking->failed)
        return false;
    bool found = masks(masking, node, &scores);
    if (found)
        (void)walk_to_mask(masking, by_node_in(node, scores), depth - 1);
    else if (hands_on_mask(node))
        for (size_t i = 0; i < node->input.count; i++)
            found |= by_place_is_float(by_node_in(node, i)) &&
                     walk_to_mask(masking, by_node_in(node, i), depth - 1);
    if (found)
        by_place_keep(masking->placing, node, by_place_masked);
    return found;
}

int by_place_masks(struct by_placing *placing, struct baryon_error *err)
{
    struct masking masking = {.placing = placing, .err = err};
    if (placing->recipe->compat || placing->recipe->approach != BY_APPROACH_STATIC)
        return 0;
    masking.known = by_arena_alloc(&placing->plan->arena, placing->value_count, 1, err);
    if (!masking.known)
        return -1;
    for (size_t i = 0; i < placing->node_count && !masking.failed; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        struct by_softmax_parts parts;
        if (node && by_softmax_parts(node, &parts) && walk_to_mask(&masking, parts.logits, DEPTH))
            by_place_keep(placing, node, by_place_masked);
    }
    return masking.failed ? -1 : 0;
}
