#include "cli/progress.h"

#include "cli/term.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define TELL_SECONDS   1.0
#define BAR_WIDTH      28

void by_progress_begin(struct by_progress *progress, const char *label, const char *unit,
                       uint64_t total, bool quiet, bool color)
{
    *progress = (struct by_progress){
        .label = label,
        .unit = unit,
        .total = total,
        .start = by_term_seconds(),
        .quiet = quiet,
        .tty = by_term_is_tty(STDERR_FILENO),
        .color = color,
        .utf8 = by_term_utf8(),
    };
}

static void say(const char *text, int length, size_t size)
{
    if (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, (size_t)length < size ? (size_t)length : size);
        (void)written;
    }
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
    double rate = elapsed > 0 ? (double)progress->done / elapsed : 0;
    fill_bar(progress, bar, share);
    time_left(rate > 0 ? (double)(progress->total - progress->done) / rate : 0, left, sizeof left);
    int length = snprintf(
        line, sizeof line,
        "\r%s  %s%s%s %3.0f %%  %" PRIu64 "/%" PRIu64 "  %.1f %s/s  %s left\033[K", progress->label,
        progress->color ? "\033[36m" : "", bar, progress->color ? "\033[0m" : "", share * 100,
        progress->done, progress->total, rate, progress->unit, left);
    say(line, length, sizeof line);
}

static void tell_tenths(struct by_progress *progress, double elapsed)
{
    char line[256];
    unsigned tenths = (unsigned)(progress->done * 10 / progress->total);
    if (tenths <= progress->tenths || elapsed < TELL_SECONDS)
        return;
    progress->tenths = tenths;
    int length =
        snprintf(line, sizeof line, "baryon: %s: %" PRIu64 " %% (%" PRIu64 " of %" PRIu64 " %s)\n",
                 progress->label, progress->done * 100 / progress->total, progress->done,
                 progress->total, progress->unit);
    say(line, length, sizeof line);
}

void by_progress_step(struct by_progress *progress, uint64_t done)
{
    progress->done = done;
    if (progress->quiet || !progress->total)
        return;
    double elapsed = by_term_seconds() - progress->start;
    if (!progress->tty) {
        tell_tenths(progress, elapsed);
        return;
    }
    if (elapsed - progress->drawn < REDRAW_SECONDS)
        return;
    progress->drawn = elapsed;
    draw(progress, elapsed);
}

double by_progress_end(struct by_progress *progress)
{
    if (!progress->quiet && progress->tty && progress->drawn > 0)
        say("\r\033[K", 4, 4);
    return by_term_seconds() - progress->start;
}
