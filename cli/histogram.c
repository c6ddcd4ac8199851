/* Reduces a histogram to a few steps and draws it as bars in the terminal. */
#include "cli/histogram.h"

#include <math.h>
#include <stdio.h>

#define WIDTH     79 /* when the output is no terminal */
#define BAR_LEAST 10

/* The part of a bin that lies in each step. */
static void share_out(struct by_histogram *histogram, const struct by_sketch_bin *bin)
{
    double width = bin->high - bin->low;
    double first = (bin->low - histogram->low) / histogram->step;
    double last = (bin->high - histogram->low) / histogram->step;
    size_t end = histogram->count - 1;
    size_t from = first > 0 ? (size_t)fmin(first, (double)end) : 0;
    size_t to = last > 0 ? (size_t)fmin(last, (double)end) : 0;
    for (size_t i = from; i <= to; i++) {
        double low = histogram->low + (double)i * histogram->step, high = low + histogram->step;
        /* The outermost steps take what a bin reaches beyond the extremes. */
        low = i == 0 ? bin->low : fmax(low, bin->low);
        high = i == end ? bin->high : fmin(high, bin->high);
        if (high > low)
            histogram->values[i] += (double)bin->count * (high - low) / width;
    }
}

int by_histogram_make(struct by_histogram *histogram, const struct by_sketch *sketch, size_t steps,
                      struct baryon_error *err)
{
    struct by_sketch_bin *bins;
    size_t count;
    *histogram = (struct by_histogram){.zeros = sketch->zeros, .total = by_sketch_finite(sketch)};
    if (by_sketch_bins(sketch, &bins, &count, err) < 0)
        return -1;
    double low = (double)sketch->min, high = (double)sketch->max;
    histogram->values = by_alloc_zero(steps, sizeof *histogram->values, err);
    histogram->low = low;
    histogram->step = (high - low) / (double)steps;
    histogram->count = histogram->step > 0 ? steps : 0;
    for (size_t i = 0; i < count && histogram->values && histogram->count; i++)
        if (bins[i].low != 0 || bins[i].high != 0)
            share_out(histogram, &bins[i]);
    by_free(bins);
    return histogram->values ? 0 : -1;
}

void by_histogram_release(struct by_histogram *histogram)
{
    by_free(histogram->values);
}

/* --- Drawing --- */

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
