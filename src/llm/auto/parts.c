/* What parts of a quantized model diverge: each of its layers, each kind of linear. */
#include "llm/auto/copies.h"

#include <math.h>
#include <string.h>

/* --- Each layer of a quantized model --- */

/* Copies that left the decoder before go through its layer, and one more through the other's. */
static int exchange_layer(struct by_bits_copies *p, struct by_decoder_run *other, size_t layer,
                          struct baryon_error *err)
{
    p->run.windows = p->count * p->windows;
    if (by_decoder_load(other, layer, err) || by_decoder_load(&p->walk, layer, err) ||
        (p->count && by_decoder_pass(&p->run, layer, &p->walk.loaded, err)) ||
        by_bits_copies_start(p, p->count++, layer, &other->loaded, err) ||
        by_decoder_pass(&p->walk, layer, &p->walk.loaded, err))
        return -1;
    return 0;
}

/* The divergence where each layer in turn is that of the other decoder. Some copies at once share
 * the float model's logits. */
static int exchange_layers(struct by_bits_copies *p, struct by_decoder_run *other, double *kl,
                           struct baryon_error *err)
{
    const size_t layers = p->decoder->layers;
    if (by_bits_copies_open(p, err) ||
        by_decoder_begin(other, other->decoder, p->ids, 1, 1, p->s->pool, err))
        return -1;
    p->count = 0;
    for (size_t i = 0; i < layers; i++) {
        by_bits_tell(p->s, "measure layers", i, layers);
        if (exchange_layer(p, other, i, err))
            return -1;
        if (p->count < BY_BITS_COPIES && i + 1 < layers)
            continue;
        if (by_bits_copies_finish(p, i, err))
            return -1;
        memcpy(kl + i + 1 - p->count, p->kl, p->count * sizeof *kl);
        p->count = 0;
    }
    return 0;
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

int by_bits_layers(struct by_bits_search *s, const char *path, double *kl, struct baryon_error *err)
{
    struct by_llm_opened opened;
    struct by_decoder decoder;
    struct by_bits_copies copies = by_bits_copies_of(s);
    struct by_decoder_run run = {.decoder = &decoder};
    copies.ids = s->windows.judge_ids;
    const int status =
        open_written(s, path, &opened, &decoder, err) || exchange_layers(&copies, &run, kl, err);
    by_bits_copies_close(&copies);
    by_decoder_end(&run);
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
    for (size_t i = kind - BY_BITS_EXPERTS_GATE; i < count; i += 3)
        exchange_kind(&experts[i], &other->experts[i]);
    mixed->experts = count ? experts : NULL;
}

#define NO_KIND BY_BITS_KINDS /* the decoder as it is */

/* Copies, each with a kind of its own, through all layers. */
static int pass_kinds(struct by_bits_copies *p, struct by_decoder_run *other, const size_t *kinds,
                      struct by_decoder_matrix *experts, struct baryon_error *err)
{
    for (size_t c = 0; c < p->count; c++)
        memcpy(by_bits_copies_states(p, c), p->walk.states, by_bits_copies_bytes(p));
    for (size_t i = 0; i < p->decoder->layers; i++) {
        if (by_decoder_load(other, i, err) || by_decoder_load(&p->walk, i, err))
            return -1;
        for (size_t c = 0; c < p->count; c++) {
            struct by_decoder_loaded mixed = p->walk.loaded;
            if (kinds[c] != NO_KIND)
                mix_layer(p->decoder, &mixed, experts, &other->loaded, kinds[c]);
            if (by_bits_copies_pass(p, c, i, &mixed, err))
                return -1;
        }
    }
    p->run.windows = p->count * p->windows;
    return by_bits_copies_judge(p, err);
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

/* The divergence where each kind in turn is that of the other decoder, and at NO_KIND that of the
 * decoder itself. Some copies at once share the float model's logits. */
static int pass_all_kinds(struct by_bits_copies *p, struct by_decoder_run *other,
                          struct by_decoder_matrix *experts, double *kl, struct baryon_error *err)
{
    size_t kinds[BY_BITS_COPIES];
    if (by_bits_copies_open(p, err) ||
        by_decoder_begin(other, other->decoder, p->ids, 1, 1, p->s->pool, err))
        return -1;
    p->count = 0;
    for (size_t k = 0; k <= NO_KIND; k++) {
        if (k == NO_KIND || name_of_kind(p->s, k))
            kinds[p->count++] = k;
        if (!p->count || (p->count < BY_BITS_COPIES && k < NO_KIND))
            continue;
        by_bits_tell(p->s, "measure kinds", k, NO_KIND);
        if (pass_kinds(p, other, kinds, experts, err))
            return -1;
        for (size_t c = 0; c < p->count; c++)
            kl[kinds[c]] = p->kl[c];
        p->count = 0;
    }
    return 0;
}

static int exchange_kinds(struct by_bits_search *s, const struct by_decoder *decoder,
                          const struct by_decoder *other, double *kl, struct baryon_error *err)
{
    struct by_bits_copies copies = by_bits_copies_of(s);
    struct by_decoder_run run = {.decoder = other};
    struct by_decoder_matrix *experts = by_alloc(3 * decoder->experts + 1, sizeof *experts, err);
    copies.decoder = decoder;
    const int status = experts ? pass_all_kinds(&copies, &run, experts, kl, err) : -1;
    by_bits_copies_close(&copies);
    by_decoder_end(&run);
    by_free(experts);
    return status;
}

/* Errors of kinds meet at the output, where those of later linears make up for earlier ones. To
 * second order the divergence is a square form of their sum, and what one adds alone, and what goes
 * when it alone becomes the float model's, are its square with and without twice its products with
 * all others: the mean of both is its part, and parts sum to the whole. A choice that makes up for
 * less must not cost much, so that a part is at least a quarter of what one adds alone. */
static double part_of_whole(double alone, double without, double whole)
{
    return fmax((alone + whole - without) / 2, alone / 4);
}

int by_bits_kinds(struct by_bits_search *s, const char *path, double *kl, struct baryon_error *err)
{
    const struct by_decoder *reference = &s->calibrated.decoder;
    double alone[BY_BITS_KINDS + 1], without[BY_BITS_KINDS + 1];
    struct by_llm_opened opened;
    struct by_decoder decoder;
    int status = open_written(s, path, &opened, &decoder, err);
    status = status || exchange_kinds(s, reference, &decoder, alone, err) ||
             exchange_kinds(s, &decoder, reference, without, err);
    for (size_t k = 0; k < BY_BITS_KINDS && !status; k++) {
        const char *name = name_of_kind(s, k);
        kl[k] = name ? part_of_whole(alone[k], without[k], without[NO_KIND]) : 0;
        if (name)
            by_log(s->log, BY_LOG_INFO, "all %s alone: kl %.5g (of all: %.5g, without: %.5g)", name,
                   alone[k], without[NO_KIND], without[k]);
    }
    by_decoder_close(&decoder);
    by_llm_close(&opened);
    return status ? -1 : 0;
}
