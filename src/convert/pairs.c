/* Steps on finished models: pairs of bf16 as Casts, cut off before them, and pairs that go. */
#include "convert/params.h"

#include "base/half.h"
#include "config/nodes.h"
#include "ir/tensor.h"
#include "pass/edit.h"
#include "pass/origins.h"
#include "quant/floats.h"
#include "quant/form.h"

#include <string.h>

#define BF16_MOST 0x1.fep127 /* the greatest finite one */

static bool is_bf16(const struct baryon_node *node)
{
    const struct baryon_value *zero = by_node_in(node, 2);
    return (by_form_quantizes(node) || by_form_dequantizes(node)) && zero && zero->initializer &&
           zero->initializer->data_type == BY_ELEM_BFLOAT16;
}

static int each(struct by_pass_context *context, by_pass_node_fn *visit, int64_t opset,
                const char *what, struct baryon_error *err)
{
    const int64_t has = by_model_opset(context->model, "");
    if (has < opset) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "%s requires opset %lld, the model has %lld", what,
                (long long)opset, (long long)has);
        return by_err_hint(err, "convert it with onnx_convert_opset_version before this pass");
    }
    if (by_model_infer(context->model, NULL, err) || by_origins_before(context->origins, err) ||
        by_pass_each_node(context, visit, err) || by_origins_after(context->origins, err))
        return -1;
    return by_graph_prune(context->model->graph, NULL, err);
}

/* --- Casts --- */

static int refuse_scale(const struct baryon_node *node, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 64];
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "%s has a scale other than 1 or a zero point, a Cast supports neither",
                   by_node_label(node, label, sizeof label));
}

static int is_number(const struct baryon_value *value, double wanted, bool *is,
                     struct baryon_error *err)
{
    double found;
    return by_pass_uniform(value, is, &found, err) ? -1 : (*is = *is && found == wanted, 0);
}

static int become_cast(struct by_pass_context *context, struct baryon_node *node,
                       struct baryon_error *err)
{
    bool one, zero;
    if (!is_bf16(node))
        return 0;
    if (is_number(by_node_in(node, 1), 1, &one, err) ||
        is_number(by_node_in(node, 2), 0, &zero, err))
        return -1;
    if (!one || !zero)
        return refuse_scale(node, err);
    const int64_t to = by_form_quantizes(node) ? BY_ELEM_BFLOAT16 : BY_ELEM_FLOAT;
    struct baryon_value *input = by_node_in(node, 0);
    context->changes++;
    return by_node_become(node, "Cast", NULL, &input, 1, err)
               ? -1
               : by_node_set_int(node, "to", to, err);
}

int by_convert_casts(const struct by_convert_step *step, struct by_pass_context *context,
                     struct baryon_error *err)
{
    (void)step;
    return each(context, become_cast, 13, "a Cast to bfloat16", err);
}

/* --- Without Casts, for compilers that compute in bf16 themselves --- */

static bool is_cast_to(const struct baryon_node *node, int64_t elem)
{
    return node && by_node_is(node, "Cast") && by_node_int(node, "to", 0) == elem;
}

/* What is cast there and back; NULL: nothing, or an input of the model, which keeps its Casts. */
static struct baryon_value *cast_twice(const struct baryon_node *node)
{
    const struct baryon_value *middle = by_node_in(node, 0);
    if (!is_cast_to(node, BY_ELEM_FLOAT) || !middle ||
        !is_cast_to(middle->producer, BY_ELEM_BFLOAT16))
        return NULL;
    struct baryon_value *value = by_node_in(middle->producer, 0);
    return value && value->elem == BY_ELEM_FLOAT && !value->is_input && value->graph == node->graph
               ? value
               : NULL;
}

/* A constant as it is after the Casts. */
static struct baryon_value *rounded(struct baryon_value *value, struct baryon_error *err)
{
    size_t count;
    struct baryon_value *copy = by_graph_duplicate_initializer(value, err);
    float *values = copy ? by_floats_copy(value->initializer, &count, err) : NULL;
    if (!values)
        return NULL;
    for (size_t i = 0; i < count; i++)
        values[i] = by_bf16_to_f32_one(by_f32_to_bf16_one(values[i]));
    const int failed = by_floats_write(copy->graph->model, copy->initializer, values, count, err);
    by_free(values);
    copy->elem = value->elem;
    copy->shape = value->shape;
    return failed ? NULL : copy;
}

static int drop_casts(struct by_pass_context *context, struct baryon_node *node,
                      struct baryon_error *err)
{
    bool done;
    struct baryon_value *value = cast_twice(node);
    if (value && value->initializer)
        value = rounded(value, err);
    else if (!value)
        return 0;
    if (!value || by_pass_bypass(node, value, &done, err))
        return -1;
    context->changes += done;
    return 0;
}

int by_convert_no_casts(const struct by_convert_step *step, struct by_pass_context *context,
                        struct baryon_error *err)
{
    (void)step;
    return each(context, drop_casts, 13, "a Cast to bfloat16", err);
}

/* --- Clips --- */

static int put_clip(struct by_pass_context *context, struct baryon_node *node,
                    struct baryon_error *err)
{
    const double limits[] = {-BF16_MOST, BF16_MOST};
    struct baryon_value *inputs[3] = {by_node_in(node, 0)};
    if (!is_bf16(node) || !by_form_quantizes(node) || !inputs[0])
        return 0;
    for (size_t i = 0; i < 2; i++)
        if (!(inputs[i + 1] = by_pass_add_doubles(node->graph, i ? "clip_max" : "clip_min",
                                                  BY_ELEM_FLOAT, NULL, 0, &limits[i], err)))
            return -1;
    struct baryon_node *clip =
        by_pass_add_node(node->graph, "Clip", inputs[0]->name, inputs, 3, err);
    if (!clip)
        return -1;
    by_node_out(clip, 0)->elem = inputs[0]->elem;
    by_node_out(clip, 0)->shape = inputs[0]->shape;
    context->changes++;
    return by_node_set_input(node, 0, by_node_out(clip, 0), err);
}

int by_convert_clips(const struct by_convert_step *step, struct by_pass_context *context,
                     struct baryon_error *err)
{
    (void)step;
    return each(context, put_clip, 11, "Clip with limits that are inputs", err);
}

/* --- Pairs between two operators --- */

int by_take_between(struct by_converting *at, const struct by_doc_node *value,
                    struct baryon_error *err)
{
    struct by_arena *arena = at->convert->arena;
    struct by_convert_step *step = at->step;
    if (value->kind != BY_DOC_LIST)
        return by_node_fail(value, err, "expected a list of pairs of operators");
    step->between = by_arena_alloc(arena, value->count + 1, sizeof *step->between, err);
    for (size_t i = 0; step->between && i < value->count; i++) {
        const char **names;
        size_t count;
        if (by_node_texts(arena, value->items[i], &names, &count, err))
            return -1;
        if (count != 2)
            return by_node_fail(value->items[i], err, "expected a pair of operators");
        step->between[step->between_count++] = (struct by_convert_pair){names[0], names[1]};
    }
    at->on = value->count > 0;
    return step->between ? 0 : -1;
}

static bool is_between(const struct by_convert_step *step, const struct baryon_node *from,
                       const struct baryon_node *to)
{
    for (size_t i = 0; i < step->between_count; i++)
        if (by_node_is(from, step->between[i].from) && by_node_is(to, step->between[i].to))
            return true;
    return false;
}

/* What stands before the pair that gives the value; NULL: no pair does. */
static struct baryon_value *before_pair(const struct baryon_value *value)
{
    const struct baryon_node *last = value ? value->producer : NULL;
    const struct baryon_value *middle =
        last && by_form_dequantizes(last) ? by_node_in(last, 0) : NULL;
    const struct baryon_node *first = middle ? middle->producer : NULL;
    return first && by_form_quantizes(first) && first->graph == last->graph ? by_node_in(first, 0)
                                                                            : NULL;
}

static int pass_by(const struct by_convert_step *step, struct baryon_node *node, size_t *changes,
                   struct baryon_error *err)
{
    for (size_t i = 0; i < node->input.count; i++) {
        struct baryon_value *value = before_pair(by_node_in(node, i));
        if (!value || !value->producer || value->graph != node->graph ||
            !is_between(step, value->producer, node))
            continue;
        ++*changes;
        if (by_node_set_input(node, i, value, err))
            return -1;
    }
    return 0;
}

int by_convert_between(const struct by_convert_step *step, struct by_pass_context *context,
                       struct baryon_error *err)
{
    struct baryon_node **nodes;
    size_t count;
    if (by_origins_before(context->origins, err) ||
        by_all_nodes(context->model, &nodes, &count, err))
        return -1;
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++)
        failed = pass_by(step, nodes[i], &context->changes, err);
    by_free(nodes);
    if (failed || by_graph_prune(context->model->graph, NULL, err))
        return -1;
    return by_origins_after(context->origins, err);
}
