/* Measures layers and tensors on a few of the samples, for a report. */
#include "quality/quality_internal.h"

#define DETAILED 4 /* samples */

static int measure_details(struct by_quality_job *job, struct by_sensitivity *found,
                           struct by_judge **judge, struct baryon_error *err)
{
    struct by_quantization before = by_quality_before(job);
    if (by_quality_judge(job, DETAILED, judge, err) < 0 ||
        by_sensitivity_measure(found, &before, *judge, BY_STATES_ALL, true, err) < 0)
        return -1;
    found->seen = job->out->which == BY_QUALITY_SEEN;
    return 0;
}

static const char *reason_against(const struct by_quality_job *job)
{
    if (job->run->draft.plan)
        return NULL;
    return job->q->plan->node_count > BY_QUALITY_DETAILED
               ? "the model has more than 5,000 nodes; 'baryon sensitivity' measures them all the "
                 "same"
               : "only static quantization and that of weights alone have figures of layers";
}

/* Without them the report has less, and the model is as good. */
int by_quality_find_details(struct by_quality_job *job, struct baryon_error *err)
{
    const struct by_quality_details *details = &job->run->options->details;
    struct by_sensitivity found = {.samples = 0};
    struct by_judge *judge = NULL;
    struct baryon_error why;
    char text[1024];
    if (!details->get)
        return 0;
    if (reason_against(job))
        return details->get(details->context, NULL, reason_against(job), err);
    by_err_clear(&why);
    int status = measure_details(job, &found, &judge, &why);
    if (status == 0) {
        status = details->get(details->context, &found, NULL, err);
    } else if (why.code == BARYON_ERR_CANCELLED) {
        if (err)
            *err = why;
    } else {
        baryon_error_format(&why, text, sizeof text);
        status = details->get(details->context, NULL, text, err);
    }
    by_sensitivity_close(&found);
    by_judge_close(judge);
    return status;
}
