/* Quantizes by the best config once more, and measures it on the last samples, for a report. */
#include "search/auto_internal.h"

#include "onnx/load.h"

/* Places are among all samples, not among the last ones. */
static int show_last(void *context, const struct by_shown *shown, struct baryon_error *err)
{
    const struct by_auto_work *work = context;
    const struct by_show *show = &work->options->listener->show;
    struct by_shown moved = *shown;
    moved.index += work->out->parts.of[BY_PART_LAST].first;
    return show->show(show->context, &moved, err);
}

static int measure_final(struct by_auto_work *work, const struct by_quality_run *run,
                         struct baryon_error *err)
{
    struct by_auto_final *final = work->out->final;
    const struct by_quality_written written = {.model = final->candidate.model};
    if (by_quality_measure(&final->quality, run, &final->candidate.q, &written, err) < 0)
        return -1;
    final->quality.first += work->out->parts.of[BY_PART_LAST].first;
    final->quality.random = work->options->running->data.random > 0;
    return 0;
}

static int quantize_final(struct by_auto_work *work, struct by_quality_run *run,
                          const struct by_quality_options *quality, struct baryon_error *err)
{
    const struct by_auto_listener *listener = work->options->listener;
    struct by_auto_candidate *candidate = &work->out->final->candidate;
    const char *yaml = work->out->points.at[work->best].yaml;
    if (by_auto_candidate_begin(candidate, &work->base, yaml, false, err) < 0 ||
        by_quality_begin(run, candidate->model, quality, &candidate->options, err) < 0 ||
        by_auto_candidate_plan(candidate, err) < 0 ||
        by_quality_keep(run, &candidate->q, err) < 0 ||
        listener->planned(listener->context, &candidate->q, err) < 0 ||
        by_auto_candidate_emit(candidate, err) < 0 || measure_final(work, run, err) < 0)
        return -1;
    by_model_free(work->model);
    work->model = by_auto_candidate_take(candidate);
    return 0;
}

int by_auto_final_make(struct by_auto_work *work, struct baryon_error *err)
{
    struct by_auto_reader reader;
    struct by_input_callback samples;
    struct by_quality_run run = {0};
    const struct by_auto_listener *listener = work->options->listener;
    struct by_quality_options quality = {.others = true,
                                         .samples = &samples,
                                         .input = {.allow_nonfinite = true},
                                         .details = listener->details,
                                         .show = {.show = show_last, .context = work}};
    work->out->final = by_alloc_zero(1, sizeof *work->out->final, err);
    if (!work->out->final ||
        by_auto_samples_read(work->samples, BY_PART_LAST, &reader, &samples, err) < 0)
        return -1;
    const int status = quantize_final(work, &run, &quality, err);
    by_quality_end(&run);
    return status;
}

void by_auto_final_close(struct by_auto_final *final)
{
    if (!final)
        return;
    by_quality_release(&final->quality);
    by_auto_candidate_close(&final->candidate);
    by_free(final);
}
