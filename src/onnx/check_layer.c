/* Layers with weights: the weights themselves, and that the attributes fit them. */
#include "ir/tensor.h"

#include "onnx/check_rule.h"

#include <stdio.h>
#include <string.h>

/* A Constant has one attribute. With more it is refused elsewhere, and they may be so many
 * that not every reader can go through them. */
static const struct baryon_tensor *constant_of(const struct baryon_node *node)
{
    const struct baryon_attribute *attr =
        node->attribute.count == 1 ? by_node_attr(node, "value") : NULL;
    return attr ? attr->t : NULL;
}

/* The constant that an input reads, with sound dims; NULL: none. */
static const struct baryon_tensor *constant_in(const struct baryon_node *node, int slot)
{
    const struct baryon_value *value = slot < 0 ? NULL : by_node_in(node, (size_t)slot);
    const struct baryon_tensor *tensor = value ? value->initializer : NULL;
    size_t count;
    if (value && !tensor && value->producer && by_node_is(value->producer, "Constant"))
        tensor = constant_of(value->producer);
    return tensor && by_tensor_count(tensor, &count, NULL) == 0 ? tensor : NULL;
}

/* "[64,3,7,7]" */
static const char *dims_text(const struct baryon_tensor *tensor, char *buf, size_t size)
{
    size_t used = (size_t)snprintf(buf, size, "[");
    for (size_t i = 0; i < tensor->dims.count && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%lld", i ? "," : "",
                                 (long long)tensor->dims.at[i]);
    if (used < size)
        snprintf(buf + used, size - used, "]");
    return buf;
}

#define DIMS_TEXT_MAX 200

static const char *input_name(const struct baryon_node *node, int slot, char out[BY_QUOTE_MAX])
{
    return by_quote(out, node->input.at[slot] ? node->input.at[slot] : "");
}

/* --- weights --- */

static int check_weight(struct by_check *check, const struct baryon_node *node,
                        struct baryon_error *err)
{
    const struct by_opinfo *info = check->node.info;
    char label[BY_LABEL_MAX], quoted[BY_QUOTE_MAX], dims[DIMS_TEXT_MAX];
    size_t count;
    if (!info || info->weight == BY_SLOT_NONE || info->channel_axis == BY_AXIS_NONE)
        return 0;
    const struct baryon_tensor *weight = constant_in(node, info->weight);
    const struct by_elem_info *elem = weight ? by_elem_info(weight->data_type) : NULL;
    if (!elem || by_tensor_count(weight, &count, NULL))
        return 0;
    if (!count)
        by_fail(err, BARYON_ERR_INPUT, "%s: weight %s has no elements (dims %s), must have some",
                by_check_label(check, node, label), input_name(node, info->weight, quoted),
                dims_text(weight, dims, sizeof dims));
    else if (elem->class == BY_CLASS_OTHER)
        by_fail(err, BARYON_ERR_UNSUPPORTED, "%s: weight %s has type %s, must be numeric",
                by_check_label(check, node, label), input_name(node, info->weight, quoted),
                elem->name);
    else
        return 0;
    by_err_in(err, "input[%d]", info->weight);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

const struct by_model_rule by_rule_weight = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .node = check_weight,
};

/* --- geometry of convolutions and pools --- */

enum shape_kind { NEITHER, CONV, CONV_TRANSPOSE, POOL };

static enum shape_kind kind_of(const struct by_opinfo *info)
{
    static const struct {
        const char *op_type;
        enum shape_kind kind;
    } kinds[] = {
        {"Conv", CONV},       {"ConvInteger", CONV}, {"QLinearConv", CONV},
        {"DeformConv", CONV}, {"FusedConv", CONV},   {"ConvTranspose", CONV_TRANSPOSE},
        {"MaxPool", POOL},    {"AveragePool", POOL}, {"LpPool", POOL},
        {"MaxUnpool", POOL},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].op_type, info->op_type) == 0)
            return kinds[i].kind;
    return NEITHER;
}

struct geometry {
    const struct baryon_node *node;
    const struct by_opinfo *info;
    enum shape_kind kind;
    const struct baryon_tensor *weight; /* NULL: not a constant */
    const struct by_ints *kernel;       /* NULL: not given */
    size_t spatial;
    const char *source; /* where `spatial` is from, for messages */
};

static const struct by_ints *ints_attr(const struct baryon_node *node, const char *name)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    return attr && attr->type == BY_ATTR_INTS ? &attr->ints : NULL;
}

/* Number of dimensions of a value as declared, 0 when that is not known. */
static const struct by_shape_msg *declared_shape(const struct baryon_value *value)
{
    const struct by_value_info *info = value ? value->info : NULL;
    return info && info->type && info->type->tensor ? info->type->tensor->shape : NULL;
}

static bool find_spatial(struct geometry *geometry)
{
    const struct by_shape_msg *data = declared_shape(by_node_in(geometry->node, 0));
    if (geometry->weight) {
        geometry->spatial = geometry->weight->dims.count - 2;
        geometry->source = "the weight";
    } else if (geometry->kernel) {
        geometry->spatial = geometry->kernel->count;
        geometry->source = "kernel_shape";
    } else if (data && data->dims.count > 2) {
        geometry->spatial = data->dims.count - 2;
        geometry->source = "the input";
    } else {
        return false;
    }
    return true;
}

static int check_rank(const struct geometry *geometry, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], dims[DIMS_TEXT_MAX];
    if (!geometry->weight || geometry->weight->dims.count >= 3)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "weight %s has the dims %s, a convolution requires 3 or more",
            input_name(geometry->node, geometry->info->weight, quoted),
            dims_text(geometry->weight, dims, sizeof dims));
    return by_err_in(err, "input[%d]", geometry->info->weight);
}

/* Attributes with `per_axis` numbers for each spatial axis, none of them below `least`. */
static int check_list(const struct geometry *geometry, const char *name, size_t per_axis,
                      int64_t least, struct baryon_error *err)
{
    const struct by_ints *list = ints_attr(geometry->node, name);
    const size_t wanted = per_axis * geometry->spatial;
    if (!list)
        return 0;
    if (list->count != wanted)
        return by_fail(err, BARYON_ERR_INPUT, "%s has %zu number%s, %s requires %zu", name,
                       list->count, list->count == 1 ? "" : "s", geometry->source, wanted);
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] < least)
            return by_fail(err, BARYON_ERR_INPUT, "%s[%zu] is %lld, must be %lld or more", name, i,
                           (long long)list->at[i], (long long)least);
    return 0;
}

static int check_kernel(const struct geometry *geometry, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], dims[DIMS_TEXT_MAX];
    if (check_list(geometry, "kernel_shape", 1, 1, err))
        return -1;
    for (size_t i = 0; geometry->kernel && geometry->weight && i < geometry->kernel->count; i++)
        if (geometry->kernel->at[i] != geometry->weight->dims.at[2 + i])
            return by_fail(err, BARYON_ERR_INPUT,
                           "kernel_shape[%zu] is %lld, but weight %s has the dims %s", i,
                           (long long)geometry->kernel->at[i],
                           input_name(geometry->node, geometry->info->weight, quoted),
                           dims_text(geometry->weight, dims, sizeof dims));
    return 0;
}

static int check_auto_pad(const struct geometry *geometry, struct baryon_error *err)
{
    static const char *const known[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
    const struct baryon_attribute *attr = by_node_attr(geometry->node, "auto_pad");
    char quoted[BY_QUOTE_MAX];
    if (!attr || attr->type != BY_ATTR_STRING || (attr->ref_attr_name && *attr->ref_attr_name))
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (attr->s.size == strlen(known[i]) && !memcmp(attr->s.data, known[i], attr->s.size))
            return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "auto_pad is %s, must be NOTSET, SAME_UPPER, SAME_LOWER or VALID",
                   by_quote_bytes(quoted, attr->s.data, attr->s.size));
}

/* Input channels as declared, 0: not known. */
static int64_t channels_in(const struct geometry *geometry)
{
    const struct by_shape_msg *shape = declared_shape(by_node_in(geometry->node, 0));
    const struct by_dim *dim = shape && shape->dims.count > 1 ? shape->dims.at[1] : NULL;
    return dim && by_dim_is_number(dim) && dim->value > 0 ? dim->value : 0;
}

static int check_groups(const struct geometry *geometry, struct baryon_error *err)
{
    const int64_t group = by_node_int(geometry->node, "group", 1);
    char dims[DIMS_TEXT_MAX];
    if (group < 1)
        return by_fail(err, BARYON_ERR_INPUT, "group is %lld, must be 1 or more", (long long)group);
    if (!geometry->weight)
        return 0;
    const int64_t *weight = geometry->weight->dims.at, channels = channels_in(geometry);
    int64_t wanted = weight[0];
    dims_text(geometry->weight, dims, sizeof dims);
    if (weight[0] % group)
        return by_fail(err, BARYON_ERR_INPUT,
                       "group is %lld, must divide the first of the weight's dims %s",
                       (long long)group, dims);
    if (geometry->kind == CONV && __builtin_mul_overflow(weight[1], group, &wanted))
        wanted = -1;
    if (!channels || channels == wanted)
        return 0;
    return by_fail(
        err, BARYON_ERR_INPUT,
        "the input has %lld channels, but the weight's dims %s and group %lld require %lld",
        (long long)channels, dims, (long long)group, (long long)wanted);
}

static int check_bias(const struct geometry *geometry, struct baryon_error *err)
{
    const struct baryon_tensor *bias = constant_in(geometry->node, geometry->info->bias);
    const int64_t group = by_node_int(geometry->node, "group", 1);
    char quoted[BY_QUOTE_MAX], dims[DIMS_TEXT_MAX];
    if (!bias || !geometry->weight)
        return 0;
    int64_t wanted = geometry->weight->dims.at[0];
    if (geometry->kind == CONV_TRANSPOSE &&
        __builtin_mul_overflow(geometry->weight->dims.at[1], group, &wanted))
        return 0;
    if (bias->dims.count == 1 && bias->dims.at[0] == wanted)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "bias %s has the dims %s, the weight requires [%lld]",
            input_name(geometry->node, geometry->info->bias, quoted),
            dims_text(bias, dims, sizeof dims), (long long)wanted);
    return by_err_in(err, "input[%d]", geometry->info->bias);
}

static int check_shapes(struct geometry *geometry, struct baryon_error *err)
{
    if (check_rank(geometry, err) || check_auto_pad(geometry, err))
        return -1;
    if (geometry->kind != POOL && check_groups(geometry, err))
        return -1;
    if (!find_spatial(geometry))
        return 0;
    if (check_kernel(geometry, err) || check_list(geometry, "strides", 1, 1, err) ||
        check_list(geometry, "dilations", 1, 1, err) || check_list(geometry, "pads", 2, 0, err) ||
        check_list(geometry, "output_padding", 1, 0, err))
        return -1;
    return geometry->kind == POOL ? 0 : check_bias(geometry, err);
}

static int check_geometry(struct by_check *check, const struct baryon_node *node,
                          struct baryon_error *err)
{
    const struct by_opinfo *info = check->node.info;
    struct geometry geometry = {.node = node, .info = info, .kind = info ? kind_of(info) : NEITHER};
    char label[BY_LABEL_MAX], message[sizeof err->message];
    if (geometry.kind == NEITHER)
        return 0;
    geometry.kernel = ints_attr(node, "kernel_shape");
    if (geometry.kind != POOL)
        geometry.weight = constant_in(node, info->weight);
    if (!check_shapes(&geometry, err))
        return 0;
    memcpy(message, err->message, sizeof message);
    snprintf(err->message, sizeof err->message, "%.200s: %.300s",
             by_check_label(check, node, label), message);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

const struct by_model_rule by_rule_geometry = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .node = check_geometry,
};

/* --- batch normalization --- */

#define BN_VARIANCE 4

/* The first negative or NaN one. */
static int check_variances(struct by_check *check, const struct baryon_node *node,
                           const struct baryon_tensor *tensor, struct by_arena *scratch,
                           struct baryon_error *err)
{
    char label[BY_LABEL_MAX], quoted[BY_QUOTE_MAX];
    struct by_span bytes;
    size_t count;
    if (by_tensor_bytes(tensor, scratch, &bytes, err) || by_tensor_count(tensor, &count, err))
        return -1;
    for (size_t i = 0; i < count; i++) {
        double value;
        if (by_elem_to_doubles(tensor->data_type, bytes.data, i, 1, &value, err))
            return -1;
        if (value >= 0)
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%s: variance %zu of %s is %g, must be 0 or more",
                by_check_label(check, node, label), i, input_name(node, BN_VARIANCE, quoted),
                value);
        by_err_in(err, "input[%d]", BN_VARIANCE);
        return by_report(check, BY_FINDING_ERROR, &node->msg, err);
    }
    return 0;
}

/* Many nodes may read one tensor: it is judged for the first of them. */
static int is_judged(struct by_check *check, const struct baryon_tensor *tensor, bool *judged,
                     struct baryon_error *err)
{
    struct by_map *all = check->state;
    *judged = by_map_get_bytes(all, &tensor, sizeof tensor) != NULL;
    if (*judged)
        return 0;
    const struct baryon_tensor **key = by_arena_alloc(&check->arena, 1, sizeof *key, err);
    if (!key)
        return -1;
    *key = tensor;
    return by_map_put_bytes(all, key, sizeof *key, check, err);
}

static int check_batch_norm(struct by_check *check, const struct baryon_node *node,
                            struct baryon_error *err)
{
    struct by_arena scratch;
    bool judged;
    if (!by_node_is(node, "BatchNormalization"))
        return 0;
    const struct baryon_tensor *tensor = constant_in(node, BN_VARIANCE);
    const struct by_elem_info *elem = tensor ? by_elem_info(tensor->data_type) : NULL;
    if (!elem || elem->class != BY_CLASS_FLOAT)
        return 0;
    if (is_judged(check, tensor, &judged, err))
        return -1;
    if (judged || by_tensor_check(tensor, NULL) ||
        (by_tensor_is_external(tensor) && !tensor->external.data))
        return 0;
    by_arena_init(&scratch, 0);
    int result = check_variances(check, node, tensor, &scratch, err);
    by_arena_release(&scratch);
    return result;
}

static void forget_judged(void *state)
{
    by_map_release(state);
}

const struct by_model_rule by_rule_batch_norm = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .state_size = sizeof(struct by_map),
    .node = check_batch_norm,
    .release = forget_judged,
};
