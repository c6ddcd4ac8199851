/* Choices corrected by the part of each kind of linear in what a model was found to diverge. */
#include "llm/auto/auto_internal.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

/* A kind's part in all layers together is measured itself, where probes only share the divergence
 * of a layer by what drifts: it counts in full. */
void by_bits_correct_kinds(struct by_bits_search *s, const double *kl)
{
    double predicted[BY_BITS_KINDS] = {0}, all = 0, measured = 0;
    for (size_t i = 0; i < s->linear_count; i++) {
        const struct by_bits_linear *linear = &s->linears[i];
        predicted[linear->kind] += s->predicted[i * s->type_count + s->chosen[linear->unit]];
    }
    for (size_t k = 0; k < BY_BITS_KINDS; k++) {
        all += predicted[k];
        measured += kl[k];
    }
    for (size_t i = 0; i < s->calibrated.decoder.layers && all > 0 && measured > 0; i++)
        for (size_t k = 0; k < BY_BITS_KINDS; k++)
            if (predicted[k] > 0 && kl[k] > 0)
                s->factor[i * BY_BITS_KINDS + k] *= kl[k] / measured / (predicted[k] / all);
}

struct by_llm_mean by_bits_difference(const double *own, const double *other, size_t windows)
{
    struct by_llm_mean found = {0, INFINITY};
    const double count = (double)windows;
    double squares = 0;
    for (size_t i = 0; i < windows; i++)
        found.mean += (own[i] - other[i]) / count;
    for (size_t i = 0; i < windows; i++)
        squares += pow(own[i] - other[i] - found.mean, 2);
    if (windows > 1)
        found.error = sqrt(squares / (count - 1) / count);
    return found;
}

bool by_bits_keeps(const struct by_llm_mean *worse)
{
    return worse->mean <= (isfinite(worse->error) ? worse->error : 0);
}

/* Another choice, by what kinds of linears were found to diverge. */
static int try_corrected(struct by_bits_search *s, uint64_t bytes, double *by_window,
                         struct by_llm_auto_measured *measured, struct baryon_error *err)
{
    const struct by_bits_trial trial = {s->chosen, BY_BITS_TRIAL, measured, by_window};
    double kinds[BY_BITS_KINDS];
    char best[4096];
    if (by_bits_trial_path(s, BY_BITS_BEST, best, sizeof best, err) ||
        by_bits_kinds(s, best, kinds, err))
        return -1;
    by_bits_correct_kinds(s, kinds);
    return by_bits_predict(s, err) || by_bits_choose(s, bytes, err) || by_bits_try(s, &trial, err)
               ? -1
               : 0;
}

static int take_corrected(struct by_bits_search *s, struct baryon_error *err)
{
    char best[4096], path[4096];
    return by_bits_trial_path(s, BY_BITS_BEST, best, sizeof best, err) ||
                   by_bits_trial_path(s, BY_BITS_TRIAL, path, sizeof path, err) ||
                   by_bits_trial_remove(s, BY_BITS_BEST, err) || by_rename_folder(path, best, err)
               ? -1
               : 0;
}

static int correct_once(struct by_bits_search *s, uint64_t bytes, double *by_window, double *own,
                        bool *kept, struct baryon_error *err)
{
    struct by_llm_auto_measured measured = {0};
    const size_t windows = s->windows.choose;
    if (try_corrected(s, bytes, own, &measured, err))
        return -1;
    const struct by_llm_mean worse = by_bits_difference(own, by_window, windows);
    *kept = by_bits_keeps(&worse);
    by_log(s->log, BY_LOG_INFO,
           "the corrected choice is %s: kl %.6g, before %.6g, difference %.6g, error %.6g",
           *kept ? "kept" : "left", measured.kl.mean, s->result->reached, worse.mean, worse.error);
    if (!*kept)
        return by_bits_trial_remove(s, BY_BITS_TRIAL, err);
    memcpy(by_window, own, windows * sizeof *own);
    s->result->reached = measured.kl.mean;
    return take_corrected(s, err);
}

int by_bits_correct_choices(struct by_bits_search *s, uint64_t bytes, double *by_window,
                            struct baryon_error *err)
{
    const size_t units = s->unit_count * sizeof *s->chosen;
    size_t *before = by_arena_alloc(&s->arena, s->unit_count, sizeof *before, err);
    double *own = by_arena_alloc(&s->arena, s->windows.choose, sizeof *own, err);
    bool kept = true;
    if (!before || !own)
        return -1;
    for (uint64_t i = 0; i < s->options->corrections && kept; i++) {
        memcpy(before, s->chosen, units);
        if (correct_once(s, bytes, by_window, own, &kept, err))
            return -1;
    }
    if (!kept)
        memcpy(s->chosen, before, units);
    return 0;
}
