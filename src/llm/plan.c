/* Decides what becomes of each weight of a checkpoint. */
#include "llm/quantize.h"

#include "base/str.h"
#include "llm/family/family.h"
#include "llm/ggml/mixture.h"
#include "llm/layout/fields.h"
#include "llm/layout/match.h"

#include <string.h>

struct planning {
    struct by_llm_plan *plan;
    const struct by_llm_source *source;
    const struct by_llm_quantize_options *options;
    struct by_arena *arena;
    struct by_family family;
    int64_t kv_columns; /* outputs that are keys */
    bool *used;         /* patterns that matched: of exclude, then of layers, then linears */
};

/* --- Schemes --- */

/* A copy where the group size is the user's. */
static const struct by_llm_scheme *scheme_with_group(struct planning *planning, const char *name,
                                                     struct baryon_error *err)
{
    const struct by_llm_scheme *scheme = by_llm_scheme_find(name, err);
    const int64_t size = planning->options->group_size;
    if (!scheme && by_ggml_mixture_named(name))
        by_fail(err, BARYON_ERR_USAGE, "scheme %s requires --layout gguf", name);
    if (!scheme || !size)
        return scheme;
    if (scheme->weight.grain != BY_LLM_GROUP || scheme->weight.dtype->block.size ||
        scheme->weight.scale == BY_LLM_SCALE_E8M0) {
        by_fail(err, BARYON_ERR_USAGE, "--group-size is not valid with scheme %s", scheme->name);
        return NULL;
    }
    struct by_llm_scheme *own = BY_ARENA_NEW(planning->arena, struct by_llm_scheme, err);
    if (!own)
        return NULL;
    *own = *scheme;
    own->weight.group = (size_t)size;
    if (own->input.dtype && own->input.grain == BY_LLM_GROUP)
        own->input.group = (size_t)size;
    return own;
}

static int read_schemes(struct planning *planning, struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = planning->options;
    struct by_llm_plan *plan = planning->plan;
    const size_t count = 1 + options->layer_count;
    plan->schemes = by_arena_alloc(planning->arena, count, sizeof *plan->schemes, err);
    if (!plan->schemes || !(plan->schemes[0] = scheme_with_group(planning, options->scheme, err)))
        return -1;
    for (size_t i = 1; i < count; i++)
        if (!(plan->schemes[i] = by_llm_scheme_find(options->layers[i - 1].scheme, err)))
            return by_err_in(err, "--layer %s", options->layers[i - 1].pattern);
    plan->scheme_count = count;
    for (size_t i = 0; i < count; i++)
        if (plan->layout->accepts(plan->schemes[i], err))
            return -1;
    for (size_t i = 1; i < count && plan->layout->one_scheme; i++)
        if (plan->schemes[i] != plan->schemes[0])
            return by_fail(err, BARYON_ERR_USAGE,
                           "layout %s has one scheme for all layers, --layer gives another",
                           plan->layout->name);
    return 0;
}

/* --- Layers --- */

static int matches(struct planning *planning, const char *pattern, const char *layer, size_t slot,
                   struct baryon_error *err)
{
    const int found = by_llm_match(pattern, layer, err);
    if (found == 1)
        planning->used[slot] = true;
    return found;
}

static int exclude_layer(struct planning *planning, struct by_llm_item *item,
                         struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = planning->options;
    for (size_t i = 0; i < options->exclude_count; i++) {
        const int found = matches(planning, options->exclude[i], item->weight->layer, i, err);
        if (found < 0)
            return -1;
        if (found) {
            item->scheme = NULL;
            item->reason = "--exclude";
        }
    }
    return 0;
}

static int choose_scheme(struct planning *planning, struct by_llm_item *item,
                         struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = planning->options;
    const struct by_llm_plan *plan = planning->plan;
    for (size_t i = 0; i < options->layer_count; i++) {
        const int found = matches(planning, options->layers[i].pattern, item->weight->layer,
                                  options->exclude_count + i, err);
        if (found < 0)
            return -1;
        if (found && (item->scheme == plan->schemes[0] || !item->scheme)) {
            item->scheme = plan->schemes[1 + i];
            item->reason = NULL;
            return 0;
        }
    }
    return 0;
}

static bool is_matrix(const struct by_llm_weight *weight)
{
    const size_t length = strlen(weight->name);
    return weight->rank == 2 && weight->as != BY_LLM_AS_OTHER && length > 7 &&
           !strcmp(weight->name + length - 7, ".weight");
}

static int decide(struct planning *planning, size_t index, struct baryon_error *err)
{
    struct by_llm_item *item = &planning->plan->items[index];
    const struct by_tensor_role *role = &planning->family.roles[index];
    const char *linears = planning->options->linears;
    const size_t last = planning->options->exclude_count + planning->options->layer_count;
    bool linear = by_llm_role_is_linear(role);
    if (linears && is_matrix(item->weight)) {
        const int found = matches(planning, linears, item->weight->layer, last, err);
        if (found < 0)
            return -1;
        linear = found == 1;
    }
    if (!linear)
        return 0;
    item->scheme = planning->plan->schemes[0];
    item->reason = linears ? NULL : by_llm_role_excluded(role);
    if (!is_matrix(item->weight) || role->transposed)
        item->reason = item->reason ? item->reason : "not a matrix [outputs, inputs]";
    if (item->reason)
        item->scheme = NULL;
    if ((item->scheme || is_matrix(item->weight)) && choose_scheme(planning, item, err))
        return -1;
    return exclude_layer(planning, item, err);
}

static int check_used(const struct planning *planning, struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = planning->options;
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < options->exclude_count; i++)
        if (!planning->used[i])
            return by_fail(err, BARYON_ERR_USAGE, "--exclude %s matches no linear layer",
                           by_quote(quoted, options->exclude[i]));
    for (size_t i = 0; i < options->layer_count; i++)
        if (!planning->used[options->exclude_count + i])
            return by_fail(err, BARYON_ERR_USAGE, "--layer %s matches no linear layer",
                           by_quote(quoted, options->layers[i].pattern));
    return 0;
}

/* Keys and values of a decoder's layer. */
static int add_cache(struct planning *planning, struct by_llm_item *item, struct baryon_error *err)
{
    struct by_llm_plan *plan = planning->plan;
    const struct by_tensor_role *role = &planning->family.roles[item - plan->items];
    if (!plan->cache || role->part != BY_LLM_PART_DECODER || role->layer < 0 ||
        (role->role != BY_LLM_K && role->role != BY_LLM_V && role->role != BY_LLM_QKV))
        return 0;
    item->cache = item->weight->rows;
    if (role->role == BY_LLM_QKV) {
        item->cache = (size_t)(2 * planning->kv_columns);
        plan->cache_fused = true;
        if (!item->cache || item->cache >= item->weight->rows)
            return by_fail(err, BARYON_ERR_INPUT,
                           "config.json: heads of keys do not fit %zu outputs", item->weight->rows);
    }
    if (role->role != BY_LLM_V)
        plan->layout->add_cache(&item->fields, false);
    if (role->role == BY_LLM_V || (role->role == BY_LLM_QKV && !plan->layout->cache_is_projected))
        plan->layout->add_cache(&item->fields, true);
    return by_llm_fields_size(&item->fields, err);
}

enum by_llm_search by_llm_plan_search(const struct by_llm_quantize_options *options)
{
    if (options->quark)
        return BY_LLM_SEARCH_MINMAX;
    /* Columns that AWQ made greater count more than others: by least squares they do. */
    return options->scaling == BY_LLM_SCALING_AWQ && options->search == BY_LLM_SEARCH_UNBIASED
               ? BY_LLM_SEARCH_MSE
               : options->search;
}

static int lay_out(struct planning *planning, struct by_llm_item *item, struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = planning->options;
    const struct by_llm_weight *weight = item->weight;
    char quoted[BY_QUOTE_MAX];
    int64_t model = by_llm_source_elem(weight);
    if (model != BY_ELEM_FLOAT16 && model != BY_ELEM_BFLOAT16)
        model = BY_ELEM_FLOAT;
    if (by_llm_tensor_init(&item->tensor, &item->scheme->weight, weight->columns, err))
        return by_err_in(err, "%s", by_quote(quoted, weight->layer));
    item->tensor.search = by_llm_plan_search(options);
    item->tensor.quark = options->quark;
    item->tensor.model = model;
    planning->plan->layout->prepare(&item->tensor, model);
    item->tensor.whole_bytes =
        by_llm_layout_whole_bytes(planning->plan->layout, item->scheme, NULL);
    if (planning->plan->static_inputs && by_llm_input_is_static(&item->scheme->input))
        item->tensor.input = &item->scheme->input;
    if (planning->plan->layout->list(&item->tensor, weight->rows, &item->fields, err) ||
        add_cache(planning, item, err))
        return by_err_in(err, "%s", by_quote(quoted, weight->layer));
    planning->plan->quantized++;
    return 0;
}

/* --- Layers that loaders fuse have the same global scale --- */

static int kin_of(const struct by_tensor_role *role)
{
    switch (role->role) {
    case BY_LLM_Q:
    case BY_LLM_K:
    case BY_LLM_V:
        return 1;
    case BY_LLM_GATE:
    case BY_LLM_UP:
        return 2;
    default:
        return 0;
    }
}

static bool are_kin(const struct by_tensor_role *a, const struct by_tensor_role *b)
{
    return kin_of(a) && kin_of(a) == kin_of(b) && a->layer == b->layer && a->expert == b->expert &&
           a->shared == b->shared && a->part == b->part;
}

static size_t first_kin(const struct planning *planning, size_t index)
{
    enum { FAR = 64 }; /* fused layers lie close to each other */
    const struct by_llm_plan *plan = planning->plan;
    const size_t begin = index > FAR ? index - FAR : 0;
    for (size_t i = begin; i < index; i++)
        if (plan->items[i].scheme == plan->items[index].scheme &&
            are_kin(&planning->family.roles[i], &planning->family.roles[index]))
            return i;
    return index;
}

/* --- All --- */

static int read_family(struct planning *planning, struct baryon_error *err)
{
    const struct by_llm_source *source = planning->source;
    struct by_family_tensor *tensors =
        by_arena_alloc(planning->arena, source->count, sizeof *tensors, err);
    if (!tensors)
        return -1;
    for (size_t i = 0; i < source->count; i++)
        tensors[i] = (struct by_family_tensor){source->weights[i].name, source->weights[i].dims,
                                               source->weights[i].rank};
    if (by_family_read(&planning->family, planning->arena, source->checkpoint->config, tensors,
                       source->count, err))
        return -1;
    planning->plan->tied = planning->family.tied;
    return planning->options->linears ? 0 : by_family_check(&planning->family, tensors, err);
}

static int decide_all(struct planning *planning, struct baryon_error *err)
{
    struct by_llm_plan *plan = planning->plan;
    for (size_t i = 0; i < plan->count; i++) {
        plan->items[i].weight = &planning->source->weights[i];
        if (decide(planning, i, err))
            return -1;
    }
    if (check_used(planning, err))
        return -1;
    for (size_t i = 0; i < plan->count; i++) {
        plan->items[i].shares = i;
        if (!plan->items[i].scheme)
            continue;
        if (lay_out(planning, &plan->items[i], err))
            return -1;
        if (plan->items[i].tensor.spec->scale == BY_LLM_SCALE_E4M3)
            plan->items[i].shares = first_kin(planning, i);
    }
    if (plan->quantized)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "no linear layer is recognised");
    return by_err_hint(err, "--linears GLOB names the layers to quantize");
}

/* What texts are for beside the rounding of weights. */
static int check_texts(struct planning *planning, struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = planning->options;
    struct by_llm_plan *plan = planning->plan;
    int64_t heads = 0, columns = 0, hidden = 0, all = 1;
    const struct by_doc_node *config = by_hf_text(planning->source->checkpoint->config);
    plan->static_inputs = options->texts.count && plan->layout->has_inputs;
    plan->cache = by_llm_kept_type(options->cache);
    if (!plan->cache)
        return 0;
    if (!options->texts.count)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--kv-cache requires --text: files or folders of texts");
    if (!plan->layout->add_cache)
        return by_fail(err, BARYON_ERR_USAGE,
                       "layout %s has no place for scales of keys and values, must be quark, "
                       "compressed-tensors or fp8",
                       plan->layout->name);
    by_hf_int(config, "num_attention_heads", &all);
    heads = all;
    by_hf_int(config, "num_key_value_heads", &heads);
    by_hf_int(config, "hidden_size", &hidden);
    columns = all > 0 ? hidden / all : 0;
    by_hf_int(config, "head_dim", &columns);
    planning->kv_columns = heads * columns;
    return 0;
}

int by_llm_plan(struct by_llm_plan *plan, const struct by_llm_source *source,
                const struct by_llm_quantize_options *options, struct by_arena *arena,
                struct baryon_error *err)
{
    struct planning planning = {.plan = plan, .source = source, .options = options, .arena = arena};
    *plan = (struct by_llm_plan){.count = source->count};
    plan->layout = by_llm_layout_find(options->layout ? options->layout : "quark", err);
    if (!plan->layout || check_texts(&planning, err) || read_schemes(&planning, err) ||
        read_family(&planning, err))
        return -1;
    plan->items = by_arena_alloc(arena, plan->count, sizeof *plan->items, err);
    planning.used = by_arena_alloc(arena, options->exclude_count + options->layer_count + 1,
                                   sizeof *planning.used, err);
    return plan->items && planning.used ? decide_all(&planning, err) : -1;
}
