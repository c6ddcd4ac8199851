/*
 * Lets sessions with a part of the sources begin where the first of these is. What lies before is
 * the float model's, whatever is switched, so it is run once for each sample and given as inputs.
 */
#include "search/decision_internal.h"

#include "engine/pair.h"
#include "ir/infer.h"
#include "ir/shape.h"
#include "quant/lower.h"
#include "trial/draft.h"

#include <string.h>

#define BYTES ((size_t)256 << 20) /* of all values that are kept */

struct begin_value {
    const char *name;
    struct by_array *arrays; /* by sample that is measured on */
    bool same_shape;
};

struct by_begins {
    const struct by_decisions *d;
    struct by_arena arena;
    struct {
        struct begin_value *at;
        size_t count, cap;
    } values;
    struct by_map by_name;
};

/* --- What is before and after --- */

/* By node: it gives something else from sample to sample; a source changes what it gives. */
struct sides {
    bool *varies, *changes;
};

static int open_sides(struct sides *sides, const struct baryon_graph *graph,
                      struct baryon_error *err)
{
    sides->varies = by_alloc_zero(graph->node.count + 1, sizeof *sides->varies, err);
    sides->changes = by_alloc_zero(graph->node.count + 1, sizeof *sides->changes, err);
    return sides->varies && sides->changes ? 0 : -1;
}

static void close_sides(struct sides *sides)
{
    by_free(sides->varies);
    by_free(sides->changes);
}

/* To nodes that read the value, also in graphs that are nested in them. */
static void mark_users(const struct baryon_graph *graph, const struct baryon_value *value,
                       bool *marks)
{
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *user = by_use_reader(&value->uses[i], graph);
        if (user)
            marks[user->index] = true;
    }
}

static bool is_switch(const struct baryon_node *node)
{
    return by_node_is_pair(node) || by_node_is(node, "Where");
}

/* What gives the value, through what switches it. */
static void mark_producers(const struct baryon_graph *graph, const struct baryon_value *value,
                           bool *marks)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    if (!node || node->graph != graph)
        return;
    marks[node->index] = true;
    for (size_t slot = 0; is_switch(node) && slot < node->input.count; slot++)
        mark_producers(graph, by_node_in(node, slot), marks);
}

/* What gives an output, or what else is judged, is in each session: where no source changes it, it
 * is computed from values before it that are kept. */
static int mark_outputs(const struct by_decisions *d, struct baryon_graph *graph,
                        struct sides *sides, struct baryon_error *err)
{
    struct baryon_value **values =
        by_alloc(graph->output.count + BY_JUDGE_MORE, sizeof(void *), err);
    if (!values)
        return -1;
    const size_t count = by_judge_values(d->judge, graph, values);
    for (size_t i = 0; i < count; i++)
        mark_producers(graph, values[i], sides->changes);
    by_free((void *)values);
    return 0;
}

/* From the nodes that are marked, to all after them; the graph is sorted. */
static void spread(const struct baryon_graph *graph, struct sides *sides)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value && value->is_input && !value->initializer)
            mark_users(graph, value, sides->varies);
    }
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        for (size_t slot = 0; slot < node->output.count; slot++) {
            const struct baryon_value *value = by_node_out(node, slot);
            if (value && sides->varies[i])
                mark_users(graph, value, sides->varies);
            if (value && sides->changes[i])
                mark_users(graph, value, sides->changes);
        }
    }
}

/* A value that is computed before all sources, and read after one. */
static bool crosses(const struct sides *sides, const struct baryon_node *reader,
                    const struct baryon_value *value)
{
    return value && value->producer && sides->changes[reader->index] &&
           sides->varies[value->producer->index] && !sides->changes[value->producer->index];
}

/* --- In the float model --- */

static void mark_readers(const struct by_decisions *d, const struct baryon_graph *graph,
                         size_t begin, size_t end, struct sides *sides)
{
    const struct by_quant_plan *plan = d->q->plan;
    memset(sides->changes, 0, graph->node.count * sizeof *sides->changes);
    for (size_t i = 0; i < plan->rows.count; i++) {
        const size_t source = d->work->source_of[i];
        const struct baryon_value *value = source != BY_NONE && source >= begin && source < end
                                               ? by_graph_value(graph, plan->rows.at[i].value->name)
                                               : NULL;
        if (value)
            mark_users(graph, value, sides->changes);
    }
}

static int add_value(struct by_begins *begins, struct baryon_value *value, struct baryon_error *err)
{
    if (by_map_get(&begins->by_name, value->name) || !value->elem)
        return 0;
    if (by_list_reserve(&begins->arena, &begins->values, 1, sizeof *begins->values.at, err) < 0)
        return -1;
    struct begin_value *at = &begins->values.at[begins->values.count];
    at->name = by_arena_text(&begins->arena, value->name, strlen(value->name), err);
    if (!at->name || by_map_put(&begins->by_name, at->name, value, err) < 0)
        return -1;
    begins->values.count++;
    return 0;
}

static int find_values(struct by_begins *begins, struct baryon_graph *graph, const size_t *starts,
                       size_t parts, struct baryon_error *err)
{
    struct sides sides = {0};
    int status = open_sides(&sides, graph, err);
    for (size_t part = 0; status == 0 && part < parts; part++) {
        mark_readers(begins->d, graph, starts[part], starts[part + 1], &sides);
        status = mark_outputs(begins->d, graph, &sides, err);
        spread(graph, &sides);
        for (size_t i = 0; i < graph->node.count; i++) {
            struct baryon_node *node = graph->node.at[i];
            for (size_t slot = 0; status == 0 && slot < node->input.count; slot++)
                if (crosses(&sides, node, by_node_in(node, slot)))
                    status = add_value(begins, by_node_in(node, slot), err);
        }
    }
    close_sides(&sides);
    return status;
}

static int show_values(const struct by_begins *begins, struct baryon_model *model,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < begins->values.count; i++) {
        struct baryon_value *value = by_graph_value(model->graph, begins->values.at[i].name);
        struct by_type *type = value->output_count || value->info
                                   ? NULL
                                   : by_type_tensor(model, value->elem, value->shape, err);
        if (!value->output_count &&
            ((!value->info && !type) || by_graph_add_output(value, type, err) < 0))
            return -1;
    }
    return 0;
}

/* --- Running it --- */

struct running {
    struct by_begins *begins;
    struct by_session *session;
    const char **names;
};

static int keep_array(struct by_begins *begins, const struct by_array *from, struct by_array *to,
                      struct baryon_error *err)
{
    void *data = by_alloc(from->size + 1, 1, err);
    if (!data)
        return -1;
    (void)begins;
    *to = *from;
    to->data = data;
    if (from->size)
        memcpy(data, from->data, from->size);
    return 0;
}

static int run_sample(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct running *running = context;
    struct by_begins *begins = running->begins;
    const struct by_decisions *d = begins->d;
    const size_t first = by_judge_kept(d->judge) - by_judge_count(d->judge);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct by_run *run;
        size_t count;
        const struct by_array *inputs = by_judge_inputs(d->judge, first + d->measured[i], &count);
        if (by_session_run(running->session, inputs, count, running->names, begins->values.count,
                           &run, err) < 0)
            return -1;
        const struct by_array *outputs = by_run_outputs(run, &count);
        int status = 0;
        for (size_t k = 0; status == 0 && k < count; k++)
            status = keep_array(begins, &outputs[k], &begins->values.at[k].arrays[i], err);
        by_run_free(run);
        if (status < 0)
            return -1;
    }
    return 0;
}

static int run_samples(struct by_begins *begins, struct baryon_model *model,
                       struct baryon_error *err)
{
    const struct by_decisions *d = begins->d;
    const size_t count = begins->values.count;
    struct by_session_options options = d->q->options->calibrate.session;
    struct running running = {.begins = begins};
    options.threads = options.branches = 1; /* results do not depend on how many there are */
    options.optimization = -1;
    options.shares_memory = true;
    running.names = by_arena_alloc(&begins->arena, count, sizeof *running.names, err);
    for (size_t i = 0; running.names && i < count; i++) {
        running.names[i] = begins->values.at[i].name;
        begins->values.at[i].arrays =
            by_arena_alloc(&begins->arena, d->samples, sizeof *begins->values.at[i].arrays, err);
        if (!begins->values.at[i].arrays)
            return -1;
        memset(begins->values.at[i].arrays, 0, d->samples * sizeof *begins->values.at[i].arrays);
    }
    if (!running.names || by_session_open_model(&running.session, model, 0, &options, err) < 0)
        return -1;
    const int status = by_par_for(d->q->pool, d->samples, 1, run_sample, &running, err);
    by_session_close(running.session);
    return status;
}

static bool is_same_shape(const struct by_array *one, const struct by_array *other)
{
    return one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

/* Whether all have room; what would take too much is not kept. */
static bool have_room(struct by_begins *begins)
{
    size_t bytes = 0;
    for (size_t i = 0; i < begins->values.count; i++) {
        struct begin_value *value = &begins->values.at[i];
        value->same_shape = true;
        for (size_t k = 0; k < begins->d->samples; k++) {
            bytes += value->arrays[k].size;
            value->same_shape =
                value->same_shape && is_same_shape(&value->arrays[0], &value->arrays[k]);
        }
    }
    return bytes <= BYTES;
}

void by_begins_close(struct by_begins *begins)
{
    if (!begins)
        return;
    for (size_t i = 0; i < begins->values.count; i++)
        for (size_t k = 0; begins->values.at[i].arrays && k < begins->d->samples; k++)
            by_free((void *)(uintptr_t)begins->values.at[i].arrays[k].data);
    by_map_release(&begins->by_name);
    by_arena_release(&begins->arena);
    by_free(begins);
}

static int fill_begins(struct by_begins *begins, const size_t *starts, size_t parts, bool *any,
                       struct baryon_error *err)
{
    struct by_draft draft;
    int status = by_draft_open_planned(&draft, &begins->d->q->floats, NULL, 0, NULL, err);
    *any = false;
    if (status == 0) {
        status = find_values(begins, draft.model->graph, starts, parts, err);
        *any = status == 0 && begins->values.count > 0;
    }
    if (*any) {
        status = show_values(begins, draft.model, err);
        if (status == 0)
            status = run_samples(begins, draft.model, err);
        *any = status == 0 && have_room(begins);
    }
    by_draft_close(&draft);
    return status;
}

int by_begins_open(struct by_begins **out, const struct by_decisions *d, const size_t *starts,
                   size_t parts, struct baryon_error *err)
{
    bool any;
    *out = NULL;
    struct by_begins *begins = by_alloc_zero(1, sizeof *begins, err);
    if (!begins)
        return -1;
    begins->d = d;
    by_arena_init(&begins->arena, 0);
    by_map_init(&begins->by_name);
    const int status = fill_begins(begins, starts, parts, &any, err);
    if (status < 0 || !any)
        by_begins_close(begins);
    else
        *out = begins;
    return status;
}

/* --- In a model with switches --- */

static bool is_of_samples(const struct by_decisions *d, const char *name)
{
    size_t count;
    const struct by_array *inputs =
        by_judge_inputs(d->judge, by_judge_kept(d->judge) - by_judge_count(d->judge), &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(inputs[i].name, name))
            return true;
    return false;
}

static void mark_switched(const struct by_decisions *d, const struct baryon_graph *graph,
                          struct sides *sides)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        for (size_t slot = 0; slot < node->input.count; slot++) {
            const struct baryon_value *value = by_node_in(node, slot);
            if (value && value->is_input && !value->initializer && !is_of_samples(d, value->name))
                sides->changes[i] = true;
        }
    }
}

static size_t kept_place(const struct by_begins *begins, const char *name)
{
    for (size_t i = 0; i < begins->values.count; i++)
        if (!strcmp(begins->values.at[i].name, name))
            return i;
    return BY_NONE;
}

static struct baryon_value *add_input(const struct by_begins *begins, struct baryon_model *model,
                                      size_t place, struct baryon_error *err)
{
    const struct begin_value *value = &begins->values.at[place];
    const struct by_array *array = &value->arrays[0];
    struct by_shape *shape =
        value->same_shape ? by_shape_new(&model->arena, array->rank, err) : NULL;
    if (value->same_shape && !shape)
        return NULL;
    for (size_t i = 0; shape && i < array->rank; i++)
        shape->dims[i].size = array->dims[i];
    const char *name = by_model_fresh_name(model, "begun", err);
    struct by_type *type = name ? by_type_tensor(model, array->elem, shape, err) : NULL;
    return type ? by_graph_add_input(model->graph, name, type, err) : NULL;
}

/* The input that stands for a value; made when it is asked for first. */
static int input_of(const struct by_begins *begins, struct baryon_model *model, size_t place,
                    struct by_arena *arena, struct by_begun *begun, struct baryon_value **input,
                    struct baryon_error *err)
{
    for (size_t i = 0; i < begun->count; i++)
        if (begun->at[i].arrays == begins->values.at[place].arrays) {
            *input = by_graph_value(model->graph, begun->at[i].name);
            return 0;
        }
    *input = add_input(begins, model, place, err);
    if (!*input || by_list_reserve(arena, begun, 1, sizeof *begun->at, err) < 0)
        return -1;
    const char *name = by_arena_text(arena, (*input)->name, strlen((*input)->name), err);
    begun->at[begun->count++] = (struct by_begun_value){name, begins->values.at[place].arrays};
    return name ? 0 : -1;
}

static int replace_inputs(const struct by_begins *begins, struct baryon_model *model,
                          const struct sides *sides, struct by_arena *arena, struct by_begun *begun,
                          struct baryon_error *err)
{
    const struct baryon_graph *graph = model->graph;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        for (size_t slot = 0; slot < node->input.count; slot++) {
            const struct baryon_value *value = by_node_in(node, slot);
            const size_t place =
                crosses(sides, node, value) ? kept_place(begins, value->name) : BY_NONE;
            struct baryon_value *input;
            if (place == BY_NONE)
                continue;
            if (input_of(begins, model, place, arena, begun, &input, err) < 0 ||
                by_node_set_input(node, slot, input, err) < 0)
                return -1;
        }
    }
    return 0;
}

int by_begins_replace(const struct by_begins *begins, struct baryon_model *model,
                      struct by_arena *arena, struct by_begun *begun, struct baryon_error *err)
{
    struct sides sides = {0};
    if (!begins)
        return 0;
    int status = by_graph_settle(model->graph, err);
    if (status == 0)
        status = open_sides(&sides, model->graph, err);
    if (status == 0) {
        mark_switched(begins->d, model->graph, &sides);
        status = mark_outputs(begins->d, model->graph, &sides, err);
    }
    if (status == 0) {
        spread(model->graph, &sides);
        status = replace_inputs(begins, model, &sides, arena, begun, err);
    }
    close_sides(&sides);
    return status;
}
