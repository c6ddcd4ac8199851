/* Baryon: reports as pages. A part of <baryon.h>. */
#ifndef BARYON_REPORT_H
#define BARYON_REPORT_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Report
 *
 * The page that `baryon report FILE.json` makes: self-contained HTML, from the JSON
 * that --report writes. Memory goes back with baryon_bytes_free(); the page ends with NUL, which
 * html_size does not count.
 */
BARYON_API int baryon_report_html(const void *json, size_t size, void **html, size_t *html_size,
                                  struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
