/* Finds the weights of a checkpoint, and the tensors that each of them consists of. */
#include "llm/layout/source.h"

#include "base/str.h"
#include "llm/layout/fields.h"
#include "llm/layout/online.h"
#include "llm/layout/stacks.h"

#include <stdio.h>
#include <string.h>

#define ARENA_LIMIT ((size_t)1 << 30)
#define NAME_MAX_   1024

/* Tensors beside the codes of a layer; scales of keys and values are beside no codes. */
static const char besides[] =
    "weight_scale weight_scale_2 weight_scale_inv weight_zero_point weight_zero_point_2 "
    "weight_global_scale weight_shape weight_g_idx input_scale input_scale_2 input_zero_point "
    "input_global_scale output_scale qzeros scales g_idx";

static const struct by_stored_tensor *beside(const struct by_checkpoint *checkpoint,
                                             const char *layer, const char *suffix)
{
    char name[NAME_MAX_];
    const int size = snprintf(name, sizeof name, "%s.%s", layer, suffix);
    return size < 0 || (size_t)size >= sizeof name ? NULL : by_checkpoint_find(checkpoint, name);
}

static const char *codes_suffix(const struct by_llm_dialect *dialect)
{
    if (dialect->layout == &by_llm_layout_awq || dialect->layout == &by_llm_layout_gptq)
        return "qweight";
    return "weight";
}

/* A weight that is nothing but its codes, which only our own layout has. */
static bool is_cast(const struct by_llm_source *source, const char *layer, const char *suffix)
{
    const struct by_stored_tensor *tensor = beside(source->checkpoint, layer, suffix);
    const struct by_llm_spec *spec = by_llm_dialect_spec(&source->dialect, layer);
    if (source->dialect.layout != &by_llm_layout_json || !tensor || tensor->rank != 2 || !spec ||
        by_llm_spec_is_scaled(spec))
        return false;
    const int64_t elem =
        by_dtype_code_bytes(spec->dtype) > 1 ? (int64_t)spec->dtype->elem : BY_ELEM_UINT8;
    return (int64_t)tensor->type->elem == elem;
}

/* Whether the tensor of that suffix holds codes of its layer. */
static bool holds_codes(const struct by_llm_source *source, const char *layer, const char *suffix)
{
    const struct by_checkpoint *checkpoint = source->checkpoint;
    if (!source->dialect.method)
        return false;
    if (!strcmp(suffix, "weight_packed"))
        return beside(checkpoint, layer, "weight_scale") != NULL;
    if (strcmp(suffix, codes_suffix(&source->dialect)) != 0)
        return false;
    return beside(checkpoint, layer, "weight_scale") || beside(checkpoint, layer, "scales") ||
           beside(checkpoint, layer, "weight_scale_inv") || is_cast(source, layer, suffix);
}

static bool belongs_to_codes(const struct by_llm_source *source, const char *layer,
                             const char *suffix)
{
    if (source->dialect.method && by_has_word("k_scale v_scale", suffix))
        return true;
    return source->dialect.method && by_has_word(besides, suffix) &&
           ((beside(source->checkpoint, layer, "weight") && holds_codes(source, layer, "weight")) ||
            beside(source->checkpoint, layer, "qweight") ||
            beside(source->checkpoint, layer, "weight_packed"));
}

/* --- Codes --- */

static bool is_turned(const struct by_llm_dialect *dialect, const struct by_llm_spec *spec)
{
    return dialect->layout == &by_llm_layout_awq || dialect->layout == &by_llm_layout_gptq ||
           (dialect->layout == &by_llm_layout_quark && by_llm_spec_is_int(spec) &&
            spec->grain == BY_LLM_GROUP);
}

/* Rows and columns by the dimensions of the codes. */
static void measure(const struct by_llm_source *source, const struct by_llm_spec *spec,
                    bool whole_bytes, struct by_llm_weight *weight)
{
    const struct by_stored_tensor *codes = weight->stored;
    /* Only bits that divide 24 are packed, as those of integers; other codes fill their bytes. */
    const bool is_whole = whole_bytes || 24 % spec->dtype->bits;
    const size_t bits = is_whole ? 8 * by_dtype_code_bytes(spec->dtype) : spec->dtype->bits;
    const size_t per_row = (size_t)codes->dims[1] * codes->type->bytes * 8 / bits;
    weight->rows = (size_t)codes->dims[0];
    weight->columns = per_row;
    if (source->dialect.layout == &by_llm_layout_gptq) {
        weight->rows = (size_t)codes->dims[1];
        weight->columns = (size_t)codes->dims[0] * 32 / bits;
    } else if (is_turned(&source->dialect, spec)) {
        weight->rows = per_row;
        weight->columns = (size_t)codes->dims[0];
    }
}

static int mismatch(const struct by_llm_weight *weight, const struct by_llm_field *field,
                    const struct by_stored_tensor *stored, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], shape[128];
    return by_fail(
        err, BARYON_ERR_INPUT,
        "%s.%s: %s %s does not fit a weight of %zu rows and %zu columns in groups of %zu",
        by_quote(quoted, weight->layer), field->suffix, stored->type->name,
        by_stored_shape(stored, shape, sizeof shape), weight->rows, weight->columns,
        weight->tensor.group);
}

static bool may_lack(const struct by_llm_field *field, const struct by_llm_weight *weight)
{
    return field->kind == BY_LLM_FIELD_SHAPE || field->kind == BY_LLM_FIELD_GROUP_INDEX ||
           (field->kind == BY_LLM_FIELD_ZEROS && !weight->tensor.spec->asymmetric);
}

static int find_parts(const struct by_llm_source *source, struct by_llm_weight *weight,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < weight->fields.count; i++) {
        struct by_llm_field *field = &weight->fields.at[i];
        const struct by_stored_tensor *found =
            beside(source->checkpoint, weight->layer, field->suffix);
        if (!found && !may_lack(field, weight))
            return by_fail(err, BARYON_ERR_INPUT, "%s: there is no tensor %s of this layer",
                           by_quote(quoted, weight->layer), field->suffix);
        if (found && found->bytes != field->bytes)
            return mismatch(weight, field, found, err);
        if (field->kind == BY_LLM_FIELD_CODES && source->dialect.naturally)
            field->form.order = NULL;
        if (field->kind == BY_LLM_FIELD_ZEROS) {
            if (source->dialect.zeros_as_stored)
                field->less = 0;
            if (source->dialect.naturally)
                field->form.order = NULL;
        }
        weight->parts[i] = found;
    }
    return 0;
}

/* Groups of columns that are not in their order. */
static int read_index(struct by_llm_source *source, struct by_llm_weight *weight,
                      struct baryon_error *err)
{
    const struct by_stored_tensor *index = beside(source->checkpoint, weight->layer, "g_idx");
    char quoted[BY_QUOTE_MAX];
    if (!index)
        index = beside(source->checkpoint, weight->layer, "weight_g_idx");
    if (!index || index->bytes != 4 * weight->columns || weight->tensor.groups < 2)
        return 0;
    const uint8_t *bytes = by_checkpoint_bytes(source->checkpoint, index);
    int32_t *groups = by_arena_alloc(&source->arena, weight->columns, sizeof *groups, err);
    if (!groups)
        return -1;
    memcpy(groups, bytes, index->bytes);
    bool ordered = true;
    for (size_t i = 0; i < weight->columns; i++) {
        if (groups[i] < 0 || (size_t)groups[i] >= weight->tensor.groups)
            return by_fail(
                err, BARYON_ERR_INPUT, "%s.%s: group %d of column %zu, must be below %zu",
                by_quote(quoted, weight->layer), "g_idx", groups[i], i, weight->tensor.groups);
        ordered = ordered && (size_t)groups[i] == i / weight->tensor.group;
    }
    weight->tensor.group_of = ordered ? NULL : groups;
    return 0;
}

static int64_t stored_elem(const struct by_llm_source *source, const struct by_llm_weight *weight,
                           const struct by_llm_spec *spec)
{
    static const char *const suffixes[] = {"weight_scale", "scales"};
    const struct by_stored_tensor *scales =
        spec->over_fp8 ? beside(source->checkpoint, weight->layer, "weight_scale_2") : NULL;
    for (size_t i = 0; i < 2 && !scales; i++)
        scales = beside(source->checkpoint, weight->layer, suffixes[i]);
    return scales ? (int64_t)scales->type->elem : BY_ELEM_FLOAT;
}

static int read_codes(struct by_llm_source *source, struct by_llm_weight *weight,
                      struct baryon_error *err)
{
    const struct by_llm_spec *spec = by_llm_dialect_spec(&source->dialect, weight->layer);
    const uint8_t *data[BY_LLM_FIELDS_MAX] = {0};
    char quoted[BY_QUOTE_MAX];
    if (!spec)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%s is quantized, but quantization_config says nothing of it",
                       by_quote(quoted, weight->layer));
    if (weight->stored->rank != 2)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "%s has %zu dimensions, must be 2",
                       by_quote(quoted, weight->stored->name), weight->stored->rank);
    weight->as = BY_LLM_AS_CODES;
    const bool whole_bytes = by_llm_layout_whole_bytes(
        source->dialect.layout, &(struct by_llm_scheme){.weight = *spec}, weight->stored->name);
    measure(source, spec, whole_bytes, weight);
    if (by_llm_tensor_init(&weight->tensor, spec, weight->columns, err))
        return by_err_in(err, "%s", by_quote(quoted, weight->layer));
    source->dialect.layout->prepare(&weight->tensor, BY_ELEM_FLOAT);
    weight->tensor.whole_bytes = whole_bytes;
    weight->tensor.stored = stored_elem(source, weight, spec);
    if (source->dialect.layout->list(&weight->tensor, weight->rows, &weight->fields, err) ||
        find_parts(source, weight, err) || read_index(source, weight, err))
        return -1;
    for (size_t i = 0; i < weight->fields.count; i++)
        if (weight->parts[i])
            data[i] = by_checkpoint_bytes(source->checkpoint, weight->parts[i]);
    weight->rank = 2;
    weight->dims[0] = weight->rows;
    weight->dims[1] = weight->columns;
    return by_llm_fields_open(&weight->fields, &weight->tensor, data, err);
}

/* --- Blocks --- */

static int read_blocks(struct by_llm_source *source, struct by_llm_weight *weight,
                       struct baryon_error *err)
{
    const uint64_t *block = source->dialect.block;
    char quoted[BY_QUOTE_MAX];
    weight->as = BY_LLM_AS_BLOCKS;
    weight->scales = beside(source->checkpoint, weight->layer, "weight_scale_inv");
    if (!weight->scales || !block[0] || !block[1] || weight->stored->rank != 2)
        return by_fail(err, BARYON_ERR_INPUT, "%s needs weight_scale_inv and weight_block_size",
                       by_quote(quoted, weight->layer));
    const uint64_t *dims = weight->stored->dims, *own = weight->scales->dims;
    if (weight->scales->rank != 2 || own[0] != (dims[0] + block[0] - 1) / block[0] ||
        own[1] != (dims[1] + block[1] - 1) / block[1])
        return by_fail(err, BARYON_ERR_INPUT,
                       "%s.weight_scale_inv does not have a scale for each %llu x %llu weights",
                       by_quote(quoted, weight->layer), (unsigned long long)block[0],
                       (unsigned long long)block[1]);
    return 0;
}

/* --- Inputs --- */

/* One value, whatever the rank. */
static int read_scalar(const struct by_llm_source *source, const char *layer, const char *suffix,
                       float *value, struct baryon_error *err)
{
    const struct by_stored_tensor *tensor = beside(source->checkpoint, layer, suffix);
    char quoted[BY_QUOTE_MAX];
    if (!tensor) {
        by_fail(err, BARYON_ERR_INPUT, "%s: there is no tensor %s, which inputs need",
                by_quote(quoted, layer), suffix);
        return by_err_hint(err, "--activations float leaves inputs as they are");
    }
    const int64_t elem = tensor->type->elem;
    if ((elem != BY_ELEM_FLOAT && elem != BY_ELEM_FLOAT16 && elem != BY_ELEM_BFLOAT16) ||
        tensor->bytes != tensor->type->bytes)
        return by_fail(err, BARYON_ERR_INPUT, "%s.%s must be one value of float32, fp16 or bf16",
                       by_quote(quoted, layer), suffix);
    *value = by_llm_load_float(elem, by_checkpoint_bytes(source->checkpoint, tensor));
    return *value > 0 ? 0
                      : by_fail(err, BARYON_ERR_INPUT, "%s.%s is %g, must be greater than 0",
                                by_quote(quoted, layer), suffix, (double)*value);
}

int by_llm_source_input(const struct by_llm_source *source, const struct by_llm_weight *weight,
                        struct by_llm_input *input, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    *input = (struct by_llm_input){0};
    if (weight->as != BY_LLM_AS_CODES && weight->as != BY_LLM_AS_BLOCKS)
        return 0;
    if (by_llm_dialect_input(&source->dialect, weight->layer, &input->spec, err))
        return by_err_in(err, "%s", by_quote(quoted, weight->layer));
    if (input->spec.grain == BY_LLM_GROUP && !input->spec.dtype->block.size &&
        weight->columns % input->spec.group) {
        by_fail(err, BARYON_ERR_UNSUPPORTED,
                "%s: inputs in groups of %zu, which %zu columns are no multiple of",
                by_quote(quoted, weight->layer), input->spec.group, weight->columns);
        return by_err_hint(err, "--activations float leaves inputs as they are");
    }
    input->quark = source->dialect.layout == &by_llm_layout_quark;
    if (!by_llm_input_is_static(&input->spec))
        return 0;
    if (input->spec.asymmetric)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "%s: static inputs with a zero point cannot be simulated",
                       by_quote(quoted, weight->layer));
    input->inverse = source->dialect.layout == &by_llm_layout_compressed && input->spec.global;
    const char *suffix = !input->spec.global ? "input_scale"
                         : input->inverse    ? "input_global_scale"
                                             : "input_scale_2";
    return read_scalar(source, weight->layer, suffix, &input->scale, err);
}

/* The scale of keys or values: beside the projection, or beside the module that it is in. */
static int read_cache(const struct by_llm_source *source, const struct by_llm_weight *weight,
                      bool of_values, struct by_llm_input *input, struct baryon_error *err)
{
    char module[NAME_MAX_];
    const char *dot = strrchr(weight->layer, '.');
    *input =
        (struct by_llm_input){.spec = {.dtype = source->dialect.cache, .scale = BY_LLM_SCALE_F32},
                              .quark = source->dialect.layout == &by_llm_layout_quark};
    if (input->quark)
        return read_scalar(source, weight->layer, "output_scale", &input->scale, err);
    if (!dot || dot - weight->layer >= NAME_MAX_)
        return by_fail(err, BARYON_ERR_INPUT, "%s is in no module, which scales of keys need",
                       weight->layer);
    memcpy(module, weight->layer, (size_t)(dot - weight->layer));
    module[dot - weight->layer] = 0;
    return read_scalar(source, module, of_values ? "v_scale" : "k_scale", &input->scale, err);
}

int by_llm_source_cache(const struct by_llm_source *source, const struct by_llm_weight *keys,
                        const struct by_llm_weight *values, struct by_llm_cache *cache,
                        struct baryon_error *err)
{
    *cache = (struct by_llm_cache){.projected = source->dialect.layout == &by_llm_layout_quark};
    if (!source->dialect.cache)
        return 0;
    return read_cache(source, keys, false, &cache->keys, err) ||
                   read_cache(source, values, true, &cache->values, err)
               ? -1
               : 0;
}

/* --- All --- */

static void describe_plain(struct by_llm_weight *weight)
{
    const struct by_stored_tensor *stored = weight->stored;
    weight->rank = stored->rank;
    memcpy(weight->dims, stored->dims, sizeof weight->dims);
    weight->rows = (size_t)by_stored_rows(stored);
    weight->columns = (size_t)by_stored_columns(stored);
    const struct by_elem_info *info = by_elem_info(stored->type->elem);
    weight->as = stored->type->elem == BY_ELEM_UNDEFINED ? BY_LLM_AS_GGML
                 : info && info->class == BY_CLASS_FLOAT ? BY_LLM_AS_FLOATS
                                                         : BY_LLM_AS_OTHER;
}

static int name_weight(struct by_llm_source *source, struct by_llm_weight *weight,
                       const char *layer, struct baryon_error *err)
{
    struct by_str name;
    by_str_init(&name);
    by_str_printf(&name, "%s.weight", layer);
    weight->name = by_arena_text(&source->arena, by_str_text(&name), name.size, err);
    by_str_release(&name);
    return weight->name ? 0 : -1;
}

static int read_tensor(struct by_llm_source *source, const struct by_stored_tensor *stored,
                       struct baryon_error *err)
{
    struct by_llm_weight *weight = &source->weights[source->count];
    const char *dot = strrchr(stored->name, '.');
    const char *suffix = dot ? dot + 1 : "";
    *weight = (struct by_llm_weight){.name = stored->name, .layer = stored->name, .stored = stored};
    char *layer = by_arena_text(&source->arena, stored->name,
                                dot ? (size_t)(dot - stored->name) : strlen(stored->name), err);
    if (!layer)
        return -1;
    if (belongs_to_codes(source, layer, suffix) ||
        by_llm_online_holds(&source->dialect, stored->name))
        return 0;
    source->count++;
    describe_plain(weight);
    if (!strcmp(suffix, "weight"))
        weight->layer = layer;
    if (!holds_codes(source, layer, suffix))
        return 0;
    weight->layer = layer;
    if (name_weight(source, weight, layer, err))
        return -1;
    return source->dialect.layout ? read_codes(source, weight, err)
                                  : read_blocks(source, weight, err);
}

static int read_tensors(struct by_llm_source *source, struct by_llm_stacking *stacking,
                        struct baryon_error *err)
{
    const struct by_checkpoint *checkpoint = source->checkpoint;
    size_t most = 0;
    if (by_llm_stacking_read(stacking, checkpoint, &source->arena, err))
        return -1;
    for (size_t i = 0; i < checkpoint->tensor_count; i++)
        most += 1 + by_llm_stack_parts(stacking, checkpoint, i);
    source->weights = by_arena_alloc(&source->arena, most, sizeof *source->weights, err);
    if (!source->weights)
        return -1;
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const size_t parts = by_llm_stack_parts(stacking, checkpoint, i);
        struct by_llm_weight *next = &source->weights[source->count];
        if (by_llm_is_stack_scales(checkpoint, &checkpoint->tensors[i]))
            continue;
        if (parts ? by_llm_stack_read(source, stacking, i, next, err)
                  : read_tensor(source, &checkpoint->tensors[i], err))
            return -1;
        source->count += parts;
    }
    return 0;
}

int by_llm_source_open(struct by_llm_source *source, const struct by_checkpoint *checkpoint,
                       enum by_llm_stacks stacks, struct baryon_error *err)
{
    struct by_llm_stacking stacking = {.stacks = stacks};
    *source = (struct by_llm_source){.checkpoint = checkpoint};
    by_arena_init(&source->arena, ARENA_LIMIT);
    if (by_llm_dialect_read(&source->dialect, &source->arena, checkpoint->config, err) == 0 &&
        read_tensors(source, &stacking, err) == 0 && by_llm_online_read(source, err) == 0)
        return 0;
    by_llm_source_close(source);
    return -1;
}

/* --- GGUF files under the names of a folder --- */

static int take_made(struct by_llm_source *source, const struct by_made_tensor *made,
                     struct baryon_error *err)
{
    struct by_llm_weight *weight = &source->weights[source->count++];
    *weight = (struct by_llm_weight){.name = made->name,
                                     .layer = made->name,
                                     .as = BY_LLM_AS_MADE,
                                     .stored = made->parts[0],
                                     .made = made,
                                     .rank = made->rank,
                                     .rows = 1};
    memcpy(weight->dims, made->dims, sizeof weight->dims);
    weight->columns = (size_t)made->dims[made->rank - 1];
    for (size_t i = 0; i + 1 < made->rank; i++)
        weight->rows *= (size_t)made->dims[i];
    if (by_has_suffix(made->name, ".weight"))
        weight->layer =
            by_arena_text(&source->arena, made->name, strlen(made->name) - strlen(".weight"), err);
    return weight->layer ? 0 : -1;
}

int by_llm_source_of_made(struct by_llm_source *source, const struct by_checkpoint *checkpoint,
                          const struct by_made_list *made, struct baryon_error *err)
{
    *source = (struct by_llm_source){.checkpoint = checkpoint};
    by_arena_init(&source->arena, ARENA_LIMIT);
    source->weights = by_arena_alloc(&source->arena, made->count, sizeof *source->weights, err);
    int failed = source->weights ? 0 : -1;
    for (size_t i = 0; i < made->count && !failed; i++)
        failed = take_made(source, &made->at[i], err);
    if (failed)
        by_llm_source_close(source);
    return failed;
}

void by_llm_source_close(struct by_llm_source *source)
{
    by_llm_online_close(source);
    by_arena_release(&source->arena);
}
