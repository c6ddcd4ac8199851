/* Finds what outputs that are selected by values are selected from. */
#include "trial/selects.h"

#include "array/elem.h"
#include "base/format.h"
#include "engine/vary.h"
#include "ir/infer.h"

static bool mark_outputs(const struct baryon_graph *graph, const bool *selected, bool *left_out)
{
    bool any = false;
    for (size_t i = 0; i < graph->output.count; i++) {
        const struct baryon_value *output = by_graph_out(graph, i);
        left_out[i] = output && output->graph == graph && selected[output->index];
        any |= left_out[i];
    }
    return any;
}

/* How many values can stand for outputs, those that are outputs included; 0: too many. */
static size_t list_values(const struct baryon_graph *graph, const bool *from,
                          struct by_selects *found)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        if (!from[i])
            continue;
        count++;
        if (by_value_is_output(graph->all_values.at[i]))
            continue;
        if (found->count == BY_SELECTS_MOST)
            return 0;
        found->values[found->count++] = graph->all_values.at[i];
    }
    return count;
}

static int select_outputs(const struct baryon_graph *graph, bool integers, struct by_selects *found,
                          struct baryon_error *err)
{
    struct by_selection selection;
    *found = (struct by_selects){0};
    int status = by_graph_selection(graph, integers, &selection, err);
    if (status == 0)
        found->left_out = by_alloc_zero(graph->output.count + 1, sizeof *found->left_out, err);
    if (!found->left_out)
        status = -1;
    if (status == 0 && (!mark_outputs(graph, selection.selected, found->left_out) ||
                        !list_values(graph, selection.from, found)))
        by_selects_release(found);
    by_selection_release(&selection);
    return status;
}

static bool can_compare(const struct baryon_graph *graph, const struct by_selects *found)
{
    for (size_t i = 0; i < graph->output.count; i++) {
        const struct baryon_value *output = by_graph_out(graph, i);
        const bool integers = output && output->elem && !by_elem_is_floats(output->elem);
        if (!(found->left_out && found->left_out[i]) && !integers)
            return true;
    }
    return found->count > 0;
}

static bool has_types(const struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value && value->producer && value->elem)
            return true;
    }
    return false;
}

int by_selects_find(struct baryon_model *model, struct by_selects *found, struct baryon_error *err)
{
    const struct baryon_graph *graph = model->graph;
    *found = (struct by_selects){0};
    if (!has_types(graph) && by_model_infer(model, NULL, err) < 0)
        return -1;
    if (select_outputs(graph, false, found, err) < 0)
        return -1;
    if (can_compare(graph, found))
        return 0;
    by_selects_release(found);
    return select_outputs(graph, true, found, err);
}

struct baryon_value *by_selects_value(const struct baryon_graph *graph, const char *name)
{
    char dequantized[BY_NAME_MAX + 1];
    struct baryon_value *value = by_map_get(&graph->values, name);
    if (value)
        return value;
    by_format(dequantized, sizeof dequantized, "%s_DequantizeLinear_Output", name);
    return by_map_get(&graph->values, dequantized);
}

void by_selects_release(struct by_selects *found)
{
    by_free(found->left_out);
    *found = (struct by_selects){0};
}
