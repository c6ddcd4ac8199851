/* What the judgements of several samples say together. */
#include "trial/judge.h"

#include <math.h>

/* Begins with all zero. */
static void add_judgement(struct by_judgement *sum, const struct by_judgement *sample)
{
    sum->count = sample->count;
    sum->sqnr = 0;
    for (size_t i = 0; i < sum->count; i++) {
        struct by_judged_output *output = &sum->outputs[i];
        output->name = sample->outputs[i].name;
        output->signal += sample->outputs[i].signal;
        output->noise += sample->outputs[i].noise;
        output->sqnr = by_decibels(output->signal, output->noise);
        sum->sqnr += output->sqnr / (double)sum->count;
    }
}

static double sqnr_without(const struct by_judgement *judgements, size_t samples, size_t left_out)
{
    struct by_judgement sum = {0};
    for (size_t i = 0; i < samples; i++)
        if (i != left_out)
            add_judgement(&sum, &judgements[i]);
    return sum.sqnr;
}

double by_judge_sqnr(const struct by_judgement *judgements, size_t samples)
{
    return sqnr_without(judgements, samples, samples);
}

double by_judge_worst(const struct by_judgement *judgements, size_t samples)
{
    struct by_judgement sum = {0};
    double worst = INFINITY;
    for (size_t i = 0; i < samples; i++)
        add_judgement(&sum, &judgements[i]);
    for (size_t i = 0; i < sum.count; i++)
        worst = fmin(worst, sum.outputs[i].sqnr);
    return worst;
}

bool by_judge_is_finite(const struct by_judgement *judgements, size_t samples)
{
    for (size_t i = 0; i < samples; i++)
        for (size_t k = 0; k < judgements[i].count; k++)
            if (!isfinite(judgements[i].outputs[k].noise))
                return false;
    return true;
}

struct by_gain by_judge_gain(const struct by_judgement *one, const struct by_judgement *other,
                             size_t samples)
{
    double sum = 0, squares = 0;
    const double count = (double)samples;
    struct by_gain gain = {by_judge_sqnr(one, samples) - by_judge_sqnr(other, samples), INFINITY};
    if (samples < 2)
        return gain;
    for (size_t i = 0; i < samples; i++) {
        const double rest = sqnr_without(one, samples, i) - sqnr_without(other, samples, i);
        sum += rest;
        squares += (rest - gain.decibels) * (rest - gain.decibels);
    }
    const double mean = sum / count - gain.decibels;
    gain.error = sqrt((count - 1) * fmax(squares / count - mean * mean, 0));
    return gain;
}

struct by_gain by_judge_usual_gain(const struct by_judgement *one, const struct by_judgement *other,
                                   size_t samples)
{
    double sum = 0, squares = 0;
    const double count = (double)samples;
    for (size_t i = 0; i < samples; i++) {
        const double gain = by_judge_sqnr(&one[i], 1) - by_judge_sqnr(&other[i], 1);
        sum += gain;
        squares += gain * gain;
    }
    const double mean = sum / count, spread = fmax(squares / count - mean * mean, 0);
    return (struct by_gain){mean, samples < 2 ? INFINITY : sqrt(spread / (count - 1))};
}
