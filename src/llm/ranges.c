/* Finds ranges by a forward pass of the float model. */
#include "llm/ranges.h"

#include "base/str.h"

#include <math.h>
#include <pthread.h>

struct ranges {
    struct by_llm_calibrated *job;
    pthread_mutex_t lock;                  /* of all that follows; ranges join in any order */
    struct by_llm_range *inputs, *outputs; /* by item */
    struct by_llm_range *keys, *values;    /* by layer, as they are kept */
    double **squares; /* by item: [windows][columns], sums of squares of inputs; NULL: not asked */
};

static float peak_of(const struct by_llm_range *range)
{
    return range->known ? fmaxf(fabsf(range->min), fabsf(range->max)) : 0;
}

static void look_rows(struct by_llm_range *range, const float *rows, size_t count, size_t columns,
                      size_t stride)
{
    for (size_t t = 0; t < count; t++)
        by_llm_look(range, rows + t * stride, columns);
}

/* Where all of a tensor has one scale, what a search for it cuts off counts as much as the inputs
 * of its columns: peaks of weights stand where inputs are large. */
static bool wants_squares(const struct by_llm_item *item)
{
    return by_llm_needs_tries(&item->tensor) && !item->tensor.importance;
}

/* A window's own row of the sums; NULL when memory ends. */
static double *squares_of(struct ranges *r, size_t index, size_t window, size_t columns,
                          struct baryon_error *err)
{
    pthread_mutex_lock(&r->lock);
    if (!r->squares[index])
        r->squares[index] = by_alloc_zero(r->job->windows * columns, sizeof **r->squares, err);
    double *squares = r->squares[index];
    pthread_mutex_unlock(&r->lock);
    return squares ? squares + window * columns : NULL;
}

static int add_squares(struct ranges *r, size_t index, size_t window, const float *in,
                       size_t tokens, struct baryon_error *err)
{
    const struct by_llm_item *item = &r->job->plan->items[index];
    const size_t columns = item->weight->columns;
    if (!wants_squares(item))
        return 0;
    double *squares = squares_of(r, index, window, columns, err);
    if (!squares)
        return -1;
    for (size_t t = 0; t < tokens; t++)
        for (size_t i = 0; i < columns; i++)
            squares[i] += (double)in[t * columns + i] * (double)in[t * columns + i];
    return 0;
}

static int see_linear(void *context, size_t window, const struct by_decoder_place *place,
                      const float *in, size_t tokens, const float *out, size_t stride,
                      struct baryon_error *err)
{
    struct ranges *r = context;
    const size_t index = (size_t)(place->weight - r->job->opened->source.weights);
    const struct by_llm_item *item = &r->job->plan->items[index];
    struct by_llm_range input = {0}, output = {0};
    (void)window;
    if (!item->scheme || (!item->tensor.input && !item->cache))
        return 0;
    const size_t columns = place->weight->columns, rows = place->weight->rows;
    if (by_llm_strange(in, tokens * columns) < tokens * columns)
        return by_fail(err, BARYON_ERR_INPUT, "an input of %s is NaN or infinite, must be finite",
                       place->weight->layer);
    by_llm_look(&input, in, tokens * columns);
    if (add_squares(r, index, window, in, tokens, err))
        return -1;
    if (item->cache) /* of queries, keys and values in one, keys and values come last */
        look_rows(&output, out + (rows - item->cache), tokens, item->cache, stride);
    pthread_mutex_lock(&r->lock);
    by_llm_range_join(&r->inputs[index], &input);
    by_llm_range_join(&r->outputs[index], &output);
    pthread_mutex_unlock(&r->lock);
    return 0;
}

static int see_cache(void *context, size_t window, size_t layer, const float *keys,
                     const float *values, size_t tokens, size_t columns, size_t stride,
                     struct baryon_error *err)
{
    struct ranges *r = context;
    struct by_llm_range own[2] = {{0}};
    (void)window, (void)err;
    look_rows(&own[0], keys, tokens, columns, stride);
    look_rows(&own[1], values, tokens, columns, stride);
    pthread_mutex_lock(&r->lock);
    by_llm_range_join(&r->keys[layer], &own[0]);
    by_llm_range_join(&r->values[layer], &own[1]);
    pthread_mutex_unlock(&r->lock);
    return 0;
}

/* In the order of windows; mean 1. */
static int take_importance(struct ranges *r, size_t index, struct baryon_error *err)
{
    struct by_llm_item *item = &r->job->plan->items[index];
    const size_t columns = item->weight->columns;
    const double *squares = r->squares[index];
    float *importance = by_arena_alloc(&r->job->arena, columns, sizeof *importance, err);
    double all = 0;
    if (!importance)
        return -1;
    for (size_t i = 0; i < r->job->windows * columns; i++)
        all += squares[i];
    for (size_t i = 0; i < columns; i++) {
        double own = 0;
        for (size_t w = 0; w < r->job->windows; w++)
            own += squares[w * columns + i];
        importance[i] = all > 0 ? (float)(own / all * (double)columns) : 1;
    }
    item->tensor.importance = importance;
    return 0;
}

static int take_squares(struct ranges *r, struct baryon_error *err)
{
    int status = 0;
    for (size_t i = 0; i < r->job->plan->count; i++) {
        if (r->squares[i] && !status)
            status = take_importance(r, i, err);
        by_free(r->squares[i]);
        r->squares[i] = NULL;
    }
    return status;
}

static int run_layers(struct ranges *r, struct baryon_error *err)
{
    struct by_llm_calibrated *job = r->job;
    const struct by_llm_quantize_options *options = job->options;
    const struct by_decoder_watch watch = {see_linear, see_cache, r};
    struct by_decoder_run run = {0};
    int status = by_decoder_begin(&run, &job->decoder, job->ids.ids, job->windows,
                                  (size_t)options->length, job->pool, err);
    run.watch = &watch;
    for (size_t i = 0; i < job->decoder.layers && !status; i++) {
        if (options->progress)
            options->progress(options->context, i, job->decoder.layers);
        status = by_decoder_step(&run, i, err) || take_squares(r, err) ? -1 : 0;
    }
    by_decoder_end(&run);
    return status;
}

/* --- Scales --- */

static int set_input(struct ranges *r, const struct by_decoder_place *place,
                     const struct by_llm_range *others, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!place->weight)
        return 0;
    const size_t index = (size_t)(place->weight - r->job->opened->source.weights);
    struct by_llm_item *item = &r->job->plan->items[index];
    const struct by_llm_range *range = &r->inputs[index];
    if (!item->scheme || !item->tensor.input)
        return 0;
    if (!range->known && others)
        range = others;
    if (!range->known)
        return by_fail(err, BARYON_ERR_INPUT, "%s: no token of the texts came to this layer",
                       by_quote(quoted, item->weight->layer));
    item->tensor.input_scale =
        by_llm_input_scale(item->tensor.input, item->tensor.input->global && item->tensor.inverse,
                           item->tensor.stored, peak_of(range));
    return 0;
}

static void set_cache(struct ranges *r, const struct by_decoder_place *place, size_t layer,
                      const struct by_llm_range *projected)
{
    if (!place->weight)
        return;
    struct by_llm_item *item = &r->job->plan->items[place->weight - r->job->opened->source.weights];
    const struct by_llm_spec spec = {.dtype = r->job->plan->cache, .scale = BY_LLM_SCALE_F32};
    const struct by_decoder_place *parts = r->job->decoder.layer[layer].parts;
    struct by_llm_range both = r->keys[layer];
    if (!item->cache)
        return;
    by_llm_range_join(&both, &r->values[layer]);
    const struct by_llm_range *range = r->job->plan->layout->cache_is_projected ? projected
                                       : place == &parts[BY_PART_K]             ? &r->keys[layer]
                                       : place == &parts[BY_PART_V]             ? &r->values[layer]
                                                                                : &both;
    item->tensor.cache_scale = by_llm_input_scale(&spec, false, BY_ELEM_FLOAT, peak_of(range));
}

static const struct by_llm_range *output_of(const struct ranges *r,
                                            const struct by_decoder_place *place)
{
    static const struct by_llm_range none = {0};
    return place->weight ? &r->outputs[place->weight - r->job->opened->source.weights] : &none;
}

static int set_layer(struct ranges *r, size_t layer, struct baryon_error *err)
{
    static const enum by_decoder_part kept[] = {BY_PART_K, BY_PART_V, BY_PART_QKV};
    const struct by_decoder *d = &r->job->decoder;
    const struct by_decoder_layer *own = &d->layer[layer];
    struct by_llm_range projected = {0}, experts[3] = {{0}};
    for (size_t i = 0; i < BY_PARTS; i++)
        if (set_input(r, &own->parts[i], NULL, err))
            return -1;
    for (size_t i = 0; own->experts && i < 3 * d->experts; i++)
        by_llm_range_join(&experts[i % 3],
                          &r->inputs[own->experts[i].weight - r->job->opened->source.weights]);
    for (size_t i = 0; own->experts && i < 3 * d->experts; i++)
        if (set_input(r, &own->experts[i], &experts[i % 3], err))
            return -1;
    for (size_t i = 0; i < 3; i++)
        by_llm_range_join(&projected, output_of(r, &own->parts[kept[i]]));
    for (size_t i = 0; i < 3; i++)
        set_cache(r, &own->parts[kept[i]], layer, &projected);
    return 0;
}

/* --- All --- */

bool by_llm_ranges_wanted(const struct by_llm_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].scheme && (plan->items[i].tensor.input || plan->items[i].cache))
            return true;
    return false;
}

/* Inputs of layers that the forward pass does not come to have no range. */
static int check_all(const struct ranges *r, struct baryon_error *err)
{
    const struct by_llm_plan *plan = r->job->plan;
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < plan->count; i++) {
        const struct by_llm_item *item = &plan->items[i];
        if (!item->scheme || !item->tensor.input || item->tensor.input_scale > 0)
            continue;
        by_fail(err, BARYON_ERR_UNSUPPORTED,
                "%s: texts give no scale of its inputs, which scheme %s needs",
                by_quote(quoted, item->weight->layer), item->scheme->name);
        return by_err_hint(err, "--exclude it, or --layer gives it another scheme");
    }
    return 0;
}

int by_llm_ranges_find(struct by_llm_calibrated *job, struct baryon_error *err)
{
    struct ranges r = {.job = job};
    const size_t items = job->plan->count, layers = job->decoder.layers;
    r.inputs = by_alloc_zero(2 * (items + layers), sizeof *r.inputs, err);
    r.squares = r.inputs ? by_alloc_zero(items, sizeof *r.squares, err) : NULL;
    if (!r.squares) {
        by_free(r.inputs);
        return -1;
    }
    r.outputs = r.inputs + items;
    r.keys = r.outputs + items;
    r.values = r.keys + layers;
    pthread_mutex_init(&r.lock, NULL);
    int status = run_layers(&r, err);
    for (size_t i = 0; i < layers && !status; i++)
        status = set_layer(&r, i, err);
    if (!status)
        status = check_all(&r, err);
    pthread_mutex_destroy(&r.lock);
    for (size_t i = 0; i < items; i++)
        by_free(r.squares[i]);
    by_free(r.squares);
    by_free(r.inputs);
    return status;
}
