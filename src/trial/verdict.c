/* Compares the gain of a model with the threshold of the decision at hand. */
#include "trial/verdict.h"

#include <math.h>

static const struct by_threshold integers[BY_VERDICT_RULES] = {
    [BY_VERDICT_LEADS] = {1, 3, BY_MEASURE_ALL,
                          "seven presets on six models: no such verdict was reversed by the other "
                          "half of the samples"},
    [BY_VERDICT_EQUALIZED] = {0.1, 0, BY_MEASURE_ALL, "as BY_VERDICT_UNEQUALIZED, in its favour"},
    [BY_VERDICT_UNEQUALIZED] = {0.1, 0.5, BY_MEASURE_ALL,
                                "on 96 other samples the equalized model was hardly ever worse"},
    [BY_VERDICT_PAYS] = {0.1, 0, BY_MEASURE_ALL, "as BY_VERDICT_UNEQUALIZED, in its favour"},
    [BY_VERDICT_OTHER_WAY] = {0.1, 1, BY_MEASURE_ALL,
                              "limits of Relu6 change the float model; six models"},
    [BY_VERDICT_CLE_RANGE] = {0.1, 1, BY_MEASURE_BOTH,
                              "by one error of all samples together, without bounds in A8W8, a "
                              "classifier of text lines lost 4 dB, on one of 48 others"},
    [BY_VERDICT_EQUALIZED_SOLVED] = {1.5, 0.5, BY_MEASURE_ALL,
                                     "reconstruction compensates smaller losses: MobileNetV2 in "
                                     "XINT8 and PP-OCRv4 rec in A8W8 lost 1 dB by less"},
    [BY_VERDICT_EQUALIZED_ALONE] = {0.1, 0.5, BY_MEASURE_ALL,
                                    "activations alone foretell the solved model on five of six "
                                    "models, nearest rounding on two"},
    [BY_VERDICT_ROTATED] = {0.25, 2, BY_MEASURE_ALL, "as BY_VERDICT_SMOOTHED"},
    [BY_VERDICT_SMOOTHED] = {0.25, 2, BY_MEASURE_ALL,
                             "a recogniser of text lost 0.5 dB by 0.1 on eight samples; what pays "
                             "on transformers is 1 to 5 dB"},
    [BY_VERDICT_SPLIT] = {0.25, 2, BY_MEASURE_ALL, "as BY_VERDICT_SMOOTHED"},
    [BY_VERDICT_WEIGHT_ROWS] = {0.5, 2, BY_MEASURE_ALL, "as BY_VERDICT_WEIGHT_METHOD"},
    [BY_VERDICT_BIASES] = {0.1, 0.5, BY_MEASURE_ALL, "two standard errors cost Silero VAD 3 dB"},
    [BY_VERDICT_LOGARITHMS] =
        {0.1, 1, BY_MEASURE_ALL,
         "a music transcription network gains 2 dB in 8 bits, and loses 20 in "
         "16"},
    [BY_VERDICT_FRONT_END] = {1, 2, BY_MEASURE_ALL, "as BY_VERDICT_WIDE"},
    [BY_VERDICT_JOINS] = {1, 2, BY_MEASURE_ALL, "as BY_VERDICT_WIDE"},
    [BY_VERDICT_HEADROOM] = {0.5, 2, BY_MEASURE_ALL,
                             "a speaker network gains 2 dB without headroom; six others differ by "
                             "less, or lose up to 10"},
    [BY_VERDICT_WEIGHT_METHOD] = {0.5, 2, BY_MEASURE_ALL,
                                  "MiniLM gains 2.4 dB in A8W8, PP-OCRv4 rec loses 5"},
    [BY_VERDICT_ACTIVATION_METHOD] = {0.25, 0.25, BY_MEASURE_ALL,
                                      "a whole error cost an echo judge 5.9 dB and a denoiser 0.6; "
                                      "methods are equal beforehand"},
    [BY_VERDICT_METHOD_SEEN] = {1, 2, BY_MEASURE_ALL, "as BY_VERDICT_WIDE"},
    [BY_VERDICT_WIDE] = {1, 2, BY_MEASURE_ALL, "where 16 bits of all these gain nothing, none do"},
    [BY_VERDICT_WIDER] = {1, 1, BY_MEASURE_ALL,
                          "more tensors of 16 bits rarely lose; with two errors "
                          "a text detector stayed 4 dB below"},
    [BY_VERDICT_WIDEST] = {6, 2, BY_MEASURE_ALL,
                           "nearly all tensors in 16 bits have to gain a bit: lost rows gain 20 "
                           "dB, MobileNetV2 1.7 for nearly all of its products in 8 bits"},
    [BY_VERDICT_RANGES] = {0.1, 0.5, BY_MEASURE_ALL, "as BY_VERDICT_UNEQUALIZED"},
    [BY_VERDICT_PAIRS] =
        {0.1, 1, BY_MEASURE_ALL,
         "none of fourteen networks is 0.2 dB better with them, seven lose 3 to 31 dB"},
    [BY_VERDICT_SOLVED] = {0, 0, BY_MEASURE_ALL,
                           "reconstruction of integers gains so much that samples hardly err"},
    [BY_VERDICT_UNSOLVED] = {0.1, 1, BY_MEASURE_ALL,
                             "a recogniser 0.1 dB worse than them on 8 samples was 1.1 dB better "
                             "on 24 others"},
};

static const struct by_threshold exponents[BY_VERDICT_RULES] = {
    [BY_VERDICT_LEADS] = {1, 3, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_EQUALIZED] = {0.1, 2, BY_MEASURE_ALL, "with half of one Silero VAD lost 4 dB"},
    [BY_VERDICT_UNEQUALIZED] = {0.1, 0.5, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_PAYS] = {0.1, 0, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_OTHER_WAY] = {0.1, 2, BY_MEASURE_ALL, "with half of one Silero VAD lost 4 dB"},
    [BY_VERDICT_CLE_RANGE] = {0.1, 2, BY_MEASURE_BOTH, "as of integers"},
    [BY_VERDICT_EQUALIZED_SOLVED] = {1.5, 2, BY_MEASURE_ALL, "as BY_VERDICT_EQUALIZED"},
    [BY_VERDICT_EQUALIZED_ALONE] = {0.1, 0.5, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_ROTATED] = {0.25, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_SMOOTHED] = {0.25, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_SPLIT] = {0.25, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_WEIGHT_ROWS] = {0.5, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_BIASES] = {0.1, 2, BY_MEASURE_ALL, "with half of one Silero VAD lost 4 dB"},
    [BY_VERDICT_LOGARITHMS] = {0.1, 1, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_FRONT_END] = {1, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_JOINS] = {1, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_HEADROOM] = {0.5, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_WEIGHT_METHOD] = {0.5, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_ACTIVATION_METHOD] = {0.25, 0.25, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_METHOD_SEEN] = {1, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_WIDE] = {1, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_WIDER] = {1, 1, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_WIDEST] = {6, 2, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_UNSOLVED] = {0.1, 1, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_RANGES] = {0.1, 0.5, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_PAIRS] = {0.1, 1, BY_MEASURE_ALL, "as of integers"},
    [BY_VERDICT_SOLVED] = {0, 1, BY_MEASURE_EITHER,
                           "171 solutions on 96 other samples: +2.46 dB in the mean, two lose more "
                           "than 0.5 dB; of all that gain, eleven"},
};

const struct by_threshold *by_threshold(enum by_verdict_rule rule, bool of_exponents)
{
    return of_exponents ? &exponents[rule] : &integers[rule];
}

static bool exceeds(const struct by_threshold *threshold, const struct by_gain *gain)
{
    return gain->decibels > threshold->least &&
           (threshold->errors == 0 || gain->decibels > threshold->errors * gain->error);
}

bool by_verdict(const struct by_threshold *threshold, const struct by_gain *all,
                const struct by_gain *usual)
{
    if (threshold->measure == BY_MEASURE_BOTH)
        return exceeds(threshold, all) && exceeds(threshold, usual);
    return exceeds(threshold, all) ||
           (threshold->measure == BY_MEASURE_EITHER && exceeds(threshold, usual));
}

bool by_verdict_of(const struct by_threshold *threshold, const struct by_judgement *one,
                   const struct by_judgement *other, size_t samples)
{
    const struct by_gain all = by_judge_gain(one, other, samples);
    const struct by_gain usual =
        threshold->measure == BY_MEASURE_ALL ? all : by_judge_usual_gain(one, other, samples);
    return by_verdict(threshold, &all, &usual);
}

/* --- More samples --- */

/* Of two that are so close neither is a loss. */
#define CLOSE      0.25 /* dB */
#define CLOSE_SURE 2    /* standard errors */

bool by_verdict_settled(const struct by_gain *gain)
{
    return fabs(gain->decibels) + CLOSE_SURE * gain->error < CLOSE;
}

/* How many times a gain's own spread the rest of the samples hardly ever moves it: two, and of few
 * samples, whose error is an estimate, what Student's distribution adds. */
#define FORETOLD     2
#define FORETOLD_FEW 5.0
/* Where a rule asks for an error or more, no leaves things as they are, and costs little if it is
 * wrong: less certainty will do. */
#define FORETOLD_NO     1
#define FORETOLD_NO_FEW 2.0

/* What is left of the error when all have judged, and how far they may move the gain till then. */
bool by_verdict_foretold(const struct by_threshold *threshold, const struct by_gain *gain,
                         size_t samples, size_t all)
{
    const double share = (double)samples / (double)all;
    const double final_error = gain->error * sqrt(share), moves = gain->error * sqrt(1 - share);
    const double bar = fmax(threshold->least, threshold->errors * final_error);
    const bool says = exceeds(threshold, gain), leaves = !says && threshold->errors >= 1;
    const double sure = leaves ? FORETOLD_NO + FORETOLD_NO_FEW / (double)samples
                               : FORETOLD + FORETOLD_FEW / (double)samples;
    /* Where both measures have to agree, one says no for both. */
    const bool suffices =
        threshold->measure == BY_MEASURE_ALL || (threshold->measure == BY_MEASURE_BOTH && !says);
    return suffices && says == (gain->decibels > bar) && fabs(gain->decibels - bar) > sure * moves;
}

/* --- Moves of one scale --- */

/* A move is tried on twice as many samples as long as it may pay. Both measures have to
 * agree: where outputs saturate, a sample or two decide over all of them together. */
#define MOVE_WORTH  0.02      /* dB */
#define MOVE_SURE   2         /* standard errors */
#define MOVE_LIKELY (2.0 / 3) /* of them on some of the samples: it may become a gain yet */
#define MOVE_FEW    4         /* samples on which a gain requires no certainty */
#define MOVE_LOSS   0.2       /* dB: on fewer only a greater loss is one */

static double move_errors(size_t count, size_t samples)
{
    if (count == samples)
        return MOVE_SURE;
    return count > MOVE_FEW ? MOVE_LIKELY * MOVE_SURE * sqrt((double)count / (double)samples) : 0;
}

bool by_verdict_move(const struct by_gain *all, const struct by_gain *usual, size_t count,
                     size_t samples)
{
    const double errors = move_errors(count, samples);
    if (count < MOVE_FEW && count < samples)
        return usual->decibels > -MOVE_LOSS || all->decibels > -MOVE_LOSS;
    return usual->decibels > errors * usual->error && all->decibels > MOVE_WORTH &&
           all->decibels > errors * all->error;
}

/* Twice the scale loses 6 dB where nothing is clipped. Half of it clips and loses 10 and more,
 * which outputs may not notice: MobileNetV2 gains 2 dB by four such tensors, which keep 16 dB and
 * more where the model has 11. */
#define MOVE_OWN_LOSS 5.5 /* dB */

bool by_verdict_move_costs(double own, double before, double model)
{
    return own < before - MOVE_OWN_LOSS && own < model;
}
