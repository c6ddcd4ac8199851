/* Perplexity and divergence of language models, window by window. */
#include "llm/eval_internal.h"

#include "llm/eval_text.h"

#include <math.h>
#include <string.h>

/* --- Models --- */

static int open_model(struct by_eval_model *model, const char *path, bool rounds,
                      struct baryon_error *err)
{
    if (by_llm_open_to_run(&model->opened, path, err))
        return -1;
    return by_decoder_open(&model->decoder, &model->opened.source, model->opened.checkpoint->config,
                           err) ||
                   (rounds && by_decoder_simulate(&model->decoder, &model->rounded, err))
               ? by_err_file(err, path)
               : 0;
}

static void close_model(struct by_eval_model *model)
{
    by_decoder_end(&model->run);
    by_decoder_close(&model->decoder);
    by_llm_close(&model->opened);
}

/* --- Ids --- */

static int read_texts(struct by_evaluating *e, struct baryon_error *err)
{
    struct by_eval_model *model = e->options->against ? &e->other : &e->model;
    const size_t given = (size_t)(e->options->windows * e->options->length);
    if (e->options->ids) {
        e->ids.ids = by_alloc(given, sizeof *e->ids.ids, err);
        if (!e->ids.ids)
            return -1;
        memcpy(e->ids.ids, e->options->ids, given * sizeof *e->ids.ids);
        e->ids.count = given;
        return 0;
    }
    return by_llm_text_ids(&e->ids, &model->opened, &e->options->texts, (size_t)e->options->length,
                           model->decoder.vocab, err);
}

static int cut_windows(struct by_evaluating *e, struct baryon_error *err)
{
    e->length = (size_t)e->options->length;
    e->windows = e->ids.count / e->length;
    if (!e->windows) {
        by_fail(err, BARYON_ERR_INPUT, "the texts have %zu tokens, must have at least %zu",
                e->ids.count, e->length);
        return by_err_hint(err, "give more text, or a smaller --length");
    }
    if (e->options->windows && e->options->windows < e->windows)
        e->windows = (size_t)e->options->windows;
    e->sums = by_alloc_zero(e->windows, sizeof *e->sums, err);
    return e->sums ? 0 : -1;
}

/* --- Layers --- */

static int run_layers(struct by_evaluating *e, struct by_eval_model *model, size_t done, size_t all,
                      struct baryon_error *err)
{
    const struct by_llm_eval_options *options = e->options;
    model->decoder.halved = options->halved;
    if (by_decoder_begin(&model->run, &model->decoder, e->ids.ids, e->windows, e->length, e->pool,
                         err))
        return -1;
    for (size_t i = 0; i < model->decoder.layers; i++) {
        if (options->progress)
            options->progress(options->context, done + i, all);
        if (by_decoder_step(&model->run, i, err))
            return -1;
    }
    return by_decoder_finish(&model->run, err);
}

/* --- Logits --- */

static int judge_window(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    struct by_evaluating *e = context;
    const size_t vocab = e->model.decoder.vocab;
    const bool compares = e->options->against != NULL;
    float *own = by_alloc(BY_EVAL_TOKENS * vocab, sizeof *own, err);
    float *other = own && compares ? by_alloc(BY_EVAL_TOKENS * vocab, sizeof *other, err) : NULL;
    int status = own && (other || !compares) ? 0 : -1;
    (void)worker;
    for (size_t w = begin; !status && w < end; w++) {
        for (size_t t = 0; !status && t + 1 < e->length; t += BY_EVAL_TOKENS) {
            const size_t rest = e->length - 1 - t;
            const size_t count = rest < BY_EVAL_TOKENS ? rest : BY_EVAL_TOKENS;
            status = by_decoder_logits(&e->model.run, w, t, count, own, err);
            if (!status && compares)
                status = by_decoder_logits(&e->other.run, w, t, count, other, err);
            for (size_t i = 0; !status && i < count; i++)
                by_llm_token_add(&e->sums[w], own + i * vocab, compares ? other + i * vocab : NULL,
                                 vocab, e->ids.ids[w * e->length + t + i + 1]);
        }
        if (!status && !(isfinite(e->sums[w].loss) && isfinite(e->sums[w].loss_against)))
            status =
                by_fail(err, BARYON_ERR_INPUT, "window %zu has logits that are NaN or infinite", w);
    }
    by_free(own);
    by_free(other);
    return status;
}

/* --- Means --- */

static struct by_llm_mean mean_of(const struct by_evaluating *e, size_t member)
{
    const double tokens = (double)(e->length - 1), count = (double)e->windows;
    struct by_llm_mean mean = {0, INFINITY};
    double squares = 0;
    for (size_t i = 0; i < e->windows; i++)
        mean.mean += *(const double *)((const char *)&e->sums[i] + member) / tokens / count;
    for (size_t i = 0; i < e->windows; i++) {
        double gap = *(const double *)((const char *)&e->sums[i] + member) / tokens - mean.mean;
        squares += gap * gap;
    }
    if (e->windows > 1)
        mean.error = sqrt(squares / (count - 1) / count);
    return mean;
}

static void sum_up(struct by_evaluating *e, struct by_llm_evaluation *result)
{
    result->windows = e->windows;
    result->length = e->length;
    result->tokens = e->ids.count;
    result->compared = e->options->against != NULL;
    result->rounded = e->model.rounded;
    result->loss = mean_of(e, offsetof(struct by_llm_token_sums, loss));
    result->loss_against = mean_of(e, offsetof(struct by_llm_token_sums, loss_against));
    result->kl = mean_of(e, offsetof(struct by_llm_token_sums, kl));
    result->agree = mean_of(e, offsetof(struct by_llm_token_sums, agree));
    result->perplexity = exp(result->loss.mean);
    result->perplexity_against = exp(result->loss_against.mean);
    result->by_window = e->sums;
    for (size_t i = 0; i < e->windows; i++) {
        struct by_llm_token_sums *own = &result->by_window[i];
        const double tokens = (double)(e->length - 1);
        *own = (struct by_llm_token_sums){own->loss / tokens, own->loss_against / tokens,
                                          own->kl / tokens, own->agree / tokens};
    }
    e->sums = NULL;
}

static int run_models(struct by_evaluating *e, struct baryon_error *err)
{
    const struct by_llm_eval_options *options = e->options;
    if (by_pool_open(&e->pool, options->threads, err) ||
        open_model(&e->model, options->path, !options->float_activations, err) ||
        (options->against &&
         open_model(&e->other, options->against, !options->float_activations, err)))
        return -1;
    if (options->against && e->model.decoder.vocab != e->other.decoder.vocab)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the models have %zu and %zu tokens, must have the same",
                       e->model.decoder.vocab, e->other.decoder.vocab);
    if (read_texts(e, err) || cut_windows(e, err) || by_eval_fit(e, err))
        return -1;
    const size_t first = options->against ? e->other.decoder.layers : 0;
    const size_t all = first + e->model.decoder.layers;
    if ((options->against && run_layers(e, &e->other, 0, all, err)) ||
        run_layers(e, &e->model, first, all, err))
        return -1;
    return by_par_for(e->pool, e->windows, 1, judge_window, e, err);
}

int by_llm_evaluate(struct by_llm_evaluation *result, const struct by_llm_eval_options *options,
                    struct baryon_error *err)
{
    struct by_evaluating e = {.options = options};
    *result = (struct by_llm_evaluation){0};
    int status = run_models(&e, err);
    if (!status)
        sum_up(&e, result);
    close_model(&e.model);
    close_model(&e.other);
    by_token_ids_release(&e.ids);
    by_free(e.sums);
    by_pool_close(e.pool);
    return status;
}

void by_llm_evaluation_release(struct by_llm_evaluation *result)
{
    by_free(result->by_window);
    result->by_window = NULL;
}
