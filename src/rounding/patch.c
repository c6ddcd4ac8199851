/* A layer's choice in the copy: the copy's own constants, or others in their place. */
#include "quant/lower_internal.h"
#include "quant/lower_node.h"
#include "rounding/rounding_internal.h"

int by_rounding_patch(struct by_rounding_run *run, struct baryon_node *node, size_t slot,
                      const struct baryon_tensor *like, int64_t elem, const void *values,
                      struct baryon_error *err)
{
    struct baryon_model *model = run->copy.model;
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

/* The integers after the copy's pair. */
static int patch_integers(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                          struct baryon_error *err)
{
    struct baryon_node *pair = by_node_in(by_rounding_node_in_copy(run, layer), 1)->producer;
    const struct by_quant_row *row = &run->q->plan->rows.at[layer->weight];
    const size_t count = layer->groups * layer->outs * layer->columns;
    int64_t *wide = by_alloc(count, sizeof *wide, err);
    uint8_t *packed = wide ? by_alloc(count, sizeof *row->rounded, err) : NULL;
    for (size_t i = 0; packed && i < count; i++)
        wide[i] = row->rounded[i];
    if (packed)
        by_lower_pack(row->spec.elem, wide, count, packed);
    by_free(wide);
    const int status = packed ? by_rounding_patch(run, pair, 0, by_node_in(pair, 0)->initializer,
                                                  row->spec.elem, packed, err)
                              : -1;
    by_free(packed);
    return status;
}

/* Floats and blocks leave the values as they are: their nodes have nothing left to do. */
static int patch_values(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                        struct baryon_error *err)
{
    const struct by_quant_row *row = &run->q->plan->rows.at[layer->weight];
    return by_rounding_patch(run, by_rounding_node_in_copy(run, layer), 1, row->value->initializer,
                             BY_ELEM_FLOAT, row->solved, err);
}

/* The copy's own constant is written over: nothing has read it yet. */
static void write_values(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                         const struct by_round_choice *choice)
{
    struct baryon_value *value = by_node_in(by_rounding_node_in_copy(run, layer), 1);
    by_rounding_scatter(layer, choice->weights, (float *)(void *)by_lower_room(value));
}

/* With scales that the copy's integers do not have. */
static int patch_scaled(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                        const struct by_round_choice *choice, struct baryon_error *err)
{
    const struct baryon_tensor *like = run->q->plan->rows.at[layer->weight].value->initializer;
    float *values = by_alloc(by_rounding_weight_count(layer), sizeof *values, err);
    if (!values)
        return -1;
    by_rounding_scatter(layer, choice->weights, values);
    const int status = by_rounding_patch(run, by_rounding_node_in_copy(run, layer), 1, like,
                                         BY_ELEM_FLOAT, values, err);
    by_free(values);
    return status;
}

static int patch_weight(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                        const struct by_round_choice *choice, struct baryon_error *err)
{
    if (choice->scales)
        return patch_scaled(run, layer, choice, err);
    if (by_rounding_floats_stay(run)) {
        write_values(run, layer, choice);
        return 0;
    }
    return by_rounding_has_steps(run->q->plan, layer) ? patch_values(run, layer, err)
                                                      : patch_integers(run, layer, err);
}

int by_rounding_patch_copy(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                           const struct by_round_choice *choice, struct baryon_error *err)
{
    if (patch_weight(run, layer, choice, err) < 0)
        return -1;
    return layer->bias
               ? by_rounding_patch(run, by_rounding_node_in_copy(run, layer), 2,
                                   layer->bias->initializer, BY_ELEM_FLOAT, choice->biases, err)
               : 0;
}
