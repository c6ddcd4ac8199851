/* Writes the time of each stage, with bars. */
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <math.h>

bool by_has_costs(const struct by_doc_node *root)
{
    return by_report_filled(root, "seconds");
}

static double longest(const struct by_doc_node *seconds)
{
    double most = 0;
    for (size_t i = 0; i < seconds->count; i++) {
        double value = by_report_value(seconds->pairs[i].value);
        most = value > most ? value : most;
    }
    return most;
}

void by_section_costs(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *seconds = by_report_filled(root, "seconds");
    double most = longest(seconds);
    double peak = by_report_number(by_doc_get(root, "memory"), "peak_bytes");
    by_str_puts(html, "<div class=\"scroll\"><table class=\"plain times\">\n<thead><tr>"
                      "<th scope=\"col\">Stage</th><th scope=\"col\" class=\"number\">Time</th>"
                      "<th scope=\"col\" class=\"bars\"><span class=\"unseen\">Bar</span></th>"
                      "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < seconds->count; i++) {
        double value = by_report_value(seconds->pairs[i].value);
        by_str_puts(html, "<tr><th scope=\"row\">");
        by_html_text(html, seconds->pairs[i].key);
        by_str_puts(html, "</th><td class=\"number\">");
        by_html_seconds(html, value);
        by_str_puts(html, "</td><td class=\"bars\">");
        if (most > 0)
            by_html_bar(html, value / most, NAN);
        by_str_puts(html, "</td></tr>\n");
    }
    by_str_puts(html, "</tbody>\n</table></div>\n");
    if (isnan(peak))
        return;
    by_str_puts(html, "<p class=\"remark\">Most memory in use at once: ");
    by_html_bytes(html, peak);
    by_str_puts(html, ".</p>\n");
}
