#include "quantize_biases.h"

#include "engine/tap.h"
#include "quant/refine.h"
#include "solve/bias_correct.h"

#include <math.h>

#define LOOK 16 /* samples that means come from */

/* --- Means of channels --- */

struct mean {
    struct by_bias_input *input;
    size_t looks; /* samples that count, all alike */
    bool odd;     /* of another shape than the layer takes, or not finite */
};

static void add_channel(const float *values, size_t outer, size_t step, size_t inner, double weight,
                        double *mean)
{
    double sum = 0;
    for (size_t i = 0; i < outer; i++)
        for (size_t k = 0; k < inner; k++)
            sum += (double)values[i * step + k];
    *mean += sum * weight;
}

static int look(void *context, const struct by_tap_look *look, struct baryon_error *err)
{
    (void)err;
    struct mean *mean = context;
    const struct by_array *array = &look->values[0];
    const size_t channels = mean->input->channels;
    size_t inner = 1;
    if (array->rank < 2 || array->elem != BY_ELEM_FLOAT || array->dims[1] != (int64_t)channels) {
        mean->odd = true;
        return 0;
    }
    for (size_t i = 2; i < array->rank; i++)
        inner *= (size_t)array->dims[i];
    const size_t outer = (size_t)array->dims[0];
    if (!outer || !inner)
        return 0;
    for (size_t c = 0; c < channels; c++)
        add_channel((const float *)array->data + c * inner, outer, channels * inner, inner,
                    1.0 / (double)(outer * inner), &mean->input->means[c]);
    mean->looks++;
    return 0;
}

/* Layers of an input that has no means are left as they are. */
static void finish(struct mean *mean)
{
    struct by_bias_input *input = mean->input;
    for (size_t c = 0; c < input->channels && !mean->odd; c++) {
        input->means[c] = mean->looks ? input->means[c] / (double)mean->looks : 0;
        mean->odd = !isfinite(input->means[c]);
    }
    if (mean->odd)
        input->means = NULL;
}

/* --- Running samples --- */

static int open_input(const struct by_quantization *q, struct by_tapped *tapped,
                      struct by_input **input, struct baryon_error *err)
{
    const struct by_calibrate_options *calibrate = &q->options->calibrate;
    struct by_input_options options = calibrate->input;
    options.log = NULL; /* calibration says the same of the same samples */
    options.count = options.count && options.count < LOOK ? options.count : LOOK;
    return by_input_open_for(input, by_tapped_session(tapped), calibrate->samples, q->options->data,
                             &options, err);
}

static int run_samples(struct by_tapped *tapped, struct by_input *input, struct baryon_error *err)
{
    size_t port_count;
    by_session_inputs(by_tapped_session(tapped), &port_count);
    for (size_t i = 0; i < by_input_count(input) && i < LOOK; i++) {
        const struct by_array *arrays;
        const char *name;
        if (by_input_get(input, i, &arrays, &name, err) < 0)
            return -1;
        if (arrays && by_tapped_run(tapped, arrays, port_count, i, err) < 0)
            return by_err_in(err, "sample %s", name);
    }
    return 0;
}

/* One thread: sums inside of the runtime's kernels are the same on every machine's number. */
static int run_tapped(const struct by_quantization *q, const struct by_tap *taps, size_t count,
                      struct baryon_error *err)
{
    struct by_session_options session = q->options->calibrate.session;
    struct by_tapped *tapped;
    struct by_input *input = NULL;
    session.threads = 1;
    session.cuts = 0;
    if (by_tapped_open(&tapped, q->model, taps, count, &session, err) < 0)
        return -1;
    int status = open_input(q, tapped, &input, err);
    if (status == 0)
        status = run_samples(tapped, input, err);
    by_input_close(input);
    by_tapped_close(tapped);
    return status;
}

static int find_means(const struct by_quantization *q, struct by_bias_job *job,
                      struct baryon_error *err)
{
    const size_t count = job->input_count;
    struct by_tap *taps = by_alloc_zero(count, sizeof *taps, err);
    struct mean *means = by_alloc_zero(count, sizeof *means, err);
    int status = taps && means ? 0 : -1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        means[i].input = &job->inputs[i];
        taps[i] = (struct by_tap){&job->inputs[i].name, 1, look, &means[i], false};
    }
    if (status == 0)
        status = run_tapped(q, taps, count, err);
    for (size_t i = 0; status == 0 && i < count; i++)
        finish(&means[i]);
    by_free(taps);
    by_free(means);
    return status;
}

/* --- The stage --- */

static int correct(struct by_quantization *q, struct by_bias_job *job, struct baryon_error *err)
{
    if (by_bias_survey(q->plan, job, err) < 0)
        return -1;
    if (!job->layer_count)
        return 0;
    if (q->options->stats) {
        by_log(q->options->log, BY_LOG_INFO,
               "biases are as they were: statistics of an earlier run have no means of channels");
        return 0;
    }
    if (find_means(q, job, err) < 0 || by_bias_correct(q->plan, job, q->pool, err) < 0)
        return -1;
    by_log(q->options->log, BY_LOG_INFO, "biases of %zu layers corrected", job->layer_count);
    return by_refine(q->plan, err);
}

int by_quantize_biases(struct by_quantization *q, struct baryon_error *err)
{
    struct by_bias_job job;
    if (!q->options->recipe->bias_correction || q->options->recipe->approach != BY_APPROACH_STATIC)
        return 0;
    const int status = correct(q, &job, err);
    by_bias_close(&job);
    return status;
}
