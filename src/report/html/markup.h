/*
 * Writing HTML: texts become harmless, numbers readable.
 *
 * A number that is NaN is not known: "–".
 */
#ifndef BY_REPORT_MARKUP_H
#define BY_REPORT_MARKUP_H

#include "base/str.h"

/* A text, also between the quotes of an attribute; what would be invisible or turn the text around
 * stands as \uNNNN. */
void by_html_text(struct by_str *html, const char *text);
/* The same of a sentence: units stay on the line of their numbers. */
void by_html_sentence(struct by_str *html, const char *text);
/* The same, cut in its middle when it is longer than a line of a table; turned as it is, not as its
 * neighbours. */
void by_html_name(struct by_str *html, const char *name);
void by_html_plain_name(struct by_str *html, const char *name); /* no word of a model */
/* JSON inside of a script element: no '<', '>', '&', no separators of lines, no blanks between
 * values. It must be valid. */
void by_html_json(struct by_str *html, const char *json, size_t size);

/* "21.3 dB", "equal" */
void by_html_decibels(struct by_str *html, double value);
/* A bound as it was given: "20 dB". */
void by_html_decibel_bound(struct by_str *html, double value);
/* "93 %", "0.02 %" */
void by_html_share(struct by_str *html, double share);
/* "13.4 MB" */
void by_html_bytes(struct by_str *html, double bytes);
/* "4,108" */
void by_html_count(struct by_str *html, double count);
/* "0.0314", four digits */
void by_html_number(struct by_str *html, double value);
/* "1.24 s", "3 min 20 s" */
void by_html_seconds(struct by_str *html, double seconds);
/* A bar of that share of its room, with a mark where `mark` is no NaN. */
void by_html_bar(struct by_str *html, double share, double mark);

#endif
