/* Writes values of metrics in their units, and what goals ask of them. */
#include "report/html/metric.h"

#include "report/html/markup.h"
#include "report/html/shape.h"

#include <math.h>

void by_html_metric(struct by_str *html, const char *metric, double value)
{
    if (by_has_word("sqnr psnr", metric))
        by_html_decibels(html, value);
    else if (by_has_word("top1 top5 accuracy accuracy5 baseline-accuracy baseline-accuracy5",
                         metric))
        by_html_share(html, value);
    else
        by_html_number(html, value);
}

static void put_bound(struct by_str *html, const char *metric, double value)
{
    if (by_has_word("sqnr psnr", metric))
        by_html_decibel_bound(html, value);
    else
        by_html_metric(html, metric, value);
}

void by_html_bound(struct by_str *html, const struct by_doc_node *goal)
{
    double least = by_report_number(goal, "least"), most = by_report_number(goal, "most");
    const char *metric = by_report_text(goal, "metric");
    if (isnan(least) && isnan(most))
        by_html_number(html, NAN);
    if (!isnan(least)) {
        by_str_puts(html, "at least ");
        put_bound(html, metric, least);
    }
    if (!isnan(most)) {
        by_str_puts(html, isnan(least) ? "at most " : ", at most ");
        put_bound(html, metric, most);
    }
}
