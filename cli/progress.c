/* Draws the progress bar or writes progress events on standard error. */
#include "cli/progress.h"

#include "base/json.h"
#include "cli/term.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define TELL_SECONDS   10.0
#define EVENT_SECONDS  0.25
#define BAR_WIDTH      28

static void say(const char *text, int length, size_t size)
{
    if (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, (size_t)length < size ? (size_t)length : size);
        (void)written;
    }
}

static double rate_of(const struct by_progress *progress, double elapsed)
{
    return elapsed > 0 ? (double)(progress->done - progress->before) / elapsed : 0;
}

static double left_of(const struct by_progress *progress, double elapsed)
{
    const double rate = rate_of(progress, elapsed);
    if (progress->share > 0 && progress->share <= 1)
        return elapsed * (1 - progress->share) / progress->share;
    return rate > 0 ? (double)(progress->total - progress->done) / rate : 0;
}

static void tell_event(const struct by_progress *progress)
{
    struct by_str text;
    struct by_json json;
    const double elapsed = by_term_seconds() - progress->start, rate = rate_of(progress, elapsed);
    if (progress->style.quiet)
        return;
    by_str_init(&text);
    by_json_init(&json, &text, true);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "event", "progress");
    by_json_text(&json, "stage", progress->label);
    by_json_int(&json, "done", (int64_t)progress->done);
    by_json_int(&json, "total", (int64_t)progress->total);
    char key[48];
    snprintf(key, sizeof key, "%s_per_second", progress->unit);
    by_json_double(&json, key, rate);
    if (rate > 0)
        by_json_double(&json, "seconds_left", left_of(progress, elapsed));
    else
        by_json_null(&json, "seconds_left");
    by_json_close(&json, '}');
    by_str_puts(&text, "\n");
    say(by_str_text(&text), (int)text.size, text.size);
    by_str_release(&text);
}

void by_progress_begin(struct by_progress *progress, const char *label, const char *unit,
                       uint64_t before, uint64_t total, const struct by_progress_style *style)
{
    *progress = (struct by_progress){
        .label = label,
        .unit = unit,
        .total = total,
        .done = before,
        .before = before,
        .start = by_term_seconds(),
        .tenths = total ? (unsigned)(before * 10 / total) : 0,
        .style = *style,
        .tty = by_term_is_tty(STDERR_FILENO),
        .utf8 = by_term_utf8(),
    };
    if (style->json)
        tell_event(progress);
}

/* "4 s", "2 min 10 s", "3 h 5 min" */
static void time_left(double seconds, char *buf, size_t size)
{
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (whole < 60)
        snprintf(buf, size, "%" PRIu64 " s", whole);
    else if (whole < 3600)
        snprintf(buf, size, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    else
        snprintf(buf, size, "%" PRIu64 " h %" PRIu64 " min", whole / 3600, whole / 60 % 60);
}

static void fill_bar(const struct by_progress *progress, char *bar, double share)
{
    const char *full = progress->utf8 ? "\u2501" : "=", *empty = progress->utf8 ? "\u2500" : "-";
    unsigned filled = (unsigned)(share * BAR_WIDTH);
    *bar = '\0';
    for (unsigned i = 0; i < BAR_WIDTH; i++, bar += strlen(bar))
        snprintf(bar, 4, "%s", i < filled ? full : empty);
}

static void draw(const struct by_progress *progress, double elapsed)
{
    char bar[BAR_WIDTH * 4], left[48], line[256];
    double share = (double)progress->done / (double)progress->total;
    double rate = rate_of(progress, elapsed);
    fill_bar(progress, bar, share);
    time_left(left_of(progress, elapsed), left, sizeof left);
    int length = snprintf(
        line, sizeof line,
        "\r%s  %s%s%s %3.0f %%  %" PRIu64 "/%" PRIu64 "  %.1f %s/s  %s left\033[K", progress->label,
        progress->style.color ? "\033[36m" : "", bar, progress->style.color ? "\033[0m" : "",
        share * 100, progress->done, progress->total, rate, progress->unit, left);
    say(line, length, sizeof line);
}

static void tell_tenths(struct by_progress *progress, double elapsed)
{
    char line[256];
    unsigned tenths = (unsigned)(progress->done * 10 / progress->total);
    if (tenths <= progress->tenths || elapsed - progress->drawn < TELL_SECONDS)
        return;
    progress->tenths = tenths;
    progress->drawn = elapsed;
    int length =
        snprintf(line, sizeof line, "baryon: %s: %" PRIu64 " %% (%" PRIu64 " of %" PRIu64 " %s)\n",
                 progress->label, progress->done * 100 / progress->total, progress->done,
                 progress->total, progress->unit);
    say(line, length, sizeof line);
}

void by_progress_step(struct by_progress *progress, uint64_t done)
{
    progress->done = done;
    if (progress->style.quiet || !progress->total)
        return;
    double elapsed = by_term_seconds() - progress->start;
    const bool events = progress->style.json;
    if (!events && !progress->tty) {
        tell_tenths(progress, elapsed);
        return;
    }
    if (elapsed - progress->drawn < (events ? EVENT_SECONDS : REDRAW_SECONDS))
        return;
    progress->drawn = elapsed;
    if (events)
        tell_event(progress);
    else
        draw(progress, elapsed);
}

double by_progress_end(struct by_progress *progress)
{
    if (progress->style.json)
        tell_event(progress);
    else if (!progress->style.quiet && progress->tty && progress->drawn > 0)
        say("\r\033[K", 4, 4);
    return by_term_seconds() - progress->start;
}
