/* The types of a layout, the linears that get one, and which of them have to have the same. */
#include "llm/auto/auto_internal.h"

#include "base/text.h"
#include "llm/gguf_solve/solve.h"
#include "llm/layout/layout.h"
#include "llm/layout/match.h"

#include <math.h>
#include <string.h>

/* --- Types --- */

static bool is_gguf(const struct by_bits_search *s)
{
    return s->quantize.layout && !strcmp(s->quantize.layout, "gguf");
}

static int add_type(struct by_bits_search *s, const char *name, struct baryon_error *err)
{
    struct by_list list = {s->types, s->type_count, s->type_count};
    for (size_t i = 0; i < s->type_count; i++)
        if (!strcmp(s->types[i].name, name))
            return 0;
    if (by_list_reserve(&s->arena, &list, 1, sizeof *s->types, err))
        return -1;
    s->types = list.at;
    s->types[s->type_count++] = (struct by_bits_type){.name = name};
    return 0;
}

static int plan_type(struct by_bits_search *s, const char *scheme, struct by_llm_plan *plan,
                     struct baryon_error *err)
{
    struct by_llm_quantize_options options = s->quantize;
    options.scheme = scheme;
    return by_llm_plan(plan, &s->opened.source, &options, &s->arena, err);
}

/* Weights alone, in levels that methods solve. */
static bool is_choice(const struct by_llm_scheme *scheme, const struct by_llm_layout *layout)
{
    struct baryon_error ignored;
    return !scheme->input.dtype && by_llm_spec_is_scaled(&scheme->weight) &&
           by_llm_is_solvable(&scheme->weight) && layout->accepts(scheme, &ignored) == 0;
}

static int refuse_scheme(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_USAGE,
                   "--types: %s is no choice, must be of weights alone, in levels with scales",
                   scheme->name);
}

/* Where the user names none, a scheme whose groups do not divide the rows is left out. */
static int add_scheme(struct by_bits_search *s, const struct by_llm_scheme *scheme, bool asked,
                      struct baryon_error *err)
{
    struct by_llm_plan plan;
    struct baryon_error own;
    if (plan_type(s, scheme->name, &plan, asked ? err : &own))
        return asked ? -1 : 0;
    if (add_type(s, scheme->name, err))
        return -1;
    s->types[s->type_count - 1].plan = plan;
    return 0;
}

static int list_schemes(struct by_bits_search *s, const struct by_llm_layout *layout,
                        struct baryon_error *err)
{
    const struct by_setting_texts *asked = &s->options->types;
    size_t count;
    const struct by_llm_scheme *rows = by_llm_schemes(&count);
    for (size_t i = 0; i < asked->count; i++) {
        const struct by_llm_scheme *scheme = by_llm_scheme_find(asked->at[i], err);
        if (!scheme || layout->accepts(scheme, err))
            return by_err_in(err, "--types");
        if (!is_choice(scheme, layout))
            return refuse_scheme(scheme, err);
        if (add_scheme(s, scheme, true, err))
            return -1;
    }
    for (size_t i = 0; !asked->count && i < count; i++)
        if (is_choice(&rows[i], layout) && add_scheme(s, &rows[i], false, err))
            return -1;
    return 0;
}

/* --- GGUF's --- */

static bool is_block_choice(const struct by_ggml_type *type)
{
    return type->block > 1 && type->encode && type->decode && by_ggml_solves(type);
}

static int refuse_blocks(const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], list[512];
    struct by_text text;
    const struct by_ggml_type *type;
    by_text_init(&text, list, sizeof list);
    for (size_t i = 0, n = 0; (type = by_ggml_type_at(i)); i++)
        if (is_block_choice(type))
            by_text_add(&text, "%s%s", n++ ? ", " : "", type->name);
    return by_fail(err, BARYON_ERR_USAGE, "--types: %s is no type of blocks, must be one of %s",
                   by_quote(quoted, name), list);
}

/* The plan of a type: that of all layers, in blocks of it. */
static int add_blocks(struct by_bits_search *s, const struct by_ggml_type *type,
                      const struct by_llm_plan *all, struct baryon_error *err)
{
    if (add_type(s, type->name, err))
        return -1;
    struct by_llm_plan *plan = &s->types[s->type_count - 1].plan;
    *plan = *all;
    plan->items = by_arena_alloc(&s->arena, all->count, sizeof *plan->items, err);
    if (!plan->items)
        return -1;
    for (size_t i = 0; i < all->count; i++) {
        const struct by_llm_weight *weight = all->items[i].weight;
        plan->items[i] = (struct by_llm_item){.weight = weight};
        if (!all->items[i].scheme || weight->columns % type->block)
            continue;
        plan->items[i].blocks = type;
        plan->items[i].fields.count = 1;
        plan->items[i].fields.at[0].bytes =
            weight->columns / type->block * type->bytes * weight->rows;
    }
    return 0;
}

/* All linears; patterns of --exclude may be about other matrices as well. */
static int plan_blocks(struct by_bits_search *s, struct by_llm_plan *all, struct baryon_error *err)
{
    struct by_llm_quantize_options options = s->quantize;
    options.scheme = "bf16";
    options.layout = "json-safetensors";
    options.exclude_count = 0;
    if (by_llm_plan(all, &s->opened.source, &options, &s->arena, err))
        return -1;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < s->quantize.exclude_count; k++) {
            const int found =
                by_llm_match(s->quantize.exclude[k], all->items[i].weight->layer, err);
            if (found < 0)
                return -1;
            all->items[i].scheme = found ? NULL : all->items[i].scheme;
        }
    return 0;
}

static int list_blocks(struct by_bits_search *s, struct baryon_error *err)
{
    const struct by_setting_texts *asked = &s->options->types;
    const struct by_ggml_type *type;
    struct by_llm_plan all;
    s->in_blocks = true;
    if (plan_blocks(s, &all, err))
        return -1;
    for (size_t i = 0; i < asked->count; i++) {
        type = by_ggml_type_named(asked->at[i]);
        if (!type || !is_block_choice(type))
            return refuse_blocks(asked->at[i], err);
        if (add_blocks(s, type, &all, err))
            return -1;
    }
    for (size_t i = 0; !asked->count && (type = by_ggml_type_at(i)); i++)
        if (is_block_choice(type) && add_blocks(s, type, &all, err))
            return -1;
    return 0;
}

int by_bits_types_list(struct by_bits_search *s, struct baryon_error *err)
{
    if (is_gguf(s))
        return list_blocks(s, err);
    const struct by_llm_layout *layout = by_llm_layout_find(s->quantize.layout, err);
    if (!layout)
        return -1;
    if (layout->one_scheme)
        return by_fail(err, BARYON_ERR_USAGE,
                       "layout %s has one scheme for all layers: nothing can be chosen",
                       layout->name);
    return list_schemes(s, layout, err);
}

/* --- Linears --- */

/* What fused kernels of loaders hold in one matrix. */
static size_t fused_kind(size_t kind)
{
    switch (kind) {
    case BY_PART_Q:
    case BY_PART_K:
    case BY_PART_V:
        return BY_PART_Q;
    case BY_PART_GATE:
    case BY_PART_UP:
        return BY_PART_GATE;
    case BY_PART_SHARED_GATE:
    case BY_PART_SHARED_UP:
        return BY_PART_SHARED_GATE;
    default:
        return kind >= BY_BITS_EXPERTS_GATE ? BY_BITS_EXPERTS_GATE : kind;
    }
}

static bool is_fused(const struct by_bits_search *s)
{
    if (s->options->unit != BY_LLM_UNIT_LAYOUT)
        return s->options->unit == BY_LLM_UNIT_FUSED;
    return !s->in_blocks && strcmp(s->quantize.layout, "json-safetensors") != 0;
}

static bool is_wanted(const struct by_bits_search *s, size_t weight)
{
    for (size_t t = 0; t < s->type_count; t++)
        if (s->types[t].plan.items[weight].scheme || s->types[t].plan.items[weight].blocks)
            return true;
    return false;
}

struct listing {
    struct by_bits_search *s;
    size_t *units, *places; /* by layer and kind: number + 1; 0: none yet */
};

static size_t number_at(size_t *numbers, size_t at, size_t *count)
{
    if (!numbers[at])
        numbers[at] = ++*count;
    return numbers[at] - 1;
}

static void add_linear(const struct listing *listing, size_t layer, size_t kind,
                       const struct by_decoder_place *place)
{
    struct by_bits_search *s = listing->s;
    const size_t row = layer * BY_BITS_KINDS;
    if (!place->weight)
        return;
    const size_t weight = (size_t)(place->weight - s->opened.source.weights);
    if (s->linear_of[weight] != SIZE_MAX || !is_wanted(s, weight))
        return;
    const size_t unit = row + (is_fused(s) ? fused_kind(kind) : kind);
    s->linear_of[weight] = s->linear_count;
    s->linears[s->linear_count++] = (struct by_bits_linear){
        .weight = weight,
        .layer = layer,
        .kind = kind,
        .place = number_at(listing->places, row + kind, &s->place_count),
        .unit = number_at(listing->units, unit, &s->unit_count),
        .values = (uint64_t)place->weight->rows * place->weight->columns,
    };
}

static void list_all(const struct listing *listing)
{
    const struct by_decoder *d = &listing->s->calibrated.decoder;
    for (size_t i = 0; i < d->layers; i++) {
        for (size_t k = 0; k < BY_PARTS; k++)
            add_linear(listing, i, k, &d->layer[i].parts[k]);
        for (size_t k = 0; d->layer[i].experts && k < 3 * d->experts; k++)
            add_linear(listing, i, BY_BITS_EXPERTS_GATE + k % 3, &d->layer[i].experts[k]);
    }
}

struct by_llm_item *by_bits_item(const struct by_bits_search *s, size_t linear, size_t type)
{
    struct by_llm_item *item = &s->types[type].plan.items[s->linears[linear].weight];
    return item->scheme || item->blocks ? item : NULL;
}

/* One linear in a type; it adds to what its unit has. */
static void add_bytes(struct by_bits_search *s, size_t linear, size_t type)
{
    const struct by_llm_item *item = by_bits_item(s, linear, type);
    uint64_t *own = &s->bytes[linear * s->type_count + type];
    uint64_t *unit = &s->unit_bytes[s->linears[linear].unit * s->type_count + type];
    *own = 0;
    for (size_t k = 0; item && k < item->fields.count; k++)
        *own += item->fields.at[k].bytes;
    *unit = item && *unit != UINT64_MAX ? *unit + *own : UINT64_MAX;
}

static int fill_bytes(struct by_bits_search *s, struct baryon_error *err)
{
    const size_t count = s->linear_count * s->type_count, units = s->unit_count * s->type_count;
    s->bytes = by_arena_alloc(&s->arena, count, sizeof *s->bytes, err);
    s->unit_bytes = by_arena_alloc(&s->arena, units, sizeof *s->unit_bytes, err);
    if (!s->bytes || !s->unit_bytes)
        return -1;
    memset(s->unit_bytes, 0, units * sizeof *s->unit_bytes);
    for (size_t i = 0; i < count; i++)
        add_bytes(s, i / s->type_count, i % s->type_count);
    return 0;
}

int by_bits_linears_list(struct by_bits_search *s, struct baryon_error *err)
{
    const size_t count = s->opened.source.count;
    const size_t places = s->calibrated.decoder.layers * BY_BITS_KINDS;
    struct listing listing = {.s = s};
    listing.units = by_arena_alloc(&s->arena, places, sizeof *listing.units, err);
    listing.places = by_arena_alloc(&s->arena, places, sizeof *listing.places, err);
    s->linear_of = by_arena_alloc(&s->arena, count, sizeof *s->linear_of, err);
    s->linears = by_arena_alloc(&s->arena, count, sizeof *s->linears, err);
    if (!listing.units || !listing.places || !s->linear_of || !s->linears)
        return -1;
    for (size_t i = 0; i < count; i++)
        s->linear_of[i] = SIZE_MAX;
    list_all(&listing);
    if (!s->linear_count)
        return by_fail(err, BARYON_ERR_INPUT,
                       "no linear layer of the decoder can have these types");
    for (size_t i = 0; i < s->linear_count; i++)
        s->result->weights += s->linears[i].values;
    return fill_bytes(s, err);
}

uint64_t by_bits_bytes_of_type(const struct by_bits_search *s, size_t type)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->linear_count; i++) {
        if (!by_bits_item(s, i, type))
            return UINT64_MAX;
        sum += s->bytes[i * s->type_count + type];
    }
    return sum;
}

double by_bits_bits(const struct by_bits_search *s, uint64_t bytes)
{
    return 8 * (double)bytes / (double)s->result->weights;
}
