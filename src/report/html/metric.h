/*
 * Values of metrics, each in its unit.
 */
#ifndef BY_REPORT_METRIC_H
#define BY_REPORT_METRIC_H

#include "base/doc.h"
#include "base/str.h"

/* "21.3 dB" of sqnr, "66 %" of top1, a number of what is not known. */
void by_html_metric(struct by_str *html, const char *metric, double value);
/* "at least 20 dB", by the members least and most. */
void by_html_bound(struct by_str *html, const struct by_doc_node *goal);

#endif
