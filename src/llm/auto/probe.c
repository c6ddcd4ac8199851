/* What errors count: the divergence of the model with a part of it rounded, measured. */
#include "llm/auto/copies.h"

#include <math.h>
#include <string.h>

/* --- In which type --- */

static size_t nearest_in_size(const struct by_bits_search *s)
{
    double least = INFINITY;
    size_t best = 0;
    for (size_t t = 0; t < s->type_count; t++) {
        const uint64_t bytes = by_bits_bytes_of_type(s, t);
        const double gap = fabs((double)bytes - (double)s->probe_size);
        if (bytes != UINT64_MAX && gap < least) {
            least = gap;
            best = t;
        }
    }
    return best;
}

static size_t least_error(const struct by_bits_search *s)
{
    size_t best = SIZE_MAX;
    for (size_t t = 0; t < s->type_count; t++)
        if (by_bits_bytes_of_type(s, t) <= s->probe_size && s->solved[t] >= 0 &&
            (best == SIZE_MAX || s->solved[t] < s->solved[best]))
            best = t;
    return best;
}

size_t by_bits_probe_type(struct by_bits_search *s)
{
    if (s->probe_type == SIZE_MAX)
        s->probe_type = least_error(s);
    if (s->probe_type == SIZE_MAX)
        s->probe_type = nearest_in_size(s);
    return s->probe_type;
}

/* --- Linears of a layer, rounded --- */

#define ALL_KINDS BY_BITS_KINDS

/* Copies of the states: with all of the layer rounded, with nothing, with one kind. */
enum { COPY_ALL, COPY_FLOAT, COPY_KIND };

static struct by_decoder_matrix *matrix_of(struct by_decoder_loaded *loaded,
                                           const struct by_decoder *d,
                                           const struct by_llm_weight *weight)
{
    for (size_t i = 0; i < BY_PARTS; i++)
        if (loaded->parts[i].place && loaded->parts[i].place->weight == weight)
            return &loaded->parts[i];
    for (size_t i = 0; loaded->experts && i < 3 * d->experts; i++)
        if (loaded->experts[i].place->weight == weight)
            return &loaded->experts[i];
    return NULL;
}

static int round_matrix(const struct by_bits_copies *p, struct by_llm_item *item,
                        struct by_decoder_matrix *matrix, struct baryon_error *err)
{
    const struct by_llm_target target = by_llm_item_target(item);
    const struct by_llm_sharing sharing = {.places = {{item, matrix}}, .count = 1};
    struct by_llm_coded coded = {0};
    const int status =
        by_llm_sharing_scales(&sharing, NULL, p->s->pool, err) ||
        by_llm_target_open(&target, matrix->rows, &coded, err) ||
        by_llm_target_nearest(&target, matrix->weight, matrix->rows, p->s->pool, &coded, err) ||
        by_llm_target_values(&target, &coded, matrix->rows, matrix->weight, err);
    by_llm_coded_close(&coded);
    return status ? -1 : 0;
}

/* The weights of a kind, or of all, become what the method made of them, or nearest levels of
 * experts without a token; and what they were, when that is asked back. */
static int round_kind(struct by_bits_copies *p, size_t layer, size_t kind, float *kept, bool back,
                      struct baryon_error *err)
{
    const struct by_bits_search *s = p->s;
    for (size_t i = 0; i < s->linear_count; i++) {
        const struct by_bits_linear *linear = &s->linears[i];
        if (linear->layer != layer || (linear->kind != kind && kind != ALL_KINDS))
            continue;
        struct by_decoder_matrix *matrix =
            matrix_of(&p->walk.loaded, p->decoder, &s->opened.source.weights[linear->weight]);
        const size_t count = matrix->rows * matrix->columns;
        struct by_llm_item *item = by_bits_item(s, i, by_bits_probe_type(p->s));
        const float *rounded = back ? kept : s->rounded[i];
        if (!back)
            memcpy(kept, matrix->weight, count * sizeof *kept);
        if (rounded)
            memcpy(matrix->weight, rounded, count * sizeof *rounded);
        else if (item && round_matrix(p, item, matrix, err))
            return -1;
        kept += count;
    }
    return 0;
}

static double error_of_kind(struct by_bits_search *s, size_t layer, size_t kind)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < s->linear_count; i++)
        if (s->linears[i].layer == layer && s->linears[i].kind == kind) {
            const double error = s->solved[i * s->type_count + by_bits_probe_type(s)];
            sum += fmax(error, 0);
            count += error >= 0;
        }
    return count ? sum / (double)count : 0;
}

static bool has_kind(const struct by_bits_search *s, size_t layer, size_t kind)
{
    for (size_t i = 0; i < s->linear_count; i++)
        if (s->linears[i].layer == layer && s->linears[i].kind == kind)
            return true;
    return false;
}

/* Squared differences of a copy's states from those of the float model after the layer. What comes
 * later divides a token by its size, so that each counts beside its own square. */
static int drift_of(const struct by_bits_copies *p, size_t copy, double *drift,
                    struct baryon_error *err)
{
    const size_t hidden = p->decoder->hidden;
    float *own = by_alloc(2 * hidden, sizeof *own, err), *other = own ? own + hidden : NULL;
    *drift = 0;
    for (size_t t = 0; own && t < p->tokens; t++) {
        double gap = 0, whole = 0;
        by_decoder_get(p->decoder, by_bits_copies_states(p, copy), t * hidden, hidden, own);
        by_decoder_get(p->decoder, by_bits_copies_states(p, COPY_FLOAT), t * hidden, hidden, other);
        for (size_t i = 0; i < hidden; i++) {
            const double step = (double)own[i] - (double)other[i];
            gap += step * step;
            whole += (double)other[i] * (double)other[i];
        }
        *drift += whole > 0 ? gap / whole : 0;
    }
    by_free(own);
    return own ? 0 : -1;
}

static int pass_rounded(struct by_bits_copies *p, size_t layer, size_t kind, size_t copy,
                        float *kept, struct baryon_error *err)
{
    return round_kind(p, layer, kind, kept, false, err) ||
                   by_bits_copies_start(p, copy, layer, &p->walk.loaded, err) ||
                   round_kind(p, layer, kind, kept, true, err)
               ? -1
               : 0;
}

/* All linears of the layer are rounded at once, and each kind has the part of that divergence that
 * it has in the drift of the layer's output: errors add up to it, wherever they come about. */
static int probe_kinds(struct by_bits_copies *p, size_t layer, float *kept,
                       struct baryon_error *err)
{
    struct by_bits_search *s = p->s;
    double drifts[BY_BITS_KINDS] = {0}, sum = 0;
    if (by_bits_copies_start(p, COPY_FLOAT, layer, &p->walk.loaded, err))
        return -1;
    for (size_t k = 0; k < BY_BITS_KINDS; k++) {
        if (!has_kind(s, layer, k))
            continue;
        if (pass_rounded(p, layer, k, COPY_KIND, kept, err) ||
            drift_of(p, COPY_KIND, &drifts[k], err))
            return -1;
        sum += drifts[k];
    }
    p->count = 1;
    if (pass_rounded(p, layer, ALL_KINDS, COPY_ALL, kept, err) ||
        by_bits_copies_finish(p, layer, err))
        return -1;
    for (size_t k = 0; k < BY_BITS_KINDS; k++) {
        const double error = error_of_kind(s, layer, k);
        if (has_kind(s, layer, k))
            s->factor[layer * BY_BITS_KINDS + k] =
                error > 0 && sum > 0 ? p->kl[COPY_ALL] * drifts[k] / sum / error : 0;
    }
    return 0;
}

/* --- Layers between those that were probed --- */

static bool is_probed(size_t layer, size_t layers, size_t wanted)
{
    if (!wanted || wanted >= layers || layers == 1)
        return true;
    for (size_t i = 0; i < wanted; i++)
        if (layer == (wanted > 1 ? (i * (layers - 1) + (wanted - 1) / 2) / (wanted - 1) : 0))
            return true;
    return false;
}

static double between(double low, double high, double share)
{
    const double least = 1e-12;
    return exp(log(fmax(low, least)) * (1 - share) + log(fmax(high, least)) * share);
}

static void fill_between(struct by_bits_search *s, size_t kind)
{
    const size_t layers = s->calibrated.decoder.layers;
    double *factor = s->factor + kind;
    for (size_t i = 0; i < layers; i++) {
        size_t low = i, high = i;
        while (low > 0 && factor[low * BY_BITS_KINDS] < 0)
            low--;
        while (high + 1 < layers && factor[high * BY_BITS_KINDS] < 0)
            high++;
        const double a = factor[low * BY_BITS_KINDS], b = factor[high * BY_BITS_KINDS];
        if (low == high || (a < 0 && b < 0))
            continue;
        factor[i * BY_BITS_KINDS] =
            a < 0 || b < 0 ? fmax(a, b) : between(a, b, (double)(i - low) / (double)(high - low));
    }
}

/* --- All --- */

struct by_bits_probe {
    struct by_bits_copies copies;
    float *kept; /* weights of the layer */
};

bool by_bits_probe_wants(const struct by_bits_search *s, size_t layer)
{
    return is_probed(layer, s->calibrated.decoder.layers, (size_t)s->options->probe_layers);
}

int by_bits_probe_open(struct by_bits_search *s, struct baryon_error *err)
{
    const size_t count = s->calibrated.decoder.layers * BY_BITS_KINDS;
    s->factor = by_arena_alloc(&s->arena, count, sizeof *s->factor, err);
    s->probe = by_arena_alloc(&s->arena, 1, sizeof *s->probe, err);
    if (!s->factor || !s->probe)
        return -1;
    for (size_t i = 0; i < count; i++)
        s->factor[i] = -1;
    s->probe->copies = by_bits_copies_of(s);
    if (by_bits_copies_open(&s->probe->copies, err))
        return -1;
    s->probe->kept = by_alloc(s->probe->copies.walk.capacity, sizeof(float), err);
    return s->probe->kept ? 0 : -1;
}

uint64_t by_bits_probe_bytes(struct by_bits_search *s)
{
    const struct by_decoder *d = &s->calibrated.decoder;
    const struct by_bits_copies p = by_bits_copies_of(s);
    const uint64_t states = (uint64_t)p.windows * p.length * d->hidden * by_decoder_kept_size(d);
    const uint64_t token = d->vocab * (sizeof(float) + sizeof(double));
    /* Weights of the layer, of a layer after it, as they were, and as the method made them. */
    return (2 + BY_BITS_COPIES) * states + 4 * sizeof(float) * by_decoder_most_floats(d) +
           sizeof(float) * d->vocab * d->hidden +
           by_pool_threads(s->pool) * BY_BITS_TOKENS_AT_ONCE * token;
}

int by_bits_probe_layer(struct by_bits_search *s, size_t layer, struct baryon_error *err)
{
    struct by_bits_copies *p = &s->probe->copies;
    const bool wanted = layer >= s->looked && by_bits_probe_wants(s, layer);
    return by_decoder_load(&p->walk, layer, err) ||
                   (wanted && probe_kinds(p, layer, s->probe->kept, err)) ||
                   by_decoder_pass(&p->walk, layer, &p->walk.loaded, err)
               ? -1
               : 0;
}

void by_bits_probe_close(struct by_bits_search *s)
{
    if (!s->probe)
        return;
    by_bits_copies_close(&s->probe->copies);
    by_free(s->probe->kept);
    s->probe = NULL;
    for (size_t k = 0; k < BY_BITS_KINDS; k++)
        fill_between(s, k);
}
