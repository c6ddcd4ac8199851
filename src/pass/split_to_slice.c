/* Split(x) -> a Slice for each output that is read. */
#include "pass/make.h"
#include "pass/passes.h"

#include <stdio.h>

#define PARTS_MAX 4096u

struct parts {
    int64_t axis;
    const int64_t *sizes;
    size_t count;
};

/* Equal ones; only the last may be smaller, from opset 18 on. */
static const int64_t *equal_sizes(struct by_matcher *match, const struct baryon_node *node,
                                  int64_t whole, size_t count)
{
    const int64_t parts = (int64_t)count;
    const bool uneven = by_node_attr(node, "num_outputs") != NULL;
    if (whole < 0 || !count || (whole % parts && !uneven))
        return NULL;
    int64_t *sizes = by_arena_alloc(&match->arena, count, sizeof *sizes, match->err);
    match->failed |= !sizes;
    const int64_t size = (whole + parts - 1) / parts;
    for (int64_t i = 0, at = 0; sizes && i < parts; i++, at += size) {
        sizes[i] = whole - at < size ? whole - at : size;
        if (sizes[i] < 0)
            return NULL;
    }
    return sizes;
}

static bool find_parts(struct by_matcher *match, const struct baryon_node *node,
                       struct parts *parts)
{
    const struct baryon_value *input = by_node_in(node, 0);
    const struct baryon_attribute *attr = by_node_attr(node, "split");
    const int rank = by_pass_rank(input);
    const size_t outputs = node->output.count;
    parts->axis = by_node_int(node, "axis", 0);
    if (parts->axis < 0 && rank > 0)
        parts->axis += rank;
    if (parts->axis < 0 || (rank >= 0 && parts->axis >= rank) || outputs > PARTS_MAX)
        return false;
    parts->count = outputs;
    if (attr) {
        parts->sizes = attr->ints.at;
        parts->count = attr->ints.count;
    } else if (by_node_in(node, 1)) {
        parts->sizes = by_match_ints(match, by_node_in(node, 1), PARTS_MAX, &parts->count);
    } else {
        const int64_t whole = by_match_size(input, (size_t)parts->axis);
        parts->sizes = equal_sizes(match, node, whole, outputs);
    }
    return parts->sizes && parts->count == outputs;
}

static int set_attributes(struct baryon_node *slice, const int64_t from_to_axis[3],
                          struct baryon_error *err)
{
    static const char *const names[] = {"starts", "ends", "axes"};
    for (size_t i = 0; i < 3; i++)
        if (by_node_set_ints(slice, names[i], &from_to_axis[i], 1, err))
            return -1;
    return 0;
}

/* Up to opset 9 the places are attributes. */
static struct baryon_node *add_slice(struct by_matcher *match, const struct baryon_node *split,
                                     size_t slot, const int64_t from_to_axis[3])
{
    static const char *const stems[] = {"_starts", "_ends", "_axes"};
    char stem[BY_STEM_MAX], suffix[32];
    const bool old = by_model_opset(match->context->model, "") < 10;
    const char *name = by_node_out(split, slot)->name;
    struct baryon_value *inputs[4] = {by_node_in(split, 0)};
    for (size_t i = 0; i < 3 && !old; i++) {
        by_make_stem(stem, name, stems[i]);
        inputs[1 + i] = by_pass_add_ints(split->graph, stem, (const int64_t[]){1}, 1,
                                         &from_to_axis[i], match->err);
        if (!inputs[1 + i])
            return NULL;
    }
    snprintf(suffix, sizeof suffix, "_%zu", slot);
    by_make_stem(stem, name, suffix);
    struct baryon_node *slice =
        by_pass_add_node(split->graph, "Slice", stem, inputs, old ? 1 : 4, match->err);
    if (!slice || (old && set_attributes(slice, from_to_axis, match->err)))
        return NULL;
    slice->outs[0]->elem = by_node_out(split, slot)->elem;
    slice->outs[0]->shape = by_node_out(split, slot)->shape;
    return slice;
}

/* Slices take the readers first, then the Split goes, then they take the names. */
static int replace(struct by_matcher *match, struct baryon_node *split, const struct parts *parts)
{
    const size_t count = split->output.count;
    struct baryon_value **made = by_arena_alloc(&match->arena, count, sizeof *made, match->err);
    const char **names = by_arena_alloc(&match->arena, count, sizeof *names, match->err);
    struct baryon_value *sizes = by_node_in(split, 1);
    int64_t from = 0;
    if (!made || !names)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const int64_t place[3] = {from, from + parts->sizes[i], parts->axis};
        struct baryon_value *old = by_node_out(split, i);
        from = place[1];
        if (!old || !old->use_count)
            continue;
        names[i] = old->name;
        const struct baryon_node *slice = add_slice(match, split, i, place);
        if (!slice || by_value_replace_uses(old, slice->outs[0], NULL, match->err))
            return -1;
        made[i] = slice->outs[0];
    }
    if (by_graph_remove_node(split, match->err) || (sizes && by_make_drop(match, sizes)))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (made[i] && by_value_rename(made[i], names[i], match->err))
            return -1;
    return 0;
}

/* The sizes have to be what ONNX Runtime accepts: none negative, all of them the whole. */
static bool are_whole(const struct baryon_node *node, const struct parts *parts)
{
    const int64_t whole = by_match_size(by_node_in(node, 0), (size_t)parts->axis);
    int64_t sum = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->sizes[i] < 0 || __builtin_add_overflow(sum, parts->sizes[i], &sum))
            return false;
    return whole < 0 || sum == whole;
}

static int visit_split(struct by_matcher *match, struct baryon_node *node)
{
    struct parts parts;
    if (!by_node_is(node, "Split") || !by_node_in(node, 0) || !find_parts(match, node, &parts) ||
        !are_whole(node, &parts))
        return 0;
    for (size_t i = 0; i < node->output.count; i++)
        if (by_node_out(node, i) && by_value_is_kept(by_node_out(node, i)))
            return 0;
    match->context->changes++;
    return replace(match, node, &parts);
}

static int run_split_to_slice(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_split, err);
}

const struct by_pass by_pass_split_to_slice = {
    .name = "split-to-slice",
    .alias = "ConvertSplitToSlice",
    .help = "Replace Split with known sizes by one Slice per output",
    .fallback = BY_PASS_NPU,
    .exact = true,
    .shapes = true,
    .run = run_split_to_slice,
};
