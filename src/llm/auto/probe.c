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

/* What is rounded and measured together: linears that read the same. */
enum { GROUP_ATTENTION, GROUP_O, GROUP_FEED, GROUP_DOWN, GROUPS };
_Static_assert(GROUPS <= BY_BITS_COPIES, "a copy of the states for each");
_Static_assert(BY_BITS_KINDS <= 32, "sets of kinds have 32 bits");

/* Copies of the states while a layer's drift is looked at: with nothing rounded, with one kind. */
enum { COPY_FLOAT, COPY_KIND };

static size_t group_of(size_t kind)
{
    switch (kind) {
    case BY_PART_Q:
    case BY_PART_K:
    case BY_PART_V:
    case BY_PART_QKV:
        return GROUP_ATTENTION;
    case BY_PART_O:
        return GROUP_O;
    case BY_PART_DOWN:
    case BY_PART_SHARED_DOWN:
    case BY_BITS_EXPERTS_DOWN:
        return GROUP_DOWN;
    default:
        return GROUP_FEED;
    }
}

static bool has_kind(const struct by_bits_search *s, size_t layer, size_t kind)
{
    for (size_t i = 0; i < s->linear_count; i++)
        if (s->linears[i].layer == layer && s->linears[i].kind == kind)
            return true;
    return false;
}

/* Kinds of the layer that are of the group, a bit each. */
static uint32_t kinds_of(const struct by_bits_search *s, size_t layer, size_t group)
{
    uint32_t kinds = 0;
    for (size_t k = 0; k < BY_BITS_KINDS; k++)
        if (group_of(k) == group && has_kind(s, layer, k))
            kinds |= UINT32_C(1) << k;
    return kinds;
}

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

/* The weights of kinds become what the method made of them, or nearest levels of experts without a
 * token; and what they were, when that is asked back. */
static int round_kinds(struct by_bits_copies *p, size_t layer, uint32_t kinds, float *kept,
                       bool back, struct baryon_error *err)
{
    const struct by_bits_search *s = p->s;
    for (size_t i = 0; i < s->linear_count; i++) {
        const struct by_bits_linear *linear = &s->linears[i];
        if (linear->layer != layer || !(kinds >> linear->kind & 1))
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

static int pass_rounded(struct by_bits_copies *p, size_t layer, uint32_t kinds, size_t copy,
                        float *kept, struct baryon_error *err)
{
    return round_kinds(p, layer, kinds, kept, false, err) ||
                   by_bits_copies_start(p, copy, layer, &p->walk.loaded, err) ||
                   round_kinds(p, layer, kinds, kept, true, err)
               ? -1
               : 0;
}

/* Kinds of a group have the parts of its divergence that they have in the drift of the layer's
 * output: errors add up to it, wherever they come about. */
static int part_group(struct by_bits_copies *p, size_t layer, uint32_t kinds, float *kept,
                      double *parts, struct baryon_error *err)
{
    double sum = 0;
    if (by_bits_copies_start(p, COPY_FLOAT, layer, &p->walk.loaded, err))
        return -1;
    for (size_t k = 0; k < BY_BITS_KINDS; k++) {
        if (!(kinds >> k & 1))
            continue;
        if (pass_rounded(p, layer, UINT32_C(1) << k, COPY_KIND, kept, err) ||
            drift_of(p, COPY_KIND, &parts[k], err))
            return -1;
        sum += parts[k];
    }
    for (size_t k = 0; k < BY_BITS_KINDS; k++)
        if (kinds >> k & 1)
            parts[k] = sum > 0 ? parts[k] / sum : 0;
    return 0;
}

static int part_all(struct by_bits_copies *p, size_t layer, float *kept, double *parts,
                    struct baryon_error *err)
{
    for (size_t g = 0; g < GROUPS; g++) {
        const uint32_t kinds = kinds_of(p->s, layer, g);
        const bool alone = !(kinds & (kinds - 1));
        for (size_t k = 0; k < BY_BITS_KINDS && alone; k++)
            if (kinds >> k & 1)
                parts[k] = 1;
        if (!alone && part_group(p, layer, kinds, kept, parts, err))
            return -1;
    }
    return 0;
}

/* Each group of the layer is rounded by itself and measured. What the whole layer diverges does not
 * say whose it is: of a layer that makes massive tokens nearly all is that of the weights that make
 * them, however little they drift. */
static int probe_groups(struct by_bits_copies *p, size_t layer, float *kept,
                        struct baryon_error *err)
{
    struct by_bits_search *s = p->s;
    double parts[BY_BITS_KINDS] = {0};
    size_t copies[GROUPS] = {0};
    if (part_all(p, layer, kept, parts, err))
        return -1;
    p->count = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        const uint32_t kinds = kinds_of(s, layer, g);
        copies[g] = p->count;
        if (kinds && pass_rounded(p, layer, kinds, p->count++, kept, err))
            return -1;
    }
    if (!p->count)
        return 0;
    if (by_bits_copies_finish(p, layer, err))
        return -1;
    for (size_t k = 0; k < BY_BITS_KINDS; k++) {
        const double error = error_of_kind(s, layer, k);
        if (has_kind(s, layer, k))
            s->factor[layer * BY_BITS_KINDS + k] =
                error > 0 ? p->kl[copies[group_of(k)]] * parts[k] / error : 0;
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
                   (wanted && probe_groups(p, layer, s->probe->kept, err)) ||
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
