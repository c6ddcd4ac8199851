/*
 * Measures all decisions of a quantization in few runs and a candidate of each, for
 * bench/additive.py.
 *
 *   decisions_dump MODEL SAMPLES PRESET [RUNS [CANDIDATES]]
 *
 * RUNS: of the session with switches at most, but for small models; 0: any. CANDIDATES: about so
 * many of the decisions are tried as real candidates, evenly over the list; 0: all; "none": no
 * candidate at all, nor sets. Prints "PLAN sqnr-predicted sqnr-real sources decisions runs
 * seconds", for each source "SOURCE kind name noise share"; "CHECK sources samples rank-of-noise
 * rank-of-shares", and for each source "ALONE kind name noise-measured noise-run noise-even
 * noise-odd share-measured share-run share-even share-odd", of a run of its own on samples that it
 * was not measured on; then for each candidate "DECISION kind name gain-predicted gain-real
 * gain-even gain-odd" (of every other sample, and of the others), and for random sets of decisions
 * "SET sqnr-predicted sqnr-real", all on the samples that were measured on.
 */
#include "base/rng.h"
#include "base/thread.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "search/decision.h"
#include "sensitivity/sensitivity.h"
#include "settings/recipe/take.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct by_alternative alternatives[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"},
};
static const struct by_mac_cost macs[] = {{"*16", "*", 2, true}, {"*", "*", 1, false}};
static const struct by_target_ladder ladder = {
    .alternatives = alternatives, .alternative_count = 2, .macs = macs, .mac_count = 2};

#define SETS   12
#define OTHERS 8    /* samples of runs of single sources, at most */
#define WORK   3e11 /* as a search has it */

struct dump {
    struct by_config config;
    struct by_quantize_settings settings;
    struct by_quantize_options options;
    struct baryon_model *model;
    struct by_judge *judge;
    struct by_quantization q;
    struct by_decisions d;
};

static int take(struct dump *dump, const char *preset, const char *data, struct baryon_error *err)
{
    by_config_init(&dump->config);
    if (by_recipe_bind(&dump->config, &dump->settings.recipe, err) < 0 ||
        by_config_bind(&dump->config, &by_data_group, &dump->settings.running.data, err) < 0 ||
        by_config_bind(&dump->config, &by_prep_group, &dump->settings.running.prep, err) < 0 ||
        by_config_bind(&dump->config, &by_engine_group, &dump->settings.running.engine, err) < 0 ||
        by_config_set(&dump->config, by_config_find(&dump->config, "preset"), preset, NULL,
                      BY_SOURCE_FLAG, err) < 0 ||
        by_config_set(&dump->config, by_config_find(&dump->config, "data"), data, NULL,
                      BY_SOURCE_FLAG, err) < 0)
        return -1;
    dump->settings.measures = true;
    return by_quantize_take(&dump->config, &dump->settings, NULL, NULL, &dump->options, err);
}

static int open_all(struct dump *dump, char **args, struct baryon_error *err)
{
    return take(dump, args[3], args[2], err) < 0 ||
                   by_model_load(&dump->model, args[1], NULL, err) < 0 ||
                   by_model_link(dump->model, err) < 0 ||
                   by_model_infer(dump->model, NULL, err) < 0 ||
                   by_sensitivity_begin(&dump->judge, dump->model, &dump->options, err) < 0 ||
                   by_quantization_open(&dump->q, dump->model, &dump->options, err) < 0
               ? -1
               : 0;
}

/* On the samples that were measured on; of those every `step`th from `first` on. */
static double sqnr_of(const struct by_decisions *d, const struct by_judgement *each, size_t first,
                      size_t step)
{
    struct by_judgement *same = by_alloc(d->samples, sizeof *same, NULL);
    size_t count = 0;
    for (size_t i = first; same && i < d->samples; i += step)
        same[count++] = each[d->measured[i]];
    const double sqnr = count ? by_judge_sqnr(same, count) : 0;
    by_free(same);
    return sqnr;
}

enum { ALL, EVEN, ODD, JUDGED };

static int judge(const struct by_decisions *d, const bool *on, double *sqnr,
                 struct baryon_error *err)
{
    struct by_judgement *each = by_alloc_zero(by_judge_count(d->judge), sizeof *each, err);
    const int status = each ? by_decisions_judge(d, on, each, sqnr, err) : -1;
    if (status == 0) {
        sqnr[ALL] = sqnr_of(d, each, 0, 1);
        sqnr[EVEN] = sqnr_of(d, each, 0, 2);
        sqnr[ODD] = sqnr_of(d, each, 1, 2);
    }
    by_free(each);
    return status;
}

static int try_each(struct dump *dump, size_t most, const double *plan, struct baryon_error *err)
{
    struct by_decisions *d = &dump->d;
    const size_t step = most && most < d->decision_count ? d->decision_count / most : 1;
    bool *on = by_alloc_zero(d->decision_count + 1, sizeof *on, err);
    int status = on ? 0 : -1;
    for (size_t i = 0; status == 0 && i < d->decision_count; i += step) {
        double sqnr[JUDGED];
        on[i] = true;
        status = judge(d, on, sqnr, err);
        on[i] = false;
        if (status == 0)
            printf("DECISION\t%s\t%s\t%.5f\t%.5f\t%.5f\t%.5f\n", d->decisions[i].alternative->name,
                   d->decisions[i].name, d->decisions[i].gain, sqnr[ALL] - plan[ALL],
                   sqnr[EVEN] - plan[EVEN], sqnr[ODD] - plan[ODD]);
        fflush(stdout);
    }
    by_free(on);
    return status;
}

/* Random ones of 5 to 95 % of the decisions; of a tensor or layer that has several, one. */
static int try_sets(struct dump *dump, struct baryon_error *err)
{
    struct by_decisions *d = &dump->d;
    bool *on = by_alloc_zero(d->decision_count + 1, sizeof *on, err);
    int status = on ? 0 : -1;
    for (uint64_t set = 0; status == 0 && set < SETS; set++) {
        struct by_prediction prediction;
        double sqnr[JUDGED];
        for (size_t i = 0; i < d->decision_count; i++)
            on[i] = by_rng_unit(1, set, d->decisions[i].place) < (0.5 + (double)set) / SETS;
        by_decisions_predict(d, on, &prediction);
        status = judge(d, on, sqnr, err);
        if (status == 0)
            printf("SET\t%.5f\t%.5f\n", prediction.sqnr, sqnr[ALL]);
        fflush(stdout);
    }
    by_free(on);
    return status;
}

/* Noise over signal of each source alone, in dB, at the output where it is greatest. */
static void print_sources(const struct by_decisions *d)
{
    for (size_t i = 0; i < d->source_count; i++) {
        double most = 0;
        for (size_t k = 0; k < d->output_count; k++)
            if (d->signal[k] > 0)
                most = fmax(most, d->sources[i].alone[k] / d->signal[k]);
        printf("SOURCE\t%s\t%s\t%.1f\t%.4f\n", d->sources[i].weight ? "weight" : "activation",
               d->sources[i].name, 10 * log10(fmax(most, 1e-15)), d->sources[i].share);
    }
}

static void print_alone(const struct by_decisions *d, const struct by_alone_source *alone)
{
    const struct by_noise_source *source = &d->sources[alone->source];
    printf("ALONE\t%s\t%s", source->weight ? "weight" : "activation", source->name);
    printf("\t%.6g\t%.6g\t%.6g\t%.6g", alone->measured.noise, alone->run.noise,
           alone->half[0].noise, alone->half[1].noise);
    printf("\t%.6g\t%.6g\t%.6g\t%.6g\n", alone->measured.share, alone->run.share,
           alone->half[0].share, alone->half[1].share);
}

static int print_check(struct by_decisions *d, struct baryon_error *err)
{
    struct by_alone_source *alone = by_alloc_zero(d->source_count + 1, sizeof *alone, err);
    struct by_checked checked;
    const int status =
        alone ? by_decisions_check(d, d->source_count, OTHERS, alone, &checked, err) : -1;
    if (status == 0)
        printf("CHECK\t%zu\t%zu\t%.4f\t%.4f\n", checked.sources, checked.samples, checked.noise,
               checked.share);
    for (size_t i = 0; status == 0 && i < checked.sources; i++)
        print_alone(d, &alone[i]);
    by_free(alone);
    return status;
}

static int run(struct dump *dump, int count, char **args, struct baryon_error *err)
{
    const struct by_decide_options options = {.runs = count > 4 ? strtoul(args[4], NULL, 10) : 0,
                                              .work = WORK};
    struct by_prediction prediction;
    double real[JUDGED];
    if (open_all(dump, args, err) < 0)
        return -1;
    const double begin = by_seconds();
    if (by_decisions_open(&dump->d, &dump->q, dump->judge, &ladder, &options, err) < 0 ||
        by_decisions_measure(&dump->d, err) < 0)
        return -1;
    const double seconds = by_seconds() - begin;
    bool *none = by_alloc_zero(dump->d.decision_count + 1, sizeof *none, err);
    by_decisions_predict(&dump->d, none, &prediction);
    const int status = none ? judge(&dump->d, none, real, err) : -1;
    by_free(none);
    if (status < 0)
        return -1;
    printf("PLAN\t%.4f\t%.4f\t%zu\t%zu\t%zu\t%.2f\n", prediction.sqnr, real[ALL],
           dump->d.source_count, dump->d.decision_count, dump->d.runs, seconds);
    print_sources(&dump->d);
    if (print_check(&dump->d, err) < 0)
        return -1;
    fflush(stdout);
    if (count > 5 && !strcmp(args[5], "none"))
        return 0;
    if (try_sets(dump, err) < 0)
        return -1;
    return try_each(dump, count > 5 ? strtoul(args[5], NULL, 10) : 0, real, err);
}

int main(int count, char **args)
{
    struct baryon_error err = {0};
    struct dump dump = {.model = NULL};
    char text[2048];
    if (count < 4)
        return 2;
    const int status = run(&dump, count, args, &err);
    if (status < 0) {
        baryon_error_format(&err, text, sizeof text);
        printf("FAIL\t%s\n", text);
    }
    by_decisions_close(&dump.d);
    by_judge_close(dump.judge);
    by_quantization_close(&dump.q);
    by_model_free(dump.model);
    by_config_release(&dump.config);
    return status < 0;
}
