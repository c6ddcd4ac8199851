/*
 * Tells what noise activations have by themselves on the samples that are measured on. Those that
 * calibrated do not tell, as others may reach beyond their ranges.
 */
#include "search/decision_internal.h"

#include "quant/own_sqnr.h"
#include "trial/draft.h"

#include <math.h>

struct reading {
    const struct by_decisions *d;
    size_t next;
};

static int next_measured(void *context, const struct by_array **arrays, size_t *count,
                         const char **name, struct baryon_error *err)
{
    struct reading *reading = context;
    const struct by_decisions *d = reading->d;
    (void)err;
    if (reading->next == d->samples)
        return 0;
    const size_t first = by_judge_kept(d->judge) - by_judge_count(d->judge);
    *arrays = by_judge_inputs(d->judge, first + d->measured[reading->next++], count);
    *name = "";
    return 0;
}

static int rewind_measured(void *context, struct baryon_error *err)
{
    (void)err;
    ((struct reading *)context)->next = 0;
    return 0;
}

static int observe_names(const struct by_decisions *d, const char *const *names, size_t count,
                         struct by_stats **stats, struct baryon_error *err)
{
    struct by_draft draft;
    struct reading reading = {.d = d};
    const struct by_input_callback samples = {
        .next = next_measured, .rewind = rewind_measured, .context = &reading, .count = d->samples};
    const struct by_calibrate_options *own = &d->q->options->calibrate;
    struct by_calibrate_options options = {.names = names,
                                           .name_count = count,
                                           .max_memory = own->max_memory,
                                           .session = own->session,
                                           .input = {.allow_nonfinite = true},
                                           .samples = &samples,
                                           .model = "",
                                           .data = ""};
    int status = by_draft_open_planned(&draft, &d->q->floats, NULL, 0, NULL, err);
    if (status == 0)
        status = by_calibrate(stats, draft.model, NULL, &options, NULL, err);
    by_draft_close(&draft);
    return status;
}

static int take_noise(struct by_decisions *d, struct by_stats *stats, struct baryon_error *err)
{
    for (size_t i = 0; i < d->source_count; i++) {
        double sqnr;
        bool known;
        if (d->sources[i].weight)
            continue;
        if (by_quant_own_sqnr(d->q->plan, d->sources[i].row, stats, &sqnr, &known, err) < 0)
            return -1;
        if (known)
            d->work->noise_of[i] = exp10(-sqnr / 10);
    }
    return 0;
}

/* Also of ranges that are known without samples, like that of Softmax. */
int by_decide_own(struct by_decisions *d, struct baryon_error *err)
{
    struct by_stats *stats = NULL;
    size_t count = 0;
    if (!d->q->stats)
        return 0;
    const char **names = by_alloc(d->source_count + 1, sizeof *names, err);
    if (!names)
        return -1;
    for (size_t i = 0; i < d->source_count; i++)
        if (!d->sources[i].weight && by_quant_has_steps(d->q->plan, d->sources[i].row))
            names[count++] = d->q->plan->rows.at[d->sources[i].row].value->name;
    int status = count ? observe_names(d, names, count, &stats, err) : 0;
    if (status == 0 && stats)
        status = take_noise(d, stats, err);
    by_stats_close(stats);
    by_free((void *)names);
    return status;
}
