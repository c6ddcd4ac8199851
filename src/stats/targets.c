/* Finds the values of a model whose statistics are needed. */
#include "stats/targets.h"

#include "ir/opinfo.h"
#include "stats/swallowed.h"

#include <string.h>

#define NO_AXIS (-1)

/* What is known of each value, by value->index. */
struct survey {
    const struct baryon_graph *graph;
    size_t count;
    bool *constant, *swallowed;
    int *axis;   /* where its channels lie */
    bool *feeds; /* layers */
};

static int survey_open(struct survey *survey, const struct baryon_graph *graph,
                       struct baryon_error *err)
{
    *survey = (struct survey){.graph = graph, .count = graph->all_values.count};
    survey->constant = by_alloc_zero(survey->count, sizeof *survey->constant, err);
    survey->swallowed = by_alloc_zero(survey->count, sizeof *survey->swallowed, err);
    survey->feeds = by_alloc_zero(survey->count, sizeof *survey->feeds, err);
    survey->axis = by_alloc(survey->count, sizeof *survey->axis, err);
    if (!survey->constant || !survey->swallowed || !survey->feeds || !survey->axis)
        return -1;
    for (size_t i = 0; i < survey->count; i++)
        survey->axis[i] = NO_AXIS;
    return 0;
}

static void survey_close(struct survey *survey)
{
    by_free(survey->constant);
    by_free(survey->swallowed);
    by_free(survey->feeds);
    by_free(survey->axis);
}

/* --- Constants: initializers and what is computed from nothing else --- */

static bool is_random(const struct baryon_node *node)
{
    return !strncmp(node->op_type, "Random", 6) || by_node_is(node, "Bernoulli") ||
           by_node_is(node, "Multinomial");
}

static bool gives_constants(const struct survey *survey, const struct baryon_node *node)
{
    struct by_nested nested = {0};
    if (by_node_nested(node, &nested) || is_random(node) || !by_node_opinfo(node))
        return false;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        if (value && !survey->constant[value->index])
            return false;
    }
    return true;
}

static void find_constants(struct survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct baryon_value *value = survey->graph->all_values.at[i];
        survey->constant[i] = value && (value->initializer || value->sparse);
    }
    for (size_t i = 0; i < survey->graph->node.count; i++) {
        const struct baryon_node *node = survey->graph->node.at[i];
        if (!node || !gives_constants(survey, node))
            continue;
        for (size_t slot = 0; slot < node->output.count; slot++)
            if (by_node_out(node, slot))
                survey->constant[by_node_out(node, slot)->index] = true;
    }
}

/* --- Channels --- */

static bool is_data(const struct by_opinfo *info, size_t slot)
{
    return slot < 32 && (info->data_inputs >> slot & 1);
}

static int place_axis(const struct baryon_value *value, int axis)
{
    if (axis == BY_AXIS_LAST)
        return value->shape && value->shape->rank ? (int)value->shape->rank - 1 : NO_AXIS;
    return axis >= 0 && (!value->shape || (size_t)axis < value->shape->rank) ? axis : NO_AXIS;
}

static bool same_rank(const struct baryon_value *one, const struct baryon_value *other)
{
    return one->shape && other->shape && one->shape->rank == other->shape->rank;
}

static void settle_axis(struct survey *survey, const struct baryon_value *value, int axis)
{
    if (value && survey->axis[value->index] == NO_AXIS)
        survey->axis[value->index] = place_axis(value, axis);
}

static void mark_fed(struct survey *survey, const struct baryon_node *node)
{
    const struct baryon_value *in = by_node_in(node, 0), *weight = by_node_in(node, 1);
    if (in && weight && survey->constant[weight->index] && !by_node_int(node, "transA", 0) &&
        (by_node_is(node, "Conv") || by_node_is(node, "Gemm")))
        survey->feeds[in->index] = true;
}

/* A layer says where the channels of what it reads and gives are. */
static void ask_layer(struct survey *survey, const struct baryon_node *node,
                      const struct by_opinfo *info)
{
    if (info->data_axis == BY_AXIS_NONE)
        return;
    mark_fed(survey, node);
    settle_axis(survey, by_node_out(node, 0), info->data_axis);
    for (size_t i = 0; i < node->input.count; i++)
        if (is_data(info, i) && !(i == 0 && by_node_int(node, "transA", 0)))
            settle_axis(survey, by_node_in(node, i), info->data_axis);
}

/* Operators that leave every element where it is carry the axis on, to and fro. */
static void carry(struct survey *survey, const struct baryon_node *node,
                  const struct by_opinfo *info, bool back)
{
    const struct baryon_value *out = by_node_out(node, 0);
    if (!out || !by_op_keeps_places(info))
        return;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *in = by_node_in(node, i);
        if (!in || !is_data(info, i) || survey->constant[in->index] || !same_rank(in, out))
            continue;
        if (back)
            settle_axis(survey, in, survey->axis[out->index]);
        else
            settle_axis(survey, out, survey->axis[in->index]);
    }
}

static void find_axes(struct survey *survey)
{
    const struct by_ptrs *nodes = &survey->graph->node;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < nodes->count; i++) {
            const struct baryon_node *node = nodes->at[round == 2 ? nodes->count - 1 - i : i];
            const struct by_opinfo *info = node ? by_node_opinfo(node) : NULL;
            if (!info)
                continue;
            if (round == 0)
                ask_layer(survey, node, info);
            else
                carry(survey, node, info, round == 2);
        }
}

/* --- Which --- */

static bool is_float_elem(int64_t elem)
{
    return elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
           elem == BY_ELEM_DOUBLE;
}

static bool is_wanted_target(const struct survey *survey, const struct baryon_value *value,
                             enum by_target_choice choice)
{
    if (!value || !is_float_elem(value->elem) || survey->constant[value->index])
        return false;
    return choice == BY_TARGETS_ALL || (value->use_count > 0 && !survey->swallowed[value->index]);
}

static void take_target(const struct survey *survey, const struct baryon_value *value,
                        enum by_target_choice choice, struct by_target *targets, size_t *count)
{
    if (is_wanted_target(survey, value, choice))
        targets[(*count)++] = (struct by_target){.name = value->name,
                                                 .elem = value->elem,
                                                 .channel_axis = survey->axis[value->index],
                                                 .feeds = survey->feeds[value->index] &&
                                                          survey->axis[value->index] == 1};
}

static void take_all(const struct survey *survey, enum by_target_choice choice,
                     struct by_target *targets, size_t *count)
{
    const struct baryon_graph *graph = survey->graph;
    *count = 0;
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *input = graph->input.at[i];
        if (input)
            take_target(survey, by_graph_value(graph, input->name), choice, targets, count);
    }
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        for (size_t slot = 0; node && slot < node->output.count; slot++)
            take_target(survey, by_node_out(node, slot), choice, targets, count);
    }
}

int by_targets_find(const struct baryon_graph *graph, enum by_target_choice choice,
                    struct by_target **targets, size_t *count, struct baryon_error *err)
{
    struct survey survey;
    *targets = NULL;
    int status = survey_open(&survey, graph, err);
    if (status == 0 && !(*targets = by_alloc(survey.count, sizeof **targets, err)))
        status = -1;
    if (status == 0) {
        find_constants(&survey);
        find_axes(&survey);
        by_swallowed_mark(graph, survey.constant, survey.swallowed);
        take_all(&survey, choice, *targets, count);
    }
    survey_close(&survey);
    return status;
}
