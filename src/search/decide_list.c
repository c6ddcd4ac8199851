/* Lists where noise comes from, the layers, and what of a ladder each of them may have. */
#include "search/decision_internal.h"

#include "base/map.h"
#include "ir/shape.h"
#include "ir/tensor.h"
#include "pass/pass.h"
#include "quant/lower.h"
#include "quant/own_sqnr.h"
#include "quant/place_ops.h"

#include <math.h>
#include <string.h>

/* Operators that cut values off. */
#define LIMITS "Relu Clip Min Max"
/* Sources that a decision about a tensor changes at most. */
#define REGION_TOUCHES 16

/* --- Sources --- */

static bool is_activation(const struct by_quant_row *row)
{
    return row->role == BY_ROLE_ACTIVATION && !row->value->initializer;
}

static const struct baryon_node *reader_of(const struct by_quant_row *row)
{
    return row->readers.count ? row->readers.at[0].node : NULL;
}

static size_t add_source(struct by_decisions *d, size_t row, bool weight)
{
    const struct by_quant_row *at = &d->q->plan->rows.at[row];
    const struct baryon_node *reader = weight ? reader_of(at) : NULL;
    d->sources[d->source_count] = (struct by_noise_source){
        .name = reader && reader->name && *reader->name ? reader->name : at->value->name,
        .row = row,
        .weight = weight};
    return d->source_count++;
}

bool by_decide_same_grid(const struct by_params *one, const struct by_params *other)
{
    return one->count == 1 && other->count == 1 && one->scales && other->scales &&
           one->scales[0] == other->scales[0] &&
           (one->zeros ? one->zeros[0] : 0) == (other->zeros ? other->zeros[0] : 0);
}

/* The row before a node that gives nothing but values that it read, and limits. */
static size_t row_before(const struct by_quant_plan *plan, size_t row)
{
    const struct baryon_node *node = plan->rows.at[row].value->producer;
    if (!node || node->graph != plan->model->graph ||
        (by_place_op(node)->rule != BY_PLACE_MOVE && !by_has_word(LIMITS, node->op_type)))
        return BY_NO_ROW;
    const size_t before = by_quant_read(plan, node, 0);
    return before != BY_NO_ROW && plan->rows.at[before].role == BY_ROLE_ACTIVATION &&
                   by_quant_reads(&plan->rows.at[before], node, 0)
               ? before
               : BY_NO_ROW;
}

/* A second pair is switched with the first one, and so is one that rounds to a grid where its
 * values are already: either of them does the same, so they count as one. */
static size_t first_row(const struct by_quant_plan *plan, size_t row)
{
    const size_t first = plan->rows.at[row].converts;
    size_t at = by_quant_owner(plan, first == BY_NO_ROW ? row : first);
    for (size_t i = 0; i < plan->rows.count; i++) {
        const size_t before = row_before(plan, at);
        const size_t owner = before == BY_NO_ROW ? BY_NO_ROW : by_quant_owner(plan, before);
        if (owner == BY_NO_ROW || owner == at ||
            !by_decide_same_grid(by_quant_params(plan, owner), by_quant_params(plan, at)))
            return at;
        at = owner;
    }
    return at;
}

static void list_activation(struct by_decisions *d, size_t row)
{
    size_t *source_of = d->work->source_of;
    const size_t owner = first_row(d->q->plan, row);
    if (source_of[owner] == BY_NONE)
        source_of[owner] = add_source(d, owner, false);
    source_of[row] = source_of[owner];
}

/* The weight that a layer multiplies with: of its constants the one with the most elements. */
static size_t weight_row_of(const struct by_quant_plan *plan, const struct baryon_node *node)
{
    size_t best = BY_NO_ROW, most = 0;
    for (size_t slot = 0; slot < node->input.count; slot++) {
        const size_t row = by_quant_read(plan, node, slot);
        size_t count;
        if (row == BY_NO_ROW || plan->rows.at[row].role != BY_ROLE_WEIGHT ||
            !by_quant_reads(&plan->rows.at[row], node, slot) ||
            !plan->rows.at[row].value->initializer ||
            by_tensor_count(plan->rows.at[row].value->initializer, &count, NULL) < 0 ||
            (best != BY_NO_ROW && count <= most))
            continue;
        best = row;
        most = count;
    }
    return best;
}

/* Biases go with the weights that they are added to. */
static void list_bias(struct by_decisions *d, size_t row)
{
    const struct baryon_node *node = reader_of(&d->q->plan->rows.at[row]);
    const size_t weight = node ? weight_row_of(d->q->plan, node) : BY_NO_ROW;
    d->work->source_of[row] =
        weight == BY_NO_ROW ? add_source(d, row, true) : d->work->source_of[weight];
}

static int list_sources(struct by_decisions *d, struct baryon_error *err)
{
    const struct by_quant_plan *plan = d->q->plan;
    const size_t count = plan->rows.count;
    d->sources = by_arena_alloc(&d->arena, count + 1, sizeof *d->sources, err);
    d->work->source_of = by_arena_alloc(&d->arena, count + 1, sizeof *d->work->source_of, err);
    if (!d->sources || !d->work->source_of)
        return -1;
    for (size_t i = 0; i < count; i++)
        d->work->source_of[i] = BY_NONE;
    for (size_t i = 0; i < count; i++) {
        if (is_activation(&plan->rows.at[i]))
            list_activation(d, i);
        else if (plan->rows.at[i].role != BY_ROLE_BIAS && !d->work->options.activations)
            d->work->source_of[i] = add_source(d, i, true);
    }
    for (size_t i = 0; i < count && !d->work->options.activations; i++)
        if (plan->rows.at[i].role == BY_ROLE_BIAS)
            list_bias(d, i);
    return 0;
}

/* --- What is known of them --- */

static double elements_of(const struct baryon_value *value)
{
    double count = 1;
    if (!value->shape)
        return 0;
    for (size_t i = 0; i < value->shape->rank; i++)
        count *= value->shape->dims[i].size < 0 ? 0 : (double)value->shape->dims[i].size;
    return count;
}

static int know_source(struct by_decisions *d, size_t source, struct baryon_error *err)
{
    const struct by_quant_row *row = &d->q->plan->rows.at[d->sources[source].row];
    char name[64];
    double sqnr;
    bool known;
    d->work->noise_of[source] = NAN;
    if (by_quant_own_sqnr(d->q->plan, d->sources[source].row, d->q->stats, &sqnr, &known, err) < 0)
        return -1;
    if (known)
        d->work->noise_of[source] = exp10(-sqnr / 10);
    return by_decide_type(d, by_decide_name(&row->spec, name, sizeof name),
                          by_decide_bits(&row->spec), &d->work->type_of[source], err);
}

static int know_sources(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    const size_t count = d->source_count + 1;
    work->type_of = by_arena_alloc(&d->arena, count, sizeof *work->type_of, err);
    work->elements_of = by_arena_alloc(&d->arena, count, sizeof *work->elements_of, err);
    work->noise_of = by_arena_alloc(&d->arena, count, sizeof *work->noise_of, err);
    if (!work->type_of || !work->elements_of || !work->noise_of)
        return -1;
    for (size_t i = 0; i < d->source_count; i++)
        if (know_source(d, i, err) < 0)
            return -1;
    for (size_t i = 0; i < d->q->plan->rows.count; i++)
        if (work->source_of[i] != BY_NONE)
            work->elements_of[work->source_of[i]] += elements_of(d->q->plan->rows.at[i].value);
    return 0;
}

/* --- Layers --- */

/* Nothing else reads it. */
static bool reads_alone(const struct by_decisions *d, size_t source, const struct baryon_node *node)
{
    const struct by_quant_plan *plan = d->q->plan;
    for (size_t i = 0; i < plan->rows.count; i++)
        for (size_t k = 0; d->work->source_of[i] == source && k < plan->rows.at[i].readers.count;
             k++)
            if (plan->rows.at[i].role != BY_ROLE_BIAS &&
                plan->rows.at[i].readers.at[k].node != node)
                return false;
    return true;
}

/* A rule names each tensor. */
static bool has_names(const struct by_decisions *d, size_t source)
{
    const struct by_map *names = d->work->options.names;
    const struct by_quant_plan *plan = d->q->plan;
    for (size_t i = 0; names && i < plan->rows.count; i++)
        if (d->work->source_of[i] == source && !by_map_get(names, plan->rows.at[i].value->name))
            return false;
    return true;
}

static void add_input(struct by_decide_work *work, struct by_decide_layer *layer, size_t source)
{
    for (size_t i = 0; i < layer->input_count; i++)
        if (work->inputs[layer->first + i] == source)
            return;
    work->inputs[work->input_count++] = source;
    layer->input_count++;
}

/* What a decision about the layer changes of what it reads. */
static void find_alone(struct by_decisions *d, const struct by_decide_layer *layer)
{
    for (size_t i = layer->first; i < layer->first + layer->input_count; i++)
        d->work->alone[i] =
            reads_alone(d, d->work->inputs[i], layer->node) && has_names(d, d->work->inputs[i]);
}

static int add_layer(struct by_decisions *d, const struct by_quant_node *at,
                     struct baryon_error *err)
{
    const struct by_quant_plan *plan = d->q->plan;
    struct by_decide_work *work = d->work;
    struct by_decide_layer *layer = &work->layers[work->layer_count];
    const struct baryon_node *node = at->node;
    *layer = (struct by_decide_layer){.node = node,
                                      .weight = BY_NONE,
                                      .weight_row = weight_row_of(plan, node),
                                      .macs = at->macs,
                                      .first = work->input_count,
                                      .stays_float = at->state != BY_NODE_QUANTIZED,
                                      .weight_bits = 32};
    if (!(at->macs > 0))
        return 0;
    for (size_t slot = 0; slot < node->input.count; slot++) {
        const size_t row = by_quant_read(plan, node, slot);
        if (row != BY_NO_ROW && is_activation(&plan->rows.at[row]) &&
            by_quant_reads(&plan->rows.at[row], node, slot))
            add_input(work, layer, work->source_of[row]);
    }
    find_alone(d, layer);
    layer->place = work->place_count++;
    work->layer_count++;
    layer->weight_type = BY_NONE;
    if (layer->weight_row == BY_NO_ROW)
        return layer->stays_float ? by_decide_type(d, "float", 32, &layer->weight_type, err) : 0;
    layer->weight = work->source_of[layer->weight_row];
    layer->weight_type = work->type_of[layer->weight];
    layer->weight_bits = work->bits[layer->weight_type];
    layer->elements = (size_t)elements_of(plan->rows.at[layer->weight_row].value);
    return 0;
}

static int list_layers(struct by_decisions *d, struct baryon_error *err)
{
    const struct by_quant_plan *plan = d->q->plan;
    struct by_decide_work *work = d->work;
    size_t slots = 1;
    for (size_t i = 0; i < plan->node_count; i++)
        slots += plan->nodes[i].node->input.count;
    work->layers = by_arena_alloc(&d->arena, plan->node_count + 1, sizeof *work->layers, err);
    work->inputs = by_arena_alloc(&d->arena, slots, sizeof *work->inputs, err);
    work->alone = by_arena_alloc(&d->arena, slots, sizeof *work->alone, err);
    if (!work->layers || !work->inputs || !work->alone)
        return -1;
    work->place_count = d->source_count; /* the first places are those of tensors */
    for (size_t i = 0; i < plan->node_count && !work->options.activations; i++)
        if (plan->nodes[i].node->graph == plan->model->graph &&
            add_layer(d, &plan->nodes[i], err) < 0)
            return -1;
    return 0;
}

/* --- Decisions --- */

/* Of several the node's own. */
const char *by_decide_users_name(const struct by_quantization *q, const struct baryon_node *node)
{
    size_t users, count;
    const struct by_user_node *user = by_origins_user(q->origins, &users);
    const size_t *from = by_origins_of(q->origins, node, &count);
    const char *name = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct by_user_node *at = &user[from[i]];
        const char *own = *at->name ? at->name : at->output;
        if (!name || (node->name && !strcmp(own, node->name)))
            name = own;
    }
    return name;
}

/* A name that means several layers is no way to speak of one. */
static int name_layers(struct by_decisions *d, struct baryon_error *err)
{
    struct by_map names;
    int status = 0;
    by_map_init(&names);
    for (size_t i = 0; status == 0 && i < d->work->layer_count; i++) {
        struct by_decide_layer *layer = &d->work->layers[i];
        layer->users = by_decide_users_name(d->q, layer->node);
        struct by_decide_layer *other = layer->users ? by_map_get(&names, layer->users) : NULL;
        if (other)
            other->users = layer->users = NULL;
        else if (layer->users)
            status = by_map_put(&names, layer->users, layer, err);
    }
    by_map_release(&names);
    return status;
}

static void touch(struct by_decisions *d, struct by_decision *decision, size_t source,
                  double factor)
{
    d->touches[d->touch_count++] = (struct by_touch){source, factor};
    decision->count++;
}

static int touch_type(struct by_decisions *d, struct by_decision *decision, size_t source,
                      const char *text, size_t *type, bool *differs, struct baryon_error *err)
{
    const struct by_tensor_spec *from = &d->q->plan->rows.at[d->sources[source].row].spec;
    struct by_tensor_spec to;
    char name[64];
    if (!strcmp(text, BY_DECIDE_AS_FLOAT)) {
        *differs = true;
        touch(d, decision, source, 0);
        return by_decide_type(d, "float", 32, type, err);
    }
    if (by_decide_spec(d, text, from, &to, err) < 0 ||
        by_decide_type(d, by_decide_name(&to, name, sizeof name), by_decide_bits(&to), type, err) <
            0)
        return -1;
    if (!by_quant_has_type(d->q->plan->recipe, &to, d->sources[source].weight,
                           by_model_opset(d->q->model, "")))
        return 0; /* it touches nothing */
    *differs = *differs || *type != d->work->type_of[source];
    touch(d, decision, source, by_decide_factor(from, &to, d->work->noise_of[source]));
    return 0;
}

static int touch_inputs(struct by_decisions *d, const struct by_decide_layer *layer,
                        struct by_decision *decision, const char *text, size_t *type, bool *differs,
                        struct baryon_error *err)
{
    for (size_t i = layer->first; i < layer->first + layer->input_count; i++)
        if (d->work->alone[i] &&
            touch_type(d, decision, d->work->inputs[i], text, type, differs, err) < 0)
            return -1;
    return 0;
}

static bool runs_quantized(const struct by_quant_plan *plan, const struct baryon_node *node)
{
    for (size_t i = 0; node && i < plan->node_count; i++)
        if (plan->nodes[i].node == node)
            return plan->nodes[i].state == BY_NODE_QUANTIZED;
    return false;
}

/* A float layer reads what a quantized one gives as that is rounded: the pair goes with the last
 * reader alone where nothing quantized gives the value. */
static bool goes_with(const struct by_decisions *d, size_t source, const struct baryon_node *node)
{
    const struct by_quant_plan *plan = d->q->plan;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (d->work->source_of[i] == source && !d->sources[source].weight &&
            runs_quantized(plan, plan->rows.at[i].value->producer))
            return false;
    return reads_alone(d, source, node);
}

/* Whether the ladder's row is something else than what there is. */
static int make_layer_decision(struct by_decisions *d, size_t index, struct by_decision *decision,
                               bool *differs, struct baryon_error *err)
{
    const struct by_decide_layer *layer = &d->work->layers[index];
    const struct by_alternative *row = decision->alternative;
    size_t *types[] = {&d->work->activation_type[d->decision_count],
                       &d->work->weight_type[d->decision_count]};
    decision->place = layer->place;
    decision->macs = layer->macs;
    decision->name = layer->users;
    if (!decision->name || layer->stays_float)
        return 0;
    if (row->kind == BY_DECIDE_FLOAT) {
        for (size_t i = 0; i < layer->input_count; i++)
            if (goes_with(d, d->work->inputs[layer->first + i], layer->node))
                touch(d, decision, d->work->inputs[layer->first + i], 0);
        if (layer->weight != BY_NONE && reads_alone(d, layer->weight, layer->node))
            touch(d, decision, layer->weight, 0);
        *differs = true;
        return by_decide_type(d, "float", 32, types[0], err) < 0
                   ? -1
                   : by_decide_type(d, "float", 32, types[1], err);
    }
    const bool weight = row->weight && layer->weight != BY_NONE;
    if (row->from &&
        (layer->weight_type == BY_NONE || !by_glob(row->from, d->work->types[layer->weight_type])))
        return 0;
    if (weight ? !reads_alone(d, layer->weight, layer->node) : row->kind == BY_DECIDE_WEIGHT)
        return 0;
    if (weight && touch_type(d, decision, layer->weight, row->weight, types[1], differs, err) < 0)
        return -1;
    return row->kind == BY_DECIDE_LAYER
               ? touch_inputs(d, layer, decision, row->activation, types[0], differs, err)
               : 0;
}

/* Constants of nodes that are no layers, like those of a normalization, and weights that several
 * layers share are tensors to a rule. */
static bool is_tensor(const struct by_decisions *d, size_t source)
{
    if (!d->sources[source].weight)
        return true;
    for (size_t i = 0; i < d->work->layer_count; i++)
        if (d->work->layers[i].weight == source && reads_alone(d, source, d->work->layers[i].node))
            return false;
    return d->q->plan->rows.at[d->sources[source].row].role == BY_ROLE_WEIGHT;
}

/* Nodes that stay float give and read all of it. */
static bool is_inside(const struct by_decisions *d, size_t source)
{
    const struct by_quant_plan *plan = d->q->plan;
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        if (d->work->source_of[i] != source)
            continue;
        if (runs_quantized(plan, row->value->producer) &&
            !by_decide_region_has(d, d->decision_count, row->value->producer))
            return false;
        for (size_t k = 0; k < row->readers.count; k++)
            if (!by_decide_region_has(d, d->decision_count, row->readers.at[k].node))
                return false;
    }
    return true;
}

/* Weights and constants of the nodes that stay float with a tensor, and what they alone read. */
static void touch_inside(struct by_decisions *d, struct by_decision *decision)
{
    for (size_t i = 0; i < d->source_count && decision->count < REGION_TOUCHES; i++)
        if (i != decision->place && is_inside(d, i))
            touch(d, decision, i, 0);
}

/* What a table gives has the table's parameters, and is one source with it. */
static bool has_activation(const struct by_decisions *d, size_t source)
{
    const struct by_quant_plan *plan = d->q->plan;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (d->work->source_of[i] == source && is_activation(&plan->rows.at[i]))
            return true;
    return false;
}

static int make_region_decision(struct by_decisions *d, size_t source, struct by_decision *decision,
                                bool *differs, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    struct by_decide_region *region = &work->regions[d->decision_count];
    decision->place = source;
    decision->name = d->sources[source].name;
    if (!has_activation(d, source))
        return 0;
    if (by_decide_region_find(d, source, region, err) < 0)
        return -1;
    for (size_t i = 0; i < region->count; i++)
        if (!by_decide_users_name(d->q, work->region_nodes.at[region->first + i]))
            return 0;
    *differs = region->count > 0;
    touch(d, decision, source, 0);
    touch_inside(d, decision);
    return by_decide_type(d, "float", 32, &work->activation_type[d->decision_count], err);
}

static int make_tensor_decision(struct by_decisions *d, size_t source, struct by_decision *decision,
                                bool *differs, struct baryon_error *err)
{
    if (decision->alternative->around)
        return make_region_decision(d, source, decision, differs, err);
    decision->place = source;
    decision->name = d->sources[source].weight
                         ? d->q->plan->rows.at[d->sources[source].row].value->name
                         : d->sources[source].name;
    if (!is_tensor(d, source) || !has_names(d, source))
        return 0;
    return touch_type(d, decision, source, decision->alternative->activation,
                      &d->work->activation_type[d->decision_count], differs, err);
}

static int add_decision(struct by_decisions *d, size_t about,
                        const struct by_alternative *alternative, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    const size_t at = d->decision_count, touches = d->touch_count;
    const size_t nodes = work->region_nodes.count;
    const bool tensor = alternative->kind == BY_DECIDE_TENSOR;
    struct by_decision *decision = &d->decisions[at];
    bool differs = false;
    *decision = (struct by_decision){.alternative = alternative, .first = touches};
    work->activation_type[at] = work->weight_type[at] = BY_NONE;
    work->layer_of[at] = tensor ? BY_NONE : about;
    work->source_at[at] = tensor ? about : BY_NONE;
    if ((tensor ? make_tensor_decision(d, about, decision, &differs, err)
                : make_layer_decision(d, about, decision, &differs, err)) < 0)
        return -1;
    if (differs && decision->count)
        d->decision_count++;
    else {
        d->touch_count = touches;
        work->region_nodes.count = nodes;
        work->regions[at].count = 0;
    }
    return 0;
}

static int list_decisions(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    const size_t about = d->source_count + work->layer_count;
    const size_t most = about * d->ladder->alternative_count + 1;
    const size_t touches =
        (d->source_count * REGION_TOUCHES + work->input_count + work->layer_count) *
            d->ladder->alternative_count +
        1;
    d->decisions = by_arena_alloc(&d->arena, most, sizeof *d->decisions, err);
    d->touches = by_arena_alloc(&d->arena, touches, sizeof *d->touches, err);
    work->layer_of = by_arena_alloc(&d->arena, most, sizeof *work->layer_of, err);
    work->regions = by_arena_alloc(&d->arena, most, sizeof *work->regions, err);
    work->source_at = by_arena_alloc(&d->arena, most, sizeof *work->source_at, err);
    work->activation_type = by_arena_alloc(&d->arena, most, sizeof *work->activation_type, err);
    work->weight_type = by_arena_alloc(&d->arena, most, sizeof *work->weight_type, err);
    if (!d->decisions || !d->touches || !work->layer_of || !work->regions || !work->source_at ||
        !work->activation_type || !work->weight_type)
        return -1;
    for (size_t k = 0; k < d->ladder->alternative_count; k++) {
        const struct by_alternative *row = &d->ladder->alternatives[k];
        const size_t count = row->kind == BY_DECIDE_TENSOR ? d->source_count : work->layer_count;
        for (size_t i = 0; i < count; i++)
            if (add_decision(d, i, row, err) < 0)
                return -1;
    }
    return 0;
}

/* --- Who touches, who reads --- */

static int open_index(struct by_decisions *d, struct by_decide_index *index, size_t items,
                      struct baryon_error *err)
{
    index->start = by_arena_alloc(&d->arena, d->source_count + 2, sizeof *index->start, err);
    index->at = by_arena_alloc(&d->arena, items + 1, sizeof *index->at, err);
    return index->start && index->at ? 0 : -1;
}

/* start[i + 1] counts; what comes out is where each begins. */
static void begin_index(const struct by_decisions *d, struct by_decide_index *index)
{
    for (size_t i = 0; i < d->source_count; i++)
        index->start[i + 1] += index->start[i];
}

/* Filled from the end, so that starts are right afterwards and items in their order. */
static int index_touches(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_index *index = &d->work->touching;
    if (open_index(d, index, d->touch_count, err) < 0)
        return -1;
    for (size_t i = 0; i < d->touch_count; i++)
        index->start[d->touches[i].source]++;
    begin_index(d, index);
    index->start[d->source_count] = d->touch_count;
    for (size_t i = d->decision_count; i-- > 0;)
        for (size_t k = 0; k < d->decisions[i].count; k++)
            index->at[--index->start[d->touches[d->decisions[i].first + k].source]] = i;
    return 0;
}

static bool reads(const struct by_decisions *d, const struct by_decide_layer *layer, size_t source)
{
    for (size_t i = 0; i < layer->input_count; i++)
        if (d->work->inputs[layer->first + i] == source)
            return true;
    return false;
}

static size_t covering_source(const struct by_decisions *d, size_t place)
{
    return d->work->source_at[d->work->covering.at[place]];
}

static int index_readers(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    struct by_decide_index *index = &work->reading;
    size_t items = 0;
    const size_t covered = work->covering.start[work->layer_count];
    if (open_index(d, index, work->input_count + work->layer_count + covered, err) < 0)
        return -1;
    for (size_t i = 0; i < work->layer_count; i++) {
        const struct by_decide_layer *layer = &work->layers[i];
        for (size_t k = 0; k < layer->input_count; k++, items++)
            index->start[work->inputs[layer->first + k]]++;
        if (layer->weight != BY_NONE)
            index->start[layer->weight]++, items++;
        for (size_t k = work->covering.start[i]; k < work->covering.start[i + 1]; k++)
            if (!reads(d, layer, covering_source(d, k)))
                index->start[covering_source(d, k)]++, items++;
    }
    begin_index(d, index);
    index->start[d->source_count] = items;
    for (size_t i = work->layer_count; i-- > 0;) {
        const struct by_decide_layer *layer = &work->layers[i];
        for (size_t k = 0; k < layer->input_count; k++)
            index->at[--index->start[work->inputs[layer->first + k]]] = i;
        if (layer->weight != BY_NONE)
            index->at[--index->start[layer->weight]] = i;
        for (size_t k = work->covering.start[i]; k < work->covering.start[i + 1]; k++)
            if (!reads(d, layer, covering_source(d, k)))
                index->at[--index->start[covering_source(d, k)]] = i;
    }
    return 0;
}

int by_decide_list(struct by_decisions *d, struct baryon_error *err)
{
    return list_sources(d, err) < 0 || know_sources(d, err) < 0 || list_layers(d, err) < 0 ||
                   name_layers(d, err) < 0 || list_decisions(d, err) < 0 ||
                   index_touches(d, err) < 0 || by_decide_region_index(d, err) < 0 ||
                   index_readers(d, err) < 0
               ? -1
               : 0;
}
