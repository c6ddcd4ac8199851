/* The rules of opset.h, and the table of them. */
#include "pass/edit.h"
#include "pass/opset.h"

#include <string.h>

static int refuse_opset_change(const struct baryon_node *node, const char *why,
                               struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    return by_fail(err, BARYON_ERR_UNSUPPORTED, "%s cannot be converted to a newer opset: %s",
                   by_node_label(node, label, sizeof label), why);
}

static const char *stem_of(const struct baryon_node *node)
{
    return node->output.count ? node->output.at[0] : "constant";
}

/* --- attributes that became inputs --- */

static int ints_to_input(struct baryon_node *node, const char *name, size_t slot,
                         struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    if (!attr)
        return 0;
    const int64_t count = (int64_t)attr->ints.count;
    struct baryon_value *value =
        by_pass_add_ints(node->graph, stem_of(node), &count, 1, attr->ints.at, err);
    if (!value || by_node_set_input(node, slot, value, err))
        return -1;
    by_node_remove_attr(node, name);
    return 0;
}

/* A scalar of the type of input 0. */
static int float_to_input(struct baryon_node *node, const char *name, size_t slot,
                          struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    const struct baryon_value *data = by_node_in(node, 0);
    const int64_t elem = data && by_elem_is_float(data->elem) ? data->elem : BY_ELEM_FLOAT;
    if (!attr)
        return 0;
    const double number = (double)attr->f;
    struct baryon_value *value =
        by_pass_add_doubles(node->graph, stem_of(node), elem, NULL, 0, &number, err);
    if (!value || by_node_set_input(node, slot, value, err))
        return -1;
    by_node_remove_attr(node, name);
    return 0;
}

static int axes_to_input(struct baryon_node *node, struct baryon_error *err)
{
    return ints_to_input(node, "axes", 1, err);
}

static int clip_11(struct baryon_node *node, struct baryon_error *err)
{
    return float_to_input(node, "min", 1, err) || float_to_input(node, "max", 2, err) ? -1 : 0;
}

static int pad_11(struct baryon_node *node, struct baryon_error *err)
{
    if (!by_node_attr(node, "pads"))
        return refuse_opset_change(node, "its pads are missing", err);
    return ints_to_input(node, "pads", 1, err) || float_to_input(node, "value", 2, err) ? -1 : 0;
}

static int slice_10(struct baryon_node *node, struct baryon_error *err)
{
    if (!by_node_attr(node, "starts") || !by_node_attr(node, "ends"))
        return refuse_opset_change(node, "its starts and ends are missing", err);
    return ints_to_input(node, "starts", 1, err) || ints_to_input(node, "ends", 2, err) ||
                   ints_to_input(node, "axes", 3, err)
               ? -1
               : 0;
}

static int top_k_10(struct baryon_node *node, struct baryon_error *err)
{
    const int64_t one = 1, k = by_node_int(node, "k", 0);
    struct baryon_value *value = by_pass_add_ints(node->graph, stem_of(node), &one, 1, &k, err);
    if (!value || by_node_set_input(node, 1, value, err))
        return -1;
    by_node_remove_attr(node, "k");
    return 0;
}

static int split_13(struct baryon_node *node, struct baryon_error *err)
{
    return ints_to_input(node, "split", 1, err);
}

/* Equal parts have to be asked for. */
static int split_18(struct baryon_node *node, struct baryon_error *err)
{
    if (by_node_in(node, 1))
        return 0;
    return by_node_set_int(node, "num_outputs", (int64_t)node->output.count, err);
}

static int dft_20(struct baryon_node *node, struct baryon_error *err)
{
    const int64_t axis = by_node_int(node, "axis", 1);
    struct baryon_value *value = by_pass_add_ints(node->graph, stem_of(node), NULL, 0, &axis, err);
    if (!value || by_node_set_input(node, 2, value, err))
        return -1;
    by_node_remove_attr(node, "axis");
    return 0;
}

/* --- training is another thing since --- */

static bool has_more_outputs(const struct baryon_node *node)
{
    for (size_t i = 1; i < node->output.count; i++)
        if (node->outs[i])
            return true;
    return false;
}

static int batch_norm_9(struct baryon_node *node, struct baryon_error *err)
{
    if (!by_node_int(node, "spatial", 1))
        return refuse_opset_change(node, "it normalizes every position separately (spatial is 0)",
                                   err);
    by_node_remove_attr(node, "spatial");
    return 0;
}

static int batch_norm_14(struct baryon_node *node, struct baryon_error *err)
{
    return has_more_outputs(node) ? refuse_opset_change(node, "it has outputs for training", err)
                                  : 0;
}

static int dropout_10(struct baryon_node *node, struct baryon_error *err)
{
    const struct baryon_value *mask = by_node_out(node, 1);
    return mask && mask->use_count ? refuse_opset_change(node, "the type of its mask changed", err)
                                   : 0;
}

/* The ratio is for training alone, which has to be asked for since. */
static int dropout_12(struct baryon_node *node, struct baryon_error *err)
{
    (void)err;
    by_node_remove_attr(node, "ratio");
    return 0;
}

/* --- other names --- */

static int rename_op(struct baryon_node *node, const char *op_type, struct baryon_error *err)
{
    const char *name = by_model_name(node->graph->model, op_type, err);
    if (!name)
        return -1;
    node->op_type = name;
    return 0;
}

static int scatter_11(struct baryon_node *node, struct baryon_error *err)
{
    return rename_op(node, "ScatterElements", err);
}

static int upsample_9(struct baryon_node *node, struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, "scales");
    double scales[BY_RANK_MAX];
    if (!attr || attr->floats.count > BY_RANK_MAX)
        return refuse_opset_change(node, "its scales are missing", err);
    const int64_t count = (int64_t)attr->floats.count;
    for (size_t i = 0; i < attr->floats.count; i++)
        scales[i] = (double)attr->floats.at[i];
    struct baryon_value *value =
        by_pass_add_doubles(node->graph, stem_of(node), BY_ELEM_FLOAT, &count, 1, scales, err);
    if (!value || by_node_set_input(node, 1, value, err))
        return -1;
    by_node_remove_attr(node, "scales");
    return 0;
}

static int upsample_10(struct baryon_node *node, struct baryon_error *err)
{
    return rename_op(node, "Resize", err);
}

static bool text_is(const struct baryon_node *node, const char *name, const char *text)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    return attr && attr->s.size == strlen(text) && memcmp(attr->s.data, text, attr->s.size) == 0;
}

static int grid_sample_20(struct baryon_node *node, struct baryon_error *err)
{
    if (text_is(node, "mode", "bilinear"))
        return by_node_set_text(node, "mode", "linear", err);
    if (text_is(node, "mode", "bicubic"))
        return by_node_set_text(node, "mode", "cubic", err);
    return 0;
}

/* --- other behaviour --- */

/* Where the nearest element is: up it was the one before, down the one after. */
static int nearest_mode(struct baryon_node *node, struct baryon_error *err)
{
    struct by_arena scratch;
    double *scales;
    size_t count, up = 0, down = 0;
    by_arena_init(&scratch, 0);
    int failed = by_pass_doubles(by_node_in(node, 1), &scratch, &scales, &count, err);
    bool known = !failed && scales;
    for (size_t i = 0; known && i < count; i++) {
        up += scales[i] > 1;
        down += scales[i] < 1;
    }
    by_arena_release(&scratch);
    if (failed)
        return -1;
    if (!known || (up && down))
        return refuse_opset_change(
            node, "its scales are not constant, or some shrink and others enlarge", err);
    return by_node_set_text(node, "nearest_mode", down ? "ceil" : "floor", err);
}

static int resize_11(struct baryon_node *node, struct baryon_error *err)
{
    const int64_t none = 0;
    struct baryon_value *scales = by_node_in(node, 1);
    if (!text_is(node, "mode", "linear") && nearest_mode(node, err))
        return -1;
    struct baryon_value *roi =
        by_pass_add_doubles(node->graph, stem_of(node), BY_ELEM_FLOAT, &none, 1, NULL, err);
    if (!roi || by_node_set_input(node, 2, scales, err) || by_node_set_input(node, 1, roi, err))
        return -1;
    return by_node_set_text(node, "coordinate_transformation_mode", "asymmetric", err);
}

static int resize_13(struct baryon_node *node, struct baryon_error *err)
{
    if (text_is(node, "coordinate_transformation_mode", "tf_half_pixel_for_nn"))
        return refuse_opset_change(node, "tf_half_pixel_for_nn was removed", err);
    return 0;
}

static int roi_align_16(struct baryon_node *node, struct baryon_error *err)
{
    return by_node_set_text(node, "coordinate_transformation_mode", "output_half_pixel", err);
}

/* It went over all axes from `axis` on, as one; now over that one alone. */
static int over_one_axis(struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_graph *graph = node->graph;
    struct baryon_value *in = by_node_in(node, 0), *out = by_pass_sole_output(node);
    const int64_t axis = by_node_int(node, "axis", 1);
    const int rank = by_pass_rank(in);
    if (!in || !out)
        return refuse_opset_change(node, "it has no input or no output", err);
    if (rank > 0 && (axis == rank - 1 || axis == -1))
        return by_node_set_int(node, "axis", -1, err);
    struct baryon_node *flat = by_pass_add_node(graph, "Flatten", out->name, &in, 1, err);
    struct baryon_node *shape = by_pass_add_node(graph, "Shape", out->name, &in, 1, err);
    if (!flat || !shape || by_node_set_int(flat, "axis", axis, err))
        return -1;
    struct baryon_node *made =
        by_pass_add_node(graph, node->op_type, out->name, &flat->outs[0], 1, err);
    if (!made || by_node_set_int(made, "axis", -1, err))
        return -1;
    struct baryon_value *const inputs[] = {made->outs[0], shape->outs[0]};
    struct baryon_node *back = by_pass_add_node(graph, "Reshape", out->name, inputs, 2, err);
    return back ? by_pass_replace(node, back, err) : -1;
}

static int group_norm_21(struct baryon_node *node, struct baryon_error *err)
{
    return refuse_opset_change(
        node, "its scale and bias are per group, newer opsets have them per channel", err);
}

static int scan_9(struct baryon_node *node, struct baryon_error *err)
{
    return refuse_opset_change(node, "it has a batch axis that newer opsets do not have", err);
}

const struct by_opset_change by_opset_changes[] = {
    {9, "BatchNormalization", batch_norm_9},
    {9, "Scan", scan_9},
    {9, "Upsample", upsample_9},
    {10, "Dropout", dropout_10},
    {10, "Slice", slice_10},
    {10, "TopK", top_k_10},
    {10, "Upsample", upsample_10},
    {11, "Clip", clip_11},
    {11, "Pad", pad_11},
    {11, "Resize", resize_11},
    {11, "Scatter", scatter_11},
    {12, "Dropout", dropout_12},
    {13, "Hardmax", over_one_axis},
    {13, "LogSoftmax", over_one_axis},
    {13, "ReduceSum", axes_to_input},
    {13, "Resize", resize_13},
    {13, "Softmax", over_one_axis},
    {13, "Split", split_13},
    {13, "Squeeze", axes_to_input},
    {13, "Unsqueeze", axes_to_input},
    {14, "BatchNormalization", batch_norm_14},
    {16, "RoiAlign", roi_align_16},
    {18, "ReduceL1", axes_to_input},
    {18, "ReduceL2", axes_to_input},
    {18, "ReduceLogSum", axes_to_input},
    {18, "ReduceLogSumExp", axes_to_input},
    {18, "ReduceMax", axes_to_input},
    {18, "ReduceMean", axes_to_input},
    {18, "ReduceMin", axes_to_input},
    {18, "ReduceProd", axes_to_input},
    {18, "ReduceSumSquare", axes_to_input},
    {18, "Split", split_18},
    {20, "DFT", dft_20},
    {20, "GridSample", grid_sample_20},
    {21, "GroupNormalization", group_norm_21},
    {0, NULL, NULL},
};
