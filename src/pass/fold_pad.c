/*
 * A Pad of pictures becomes padding of the Conv or pool after it, where that pads with the
 * same: Conv and AveragePool with zeros, MaxPool with what never is the greatest.
 */
#include "pass/edit.h"
#include "pass/passes.h"

#include <string.h>

struct padding {
    const int64_t *pads; /* of all axes */
    size_t rank;
    double value;
};

/* --- what the Pad does --- */

static bool is_text(const struct baryon_attribute *attr, const char *text)
{
    return attr->s.size == strlen(text) && memcmp(attr->s.data, text, attr->s.size) == 0;
}

/* Lists of all axes alone; a fourth input names some. */
static int read_pads(const struct baryon_node *node, struct by_arena *scratch,
                     struct padding *padding, size_t *count, struct baryon_error *err)
{
    const struct baryon_attribute *pads = by_node_attr(node, "pads");
    int64_t *values;
    if (pads) {
        padding->pads = pads->ints.at;
        *count = pads->ints.count;
        padding->value = (double)by_node_float(node, "value", 0);
        return 0;
    }
    if (by_pass_ints(by_node_in(node, 1), 2 * BY_RANK_MAX, scratch, &values, count, err))
        return -1;
    padding->pads = by_node_in(node, 3) ? NULL : values;
    return 0;
}

static int read_padding(const struct baryon_node *node, struct by_arena *scratch,
                        struct padding *padding, bool *is, struct baryon_error *err)
{
    const struct baryon_attribute *mode = by_node_attr(node, "mode");
    size_t count;
    *padding = (struct padding){0};
    *is = false;
    if ((mode && !is_text(mode, "constant")) || by_model_opset(node->graph->model, "") < 2)
        return 0;
    if (read_pads(node, scratch, padding, &count, err))
        return -1;
    *is = padding->pads && count >= 6 && count % 2 == 0;
    padding->rank = count / 2;
    for (size_t i = 0; *is && i < count; i++)
        if (padding->pads[i] < 0 || (i % padding->rank < 2 && padding->pads[i] != 0))
            *is = false;
    if (*is && by_node_in(node, 2))
        return by_pass_uniform(by_node_in(node, 2), is, &padding->value, err);
    return 0;
}

/* --- what the reader makes of it --- */

static bool pads_explicitly(const struct baryon_node *node)
{
    const struct baryon_attribute *auto_pad = by_node_attr(node, "auto_pad");
    return !auto_pad || is_text(auto_pad, "NOTSET") || is_text(auto_pad, "VALID");
}

static int64_t own_pad(const struct baryon_node *node, size_t index)
{
    const struct baryon_attribute *pads = by_node_attr(node, "pads");
    return pads && index < pads->ints.count ? pads->ints.at[index] : 0;
}

/* Runtimes refuse pools whose padding is as wide as the window. */
static bool is_narrow(const struct baryon_node *node, const struct padding *padding)
{
    const struct baryon_attribute *kernel = by_node_attr(node, "kernel_shape");
    const size_t spatial = padding->rank - 2;
    if (!kernel || kernel->ints.count != spatial || by_node_int(node, "ceil_mode", 0))
        return false;
    for (size_t i = 0; i < spatial; i++)
        if (own_pad(node, i) + padding->pads[2 + i] >= kernel->ints.at[i] ||
            own_pad(node, spatial + i) + padding->pads[padding->rank + 2 + i] >= kernel->ints.at[i])
            return false;
    return true;
}

static bool has_own_padding(const struct baryon_node *node)
{
    const struct baryon_attribute *pads = by_node_attr(node, "pads");
    for (size_t i = 0; pads && i < pads->ints.count; i++)
        if (pads->ints.at[i])
            return true;
    return false;
}

/* Nothing below zero comes out. */
static bool is_never_negative(const struct baryon_value *value)
{
    static const char *const operators[] = {"Abs", "HardSigmoid", "Relu", "Sigmoid", "Softmax"};
    for (size_t i = 0; value->producer && i < sizeof operators / sizeof *operators; i++)
        if (by_node_is(value->producer, operators[i]))
            return true;
    return false;
}

#define LOWEST (-3.4e38)

static bool can_fold(const struct by_pass_context *context, const struct baryon_node *pad,
                     const struct baryon_node *reader, const struct padding *padding)
{
    if (!pads_explicitly(reader))
        return false;
    if (by_pass_is(context, reader, "Conv"))
        return padding->value == 0;
    if (by_pass_is(context, reader, "AveragePool"))
        return padding->value == 0 && is_narrow(reader, padding) &&
               (!has_own_padding(reader) || by_node_int(reader, "count_include_pad", 0)) &&
               by_model_opset(reader->graph->model, "") >= 7;
    if (!by_pass_is(context, reader, "MaxPool") || !is_narrow(reader, padding))
        return false;
    return padding->value <= LOWEST ||
           (padding->value == 0 && is_never_negative(by_node_in(pad, 0)) &&
            by_node_attr(reader, "dilations") == NULL);
}

static int fold_into(struct baryon_node *pad, struct baryon_node *reader,
                     const struct padding *padding, struct baryon_error *err)
{
    const size_t spatial = padding->rank - 2;
    int64_t pads[2 * BY_RANK_MAX];
    for (size_t i = 0; i < spatial; i++) {
        pads[i] = own_pad(reader, i) + padding->pads[2 + i];
        pads[spatial + i] = own_pad(reader, spatial + i) + padding->pads[padding->rank + 2 + i];
    }
    if (by_node_set_ints(reader, "pads", pads, 2 * spatial, err))
        return -1;
    by_node_remove_attr(reader, "auto_pad");
    if (by_node_is(reader, "AveragePool") && by_node_set_int(reader, "count_include_pad", 1, err))
        return -1;
    if (by_node_set_input(reader, 0, by_node_in(pad, 0), err))
        return -1;
    return by_graph_remove_node(pad, err);
}

static int fold_pad(struct by_pass_context *context, struct baryon_node *node,
                    struct baryon_error *err)
{
    struct baryon_value *out = by_pass_sole_output(node);
    struct baryon_node *reader = out ? by_pass_only_reader(out) : NULL;
    struct by_arena scratch;
    struct padding padding;
    bool is;
    if (!by_pass_is(context, node, "Pad") || !reader || by_node_in(reader, 0) != out)
        return 0;
    by_arena_init(&scratch, 0);
    int failed = read_padding(node, &scratch, &padding, &is, err);
    if (!failed && is && can_fold(context, node, reader, &padding)) {
        failed = fold_into(node, reader, &padding, err);
        context->changes++;
    }
    by_arena_release(&scratch);
    return failed;
}

static int run_fold_pad(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, fold_pad, err);
}

const struct by_pass by_pass_fold_pad = {
    .name = "fold-pad",
    .help = "Fold Pad into the padding of the Conv or pool after it",
    .exact = true,
    .again = true,
    .run = run_fold_pad,
};
