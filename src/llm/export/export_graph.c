/* The nodes of a decoder: embedding, layers, head, and the cache of keys and values. */
#include "llm/export/export_internal.h"

#include "array/elem.h"
#include "ir/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A layer's nodes are called "model.layers.N.PART". */
struct naming {
    char text[BY_EXPORT_NAME_MAX];
};

static const char *in_layer(struct naming *naming, size_t layer, const char *part)
{
    snprintf(naming->text, sizeof naming->text, "model.layers.%zu.%.180s", layer, part);
    return naming->text;
}

/* "STEM.PART" */
static const char *below(struct naming *naming, const char *stem, const char *part)
{
    snprintf(naming->text, sizeof naming->text, "%.180s.%.60s", stem, part);
    return naming->text;
}

/* --- Inputs and outputs --- */

static struct by_type *tensor_type(struct by_export *e, int64_t elem, const struct by_extent *dims,
                                   size_t rank, struct baryon_error *err)
{
    struct by_shape *shape = by_shape_new(&e->model->arena, rank, err);
    if (!shape)
        return NULL;
    memcpy(shape->dims, dims, rank * sizeof *dims);
    return by_type_tensor(e->model, elem, shape, err);
}

static struct by_extent symbol(const char *name)
{
    return (struct by_extent){-1, name};
}

static struct baryon_value *add_input(struct by_export *e, const char *name, int64_t elem,
                                      const struct by_extent *dims, size_t rank,
                                      struct baryon_error *err)
{
    struct by_type *type = tensor_type(e, elem, dims, rank, err);
    return type ? by_graph_add_input(e->graph, name, type, err) : NULL;
}

static int add_output(struct by_export *e, struct baryon_value *value, const struct by_extent *dims,
                      size_t rank, struct baryon_error *err)
{
    struct by_type *type = tensor_type(e, BY_ELEM_FLOAT, dims, rank, err);
    return type ? by_graph_add_output(value, type, err) : -1;
}

/* Keys or values of a layer, of all tokens before or of all so far. */
static void cache_dims(const struct by_export *e, const char *tokens, struct by_extent dims[4])
{
    dims[0] = symbol("batch_size");
    dims[1] = by_extent_of((int64_t)e->decoder->kv_heads);
    dims[2] = symbol(tokens);
    dims[3] = by_extent_of((int64_t)e->decoder->head_dim);
}

static struct baryon_value *as_int32(struct by_export *e, const char *name,
                                     struct baryon_value *value, struct baryon_error *err)
{
    struct baryon_value *cast = by_export_unary(e, "Cast", name, value, err);
    return cast && !by_node_set_int(cast->producer, "to", BY_ELEM_INT32, err) ? cast : NULL;
}

/* What the mask says: of each text the tokens less one, and the tokens of the longest. */
static int add_lengths(struct by_export *e, struct baryon_error *err)
{
    const struct by_extent dims[] = {symbol("batch_size"), symbol("total_sequence_length")};
    const int64_t one = 1;
    struct baryon_value *mask = add_input(e, "attention_mask", BY_ELEM_INT64, dims, 2, err);
    struct baryon_value *axis = by_export_ints(e, "one", &one, 1, err);
    struct baryon_value *sum =
        by_export_binary(e, "ReduceSum", "attention.tokens", mask, axis, err);
    if (!sum || by_node_set_int(sum->producer, "keepdims", 0, err))
        return -1;
    struct baryon_value *less = by_export_binary(e, "Sub", "attention.last", sum, axis, err);
    struct baryon_value *shape = by_export_unary(e, "Shape", "attention.shape", mask, err);
    struct baryon_value *second =
        by_export_constant(e, "attention.axis", BY_ELEM_INT64, NULL, 0, err);
    if (!second)
        return -1;
    memcpy(by_export_room(second), &one, sizeof one);
    struct baryon_value *all =
        by_export_binary(e, "Gather", "attention.length", shape, second, err);
    e->lengths = as_int32(e, "attention.seqlens_k", less, err);
    e->total = as_int32(e, "attention.total", all, err);
    return e->lengths && e->total ? 0 : -1;
}

/* Cosines or sines of all places. */
static struct baryon_value *add_angles(struct by_export *e, size_t rope, bool sines,
                                       struct baryon_error *err)
{
    const struct by_decoder_rope *from = &e->decoder->ropes[rope];
    const int64_t dims[] = {(int64_t)e->context, (int64_t)from->pairs};
    char name[32];
    snprintf(name, sizeof name, "%s_cache%s", sines ? "sin" : "cos", rope ? "_local" : "");
    struct baryon_value *value = by_export_constant(e, name, BY_ELEM_FLOAT, dims, 2, err);
    float *out = value ? (float *)(void *)by_export_room(value) : NULL;
    for (size_t p = 0; value && p < e->context; p++)
        for (size_t i = 0; i < from->pairs; i++) {
            const float angle = (float)p * from->frequencies[i];
            *out++ = (sines ? sinf(angle) : cosf(angle)) * from->attention;
        }
    return value;
}

static bool uses_rope(const struct by_decoder *d, size_t rope)
{
    for (size_t i = 0; i < d->layers; i++)
        if (d->layer[i].rope == rope)
            return true;
    return false;
}

static int add_ropes(struct by_export *e, struct baryon_error *err)
{
    for (size_t i = 0; i < 2; i++) {
        if (!uses_rope(e->decoder, i))
            continue;
        e->cos[i] = add_angles(e, i, false, err);
        e->sin[i] = e->cos[i] ? add_angles(e, i, true, err) : NULL;
        if (!e->sin[i])
            return -1;
    }
    return 0;
}

/* --- Norms --- */

/* Written out, as ONNX Runtime recognizes it and older operator sets have it. */
static struct baryon_value *add_norm(struct by_export *e, const struct by_llm_weight *weight,
                                     const char *name, struct baryon_value *in,
                                     struct baryon_error *err)
{
    struct naming naming;
    const int64_t last = -1;
    struct baryon_value *two = by_export_number(e, below(&naming, name, "two"), 2, err);
    struct baryon_value *power =
        by_export_binary(e, "Pow", below(&naming, name, "square"), in, two, err);
    struct baryon_value *axis = by_export_ints(e, below(&naming, name, "axis"), &last, 1, err);
    struct baryon_value *mean =
        by_export_binary(e, "ReduceMean", below(&naming, name, "mean"), power, axis, err);
    struct baryon_value *eps =
        by_export_number(e, below(&naming, name, "eps"), e->decoder->eps, err);
    struct baryon_value *sum =
        by_export_binary(e, "Add", below(&naming, name, "sum"), mean, eps, err);
    struct baryon_value *root = by_export_unary(e, "Sqrt", below(&naming, name, "root"), sum, err);
    struct baryon_value *normed =
        by_export_binary(e, "Div", below(&naming, name, "normed"), in, root, err);
    struct baryon_value *factors = by_export_vector(e, weight, below(&naming, name, "weight"),
                                                    e->decoder->centred ? 1 : 0, err);
    return by_export_binary(e, "Mul", name, normed, factors, err);
}

/* A norm of each head by itself. */
static struct baryon_value *add_head_norm(struct by_export *e, const struct by_llm_weight *weight,
                                          const char *name, size_t heads, struct baryon_value *in,
                                          struct baryon_error *err)
{
    struct naming naming;
    const int64_t width = (int64_t)e->decoder->head_dim;
    const int64_t apart[] = {0, -1, width}, together[] = {0, -1, width * (int64_t)heads};
    if (!weight)
        return in;
    struct baryon_value *shape = by_export_ints(e, below(&naming, name, "apart"), apart, 3, err);
    struct baryon_value *heads_of =
        by_export_binary(e, "Reshape", below(&naming, name, "heads"), in, shape, err);
    struct baryon_value *normed = add_norm(e, weight, name, heads_of, err);
    shape = by_export_ints(e, below(&naming, name, "together"), together, 3, err);
    return by_export_binary(e, "Reshape", below(&naming, name, "rows"), normed, shape, err);
}

/* --- Attention --- */

static int set_attention(const struct by_export *e, const struct by_decoder_layer *layer,
                         struct baryon_node *node, struct baryon_error *err)
{
    const struct by_decoder *d = e->decoder;
    return by_node_set_int(node, "num_heads", (int64_t)d->heads, err) ||
                   by_node_set_int(node, "kv_num_heads", (int64_t)d->kv_heads, err) ||
                   by_node_set_float(node, "scale", (float)d->attention_scale, err) ||
                   by_node_set_int(node, "do_rotary", 1, err) ||
                   by_node_set_int(node, "rotary_interleaved", 0, err) ||
                   (layer->window &&
                    by_node_set_int(node, "local_window_size", layer->window, err)) ||
                   (d->attention_cap > 0 &&
                    by_node_set_float(node, "softcap", (float)d->attention_cap, err))
               ? -1
               : 0;
}

/* Queries, keys and values: three inputs, or one with all of them. */
static int add_projections(struct by_export *e, size_t number, struct baryon_value *in,
                           struct baryon_value *out[3], struct baryon_error *err)
{
    static const char *const names[] = {"q_proj", "k_proj", "v_proj"};
    static const char *const norms[] = {"q_norm", "k_norm"};
    const struct by_decoder *d = e->decoder;
    const struct by_decoder_place *parts = d->layer[number].parts;
    struct naming naming, part;
    if (parts[BY_PART_QKV].weight) {
        out[0] = by_export_linear(e, &parts[BY_PART_QKV],
                                  in_layer(&naming, number, "self_attn.qkv_proj"), in, err);
        return out[0] ? 0 : -1;
    }
    for (size_t i = 0; i < 3; i++) {
        snprintf(part.text, sizeof part.text, "self_attn.%.60s", names[i]);
        out[i] = by_export_linear(e, &parts[BY_PART_Q + i], in_layer(&naming, number, part.text),
                                  in, err);
        if (i < 2 && out[i]) {
            snprintf(part.text, sizeof part.text, "self_attn.%.60s", norms[i]);
            out[i] = add_head_norm(e, parts[BY_PART_Q_NORM + i].weight,
                                   in_layer(&naming, number, part.text), i ? d->kv_heads : d->heads,
                                   out[i], err);
        }
        if (!out[i])
            return -1;
    }
    return 0;
}

static struct baryon_value *cache_input(struct by_export *e, size_t number, const char *what,
                                        struct baryon_error *err)
{
    char name[64];
    struct by_extent dims[4];
    snprintf(name, sizeof name, "past_key_values.%zu.%s", number, what);
    cache_dims(e, "past_sequence_length", dims);
    return add_input(e, name, BY_ELEM_FLOAT, dims, 4, err);
}

static struct baryon_value *add_attention(struct by_export *e, size_t number,
                                          struct baryon_value *in, struct baryon_error *err)
{
    const struct by_decoder_layer *layer = &e->decoder->layer[number];
    struct naming naming;
    char key[64], value[64];
    struct by_extent dims[4];
    struct baryon_value *inputs[9] = {NULL};
    if (add_projections(e, number, in, inputs, err) ||
        !(inputs[3] = cache_input(e, number, "key", err)) ||
        !(inputs[4] = cache_input(e, number, "value", err)))
        return NULL;
    inputs[5] = e->lengths;
    inputs[6] = e->total;
    inputs[7] = e->cos[layer->rope];
    inputs[8] = e->sin[layer->rope];
    snprintf(key, sizeof key, "present.%zu.key", number);
    snprintf(value, sizeof value, "present.%zu.value", number);
    in_layer(&naming, number, "self_attn.attention");
    const char *const outputs[] = {naming.text, key, value};
    struct baryon_node *node =
        by_graph_add_node(e->graph, "GroupQueryAttention", BY_EXPORT_MICROSOFT, naming.text, inputs,
                          9, outputs, 3, err);
    cache_dims(e, "total_sequence_length", dims);
    if (!node || set_attention(e, layer, node, err) ||
        add_output(e, by_node_out(node, 1), dims, 4, err) ||
        add_output(e, by_node_out(node, 2), dims, 4, err))
        return NULL;
    return by_export_linear(e, &layer->parts[BY_PART_O],
                            in_layer(&naming, number, "self_attn.o_proj"), by_node_out(node, 0),
                            err);
}

/* --- Feed-forward --- */

static struct baryon_value *activate(struct by_export *e, size_t number, struct baryon_value *in,
                                     struct baryon_error *err)
{
    struct naming naming;
    if (e->decoder->act == BY_ACT_SILU) {
        struct baryon_value *sigmoid =
            by_export_unary(e, "Sigmoid", in_layer(&naming, number, "mlp.sigmoid"), in, err);
        return by_export_binary(e, "Mul", in_layer(&naming, number, "mlp.act"), in, sigmoid, err);
    }
    struct baryon_value *out =
        by_export_unary(e, "Gelu", in_layer(&naming, number, "mlp.act"), in, err);
    if (!out || e->decoder->act == BY_ACT_GELU)
        return out;
    return by_node_set_text(out->producer, "approximate", "tanh", err) ? NULL : out;
}

/* Gate and up of one matrix. */
static int split_gated(struct by_export *e, size_t number, struct baryon_value *both,
                       struct baryon_value *halves[2], struct baryon_error *err)
{
    struct naming first, second;
    const char *const outputs[] = {in_layer(&first, number, "mlp.gate_proj"),
                                   in_layer(&second, number, "mlp.up_proj")};
    if (!both)
        return -1;
    struct baryon_node *node =
        by_graph_add_node(e->graph, "Split", NULL, outputs[0], &both, 1, outputs, 2, err);
    if (!node || by_node_set_int(node, "axis", -1, err) ||
        by_node_set_int(node, "num_outputs", 2, err))
        return -1;
    halves[0] = by_node_out(node, 0);
    halves[1] = by_node_out(node, 1);
    return 0;
}

static struct baryon_value *add_feed_forward(struct by_export *e, size_t number,
                                             struct baryon_value *in, struct baryon_error *err)
{
    const struct by_decoder_place *parts = e->decoder->layer[number].parts;
    struct naming naming;
    struct baryon_value *halves[2] = {NULL, NULL};
    if (parts[BY_PART_GATE_UP].weight) {
        struct baryon_value *both = by_export_linear(
            e, &parts[BY_PART_GATE_UP], in_layer(&naming, number, "mlp.gate_up_proj"), in, err);
        if (split_gated(e, number, both, halves, err))
            return NULL;
    } else {
        halves[0] = by_export_linear(e, &parts[BY_PART_GATE],
                                     in_layer(&naming, number, "mlp.gate_proj"), in, err);
        halves[1] = halves[0] ? by_export_linear(e, &parts[BY_PART_UP],
                                                 in_layer(&naming, number, "mlp.up_proj"), in, err)
                              : NULL;
    }
    struct baryon_value *active = activate(e, number, halves[0], err);
    struct baryon_value *gated =
        by_export_binary(e, "Mul", in_layer(&naming, number, "mlp.gated"), active, halves[1], err);
    return by_export_linear(e, &parts[BY_PART_DOWN], in_layer(&naming, number, "mlp.down_proj"),
                            gated, err);
}

/* --- Layers --- */

static struct baryon_value *norm_of(struct by_export *e, size_t number, enum by_decoder_part part,
                                    const char *name, struct baryon_value *in,
                                    struct baryon_error *err)
{
    struct naming naming;
    const struct by_llm_weight *weight = e->decoder->layer[number].parts[part].weight;
    if (!weight || !in)
        return in;
    return add_norm(e, weight, in_layer(&naming, number, name), in, err);
}

static struct baryon_value *chain_layer(struct by_export *e, size_t number,
                                        struct baryon_value *state, struct baryon_error *err)
{
    const struct by_decoder_place *parts = e->decoder->layer[number].parts;
    const bool sandwich = parts[BY_PART_NORM_BEFORE_FFN].weight != NULL;
    struct naming naming;
    struct baryon_value *in = norm_of(e, number, BY_PART_NORM_IN, "input_layernorm", state, err);
    struct baryon_value *out = in ? add_attention(e, number, in, err) : NULL;
    if (sandwich)
        out = norm_of(e, number, BY_PART_NORM_MIDDLE, "post_attention_layernorm", out, err);
    state = by_export_binary(e, "Add", in_layer(&naming, number, "attended"), state, out, err);
    in = sandwich
             ? norm_of(e, number, BY_PART_NORM_BEFORE_FFN, "pre_feedforward_layernorm", state, err)
             : norm_of(e, number, BY_PART_NORM_MIDDLE, "post_attention_layernorm", state, err);
    out = in ? add_feed_forward(e, number, in, err) : NULL;
    out = norm_of(e, number, BY_PART_NORM_AFTER_FFN, "post_feedforward_layernorm", out, err);
    return by_export_binary(e, "Add", in_layer(&naming, number, "out"), state, out, err);
}

/* --- Embedding and head --- */

static struct baryon_value *add_embedding(struct by_export *e, struct baryon_value *table,
                                          struct baryon_error *err)
{
    const struct by_extent dims[] = {symbol("batch_size"), symbol("sequence_length")};
    struct baryon_value *ids = add_input(e, "input_ids", BY_ELEM_INT64, dims, 2, err);
    struct baryon_value *rows =
        by_export_binary(e, "Gather", "model.embed_tokens", table, ids, err);
    if (rows && table->initializer->data_type != BY_ELEM_FLOAT) {
        rows = by_export_unary(e, "Cast", "model.embed_tokens.float", rows, err);
        if (!rows || by_node_set_int(rows->producer, "to", BY_ELEM_FLOAT, err))
            return NULL;
    }
    if (!rows || e->decoder->embedding_scale == 1)
        return rows;
    struct baryon_value *scale =
        by_export_number(e, "model.embed_tokens.scale", e->decoder->embedding_scale, err);
    return by_export_binary(e, "Mul", "model.embed_tokens.scaled", rows, scale, err);
}

/* cap * tanh(logits / cap) */
static struct baryon_value *cap_logits(struct by_export *e, struct baryon_value *logits,
                                       struct baryon_error *err)
{
    if (!(e->decoder->logit_cap > 0) || !logits)
        return logits;
    struct baryon_value *cap = by_export_number(e, "lm_head.cap", e->decoder->logit_cap, err);
    struct baryon_value *less = by_export_binary(e, "Div", "lm_head.less", logits, cap, err);
    struct baryon_value *tanh = by_export_unary(e, "Tanh", "lm_head.tanh", less, err);
    return by_export_binary(e, "Mul", "lm_head.capped", tanh, cap, err);
}

static int add_head(struct by_export *e, struct baryon_value *table, struct baryon_value *state,
                    struct baryon_error *err)
{
    const struct by_decoder *d = e->decoder;
    const struct by_extent dims[] = {symbol("batch_size"), symbol("sequence_length"),
                                     by_extent_of((int64_t)d->vocab)};
    const bool tied = d->head.weight == d->embedding.weight;
    struct baryon_value *in = add_norm(e, d->norm.weight, "model.norm", state, err);
    struct baryon_value *logits = tied && in ? by_export_product(e, table, "lm_head", in, err)
                                             : by_export_linear(e, &d->head, "lm_head", in, err);
    logits = cap_logits(e, logits, err);
    logits = by_export_unary(e, "Identity", "logits", logits, err);
    return logits ? add_output(e, logits, dims, 3, err) : -1;
}

int by_export_graph(struct by_export *e, struct baryon_error *err)
{
    const struct by_decoder *d = e->decoder;
    struct baryon_value *table =
        by_export_matrix(e, d->embedding.weight, "model.embed_tokens.weight", err);
    struct baryon_value *state = table ? add_embedding(e, table, err) : NULL;
    if (!state || add_lengths(e, err) || add_ropes(e, err))
        return -1;
    for (size_t i = 0; i < d->layers; i++)
        if (!(state = chain_layer(e, i, state, err)))
            return by_err_in(err, "layer %zu", i);
    return add_head(e, table, state, err);
}
