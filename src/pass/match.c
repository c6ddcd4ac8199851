/* Walks the nodes of a graph and matches patterns of constants, neighbours and shapes. */
#include "pass/match.h"

#include "pass/edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR     1e-6
#define AXES_MAX BY_RANK_MAX

/* --- The walk --- */

struct walk {
    struct by_matcher match;
    by_match_visit *visit;
    bool main_only;
};

static int visit_node(struct walk *walk, struct baryon_node *node)
{
    struct by_matcher *match = &walk->match;
    if (!node || by_pass_is_excluded(match->context, node))
        return 0;
    const int failed = walk->visit(match, node);
    if (match->arena.used) {
        by_arena_release(&match->arena);
        by_arena_init(&match->arena, 0);
    }
    return failed || match->failed ? -1 : 0;
}

static int visit_graph(void *context, struct baryon_graph *graph, unsigned depth,
                       struct baryon_error *err)
{
    (void)err;
    struct walk *walk = context;
    const size_t count = depth && walk->main_only ? 0 : graph->node.count;
    for (size_t i = 0; i < count; i++)
        if (visit_node(walk, graph->node.at[i]))
            return -1;
    return 0;
}

static int visit_all(struct by_pass_context *context, by_match_visit *visit, bool main_only,
                     struct baryon_error *err)
{
    struct walk walk = {
        .match = {.context = context, .err = err}, .visit = visit, .main_only = main_only};
    by_arena_init(&walk.match.arena, 0);
    const int failed = by_model_each_graph(context->model, visit_graph, &walk, err);
    by_arena_release(&walk.match.arena);
    return failed;
}

int by_match_each(struct by_pass_context *context, by_match_visit *visit, struct baryon_error *err)
{
    return visit_all(context, visit, false, err);
}

int by_match_main(struct by_pass_context *context, by_match_visit *visit, struct baryon_error *err)
{
    return visit_all(context, visit, true, err);
}

/* --- Constants --- */

static const struct baryon_node *constant_node(const struct baryon_value *value)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    return node && by_node_is(node, "Constant") ? node : NULL;
}

bool by_match_is_constant(const struct baryon_value *value)
{
    return constant_node(value) || by_pass_tensor(value);
}

/* Bytes of a payload that is as it should be; empty otherwise. */
static bool payload(struct by_matcher *match, const struct baryon_tensor *tensor, size_t most,
                    size_t *count, struct by_span *bytes)
{
    struct baryon_error local;
    const struct by_elem_info *info = by_elem_info(tensor->data_type);
    if (!info || !info->bits || by_tensor_count(tensor, count, NULL) || *count > most)
        return false;
    by_err_clear(&local);
    if (by_tensor_bytes(tensor, &match->arena, bytes, &local) == 0)
        return true;
    if (local.code == BARYON_ERR_NOMEM) {
        match->failed = true;
        by_err_nomem(match->err, *count);
    }
    return false;
}

static void *room(struct by_matcher *match, size_t count, size_t size)
{
    void *block = by_arena_alloc(&match->arena, count ? count : 1, size, match->err);
    if (!block)
        match->failed = true;
    return block;
}

/* What a Constant node says in attributes other than `value`. */
static const double *numbers_of_attributes(struct by_matcher *match, const struct baryon_node *node,
                                           size_t most, size_t *count)
{
    const struct baryon_attribute *attr = NULL;
    static const char *const names[] = {"value_float", "value_floats", "value_int", "value_ints"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !attr; i++)
        attr = by_node_attr(node, names[i]);
    if (!attr)
        return NULL;
    const bool one = attr->type == BY_ATTR_FLOAT || attr->type == BY_ATTR_INT;
    const bool real = attr->type == BY_ATTR_FLOAT || attr->type == BY_ATTR_FLOATS;
    *count = one ? 1 : real ? attr->floats.count : attr->ints.count;
    double *numbers = *count <= most ? room(match, *count, sizeof *numbers) : NULL;
    for (size_t i = 0; numbers && i < *count; i++)
        numbers[i] = real ? (double)(one ? attr->f : attr->floats.at[i])
                          : (double)(one ? attr->i : attr->ints.at[i]);
    return numbers;
}

const double *by_match_numbers(struct by_matcher *match, const struct baryon_value *value,
                               size_t most, size_t *count)
{
    struct by_span bytes;
    const struct baryon_node *node = constant_node(value);
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    *count = 0;
    if (!tensor)
        return node ? numbers_of_attributes(match, node, most, count) : NULL;
    if (!payload(match, tensor, most, count, &bytes))
        return NULL;
    double *numbers = room(match, *count, sizeof *numbers);
    if (!numbers || by_elem_to_doubles(tensor->data_type, bytes.data, 0, *count, numbers, NULL))
        return NULL;
    return numbers;
}

const int64_t *by_match_ints(struct by_matcher *match, const struct baryon_value *value,
                             size_t most, size_t *count)
{
    struct by_span bytes;
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    const struct baryon_node *node = constant_node(value);
    *count = 0;
    if (!tensor) {
        const struct baryon_attribute *attr = node ? by_node_attr(node, "value_ints") : NULL;
        const struct baryon_attribute *one = node ? by_node_attr(node, "value_int") : NULL;
        *count = attr ? attr->ints.count : one ? 1 : 0;
        if ((!attr && !one) || *count > most)
            return NULL;
        return one ? &one->i : attr->ints.at;
    }
    if (!payload(match, tensor, most, count, &bytes))
        return NULL;
    int64_t *ints = room(match, *count, sizeof *ints);
    if (!ints || by_elem_to_ints(tensor->data_type, bytes.data, 0, *count, ints, NULL))
        return NULL;
    return ints;
}

bool by_match_scalar(struct by_matcher *match, const struct baryon_value *value, double *number)
{
    size_t count;
    const double *numbers = by_match_numbers(match, value, 1, &count);
    if (!numbers || count != 1)
        return false;
    *number = numbers[0];
    return true;
}

bool by_match_near(double number, double wanted)
{
    return fabs(number - wanted) <= NEAR * fabs(wanted);
}

bool by_match_number(struct by_matcher *match, const struct baryon_value *value, double wanted)
{
    double number;
    return by_match_scalar(match, value, &number) && by_match_near(number, wanted);
}

/* --- Neighbours --- */

struct baryon_node *by_match_producer(const struct baryon_node *node, size_t slot,
                                      const char *op_type)
{
    const struct baryon_value *value = by_node_in(node, slot);
    struct baryon_node *found = value && value->slot == 0 ? value->producer : NULL;
    return found && found->graph == node->graph && by_node_is(found, op_type) ? found : NULL;
}

struct baryon_node *by_match_reader(const struct baryon_node *node)
{
    const struct baryon_value *value = by_node_out(node, 0);
    return value ? by_pass_only_reader(value) : NULL;
}

struct baryon_value *by_match_other(const struct baryon_node *node,
                                    const struct baryon_value *value)
{
    if (!value || node->input.count != 2)
        return NULL;
    if (by_node_in(node, 0) == value)
        return by_node_in(node, 1);
    return by_node_in(node, 1) == value ? by_node_in(node, 0) : NULL;
}

bool by_match_constant_slot(const struct baryon_node *node, size_t *slot)
{
    if (node->input.count != 2)
        return false;
    const bool first = by_match_is_constant(by_node_in(node, 0));
    *slot = first ? 0 : 1;
    return first != by_match_is_constant(by_node_in(node, 1));
}

bool by_match_plain(const struct baryon_node *node, const char *op_type)
{
    if (!by_node_is(node, op_type) || !by_node_out(node, 0))
        return false;
    for (size_t i = 1; i < node->output.count; i++) {
        const struct baryon_value *value = by_node_out(node, i);
        if (value && (value->use_count || by_value_is_kept(value)))
            return false;
    }
    return true;
}

/* --- Types and shapes --- */

bool by_match_is_float(const struct baryon_value *value)
{
    return value && value->elem == BY_ELEM_FLOAT;
}

int64_t by_match_size(const struct baryon_value *value, size_t axis)
{
    const struct by_shape *shape = value ? value->shape : NULL;
    return shape && axis < shape->rank ? shape->dims[axis].size : -1;
}

static int by_number(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* All axes, where a node without any means that. */
static const int64_t *all_axes(struct by_matcher *match, const struct baryon_node *node, int rank,
                               size_t *count)
{
    if (rank < 0 || by_node_int(node, "noop_with_empty_axes", 0))
        return NULL;
    *count = (size_t)rank;
    int64_t *axes = room(match, *count, sizeof *axes);
    for (int i = 0; axes && i < rank; i++)
        axes[i] = i;
    return axes;
}

const int64_t *by_match_axes(struct by_matcher *match, const struct baryon_node *node,
                             size_t *count)
{
    const struct baryon_attribute *attr = by_node_attr(node, "axes");
    const struct baryon_value *input = by_node_in(node, 1);
    const int rank = by_pass_rank(by_node_in(node, 0));
    const int64_t *given = attr ? attr->ints.at : NULL;
    *count = attr ? attr->ints.count : 0;
    if (input && !(given = by_match_ints(match, input, AXES_MAX, count)))
        return NULL;
    if (!*count)
        return all_axes(match, node, rank, count);
    int64_t *axes = *count <= AXES_MAX ? room(match, *count, sizeof *axes) : NULL;
    if (!axes)
        return NULL;
    for (size_t i = 0; i < *count; i++)
        axes[i] = given[i] < 0 && rank >= 0 ? given[i] + rank : given[i];
    qsort(axes, *count, sizeof *axes, by_number);
    return axes;
}

/* --- Patterns of several nodes --- */

bool by_set_has(const struct by_node_set *set, const struct baryon_node *node)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->nodes[i] == node)
            return true;
    return false;
}

void by_set_add(struct by_node_set *set, struct baryon_node *node)
{
    if (!node || by_set_has(set, node))
        return;
    if (set->count == BY_PATTERN_MAX)
        set->full = true;
    else
        set->nodes[set->count++] = node;
}

static bool stays_inside(const struct by_node_set *set, const struct baryon_value *value)
{
    if (!value)
        return true;
    if (value->output_count || by_value_is_kept(value) || value->use_count > BY_PATTERN_MAX)
        return false;
    for (size_t i = 0; i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        if (use->graph != value->graph || !by_set_has(set, use->node))
            return false;
    }
    return true;
}

bool by_set_is_closed(const struct by_matcher *match, const struct by_node_set *set,
                      const struct baryon_node *end)
{
    if (set->full || !by_set_has(set, end))
        return false;
    for (size_t i = 0; i < set->count; i++) {
        const struct baryon_node *node = set->nodes[i];
        if (node == end)
            continue;
        if (node->graph != end->graph || !by_pass_may_join(match->context, node, end))
            return false;
        for (size_t k = 0; k < node->output.count; k++)
            if (!stays_inside(set, by_node_out(node, k)))
                return false;
    }
    return true;
}
