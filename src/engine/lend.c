/*
 * A model for ONNX Runtime without copying its weights: the bytes say that the
 * payload is in a file, and the payload is handed over beside them. So a model of
 * any size can be opened, and nothing is written to disk.
 */
#include "base/constant.h"
#include "base/str.h"
#include "engine/dequantize.h"
#include "engine/session_internal.h"
#include "ir/graph.h"
#include "onnx/external.h"
#include "onnx/schema.h"

#include <stdio.h>
#include <string.h>

#define LEND_DEFAULT (64u << 10)
#define LEND_LEAST                                                                                 \
    1024u /* ONNX Runtime reads small ones to infer shapes: they have to be there                  \
           */

/* The address tells a reference of ours from one of the model's. */
static const char location_key[] = "location";

/* A tensor that says something else while the model is written. */
struct swapped {
    struct baryon_tensor *tensor;
    struct baryon_tensor old;
};

struct swapped_list {
    struct swapped *at;
    size_t count, cap;
};

struct lent_tensor {
    struct by_array array;
    bool stays; /* where it is while the session is open */
};

struct lent_list {
    struct lent_tensor *at;
    size_t count, cap;
};

struct by_lent {
    struct by_arena arena;
    struct by_session *session;
    struct baryon_model *model;
    const struct by_session_options *options;
    size_t min;
    struct swapped_list swapped;
    struct lent_list tensors;
    const char **names;
    OrtValue **values;
    struct by_str bytes;
};

static int swap(struct by_lent *lent, struct baryon_tensor *tensor, struct baryon_error *err)
{
    if (by_list_reserve(&lent->arena, &lent->swapped, 1, sizeof *lent->swapped.at, err))
        return -1;
    lent->swapped.at[lent->swapped.count++] = (struct swapped){tensor, *tensor};
    return 0;
}

static void swap_back(struct by_lent *lent)
{
    while (lent->swapped.count) {
        const struct swapped *swapped = &lent->swapped.at[--lent->swapped.count];
        *swapped->tensor = swapped->old;
    }
}

static int add_pair(struct by_lent *lent, struct by_ptrs *list, const char *key, const char *value,
                    struct baryon_error *err)
{
    struct by_pair *pair = BY_ARENA_NEW(&lent->arena, struct by_pair, err);
    const char *text = by_arena_text(&lent->arena, value, strlen(value), err);
    if (!pair || !text)
        return -1;
    pair->key = key;
    pair->value = (struct by_span){(const uint8_t *)text, strlen(value)};
    list->at[list->count++] = pair;
    return 0;
}

/* Location and length of a file that nobody opens. */
static int refer(struct by_lent *lent, struct baryon_tensor *tensor, size_t size,
                 struct baryon_error *err)
{
    struct by_ptrs list = {0};
    char length[24];
    snprintf(length, sizeof length, "%zu", size);
    if (by_list_reserve(&lent->arena, &list, 3, sizeof(void *), err) ||
        add_pair(lent, &list, location_key, "lent", err) ||
        add_pair(lent, &list, "offset", "0", err) || add_pair(lent, &list, "length", length, err))
        return -1;
    const struct by_span none = {0};
    tensor->raw_data = tensor->float_data = tensor->int32_data = tensor->int64_data = none;
    tensor->double_data = tensor->uint64_data = tensor->external = none;
    tensor->external_data = list;
    tensor->data_location = 1;
    return 0;
}

bool by_use_is_factor(const struct by_use *use)
{
    static const char *const recurrent[] = {"LSTM", "GRU", "RNN"};
    if (!use->node)
        return false;
    if (by_node_is(use->node, "MatMul") || by_node_is(use->node, "Gemm"))
        return use->slot <= 1;
    for (size_t i = 0; i < sizeof recurrent / sizeof *recurrent; i++)
        if (by_node_is(use->node, recurrent[i]))
            return use->slot == 1 || use->slot == 2;
    return false;
}

/* Other constants the runtime may lay out anew, or transpose under the same name. */
static bool use_lies(const struct by_use *use, const struct by_session_options *options)
{
    if (!use->node)
        return false; /* the caller gets it */
    if ((by_node_is(use->node, "Gather") || by_dequantize_run(use->node)) && use->slot == 0)
        return true;
    return options->few_runs && (options->optimization == 0 || by_use_is_factor(use));
}

static bool is_read_as_it_lies(const struct baryon_value *value,
                               const struct by_session_options *options)
{
    size_t fit = 0;
    while (options->shares_memory && fit < value->use_count && use_lies(&value->uses[fit], options))
        fit++;
    return fit && fit == value->use_count;
}

static int lend(struct by_lent *lent, const struct baryon_value *value, struct by_span bytes,
                struct baryon_error *err)
{
    struct baryon_tensor *tensor = value->initializer;
    if (by_list_reserve(&lent->arena, &lent->tensors, 1, sizeof *lent->tensors.at, err))
        return -1;
    struct lent_tensor *at = &lent->tensors.at[lent->tensors.count];
    *at = (struct lent_tensor){.array = {.name = tensor->name,
                                         .elem = tensor->data_type,
                                         .rank = tensor->dims.count,
                                         .data = bytes.data,
                                         .size = bytes.size},
                               .stays = is_read_as_it_lies(value, lent->options)};
    memcpy(at->array.dims, tensor->dims.at, tensor->dims.count * sizeof *at->array.dims);
    if (swap(lent, tensor, err) || refer(lent, tensor, bytes.size, err))
        return -1;
    lent->tensors.count++;
    return 0;
}

static int lend_initializer(struct by_lent *lent, struct baryon_tensor *tensor,
                            struct baryon_error *err)
{
    size_t count, size;
    struct by_span bytes;
    const struct baryon_value *value =
        tensor->name ? by_graph_value(lent->model->graph, tensor->name) : NULL;
    /* ONNX Runtime drops what nothing reads, and misses it when it is to be replaced. */
    if (tensor->data_type == BY_ELEM_STRING || !value || !value->use_count)
        return 0;
    if (by_tensor_count(tensor, &count, err) || by_elem_bytes(tensor->data_type, count, &size, err))
        return -1;
    if (size < lent->min)
        return 0;
    return by_tensor_bytes(tensor, &lent->arena, &bytes, err) || lend(lent, value, bytes, err);
}

static bool is_lent(const struct baryon_tensor *tensor)
{
    const struct by_pair *first = tensor->external_data.count ? tensor->external_data.at[0] : NULL;
    return first && first->key == location_key;
}

/* What is not lent must be in the bytes: there is no folder to look for files in. */
static int take_in(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct by_lent *lent = context;
    struct by_span bytes;
    if (!by_tensor_is_external(tensor) || is_lent(tensor))
        return 0;
    if (by_tensor_bytes(tensor, &lent->arena, &bytes, err) || swap(lent, tensor, err))
        return -1;
    tensor->raw_data = bytes;
    tensor->external_data = (struct by_ptrs){0};
    tensor->data_location = 0;
    return 0;
}

static int swap_all(struct by_lent *lent, struct baryon_error *err)
{
    const struct baryon_graph *graph = lent->model->graph;
    for (size_t i = 0; i < graph->initializer.count; i++)
        if (graph->initializer.at[i] && lend_initializer(lent, graph->initializer.at[i], err))
            return by_err_in(err, "graph.initializer[%zu]", i);
    return by_model_each_tensor(lent->model, take_in, lent, err);
}

static int encode_lent_model(struct by_lent *lent, struct baryon_error *err)
{
    uint64_t size = by_wire_measure(&by_schema_model, lent->model);
    if (size > BY_WIRE_BYTES_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "%llu bytes without the initializers, must be at most %u",
                       (unsigned long long)size, BY_WIRE_BYTES_MAX);
    by_str_reserve(&lent->bytes, (size_t)size);
    return by_wire_encode(&by_schema_model, lent->model, by_wire_to_text, &lent->bytes, err);
}

/* The session's part in the one copy, which is what it reads. */
static int keep_constant(struct by_session *session, struct by_array *array, OrtValue **value,
                         struct baryon_error *err)
{
    struct by_kept_constants *kept = &session->constants;
    if (by_list_reserve(&session->arena, kept, 1, sizeof *kept->at, err))
        return -1;
    struct by_kept_constant *at = &kept->at[kept->count];
    *at = (struct by_kept_constant){0};
    if (by_constant_take(&at->constant, array->data, array->size, err))
        return -1;
    kept->count++;
    array->data = by_constant_bytes(at->constant);
    if (by_value_wrap(session, array, &session->arena, &at->value, err))
        return -1;
    *value = at->value;
    return 0;
}

static int make_values(struct by_lent *lent, struct baryon_error *err)
{
    size_t count = lent->tensors.count;
    lent->names = by_arena_alloc(&lent->arena, count + 1, sizeof *lent->names, err);
    lent->values =
        lent->names ? by_arena_alloc(&lent->arena, count + 1, sizeof(OrtValue *), err) : NULL;
    if (!lent->values)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct lent_tensor *at = &lent->tensors.at[i];
        lent->names[i] = at->array.name;
        if (at->stays
                ? keep_constant(lent->session, &at->array, &lent->values[i], err)
                : by_value_wrap(lent->session, &at->array, &lent->arena, &lent->values[i], err))
            return -1;
    }
    return 0;
}

int by_model_lend(struct by_lent **out, struct by_session *session, struct baryon_model *model,
                  size_t lend_min, const struct by_session_options *options,
                  struct baryon_error *err)
{
    *out = NULL;
    if (by_model_link(model, err) || by_model_settle(model, err))
        return -1;
    struct by_lent *lent = by_alloc_zero(1, sizeof *lent, err);
    if (!lent)
        return -1;
    lent->session = session;
    lent->model = model;
    lent->options = options;
    lent->min = lend_min ? lend_min : LEND_DEFAULT;
    if (lent->min < LEND_LEAST)
        lent->min = LEND_LEAST;
    by_arena_init(&lent->arena, 0);
    by_str_init(&lent->bytes);
    int failed = swap_all(lent, err) || encode_lent_model(lent, err);
    swap_back(lent);
    if (failed || make_values(lent, err)) {
        by_lent_free(lent);
        return -1;
    }
    by_model_pages_done(model); /* of what is not aligned there are copies */
    *out = lent;
    return 0;
}

/* With both the runtime optimizes by them, and makes no copy of them. */
int by_lent_add(const struct by_lent *lent, OrtSessionOptions *built, struct baryon_error *err)
{
    const struct by_ort *ort = lent->session->ort;
    if (!lent->tensors.count)
        return 0;
    for (size_t i = 0; i < lent->tensors.count; i++)
        if (lent->tensors.at[i].stays &&
            by_ort_status(ort, ort->api->AddInitializer(built, lent->names[i], lent->values[i]),
                          "share the weights", err))
            return -1;
    return by_ort_status(ort,
                         ort->api->AddExternalInitializers(built, lent->names,
                                                           (const OrtValue *const *)lent->values,
                                                           lent->tensors.count),
                         "add the weights", err);
}

const void *by_lent_bytes(const struct by_lent *lent, size_t *size)
{
    *size = lent->bytes.size;
    return lent->bytes.text;
}

void by_lent_free(struct by_lent *lent)
{
    if (!lent)
        return;
    for (size_t i = 0; lent->values && i < lent->tensors.count; i++)
        if (lent->values[i] && !lent->tensors.at[i].stays)
            lent->session->ort->api->ReleaseValue(lent->values[i]);
    by_str_release(&lent->bytes);
    by_arena_release(&lent->arena);
    by_free(lent);
}
