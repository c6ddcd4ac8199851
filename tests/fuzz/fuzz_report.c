/*
 * Reports and the pages that are made of them. Whatever the texts are, a page is valid UTF-8, has
 * its own two scripts, and nothing else that would run.
 */
#include "report/html/html.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static size_t count_of(const struct by_str *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text->text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

static void check_page(const struct by_str *html)
{
    demand(strlen(html->text) == html->size);
    demand(by_utf8_valid(html->text, html->size));
    demand(count_of(html, "<script") == 2 && count_of(html, "</script") == 2);
    demand(count_of(html, "<style") == 1 && count_of(html, "</style") == 1);
    demand(count_of(html, "<meta") == 5 && count_of(html, "<h1") == 1);
    demand(count_of(html, "<section") == count_of(html, "</section"));
    demand(count_of(html, "<table") == count_of(html, "</table"));
    demand(count_of(html, "<noscript") == count_of(html, "</noscript"));
    demand(!count_of(html, "<img") && !count_of(html, "<!--"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct baryon_error err;
    struct by_str html;
    by_err_clear(&err);
    by_str_init(&html);
    if (by_report_html((const char *)bytes, size, &html, &err)) {
        demand(err.message[0] && !err.file[0] && !html.size);
        demand(err.code == BARYON_ERR_INPUT || err.code == BARYON_ERR_UNSUPPORTED);
    } else
        check_page(&html);
    by_str_release(&html);
    return 0;
}
