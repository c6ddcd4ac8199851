/* Runs some of the samples again, for a report: the worst, the best, and some between. */
#include "base/decibels.h"
#include "quality/quality_internal.h"

/* Of its worst output. */
static double sqnr_of_sample(const struct by_quality_job *job, size_t place)
{
    double worst = (double)NAN;
    for (size_t i = 0; i < job->out->count; i++) {
        const struct by_quality_sums *sums = &job->sums[place * job->out->count + i];
        const double sqnr = by_decibels(sums->signal, sums->noise);
        if (sums->signal > 0 && !(worst <= sqnr))
            worst = sqnr;
    }
    return worst;
}

static int show_runs(const struct by_quality_job *job, const struct by_sample *sample,
                     struct by_shown *shown, struct baryon_error *err)
{
    const struct by_show *show = &job->run->options->show;
    struct by_quality_runs runs;
    size_t count;
    int status = by_quality_run_both(job, sample->arrays, &runs, err);
    if (status == 0) {
        shown->name = sample->name;
        shown->inputs = sample->arrays;
        shown->input_count = job->port_count;
        shown->names = job->outputs.names;
        shown->want = by_run_outputs(runs.reference, &count);
        shown->got = by_run_outputs(runs.written, &count);
        shown->output_count = job->outputs.count;
        status = show->show(show->context, shown, err);
    }
    by_quality_end_both(&runs);
    return status;
}

static int show_sample(const struct by_quality_job *job, const struct by_shown_place *chosen,
                       double sqnr, struct baryon_error *err)
{
    const size_t index = (size_t)job->out->first + chosen->place;
    struct by_shown shown = {.index = index, .rank = chosen->rank, .sqnr = sqnr};
    struct by_sample sample;
    by_sample_init(&sample);
    int status = by_input_get_into(job->input, index, &sample, err);
    if (status == 0 && sample.arrays)
        status = show_runs(job, &sample, &shown, err);
    by_sample_release(&sample);
    return status;
}

int by_quality_show(struct by_quality_job *job, struct baryon_error *err)
{
    struct by_shown_place chosen[BY_SHOWN_MOST];
    if (!job->run->options->show.show)
        return 0;
    double *sqnr = by_alloc(job->run_count + 1, sizeof *sqnr, err);
    if (!sqnr)
        return -1;
    for (size_t i = 0; i < job->run_count; i++)
        sqnr[i] = sqnr_of_sample(job, i);
    size_t count = 0;
    int status = by_shown_choose(sqnr, job->run_count, chosen, &count, err);
    for (size_t i = 0; i < count && status == 0; i++)
        status = show_sample(job, &chosen[i], sqnr[chosen[i].place], err);
    by_free(sqnr);
    return status;
}
