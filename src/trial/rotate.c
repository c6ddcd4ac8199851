/* Decides whether and what of a model rotates: by samples, or as the user says. */
#include "trial/rotate.h"

#include "adjust/rotate.h"
#include "trial/trial.h"

static bool is_asked_for(const struct by_quantization *q)
{
    return q->options->recipe->rotate != BY_ROTATE_AUTO;
}

/* Products of their own stay float, which accelerators do not have. */
static bool may_add_products(const struct by_quantization *q)
{
    return q->options->recipe->hardware == BY_HARDWARE_NONE && !q->options->recipe->compat;
}

static struct by_candidate turned(const struct by_quantization *q, enum by_rotate_mode mode)
{
    struct by_candidate candidate = by_trial_unedited(q);
    candidate.edits[BY_EDIT_ROTATION] = by_rotate_value(mode, may_add_products(q));
    return candidate;
}

static void tell_off(const struct by_quantization *q, const char *why)
{
    by_log(q->options->log, is_asked_for(q) ? BY_LOG_NOTICE : BY_LOG_INFO, "rotation off: %s", why);
}

static int survey(const struct by_quantization *q, enum by_rotate_mode mode,
                  const struct by_log *log, struct by_rotate_report *report,
                  struct baryon_error *err)
{
    const struct by_rotate_options options = {.heads = mode != BY_ROTATE_STREAM,
                                              .streams = mode != BY_ROTATE_HEADS,
                                              .multiplies = may_add_products(q),
                                              .log = log};
    return by_rotate_survey(q->plan, &options, report, err);
}

/* --- Which way --- */

/* Off first, then each alone, and both. */
static int choose_rotation(const struct by_quantization *q, const struct by_rotate_report *found,
                           struct by_candidate *best, struct baryon_error *err)
{
    struct by_candidate candidates[4] = {by_trial_unedited(q)};
    struct by_trial_score scores[4];
    size_t count = 1, place = 0;
    if (found->heads)
        candidates[count++] = turned(q, BY_ROTATE_HEADS);
    if (found->streams)
        candidates[count++] = turned(q, BY_ROTATE_STREAM);
    if (found->heads && found->streams)
        candidates[count++] = turned(q, BY_ROTATE_ON);
    if (by_trial_contest(q->trial, candidates, count, scores, err) < 0)
        return -1;
    for (size_t i = 1; i < count; i++)
        if (by_trial_prefers(q, BY_VERDICT_ROTATED, &scores[i], &scores[place]))
            place = i;
    *best = candidates[place];
    return 0;
}

/* --- The stage --- */

static int tell_on(const struct by_quantization *q, const struct by_candidate *best,
                   struct baryon_error *err)
{
    struct by_rotate_report report;
    const enum by_rotate_mode mode = (enum by_rotate_mode)(best->edits[BY_EDIT_ROTATION] / 2);
    if (survey(q, mode, q->options->log, &report, err) < 0)
        return -1;
    by_log(q->options->log, BY_LOG_INFO,
           "rotation on: heads of %zu attentions, %zu residual streams with %zu norms and %zu "
           "products of their own; %zu left alone",
           report.heads, report.streams, report.norms, report.products, report.left);
    return 0;
}

static int rotate_model(struct by_quantization *q, const struct by_rotate_report *found,
                        bool *changed, struct baryon_error *err)
{
    struct by_candidate best = turned(q, q->options->recipe->rotate);
    if (!q->trial && by_trial_open(&q->trial, q, is_asked_for(q) ? 0 : 4, err) < 0)
        return -1;
    if (!is_asked_for(q) && choose_rotation(q, found, &best, err) < 0)
        return -1;
    if (best.edits[BY_EDIT_ROTATION] && tell_on(q, &best, err) < 0)
        return -1;
    if (by_trial_adopt(q->trial, &best, changed, err) < 0)
        return -1;
    if (!*changed && !is_asked_for(q)) {
        tell_off(q, "samples do not gain by it");
        return 0;
    }
    by_trial_close(q->trial);
    q->trial = NULL;
    return 0;
}

static int lacks_samples_twice(const struct by_quantization *q, bool *lacks,
                               struct baryon_error *err)
{
    *lacks = !by_trial_has_samples(q);
    if (!*lacks || !is_asked_for(q))
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "rotation changes the activations, so it requires samples that can be read twice");
    return by_err_hint(err, "give samples (--data), or --rotate off");
}

int by_rotate(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    const enum by_rotate_mode mode = q->options->recipe->rotate;
    struct by_rotate_report found;
    bool lacks;
    *changed = false;
    if (mode == BY_ROTATE_OFF || q->options->recipe->approach != BY_APPROACH_STATIC)
        return 0;
    if (survey(q, mode, NULL, &found, err) < 0)
        return -1;
    if (!found.heads && !found.streams) {
        tell_off(q, "no attention and no residual stream can turn");
        return is_asked_for(q) ? survey(q, mode, q->options->log, &found, err) : 0;
    }
    if (!is_asked_for(q) && q->plan->node_count > BY_TRIAL_NODES_MOST) {
        tell_off(q, "the model has too many nodes to try it; --rotate on does without");
        return 0;
    }
    if (lacks_samples_twice(q, &lacks, err) < 0)
        return -1;
    return lacks ? 0 : rotate_model(q, &found, changed, err);
}
