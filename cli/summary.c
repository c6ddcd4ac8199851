/* Counts the nodes, parameters and bytes of a model per operator for `baryon inspect`. */
#include "cli/summary.h"

#include "base/map.h"
#include "base/str.h"
#include "onnx/external.h"

#include <stdlib.h>
#include <string.h>

#define HOPS_MAX 8

struct maker {
    struct by_summary *summary;
    struct by_map ops; /* "domain.op" -> place in summary->ops, plus 1 */
    struct by_str key;
};

static void add_tally(struct by_tally *tally, const struct by_tally *more)
{
    tally->nodes += more->nodes;
    tally->tensors += more->tensors;
    tally->parameters += more->parameters;
    tally->bytes += more->bytes;
}

static int tally_for(struct maker *maker, const char *domain, const char *op_type,
                     struct by_tally **tally, struct baryon_error *err)
{
    struct by_summary *summary = maker->summary;
    by_str_clear(&maker->key);
    by_str_printf(&maker->key, "%s.%s", domain, op_type);
    size_t place = (size_t)(uintptr_t)by_map_get(&maker->ops, by_str_text(&maker->key));
    if (!place) {
        const char *key =
            by_arena_text(&summary->arena, by_str_text(&maker->key), maker->key.size, err);
        if (!key || by_str_error(&maker->key, err) < 0 ||
            by_list_reserve(&summary->arena, &summary->ops, 1, sizeof *summary->ops.at, err) < 0)
            return -1;
        summary->ops.at[summary->ops.count++] =
            (struct by_op_tally){.domain = domain, .op_type = op_type};
        place = summary->ops.count;
        if (by_map_put(&maker->ops, key, (void *)(uintptr_t)place, err) < 0)
            return -1;
    }
    *tally = &summary->ops.at[place - 1].tally;
    return 0;
}

static int string_bytes(const struct baryon_tensor *tensor, size_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < tensor->string_data.count; i++)
        *bytes += tensor->string_data.at[i].size;
    return 0;
}

static int tensor_tally(const struct baryon_tensor *tensor, struct by_tally *tally,
                        struct baryon_error *err)
{
    size_t count, bytes;
    if (by_tensor_count(tensor, &count, err) < 0)
        return -1;
    if (tensor->data_type == BY_ELEM_STRING)
        string_bytes(tensor, &bytes);
    else if (by_elem_bytes(tensor->data_type, count, &bytes, err) < 0)
        return -1;
    *tally = (struct by_tally){.tensors = 1, .parameters = count, .bytes = bytes};
    return 0;
}

/* Operators that hand a constant on, as it is or in another form. */
static bool passes_on(const struct baryon_node *node)
{
    static const char *const names[] = {"DequantizeLinear",
                                        "QuantizeLinear",
                                        "Cast",
                                        "Identity",
                                        "Transpose",
                                        "Reshape",
                                        "Unsqueeze",
                                        "Squeeze",
                                        "Flatten",
                                        "Slice",
                                        "Split",
                                        "Concat",
                                        "Expand"};
    for (size_t i = 0; node->op_type && i < sizeof names / sizeof *names; i++)
        if (!strcmp(node->op_type, names[i]))
            return true;
    return false;
}

/* The operator that a value's elements are for, seen from its first use. */
static const struct baryon_node *reader_of(const struct baryon_value *value)
{
    const struct baryon_node *reader = NULL;
    for (int hop = 0; hop < HOPS_MAX && value && value->use_count; hop++) {
        const struct by_use *use = &value->uses[0];
        if (!use->node)
            break;
        reader = use->node;
        if (!passes_on(reader) || (use->slot != 0 && !by_node_is(reader, "Concat")))
            break;
        value = by_node_out(reader, 0);
    }
    return reader;
}

static int count_constant(struct maker *maker, const struct baryon_value *value,
                          const struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct by_tally one, *tally;
    if (!tensor)
        return 0;
    if (tensor_tally(tensor, &one, err) < 0)
        return -1;
    const struct baryon_node *reader = reader_of(value);
    const char *place = value->use_count ? "(output)" : "(unused)";
    if (tally_for(maker, reader ? by_domain(reader->domain) : "",
                  reader && reader->op_type ? reader->op_type : place, &tally, err) < 0)
        return -1;
    add_tally(tally, &one);
    return 0;
}

static int count_node(struct maker *maker, const struct baryon_node *node, struct baryon_error *err)
{
    struct by_tally *tally;
    const struct by_tally one = {.nodes = 1};
    if (tally_for(maker, by_domain(node->domain), node->op_type ? node->op_type : "", &tally, err) <
        0)
        return -1;
    add_tally(tally, &one);
    maker->summary->nodes++;
    by_quant_look(&maker->summary->quant, node);
    const struct baryon_attribute *attr =
        by_node_is(node, "Constant") ? by_node_attr(node, "value") : NULL;
    const struct baryon_value *output = by_node_out(node, 0);
    return attr && output ? count_constant(maker, output, attr->t, err) : 0;
}

static int count_graph(void *context, struct baryon_graph *graph, unsigned depth,
                       struct baryon_error *err)
{
    struct maker *maker = context;
    (void)depth;
    maker->summary->graphs++;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (!value)
            continue;
        const struct baryon_tensor *tensor =
            value->sparse ? value->sparse->values : value->initializer;
        if (count_constant(maker, value, tensor, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && count_node(maker, graph->node.at[i], err) < 0)
            return -1;
    return 0;
}

static int count_type(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct by_summary *summary = context;
    struct by_tally one;
    if (tensor_tally(tensor, &one, err) < 0)
        return -1;
    add_tally(&summary->types[tensor->data_type], &one);
    add_tally(&summary->total, &one);
    return 0;
}

/* Tensors in functions, in training graphs, and in attributes of other nodes than Constant. */
static int count_rest(struct maker *maker, struct baryon_error *err)
{
    struct by_summary *summary = maker->summary;
    struct by_tally rest = summary->total, *tally;
    for (size_t i = 0; i < summary->ops.count; i++) {
        rest.tensors -= summary->ops.at[i].tally.tensors;
        rest.parameters -= summary->ops.at[i].tally.parameters;
        rest.bytes -= summary->ops.at[i].tally.bytes;
    }
    if (!rest.tensors)
        return 0;
    if (tally_for(maker, "", "(elsewhere)", &tally, err) < 0)
        return -1;
    add_tally(tally, &rest);
    return 0;
}

static int compare_op_tallies(const void *left, const void *right)
{
    const struct by_op_tally *a = left, *b = right;
    if (a->tally.bytes != b->tally.bytes)
        return a->tally.bytes > b->tally.bytes ? -1 : 1;
    if (a->tally.nodes != b->tally.nodes)
        return a->tally.nodes > b->tally.nodes ? -1 : 1;
    int names = strcmp(a->op_type, b->op_type);
    return names ? names : strcmp(a->domain, b->domain);
}

int by_summary_make(struct by_summary *summary, struct baryon_model *model,
                    struct baryon_error *err)
{
    struct maker maker = {.summary = summary};
    *summary = (struct by_summary){.model = model};
    by_arena_init(&summary->arena, 0);
    by_map_init(&maker.ops);
    by_str_init(&maker.key);
    int failed = by_model_each_graph(model, count_graph, &maker, err) < 0 ||
                 by_model_each_tensor(model, count_type, summary, err) < 0 ||
                 count_rest(&maker, err) < 0;
    by_map_release(&maker.ops);
    by_str_release(&maker.key);
    if (failed) {
        by_summary_release(summary);
        return -1;
    }
    summary->total.nodes = summary->nodes;
    if (summary->ops.count)
        qsort(summary->ops.at, summary->ops.count, sizeof *summary->ops.at, compare_op_tallies);
    return 0;
}

void by_summary_release(struct by_summary *summary)
{
    by_arena_release(&summary->arena);
}
