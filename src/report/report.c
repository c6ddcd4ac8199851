/* Writes the beginning, the outcome and the end of a report, and saves it. */
#include "report/report.h"

#include "report/number.h"
#include "settings/recipe/recipe.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

/* --- Head --- */

void by_report_begin(struct by_json *json, struct by_str *text)
{
    by_json_init(json, text, false);
    json->flat = 3; /* each item of a list on a line of its own */
    by_json_open(json, NULL, '{');
    by_json_int(json, "report", BY_REPORT_VERSION);
}

static void put_text(struct by_json *json, const char *key, const char *text)
{
    if (text)
        by_json_text(json, key, text);
}

void by_report_head_json(const struct by_report_head *head, struct by_json *json)
{
    by_json_text(json, "command", head->command);
    by_json_text(json, "version", baryon_version());
    by_json_text(json, "model", head->model);
    put_text(json, "file", head->file);
    put_text(json, "preset", head->preset);
    put_text(json, "stats", head->stats);
    put_text(json, "data", head->data);
    by_json_bool(json, "random", head->random);
    if (head->config) {
        by_json_open(json, "options", '{');
        by_recipe_json(head->config, json);
        by_json_close(json, '}');
    }
    put_text(json, "repeat", head->repeat);
}

void by_report_outcome_json(const struct by_report_outcome *outcome, struct by_json *json)
{
    by_json_open(json, "outcome", '{');
    by_json_text(json, "text", outcome->text);
    by_json_text(json, "goal", outcome->goal);
    by_decibels_json(json, "quality_db", outcome->quality);
    by_number_json(json, "low_bits_share", 4, outcome->low_bits);
    by_json_close(json, '}');
}

/* --- Sentences --- */

static void say_sqnr(const struct by_quality *quality, struct by_str *text)
{
    if (isnan(quality->worst))
        by_str_puts(text, "All outputs of the float model are 0");
    else if (quality->worst >= BY_SQNR_MAX)
        by_str_puts(text, "The outputs are equal to those of the float model");
    else
        by_str_printf(text, "The %s a SQNR of %.1f dB",
                      quality->count > 1 ? "worst output has" : "output has", quality->worst);
    by_str_puts(text, " on ");
    by_plural(text, quality->samples, quality->random ? "random sample" : "sample");
    if (quality->which == BY_QUALITY_SEEN)
        by_str_puts(text, " that calibration used too");
    else if (quality->which == BY_QUALITY_OTHERS)
        by_str_puts(text, " of --judge-data");
    else if (!quality->random)
        by_str_puts(text, " that quantization did not use");
}

void by_report_say_quality(const struct by_quality *quality,
                           const struct by_report_figures *figures, const struct by_plan_view *view,
                           struct by_str *text)
{
    if (!quality->asked)
        by_str_puts(text, "The quality of the model was not measured");
    else if (quality->unmeasured)
        by_str_printf(text, "The quality of the model was not measured: %s", quality->unmeasured);
    else
        say_sqnr(quality, text);
    const double share = figures ? by_report_narrow_share(&figures->layers, view, 8) : (double)NAN;
    if (share > 0)
        by_str_printf(text, "; %.1f %% of multiply-adds compute in 8 bits or less", 100 * share);
    by_str_puts(text, ".");
}

/* --- The command --- */

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-";
    return *word && word[strspn(word, plain)] == '\0';
}

static void quote_word(const char *word, struct by_str *text)
{
    by_str_puts(text, "'");
    for (; *word; word++)
        if (*word == '\'')
            by_str_puts(text, "'\\''");
        else
            by_str_add(text, word, 1);
    by_str_puts(text, "'");
}

void by_report_say_command(const char *const *words, size_t count, struct by_str *text)
{
    for (size_t i = 0; i < count; i++) {
        by_str_puts(text, i ? " " : "");
        if (is_plain(words[i]))
            by_str_puts(text, words[i]);
        else
            quote_word(words[i], text);
    }
}

/* --- End --- */

void by_report_end(struct by_json *json)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        by_json_open(json, "memory", '{');
        by_json_int(json, "peak_bytes", (int64_t)usage.ru_maxrss * 1024);
        by_json_close(json, '}');
    }
    by_json_close(json, '}');
    by_str_puts(json->out, "\n");
}
