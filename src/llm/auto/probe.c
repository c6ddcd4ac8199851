/* What errors count: the divergence of the model with a part of it rounded, measured. */
#include "llm/auto/auto_internal.h"

#include "llm/eval_token.h"

#include <math.h>
#include <string.h>

#define TOKENS_AT_ONCE 64 /* whose logits are in memory, for each thread */

/* Windows of the float model, and beside them copies of their states on which a part is rounded. */
struct probing {
    struct by_bits_search *s;
    const struct by_decoder *reference; /* the float model */
    const struct by_decoder *decoder;   /* what walks: the float model, or a quantized one */
    const uint32_t *ids;
    size_t windows, length, tokens; /* tokens: windows * length */
    struct by_decoder_run end;      /* the float model after its last layer */
    struct by_decoder_run walk;     /* the decoder on its way */
    struct by_decoder_run copies;   /* `count` times the windows */
    size_t count, most;
    double *kl;   /* [count]: sums */
    double *sums; /* [pieces][count] */
    size_t pieces;
    const char *stage;
    size_t done, all; /* layers */
};

/* --- Divergence --- */

/* Some tokens of a window, of all copies; room: logits and probabilities of these tokens. */
static int judge_tokens(const struct probing *p, size_t piece, float *logits, double *shares,
                        struct baryon_error *err)
{
    const size_t vocab = p->decoder->vocab, of_window = p->pieces / p->windows;
    const size_t window = piece / of_window, first = piece % of_window * TOKENS_AT_ONCE;
    const size_t rest = p->length - first, count = rest < TOKENS_AT_ONCE ? rest : TOKENS_AT_ONCE;
    double negentropy[TOKENS_AT_ONCE];
    struct by_decoder_run copies = p->copies;
    copies.head = p->end.head;
    copies.norm = p->end.norm;
    if (by_decoder_logits(&p->end, window, first, count, logits, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        negentropy[i] = by_llm_token_shares(logits + i * vocab, vocab, shares + i * vocab);
    for (size_t c = 0; c < p->count; c++) {
        double *sum = &p->sums[piece * p->count + c];
        if (by_decoder_logits(&copies, c * p->windows + window, first, count, logits, err))
            return -1;
        *sum = 0;
        for (size_t i = 0; i < count; i++)
            *sum += by_llm_token_kl(shares + i * vocab, negentropy[i], logits + i * vocab, vocab);
    }
    return 0;
}

static int judge_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct probing *p = context;
    const size_t values = TOKENS_AT_ONCE * p->decoder->vocab;
    double *shares = by_alloc(values, sizeof *shares, err);
    float *logits = shares ? by_alloc(values, sizeof *logits, err) : NULL;
    int status = logits ? 0 : -1;
    (void)worker;
    for (size_t piece = begin; piece < end && !status; piece++)
        status = judge_tokens(p, piece, logits, shares, err);
    by_free(shares);
    by_free(logits);
    return status;
}

static int judge_copies(struct probing *p, struct baryon_error *err)
{
    if (by_par_for(p->s->pool, p->pieces, 1, judge_piece, p, err))
        return -1;
    for (size_t c = 0; c < p->count; c++) {
        p->kl[c] = 0;
        for (size_t i = 0; i < p->pieces; i++)
            p->kl[c] += p->sums[i * p->count + c];
        p->kl[c] = fmax(p->kl[c] / (double)p->tokens, 0);
    }
    return 0;
}

/* --- Runs --- */

static size_t bytes_of_states(const struct probing *p)
{
    return p->tokens * p->decoder->hidden * by_decoder_kept_size(p->decoder);
}

static void *states_of(const struct probing *p, size_t copy)
{
    return (uint8_t *)p->copies.states + copy * bytes_of_states(p);
}

/* A copy goes on through the layer with these weights. */
static int pass_on(struct probing *p, size_t copy, size_t layer,
                   const struct by_decoder_loaded *loaded, struct baryon_error *err)
{
    struct by_decoder_run run = {.decoder = p->decoder,
                                 .pool = p->s->pool,
                                 .windows = p->windows,
                                 .length = p->length,
                                 .states = states_of(p, copy)};
    return by_decoder_pass(&run, layer, loaded, err);
}

/* A copy of the states before the layer goes through it with these weights. */
static int pass_copy(struct probing *p, size_t copy, size_t layer,
                     const struct by_decoder_loaded *loaded, struct baryon_error *err)
{
    memcpy(states_of(p, copy), p->walk.states, bytes_of_states(p));
    return pass_on(p, copy, layer, loaded, err);
}

/* The copies through the layers after. */
static int finish_copies(struct probing *p, size_t layer, struct baryon_error *err)
{
    p->copies.windows = p->count * p->windows;
    for (size_t i = layer + 1; i < p->decoder->layers; i++)
        if (by_decoder_step(&p->copies, i, err))
            return -1;
    return judge_copies(p, err);
}

static int open_probing(struct probing *p, size_t most, struct baryon_error *err)
{
    struct by_pool *pool = p->s->pool;
    p->tokens = p->windows * p->length;
    p->most = most;
    p->pieces = p->windows * ((p->length + TOKENS_AT_ONCE - 1) / TOKENS_AT_ONCE);
    if (by_decoder_begin(&p->end, p->reference, p->ids, p->windows, p->length, pool, err) ||
        by_decoder_begin(&p->walk, p->decoder, p->ids, p->windows, p->length, pool, err))
        return -1;
    p->copies = (struct by_decoder_run){
        .decoder = p->decoder, .pool = pool, .length = p->length, .capacity = p->walk.capacity};
    p->copies.states = by_alloc(most, bytes_of_states(p), err);
    p->kl = by_alloc_zero(most, sizeof *p->kl, err);
    p->sums = by_alloc_zero(most * p->pieces, sizeof *p->sums, err);
    if (!p->copies.states || !p->kl || !p->sums)
        return -1;
    for (size_t i = 0; i < p->decoder->layers; i++)
        if (by_decoder_step(&p->end, i, err))
            return -1;
    return by_decoder_finish(&p->end, err);
}

static void close_probing(struct probing *p)
{
    by_decoder_end(&p->end);
    by_decoder_end(&p->walk);
    by_decoder_end(&p->copies);
    by_free(p->kl);
    by_free(p->sums);
}

/* --- Linears of a layer, rounded --- */

#define ALL_KINDS BY_BITS_KINDS

/* Copies of the states: with all of the layer rounded, with nothing, with one kind. */
enum { COPY_ALL, COPY_FLOAT, COPY_KIND, COPIES };

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

static int round_matrix(const struct probing *p, struct by_llm_item *item,
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
static int round_kind(struct probing *p, size_t layer, size_t kind, float *kept, bool back,
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
        struct by_llm_item *item = by_bits_item(s, i, s->probe_type);
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

static double error_of_kind(const struct by_bits_search *s, size_t layer, size_t kind)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < s->linear_count; i++)
        if (s->linears[i].layer == layer && s->linears[i].kind == kind) {
            const double error = s->solved[i * s->type_count + s->probe_type];
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
static int drift_of(const struct probing *p, size_t copy, double *drift, struct baryon_error *err)
{
    const size_t hidden = p->decoder->hidden;
    float *own = by_alloc(2 * hidden, sizeof *own, err), *other = own ? own + hidden : NULL;
    *drift = 0;
    for (size_t t = 0; own && t < p->tokens; t++) {
        double gap = 0, whole = 0;
        by_decoder_get(p->decoder, states_of(p, copy), t * hidden, hidden, own);
        by_decoder_get(p->decoder, states_of(p, COPY_FLOAT), t * hidden, hidden, other);
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

static int pass_rounded(struct probing *p, size_t layer, size_t kind, size_t copy, float *kept,
                        struct baryon_error *err)
{
    return round_kind(p, layer, kind, kept, false, err) ||
                   pass_copy(p, copy, layer, &p->walk.loaded, err) ||
                   round_kind(p, layer, kind, kept, true, err)
               ? -1
               : 0;
}

/* All linears of the layer are rounded at once, and each kind has the part of that divergence that
 * it has in the drift of the layer's output: errors add up to it, wherever they come about. */
static int probe_kinds(struct probing *p, size_t layer, float *kept, struct baryon_error *err)
{
    struct by_bits_search *s = p->s;
    double drifts[BY_BITS_KINDS] = {0}, sum = 0;
    if (pass_copy(p, COPY_FLOAT, layer, &p->walk.loaded, err))
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
    if (pass_rounded(p, layer, ALL_KINDS, COPY_ALL, kept, err) || finish_copies(p, layer, err))
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

static struct probing probing_of(struct by_bits_search *s)
{
    const struct by_bits_windows *w = &s->windows;
    const size_t wanted = (size_t)s->options->probe_windows;
    return (struct probing){.s = s,
                            .reference = &s->calibrated.decoder,
                            .decoder = &s->calibrated.decoder,
                            .ids = w->choose_ids,
                            .windows = wanted && wanted < w->choose ? wanted : w->choose,
                            .length = w->length};
}

struct by_bits_probe {
    struct probing probing;
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
    s->probe->probing = probing_of(s);
    if (open_probing(&s->probe->probing, COPIES, err))
        return -1;
    s->probe->kept = by_alloc(s->probe->probing.walk.capacity, sizeof(float), err);
    return s->probe->kept ? 0 : -1;
}

uint64_t by_bits_probe_bytes(struct by_bits_search *s)
{
    const struct by_decoder *d = &s->calibrated.decoder;
    const struct probing p = probing_of(s);
    const uint64_t states = (uint64_t)p.windows * p.length * d->hidden * by_decoder_kept_size(d);
    const uint64_t token = d->vocab * (sizeof(float) + sizeof(double));
    /* Weights of the layer, of a layer after it, as they were, and as the method made them. */
    return (2 + COPIES) * states + 4 * sizeof(float) * by_decoder_most_floats(d) +
           sizeof(float) * d->vocab * d->hidden + by_pool_threads(s->pool) * TOKENS_AT_ONCE * token;
}

int by_bits_probe_layer(struct by_bits_search *s, size_t layer, struct baryon_error *err)
{
    struct probing *p = &s->probe->probing;
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
    close_probing(&s->probe->probing);
    by_free(s->probe->kept);
    s->probe = NULL;
    for (size_t k = 0; k < BY_BITS_KINDS; k++)
        fill_between(s, k);
}

/* --- Each layer of a quantized model --- */

/* Copies that left the decoder before go through its layer, and one more through the other's. */
static int exchange_layer(struct probing *p, struct by_decoder_run *other, size_t layer,
                          struct baryon_error *err)
{
    p->copies.windows = p->count * p->windows;
    if (by_decoder_load(other, layer, err) || by_decoder_load(&p->walk, layer, err) ||
        (p->count && by_decoder_pass(&p->copies, layer, &p->walk.loaded, err)) ||
        pass_copy(p, p->count++, layer, &other->loaded, err) ||
        by_decoder_pass(&p->walk, layer, &p->walk.loaded, err))
        return -1;
    return 0;
}

/* The divergence where each layer in turn is that of the other decoder; and, where asked, of the
 * decoder itself. Some copies at once share the float model's logits. */
static int exchange_layers(struct probing *p, struct by_decoder_run *other, double *kl, double *own,
                           struct baryon_error *err)
{
    const size_t layers = p->decoder->layers;
    if (open_probing(p, COPIES, err) ||
        by_decoder_begin(other, other->decoder, p->ids, 1, 1, p->s->pool, err))
        return -1;
    if (own) {
        p->count = 1;
        if (by_decoder_load(&p->walk, 0, err) || pass_copy(p, 0, 0, &p->walk.loaded, err) ||
            finish_copies(p, 0, err))
            return -1;
        *own = p->kl[0];
    }
    p->count = 0;
    for (size_t i = 0; i < layers; i++) {
        by_bits_tell(p->s, "measure layers", i, layers);
        if (exchange_layer(p, other, i, err))
            return -1;
        if (p->count < COPIES && i + 1 < layers)
            continue;
        if (finish_copies(p, i, err))
            return -1;
        memcpy(kl + i + 1 - p->count, p->kl, p->count * sizeof *kl);
        p->count = 0;
    }
    return 0;
}

/* One decoder with layers of the other. */
static int exchange(struct by_bits_search *s, bool judges, const struct by_decoder *decoder,
                    const struct by_decoder *other, double *kl, double *own,
                    struct baryon_error *err)
{
    struct probing probing = probing_of(s);
    struct by_decoder_run run = {.decoder = other};
    probing.decoder = decoder;
    probing.ids = judges ? s->windows.judge_ids : s->windows.choose_ids;
    const int status = exchange_layers(&probing, &run, kl, own, err);
    close_probing(&probing);
    by_decoder_end(&run);
    return status;
}

/* Errors of layers meet at the output, where those of later layers make up for earlier ones. To
 * second order the divergence is a square form of their sum, and what a layer adds alone, and what
 * goes when it alone becomes the float model's, are its square with and without twice its products
 * with all others: the mean of both is its part, and parts sum to the whole. A choice that makes up
 * for less must not cost much, so that a part is at least a quarter of what the layer adds alone.
 */
static void take_parts(double *kl, const double *without, double whole, size_t layers)
{
    for (size_t i = 0; i < layers; i++)
        kl[i] = fmax((kl[i] + whole - without[i]) / 2, kl[i] / 4);
}

/* The decoder of a quantized model; both are closed in any case. */
static int open_written(const struct by_bits_search *s, const char *path,
                        struct by_llm_opened *opened, struct by_decoder *decoder,
                        struct baryon_error *err)
{
    *decoder = (struct by_decoder){0};
    const int status = by_llm_open(opened, path, BY_LLM_STACKS_SPLIT, BY_LLM_NAMES_FOLDER, err) ||
                       by_decoder_open(decoder, &opened->source, opened->checkpoint->config, err);
    decoder->halved = s->calibrated.decoder.halved;
    return status ? -1 : 0;
}

int by_bits_shares(struct by_bits_search *s, const char *path, double *kl, double *without,
                   struct baryon_error *err)
{
    const struct by_decoder *reference = &s->calibrated.decoder;
    struct by_llm_opened opened;
    struct by_decoder decoder;
    double whole = 0;
    int status = open_written(s, path, &opened, &decoder, err);
    status = status || exchange(s, !without, reference, &decoder, kl, NULL, err) ||
             (without && exchange(s, false, &decoder, reference, without, &whole, err));
    if (!status && without)
        take_parts(kl, without, whole, reference->layers);
    by_decoder_close(&decoder);
    by_llm_close(&opened);
    return status ? -1 : 0;
}

/* --- Each kind of linear of a quantized model --- */

static void exchange_kind(struct by_decoder_matrix *one, const struct by_decoder_matrix *other)
{
    struct by_decoder_matrix with = *other;
    with.place = one->place;
    *one = with;
}

/* The float model's layer with one kind of linear of the other's. */
static void mix_layer(const struct by_decoder *d, struct by_decoder_loaded *mixed,
                      struct by_decoder_matrix *experts, const struct by_decoder_loaded *other,
                      size_t kind)
{
    if (kind < BY_PARTS) {
        exchange_kind(&mixed->parts[kind], &other->parts[kind]);
        return;
    }
    const size_t count = mixed->experts ? 3 * d->experts : 0;
    if (count)
        memcpy(experts, mixed->experts, count * sizeof *experts);
    for (size_t i = kind - BY_PARTS; i < count; i += 3)
        exchange_kind(&experts[i], &other->experts[i]);
    mixed->experts = count ? experts : NULL;
}

/* Copies, each with a kind of its own, through all layers. */
static int pass_kinds(struct probing *p, struct by_decoder_run *other, const size_t *kinds,
                      struct by_decoder_matrix *experts, struct baryon_error *err)
{
    for (size_t c = 0; c < p->count; c++)
        memcpy(states_of(p, c), p->walk.states, bytes_of_states(p));
    for (size_t i = 0; i < p->decoder->layers; i++) {
        if (by_decoder_load(other, i, err) || by_decoder_load(&p->walk, i, err))
            return -1;
        for (size_t c = 0; c < p->count; c++) {
            struct by_decoder_loaded mixed = p->walk.loaded;
            mix_layer(p->decoder, &mixed, experts, &other->loaded, kinds[c]);
            if (pass_on(p, c, i, &mixed, err))
                return -1;
        }
    }
    p->copies.windows = p->count * p->windows;
    return judge_copies(p, err);
}

/* The last part of the name that the first of them has; NULL: there is none. */
static const char *name_of_kind(const struct by_bits_search *s, size_t kind)
{
    for (size_t i = 0; i < s->linear_count; i++) {
        if (s->linears[i].kind != kind)
            continue;
        const char *name = s->opened.source.weights[s->linears[i].weight].layer;
        const char *last = strrchr(name, '.');
        return last ? last + 1 : name;
    }
    return NULL;
}

static int measure_kinds(struct probing *p, struct by_decoder_run *other,
                         struct by_decoder_matrix *experts, double *kl, struct baryon_error *err)
{
    size_t kinds[COPIES];
    if (open_probing(p, COPIES, err) ||
        by_decoder_begin(other, other->decoder, p->ids, 1, 1, p->s->pool, err))
        return -1;
    p->count = 0;
    for (size_t k = 0; k < BY_BITS_KINDS; k++) {
        if (name_of_kind(p->s, k))
            kinds[p->count++] = k;
        if (!p->count || (p->count < COPIES && k + 1 < BY_BITS_KINDS))
            continue;
        by_bits_tell(p->s, "measure kinds", k, BY_BITS_KINDS);
        if (pass_kinds(p, other, kinds, experts, err))
            return -1;
        for (size_t c = 0; c < p->count; c++) {
            kl[kinds[c]] = p->kl[c];
            by_log(p->s->log, BY_LOG_INFO, "all %s alone: kl %.5g", name_of_kind(p->s, kinds[c]),
                   p->kl[c]);
        }
        p->count = 0;
    }
    return 0;
}

int by_bits_kinds(struct by_bits_search *s, const char *path, double *kl, struct baryon_error *err)
{
    struct by_llm_opened opened;
    struct by_decoder decoder;
    struct probing probing = probing_of(s);
    struct by_decoder_run run = {.decoder = &decoder};
    struct by_decoder_matrix *experts =
        by_alloc(3 * s->calibrated.decoder.experts + 1, sizeof *experts, err);
    memset(kl, 0, BY_BITS_KINDS * sizeof *kl);
    int status = open_written(s, path, &opened, &decoder, err);
    status = status || !experts || measure_kinds(&probing, &run, experts, kl, err);
    close_probing(&probing);
    by_decoder_end(&run);
    by_decoder_close(&decoder);
    by_llm_close(&opened);
    by_free(experts);
    return status ? -1 : 0;
}
