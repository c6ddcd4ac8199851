/*
 * Pairs inside the graph that ONNX Runtime has optimized.
 *
 * The runtime's blocked layout of convolutions ends at each operator that it does not know: values
 * are put in order before a pair, and back in blocks after it. A product of a value with itself is
 * let through. So the runtime optimizes the model with such products in place of pairs, and what it
 * has made of it is opened again, with pairs in place of products.
 */
#include "base/str.h"
#include "engine/optimized.h"
#include "engine/pair.h"
#include "ir/graph.h"

#include <stdio.h>
#include <string.h>

struct placeholder {
    struct baryon_node *node;
    struct baryon_value *table;
    int64_t index;
    const char *name; /* that the node had */
    bool found;       /* in the optimized graph */
};

struct placing {
    struct baryon_model *model;
    struct placeholder *at;
    size_t count;
};

#define STEM       "baryon pair "
#define NODES_MOST 350

/* --- In place of pairs --- */

/* Of two products of one value the runtime would make one. */
static bool is_first_reader(const struct baryon_node *node)
{
    const struct baryon_value *value = by_node_in(node, 0);
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *other = value->uses[i].node;
        if (by_node_is_pair(other) && other->index < node->index)
            return false;
    }
    return !value->initializer;
}

static size_t find_pairs(struct placing *placing)
{
    const struct baryon_graph *graph = placing->model->graph;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (by_node_is_pair(node) && is_first_reader(node))
            placing->at[placing->count++] =
                (struct placeholder){.node = node,
                                     .table = by_node_in(node, 1),
                                     .index = by_node_int(node, BY_PAIR_INDEX, 0),
                                     .name = node->name};
    }
    return placing->count;
}

static int put_product(struct placing *placing, size_t place, struct baryon_error *err)
{
    char name[64];
    struct baryon_node *node = placing->at[place].node;
    struct baryon_value *inputs[] = {by_node_in(node, 0), by_node_in(node, 0)};
    snprintf(name, sizeof name, STEM "%zu", place);
    node->name = by_arena_text(&placing->model->arena, name, strlen(name), err);
    return node->name ? by_node_become(node, "Mul", NULL, inputs, 2, err) : -1;
}

static int put_pair(struct baryon_node *node, struct baryon_value *table, int64_t index,
                    struct baryon_error *err)
{
    struct baryon_value *inputs[] = {by_node_in(node, 0), table};
    return by_node_become(node, BY_PAIR_OP, BY_PAIR_DOMAIN, inputs, 2, err) < 0
               ? -1
               : by_node_set_int(node, BY_PAIR_INDEX, index, err);
}

/* As it was. Whatever fails, all that can be is taken back. */
static int take_back(const struct placing *placing, size_t count, struct baryon_error *err)
{
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        const struct placeholder *at = &placing->at[i];
        at->node->name = at->name;
        if (put_pair(at->node, at->table, at->index, status < 0 ? NULL : err) < 0)
            status = -1;
    }
    return status;
}

static int optimize(struct placing *placing, const struct by_session_options *options,
                    struct by_optimized *optimized, struct baryon_error *err)
{
    size_t placed = 0;
    int status = 0;
    for (; status == 0 && placed < placing->count; placed++)
        status = put_product(placing, placed, err);
    if (status == 0)
        status = by_optimized_open(optimized, placing->model, options, err);
    const int back = take_back(placing, placed, status < 0 ? NULL : err);
    return status < 0 ? -1 : back;
}

/* --- In place of products --- */

/* Constants of the model have no other way into it: nothing reads the table there. */
static struct baryon_value *find_table(const struct placing *placing, struct baryon_model *into,
                                       struct baryon_error *err)
{
    const struct baryon_value *table = placing->at[0].table;
    struct baryon_value *found = by_graph_value(into->graph, table->name);
    const struct baryon_tensor *from = table->initializer;
    if (found || !from)
        return found;
    struct baryon_tensor *tensor =
        by_tensor_new(into, table->name, BY_ELEM_FLOAT, from->dims.at, from->dims.count,
                      from->raw_data.data, from->raw_data.size, err);
    return tensor ? by_graph_add_initializer(into->graph, tensor, err) : NULL;
}

/* By its name; placing->count: it is no placeholder. */
static size_t place_in_name(const struct placing *placing, const struct baryon_node *node)
{
    int64_t place;
    const bool named = by_node_is(node, "Mul") && node->name &&
                       !strncmp(node->name, STEM, strlen(STEM)) &&
                       by_node_in(node, 0) == by_node_in(node, 1) &&
                       by_parse_i64(node->name + strlen(STEM), &place);
    return named && place >= 0 && (size_t)place < placing->count ? (size_t)place : placing->count;
}

/* Each has to be there once. */
static int put_pairs(struct placing *placing, struct baryon_model *into, struct baryon_error *err)
{
    size_t found = 0;
    struct baryon_value *table = find_table(placing, into, err);
    if (!table)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "its table of pairs is gone");
    if (by_model_set_opset(into, BY_PAIR_DOMAIN, 1, err) < 0)
        return -1;
    for (size_t i = 0; i < into->graph->node.count; i++) {
        struct baryon_node *node = into->graph->node.at[i];
        const size_t place = place_in_name(placing, node);
        if (place == placing->count)
            continue;
        if (put_pair(node, table, placing->at[place].index, err) < 0)
            return -1;
        found += !placing->at[place].found;
        placing->at[place].found = true;
    }
    return found == placing->count ? by_model_settle(into, err)
                                   : by_fail(err, BARYON_ERR_UNSUPPORTED,
                                             "%zu of %zu pairs are there", found, placing->count);
}

/* --- The whole --- */

/* Where most layers are convolutions the layout is worth opening twice, unless there are many
 * nodes: opening takes time in their square. */
static bool is_worth(const struct baryon_graph *graph)
{
    size_t convolutions = 0, others = 0;
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        convolutions += by_node_is(node, "Conv");
        others += by_node_is(node, "MatMul") || by_node_is(node, "Gemm");
    }
    return convolutions > others && graph->node.count <= NODES_MOST;
}

static int open_inside(struct by_session **session, struct placing *placing,
                       const struct by_session_options *options, struct baryon_error *err)
{
    struct by_optimized optimized = {.file = {.fd = -1}, .weights = {.fd = -1}};
    struct by_session_options as_it_is = *options;
    as_it_is.optimization = 0;
    int status = optimize(placing, options, &optimized, err);
    if (status == 0)
        status = by_model_link(optimized.model, err);
    if (status == 0)
        status = put_pairs(placing, optimized.model, err);
    if (status == 0)
        status = by_pairs_fold_largest(optimized.model, err);
    if (status == 0)
        status = by_session_open_model(session, optimized.model, 0, &as_it_is, err);
    by_optimized_close(&optimized);
    return status;
}

static int try_inside(struct by_session **session, struct baryon_model *model,
                      const struct by_session_options *options, struct baryon_error *err)
{
    struct placing placing = {.model = model};
    struct baryon_error problem;
    placing.at = by_alloc(model->graph->node.count + 1, sizeof *placing.at, err);
    if (!placing.at)
        return -1;
    by_err_clear(&problem);
    int status = 0;
    if (find_pairs(&placing) > 0)
        status = open_inside(session, &placing, options, &problem);
    by_free(placing.at);
    return status == 0
               ? 0
               : by_optimized_give_up(options, "pairs stay in the original model", &problem, err);
}

static int open_inside_if_worth(struct by_session **session, struct baryon_model *model,
                                const struct by_session_options *options, struct baryon_error *err)
{
    const char *why;
    if (by_model_settle(model, err) < 0)
        return -1;
    if (!is_worth(model->graph))
        return 0;
    return by_optimized_obstacle(&why, model, options, err) < 0 ||
                   (!why && try_inside(session, model, options, err) < 0)
               ? -1
               : 0;
}

int by_session_open_pairs(struct by_session **session, struct baryon_model *model,
                          const struct by_session_options *options, struct baryon_error *err)
{
    *session = NULL;
    if (by_pairs_wanted(model) && open_inside_if_worth(session, model, options, err) < 0)
        return -1;
    if (*session)
        return 0;
    return by_pairs_fold_largest(model, err) < 0
               ? -1
               : by_session_open_model(session, model, 0, options, err);
}
