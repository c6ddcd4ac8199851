/* The public interface: reports as pages. */
#include "api/need.h"
#include "report/html/html.h"

int baryon_report_html(const void *json, size_t size, void **html, size_t *html_size,
                       struct baryon_error *err)
{
    struct by_str page;
    if (BY_NEED(json, err) || BY_NEED(html, err) || BY_NEED(html_size, err))
        return -1;
    by_str_init(&page);
    if (by_report_html(json, size, &page, err) < 0 || by_str_error(&page, err) < 0) {
        by_str_release(&page);
        return -1;
    }
    *html = page.text;
    *html_size = page.size;
    return 0;
}
