/* Opens both models and the samples, and measures one against the other. */
#include "base/cpu.h"
#include "base/thread.h"
#include "calibrate/size.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "quality/quality_internal.h"
#include "quant/floats.h"
#include "quant/plan_copy.h"
#include "trial/more_outputs.h"

#include <string.h>

/* Random samples that no other stage makes stand after so many. */
#define RANDOM_BEHIND 4096

/* With more nodes ONNX Runtime takes longer to optimize a graph than some samples gain. */
#define OPTIMIZED_NODES 1000
#define MANY_NODES      4000
/* With more it takes the square of their number to open. */
#define MEASURED_NODES 20000

/* --- What stays from before --- */

int by_quality_begin(struct by_quality_run *run, struct baryon_model *model,
                     const struct by_quality_options *options, struct by_quantize_options *quantize,
                     struct baryon_error *err)
{
    *run = (struct by_quality_run){.options = options};
    const bool has_samples =
        options->others || options->data || options->samples || options->input.random;
    if (options->off || !has_samples)
        return 0;
    quantize->keeps_float = true;
    return by_floats_align(model, err) < 0 ? -1 : by_frame_take(&run->reference, model, err);
}

static bool is_explained(const struct by_quality_run *run, const struct by_quantization *q)
{
    const size_t most = run->options->details.get ? BY_QUALITY_DETAILED : BY_QUALITY_EXPLAINED;
    const enum by_approach approach = q->options->recipe->approach;
    return (approach == BY_APPROACH_STATIC || approach == BY_APPROACH_WEIGHTS) && q->floats.count &&
           q->model->graph->node.count <= most;
}

int by_quality_keep(struct by_quality_run *run, const struct by_quantization *q,
                    struct baryon_error *err)
{
    if (!run->reference.count || !is_explained(run, q))
        return 0;
    if (by_frame_take(&run->frame, q->model, err) < 0)
        return -1;
    return by_draft_open_planned(&run->draft, &run->frame, q->plan,
                                 BY_ROLES_WEIGHTS | BY_ROLES_ACTIVATIONS, NULL, err);
}

void by_quality_end(struct by_quality_run *run)
{
    by_draft_close(&run->draft);
    by_frame_release(&run->frame);
    by_frame_release(&run->reference);
    *run = (struct by_quality_run){0};
}

/* --- Sessions --- */

/* As users run it, if integer kernels compute what is written; where they saturate, pairs are
 * computed as they stand. */
static bool runs_as_users_do(const struct baryon_model *written)
{
    return by_cpu_adds_int8_exactly() && written->graph->node.count <= OPTIMIZED_NODES;
}

bool by_quality_takes_session(const struct by_session_options *options,
                              const struct baryon_model *written)
{
    return !options->provider_count && runs_as_users_do(written);
}

static struct by_session_options lone_session(const struct by_quality_job *job)
{
    struct by_session_options options = job->q->options->calibrate.session;
    options.threads = 1;
    options.branches = options.cuts = 0;
    options.shares_memory = true;
    options.log = NULL;
    return options;
}

/* A session that gives what outputs are selected from, too. */
static int open_with_selected(const struct by_quality_job *job, struct baryon_model *model,
                              const struct by_session_options *options, struct by_session **session,
                              struct baryon_error *err)
{
    const struct by_selects *selects = &job->selects;
    struct baryon_value *values[BY_SELECTS_MOST];
    for (size_t i = 0; i < selects->count; i++)
        values[i] = by_selects_value(model->graph, selects->values[i]->name);
    return by_more_outputs_session(session, model, values, selects->count, options, err);
}

static int open_written_as(struct by_quality_job *job, const struct by_quality_written *written,
                           const struct by_session_options *options, struct baryon_error *err)
{
    return written->path && !job->selects.count
               ? by_session_open(&job->written, written->path, options, err)
               : open_with_selected(job, written->model, options, &job->written, err);
}

static int open_written(struct by_quality_job *job, const struct by_quality_written *written,
                        struct baryon_error *err)
{
    struct by_session_options options = lone_session(job);
    job->written = written->session;
    if (job->written && !job->selects.count)
        return 0;
    by_session_close(job->written);
    job->written = NULL;
    options.optimization = -1;
    if (runs_as_users_do(written->model) && open_written_as(job, written, &options, err) == 0)
        return 0;
    options.as_written = true;
    options.optimization = written->model->graph->node.count < MANY_NODES;
    if (open_written_as(job, written, &options, err) == 0)
        return 0;
    return by_err_in(err, "ONNX Runtime refuses the written model");
}

/* Values that stand for outputs have to be in both models. */
static int find_selects(struct by_quality_job *job, const struct baryon_graph *written,
                        struct baryon_error *err)
{
    by_selects_release(&job->selects);
    if (by_selects_find(job->exact.model, &job->selects, err) < 0)
        return -1;
    for (size_t i = 0; i < job->selects.count; i++) {
        if (by_selects_value(written, job->selects.values[i]->name))
            continue;
        by_selects_release(&job->selects);
        return 0;
    }
    return 0;
}

static int open_draft(struct by_quality_job *job, const struct by_frame *frame,
                      const struct by_quality_written *written, struct baryon_error *err)
{
    by_draft_close(&job->exact);
    if (by_draft_open_planned(&job->exact, frame, NULL, 0, NULL, err) < 0 ||
        by_activation_bytes(job->exact.model->graph, &job->activations, err) < 0)
        return -1;
    return find_selects(job, written->model->graph, err);
}

static int open_reference(struct by_quality_job *job, struct baryon_error *err)
{
    const struct by_session_options options = lone_session(job);
    by_session_close(job->reference);
    job->reference = NULL;
    return open_with_selected(job, job->exact.model, &options, &job->reference, err);
}

static bool same_sizes(const struct by_port *one, const struct by_port *other)
{
    if (one->any_rank || other->any_rank)
        return true;
    if (one->rank != other->rank)
        return false;
    for (size_t i = 0; i < one->rank; i++)
        if (one->dims[i] >= 0 && other->dims[i] >= 0 && one->dims[i] != other->dims[i])
            return false;
    return true;
}

/* Passes may have turned the inputs, as those do that put channels last. */
static bool same_inputs(const struct by_session *one, const struct by_session *other)
{
    size_t count, others;
    const struct by_port *ports = by_session_inputs(one, &count);
    const struct by_port *theirs = by_session_inputs(other, &others);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < others; k++)
            if (!strcmp(ports[i].name, theirs[k].name) && !same_sizes(&ports[i], &theirs[k]))
                return false;
    return true;
}

struct opening {
    struct by_quality_job *job;
    const struct by_quality_written *written;
    bool drafted, runs; /* the model as it came */
    struct baryon_error why_not;
};

/* The written model, and the model as it came. */
static int open_one(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    struct opening *opening = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (i == 0 && open_written(opening->job, opening->written, err) < 0)
            return -1;
        else if (i == 1)
            opening->runs =
                opening->drafted && open_reference(opening->job, &opening->why_not) == 0;
    return 0;
}

/* Where the model does not run as it came, or samples do not fit it, the reference is what passes
 * left of it. */
static int open_both(struct by_quality_job *job, const struct by_quality_written *written,
                     struct baryon_error *err)
{
    const struct by_frame *behind = job->q->exact.count ? &job->q->exact : &job->q->floats;
    struct opening opening = {.job = job, .written = written};
    by_err_clear(&opening.why_not);
    opening.drafted = open_draft(job, &job->run->reference, written, &opening.why_not) == 0;
    if (by_par_for(job->q->pool, 2, 1, open_one, &opening, err) < 0)
        return -1;
    if (opening.runs && same_inputs(job->reference, job->written))
        return 0;
    if (behind->count)
        return open_draft(job, behind, written, err) < 0 ? -1 : open_reference(job, err);
    if (!opening.runs && err)
        *err = opening.why_not;
    return opening.runs ? 0 : by_err_in(err, "float model");
}

/* --- Outputs --- */

static int choose_float_outputs(struct by_quality_job *job, struct baryon_error *err)
{
    struct by_quality *out = job->out;
    struct by_float_outputs *outputs = &job->outputs;
    if (by_float_outputs_choose(outputs, job->reference, job->exact.model->graph, &job->selects,
                                &out->arena, err) < 0)
        return -1;
    if (!outputs->count)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "no output of the model has a float type");
    out->count = outputs->part_count;
    out->outputs = by_arena_alloc(&out->arena, out->count, sizeof *out->outputs, err);
    if (!out->outputs)
        return -1;
    for (size_t i = 0; i < out->count; i++)
        out->outputs[i] = (struct by_quality_output){
            .name = outputs->parts[i], .selected_from = i >= out->count - outputs->selected_count};
    return 0;
}

/* Values that stand for outputs come last in both, and may have other names. */
static int choose_written_outputs(struct by_quality_job *job, struct baryon_error *err)
{
    size_t count, same;
    const char **chosen;
    const struct by_port *ports = by_session_outputs(job->written, &count);
    struct by_arena *arena = &job->out->arena;
    const size_t wanted = job->outputs.count, own = wanted - job->outputs.selected_count;
    job->written_names = by_arena_alloc(arena, wanted, sizeof *job->written_names, err);
    if (!job->written_names)
        return -1;
    for (size_t i = 0; i < wanted; i++)
        job->written_names[i] = i < own ? job->outputs.names[i] : ports[count - wanted + i].name;
    return by_session_choose_outputs(job->written, job->written_names, wanted, arena, &chosen,
                                     &same, err);
}

/* --- Samples --- */

/* Of those that calibration takes, the first. */
static uint64_t calibrated_of(const struct by_quality_job *job, uint64_t total)
{
    const uint64_t limit = job->run->options->input.count;
    if (job->run->options->others)
        return 0;
    return limit && limit < total ? limit : total;
}

/* Samples beyond those of calibration are random at will, and of others as many as there are. */
static void extend_input(struct by_input_options *input, bool others)
{
    if (others)
        return;
    if (input->random)
        input->count += RANDOM_BEHIND + BY_QUALITY_MOST;
    else if (input->count)
        input->count += by_quality_wanted(input->count);
}

static int begin_source(const struct by_quality_options *options, struct baryon_error *err)
{
    const struct by_input_callback *samples = options->samples;
    if (!samples || options->others)
        return 0;
    if (!samples->rewind)
        return by_fail(err, BARYON_ERR_USAGE, "the samples can be read only once");
    return samples->rewind(samples->context, err);
}

static void choose_random(struct by_quality_job *job)
{
    const struct by_quality_options *options = job->run->options;
    const uint64_t made = options->input.count;
    job->out->first = options->others ? 0 : made + RANDOM_BEHIND;
    job->out->samples = by_quality_wanted(options->others ? 0 : made);
    if (options->others && made < job->out->samples)
        job->out->samples = made;
}

static void choose_samples(struct by_quality_job *job)
{
    const uint64_t total = by_input_count(job->input);
    const uint64_t calibrated = calibrated_of(job, total);
    const struct by_quality_choice choice =
        by_quality_choose(total, calibrated, by_quantization_samples(job->q));
    job->out->first = choice.first;
    job->out->samples = choice.count;
    job->out->which = choice.seen ? BY_QUALITY_SEEN : BY_QUALITY_UNSEEN;
}

static int open_samples(struct by_quality_job *job, struct baryon_error *err)
{
    const struct by_quality_options *options = job->run->options;
    struct by_input_options input = options->input;
    extend_input(&input, options->others);
    if (begin_source(options, err) < 0 ||
        by_input_open_for(&job->input, job->reference, options->samples, options->data, &input,
                          err) < 0 ||
        by_input_find_count(job->input, err) < 0)
        return -1;
    by_session_inputs(job->reference, &job->port_count);
    job->out->random = input.random;
    if (input.random)
        choose_random(job);
    else
        choose_samples(job);
    if (options->named)
        job->out->which = BY_QUALITY_OTHERS;
    return 0;
}

/* --- The whole --- */

static void find_worst(struct by_quality *out)
{
    out->worst = (double)NAN;
    for (size_t i = 0; i < out->count; i++)
        if (!isnan(out->outputs[i].sqnr) && !(out->worst <= out->outputs[i].sqnr))
            out->worst = out->outputs[i].sqnr;
}

static int measure_written(struct by_quality_job *job, const struct by_quality_written *written,
                           struct baryon_error *err)
{
    struct by_quality *out = job->out;
    if (open_both(job, written, err) < 0 || choose_float_outputs(job, err) < 0 ||
        choose_written_outputs(job, err) < 0 || open_samples(job, err) < 0 ||
        by_fitted_open(&job->fitted, job->reference, job->written, &out->arena, NULL, err) < 0)
        return -1;
    job->sums = by_alloc_zero((size_t)out->samples * out->count + 1, sizeof *job->sums, err);
    if (!job->sums || by_quality_run_samples(job, err) < 0)
        return -1;
    if (!out->samples)
        return by_fail(err, BARYON_ERR_INPUT, "all samples to measure on were skipped");
    find_worst(out);
    return 0;
}

static void close_job(struct by_quality_job *job)
{
    by_input_close(job->input);
    by_session_close(job->reference);
    by_session_close(job->written);
    by_selects_release(&job->selects);
    by_draft_close(&job->exact);
    by_free(job->sums);
}

/* Too little memory is no fault of the written model. */
static int say_unmeasured(struct by_quality *out, const struct baryon_error *why,
                          struct baryon_error *err)
{
    char text[1024] = "too little memory; 'baryon evaluate' measures it where there is more";
    out->failed = why->code != BARYON_ERR_NOMEM;
    if (out->failed)
        baryon_error_format(why, text, sizeof text);
    out->unmeasured = by_arena_text(&out->arena, text, strlen(text), err);
    out->samples = out->count = 0;
    return out->unmeasured ? 0 : -1;
}

/* NULL: nothing keeps it from being measured. */
static const char *reason_not_to(const struct by_quality_run *run,
                                 const struct by_quality_written *written)
{
    if (!run->reference.count)
        return "statistics contain no samples; --judge-data PATH gives some";
    if (written->model->graph->node.count > MEASURED_NODES)
        return "it has more than 20,000 nodes; 'baryon evaluate' measures it all the same";
    return NULL;
}

int by_quality_measure(struct by_quality *out, const struct by_quality_run *run,
                       const struct by_quantization *q, const struct by_quality_written *written,
                       struct baryon_error *err)
{
    struct by_quality_job job = {.run = run, .q = q, .out = out, .begin = by_seconds()};
    struct baryon_error why;
    *out = (struct by_quality){.worst = (double)NAN};
    by_arena_init(&out->arena, 0);
    out->asked = run->options && !run->options->off;
    out->unmeasured = reason_not_to(run, written);
    if (out->unmeasured) {
        by_session_close(written->session);
        return 0;
    }
    by_err_clear(&why);
    by_trim_after(by_frame_payload(&run->reference));
    int status = measure_written(&job, written, &why);
    const bool measured = status == 0;
    if (!measured && why.code != BARYON_ERR_CANCELLED)
        status = say_unmeasured(out, &why, err);
    else if (!measured && err)
        *err = why;
    if (measured)
        status = by_quality_show(&job, err);
    by_session_close(job.written); /* what looks for a cause takes as much memory */
    job.written = NULL;
    if (status == 0 && measured && out->worst < BY_QUALITY_GOOD)
        status = by_quality_find_cause(&job, err);
    if (status == 0 && measured)
        status = by_quality_find_details(&job, err);
    out->seconds = by_seconds() - job.begin;
    close_job(&job);
    return status;
}

void by_quality_release(struct by_quality *out)
{
    by_arena_release(&out->arena);
    *out = (struct by_quality){.worst = (double)NAN};
}
