/* Takes the tensors and types of each node of a plan, and what the twin found of it. */
#include "report/layers.h"

#include "base/map.h"
#include "base/text.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

#define FLOAT_BITS 32

/* --- Tensors --- */

static size_t read_row(const struct by_quant_plan *plan, const struct baryon_node *node,
                       size_t slot)
{
    const size_t row = by_quant_read(plan, node, slot);
    return row != BY_NO_ROW && by_quant_reads(&plan->rows.at[row], node, slot) ? row : BY_NO_ROW;
}

static int take_places(struct by_report_layers *layers, const struct by_quant_plan *plan,
                       const struct baryon_node *node, struct by_report_layer *layer,
                       struct baryon_error *err)
{
    layer->inputs.at = by_arena_alloc(&layers->arena, node->input.count + 1, sizeof(size_t), err);
    layer->outputs.at = by_arena_alloc(&layers->arena, node->output.count + 1, sizeof(size_t), err);
    if (!layer->inputs.at || !layer->outputs.at)
        return -1;
    for (size_t i = 0; i < node->input.count; i++) {
        const size_t row = read_row(plan, node, i);
        if (row != BY_NO_ROW)
            layer->inputs.at[layer->inputs.count++] = row;
    }
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *value = by_node_out(node, i);
        const size_t row = value ? by_quant_find(plan, value) : BY_NO_ROW;
        if (row != BY_NO_ROW)
            layer->outputs.at[layer->outputs.count++] = row;
    }
    return 0;
}

/* --- Types --- */

static unsigned spec_bits(const struct by_tensor_spec *spec)
{
    const struct by_elem_info *info = by_elem_info(spec->elem);
    if (!spec->elem)
        return FLOAT_BITS;
    if (spec->format)
        return spec->format->bits;
    return spec->bits ? spec->bits : info ? info->bits : FLOAT_BITS;
}

static const char *type_of(struct by_report_layers *layers, const struct by_tensor_spec *spec,
                           struct baryon_error *err)
{
    char type[64], text[96];
    struct by_text out;
    by_text_init(&out, text, sizeof text);
    by_text_add(&out, "%s%s", by_spec_stored_type(spec, type, sizeof type),
                spec->granularity == BY_PER_CHANNEL ? " per channel"
                : spec->granularity == BY_PER_GROUP ? " per group"
                                                    : "");
    return by_arena_text(&layers->arena, text, strlen(text), err);
}

static int note_type(struct by_report_layers *layers, struct by_report_layer *layer,
                     const char **type, const struct by_tensor_spec *spec, struct baryon_error *err)
{
    const unsigned bits = spec_bits(spec);
    layer->bits = bits > layer->bits ? bits : layer->bits;
    if (!*type)
        *type = type_of(layers, spec, err);
    return *type ? 0 : -1;
}

static int take_types(struct by_report_layers *layers, const struct by_quant_plan *plan,
                      struct by_report_layer *layer, struct baryon_error *err)
{
    for (size_t i = 0; i < layer->inputs.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[layer->inputs.at[i]];
        const bool weight = row->role == BY_ROLE_WEIGHT;
        if (row->role != BY_ROLE_BIAS &&
            note_type(layers, layer, weight ? &layer->weight : &layer->activation, &row->spec,
                      err) < 0)
            return -1;
    }
    return 0;
}

/* A node that is computed together with the one before reads no tensor of the plan: its type is
 * that of what it gives. Layers without a type for what they read compute with floats. */
static int take_other_types(struct by_report_layers *layers, const struct by_quant_plan *plan,
                            const struct by_quant_node *node, struct by_report_layer *layer,
                            struct baryon_error *err)
{
    const bool quantized = node->state == BY_NODE_QUANTIZED;
    if (quantized && !layer->inputs.count && layer->outputs.count)
        return note_type(layers, layer, &layer->activation,
                         &plan->rows.at[layer->outputs.at[0]].spec, err);
    if (node->state == BY_NODE_OTHER || (quantized && !layer->inputs.count))
        return 0;
    if (!quantized || (layer->weight && !layer->activation))
        layer->bits = FLOAT_BITS;
    if (!layer->activation)
        layer->activation = "float";
    return 0;
}

static int take_layer(struct by_report_layers *layers, const struct by_quant_plan *plan, size_t i,
                      struct baryon_error *err)
{
    const struct by_quant_node *from = &plan->nodes[i];
    const struct baryon_node *node = from->node;
    struct by_report_layer *layer = &layers->at[i];
    const char *output = node->output.count ? node->output.at[0] : "";
    const double unknown = (double)NAN;
    *layer = (struct by_report_layer){.weights = unknown,
                                      .input = unknown,
                                      .whole = unknown,
                                      .shift = unknown,
                                      .nested = node->graph != plan->model->graph};
    layer->output = by_arena_text(&layers->arena, output, strlen(output), err);
    if (!layer->output || take_places(layers, plan, node, layer, err) < 0 ||
        take_types(layers, plan, layer, err) < 0)
        return -1;
    return take_other_types(layers, plan, from, layer, err);
}

int by_report_layers_take(struct by_report_layers *layers, const struct by_quant_plan *plan,
                          struct baryon_error *err)
{
    by_arena_init(&layers->arena, 0);
    layers->count = plan->node_count;
    layers->at = by_arena_alloc(&layers->arena, layers->count + 1, sizeof *layers->at, err);
    if (!layers->at)
        return -1;
    for (size_t i = 0; i < layers->count; i++)
        if (take_layer(layers, plan, i, err) < 0)
            return -1;
    return 0;
}

void by_report_layers_release(struct by_report_layers *layers)
{
    by_arena_release(&layers->arena);
    *layers = (struct by_report_layers){.count = 0};
}

/* --- Errors --- */

/* The first one of a name. */
static int put_place(struct by_map *map, const char *name, size_t place, struct baryon_error *err)
{
    return by_map_get(map, name) ? 0 : by_map_put(map, name, (void *)(uintptr_t)(place + 1), err);
}

static int put_layers(struct by_map *map, const struct by_report_layers *layers,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < layers->count; i++)
        if (!layers->at[i].nested && put_place(map, layers->at[i].output, i, err) < 0)
            return -1;
    return 0;
}

static int put_activations(struct by_map *map, const struct by_plan_view *view,
                           struct baryon_error *err)
{
    for (size_t i = 0; i < view->row_count; i++)
        if (view->rows[i].role == BY_ROLE_ACTIVATION &&
            put_place(map, view->rows[i].tensor, i, err) < 0)
            return -1;
    return 0;
}

static int layers_measured(struct by_map *map, struct by_report_layers *layers,
                           const struct by_sensitivity *found, struct baryon_error *err)
{
    if (put_layers(map, layers, err) < 0)
        return -1;
    for (size_t i = 0; i < found->layer_count; i++) {
        const struct by_sensed_layer *from = &found->layers[i];
        const size_t place = (size_t)(uintptr_t)by_map_get(map, from->output);
        if (!place)
            continue;
        struct by_report_layer *layer = &layers->at[place - 1];
        layer->weights = from->weights;
        layer->input = from->inputs;
        layer->whole = from->whole;
        layer->shift = from->shift;
    }
    return 0;
}

static int tensors_measured(struct by_map *map, struct by_report_tensors *tensors,
                            const struct by_plan_view *view, const struct by_sensitivity *found,
                            struct baryon_error *err)
{
    if (put_activations(map, view, err) < 0)
        return -1;
    for (size_t i = 0; i < found->tensor_count; i++) {
        const struct by_sensed_tensor *from = &found->tensors[i];
        const size_t place = (size_t)(uintptr_t)by_map_get(map, from->name);
        if (!place)
            continue;
        struct by_report_tensor *tensor = &tensors->at[place - 1];
        tensor->whole = from->whole;
        tensor->alone = from->alone; /* of the same samples */
    }
    return 0;
}

/* A node whose output is no layer's has the error of the tensor that it gives. */
static void outputs_measured(struct by_report_layers *layers,
                             const struct by_report_tensors *tensors)
{
    for (size_t i = 0; i < layers->count; i++) {
        struct by_report_layer *layer = &layers->at[i];
        if (isnan(layer->whole) && layer->outputs.count)
            layer->whole = tensors->at[layer->outputs.at[0]].whole;
    }
}

int by_report_layers_measured(struct by_report_layers *layers, struct by_report_tensors *tensors,
                              const struct by_plan_view *view, const struct by_sensitivity *found,
                              struct baryon_error *err)
{
    struct by_map by_output, by_tensor;
    by_map_init(&by_output);
    by_map_init(&by_tensor);
    const int status = layers_measured(&by_output, layers, found, err) < 0
                           ? -1
                           : tensors_measured(&by_tensor, tensors, view, found, err);
    outputs_measured(layers, tensors);
    by_map_release(&by_tensor);
    by_map_release(&by_output);
    return status;
}

double by_report_narrow_share(const struct by_report_layers *layers,
                              const struct by_plan_view *view, unsigned bits)
{
    double narrow = 0;
    for (size_t i = 0; i < layers->count; i++)
        narrow += layers->at[i].bits && layers->at[i].bits <= bits ? view->nodes[i].macs : 0;
    return view->macs > 0 && !view->open ? narrow / view->macs : (double)NAN;
}
