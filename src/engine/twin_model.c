/* Lists and names of messages change, payloads are shared: the models are not good for anything
 * else afterwards. */
#include "engine/twin_internal.h"

#include <stdio.h>
#include <string.h>

/* --- What stands for what --- */

int by_twin_side_open(struct by_twin_side *side, const struct baryon_model *exact,
                      struct baryon_model *model, bool local, struct baryon_error *err)
{
    const struct by_ptrs *values = &exact->graph->all_values;
    *side = (struct by_twin_side){.model = model, .local = local};
    side->same = by_alloc_zero(values->count + 1, sizeof(void *), err);
    if (!side->same)
        return -1;
    side->same_count = values->count;
    for (size_t i = 0; i < values->count; i++) {
        const struct baryon_value *value = values->at[i];
        if (value)
            side->same[i] = by_map_get(&model->graph->values, value->name);
    }
    return 0;
}

void by_twin_side_close(struct by_twin_side *side)
{
    by_free((void *)side->same);
    *side = (struct by_twin_side){0};
}

/* --- Names --- */

static bool same_span(struct by_span one, struct by_span other)
{
    return one.data == other.data && one.size == other.size;
}

static bool same_tensor(const struct baryon_tensor *one, const struct baryon_tensor *other)
{
    return one && other && one->data_type == other->data_type && !one->string_data.count &&
           one->dims.count == other->dims.count &&
           (!one->dims.count ||
            !memcmp(one->dims.at, other->dims.at, one->dims.count * sizeof *one->dims.at)) &&
           same_span(one->raw_data, other->raw_data) &&
           same_span(one->float_data, other->float_data) &&
           same_span(one->int32_data, other->int32_data) &&
           same_span(one->int64_data, other->int64_data) &&
           same_span(one->double_data, other->double_data) &&
           same_span(one->uint64_data, other->uint64_data) &&
           same_span(one->external, other->external);
}

/* Inputs are given once, and so are constants that are the same ones. */
static bool is_shared(const struct baryon_model *exact, const struct baryon_value *value)
{
    const struct baryon_value *like = by_map_get(&exact->graph->values, value->name);
    if (!like || value->producer || like->producer)
        return false;
    return value->initializer || like->initializer
               ? same_tensor(value->initializer, like->initializer)
               : value->is_input && like->is_input;
}

static int rename_values(const struct baryon_model *exact, struct baryon_model *model,
                         size_t number, struct baryon_error *err)
{
    const struct by_ptrs *values = &model->graph->all_values;
    char name[BY_NAME_MAX + 32];
    for (size_t i = 0; i < values->count; i++) {
        struct baryon_value *value = values->at[i];
        if (!value || is_shared(exact, value))
            continue;
        value->pinned = false; /* by training information, of which nothing is run */
        snprintf(name, sizeof name, "baryon.twin%zu/%s", number, value->name);
        if (by_value_rename(value, name, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Local: readers go by the model --- */

static void read_instead(const struct baryon_value *value, const char *name)
{
    for (size_t i = 0; i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        struct by_value_info *info =
            use->node ? NULL : (struct by_value_info *)use->graph->output.at[use->slot];
        if (use->node)
            use->node->input.at[use->slot] = name;
        else
            info->name = name;
    }
}

static void make_local(const struct baryon_model *exact, const struct by_twin_side *side)
{
    const struct by_ptrs *values = &exact->graph->all_values;
    for (size_t i = 0; i < side->same_count; i++) {
        const struct baryon_value *value = values->at[i], *same = side->same[i];
        if (value && value->producer && same && same->graph && same->producer)
            read_instead(same, value->name);
    }
}

/* --- Joining --- */

static int append(struct baryon_model *model, struct by_ptrs *to, void *item,
                  struct baryon_error *err)
{
    if (by_list_reserve(&model->arena, to, 1, sizeof item, err) < 0)
        return -1;
    to->at[to->count++] = item;
    return 0;
}

/* The runtime takes a name for one node only. */
static int append_nodes(struct baryon_model *exact, const struct by_ptrs *nodes,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < nodes->count; i++) {
        struct baryon_node *node = nodes->at[i];
        node->name = NULL;
        if (append(exact, &exact->graph->node, node, err) < 0)
            return -1;
    }
    return 0;
}

/* Those that were not renamed are there already. */
static int append_constants(struct baryon_model *exact, const struct baryon_model *model,
                            struct baryon_error *err)
{
    const struct by_ptrs *values = &model->graph->all_values;
    for (size_t i = 0; i < values->count; i++) {
        const struct baryon_value *value = values->at[i];
        if (!value || is_shared(exact, value))
            continue;
        if (value->initializer &&
            append(exact, &exact->graph->initializer, value->initializer, err) < 0)
            return -1;
        if (value->sparse &&
            append(exact, &exact->graph->sparse_initializer, value->sparse, err) < 0)
            return -1;
    }
    return 0;
}

static bool has_function(const struct baryon_model *model, const struct by_function *wanted)
{
    for (size_t i = 0; i < model->functions.count; i++) {
        const struct by_function *function = model->functions.at[i];
        if (!strcmp(function->name, wanted->name) &&
            !strcmp(by_domain(function->domain), by_domain(wanted->domain)) &&
            !strcmp(function->overload ? function->overload : "",
                    wanted->overload ? wanted->overload : ""))
            return true;
    }
    return false;
}

static struct by_opset *opset_of(const struct baryon_model *model, const char *domain)
{
    for (size_t i = 0; i < model->opset_import.count; i++) {
        struct by_opset *opset = model->opset_import.at[i];
        if (!strcmp(by_domain(opset->domain), by_domain(domain)))
            return opset;
    }
    return NULL;
}

static int join_header(struct baryon_model *exact, const struct baryon_model *model,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < model->opset_import.count; i++) {
        struct by_opset *opset = model->opset_import.at[i];
        struct by_opset *has = opset_of(exact, opset->domain);
        if (!has && append(exact, &exact->opset_import, opset, err) < 0)
            return -1;
        if (has && has->version < opset->version)
            has->version = opset->version;
    }
    for (size_t i = 0; i < model->functions.count; i++)
        if (!has_function(exact, model->functions.at[i]) &&
            append(exact, &exact->functions, model->functions.at[i], err) < 0)
            return -1;
    if (exact->ir_version < model->ir_version)
        exact->ir_version = model->ir_version;
    return 0;
}

int by_twin_join(struct baryon_model *exact, const struct by_twin_side *side, size_t number,
                 struct baryon_error *err)
{
    struct baryon_model *model = side->model;
    if (by_model_settle(model, err) < 0 || rename_values(exact, model, number, err) < 0)
        return -1;
    if (side->local)
        make_local(exact, side);
    if (append_constants(exact, model, err) < 0 || join_header(exact, model, err) < 0)
        return -1;
    return append_nodes(exact, &model->graph->node, err);
}

/* --- Cutting --- */

static int want(struct baryon_model *exact, const char *name, struct baryon_error *err)
{
    struct baryon_value *value = by_map_get(&exact->graph->values, name);
    if (!value)
        return by_fail(err, BARYON_ERR_INTERNAL, "the joined model has no tensor '%s'", name);
    return value->producer && !by_value_is_output(value) ? by_graph_add_output(value, NULL, err)
                                                         : 0;
}

int by_twin_cut(struct baryon_model *exact, const struct by_twin_set *sets, size_t count,
                struct baryon_error *err)
{
    struct baryon_graph *graph = exact->graph;
    by_model_unlink(exact);
    graph->output.count = 0;
    graph->value_info = graph->annotation = exact->training_info = (struct by_ptrs){0};
    if (by_model_link(exact, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k <= sets[i].others; k++)
            if (want(exact, sets[i].names[k], err) < 0)
                return -1;
    if (by_graph_prune(graph, NULL, err) < 0 || by_model_settle(exact, err) < 0)
        return -1;
    by_model_unlink(exact);
    graph->output.count = 0;
    return by_model_link(exact, err);
}
