#include "quant/floats.h"
#include "quant/lower_node.h"
#include "quant/nbits.h"
#include "quant/rounded.h"
#include "rounding/rounding_internal.h"

bool by_rounding_floats_stay(const struct by_solving *solving)
{
    return solving->recipe.approach != BY_APPROACH_STATIC;
}

int by_rounding_patch(struct by_solving *solving, struct baryon_node *node, size_t slot,
                      const struct baryon_tensor *like, int64_t elem, const void *values,
                      struct baryon_error *err)
{
    struct baryon_model *model = solving->copy.model;
    size_t count, size;
    const char *name = by_model_fresh_name(model, "solved", err);
    if (!name || by_tensor_count(like, &count, err) < 0 ||
        by_elem_bytes(elem, count, &size, err) < 0)
        return -1;
    struct baryon_tensor *tensor =
        by_tensor_new(model, name, elem, like->dims.at, like->dims.count, values, size, err);
    struct baryon_value *value =
        tensor ? by_graph_add_initializer(model->graph, tensor, err) : NULL;
    return value ? by_node_set_input(node, slot, value, err) : -1;
}

/* --- The nearest --- */

static int through_blocks(const struct by_solving *solving, const struct by_quant_row *row,
                          const float *values, float *out, struct baryon_error *err)
{
    struct by_nbits made;
    const struct by_weight_view view = by_quant_view(row, &row->params, values);
    const struct by_nbits_spec spec = by_nbits_spec_of(&solving->recipe, row, false);
    if (by_nbits_open(&made, &view, &spec, solving->q->pool, err) < 0)
        return -1;
    by_nbits_values(&made, &view, &spec, out);
    by_nbits_close(&made);
    return 0;
}

static int find_values(const struct by_solving *solving, size_t index, float *values,
                       struct baryon_error *err)
{
    const struct by_quant_plan *plan = solving->copy.plan;
    const struct by_quant_row *row = &plan->rows.at[index];
    struct by_floats_view floats;
    if (by_floats_open(&floats, row->value->initializer, err) < 0)
        return -1;
    const int status =
        solving->recipe.approach == BY_APPROACH_NBITS
            ? through_blocks(solving, row, floats.values, values, err)
            : by_quant_round(plan, index, floats.values, solving->q->pool, values, err);
    by_floats_close(&floats);
    return status;
}

static int patch_row(struct by_solving *solving, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &solving->copy.plan->rows.at[index];
    const struct baryon_tensor *tensor = row->value->initializer;
    size_t count;
    if (tensor->data_type != BY_ELEM_FLOAT || by_tensor_count(tensor, &count, err) < 0)
        return tensor->data_type != BY_ELEM_FLOAT ? 0 : -1;
    float *values = by_alloc(count, sizeof *values, err);
    int status = values ? find_values(solving, index, values, err) : -1;
    for (size_t i = 0; status == 0 && i < row->readers.count; i++)
        if (row->readers.at[i].node)
            status = by_rounding_patch(solving, row->readers.at[i].node, row->readers.at[i].slot,
                                       tensor, BY_ELEM_FLOAT, values, err);
    by_free(values);
    return status;
}

int by_rounding_nearest_floats(struct by_solving *solving, struct baryon_error *err)
{
    for (size_t i = 0; i < solving->copy.plan->rows.count; i++)
        if (patch_row(solving, i, err) < 0)
            return -1;
    return by_model_settle(solving->copy.model, err);
}

/* --- What was solved --- */

/* The copy's own constant is written over: nothing has read it yet. */
void by_rounding_patch_floats(struct by_solving *solving, const struct by_round_layer *layer,
                              const struct by_round_choice *choice)
{
    struct baryon_value *value = by_node_in(by_rounding_node_in_copy(solving, layer), 1);
    float *values = (float *)(void *)by_lower_room(value);
    const float *from = choice->weights;
    for (size_t g = 0; g < layer->groups; g++)
        for (size_t o = 0; o < layer->outs; o++)
            for (size_t c = 0; c < layer->columns; c++)
                values[by_round_element(layer, g, o, c)] = *from++;
}
