/* Judging on held-out samples: which samples, what is told, and how sure a gain is. */
#include "engine_build.h"

#include "ir/infer.h"
#include "trial/judge.h"

#include <math.h>

#define SAMPLES 12

static void assert_near(double found, double wanted, double far)
{
    if (!(fabs(found - wanted) <= far))
        fail_msg("%.9g is not %.9g", found, wanted);
}

/* --- A source of samples: number k is {k + 1, -k} --- */

struct source {
    uint64_t next;
    bool spoiled; /* the first value of each sample is infinite */
    bool row;     /* of a matrix, in place of a vector */
    float values[2];
    struct by_array array;
};

static int next_sample(void *context, const struct by_array **arrays, size_t *count,
                       const char **name, struct baryon_error *error)
{
    struct source *source = context;
    (void)error;
    if (source->next == SAMPLES)
        return 0;
    source->values[0] = source->spoiled ? INFINITY : (float)source->next + 1;
    source->values[1] = -(float)source->next;
    source->array = (struct by_array){.name = "x",
                                      .elem = BY_ELEM_FLOAT,
                                      .rank = source->row ? 2 : 1,
                                      .dims = {source->row ? 1 : 2, 2},
                                      .data = source->values,
                                      .size = sizeof source->values};
    source->next++;
    *arrays = &source->array;
    *count = 1;
    *name = "made";
    return 1;
}

static int begin_again(void *context, struct baryon_error *error)
{
    (void)error;
    ((struct source *)context)->next = 0;
    return 0;
}

/* y = x + addend */
static struct baryon_model *adder(float addend)
{
    const int64_t one = 1;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_weight(model, "a", BY_ELEM_FLOAT, &one, 1, &addend, sizeof addend);
    put_node(model->graph, "add", "Add", "x,a", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

/* y: a Sigmoid of those values of x * factor that are positive */
static struct baryon_model *selector(const float *factor)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2");
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2, 2}, 2, factor, 4 * sizeof *factor);
    put_node(model->graph, "product", "MatMul", "x,w", "t");
    put_node(model->graph, "relu", "Relu", "t", "r");
    put_node(model->graph, "count", "NonZero", "r", "places");
    put_node(model->graph, "turn", "Transpose", "places", "rows");
    put_node(model->graph, "pick", "GatherND", "r,rows", "p");
    put_node(model->graph, "end", "Sigmoid", "p", "y");
    gives(model, "y", BY_ELEM_FLOAT, "n");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

static struct by_depot *depot_of_judge; /* NULL: none */

static struct by_judge *open_judge(struct source *source, struct baryon_model *model, size_t look,
                                   size_t aside, size_t most)
{
    static struct by_input_callback samples;
    struct by_judge *judge;
    samples = (struct by_input_callback){
        .next = next_sample, .rewind = begin_again, .context = source, .count = SAMPLES};
    const struct by_judge_options options = {.samples = &samples,
                                             .input = {.allow_nonfinite = source->spoiled},
                                             .session = {.optimization = -1},
                                             .look = look,
                                             .aside = aside,
                                             .most = most,
                                             .unsaturated = true,
                                             .depot = depot_of_judge};
    source->next = 0;
    assert_ok(by_judge_open(&judge, model, &options, &err));
    return judge;
}

static void run_references(struct by_judge *judge, size_t begin)
{
    for (size_t i = begin; i < by_judge_count(judge); i++)
        assert_ok(by_judge_reference(judge, i, &err));
}

/* --- Samples --- */

static void test_more(void **state)
{
    (void)state;
    struct source source = {0};
    struct baryon_model *model = adder(0);
    struct by_judge *judge = open_judge(&source, model, 4, 2, 7);
    assert_int_equal(by_judge_looks(judge), 4);
    assert_int_equal(by_judge_count(judge), 2);
    assert_int_equal(by_judge_sample_bytes(judge), 8);
    assert_ok(by_judge_more(judge, 1, &err)); /* has more already */
    assert_int_equal(by_judge_count(judge), 2);
    assert_ok(by_judge_more(judge, 5, &err));
    assert_int_equal(by_judge_count(judge), 5);
    assert_ok(by_judge_more(judge, 100, &err));
    assert_int_equal(by_judge_count(judge), 7);
    assert_int_equal(by_judge_looks(judge), 4);
    by_judge_close(judge);

    judge = open_judge(&source, model, 4, 2, 100);
    assert_ok(by_judge_more(judge, 100, &err)); /* as many as there are */
    assert_int_equal(by_judge_count(judge), SAMPLES - 4);
    by_judge_close(judge);

    judge = open_judge(&source, model, SAMPLES, 2, 100); /* none is left: those looked at judge */
    assert_int_equal(by_judge_count(judge), SAMPLES);
    assert_ok(by_judge_more(judge, 100, &err));
    assert_int_equal(by_judge_count(judge), SAMPLES);
    by_judge_close(judge);
    by_model_free(model);
}

/* A quarter is held out, at most so many; the samples before are for others. */
static void test_last(void **state)
{
    (void)state;
    struct source source = {.spoiled = false};
    struct baryon_model *model = adder(0);
    static const size_t asides[] = {1, 2, 3, 50}, befores[] = {11, 10, 9, 9};
    for (size_t i = 0; i < 4; i++) {
        struct by_judge *judge;
        struct by_input_callback samples = {
            .next = next_sample, .rewind = begin_again, .context = &source, .count = SAMPLES};
        const struct by_judge_options options = {
            .samples = &samples, .aside = asides[i], .most = asides[i], .last = true};
        size_t count;
        source.next = 0;
        assert_ok(by_judge_open(&judge, model, &options, &err));
        assert_int_equal(by_judge_before(judge), befores[i]);
        assert_int_equal(by_judge_looks(judge), 0);
        assert_int_equal(by_judge_count(judge), SAMPLES - befores[i]);
        const struct by_array *first = by_judge_inputs(judge, 0, &count);
        assert_true(((const float *)first->data)[0] == (float)befores[i] + 1);
        by_judge_close(judge);
    }
    by_model_free(model);
}

/* The samples after those to look at, in their order; y is off by 1/2 everywhere. */
static void test_sqnr(void **state)
{
    (void)state;
    struct source source = {0};
    struct by_session *session;
    struct by_judgement found[5];
    struct baryon_model *reference = adder(0), *other = adder(0.5F);
    struct by_judge *judge = open_judge(&source, reference, 3, 2, 5);
    double signal = 0, noise = 0;
    run_references(judge, 0);
    assert_ok(by_judge_more(judge, 5, &err));
    run_references(judge, 2);
    by_judge_end_references(judge);
    assert_ok(by_judge_session(judge, other, false, &session, &err));
    for (size_t i = 0; i < 5; i++) {
        const double k = (double)(3 + i), energy = (k + 1) * (k + 1) + k * k;
        assert_ok(by_judge_run(judge, session, NULL, i, &found[i], &err));
        assert_int_equal(found[i].count, 1);
        assert_string_equal(found[i].outputs[0].name, "y");
        assert_near(found[i].outputs[0].signal, energy, 1e-9);
        assert_near(found[i].outputs[0].noise, 0.5, 1e-9);
        signal += energy;
        noise += 0.5;
        assert_near(by_judge_sqnr(found, i + 1), 10 * log10(signal / noise), 1e-9);
    }
    by_session_close(session);
    by_judge_close(judge);
    by_model_free(reference);
    by_model_free(other);
}

/* One output with 20 dB and one with 40 on both samples together. */
static void test_worst_output(void **state)
{
    (void)state;
    const struct by_judgement each[] = {
        {.count = 2, .outputs = {{.signal = 60, .noise = 0.9}, {.signal = 5000, .noise = 0.2}}},
        {.count = 2, .outputs = {{.signal = 40, .noise = 0.1}, {.signal = 5000, .noise = 0.8}}}};
    assert_near(by_judge_worst(each, 2), 20, 1e-9);
    assert_near(by_judge_sqnr(each, 2), 30, 1e-9);
    assert_near(by_judge_worst(each, 1), 10 * log10(60 / 0.9), 1e-9);
}

/* What the reference has no finite number for counts neither way. */
static void test_not_finite(void **state)
{
    (void)state;
    struct source source = {.spoiled = true};
    struct by_session *session;
    struct by_judgement found;
    struct baryon_model *reference = adder(0), *other = adder(0.5F);
    struct by_judge *judge = open_judge(&source, reference, 3, 2, 2);
    run_references(judge, 0);
    by_judge_end_references(judge);
    assert_ok(by_judge_session(judge, other, false, &session, &err));
    assert_ok(by_judge_run(judge, session, NULL, 0, &found, &err));
    assert_near(found.outputs[0].signal, 9, 1e-9);
    assert_near(found.outputs[0].noise, 0.25, 1e-9);
    assert_true(by_judge_is_finite(&found, 1));
    found.outputs[0].noise = INFINITY;
    assert_false(by_judge_is_finite(&found, 1));
    by_session_close(session);
    by_judge_close(judge);
    by_model_free(reference);
    by_model_free(other);
}

/* Where two models give different numbers of results, neither these are compared nor what their
 * Sigmoid reads. */
static void test_selected(void **state)
{
    (void)state;
    struct source source = {.row = true};
    struct by_session *session;
    struct by_judgement found;
    struct baryon_model *reference = selector((const float[]){1, 0, 0, 1}),
                        *other = selector((const float[]){1, 0.5F, 0, 0});
    struct by_judge *judge = open_judge(&source, reference, 3, 2, 2);
    run_references(judge, 0);
    by_judge_end_references(judge);
    assert_ok(by_judge_session(judge, other, false, &session, &err));
    assert_ok(by_judge_run(judge, session, NULL, 0, &found, &err));
    assert_int_equal(found.count, 1);
    assert_string_equal(found.outputs[0].name, "r");
    assert_near(found.outputs[0].signal, 16, 1e-9);
    assert_near(found.outputs[0].noise, 4, 1e-9);
    by_session_close(session);
    by_judge_close(judge);
    by_model_free(reference);
    by_model_free(other);
}

/* --- Gains --- */

static struct by_judgement judgement_of(double signal, double noise)
{
    return (struct by_judgement){.count = 1, .outputs = {{.signal = signal, .noise = noise}}};
}

static double pooled(const double *signals, const double *noises, size_t count, size_t without)
{
    double signal = 0, noise = 0;
    for (size_t i = 0; i < count; i++)
        if (i != without) {
            signal += signals[i];
            noise += noises[i];
        }
    return 10 * log10(signal / noise);
}

typedef struct by_gain gain_function(const struct by_judgement *one,
                                     const struct by_judgement *other, size_t samples);

static struct by_gain gain_by(gain_function *function, const double *signals, const double *ours,
                              const double *theirs, size_t count)
{
    struct by_judgement one[8], other[8];
    for (size_t i = 0; i < count; i++) {
        one[i] = judgement_of(signals[i], ours[i]);
        other[i] = judgement_of(signals[i], theirs[i]);
    }
    return function(one, other, count);
}

static struct by_gain gain_of(const double *signals, const double *ours, const double *theirs,
                              size_t count)
{
    return gain_by(by_judge_gain, signals, ours, theirs, count);
}

static void test_gain(void **state)
{
    (void)state;
    const double signals[5] = {10, 12, 9, 30, 11}, ours[5] = {1, 0.5, 0.25, 2, 1},
                 theirs[5] = {2, 0.25, 0.5, 8, 1};
    const double whole = pooled(signals, ours, 5, 5) - pooled(signals, theirs, 5, 5);
    double rest[5], mean = 0, squares = 0;
    for (size_t i = 0; i < 5; i++) {
        rest[i] = pooled(signals, ours, 5, i) - pooled(signals, theirs, 5, i);
        mean += rest[i] / 5;
    }
    for (size_t i = 0; i < 5; i++)
        squares += (rest[i] - mean) * (rest[i] - mean);
    const struct by_gain gain = gain_of(signals, ours, theirs, 5);
    assert_near(gain.decibels, whole, 1e-9);
    assert_near(gain.error, sqrt(squares * 4 / 5), 1e-9);
    const struct by_gain back = gain_of(signals, theirs, ours, 5);
    assert_near(back.decibels, -whole, 1e-9);
    assert_near(back.error, gain.error, 1e-9);
}

/* All samples say the same: sure. One says it all: not sure. One alone: never. */
static void test_certainty(void **state)
{
    (void)state;
    const double signals[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const double half[8] = {.1, .2, .3, .1, .2, .3, .1, .2};
    const double same[8] = {.2, .4, .6, .2, .4, .6, .2, .4};
    const double one[8] = {.1, .2, .3, .1, .2, .3, .1, 1.9};
    struct by_gain gain = gain_of(signals, half, same, 8);
    assert_near(gain.decibels, 10 * log10(2), 1e-9);
    assert_near(gain.error, 0, 1e-6);
    gain = gain_of(signals, half, one, 8);
    assert_true(gain.decibels > 3 && gain.error > 0.9 * gain.decibels);
    gain = gain_of(signals, half, same, 1);
    assert_true(isinf(gain.error));
    assert_near(gain.decibels, 10 * log10(2), 1e-9);
}

/* Seven of eight samples are better by 3 dB, the last one, with most of the error, is worse. */
static void test_usual_gain(void **state)
{
    (void)state;
    const double signals[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const double ours[8] = {.1, .2, .3, .1, .2, .3, .1, 40};
    const double theirs[8] = {.2, .4, .6, .2, .4, .6, .2, 20};
    const double step = 10 * log10(2), mean = 6 * step / 8, last = -step - mean;
    const struct by_gain gain = gain_by(by_judge_usual_gain, signals, ours, theirs, 8);
    assert_true(gain_of(signals, ours, theirs, 8).decibels < -2.5);
    assert_near(gain.decibels, mean, 1e-9);
    assert_near(gain.error, sqrt((7 * (step - mean) * (step - mean) + last * last) / (8.0 * 7)),
                1e-9);
    assert_true(isinf(gain_by(by_judge_usual_gain, signals, ours, theirs, 1).error));
}

/* Samples and references that wait in a file say what those in memory say. */
static void test_in_a_file(void **state)
{
    struct source source = {0};
    struct baryon_model *model = adder(0), *worse = adder(0.5F);
    struct by_judgement each[2][4];
    struct by_judge_reader reader;
    struct by_input_callback shown;
    struct by_depot *depot;
    const struct by_array *arrays;
    const char *name;
    size_t count;
    (void)state;
    const struct by_depot_options waiting = {.folder = "."};
    assert_ok(by_depot_open(&depot, &waiting, &err));
    for (int i = 0; i < 2; i++) {
        depot_of_judge = i ? depot : NULL;
        struct by_judge *judge = open_judge(&source, model, 8, 4, 4);
        assert_ok(by_judge_references(judge, NULL, &err));
        assert_ok(by_judge_model(judge, worse, NULL, each[i], &err));
        by_judge_read(judge, &reader, &shown);
        for (size_t k = 0; k < 8; k++) {
            assert_ok(shown.next(shown.context, &arrays, &count, &name, &err));
            assert_true(((const float *)arrays[0].data)[0] == (float)k + 1);
        }
        by_judge_close(judge);
    }
    depot_of_judge = NULL;
    assert_true(by_depot_file_size(depot) > 0 && by_depot_in_file(depot) == 0);
    for (size_t k = 0; k < 4; k++)
        assert_true(each[0][k].sqnr == each[1][k].sqnr && each[0][k].sqnr < BY_SQNR_MAX);
    by_depot_close(depot);
    by_model_free(worse);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more),       cmocka_unit_test(test_sqnr),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_selected),
        cmocka_unit_test(test_gain),       cmocka_unit_test(test_worst_output),
        cmocka_unit_test(test_certainty),  cmocka_unit_test(test_usual_gain),
        cmocka_unit_test(test_last),       cmocka_unit_test(test_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
