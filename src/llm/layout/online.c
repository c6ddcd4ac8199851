/* Reads which layers rotate their inputs, and the matrices. */
#include "llm/layout/online.h"

#include "array/elem.h"
#include "base/str.h"
#include "llm/layout/fields.h"
#include "llm/layout/match.h"
#include "llm/scheme/rows.h"
#include "solve/rotation.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_ 1024

/* Layers share matrices. */
struct by_llm_online_matrix {
    struct by_llm_online_matrix *next;
    const struct by_stored_tensor *stored; /* NULL: plain */
    bool inverse;
    struct by_rotation rotation;
};

static const char *word_of(const struct by_doc_node *map, const char *key)
{
    const struct by_doc_node *node = by_doc_get(map, key);
    return node && node->kind == BY_DOC_SCALAR ? node->text : "";
}

static int refuse(const char *what, const char *value, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "config.json: a rotation of inputs while the model runs has %s %s, is not known",
                   what, by_quote(quoted, value));
}

/* --- Matrices --- */

/* 1 and -1 of any type. */
static int read_matrix(const struct by_llm_source *source, const struct by_stored_tensor *stored,
                       size_t size, struct by_rotation *rotation, struct baryon_error *err)
{
    const uint8_t *bytes = by_checkpoint_bytes(source->checkpoint, stored);
    const int64_t elem = stored->type->elem;
    char quoted[BY_QUOTE_MAX];
    if (stored->rank != 2 || stored->dims[0] != size || stored->dims[1] != size)
        return by_fail(err, BARYON_ERR_INPUT, "tensor %s must have %zu rows and columns",
                       by_quote(quoted, stored->name), size);
    if (elem != BY_ELEM_INT8 && elem != BY_ELEM_FLOAT && elem != BY_ELEM_FLOAT16 &&
        elem != BY_ELEM_BFLOAT16)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s has type %s, rotations of 1 and -1 alone are known",
                       by_quote(quoted, stored->name), stored->type->name);
    int8_t *signs = by_alloc(size, size, err);
    if (!signs)
        return -1;
    for (size_t i = 0; i < size * size; i++) {
        const uint8_t *at = bytes + i * stored->type->bytes;
        const float value = elem == BY_ELEM_INT8 ? (float)(int8_t)*at : by_llm_load_float(elem, at);
        signs[i] = (int8_t)(value == 1 ? 1 : value == -1 ? -1 : 0);
    }
    const int status = by_rotation_of_matrix(rotation, signs, size, err);
    by_free(signs);
    return status ? by_err_in(err, "tensor %s", by_quote(quoted, stored->name)) : 0;
}

/* stored NULL: the plain one. */
static const struct by_rotation *matrix_of(struct by_llm_source *source,
                                           const struct by_stored_tensor *stored, size_t size,
                                           bool inverse, struct baryon_error *err)
{
    struct by_llm_online_matrix *own = source->rotations;
    for (; own; own = own->next)
        if (own->stored == stored && own->rotation.size == size && own->inverse == inverse)
            return &own->rotation;
    own = BY_ARENA_NEW(&source->arena, struct by_llm_online_matrix, err);
    if (!own || (stored ? read_matrix(source, stored, size, &own->rotation, err)
                        : by_rotation_make(&own->rotation, size, BY_ROTATION_PLAIN, 0, err)))
        return NULL;
    own->stored = stored;
    own->inverse = inverse;
    if (inverse)
        by_rotation_transpose(&own->rotation);
    own->next = source->rotations;
    source->rotations = own;
    return &own->rotation;
}

const struct by_rotation *by_llm_online_back(struct by_llm_source *source,
                                             const struct by_llm_weight *weight,
                                             struct baryon_error *err)
{
    const struct by_llm_online_matrix *own = source->rotations;
    while (&own->rotation != weight->rotation)
        own = own->next;
    return matrix_of(source, own->stored, own->rotation.size, !own->inverse, err);
}

static int rotate_input(struct by_llm_source *source, struct by_llm_weight *weight,
                        const struct by_stored_tensor *stored, size_t size, bool inverse,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (weight->rotation)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "%s: inputs are rotated twice",
                       by_quote(quoted, weight->layer));
    if (!size || weight->columns % size)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%s: inputs are rotated in blocks of %zu, which %zu columns are no multiple "
                       "of",
                       by_quote(quoted, weight->layer), size, weight->columns);
    weight->rotation = matrix_of(source, stored, size, inverse, err);
    return weight->rotation ? 0 : by_err_in(err, "%s", by_quote(quoted, weight->layer));
}

/* --- compressed-tensors --- */

static bool targets_layer(const struct by_doc_node *list, const char *layer)
{
    for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++)
        if (list->items[i]->text && by_llm_match(list->items[i]->text, layer, NULL) == 1)
            return true;
    return false;
}

static const struct by_doc_node *groups_of(const struct by_llm_dialect *dialect)
{
    const struct by_doc_node *groups = by_doc_get(dialect->rotations, "config_groups");
    return dialect->layout == &by_llm_layout_compressed && groups && groups->kind == BY_DOC_MAP
               ? groups
               : NULL;
}

/* Loaders that tie matrices write that of the first layer alone. */
static const struct by_stored_tensor *find_shared(const struct by_checkpoint *checkpoint,
                                                  const char *layer, const char *group)
{
    char name[NAME_MAX_];
    snprintf(name, sizeof name, "%s.%s_input.weight", layer, group);
    const struct by_stored_tensor *found = by_checkpoint_find(checkpoint, name);
    snprintf(name, sizeof name, ".%s_input.weight", group);
    for (size_t i = 0; !found && i < checkpoint->tensor_count; i++)
        if (by_has_suffix(checkpoint->tensors[i].name, name))
            found = &checkpoint->tensors[i];
    return found;
}

struct group {
    const char *name;
    const struct by_doc_node *map, *targets, *ignore;
    size_t size; /* 0: all columns */
    bool inverse;
};

static int rotate_target(struct by_llm_source *source, const struct group *group,
                         struct by_llm_weight *weight, struct baryon_error *err)
{
    const size_t size = group->size ? group->size : weight->columns;
    const struct by_stored_tensor *stored = NULL;
    if (strcmp(word_of(group->map, "type"), "hadamard") != 0) {
        stored = find_shared(source->checkpoint, weight->layer, group->name);
        if (!stored)
            return by_fail(err, BARYON_ERR_INPUT, "%s: the matrix %s_input.weight is missing",
                           weight->layer, group->name);
    }
    return rotate_input(source, weight, stored, size, group->inverse, err);
}

static int read_apply(struct by_llm_source *source, struct group *group,
                      const struct by_doc_node *apply, struct baryon_error *err)
{
    const char *location = word_of(apply, "location");
    if (by_has_word("weight_input weight_output", location))
        return 0; /* done to the weights that are stored */
    if (strcmp(location, "input") != 0)
        return refuse("the location", location, err);
    group->targets = by_doc_get(apply, "targets");
    group->ignore = by_doc_get(apply, "ignore");
    group->inverse = !strcmp(word_of(apply, "inverse"), "true");
    if (targets_layer(group->targets, "Linear"))
        return refuse("the target", "Linear", err);
    for (size_t i = 0; i < source->count; i++) {
        struct by_llm_weight *weight = &source->weights[i];
        if (strcmp(weight->layer, weight->name) != 0 &&
            targets_layer(group->targets, weight->layer) &&
            !targets_layer(group->ignore, weight->layer) &&
            rotate_target(source, group, weight, err))
            return -1;
    }
    return 0;
}

static int read_group(struct by_llm_source *source, const struct by_doc_pair *pair,
                      struct baryon_error *err)
{
    const struct by_doc_node *apply = by_doc_get(pair->value, "apply");
    struct group group = {.name = pair->key, .map = pair->value};
    const char *type = word_of(pair->value, "type"), *head = word_of(pair->value, "head_dim");
    int64_t size = 0;
    if (!by_has_word("hadamard random-hadamard", type))
        return refuse("the type", type, err);
    if (!strcmp(word_of(pair->value, "randomize"), "true"))
        return refuse("randomize", "true", err);
    if (by_parse_i64(head, &size) && size < 1)
        return refuse("head_dim", head, err);
    group.size = (size_t)size;
    for (size_t i = 0; apply && apply->kind == BY_DOC_LIST && i < apply->count; i++)
        if (read_apply(source, &group, apply->items[i], err))
            return -1;
    return 0;
}

static int read_compressed(struct by_llm_source *source, struct baryon_error *err)
{
    const struct by_doc_node *groups = groups_of(&source->dialect);
    for (size_t i = 0; groups && i < groups->count; i++)
        if (read_group(source, &groups->pairs[i], err))
            return -1;
    return 0;
}

/* --- Quark --- */

static const struct by_stored_tensor *beside(const struct by_llm_source *source, const char *layer,
                                             const char *suffix)
{
    char name[NAME_MAX_];
    const int size = snprintf(name, sizeof name, "%s.%s", layer, suffix);
    return size < 0 || (size_t)size >= sizeof name ? NULL
                                                   : by_checkpoint_find(source->checkpoint, name);
}

/* Of the algorithms those that leave something to do while the model runs. */
static int check_quark(const struct by_llm_source *source, bool found, struct baryon_error *err)
{
    const struct by_doc_node *list = source->dialect.rotations;
    for (size_t i = 0; list && list->kind == BY_DOC_LIST && i < list->count; i++) {
        const struct by_doc_node *own = list->items[i];
        if (strcmp(word_of(own, "name"), "rotation") != 0)
            continue;
        if (!strcmp(word_of(own, "r3"), "true"))
            return refuse("r3", "true", err);
        if (!found && (!strcmp(word_of(own, "r4"), "true") ||
                       !strcmp(word_of(own, "online_r1_rotation"), "true")))
            return by_fail(err, BARYON_ERR_INPUT,
                           "config.json says that inputs are rotated, but no layer has a tensor "
                           "input_rotation");
    }
    return 0;
}

static int read_quark(struct by_llm_source *source, struct baryon_error *err)
{
    bool found = false;
    for (size_t i = 0; i < source->count; i++) {
        struct by_llm_weight *weight = &source->weights[i];
        const struct by_stored_tensor *stored =
            weight->as == BY_LLM_AS_CODES ? beside(source, weight->layer, "input_rotation") : NULL;
        if (!stored)
            continue;
        found = true;
        if (beside(source, weight->layer, "input_prescale"))
            return refuse("a tensor", "input_prescale", err);
        if (rotate_input(source, weight, stored, (size_t)stored->dims[0], false, err))
            return -1;
    }
    return check_quark(source, found, err);
}

/* --- Ours --- */

static int read_own(struct by_llm_source *source, struct baryon_error *err)
{
    const struct by_doc_node *layers = by_doc_get(source->dialect.rotations, "layers");
    int64_t size = 0;
    if (!source->dialect.rotations)
        return 0;
    if (!by_parse_i64(word_of(source->dialect.rotations, "size"), &size) || size < 1)
        return refuse("the size", word_of(source->dialect.rotations, "size"), err);
    for (size_t i = 0; i < source->count; i++) {
        struct by_llm_weight *weight = &source->weights[i];
        if (strcmp(weight->layer, weight->name) != 0 && targets_layer(layers, weight->layer) &&
            rotate_input(source, weight, NULL, (size_t)size, false, err))
            return -1;
    }
    return 0;
}

/* --- All --- */

int by_llm_online_read(struct by_llm_source *source, struct baryon_error *err)
{
    const struct by_llm_layout *layout = source->dialect.layout;
    return layout == &by_llm_layout_compressed ? read_compressed(source, err)
           : layout == &by_llm_layout_quark    ? read_quark(source, err)
           : layout == &by_llm_layout_json     ? read_own(source, err)
                                               : 0;
}

bool by_llm_online_holds(const struct by_llm_dialect *dialect, const char *name)
{
    const struct by_doc_node *groups = groups_of(dialect);
    char suffix[NAME_MAX_];
    for (size_t i = 0; groups && i < groups->count; i++) {
        snprintf(suffix, sizeof suffix, ".%s_input.weight", groups->pairs[i].key);
        if (by_has_suffix(name, suffix))
            return true;
    }
    return dialect->layout == &by_llm_layout_quark && by_has_suffix(name, ".input_rotation");
}

void by_llm_online_close(struct by_llm_source *source)
{
    for (struct by_llm_online_matrix *own = source->rotations; own; own = own->next)
        by_rotation_free(&own->rotation);
    source->rotations = NULL;
}
