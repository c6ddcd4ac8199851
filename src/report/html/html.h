/*
 * A report as one page of self-contained HTML.
 *
 * by_report_html() reads the JSON that --report writes (docs/design/report.md) and fills
 * assets/report.html with it. Sentences, figures and tables are in the page as they are;
 * charts and long tables are drawn by the script of the page from the same JSON, which the page
 * carries. A section appears when its data are there. The same JSON gives the same bytes.
 *
 * What comes from the JSON is text and never markup. The page's policy allows no network and no
 * script or style but its own, named by their hashes.
 */
#ifndef BY_REPORT_HTML_H
#define BY_REPORT_HTML_H

#include "base/str.h"

#define BY_REPORT_BYTES_MAX ((size_t)64 << 20)
#define BY_REPORT_NODES_MAX ((size_t)2 << 20) /* values of the JSON */

/* Appends the page. An error names line and column, and no file: by_err_file() adds it. */
int by_report_html(const char *json, size_t size, struct by_str *html, struct baryon_error *err);

/* A report in its file: as a page where the name ends in .html or .htm, else as it is. flags:
 * by_writer's. */
int by_report_write(const char *path, const struct by_str *json, unsigned flags,
                    struct baryon_error *err);

#endif
