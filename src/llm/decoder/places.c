/* Which weight of a checkpoint is which part of which layer, and whether its shape fits. */
#include "llm/decoder/decoder_internal.h"

#include "base/str.h"
#include "base/text.h"

#include <limits.h>
#include <string.h>

static const struct {
    const char *module; /* below the layer, before .weight and .bias */
    enum by_decoder_part part;
} module_rows[] = {
    {"self_attn.q_proj", BY_PART_Q},
    {"self_attn.k_proj", BY_PART_K},
    {"self_attn.v_proj", BY_PART_V},
    {"self_attn.qkv_proj", BY_PART_QKV},
    {"self_attn.o_proj", BY_PART_O},
    {"self_attn.q_norm", BY_PART_Q_NORM},
    {"self_attn.k_norm", BY_PART_K_NORM},
    {"mlp.gate_proj", BY_PART_GATE},
    {"mlp.up_proj", BY_PART_UP},
    {"mlp.gate_up_proj", BY_PART_GATE_UP},
    {"mlp.down_proj", BY_PART_DOWN},
    {"mlp.gate", BY_PART_ROUTER},
    {"block_sparse_moe.gate", BY_PART_ROUTER},
    {"mlp.shared_expert.gate_proj", BY_PART_SHARED_GATE},
    {"mlp.shared_expert.up_proj", BY_PART_SHARED_UP},
    {"mlp.shared_expert.down_proj", BY_PART_SHARED_DOWN},
    {"mlp.shared_expert_gate", BY_PART_SHARED_ROUTER},
    {"input_layernorm", BY_PART_NORM_IN},
    {"post_attention_layernorm", BY_PART_NORM_MIDDLE},
    {"pre_feedforward_layernorm", BY_PART_NORM_BEFORE_FFN},
    {"post_feedforward_layernorm", BY_PART_NORM_AFTER_FFN},
};

/* "experts.7." at the beginning; what of an expert it is: 0 gate, 1 up, 2 down. */
static bool expert_place(const char *module, size_t size, size_t experts, size_t *place)
{
    static const char *const names[][3] = {{"gate_proj", "up_proj", "down_proj"},
                                           {"w1", "w3", "w2"}};
    const char *at = strstr(module, "experts.");
    size_t number = 0;
    if (!at || at >= module + size)
        return false;
    at += strlen("experts.");
    if (!strspn(at, "0123456789") || strspn(at, "0123456789") > 9)
        return false;
    for (; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (size_t)(*at - '0');
    if (*at++ != '.' || number >= experts)
        return false;
    const size_t rest = (size_t)(module + size - at);
    for (size_t i = 0; i < 6; i++) {
        const char *name = names[i / 3][i % 3];
        if (strlen(name) == rest && !memcmp(name, at, rest)) {
            *place = 3 * number + i % 3;
            return true;
        }
    }
    return false;
}

/* What of a layer is known, after an error. */
static void hint_known(const struct by_decoder_layer *layer, struct baryon_error *err)
{
    char found[160];
    struct by_text list;
    by_text_init(&list, found, sizeof found);
    for (size_t i = 0; i < sizeof module_rows / sizeof *module_rows; i++)
        if (layer->parts[module_rows[i].part].weight)
            by_text_add(&list, "%s%s", list.used ? ", " : "", module_rows[i].module);
    if (layer->experts)
        by_text_add(&list, "%sexperts", list.used ? ", " : "");
    by_err_hint(err, "recognised there: %s", list.used ? found : "nothing");
}

static struct by_decoder_place *place_in_layer(struct by_decoder *d, struct by_decoder_layer *layer,
                                               const char *module, size_t size,
                                               struct baryon_error *err)
{
    size_t place;
    for (size_t i = 0; i < sizeof module_rows / sizeof *module_rows; i++)
        if (strlen(module_rows[i].module) == size && !memcmp(module_rows[i].module, module, size))
            return &layer->parts[module_rows[i].part];
    if (!expert_place(module, size, d->experts, &place)) {
        by_fail(err, BARYON_ERR_UNSUPPORTED,
                "%.*s of a layer is not known, the model cannot be run", (int)size, module);
        return NULL;
    }
    if (!layer->experts)
        layer->experts = by_arena_alloc(&d->arena, 3 * d->experts, sizeof *layer->experts, err);
    return layer->experts ? &layer->experts[place] : NULL;
}

/* The module: without ".weight" or ".bias". */
static size_t module_size(const char *name, bool *is_bias)
{
    const char *dot = strrchr(name, '.');
    *is_bias = dot && !strcmp(dot, ".bias");
    return dot && (*is_bias || !strcmp(dot, ".weight")) ? (size_t)(dot - name) : strlen(name);
}

static bool ends_with(const char *name, size_t size, const char *end)
{
    const size_t length = strlen(end);
    return size >= length && !memcmp(name + size - length, end, length);
}

static int put(struct by_decoder *d, const struct by_llm_weight *weight, struct baryon_error *err)
{
    struct by_tensor_role role;
    const char *name = weight->name, *at = strstr(name, "layers.");
    struct by_decoder_place *place = NULL;
    bool is_bias;
    by_llm_role_of_name(name, &role);
    if (role.part != BY_LLM_PART_DECODER || role.role == BY_LLM_BUFFER ||
        (role.layer >= 0 && (size_t)role.layer >= d->layers))
        return 0;
    size_t size = module_size(name, &is_bias);
    if (at) {
        at += strlen("layers.");
        at += strspn(at, "0123456789");
        const char *module = *at == '.' ? at + 1 : at;
        place = place_in_layer(d, &d->layer[role.layer < 0 ? 0 : role.layer], module,
                               (size_t)(name + size - module), err);
        if (!place)
            return -1;
    } else if (ends_with(name, size, "embed_tokens")) {
        place = &d->embedding;
    } else if (ends_with(name, size, "lm_head")) {
        place = &d->head;
    } else if (ends_with(name, size, "norm")) {
        place = &d->norm;
    } else {
        return 0;
    }
    *(is_bias ? &place->bias : &place->weight) = weight;
    return 0;
}

static int check_shape(const struct by_decoder_place *place, size_t rows, size_t columns,
                       const char *what, struct baryon_error *err)
{
    const struct by_llm_weight *weight = place->weight;
    if (!weight)
        return by_fail(err, BARYON_ERR_INPUT, "%s is missing, must be there", what);
    if (!weight->rows || !weight->columns || weight->rows > INT_MAX || weight->columns > INT_MAX)
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor %s has %zu rows and %zu columns, both must be 1 to %d", weight->name,
                       weight->rows, weight->columns, INT_MAX);
    if (weight->rank == 1
            ? weight->columns != columns || rows != 1
            : (rows && weight->rows != rows) || (columns && weight->columns != columns))
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor %s has %zu rows and %zu columns, config.json says %zu and %zu",
                       weight->name, weight->rows, weight->columns, rows, columns);
    if (place->bias && place->bias->rows * place->bias->columns != weight->rows)
        return by_fail(err, BARYON_ERR_INPUT, "tensor %s has %zu values, must be %zu",
                       place->bias->name, place->bias->rows * place->bias->columns, weight->rows);
    return 0;
}

/* A norm's weights, where there is one. */
static int check_norm(const struct by_decoder_place *norm, size_t columns, const char *what,
                      struct baryon_error *err)
{
    if (norm->bias)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s: norms with a bias are LayerNorm, models with it cannot be run",
                       norm->bias->name);
    return norm->weight ? check_shape(norm, 1, columns, what, err) : 0;
}

static int check_attention(const struct by_decoder *d, const struct by_decoder_layer *layer,
                           struct baryon_error *err)
{
    const struct by_decoder_place *parts = layer->parts;
    const size_t all = d->heads * d->head_dim, few = d->kv_heads * d->head_dim;
    for (size_t i = BY_PART_Q_NORM; i <= BY_PART_NORM_AFTER_FFN; i++)
        if (check_norm(&parts[i], i <= BY_PART_K_NORM ? d->head_dim : d->hidden, "a norm", err))
            return -1;
    if (check_shape(&parts[BY_PART_O], d->hidden, all, "self_attn.o_proj", err) ||
        check_shape(&parts[BY_PART_NORM_IN], 1, d->hidden, "input_layernorm", err) ||
        check_shape(&parts[BY_PART_NORM_MIDDLE], 1, d->hidden, "post_attention_layernorm", err))
        return -1;
    if (parts[BY_PART_QKV].weight)
        return check_shape(&parts[BY_PART_QKV], all + 2 * few, d->hidden, "self_attn.qkv_proj",
                           err);
    return check_shape(&parts[BY_PART_Q], all, d->hidden, "self_attn.q_proj", err) ||
                   check_shape(&parts[BY_PART_K], few, d->hidden, "self_attn.k_proj", err) ||
                   check_shape(&parts[BY_PART_V], few, d->hidden, "self_attn.v_proj", err)
               ? -1
               : 0;
}

/* Inputs of a plain down alone are rotated while the model runs. */
static int check_rotations(const struct by_decoder *d, struct baryon_error *err)
{
    for (size_t i = 0; i < d->source->count; i++) {
        const struct by_llm_weight *weight = &d->source->weights[i];
        bool known = !weight->rotation;
        for (size_t k = 0; !known && k < d->layers; k++)
            known = d->layer[k].parts[BY_PART_DOWN].weight == weight;
        if (!known)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "%s: rotations of inputs while the model runs are known of down_proj "
                           "alone",
                           weight->layer);
    }
    return 0;
}

static int check_gated(const struct by_decoder *d, const struct by_decoder_place *gate,
                       const struct by_decoder_place *up, const struct by_decoder_place *down,
                       struct baryon_error *err)
{
    const size_t inner = gate->weight ? gate->weight->rows : 0;
    return check_shape(gate, inner, d->hidden, "gate_proj", err) ||
                   check_shape(up, inner, d->hidden, "up_proj", err) ||
                   check_shape(down, d->hidden, inner, "down_proj", err)
               ? -1
               : 0;
}

/* Weights of experts are in the inputs of down, where a bias would not get them. */
static int check_down(const struct by_decoder_place *down, struct baryon_error *err)
{
    return down->bias
               ? by_fail(err, BARYON_ERR_UNSUPPORTED,
                         "tensor %s: experts with a bias of down cannot be run", down->bias->name)
               : 0;
}

static int check_feed_forward(const struct by_decoder *d, const struct by_decoder_layer *layer,
                              struct baryon_error *err)
{
    const struct by_decoder_place *parts = layer->parts;
    const struct by_decoder_place *shared = &parts[BY_PART_SHARED_ROUTER];
    if (parts[BY_PART_SHARED_GATE].weight &&
        (check_gated(d, &parts[BY_PART_SHARED_GATE], &parts[BY_PART_SHARED_UP],
                     &parts[BY_PART_SHARED_DOWN], err) ||
         check_down(&parts[BY_PART_SHARED_DOWN], err) ||
         (shared->weight && check_shape(shared, 1, d->hidden, "the shared router", err))))
        return -1;
    if (layer->experts) {
        for (size_t i = 0; i < d->experts; i++)
            if (check_gated(d, &layer->experts[3 * i], &layer->experts[3 * i + 1],
                            &layer->experts[3 * i + 2], err) ||
                check_down(&layer->experts[3 * i + 2], err))
                return -1;
        return check_shape(&parts[BY_PART_ROUTER], d->experts, d->hidden, "the router", err);
    }
    if (!parts[BY_PART_GATE_UP].weight)
        return check_gated(d, &parts[BY_PART_GATE], &parts[BY_PART_UP], &parts[BY_PART_DOWN], err);
    /* Half of its rows; 1 for one row, which does not fit then. */
    const size_t inner = (parts[BY_PART_GATE_UP].weight->rows + 1) / 2;
    return check_shape(&parts[BY_PART_GATE_UP], 2 * inner, d->hidden, "mlp.gate_up_proj", err) ||
                   check_shape(&parts[BY_PART_DOWN], d->hidden, inner, "mlp.down_proj", err)
               ? -1
               : 0;
}

int by_decoder_places(struct by_decoder *d, struct baryon_error *err)
{
    for (size_t i = 0; i < d->source->count; i++)
        if (put(d, &d->source->weights[i], err))
            return -1;
    if (check_rotations(d, err))
        return -1;
    for (size_t i = 0; i < d->layers; i++)
        if (check_attention(d, &d->layer[i], err) || check_feed_forward(d, &d->layer[i], err)) {
            if (!err->hint[0])
                hint_known(&d->layer[i], err);
            return by_err_in(err, "layer %zu", i);
        }
    if (check_shape(&d->embedding, 0, d->hidden, "embed_tokens", err) ||
        check_norm(&d->norm, d->hidden, "the last norm", err) ||
        check_shape(&d->norm, 1, d->hidden, "the last norm", err))
        return -1;
    if (d->head.bias)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s: models with a bias of the head cannot be run",
                       d->head.bias->name);
    d->vocab = d->embedding.weight->rows;
    if (!d->head.weight)
        d->head = d->embedding;
    return check_shape(&d->head, d->vocab, d->hidden, "lm_head", err);
}
