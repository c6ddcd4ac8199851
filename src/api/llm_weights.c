/* The public interface: weights of a checkpoint of a language model. */
#include "api/need.h"
#include "llm/opened.h"
#include "llm/scheme/scale.h"

#include <string.h>

#define SLAB_VALUES ((size_t)1 << 18)

struct baryon_llm {
    struct by_llm_opened opened;
    struct by_pool *pool;
    struct baryon_llm_weight *weights; /* as opened.source.weights */
    struct baryon_array (*parts)[BY_LLM_FIELDS_MAX + 1];
    struct by_map by_name; /* -> of weights */
    struct by_arena arena;
};

/* --- What weights are --- */

/* Whether codes and scales can be told apart. */
static bool has_codes(const struct by_llm_weight *weight)
{
    return weight->as == BY_LLM_AS_BLOCKS ||
           (weight->as == BY_LLM_AS_CODES && by_llm_spec_is_scaled(weight->tensor.spec));
}

static const char *type_of(const struct by_llm_weight *weight)
{
    if (weight->as == BY_LLM_AS_CODES)
        return weight->tensor.spec->dtype->name;
    return weight->as == BY_LLM_AS_STACK ? "fp4_e2m1" : weight->stored->type->name;
}

static const char *layout_of(const struct by_llm_source *source, const struct by_llm_weight *weight)
{
    switch (weight->as) {
    case BY_LLM_AS_CODES:
        return source->dialect.layout->name;
    case BY_LLM_AS_BLOCKS:
        return "block fp8";
    case BY_LLM_AS_STACK:
        return "mxfp4";
    case BY_LLM_AS_GGML:
    case BY_LLM_AS_MADE:
    case BY_LLM_AS_EDITED:
        return weight->stored->type->elem == BY_ELEM_UNDEFINED ? "gguf" : NULL;
    case BY_LLM_AS_FLOATS:
    case BY_LLM_AS_OTHER:
        break;
    }
    return NULL;
}

static size_t groups_of(const struct by_llm_weight *weight)
{
    if (!has_codes(weight))
        return 0;
    return weight->as == BY_LLM_AS_BLOCKS ? (size_t)weight->scales->dims[1] : weight->tensor.groups;
}

static void describe_blocks(const struct by_llm_weight *weight, struct baryon_llm_weight *out)
{
    const struct by_stored_type *stored = weight->stored->type;
    if (stored->elem != BY_ELEM_UNDEFINED)
        return;
    const struct by_ggml_type *type = by_ggml_type((uint32_t)stored->ggml);
    out->block = type->block;
    out->block_bytes = type->bytes;
    out->halves = type->halves;
    out->halves_at = type->halves_at;
}

static const int64_t *copy_dims(struct by_arena *arena, const uint64_t *dims, size_t rank,
                                struct baryon_error *err)
{
    int64_t *copy = by_arena_alloc(arena, rank, sizeof *copy, err);
    for (size_t i = 0; copy && i < rank; i++)
        copy[i] = (int64_t)dims[i];
    return copy;
}

/* Blocks of GGUF files are rows of bytes. */
static int describe_part(struct baryon_llm *llm, const struct by_stored_tensor *stored,
                         struct baryon_array *part, struct baryon_error *err)
{
    uint64_t dims[BY_STORED_RANK_MAX];
    *part = (struct baryon_array){.name = stored->name,
                                  .type = (int)stored->type->elem,
                                  .rank = (int)stored->rank,
                                  .data = by_checkpoint_bytes(llm->opened.checkpoint, stored),
                                  .size = (size_t)stored->bytes};
    memcpy(dims, stored->dims, sizeof dims);
    if (stored->type->elem == BY_ELEM_UNDEFINED) {
        part->type = BY_ELEM_UINT8;
        if (stored->rank)
            dims[stored->rank - 1] =
                dims[stored->rank - 1] / stored->type->block * stored->type->bytes;
    }
    part->dims = copy_dims(&llm->arena, dims, stored->rank, err);
    return part->dims ? 0 : -1;
}

static int describe_parts(struct baryon_llm *llm, const struct by_llm_weight *weight,
                          struct baryon_llm_weight *out, struct baryon_array *parts,
                          struct baryon_error *err)
{
    if (describe_part(llm, weight->stored, &parts[out->parts++], err))
        return -1;
    if (weight->scales && describe_part(llm, weight->scales, &parts[out->parts++], err))
        return -1;
    for (size_t i = 0; weight->as == BY_LLM_AS_CODES && i < weight->fields.count; i++)
        if (weight->parts[i] && weight->parts[i] != weight->stored &&
            describe_part(llm, weight->parts[i], &parts[out->parts++], err))
            return -1;
    return 0;
}

static int describe_weight(struct baryon_llm *llm, size_t place, struct baryon_error *err)
{
    const struct by_llm_weight *weight = &llm->opened.source.weights[place];
    struct baryon_llm_weight *out = &llm->weights[place];
    *out = (struct baryon_llm_weight){
        .name = weight->name,
        .type = type_of(weight),
        .layout = layout_of(&llm->opened.source, weight),
        .rank = (int)weight->rank,
        .dims = copy_dims(&llm->arena, weight->dims, weight->rank, err),
        .rows = weight->rows,
        .columns = weight->columns,
        .groups = groups_of(weight),
        .zero_points = weight->as == BY_LLM_AS_CODES && weight->tensor.spec->asymmetric};
    describe_blocks(weight, out);
    if (!out->dims || describe_parts(llm, weight, out, llm->parts[place], err))
        return -1;
    return by_map_put(&llm->by_name, weight->name, out, err);
}

static int open_weights(struct baryon_llm *llm, const char *model, bool folder_names,
                        struct baryon_error *err)
{
    const enum by_llm_names names = folder_names ? BY_LLM_NAMES_FOLDER : BY_LLM_NAMES_FILE;
    if (by_llm_open(&llm->opened, model, BY_LLM_STACKS_KEEP, names, err) ||
        by_pool_open(&llm->pool, 0, err))
        return -1;
    const size_t count = llm->opened.source.count;
    llm->weights = by_arena_alloc(&llm->arena, count, sizeof *llm->weights, err);
    llm->parts = by_arena_alloc(&llm->arena, count, sizeof *llm->parts, err);
    int status = llm->weights && llm->parts ? 0 : -1;
    for (size_t i = 0; i < count && !status; i++)
        status = describe_weight(llm, i, err);
    return status;
}

int baryon_llm_open(struct baryon_llm **out, const char *model, bool folder_names,
                    struct baryon_error *err)
{
    if (BY_NEED(out, err) || BY_NEED(model, err))
        return -1;
    *out = NULL;
    struct baryon_llm *llm = by_alloc_zero(1, sizeof *llm, err);
    if (!llm)
        return -1;
    by_arena_init(&llm->arena, 0);
    by_map_init(&llm->by_name);
    if (open_weights(llm, model, folder_names, err)) {
        baryon_llm_close(llm);
        return -1;
    }
    *out = llm;
    return 0;
}

void baryon_llm_close(struct baryon_llm *llm)
{
    if (!llm)
        return;
    by_pool_close(llm->pool);
    by_map_release(&llm->by_name);
    by_llm_close(&llm->opened);
    by_arena_release(&llm->arena);
    by_free(llm);
}

/* --- Getters --- */

const struct baryon_llm_weight *baryon_llm_weight_at(const struct baryon_llm *llm, size_t place)
{
    return llm && place < llm->opened.source.count ? &llm->weights[place] : NULL;
}

const struct baryon_llm_weight *baryon_llm_find(const struct baryon_llm *llm, const char *name)
{
    return llm && name ? by_map_get(&llm->by_name, name) : NULL;
}

const struct baryon_array *baryon_llm_part(const struct baryon_llm *llm, const char *name,
                                           size_t place)
{
    const struct baryon_llm_weight *weight = baryon_llm_find(llm, name);
    return weight && place < weight->parts ? &llm->parts[weight - llm->weights][place] : NULL;
}

/* --- Values --- */

/* What pieces of a weight are read into. */
struct reading {
    const struct baryon_llm *llm;
    const struct by_llm_weight *weight;
    float *values;
    int16_t *codes;
    float *scales;
    int32_t *zeros;
};

static const struct by_llm_weight *need_weight(const struct baryon_llm *llm, const char *name,
                                               struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (BY_NEED(llm, err) || BY_NEED(name, err))
        return NULL;
    const struct baryon_llm_weight *found = baryon_llm_find(llm, name);
    if (found)
        return &llm->opened.source.weights[found - llm->weights];
    by_fail(err, BARYON_ERR_USAGE, "there is no weight %s", by_quote(quoted, name));
    return NULL;
}

static int need_count(const struct by_llm_weight *weight, const char *what, size_t wanted,
                      size_t count, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (count == wanted)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "%s has %zu %s, count is %zu",
                   by_quote(quoted, weight->name), wanted, what, count);
}

/* Rows of BY_LLM_ROWS_STEP and its multiples. */
static size_t slab_rows(const struct by_llm_weight *weight)
{
    const size_t rows = SLAB_VALUES / (weight->columns + 1) / BY_LLM_ROWS_STEP;
    return (rows + 1) * BY_LLM_ROWS_STEP;
}

static int value_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct reading *reading = context;
    const struct by_llm_weight *weight = reading->weight;
    (void)worker;
    return by_llm_source_rows(&reading->llm->opened.source, weight, begin, end - begin,
                              reading->values + begin * weight->columns, err);
}

int baryon_llm_values(const struct baryon_llm *llm, const char *name, float *out, size_t count,
                      struct baryon_error *err)
{
    const struct by_llm_weight *weight = need_weight(llm, name, err);
    if (!weight || BY_NEED_LIST(out, count, err) ||
        need_count(weight, "values", weight->rows * weight->columns, count, err))
        return -1;
    struct reading reading = {.llm = llm, .weight = weight, .values = out};
    return by_par_for(llm->pool, weight->rows, slab_rows(weight), value_piece, &reading, err) ||
                   by_checkpoint_check(llm->opened.checkpoint, err)
               ? -1
               : 0;
}

/* --- Codes and scales --- */

static int16_t code_at(const struct by_llm_weight *weight, const uint8_t *codes, size_t i)
{
    const bool has_sign =
        by_llm_spec_is_int(weight->tensor.spec) && weight->tensor.spec->dtype->low < 0;
    return has_sign ? (int16_t)(int8_t)codes[i] : (int16_t)codes[i];
}

static float scale_at(const struct by_llm_weight *weight, float stored)
{
    const struct by_llm_tensor *tensor = &weight->tensor;
    const float effective = by_llm_effective(tensor, stored);
    return tensor->spec->over_fp8 ? effective * tensor->scale : effective;
}

static int coded_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct reading *reading = context;
    const struct by_llm_weight *weight = reading->weight;
    const size_t count = (end - begin) * weight->columns;
    const size_t groups = weight->tensor.groups, first = begin * groups;
    const uint8_t *data[BY_LLM_FIELDS_MAX] = {0};
    struct by_llm_coded coded;
    (void)worker;
    for (size_t i = 0; i < weight->fields.count; i++)
        if (weight->parts[i])
            data[i] = by_checkpoint_bytes(reading->llm->opened.checkpoint, weight->parts[i]);
    if (by_llm_coded_open(&coded, &weight->tensor, end - begin, err))
        return -1;
    const int failed =
        by_llm_fields_get(&weight->fields, &weight->tensor, data, begin, end - begin, &coded, err);
    for (size_t i = 0; i < count && reading->codes && !failed; i++)
        reading->codes[begin * weight->columns + i] = code_at(weight, coded.codes, i);
    for (size_t i = 0; i < (end - begin) * groups && reading->scales && !failed; i++) {
        reading->scales[first + i] = scale_at(weight, coded.scales[i]);
        if (reading->zeros)
            reading->zeros[first + i] = coded.zeros ? coded.zeros[i] : 0;
    }
    by_llm_coded_close(&coded);
    return failed;
}

/* fp8 with a scale for each block of rows and columns: a row has those of its block. */
static int block_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct reading *reading = context;
    const struct by_llm_weight *weight = reading->weight;
    const struct by_llm_source *source = &reading->llm->opened.source;
    const uint8_t *codes = by_checkpoint_bytes(source->checkpoint, weight->stored);
    const uint8_t *scales = by_checkpoint_bytes(source->checkpoint, weight->scales);
    const size_t groups = (size_t)weight->scales->dims[1];
    (void)worker;
    for (size_t i = begin * weight->columns; i < end * weight->columns && reading->codes; i++)
        reading->codes[i] = codes[i];
    for (size_t r = begin; r < end && reading->scales; r++) {
        if (by_elem_to_floats(weight->scales->type->elem, scales,
                              r / source->dialect.block[0] * groups, groups,
                              reading->scales + r * groups, err))
            return -1;
        if (reading->zeros)
            memset(reading->zeros + r * groups, 0, groups * sizeof *reading->zeros);
    }
    return 0;
}

static int read_coded(const struct baryon_llm *llm, const struct by_llm_weight *weight,
                      struct reading *reading, struct baryon_error *err)
{
    reading->llm = llm;
    reading->weight = weight;
    return by_par_for(llm->pool, weight->rows, slab_rows(weight),
                      weight->as == BY_LLM_AS_BLOCKS ? block_piece : coded_piece, reading, err) ||
                   by_checkpoint_check(llm->opened.checkpoint, err)
               ? -1
               : 0;
}

static const struct by_llm_weight *need_codes(const struct baryon_llm *llm, const char *name,
                                              struct baryon_error *err)
{
    const struct by_llm_weight *weight = need_weight(llm, name, err);
    char quoted[BY_QUOTE_MAX];
    if (!weight || has_codes(weight))
        return weight;
    by_fail(err, BARYON_ERR_UNSUPPORTED, "%s (%s) has no codes and scales apart from each other",
            by_quote(quoted, name), type_of(weight));
    by_err_hint(err, "its parts are the arrays of the file");
    return NULL;
}

int baryon_llm_codes(const struct baryon_llm *llm, const char *name, int16_t *out, size_t count,
                     struct baryon_error *err)
{
    const struct by_llm_weight *weight = need_codes(llm, name, err);
    struct reading reading = {.codes = out};
    return !weight || BY_NEED_LIST(out, count, err) ||
                   need_count(weight, "codes", weight->rows * weight->columns, count, err) ||
                   read_coded(llm, weight, &reading, err)
               ? -1
               : 0;
}

int baryon_llm_scales(const struct baryon_llm *llm, const char *name, float *out,
                      int32_t *zero_points, size_t count, struct baryon_error *err)
{
    const struct by_llm_weight *weight = need_codes(llm, name, err);
    struct reading reading = {.scales = out, .zeros = zero_points};
    return !weight || BY_NEED_LIST(out, count, err) ||
                   need_count(weight, "scales", weight->rows * groups_of(weight), count, err) ||
                   read_coded(llm, weight, &reading, err)
               ? -1
               : 0;
}

int baryon_llm_groups(const struct baryon_llm *llm, const char *name, int32_t *out, size_t count,
                      struct baryon_error *err)
{
    const struct by_llm_weight *weight = need_codes(llm, name, err);
    if (!weight || BY_NEED_LIST(out, count, err) ||
        need_count(weight, "columns", weight->columns, count, err))
        return -1;
    const bool blocks = weight->as == BY_LLM_AS_BLOCKS;
    const size_t size = blocks ? (size_t)llm->opened.source.dialect.block[1] : weight->tensor.group;
    for (size_t i = 0; i < count; i++)
        out[i] =
            !blocks && weight->tensor.group_of ? weight->tensor.group_of[i] : (int32_t)(i / size);
    return 0;
}
