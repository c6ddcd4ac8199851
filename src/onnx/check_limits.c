/* Axes, counts, sizes of 0 and tensors that an operator does not take: rows of tables. */
#include "onnx/check_rule.h"

#include <stdio.h>
#include <string.h>

/* What is known of an input without inference: dims of a constant, or those that are declared. */
struct known_dims {
    bool has_rank;
    size_t rank;
    const struct by_ptrs *declared;      /* by_dim; NULL: */
    const struct baryon_tensor *content; /* of a constant */
};

static struct known_dims dims_of(const struct baryon_node *node, size_t slot)
{
    const struct baryon_value *value = by_node_in(node, slot);
    const struct by_value_info *info = value ? value->info : NULL;
    const struct by_shape_msg *shape =
        info && info->type && info->type->tensor ? info->type->tensor->shape : NULL;
    if (value && value->initializer)
        return (struct known_dims){true, value->initializer->dims.count, NULL, value->initializer};
    if (shape)
        return (struct known_dims){true, shape->dims.count, &shape->dims, NULL};
    return (struct known_dims){0};
}

/* True where the size is known to be 0. */
static bool is_empty(const struct known_dims *known, size_t axis)
{
    if (!known->has_rank || axis >= known->rank)
        return false;
    if (known->content)
        return known->content->dims.at[axis] == 0;
    const struct by_dim *dim = known->declared->at[axis];
    return dim && !dim->param && by_dim_is_number(dim) && dim->value == 0;
}

static bool is_operator(const struct by_check *check, const char *domain, const char *op_type)
{
    const struct by_opinfo *info = check->node.info;
    return info && !check->node.callee && !strcmp(info->op_type, op_type) &&
           !strcmp(info->domain, domain);
}

/* --- axes --- */

enum axis_kind {
    AXIS_OF_INPUT,      /* from -rank to rank - 1 */
    AXIS_PER_CHANNEL,   /* the same, where input 1 has a scale for each channel */
    AXIS_FIRST_OR_NEXT, /* 0 or 1 */
};

static const struct axis_row {
    const char *op_type, *attribute;
    enum axis_kind kind;
} axis_rows[] = {
    {"Softmax", "axis", AXIS_OF_INPUT},
    {"LogSoftmax", "axis", AXIS_OF_INPUT},
    {"Hardmax", "axis", AXIS_OF_INPUT},
    {"LpNormalization", "axis", AXIS_OF_INPUT},
    {"LayerNormalization", "axis", AXIS_OF_INPUT},
    {"RMSNormalization", "axis", AXIS_OF_INPUT},
    {"Scatter", "axis", AXIS_OF_INPUT},
    {"ScatterElements", "axis", AXIS_OF_INPUT},
    {"GatherElements", "axis", AXIS_OF_INPUT},
    {"TensorScatter", "axis", AXIS_OF_INPUT},
    {"MeanVarianceNormalization", "axes", AXIS_OF_INPUT},
    {"QuantizeLinear", "axis", AXIS_PER_CHANNEL},
    {"DequantizeLinear", "axis", AXIS_PER_CHANNEL},
    {"ReverseSequence", "batch_axis", AXIS_FIRST_OR_NEXT},
    {"ReverseSequence", "time_axis", AXIS_FIRST_OR_NEXT},
};

/* False where nothing is known about the axis. */
static bool axis_range(const struct by_check *check, const struct baryon_node *node,
                       const struct axis_row *row, int64_t *least, int64_t *most)
{
    const struct known_dims data = dims_of(node, 0), scale = dims_of(node, 1);
    *least = 0;
    *most = 1;
    if (row->kind == AXIS_FIRST_OR_NEXT)
        return true;
    if (!data.has_rank || (row->kind == AXIS_PER_CHANNEL && (!scale.has_rank || !scale.rank)))
        return false;
    const int64_t rank = (int64_t)data.rank;
    /* Before opset 13 these flattened their input at the axis. */
    const bool flattens = strstr(row->op_type, "max") && by_check_opset(check) < 13;
    *least = -rank;
    *most = flattens ? rank : rank - 1;
    return rank > 0;
}

/* The axis, or the first of several, that is out of range; NULL: none is. */
static const int64_t *wrong_axis(const struct baryon_attribute *attr, int64_t least, int64_t most)
{
    const bool several = attr->type == BY_ATTR_INTS;
    const int64_t *axes = several ? attr->ints.at : &attr->i;
    const size_t count = several ? attr->ints.count : attr->type == BY_ATTR_INT;
    for (size_t i = 0; i < count; i++)
        if (axes[i] < least || axes[i] > most)
            return &axes[i];
    return NULL;
}

static int check_axis(struct by_check *check, const struct baryon_node *node,
                      const struct axis_row *row, struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    int64_t least, most;
    const struct baryon_attribute *attr = by_node_attr(node, row->attribute);
    const int64_t *wrong =
        attr && axis_range(check, node, row, &least, &most) ? wrong_axis(attr, least, most) : NULL;
    if (!wrong)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s: the attribute '%s' is %lld, from %lld to %lld is allowed",
            by_check_label(check, node, label), row->attribute, (long long)*wrong, (long long)least,
            (long long)most);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

/* --- counts --- */

#define COUNT_MAX INT32_MAX

static const struct count_row {
    const char *domain, *op_type, *attribute;
    int64_t least, most;
} count_rows[] = {
    {"", "Attention", "q_num_heads", 1, COUNT_MAX},
    {"", "Attention", "kv_num_heads", 1, COUNT_MAX},
    {"", "LinearAttention", "q_num_heads", 1, COUNT_MAX},
    {"", "LinearAttention", "kv_num_heads", 1, COUNT_MAX},
    {"", "RotaryEmbedding", "num_heads", 0, COUNT_MAX},
    {"", "GroupNormalization", "num_groups", 1, COUNT_MAX},
    {"", "DepthToSpace", "blocksize", 1, COUNT_MAX},
    {"", "SpaceToDepth", "blocksize", 1, COUNT_MAX},
    {"", "LRN", "size", 1, COUNT_MAX},
    {"", "LSTM", "hidden_size", 1, COUNT_MAX},
    {"", "GRU", "hidden_size", 1, COUNT_MAX},
    {"", "RNN", "hidden_size", 1, COUNT_MAX},
    {"", "TfIdfVectorizer", "min_gram_length", 1, COUNT_MAX},
    {"", "TfIdfVectorizer", "max_gram_length", 1, COUNT_MAX},
    {"", "TfIdfVectorizer", "max_skip_count", 0, 1 << 20},
    {"com.microsoft", "Attention", "num_heads", 1, COUNT_MAX},
    {"com.microsoft", "QAttention", "num_heads", 1, COUNT_MAX},
    {"com.microsoft", "MultiHeadAttention", "num_heads", 1, COUNT_MAX},
    {"com.microsoft", "GroupQueryAttention", "num_heads", 1, COUNT_MAX},
    {"com.microsoft", "GroupQueryAttention", "kv_num_heads", 1, COUNT_MAX},
};

static int check_count(struct by_check *check, const struct baryon_node *node,
                       const struct count_row *row, struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    const struct baryon_attribute *attr = by_node_attr(node, row->attribute);
    if (!attr || attr->type != BY_ATTR_INT || (attr->i >= row->least && attr->i <= row->most))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s: the attribute '%s' is %lld, from %lld to %lld is allowed",
            by_check_label(check, node, label), row->attribute, (long long)attr->i,
            (long long)row->least, (long long)row->most);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

/* --- sizes of 0 --- */

/* ONNX Runtime ends the process at these. */
static const struct empty_row {
    const char *op_type;
    size_t slot, axis;
    const char *what;
} empty_rows[] = {
    {"LSTM", 0, 0, "sequence length or batch"},
    {"LSTM", 0, 1, "sequence length or batch"},
    {"GRU", 0, 0, "sequence length or batch"},
    {"GRU", 0, 1, "sequence length or batch"},
    {"RNN", 0, 0, "sequence length or batch"},
    {"RNN", 0, 1, "sequence length or batch"},
    {"STFT", 2, 0, "window length"},
    {"ConvTranspose", 0, 2, "spatial size"},
    {"ConvTranspose", 0, 3, "spatial size"},
    {"ConvTranspose", 0, 4, "spatial size"},
};

static int check_empty(struct by_check *check, const struct baryon_node *node,
                       const struct empty_row *row, struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    const struct known_dims known = dims_of(node, row->slot);
    if (!is_empty(&known, row->axis))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s: dimension %zu of input %zu (%s) is 0, it must be 1 or more",
            by_check_label(check, node, label), row->axis, row->slot, row->what);
    by_err_in(err, "input[%zu]", row->slot);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

/* --- single values --- */

static const struct single_row {
    const char *op_type;
    size_t slot;
    const char *what;
} single_rows[] = {
    {"Clip", 1, "minimum"},
    {"Clip", 2, "maximum"},
};

static bool is_single(const struct known_dims *known)
{
    if (known->rank != 1)
        return !known->rank;
    if (known->content)
        return known->content->dims.at[0] == 1;
    const struct by_dim *dim = known->declared->at[0];
    return !dim || !by_dim_is_number(dim) || dim->value == 1;
}

static int check_single(struct by_check *check, const struct baryon_node *node,
                        const struct single_row *row, struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    const struct known_dims known = dims_of(node, row->slot);
    if (!known.has_rank || is_single(&known))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s: input %zu (%s) is a tensor, it must be a single value",
            by_check_label(check, node, label), row->slot, row->what);
    by_err_in(err, "input[%zu]", row->slot);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

/* --- the rule --- */

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

static int check_limits(struct by_check *check, const struct baryon_node *node,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < COUNT_OF(axis_rows); i++)
        if (is_operator(check, "", axis_rows[i].op_type) &&
            check_axis(check, node, &axis_rows[i], err))
            return -1;
    for (size_t i = 0; i < COUNT_OF(count_rows); i++)
        if (is_operator(check, count_rows[i].domain, count_rows[i].op_type) &&
            check_count(check, node, &count_rows[i], err))
            return -1;
    for (size_t i = 0; i < COUNT_OF(empty_rows); i++)
        if (is_operator(check, "", empty_rows[i].op_type) &&
            check_empty(check, node, &empty_rows[i], err))
            return -1;
    for (size_t i = 0; i < COUNT_OF(single_rows); i++)
        if (is_operator(check, "", single_rows[i].op_type) &&
            check_single(check, node, &single_rows[i], err))
            return -1;
    return 0;
}

const struct by_model_rule by_rule_limits = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .node = check_limits,
};
