#include "report/judge.h"

#include <math.h>
#include <string.h>

struct kept {
    struct by_sample sample;
    struct by_run *run; /* of the reference */
};

struct by_judge {
    struct by_session_options session_options;
    struct by_session *session; /* of the reference: its runs' outputs lie in it */
    size_t port_count;
    struct kept *kept;
    size_t count;
};

/* --- The reference --- */

static int keep(struct by_judge *judge, struct by_input *input, size_t index,
                struct baryon_error *err)
{
    struct kept *kept = &judge->kept[judge->count];
    by_sample_init(&kept->sample);
    judge->count++;
    if (by_input_get_into(input, index, &kept->sample, err) < 0)
        return -1;
    if (!kept->sample.arrays) {
        by_sample_release(&kept->sample);
        judge->count--;
        return 0;
    }
    return by_session_run(judge->session, kept->sample.arrays, judge->port_count, NULL, 0,
                          &kept->run, err);
}

static int keep_all(struct by_judge *judge, struct by_input *input,
                    const struct by_judge_options *options, struct baryon_error *err)
{
    const size_t end = options->first + options->count;
    for (size_t i = 0; i < end && i < by_input_count(input); i++) {
        if (i >= options->first && keep(judge, input, i, err) < 0)
            return -1;
    }
    return 0;
}

static int open_input(struct by_input **input, const struct by_judge *judge,
                      const struct by_judge_options *options, struct baryon_error *err)
{
    size_t count;
    const struct by_port *ports = by_session_inputs(judge->session, &count);
    if (!options->samples)
        return by_input_open(input, options->data, ports, count, &options->input, err);
    if (by_input_open_callback(input, options->samples, ports, count, &options->input, err) < 0)
        return -1;
    return by_input_find_count(*input, err);
}

static int open_all(struct by_judge *judge, struct baryon_model *reference,
                    const struct by_judge_options *options, struct baryon_error *err)
{
    struct by_input *input = NULL;
    judge->kept = by_alloc_zero(options->count ? options->count : 1, sizeof *judge->kept, err);
    if (!judge->kept ||
        by_session_open_model(&judge->session, reference, 0, &options->session, err) < 0)
        return -1;
    by_session_inputs(judge->session, &judge->port_count);
    int status = open_input(&input, judge, options, err);
    if (status == 0)
        status = keep_all(judge, input, options, err);
    by_input_close(input);
    return status;
}

int by_judge_open(struct by_judge **out, struct baryon_model *reference,
                  const struct by_judge_options *options, struct baryon_error *err)
{
    *out = NULL;
    struct by_judge *judge = by_alloc_zero(1, sizeof *judge, err);
    if (!judge)
        return -1;
    judge->session_options = options->session;
    judge->session_options.as_written = true;
    if (open_all(judge, reference, options, err) < 0) {
        by_judge_close(judge);
        return -1;
    }
    *out = judge;
    return 0;
}

void by_judge_close(struct by_judge *judge)
{
    if (!judge)
        return;
    for (size_t i = 0; i < judge->count; i++) {
        by_run_free(judge->kept[i].run);
        by_sample_release(&judge->kept[i].sample);
    }
    by_free(judge->kept);
    by_session_close(judge->session);
    by_free(judge);
}

size_t by_judge_samples(const struct by_judge *judge)
{
    return judge->count;
}

/* --- Comparing --- */

static bool same_shape(const struct by_array *one, const struct by_array *other)
{
    return one->elem == other->elem && one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

static bool is_float(int64_t elem)
{
    return elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
           elem == BY_ELEM_DOUBLE;
}

#define CHUNK 1024

static int add_difference(struct by_judged_output *output, const struct by_array *want,
                          const struct by_array *got, struct baryon_error *err)
{
    double wanted[CHUNK], found[CHUNK];
    size_t count;
    if (by_dims_count(want->dims, want->rank, &count, err) < 0)
        return -1;
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t size = count - begin < CHUNK ? count - begin : CHUNK;
        if (by_elem_to_doubles(want->elem, want->data, begin, size, wanted, err) < 0 ||
            by_elem_to_doubles(got->elem, got->data, begin, size, found, err) < 0)
            return -1;
        for (size_t i = 0; i < size; i++) {
            const double difference = wanted[i] - found[i];
            output->signal += wanted[i] * wanted[i];
            output->noise += isfinite(difference) ? difference * difference : INFINITY;
        }
    }
    return 0;
}

static double sqnr_of(const struct by_judged_output *output)
{
    if (output->noise <= 0)
        return BY_SQNR_MAX;
    if (output->signal <= 0 || !isfinite(output->noise) || !isfinite(output->signal))
        return 0;
    return fmin(10 * log10(output->signal / output->noise), BY_SQNR_MAX);
}

/* One sample's outputs; float ones only, in their order. */
static int compare(struct by_judgement *judgement, const struct by_array *want, size_t count,
                   const struct by_array *got, size_t got_count, struct baryon_error *err)
{
    const size_t most = sizeof judgement->outputs / sizeof *judgement->outputs;
    judgement->count = 0;
    for (size_t i = 0; i < count && judgement->count < most; i++) {
        if (!is_float(want[i].elem))
            continue;
        struct by_judged_output *output = &judgement->outputs[judgement->count++];
        output->name = want[i].name;
        if (i >= got_count || !same_shape(&want[i], &got[i]))
            output->noise = INFINITY;
        else if (add_difference(output, &want[i], &got[i], err) < 0)
            return -1;
    }
    return 0;
}

static int judge_sample(const struct by_judge *judge, const struct kept *kept,
                        struct by_session *session, struct by_judgement *judgement,
                        struct baryon_error *err)
{
    struct by_run *run;
    size_t count, got_count;
    const struct by_array *want = by_run_outputs(kept->run, &count);
    if (by_session_run(session, kept->sample.arrays, judge->port_count, NULL, 0, &run, err) < 0)
        return -1;
    const struct by_array *got = by_run_outputs(run, &got_count);
    const int status = compare(judgement, want, count, got, got_count, err);
    by_run_free(run);
    return status;
}

int by_judge_model(struct by_judge *judge, struct baryon_model *model,
                   struct by_judgement *judgement, struct baryon_error *err)
{
    struct by_session *session;
    *judgement = (struct by_judgement){0};
    if (by_session_open_model(&session, model, 0, &judge->session_options, err) < 0)
        return -1;
    int status = 0;
    for (size_t i = 0; status == 0 && i < judge->count; i++)
        status = judge_sample(judge, &judge->kept[i], session, judgement, err);
    by_session_close(session);
    for (size_t i = 0; i < judgement->count; i++) {
        judgement->outputs[i].sqnr = sqnr_of(&judgement->outputs[i]);
        judgement->sqnr += judgement->outputs[i].sqnr / (double)judgement->count;
    }
    return status;
}
