/*
 * Taps in a model, for as long as it is being opened: its messages get other lists and
 * other names, and then those that they had. So nothing is left that saving could see,
 * and taking out cannot fail.
 */
#include "base/format.h"
#include "engine/tap_internal.h"
#include "ir/graph.h"

#include <string.h>

static struct baryon_value *find_value(const struct baryon_model *model, const char *name)
{
    return by_map_get(&model->graph->values, name);
}

/* --- checking --- */

/* A tap would also keep the runtime from preparing it as a weight. */
static bool is_tap_constant(const struct baryon_value *value)
{
    return value->initializer || value->sparse ||
           (value->producer && by_node_is(value->producer, "Constant"));
}

static bool is_no_tensor(const struct baryon_value *value)
{
    return value->info && value->info->type && !value->info->type->tensor &&
           (value->info->type->sequence || value->info->type->optional || value->info->type->map ||
            value->info->type->opaque || value->info->type->sparse_tensor);
}

static int check_value(const struct baryon_model *model, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct baryon_value *value = find_value(model, name);
    by_quote(quoted, name);
    if (!value)
        return by_fail(err, BARYON_ERR_USAGE, "the model has no tensor %s", quoted);
    if (is_tap_constant(value))
        return by_fail(err, BARYON_ERR_USAGE, "value %s is a constant, must depend on samples",
                       quoted);
    if (is_no_tensor(value))
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "value %s is not a tensor", quoted);
    return 0;
}

static int check_opsets(const struct by_ptrs *opsets, struct baryon_error *err)
{
    for (size_t i = 0; i < opsets->count; i++) {
        const struct by_opset *opset = opsets->at[i];
        if (strcmp(by_domain(opset->domain), BY_TAP_DOMAIN) == 0)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "the model imports the domain '%s', which is reserved", BY_TAP_DOMAIN);
    }
    return 0;
}

static int check_tap_domain(void *context, struct baryon_graph *graph, unsigned depth,
                            struct baryon_error *err)
{
    (void)context, (void)depth;
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (strcmp(by_domain(node->domain), BY_TAP_DOMAIN) == 0)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "the model has nodes of the domain '%s', which is reserved",
                           BY_TAP_DOMAIN);
    }
    return 0;
}

/* A node of the model must not pass for one of ours. */
static int check_domain(const struct baryon_model *model, struct baryon_error *err)
{
    if (check_opsets(&model->opset_import, err))
        return -1;
    for (size_t i = 0; i < model->functions.count; i++) {
        const struct by_function *function = model->functions.at[i];
        if (check_opsets(&function->opset_import, err))
            return -1;
    }
    return by_model_each_graph((struct baryon_model *)(uintptr_t)model, check_tap_domain, NULL,
                               err);
}

int by_taps_check(const struct by_tapped *tapped, const struct baryon_model *model,
                  struct baryon_error *err)
{
    if (check_domain(model, err))
        return -1;
    for (size_t i = 0; i < tapped->count; i++) {
        const struct by_tap_point *tap = &tapped->taps[i];
        if (!tap->count)
            return by_fail(err, BARYON_ERR_USAGE, "tap %zu has no tensor name", i);
        if (tap->hands && (tap->count < 2 || tap->hands > tap->count || tap->hands > BY_TAP_HANDS))
            return by_fail(err, BARYON_ERR_USAGE, "tap %zu returns %zu of %zu tensors, %s", i,
                           tap->hands, tap->count, "must be at most as many");
        for (size_t k = 0; k < tap->count; k++)
            if (check_value(model, tap->values[k].name, err))
                return -1;
    }
    return 0;
}

const char *by_tap_source(const struct by_tap_point *tap, size_t index)
{
    return index == 0 && tap->blocked ? tap->blocked : tap->values[index].name;
}

static void begin_edit(struct by_tap_edit *edit, struct baryon_model *model)
{
    edit->model = model;
    edit->opsets = model->opset_import;
    edit->nodes = model->graph->node;
    edit->outputs = model->graph->output;
}

/* --- showing --- */

static int add_graph_output(struct by_tap_edit *edit, struct by_ptrs *outputs, const char *name,
                            struct baryon_error *err)
{
    struct by_value_info *info = BY_ARENA_NEW(&edit->arena, struct by_value_info, err);
    if (!info || by_list_reserve(&edit->arena, outputs, 1, sizeof(void *), err))
        return -1;
    info->name = name;
    outputs->at[outputs->count++] = info;
    return 0;
}

static int show_once(struct by_tap_edit *edit, struct by_ptrs *outputs, bool *shown,
                     const struct baryon_value *value, struct baryon_error *err)
{
    if (!value->producer || by_value_is_output(value) || shown[value->index])
        return 0;
    shown[value->index] = true;
    return add_graph_output(edit, outputs, value->name, err);
}

int by_taps_show(struct by_tap_edit *edit, const struct by_tapped *tapped,
                 struct baryon_model *model, struct baryon_error *err)
{
    const struct by_ptrs *old = &model->graph->output;
    struct by_ptrs outputs = {0};
    bool *shown = by_arena_alloc(&edit->arena, model->graph->all_values.count, sizeof *shown, err);
    if (!shown || by_list_reserve(&edit->arena, &outputs, old->count + 1, sizeof(void *), err))
        return -1;
    for (size_t i = 0; i < old->count; i++)
        outputs.at[outputs.count++] = old->at[i];
    for (size_t i = 0; i < tapped->count; i++)
        for (size_t k = 0; k < tapped->taps[i].count; k++)
            if (show_once(edit, &outputs, shown, find_value(model, tapped->taps[i].values[k].name),
                          err))
                return -1;
    begin_edit(edit, model);
    model->graph->output = outputs;
    return 0;
}

/* --- putting in --- */

/* Nodes that stand after a node of the model, or at the end. */
struct chain {
    struct link {
        struct baryon_node *node;
        struct link *next;
    } * first, **end;
};

struct builder {
    struct by_tap_edit *edit;
    struct by_tapped *tapped;
    struct baryon_model *model;
    const char **shown;   /* of each value: the name that its readers see; NULL: its own */
    struct chain *behind; /* each node; one more: the end */
    size_t names;         /* tried so far */
};

static int add_name(struct builder *builder, struct by_names *names, const char *name,
                    struct baryon_error *err)
{
    if (!name || by_list_reserve(&builder->edit->arena, names, 1, sizeof name, err))
        return -1;
    names->at[names->count++] = name;
    return 0;
}

static int add_index(struct builder *builder, struct baryon_node *node, size_t index,
                     struct baryon_error *err)
{
    struct by_arena *arena = &builder->edit->arena;
    struct baryon_attribute *attr = BY_ARENA_NEW(arena, struct baryon_attribute, err);
    if (!attr || by_list_reserve(arena, &node->attribute, 1, sizeof attr, err))
        return -1;
    attr->msg.has = BY_HAS_ATTR_I;
    attr->name = BY_TAP_INDEX;
    attr->type = BY_ATTR_INT;
    attr->i = (int64_t)index;
    node->attribute.at[node->attribute.count++] = attr;
    return 0;
}

/* A name that the model does not know, without telling it of the name. */
static const char *new_name(struct builder *builder, struct baryon_error *err)
{
    char name[48];
    do
        by_format(name, sizeof name, "%s_%zu", BY_TAP_DOMAIN, builder->names++);
    while (by_map_get(&builder->model->names.map, name));
    return by_arena_text(&builder->edit->arena, name, strlen(name), err);
}

/* A node without inputs yet, that goes after the node of that place; its output has a new name. */
static struct baryon_node *new_node(struct builder *builder, const char *op_type, size_t place,
                                    struct baryon_error *err)
{
    struct by_arena *arena = &builder->edit->arena;
    struct baryon_node *node = BY_ARENA_NEW(arena, struct baryon_node, err);
    struct link *link = node ? BY_ARENA_NEW(arena, struct link, err) : NULL;
    const char *name = link ? new_name(builder, err) : NULL;
    if (!name || add_name(builder, &node->output, name, err))
        return NULL;
    node->name = name;
    node->op_type = op_type;
    node->domain = BY_TAP_DOMAIN;
    link->node = node;
    struct chain *chain = &builder->behind[place];
    *(chain->end ? chain->end : &chain->first) = link;
    chain->end = &link->next;
    return node;
}

static const char *shown_name(const struct builder *builder, const struct baryon_value *value)
{
    const char *shown = builder->shown[value->index];
    return shown ? shown : value->name;
}

static int put_through(struct builder *builder, size_t index, const struct baryon_value *value,
                       struct baryon_error *err)
{
    struct baryon_node *node = new_node(builder, BY_TAP_THROUGH, value->producer->index, err);
    if (!node || add_index(builder, node, index, err) ||
        add_name(builder, &node->input, shown_name(builder, value), err))
        return -1;
    builder->shown[value->index] = node->output.at[0];
    return 0;
}

static size_t place_of_last(const struct builder *builder, const struct by_tap_point *tap)
{
    size_t place = 0;
    for (size_t i = 0; i < tap->count; i++) {
        const struct baryon_value *value = find_value(builder->model, tap->values[i].name);
        if (value->producer && value->producer->index > place)
            place = value->producer->index;
    }
    return place;
}

/* Readers may stand before it in the list: the runtime goes by what needs what. */
static int put_several(struct builder *builder, size_t index, struct baryon_error *err)
{
    const struct by_tap_point *tap = &builder->tapped->taps[index];
    struct baryon_node *node = new_node(builder, BY_TAP_SEVERAL, place_of_last(builder, tap), err);
    if (!node || add_index(builder, node, index, err))
        return -1;
    for (size_t i = 0; i < tap->count; i++)
        if (add_name(builder, &node->input,
                     shown_name(builder, find_value(builder->model, tap->values[i].name)), err))
            return -1;
    for (size_t i = 0; i < tap->hands; i++) {
        const struct baryon_value *value = find_value(builder->model, tap->values[i].name);
        if (i && add_name(builder, &node->output, new_name(builder, err), err))
            return -1;
        builder->shown[value->index] = node->output.at[i];
    }
    return 0;
}

static int put_beside(struct builder *builder, size_t index, struct baryon_error *err)
{
    const struct by_tap_point *tap = &builder->tapped->taps[index];
    struct baryon_node *node =
        new_node(builder, BY_TAP_BESIDE, builder->model->graph->node.count, err);
    if (!node || add_index(builder, node, index, err))
        return -1;
    for (size_t i = 0; i < tap->count; i++) {
        const struct baryon_value *value = find_value(builder->model, by_tap_source(tap, i));
        if (add_name(builder, &node->input, shown_name(builder, value), err))
            return -1;
    }
    return 0;
}

/* Outputs have to keep their names and inputs belong to the caller. */
static bool is_inner(const struct baryon_value *value)
{
    return value->producer && !by_value_is_output(value);
}

static bool can_hand_on(const struct builder *builder, const struct by_tap_point *tap)
{
    for (size_t i = 0; i < tap->hands; i++) {
        const struct baryon_value *value = find_value(builder->model, tap->values[i].name);
        if (by_value_is_output(value) || is_tap_constant(value))
            return false;
    }
    return tap->hands > 0;
}

static int put_tap(struct builder *builder, size_t index, struct baryon_error *err)
{
    struct by_tap_point *tap = &builder->tapped->taps[index];
    const struct baryon_value *value = find_value(builder->model, by_tap_source(tap, 0));
    if (tap->count > 1) {
        tap->through = can_hand_on(builder, tap);
        return tap->through ? put_several(builder, index, err) : 0;
    }
    tap->through = is_inner(value);
    return tap->through ? put_through(builder, index, value, err) : 0;
}

/* Those beside come last, so that they read what readers see. */
static int put_taps(struct builder *builder, struct baryon_error *err)
{
    struct by_tapped *tapped = builder->tapped;
    for (size_t i = 0; i < tapped->count; i++)
        if (put_tap(builder, i, err))
            return -1;
    for (size_t i = 0; i < tapped->count; i++)
        if (!tapped->taps[i].through && put_beside(builder, i, err))
            return -1;
    return 0;
}

static int put_done(struct builder *builder, struct baryon_error *err)
{
    struct by_tap_edit *edit = builder->edit;
    struct by_ptrs outputs = {0};
    struct by_value_info *info = BY_ARENA_NEW(&edit->arena, struct by_value_info, err);
    struct baryon_node *node =
        new_node(builder, BY_TAP_DONE, builder->model->graph->node.count, err);
    if (!info || !node ||
        by_list_reserve(&edit->arena, &outputs, edit->outputs.count + 1, sizeof(void *), err))
        return -1;
    info->name = node->output.at[0];
    for (size_t i = 0; i < edit->outputs.count; i++)
        outputs.at[outputs.count++] = edit->outputs.at[i];
    outputs.at[outputs.count++] = info;
    builder->model->graph->output = outputs;
    builder->tapped->done_name =
        by_arena_text(&builder->tapped->arena, info->name, strlen(info->name), err);
    return builder->tapped->done_name ? 0 : -1;
}

static const char **name_place_of_use(const struct by_use *use)
{
    if (use->node)
        return &use->node->input.at[use->slot];
    struct by_value_info *info = use->graph->output.at[use->slot];
    return &info->name;
}

static int rename_uses(struct builder *builder, const struct baryon_value *value,
                       struct baryon_error *err)
{
    struct by_renamed_list *renamed = &builder->edit->renamed;
    if (by_list_reserve(&builder->edit->arena, renamed, value->use_count, sizeof *renamed->at, err))
        return -1;
    for (size_t i = 0; i < value->use_count; i++) {
        const char **place = name_place_of_use(&value->uses[i]);
        renamed->at[renamed->count++] = (struct by_renamed){place, *place};
        *place = builder->shown[value->index];
    }
    return 0;
}

static int rename_all(struct builder *builder, struct baryon_error *err)
{
    const struct by_ptrs *values = &builder->model->graph->all_values;
    for (size_t i = 0; i < values->count; i++)
        if (builder->shown[i] && rename_uses(builder, values->at[i], err))
            return -1;
    return 0;
}

static void append_chain(struct by_ptrs *nodes, const struct chain *chain)
{
    for (const struct link *link = chain->first; link; link = link->next)
        nodes->at[nodes->count++] = link->node;
}

static int join_nodes(struct builder *builder, struct baryon_error *err)
{
    const struct by_ptrs *old = &builder->edit->nodes;
    struct by_ptrs nodes = {0};
    if (by_list_reserve(&builder->edit->arena, &nodes, old->count + builder->tapped->count + 1,
                        sizeof(void *), err))
        return -1;
    for (size_t i = 0; i < old->count; i++) {
        nodes.at[nodes.count++] = old->at[i];
        append_chain(&nodes, &builder->behind[i]);
    }
    append_chain(&nodes, &builder->behind[old->count]);
    builder->model->graph->node = nodes;
    return 0;
}

static int import_domain(struct builder *builder, struct baryon_error *err)
{
    struct by_tap_edit *edit = builder->edit;
    struct by_ptrs opsets = {0};
    struct by_opset *opset = BY_ARENA_NEW(&edit->arena, struct by_opset, err);
    if (!opset ||
        by_list_reserve(&edit->arena, &opsets, edit->opsets.count + 1, sizeof(void *), err))
        return -1;
    opset->domain = BY_TAP_DOMAIN;
    opset->version = 1;
    for (size_t i = 0; i < edit->opsets.count; i++)
        opsets.at[opsets.count++] = edit->opsets.at[i];
    opsets.at[opsets.count++] = opset;
    builder->model->opset_import = opsets;
    return 0;
}

int by_taps_put_in(struct by_tap_edit *edit, struct by_tapped *tapped, struct baryon_model *model,
                   struct baryon_error *err)
{
    struct baryon_graph *graph = model->graph;
    struct builder builder = {.edit = edit, .tapped = tapped, .model = model};
    builder.shown =
        by_arena_alloc(&edit->arena, graph->all_values.count, sizeof *builder.shown, err);
    builder.behind =
        by_arena_alloc(&edit->arena, graph->node.count + 1, sizeof *builder.behind, err);
    if (!builder.shown || !builder.behind)
        return -1;
    begin_edit(edit, model);
    if (put_taps(&builder, err) || put_done(&builder, err) || rename_all(&builder, err) ||
        join_nodes(&builder, err))
        return -1;
    return import_domain(&builder, err);
}

void by_taps_take_out(struct by_tap_edit *edit)
{
    if (!edit->model)
        return;
    while (edit->renamed.count) {
        const struct by_renamed *renamed = &edit->renamed.at[--edit->renamed.count];
        *renamed->place = renamed->old;
    }
    edit->model->opset_import = edit->opsets;
    edit->model->graph->node = edit->nodes;
    edit->model->graph->output = edit->outputs;
}
