/* Builds a copy of the model whose scales are inputs, to tune them. */
#include "rounding/knobs.h"

#include "ir/infer.h"
#include "quant/lower.h"
#include "quant/plan_copy.h"

#define PARTS  16 /* the sections, of FEWEST scales at least */
#define FEWEST 4

/* --- What may change --- */

static bool is_free(const struct by_quant_row *row)
{
    return row->role == BY_ROLE_ACTIVATION && row->shares == BY_NO_ROW &&
           by_rounding_may_move(row) && row->params.count == 1;
}

static bool is_known(const struct by_knobs *knobs, const struct baryon_value *scale)
{
    for (size_t i = 0; i < knobs->count; i++)
        if (knobs->all[i].from == scale)
            return true;
    return false;
}

/* rows: by row of the copy. */
static void add_knob(struct by_knobs *knobs, const struct baryon_node *node, const size_t *rows)
{
    const struct by_quant_plan *plan = knobs->run->q->plan, *copy = knobs->copy.plan;
    struct baryon_value *scale = by_node_in(node, 1);
    const size_t found = by_quant_find(copy, by_node_in(node, 0));
    if (found == BY_NO_ROW || !scale || !scale->initializer ||
        scale->initializer->data_type != BY_ELEM_FLOAT || is_known(knobs, scale))
        return;
    const size_t row = by_quant_owner(plan, rows[found]);
    if (is_free(&plan->rows.at[row]))
        knobs->all[knobs->count++] = (struct by_knob){row, scale, by_node_in(node, 0)};
}

static int find_knobs(struct by_knobs *knobs, const size_t *rows, struct baryon_error *err)
{
    const struct baryon_graph *graph = knobs->copy.model->graph;
    knobs->all = by_alloc_zero(graph->node.count + 1, sizeof *knobs->all, err);
    if (!knobs->all)
        return -1;
    for (size_t i = 0; i < graph->node.count; i++)
        if (by_node_quantizes(graph->node.at[i]))
            add_knob(knobs, graph->node.at[i], rows);
    return 0;
}

static int make_input(struct by_knobs *knobs, size_t place, struct baryon_error *err)
{
    struct baryon_model *model = knobs->copy.model;
    struct by_knob *knob = &knobs->all[place];
    struct by_type *type = by_type_tensor(model, BY_ELEM_FLOAT, NULL, err);
    const char *name = by_model_fresh_name(model, "scale", err);
    struct baryon_value *value =
        type && name ? by_graph_add_input(model->graph, name, type, err) : NULL;
    if (!value || by_value_replace_uses(knob->from, value, NULL, err) < 0)
        return -1;
    knob->from = value;
    knobs->scales[place] = knobs->run->q->plan->rows.at[knob->row].params.scales[0];
    return 0;
}

static int make_inputs(struct by_knobs *knobs, struct baryon_error *err)
{
    knobs->scales = by_alloc(knobs->count + 1, sizeof *knobs->scales, err);
    for (size_t i = 0; i < knobs->count; i++)
        if (!knobs->scales || make_input(knobs, i, err) < 0)
            return -1;
    return knobs->scales ? by_model_settle(knobs->copy.model, err) : -1;
}

int by_knobs_open(struct by_knobs *knobs, struct by_rounding_run *run, struct baryon_error *err)
{
    struct by_quantization *q = run->q;
    knobs->run = run;
    size_t *rows = by_alloc(q->plan->rows.count + 1, sizeof *rows, err);
    const int status = !rows ||
                               by_draft_open_planned(&knobs->copy, &run->frame, q->plan,
                                                     BY_ROLES_ACTIVATIONS, rows, err) < 0 ||
                               by_lower(knobs->copy.plan, q->pool, err) < 0 ||
                               find_knobs(knobs, rows, err) < 0 || make_inputs(knobs, err) < 0
                           ? -1
                           : 0;
    by_free(rows);
    return status;
}

/* --- Samples --- */

/* Samples that are solved on judge here. */
static int open_judge(struct by_knobs *knobs, size_t most, struct baryon_error *err)
{
    const struct by_rounding_run *run = knobs->run;
    const struct by_judge_options options = {
        .samples = &knobs->source,
        .session = run->q->options->calibrate.session,
        .depot = run->depot,
        .aside = most,
        .most = most,
    };
    by_judge_read(run->judge, &knobs->reader, &knobs->source);
    if (by_judge_open(&knobs->judge, run->reference, &options, err) < 0 ||
        by_judge_references(knobs->judge, run->q->pool, err) < 0)
        return -1;
    knobs->samples = by_judge_count(knobs->judge);
    return 0;
}

/* Scales wait in memory of ours: what they are at that moment is what a run reads. */
static int give_sample(struct by_knobs *knobs, size_t sample, struct baryon_error *err)
{
    size_t ports;
    const struct by_parked *inputs = by_judge_parked(knobs->judge, sample, &ports);
    struct by_parked *given = by_alloc_zero(ports + knobs->count, sizeof *given, err);
    knobs->given[sample] = given;
    if (!given)
        return -1;
    for (size_t i = 0; i < ports; i++)
        given[i] = inputs[i];
    for (size_t i = 0; i < knobs->count; i++)
        given[ports + i].array = (struct by_array){.name = knobs->all[i].from->name,
                                                   .elem = BY_ELEM_FLOAT,
                                                   .data = &knobs->scales[i],
                                                   .size = sizeof(float)};
    return 0;
}

static int find_outputs(struct by_knobs *knobs, struct baryon_error *err)
{
    struct baryon_graph *graph = knobs->copy.model->graph;
    knobs->outputs = by_alloc(graph->output.count + BY_JUDGE_MORE, sizeof *knobs->outputs, err);
    if (knobs->outputs)
        knobs->output_count = by_judge_values(knobs->judge, graph, knobs->outputs);
    return knobs->outputs ? 0 : -1;
}

static int open_stages(struct by_knobs *knobs, struct baryon_error *err)
{
    const struct by_rounding_run *run = knobs->run;
    struct by_stages_options options = {.session = run->q->options->calibrate.session,
                                        .pool = run->q->pool,
                                        .depot = run->depot,
                                        .outputs_wait = true};
    size_t ports;
    options.session.as_written = true;
    options.session.optimization = 1;
    knobs->given = by_alloc_zero(knobs->samples, sizeof *knobs->given, err);
    for (size_t i = 0; i < knobs->samples; i++)
        if (!knobs->given || give_sample(knobs, i, err) < 0)
            return -1;
    (void)by_judge_parked(knobs->judge, 0, &ports);
    if (find_outputs(knobs, err) < 0)
        return -1;
    return by_stages_open(&knobs->stages, knobs->copy.model,
                          (const struct by_parked *const *)knobs->given, ports + knobs->count,
                          knobs->samples, &options, err);
}

int by_knobs_read(struct by_knobs *knobs, size_t most, struct baryon_error *err)
{
    return open_judge(knobs, most, err) < 0 || open_stages(knobs, err) < 0 ? -1 : 0;
}

/* --- Running --- */

static bool begins_section(const struct by_knobs *knobs, size_t place)
{
    const size_t length = knobs->count / PARTS > FEWEST ? knobs->count / PARTS : FEWEST;
    return place % length == 0;
}

int by_knobs_reach(struct by_knobs *knobs, size_t place, struct baryon_error *err)
{
    struct baryon_value *rounds = knobs->all[place].rounds;
    if (!begins_section(knobs, place))
        return 0;
    by_stages_rest_close(knobs->rest);
    knobs->rest = NULL;
    if (by_stages_reach(knobs->stages, &rounds, 1, err) < 0)
        return -1;
    by_stages_let_go(knobs->stages, rounds);
    return by_stages_rest_open(&knobs->rest, knobs->stages, knobs->outputs, knobs->output_count,
                               err);
}

struct running {
    const struct by_knobs *knobs;
    struct by_judgement *judgement;
};

static int judge_outputs(void *context, size_t sample, const struct by_array *outputs, size_t count,
                         struct baryon_error *err)
{
    const struct running *running = context;
    return by_judge_outputs(running->knobs->judge, sample, outputs, count, running->judgement, err);
}

int by_knobs_run(const struct by_knobs *knobs, size_t sample, unsigned worker,
                 struct by_judgement *judgement, struct baryon_error *err)
{
    struct running running = {knobs, judgement};
    return by_stages_rest_run(knobs->rest, sample, worker, judge_outputs, &running, err);
}

void by_knobs_close(struct by_knobs *knobs)
{
    by_stages_rest_close(knobs->rest);
    by_stages_close(knobs->stages);
    for (size_t i = 0; knobs->given && i < knobs->samples; i++)
        by_free(knobs->given[i]);
    by_free(knobs->given);
    by_free(knobs->outputs);
    by_judge_close(knobs->judge);
    by_draft_close(&knobs->copy);
    by_free(knobs->all);
    by_free(knobs->scales);
}
