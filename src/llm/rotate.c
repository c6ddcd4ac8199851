/* Which weights of a decoder a rotation changes, and how. */
#include "llm/rotate_edit.h"

#include "base/str.h"
#include "llm/decoder/decoder.h"

#include <string.h>

struct by_llm_rotated {
    struct by_arena arena;
    struct by_rotation stream, heads;
    struct by_llm_rotate_cache cache;
};

struct rotating {
    struct by_llm_rotated *rotated;
    struct by_llm_opened *opened;
    struct by_decoder decoder;
    const struct by_rotation *stream, *heads; /* NULL: not this one */
};

/* --- Edits --- */

/* NULL: there is no weight, *status says whether memory ended. */
static struct by_llm_rotate_edit *edit_of(struct rotating *r, const struct by_llm_weight *weight,
                                          int *status, struct baryon_error *err)
{
    struct by_llm_source *source = &r->opened->source;
    if (!weight || *status)
        return NULL;
    struct by_llm_weight *own = &source->weights[weight - source->weights];
    struct by_llm_rotate_edit *edit = (struct by_llm_rotate_edit *)own->edit;
    if (own->as == BY_LLM_AS_EDITED && edit->cache == &r->rotated->cache)
        return edit;
    edit = BY_ARENA_NEW(&r->rotated->arena, struct by_llm_rotate_edit, err);
    if (!edit) {
        *status = -1;
        return NULL;
    }
    by_llm_rotate_edit_open(edit, &r->rotated->cache);
    by_llm_source_edit(own, &edit->edit);
    return edit;
}

/* A linear that reads the stream after a norm. */
static int edit_reader(struct rotating *r, const struct by_decoder_place *place, const float *gains,
                       struct baryon_error *err)
{
    int status = 0;
    struct by_llm_rotate_edit *edit = edit_of(r, place->weight, &status, err);
    if (edit) {
        edit->gains = gains;
        edit->columns = r->stream;
    }
    return status;
}

/* A linear that writes it. */
static int edit_writer(struct rotating *r, const struct by_decoder_place *place,
                       struct baryon_error *err)
{
    int status = 0;
    struct by_llm_rotate_edit *edit = edit_of(r, place->weight, &status, err);
    struct by_llm_rotate_edit *bias = edit_of(r, place->bias, &status, err);
    if (edit)
        edit->rows = r->stream;
    if (bias)
        bias->columns = r->stream;
    return status;
}

/* Weights of a norm, as factors; the norm itself has 1 then. */
static int take_norm(struct rotating *r, const struct by_decoder_place *norm, const float **gains,
                     struct baryon_error *err)
{
    const struct by_llm_weight *weight = norm->weight;
    const bool centred = r->decoder.centred;
    int status = 0;
    float *values = by_arena_alloc(&r->rotated->arena, weight->columns, sizeof *values, err);
    if (!values || by_llm_source_rows(&r->opened->source, weight, 0, 1, values, err))
        return -1;
    for (size_t i = 0; i < weight->columns; i++)
        values[i] += centred ? 1 : 0;
    struct by_llm_rotate_edit *edit = edit_of(r, weight, &status, err);
    if (!edit)
        return -1;
    edit->constant = true;
    edit->value = centred ? 0 : 1;
    *gains = values;
    return 0;
}

/* --- The stream --- */

static int turn_readers(struct rotating *r, const struct by_decoder_layer *layer, const float *in,
                        const float *middle, struct baryon_error *err)
{
    static const struct {
        enum by_decoder_part part;
        bool middle;
    } rows[] = {
        {BY_PART_Q, false},        {BY_PART_K, false},           {BY_PART_V, false},
        {BY_PART_QKV, false},      {BY_PART_GATE, true},         {BY_PART_UP, true},
        {BY_PART_GATE_UP, true},   {BY_PART_ROUTER, true},       {BY_PART_SHARED_GATE, true},
        {BY_PART_SHARED_UP, true}, {BY_PART_SHARED_ROUTER, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (edit_reader(r, &layer->parts[rows[i].part], rows[i].middle ? middle : in, err))
            return -1;
    for (size_t i = 0; layer->experts && i < 3 * r->decoder.experts; i++)
        if (i % 3 < 2 && edit_reader(r, &layer->experts[i], middle, err))
            return -1;
    return 0;
}

static int turn_layer(struct rotating *r, const struct by_decoder_layer *layer,
                      struct baryon_error *err)
{
    static const enum by_decoder_part writers[] = {BY_PART_O, BY_PART_DOWN, BY_PART_SHARED_DOWN};
    const float *in, *middle;
    if (layer->parts[BY_PART_NORM_BEFORE_FFN].weight)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "norms between attention and the hidden states cannot be folded, so these "
                       "cannot be rotated; --rotate r2 can");
    if (take_norm(r, &layer->parts[BY_PART_NORM_IN], &in, err) ||
        take_norm(r, &layer->parts[BY_PART_NORM_MIDDLE], &middle, err) ||
        turn_readers(r, layer, in, middle, err))
        return -1;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (edit_writer(r, &layer->parts[writers[i]], err))
            return -1;
    for (size_t i = 0; layer->experts && i < r->decoder.experts; i++)
        if (edit_writer(r, &layer->experts[3 * i + 2], err))
            return -1;
    return 0;
}

static int turn_stream(struct rotating *r, struct baryon_error *err)
{
    const struct by_decoder_place embedding = {.weight = r->decoder.embedding.weight};
    const float *last;
    for (size_t i = 0; i < r->decoder.layers; i++)
        if (turn_layer(r, &r->decoder.layer[i], err))
            return by_err_in(err, "layer %zu", i);
    return edit_reader(r, &embedding, NULL, err) || take_norm(r, &r->decoder.norm, &last, err) ||
                   edit_reader(r, &r->decoder.head, last, err)
               ? -1
               : 0;
}

/* --- Values of heads --- */

static int turn_values(struct rotating *r, const struct by_decoder_layer *layer,
                       struct baryon_error *err)
{
    const struct by_decoder *d = &r->decoder;
    const struct by_decoder_place *all = &layer->parts[BY_PART_QKV];
    const struct by_decoder_place *values = all->weight ? all : &layer->parts[BY_PART_V];
    const size_t first = all->weight ? (d->heads + d->kv_heads) * d->head_dim : 0;
    int status = 0;
    struct by_llm_rotate_edit *v = edit_of(r, values->weight, &status, err);
    struct by_llm_rotate_edit *bias = edit_of(r, values->bias, &status, err);
    struct by_llm_rotate_edit *o = edit_of(r, layer->parts[BY_PART_O].weight, &status, err);
    if (status)
        return -1;
    v->rows = r->heads;
    v->first_row = first;
    if (bias) {
        bias->columns = r->heads;
        bias->first_column = first;
    }
    o->columns = r->heads;
    return 0;
}

/* --- A head of its own --- */

static void set_false(struct by_doc_node *node)
{
    node->kind = BY_DOC_SCALAR;
    node->quoted = false;
    node->text = "false";
}

/* "tie_word_embeddings": false, in a map; where it is not, it is added. */
static int untie_map(struct by_llm_rotated *rotated, struct by_doc_node *map,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->pairs[i].key, "tie_word_embeddings")) {
            set_false(map->pairs[i].value);
            return 0;
        }
    struct by_doc_pair *pairs = by_arena_alloc(&rotated->arena, map->count + 1, sizeof *pairs, err);
    struct by_doc_node *node = BY_ARENA_NEW(&rotated->arena, struct by_doc_node, err);
    if (!pairs || !node)
        return -1;
    set_false(node);
    memcpy(pairs, map->pairs, map->count * sizeof *pairs);
    pairs[map->count] = (struct by_doc_pair){.key = "tie_word_embeddings", .value = node};
    map->pairs = pairs;
    map->count++;
    return 0;
}

/* The nodes of config.json are the checkpoint's own, and its to change. */
static int untie_config(struct rotating *r, struct baryon_error *err)
{
    struct by_doc_node *config = (struct by_doc_node *)r->opened->checkpoint->config;
    struct by_doc_node *text = (struct by_doc_node *)by_hf_text(config);
    return untie_map(r->rotated, config, err) ||
                   (text != config && untie_map(r->rotated, text, err))
               ? -1
               : 0;
}

static int add_head(struct rotating *r, struct baryon_error *err)
{
    struct by_llm_source *source = &r->opened->source;
    const size_t embedding = (size_t)(r->decoder.embedding.weight - source->weights);
    struct by_llm_weight *weights =
        by_arena_alloc(&r->rotated->arena, source->count + 1, sizeof *weights, err);
    if (!weights)
        return -1;
    memcpy(weights, source->weights, source->count * sizeof *weights);
    struct by_llm_weight *head = &weights[source->count];
    *head = weights[embedding];
    head->name = "lm_head.weight";
    head->layer = "lm_head";
    source->weights = weights;
    source->count++;
    by_decoder_close(&r->decoder);
    return untie_config(r, err) ||
                   by_decoder_open(&r->decoder, source, r->opened->checkpoint->config, err)
               ? -1
               : 0;
}

/* --- All --- */

static int make_rotation(struct by_rotation *rotation, size_t size, const char *what,
                         struct baryon_error *err)
{
    return by_rotation_make(rotation, size, BY_ROTATION_HADAMARD, 0, err)
               ? by_err_in(err, "--rotate %s", what)
               : 0;
}

static int rotate_all(struct rotating *r, unsigned rotations, struct baryon_error *err)
{
    struct by_llm_rotated *rotated = r->rotated;
    if (by_decoder_open(&r->decoder, &r->opened->source, r->opened->checkpoint->config, err))
        return -1;
    if (rotations & BY_LLM_ROTATE_STREAM) {
        if (make_rotation(&rotated->stream, r->decoder.hidden, "r1", err) ||
            (r->decoder.head.weight == r->decoder.embedding.weight && add_head(r, err)))
            return -1;
        r->stream = &rotated->stream;
        if (turn_stream(r, err))
            return -1;
    }
    if (!(rotations & BY_LLM_ROTATE_HEADS))
        return 0;
    if (make_rotation(&rotated->heads, r->decoder.head_dim, "r2", err))
        return -1;
    r->heads = &rotated->heads;
    for (size_t i = 0; i < r->decoder.layers; i++)
        if (turn_values(r, &r->decoder.layer[i], err))
            return -1;
    return 0;
}

int by_llm_rotate(struct by_llm_rotated **rotated, struct by_llm_opened *opened, unsigned rotations,
                  struct baryon_error *err)
{
    struct rotating r = {.opened = opened};
    *rotated = by_alloc_zero(1, sizeof **rotated, err);
    if (!*rotated)
        return -1;
    by_arena_init(&(*rotated)->arena, 0);
    by_llm_rotate_cache_open(&(*rotated)->cache);
    r.rotated = *rotated;
    const int status = rotate_all(&r, rotations, err);
    by_decoder_close(&r.decoder);
    return status;
}

void by_llm_rotated_close(struct by_llm_rotated *rotated)
{
    if (!rotated)
        return;
    by_llm_rotate_cache_close(&rotated->cache);
    by_rotation_free(&rotated->stream);
    by_rotation_free(&rotated->heads);
    by_arena_release(&rotated->arena);
    by_free(rotated);
}
