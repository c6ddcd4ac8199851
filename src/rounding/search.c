/* Scales of activations, chosen by what the whole model gives. */
#include "rounding/knobs.h"

#include "quant/own_sqnr.h"
#include "trial/verdict.h"

/* A move is tried on more and more of the samples that are solved on, as long as it may pay. */
#define SAMPLES 24
#define FIRST   1       /* and on twice as many, and so on */
#define WORK    3e11    /* multiply-adds that all moves may take; larger models are not searched */
#define EACH    (2 * 6) /* runs that one scale takes, about */
struct search {
    struct by_rounding_run *run;
    struct by_knobs knobs;
    size_t judged;
    struct by_judgement *now, *trial; /* by sample */
    struct by_rounding_move move;
    unsigned tried;
};

/* --- Trying --- */

static int judge_some(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct search *search = context;
    for (size_t i = search->judged + begin; i < search->judged + end; i++)
        if (by_knobs_run(&search->knobs, i, worker, &search->trial[i], err) < 0)
            return -1;
    return 0;
}

static int judge_until(struct search *search, size_t count, struct baryon_error *err)
{
    if (by_par_for(search->run->q->pool, count - search->judged, 1, judge_some, search, err) < 0)
        return -1;
    search->judged = count;
    return 0;
}

static bool may_pay(const struct search *search, size_t count)
{
    const struct by_gain usual = by_judge_usual_gain(search->trial, search->now, count);
    const struct by_gain whole = by_judge_gain(search->trial, search->now, count);
    return by_verdict_move(&whole, &usual, count, search->knobs.samples);
}

static int judge_move(struct search *search, bool *better, struct baryon_error *err)
{
    const size_t samples = search->knobs.samples;
    *better = true;
    search->judged = 0;
    for (size_t count = FIRST; *better && search->judged < samples; count *= 2) {
        count = count < samples ? count : samples;
        if (judge_until(search, count, err) < 0)
            return -1;
        *better = may_pay(search, count);
    }
    return 0;
}

static void accept(struct search *search)
{
    struct by_judgement *now = search->now;
    search->now = search->trial;
    search->trial = now;
}

/* What the scale costs the tensor itself, in dB; 0: that is not known. */
static int find_own(const struct search *search, size_t row, double *own, struct baryon_error *err)
{
    const struct by_quantization *q = search->run->q;
    bool known;
    *own = 0;
    return by_quant_own_sqnr(q->plan, row, q->stats, own, &known, err);
}

/* The scale in place of another with which the tensor had so much. */
static int judge_scale(struct search *search, size_t row, double before, bool *better,
                       struct baryon_error *err)
{
    double own;
    *better = false;
    if (find_own(search, row, &own, err) < 0)
        return -1;
    if (by_verdict_move_costs(own, before, by_judge_sqnr(search->now, search->knobs.samples)))
        return 0;
    search->tried++;
    return judge_move(search, better, err);
}

/* taken: is it better, and do rules of hardware let it be? */
static int try_scale(struct search *search, size_t place, float scale, bool *taken,
                     struct baryon_error *err)
{
    struct by_quant_plan *plan = search->run->q->plan;
    const size_t row = search->knobs.all[place].row;
    const float old = search->knobs.scales[place];
    double own;
    *taken = false;
    if (find_own(search, row, &own, err) < 0 ||
        by_rounding_move(&search->move, plan, row, &scale, err) < 0)
        return -1;
    if (!search->move.moved)
        return 0;
    search->knobs.scales[place] = scale;
    if (judge_scale(search, row, own, taken, err) < 0)
        return -1;
    if (*taken) {
        search->run->moved++;
        accept(search);
        return 0;
    }
    search->knobs.scales[place] = old;
    return by_rounding_move_back(&search->move, plan, err);
}

/* Further in the same direction, as long as that is better. */
static int try_way(struct search *search, size_t place, float factor, bool *any,
                   struct baryon_error *err)
{
    bool taken = true;
    *any = false;
    while (taken) {
        if (try_scale(search, place, search->knobs.scales[place] * factor, &taken, err) < 0)
            return -1;
        *any |= taken;
    }
    return 0;
}

static int turn(struct search *search, size_t place, struct baryon_error *err)
{
    struct by_quant_plan *plan = search->run->q->plan;
    const size_t row = search->knobs.all[place].row;
    const bool pow2 = plan->rows.at[row].spec.scale == BY_SCALE_POW2;
    const float old = search->knobs.scales[place];
    bool any;
    if (try_way(search, place, pow2 ? 0.5f : 0.8f, &any, err) < 0 ||
        (!any && try_way(search, place, pow2 ? 2 : 1.2f, &any, err) < 0))
        return -1;
    return any ? by_quant_remark(plan, row, "rounding", err,
                                 "scale %g instead of %g, for better outputs of the model",
                                 (double)search->knobs.scales[place], (double)old)
               : 0;
}

static bool too_much(const struct search *search)
{
    const struct by_quant_plan *plan = search->run->q->plan;
    double macs = 0;
    for (size_t i = 0; i < plan->node_count; i++)
        macs += plan->nodes[i].macs;
    return macs * EACH * (double)search->knobs.count > WORK;
}

static int open_samples(struct search *search, struct baryon_error *err)
{
    if (by_knobs_read(&search->knobs, SAMPLES, err) < 0)
        return -1;
    search->now = by_alloc_zero(search->knobs.samples, sizeof *search->now, err);
    search->trial = by_alloc_zero(search->knobs.samples, sizeof *search->trial, err);
    return search->now && search->trial ? 0 : -1;
}

static int search_scales(struct search *search, struct baryon_error *err)
{
    const struct by_reconstruct_progress now = {.total = search->run->layer_count};
    if (by_knobs_open(&search->knobs, search->run, err) < 0)
        return -1;
    if (!search->knobs.count || too_much(search))
        return 0;
    if (open_samples(search, err) < 0 || by_knobs_reach(&search->knobs, 0, err) < 0 ||
        judge_until(search, search->knobs.samples, err) < 0)
        return -1;
    accept(search);
    const double before = by_judge_sqnr(search->now, search->knobs.samples);
    for (size_t i = 0; i < search->knobs.count; i++)
        if (by_rounding_go_on(search->run, &now, err) < 0 ||
            (i && by_knobs_reach(&search->knobs, i, err) < 0) || turn(search, i, err) < 0)
            return -1;
    by_log(search->run->q->options->log, BY_LOG_INFO,
           "scales: %.2f dB with float weights, before %.2f; %zu of %u changes accepted",
           by_judge_sqnr(search->now, search->knobs.samples), before, search->run->moved,
           search->tried);
    return 0;
}

int by_rounding_search(struct by_rounding_run *run, struct baryon_error *err)
{
    struct search search = {.run = run};
    const int status = search_scales(&search, err);
    by_knobs_close(&search.knobs);
    by_rounding_move_close(&search.move);
    by_free(search.now);
    by_free(search.trial);
    return status;
}
