/* Draws a histogram as bars in the terminal. */
#include "cli/histogram.h"

#include <math.h>
#include <stdio.h>

#define WIDTH     79 /* when the output is no terminal */
#define BAR_LEAST 10

struct scale {
    double most;      /* of the longest bar */
    unsigned columns; /* that it takes */
    bool logarithmic;
};

/* Of a count its length from 0 to 1. */
static double length_of(const struct scale *scale, double count)
{
    if (count <= 0)
        return 0;
    if (scale->logarithmic)
        return log1p(count) / log1p(scale->most);
    return count / scale->most;
}

/* Eighths of a column where the locale has them; what is there is never drawn as nothing. */
static void draw_bar(struct by_out *out, const struct scale *scale, double count)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    unsigned parts = out->utf8 ? 8 : 1;
    unsigned length = (unsigned)lround(length_of(scale, count) * scale->columns * parts);
    struct by_str bar;
    by_str_init(&bar);
    for (unsigned i = 0; i < length / parts; i++)
        by_str_puts(&bar, out->utf8 ? "\u2588" : "#");
    if (length % parts)
        by_str_puts(&bar, eighths[length % parts]);
    if (!length && count > 0)
        by_str_puts(&bar, out->utf8 ? eighths[1] : ".");
    if (bar.size)
        by_out_printf(out, BY_CYAN, " %s", by_str_text(&bar));
    out->text.failed |= bar.failed;
    by_str_release(&bar);
}

static void draw_share(struct by_out *out, double count, uint64_t total)
{
    double percent = 100 * count / (double)total;
    if (count > 0 && percent < 0.005)
        by_str_puts(&out->text, " < 0.01 %");
    else
        by_str_printf(&out->text, " %6.2f %%", percent);
}

static void draw_step(struct by_out *out, const struct by_histogram *histogram, size_t i,
                      const struct scale *scale)
{
    double low = histogram->low + (double)i * histogram->step;
    double high = low + histogram->step;
    by_str_printf(&out->text, "  %10.4g to %10.4g", low, high);
    draw_share(out, histogram->values[i], histogram->total);
    draw_bar(out, scale, histogram->values[i]);
    by_str_puts(&out->text, "\n");
}

static void draw_zeros(struct by_out *out, const struct by_histogram *histogram,
                       const struct scale *scale)
{
    by_str_printf(&out->text, "  %24s", "zeros");
    draw_share(out, (double)histogram->zeros, histogram->total);
    draw_bar(out, scale, (double)histogram->zeros);
    by_str_puts(&out->text, "\n");
}

#define LABEL_COLUMNS 37

/* Zeros stand where they belong: before the first step that has positive values. */
void by_histogram_draw(struct by_out *out, const struct by_histogram *histogram, bool logarithmic)
{
    unsigned columns = out->columns ? out->columns : WIDTH;
    struct scale scale = {.most = 1,
                          .columns = columns > LABEL_COLUMNS + BAR_LEAST ? columns - LABEL_COLUMNS
                                                                         : BAR_LEAST,
                          .logarithmic = logarithmic};
    bool drawn = !histogram->zeros;
    scale.most = fmax(scale.most, (double)histogram->zeros);
    for (size_t i = 0; i < histogram->count; i++)
        scale.most = fmax(scale.most, histogram->values[i]);
    for (size_t i = 0; i < histogram->count; i++) {
        double high = histogram->low + (double)(i + 1) * histogram->step;
        if (!drawn && high > 0) {
            draw_zeros(out, histogram, &scale);
            drawn = true;
        }
        draw_step(out, histogram, i, &scale);
    }
    if (!drawn)
        draw_zeros(out, histogram, &scale);
}
