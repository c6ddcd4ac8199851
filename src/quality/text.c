/* Says in sentences how good a written model is. */
#include "base/str.h"
#include "quality/quality_internal.h"

#define LISTED      8   /* outputs */
#define ROUGH       1.0 /* dB */
#define ROUGH_SHARE 0.05

static void say_samples(const struct by_quality *quality, struct by_str *text)
{
    const bool all = quality->which == BY_QUALITY_SEEN && !quality->first;
    by_str_puts(text, " on ");
    if (quality->which == BY_QUALITY_SEEN && !all)
        by_str_puts(text, "the last ");
    if (quality->which == BY_QUALITY_SEEN && !all && quality->samples == 1)
        by_str_puts(text, "sample");
    else
        by_plural(text, quality->samples, quality->random ? "random sample" : "sample");
    if (quality->which == BY_QUALITY_SEEN)
        by_str_puts(text, ", which calibration used too");
    else if (quality->which == BY_QUALITY_OTHERS)
        by_str_puts(text, " of --judge-data");
    else if (quality->random)
        by_str_puts(text, ", which say little about real ones");
    else
        by_str_puts(text, " that quantization did not use");
}

/* An error that makes the figure a rough one is told. */
static void say_sqnr(const struct by_quality_output *output, struct by_str *text)
{
    by_str_printf(text, "SQNR %.1f dB", output->sqnr);
    if (output->error >= fmax(ROUGH, ROUGH_SHARE * output->sqnr) && isfinite(output->error))
        by_str_printf(text, " (standard error %.1f)", output->error);
}

static void say_output(const struct by_quality_output *output, struct by_str *text)
{
    if (output->reshaped)
        by_str_puts(text, "shapes other than in the float model");
    else if (isnan(output->sqnr))
        by_str_puts(text, "0 in the float model alone");
    else if (output->sqnr >= BY_SQNR_MAX)
        by_str_puts(text, "equal to the float model");
    else
        say_sqnr(output, text);
    if (output->rows)
        by_str_printf(text, ", top class equal in %llu of ", (unsigned long long)output->same);
    if (output->rows)
        by_plural(text, output->rows, "row");
}

#define SELECTED_FROM ", which outputs are selected from"

static void say_outputs(const struct by_quality *quality, struct by_str *text)
{
    char quoted[BY_QUOTE_MAX];
    if (quality->count == 1) {
        by_str_puts(text, "quality");
        if (quality->outputs[0].selected_from)
            by_str_printf(text, " of %s" SELECTED_FROM, by_quote(quoted, quality->outputs[0].name));
        by_str_puts(text, ": ");
        say_output(&quality->outputs[0], text);
        say_samples(quality, text);
        by_str_puts(text, "\n");
        return;
    }
    by_str_puts(text, "quality");
    say_samples(quality, text);
    by_str_puts(text, ":\n");
    for (size_t i = 0; i < quality->count && i < LISTED; i++) {
        by_str_printf(text, "  %s%s: ", by_quote(quoted, quality->outputs[i].name),
                      quality->outputs[i].selected_from ? SELECTED_FROM : "");
        say_output(&quality->outputs[i], text);
        by_str_puts(text, "\n");
    }
    if (quality->count > LISTED)
        by_str_printf(text, "  and %zu more outputs; the worst of all has %.1f dB\n",
                      quality->count - LISTED, quality->worst);
}

const char *by_quality_which(const struct by_quality *quality)
{
    static const char *const names[] = {
        [BY_QUALITY_UNSEEN] = "unseen",
        [BY_QUALITY_SEEN] = "seen",
        [BY_QUALITY_OTHERS] = "others",
    };
    return names[quality->which];
}

void by_quality_text(const struct by_quality *quality, struct by_str *text)
{
    if (quality->unmeasured) {
        by_str_printf(text, "quality not measured: %s\n", quality->unmeasured);
        return;
    }
    say_outputs(quality, text);
    if (quality->cause)
        by_str_printf(text, "%s\n", quality->cause);
    if (quality->next)
        by_str_printf(text, "to improve it, try %s\n", quality->next);
}

static void warn_nonfinite(const struct by_quality_output *output, const struct by_log *log)
{
    char quoted[BY_QUOTE_MAX];
    if (output->nonfinite)
        by_log(log, BY_LOG_WARNING,
               "output %s: %llu values of the written model are NaN or infinite, which are finite "
               "in the float model",
               by_quote(quoted, output->name), (unsigned long long)output->nonfinite);
}

void by_quality_warn(const struct by_quality *quality, const struct by_log *log)
{
    if (quality->failed)
        by_log(log, BY_LOG_WARNING, "the quality of the written model was not measured: %s",
               quality->unmeasured);
    for (size_t i = 0; i < quality->count; i++)
        warn_nonfinite(&quality->outputs[i], log);
    if (quality->worst < BY_QUALITY_USABLE)
        by_log(log, BY_LOG_WARNING,
               "the written model is hardly usable: its outputs have a SQNR of %.1f dB",
               quality->worst);
}
