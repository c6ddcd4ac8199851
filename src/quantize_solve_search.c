/*
 * Scales of activations, chosen by what the whole model gives: on a copy whose weights stay floats
 * and whose scales are inputs, so that one session tries all of them.
 */
#include "ir/infer.h"
#include "quant/lower.h"
#include "quant/plan_copy.h"
#include "quantize_check.h"
#include "quantize_solve_internal.h"

#include <math.h>

#define SAMPLES 24      /* of those that are solved on, as far as a move gets better on the first */
#define FIRST   4       /* and on twice as many, and so on */
#define SURE    2       /* a gain is one if it is so many of its standard errors */
#define WORTH   0.02    /* and so many dB */
#define WORK    3e11    /* multiply-adds that all moves may take; larger models are not searched */
#define EACH    (2 * 6) /* runs that one scale takes, about */

struct knob {
    size_t row;                /* of the plan */
    struct baryon_value *from; /* initializer in the copy, then its input */
};

struct search {
    struct by_solving *solving;
    struct by_judge *judge;
    struct by_judge_reader reader; /* of samples that are solved on */
    struct by_input_callback samples;
    struct by_quantize_copy copy;
    struct by_session *session;
    struct knob *knobs;
    struct by_array *inputs; /* by knob */
    float *scales;           /* by knob */
    size_t count, sample_count, judged;
    struct by_judgement *now, *trial; /* by sample */
    struct by_solve_move move;
    unsigned tried, taken;
};

/* --- What may change --- */

static bool is_free(const struct by_quant_row *row)
{
    return row->role == BY_ROLE_ACTIVATION && row->shares == BY_NO_ROW && by_solve_may_move(row) &&
           row->params.count == 1;
}

static bool is_known(const struct search *search, const struct baryon_value *scale)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->knobs[i].from == scale)
            return true;
    return false;
}

/* rows: by row of the copy. */
static void add_knob(struct search *search, const struct baryon_node *node, const size_t *rows)
{
    const struct by_quant_plan *plan = search->solving->q->plan, *copy = search->copy.plan;
    struct baryon_value *scale = by_node_in(node, 1);
    const size_t found = by_quant_find(copy, by_node_in(node, 0));
    if (found == BY_NO_ROW || !scale || !scale->initializer ||
        scale->initializer->data_type != BY_ELEM_FLOAT || is_known(search, scale))
        return;
    const size_t row = by_quant_owner(plan, rows[found]);
    if (is_free(&plan->rows.at[row]))
        search->knobs[search->count++] = (struct knob){row, scale};
}

static int find_knobs(struct search *search, const size_t *rows, struct baryon_error *err)
{
    const struct baryon_graph *graph = search->copy.model->graph;
    search->knobs = by_alloc_zero(graph->node.count + 1, sizeof *search->knobs, err);
    if (!search->knobs)
        return -1;
    for (size_t i = 0; i < graph->node.count; i++)
        if (by_node_quantizes(graph->node.at[i]))
            add_knob(search, graph->node.at[i], rows);
    return 0;
}

static int make_input(struct search *search, size_t place, struct baryon_error *err)
{
    struct baryon_model *model = search->copy.model;
    struct knob *knob = &search->knobs[place];
    struct by_type *type = by_type_tensor(model, BY_ELEM_FLOAT, NULL, err);
    const char *name = by_model_fresh_name(model, "scale", err);
    struct baryon_value *value =
        type && name ? by_graph_add_input(model->graph, name, type, err) : NULL;
    if (!value || by_value_replace_uses(knob->from, value, NULL, err) < 0)
        return -1;
    knob->from = value;
    search->scales[place] = search->solving->q->plan->rows.at[knob->row].params.scales[0];
    search->inputs[place] = (struct by_array){.name = value->name,
                                              .elem = BY_ELEM_FLOAT,
                                              .data = &search->scales[place],
                                              .size = sizeof(float)};
    return 0;
}

static int make_inputs(struct search *search, struct baryon_error *err)
{
    search->inputs = by_alloc(search->count + 1, sizeof *search->inputs, err);
    search->scales = by_alloc(search->count + 1, sizeof *search->scales, err);
    for (size_t i = 0; i < search->count; i++)
        if (!search->inputs || !search->scales || make_input(search, i, err) < 0)
            return -1;
    return search->inputs && search->scales ? 0 : -1;
}

static int open_copy(struct search *search, struct baryon_error *err)
{
    struct by_quantization *q = search->solving->q;
    struct by_quantize_copy *copy = &search->copy;
    size_t *rows = by_alloc(q->plan->rows.count + 1, sizeof *rows, err);
    const int status =
        !rows || by_frame_copy(&search->solving->frame, &copy->model, err) < 0 ||
                by_model_settle(copy->model, err) < 0 ||
                by_model_infer(copy->model, NULL, err) < 0 ||
                by_quant_plan_copy(&copy->plan, q->plan, copy->model, &search->solving->recipe,
                                   BY_ROLES_ACTIVATIONS, rows, err) < 0 ||
                by_lower(copy->plan, q->pool, err) < 0 || find_knobs(search, rows, err) < 0 ||
                make_inputs(search, err) < 0
            ? -1
            : 0;
    by_free(rows);
    return status;
}

/* Samples that are solved on judge here. */
static int open_judge(struct search *search, struct baryon_error *err)
{
    const struct by_solving *solving = search->solving;
    const struct by_judge_options options = {
        .samples = &search->samples,
        .session = solving->q->options->calibrate.session,
        .depot = solving->depot,
        .aside = SAMPLES,
        .most = SAMPLES,
    };
    by_judge_read(solving->judge, &search->reader, &search->samples);
    if (by_judge_open(&search->judge, solving->reference, &options, err) < 0 ||
        by_judge_references(search->judge, solving->q->pool, err) < 0)
        return -1;
    search->sample_count = by_judge_count(search->judge);
    search->now = by_alloc_zero(search->sample_count, sizeof *search->now, err);
    search->trial = by_alloc_zero(search->sample_count, sizeof *search->trial, err);
    if (!search->now || !search->trial)
        return -1;
    return by_judge_session(search->judge, search->copy.model, &search->session, err);
}

/* --- Trying --- */

static int judge_some(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    struct search *search = context;
    (void)worker;
    for (size_t i = search->judged + begin; i < search->judged + end; i++)
        if (by_judge_run_with(search->judge, search->session, i, search->inputs, search->count,
                              &search->trial[i], err) < 0)
            return -1;
    return 0;
}

static int judge_until(struct search *search, size_t count, struct baryon_error *err)
{
    if (by_par_for(search->solving->q->pool, count - search->judged, 1, judge_some, search, err) <
        0)
        return -1;
    search->judged = count;
    return 0;
}

/* How much better each sample got, in the mean, and the standard error of that. */
static struct by_gain usual_gain(const struct search *search, size_t count)
{
    double sum = 0, squares = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        const double gain = by_judge_sqnr(&search->trial[i], 1) - by_judge_sqnr(&search->now[i], 1);
        sum += gain;
        squares += gain * gain;
    }
    return (struct by_gain){sum / n, sqrt(fmax(squares / n - sum / n * (sum / n), 0) / (n - 1))};
}

static int judge(struct search *search, bool *better, struct baryon_error *err)
{
    *better = true;
    search->judged = 0;
    for (size_t count = FIRST; *better && search->judged < search->sample_count; count *= 2) {
        count = count < search->sample_count ? count : search->sample_count;
        if (judge_until(search, count, err) < 0)
            return -1;
        const struct by_gain usual = usual_gain(search, count);
        const struct by_gain whole = by_judge_gain(search->trial, search->now, count);
        const double sure = count < search->sample_count ? 0 : SURE;
        *better = usual.decibels > sure * usual.error && whole.decibels > WORTH &&
                  whole.decibels > sure * whole.error;
    }
    return 0;
}

static void accept(struct search *search)
{
    struct by_judgement *now = search->now;
    search->now = search->trial;
    search->trial = now;
}

/* taken: is it better, and do rules of hardware let it be? */
static int try_scale(struct search *search, size_t place, float scale, bool *taken,
                     struct baryon_error *err)
{
    struct by_quant_plan *plan = search->solving->q->plan;
    const struct knob *knob = &search->knobs[place];
    const float old = search->scales[place];
    *taken = false;
    if (by_solve_move(&search->move, plan, knob->row, &scale, err) < 0)
        return -1;
    if (!search->move.moved)
        return 0;
    search->scales[place] = scale;
    search->tried++;
    if (judge(search, taken, err) < 0)
        return -1;
    if (*taken) {
        search->taken++;
        accept(search);
        return 0;
    }
    search->scales[place] = old;
    return by_solve_move_back(&search->move, plan, err);
}

/* Further in the same direction, as long as that is better. */
static int try_way(struct search *search, size_t place, float factor, bool *any,
                   struct baryon_error *err)
{
    bool taken = true;
    *any = false;
    while (taken) {
        if (try_scale(search, place, search->scales[place] * factor, &taken, err) < 0)
            return -1;
        *any |= taken;
    }
    return 0;
}

static int turn(struct search *search, size_t place, struct baryon_error *err)
{
    const struct by_quant_row *row = &search->solving->q->plan->rows.at[search->knobs[place].row];
    const bool pow2 = row->spec.scale == BY_SCALE_POW2;
    const float old = search->scales[place];
    bool any;
    if (try_way(search, place, pow2 ? 0.5f : 0.8f, &any, err) < 0 ||
        (!any && try_way(search, place, pow2 ? 2 : 1.2f, &any, err) < 0))
        return -1;
    return any ? by_quant_remark(search->solving->q->plan, search->knobs[place].row, "rounding",
                                 err, "its scale is %g instead of %g, by what the model gives",
                                 (double)search->scales[place], (double)old)
               : 0;
}

static bool too_much(const struct search *search)
{
    const struct by_quant_plan *plan = search->solving->q->plan;
    double macs = 0;
    for (size_t i = 0; i < plan->node_count; i++)
        macs += plan->nodes[i].macs;
    return macs * EACH * (double)search->count > WORK;
}

static int run(struct search *search, struct baryon_error *err)
{
    if (open_copy(search, err) < 0)
        return -1;
    if (too_much(search))
        return 0;
    if (open_judge(search, err) < 0 || judge_until(search, search->sample_count, err) < 0)
        return -1;
    accept(search);
    const double before = by_judge_sqnr(search->now, search->sample_count);
    for (size_t i = 0; i < search->count; i++)
        if (by_solve_go_on(search->solving, err) < 0 || turn(search, i, err) < 0)
            return -1;
    by_log(search->solving->q->options->log, BY_LOG_INFO,
           "scales: %.2f dB with float weights, was %.2f; %u of %u moves taken",
           by_judge_sqnr(search->now, search->sample_count), before, search->taken, search->tried);
    return 0;
}

int by_solve_search(struct by_solving *solving, struct baryon_error *err)
{
    struct search search = {.solving = solving};
    const int status = run(&search, err);
    by_session_close(search.session);
    by_judge_close(search.judge);
    by_quantize_copy_close(&search.copy);
    by_solve_move_close(&search.move);
    by_free(search.knobs);
    by_free(search.inputs);
    by_free(search.scales);
    by_free(search.now);
    by_free(search.trial);
    return status;
}
