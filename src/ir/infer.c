/* Walks a graph and infers the types and shapes of all its values. */
#include "ir/infer.h"

#include "ir/infer_internal.h"
#include "ir/links.h"

#include <string.h>

/* Element type by one word of BY_TYPE_EACH, which ends at a space, a '|' or the end. */
static int64_t elem_by_word(const struct baryon_node *node, const char *word, size_t size)
{
    char name[24];
    if (!size || size >= sizeof name || word[0] == '?')
        return 0;
    if (word[0] >= '0' && word[0] <= '9')
        return by_in_elem(node, (size_t)(word[0] - '0'));
    memcpy(name, word, size);
    name[size] = '\0';
    const int elem = by_elem_by_name(name);
    return elem > 0 ? elem : 0;
}

static void types_by_words(struct baryon_node *node, const char *words)
{
    for (size_t slot = 0; *words && slot < node->output.count; slot++) {
        int64_t elem = 0;
        while (*words && *words != ' ') {
            const size_t size = strcspn(words, "| ");
            if (!elem)
                elem = elem_by_word(node, words, size);
            words += size + (words[size] == '|');
        }
        by_out_elem(node, slot, elem);
        words += *words == ' ';
    }
}

static int apply_types(const struct by_opinfo *info, struct baryon_node *node,
                       struct baryon_error *err)
{
    int64_t elem = 0;
    switch (info->type_rule) {
    case BY_TYPE_SAME:
        elem = by_in_elem(node, (size_t)info->type_arg);
        break;
    case BY_TYPE_FIXED:
        elem = info->type_arg;
        break;
    case BY_TYPE_ATTR:
        if (by_attr_elem(node, info->type_text, info->type_arg, &elem, err))
            return -1;
        break;
    case BY_TYPE_ATTR_OR_SAME:
        elem = by_in_elem(node, (size_t)info->type_arg);
        if (by_attr_elem(node, info->type_text, elem, &elem, err))
            return -1;
        break;
    case BY_TYPE_EACH:
        types_by_words(node, info->type_text);
        return 0;
    case BY_TYPE_NONE:
    case BY_TYPE_SPECIAL:
        return 0;
    }
    for (size_t slot = 0; slot < node->output.count; slot++)
        by_out_elem(node, slot, elem);
    return 0;
}

static void forget(struct by_infer *infer, struct baryon_value *value)
{
    value->elem = 0;
    value->shape = NULL;
    memset(by_fact_of(infer, value), 0, sizeof(struct by_fact));
}

/* A number beats a symbol, a symbol beats nothing, the rule beats the declaration. */
static struct by_extent merge_extent(struct by_infer *infer, struct by_extent found,
                                     struct by_extent declared)
{
    if (by_extent_is_number(found)) {
        infer->result.conflicts += by_extent_is_number(declared) && found.size != declared.size;
        return found;
    }
    return by_extent_is_number(declared) || !found.symbol ? declared : found;
}

static int merge_shape(struct by_infer *infer, struct baryon_value *value,
                       const struct by_shape *declared, struct baryon_error *err)
{
    if (!declared || !value->shape) {
        value->shape = value->shape ? value->shape : declared;
        return 0;
    }
    if (declared->rank != value->shape->rank) {
        infer->result.conflicts++;
        return 0;
    }
    struct by_shape *merged = by_new_copy(infer, value->shape, err);
    if (!merged)
        return -1;
    for (size_t i = 0; i < merged->rank; i++)
        merged->dims[i] = merge_extent(infer, value->shape->dims[i], declared->dims[i]);
    value->shape = merged;
    return 0;
}

static int merge_tensor(struct by_infer *infer, struct baryon_value *value,
                        const struct by_tensor_type *declared, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    const bool differs = value->elem && declared->elem_type && value->elem != declared->elem_type;
    /* Converters to float16 declare constants that they leave alone; ONNX Runtime takes these. */
    if (differs && value->initializer && !value->is_input) {
        infer->result.conflicts++;
        return 0;
    }
    if (differs)
        return by_fail(err, BARYON_ERR_INPUT, "value %s is declared %s (%lld) but is %s",
                       by_quote(name, value->name), by_elem_name(declared->elem_type),
                       (long long)declared->elem_type, by_elem_name(value->elem));
    if (!value->elem)
        value->elem = declared->elem_type;
    const struct by_shape *shape;
    if (by_shape_from_msg(&infer->model->arena, declared->shape, &shape, err))
        return -1;
    return merge_shape(infer, value, shape, err);
}

/* A sequence or optional of tensors; deeper ones are not followed. */
static int merge_container(struct by_infer *infer, struct by_fact *fact, const struct by_type *type,
                           struct baryon_error *err)
{
    enum by_value_kind kind = BY_KIND_SEQUENCE;
    const struct by_type *inner = type->sequence ? type->sequence->elem_type : NULL;
    if (type->optional) {
        kind = BY_KIND_OPTIONAL;
        inner = type->optional->elem_type;
        if (inner && inner->sequence) {
            kind = BY_KIND_OPTIONAL_SEQUENCE;
            inner = inner->sequence->elem_type;
        }
    }
    if (!inner || !inner->tensor)
        return 0;
    fact->kind = kind;
    if (!fact->elem)
        fact->elem = inner->tensor->elem_type;
    return fact->shape
               ? 0
               : by_shape_from_msg(&infer->model->arena, inner->tensor->shape, &fact->shape, err);
}

static int merge_type(struct by_infer *infer, struct baryon_value *value, struct baryon_error *err)
{
    const struct by_type *type = value->info ? value->info->type : NULL;
    if (!type)
        return 0;
    if (type->tensor || type->sparse_tensor)
        return merge_tensor(infer, value, type->tensor ? type->tensor : type->sparse_tensor, err);
    struct by_fact *fact = by_fact_of(infer, value);
    if (type->map)
        fact->kind = BY_KIND_MAP;
    if (type->map && type->map->value_type && type->map->value_type->tensor)
        fact->elem = type->map->value_type->tensor->elem_type;
    return type->sequence || type->optional ? merge_container(infer, fact, type, err) : 0;
}

/* Joins what a rule found with what the model declares, and with what a run has shown. */
static int merge_declared(struct by_infer *infer, struct baryon_value *value,
                          struct baryon_error *err)
{
    if (merge_type(infer, value, err))
        return -1;
    if (!infer->seen || value->graph != infer->model->graph)
        return 0;
    return merge_shape(infer, value, infer->seen(infer->seen_context, value), err);
}

static void count_value(struct by_infer *infer, const struct baryon_value *value)
{
    infer->result.values++;
    infer->result.typed += value->elem || by_fact_of(infer, value)->kind != BY_KIND_TENSOR;
    infer->result.shaped += value->shape != NULL;
}

static int settle_outputs(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    for (size_t slot = 0; slot < node->output.count; slot++) {
        struct baryon_value *value = by_node_out(node, slot);
        if (!value)
            continue;
        if (merge_declared(infer, value, err))
            return -1;
        const struct by_fact *fact = by_fact_of(infer, value);
        int64_t count;
        if (fact->content &&
            (!by_shape_count(value->shape, &count) || (uint64_t)count != fact->content->count))
            by_fact_of(infer, value)->content = NULL;
    }
    return 0;
}

static void forget_outputs(struct by_infer *infer, struct baryon_node *node)
{
    for (size_t slot = 0; slot < node->output.count; slot++)
        if (by_node_out(node, slot))
            forget(infer, by_node_out(node, slot));
}

/* Graphs that no rule runs: their own declarations have to do. */
static int infer_nested(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_graph *graph;
    struct by_infer_frame frame;
    for (struct by_nested at = {0}; (graph = by_node_nested(node, &at));) {
        if (by_infer_enter(infer, graph, &frame, err))
            return -1;
        const int status = by_infer_graph(infer, err);
        by_infer_leave(infer);
        if (status)
            return -1;
    }
    return 0;
}

static bool runs_graphs(const struct by_opinfo *info)
{
    return info && (info->infer == by_infer_if || info->infer == by_infer_loop ||
                    info->infer == by_infer_scan || info->infer == by_infer_sequence_map);
}

static int apply_rules(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    const struct by_function *function = by_function_of(infer, node);
    if ((function || !runs_graphs(info)) && infer_nested(infer, node, err))
        return -1;
    if (function)
        return by_infer_call(infer, node, function, err);
    if (!info || (info->type_rule == BY_TYPE_NONE && !info->infer)) {
        infer->result.ruleless++;
        return 0;
    }
    if (apply_types(info, node, err))
        return -1;
    return info->infer ? info->infer(infer, node, err) : 0;
}

/* After a rule failed in a nested graph: types by the rule, or else as declared; no shapes. */
static int settle_without_rule(struct by_infer *infer, struct baryon_node *node,
                               struct baryon_error *err)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    by_err_clear(err);
    forget_outputs(infer, node);
    if (info && !apply_types(info, node, err) && !settle_outputs(infer, node, err))
        return 0;
    by_err_clear(err);
    forget_outputs(infer, node);
    return settle_outputs(infer, node, err);
}

/* An error from inside a nested graph has its place already. */
static void place_error(struct baryon_error *err, const struct baryon_node *node)
{
    if (err->place[0])
        return;
    by_err_at_msg(err, node->graph->model, &node->msg);
    by_err_in(err, "node[%zu]", node->index);
    by_err_in_graph(err, node->graph);
}

static int infer_node(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_error local;
    by_err_clear(&local);
    forget_outputs(infer, node);
    if (apply_rules(infer, node, &local) || settle_outputs(infer, node, &local)) {
        const bool forgiven =
            (infer->frame->depth || infer->call_depth) && local.code == BARYON_ERR_INPUT;
        if (!forgiven || settle_without_rule(infer, node, &local)) {
            place_error(&local, node);
            if (err)
                *err = local;
            return -1;
        }
    }
    for (size_t slot = 0; slot < node->output.count; slot++)
        if (by_node_out(node, slot))
            count_value(infer, by_node_out(node, slot));
    return 0;
}

/* Graph inputs with a default can be given another value, but for old models. */
static bool is_fixed_initializer(const struct by_infer *infer, const struct baryon_value *value)
{
    return value->initializer && (!value->is_input || infer->model->ir_version < 4);
}

static int set_source(struct by_infer *infer, struct baryon_value *value, struct baryon_error *err)
{
    const struct baryon_tensor *tensor = value->initializer;
    const struct by_ints *dims = tensor ? &tensor->dims : &value->sparse->dims;
    value->elem = tensor ? tensor->data_type : value->sparse->values->data_type;
    if (by_shape_from_dims(&infer->model->arena, dims->at, dims->count, &value->shape, err))
        return -1;
    if (!is_fixed_initializer(infer, value))
        return 0;
    return by_content_of_tensor(infer, tensor, &by_fact_of(infer, value)->content, err);
}

static int set_sources(struct by_infer *infer, struct baryon_graph *graph, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        if (!value || value->producer)
            continue;
        const bool filled = value->initializer || (value->sparse && value->sparse->values);
        if ((filled && set_source(infer, value, err)) || merge_declared(infer, value, err)) {
            if (value->info)
                by_err_at_msg(err, graph->model, &value->info->msg);
            return by_err_in_graph(err, graph);
        }
        count_value(infer, value);
    }
    return 0;
}

struct by_fact *by_fact_of(const struct by_infer *infer, const struct baryon_value *value)
{
    const struct by_infer_frame *frame = infer->frame;
    while (frame->outer && frame->graph != value->graph)
        frame = frame->outer;
    return &frame->facts[value->index];
}

int by_infer_enter(struct by_infer *infer, struct baryon_graph *graph, struct by_infer_frame *frame,
                   struct baryon_error *err)
{
    struct by_fact *facts = by_alloc_zero(graph->all_values.count, sizeof *facts, err);
    if (!facts)
        return -1;
    *frame = (struct by_infer_frame){graph, facts, infer->frame, 0};
    frame->depth = frame->outer ? frame->outer->depth + 1 : 0;
    infer->frame = frame;
    for (size_t i = 0; i < graph->all_values.count; i++)
        if (graph->all_values.at[i])
            forget(infer, graph->all_values.at[i]);
    return 0;
}

/* Nodes in the wrong order are walked in the right one; the graph stays as it is. */
static int infer_sorted(struct by_infer *infer, struct baryon_graph *graph,
                        struct baryon_error *err)
{
    size_t *order, count;
    int status = 0;
    if (by_graph_order(graph, &order, &count, err))
        return -1;
    for (size_t i = 0; i < count && !status; i++)
        status = infer_node(infer, graph->node.at[order[i]], err);
    by_free(order);
    return status;
}

int by_infer_graph(struct by_infer *infer, struct baryon_error *err)
{
    struct baryon_graph *graph = infer->frame->graph;
    if (set_sources(infer, graph, err))
        return -1;
    if (!by_graph_is_sorted(graph, NULL))
        return infer_sorted(infer, graph, err);
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && infer_node(infer, graph->node.at[i], err))
            return -1;
    return 0;
}

void by_infer_leave(struct by_infer *infer)
{
    by_free(infer->frame->facts);
    infer->frame = infer->frame->outer;
}

struct knowing {
    by_known_fn *visit; /* NULL: nobody asks */
    void *context;
};

static bool all_integers(const struct by_content *content, int64_t *items)
{
    if (!content || content->count > BY_CONTENT_MAX)
        return false;
    for (size_t i = 0; i < content->count; i++) {
        if (content->items[i].kind != BY_ITEM_INT)
            return false;
        items[i] = content->items[i].i;
    }
    return true;
}

static int visit_known(const struct by_infer *infer, const struct knowing *knowing,
                       struct baryon_error *err)
{
    const struct baryon_graph *graph = infer->frame->graph;
    int64_t items[BY_CONTENT_MAX];
    for (size_t i = 0; knowing->visit && i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        const struct by_content *content = value ? infer->frame->facts[i].content : NULL;
        if (value && value->producer && by_shape_is_static(value->shape) &&
            all_integers(content, items) &&
            knowing->visit(knowing->context, value, items, content->count, err))
            return -1;
    }
    return 0;
}

static int infer_model(struct by_infer *infer, const struct knowing *knowing,
                       struct baryon_error *err)
{
    struct by_infer_frame frame;
    if (by_functions_open(infer->functions, infer->model, &infer->scratch, err) ||
        by_infer_enter(infer, infer->model->graph, &frame, err))
        return -1;
    int status = by_infer_graph(infer, err);
    if (!status)
        status = visit_known(infer, knowing, err);
    by_infer_leave(infer);
    return status;
}

static int run_infer(struct by_infer *infer, struct baryon_model *model,
                     const struct knowing *knowing, struct baryon_error *err)
{
    struct by_functions functions = {0};
    infer->model = model;
    infer->functions = &functions;
    infer->opset = by_model_opset(model, "");
    by_arena_init(&infer->scratch, 0);
    const int status = model->graph ? infer_model(infer, knowing, err) : 0;
    by_functions_close(&functions);
    infer->functions = NULL;
    by_arena_release(&infer->scratch);
    return status;
}

int by_model_infer(struct baryon_model *model, struct by_infer_result *result,
                   struct baryon_error *err)
{
    const struct knowing nobody = {0};
    struct by_infer infer = {0};
    const int status = run_infer(&infer, model, &nobody, err);
    if (!status && result)
        *result = infer.result;
    return status;
}

int by_model_infer_known(struct baryon_model *model, by_known_fn *visit, void *context,
                         struct baryon_error *err)
{
    const struct knowing knowing = {visit, context};
    struct by_infer infer = {0};
    return run_infer(&infer, model, &knowing, err);
}

int by_model_infer_seen(struct baryon_model *model, by_seen_fn *seen, void *context,
                        struct baryon_error *err)
{
    const struct knowing nobody = {0};
    struct by_infer infer = {.seen = seen, .seen_context = context};
    return run_infer(&infer, model, &nobody, err);
}
