/* Writes the windows of a text on which a language model was evaluated. */
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <math.h>

#define ROWS_MAX 2000

/* Of the bars: the greatest divergence, or perplexity where there is no reference. */
static double height_of(const struct by_doc_node *window)
{
    const double kl = by_report_number(window, "kl");
    return isnan(kl) ? by_report_number(window, "perplexity") : kl;
}

static void put_cell(const struct by_doc_node *window, const char *key, struct by_str *html)
{
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_number(html, by_report_number(window, key));
}

static void put_window(const struct by_doc_node *window, size_t index, double most, bool compared,
                       struct by_str *html)
{
    by_str_printf(html, "<tr><th scope=\"row\">%zu</th><td class=\"number\">", index);
    by_html_number(html, by_report_number(window, "perplexity"));
    if (compared) {
        put_cell(window, "reference_perplexity", html);
        put_cell(window, "kl", html);
        by_str_puts(html, "</td><td class=\"number\">");
        by_html_share(html, by_report_number(window, "same_top"));
    }
    by_str_puts(html, "</td><td class=\"bars\">");
    if (most > 0)
        by_html_bar(html, height_of(window) / most, NAN);
    by_str_puts(html, "</td></tr>\n");
}

bool by_has_windows(const struct by_doc_node *root)
{
    return by_report_filled(root, "by_window");
}

void by_section_windows(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *windows = by_report_filled(root, "by_window");
    const bool compared = !isnan(by_report_number(root, "kl"));
    double most = 0;
    for (size_t i = 0; i < windows->count; i++)
        most = fmax(most, height_of(windows->items[i]));
    by_str_puts(html, "<div class=\"scroll\"><table class=\"plain times\">\n<thead><tr>"
                      "<th scope=\"col\">Window</th>"
                      "<th scope=\"col\" class=\"number\">Perplexity</th>");
    if (compared)
        by_str_puts(html, "<th scope=\"col\" class=\"number\">Reference</th>"
                          "<th scope=\"col\" class=\"number\">KL</th>"
                          "<th scope=\"col\" class=\"number\">Same token</th>");
    by_str_puts(html, "<th scope=\"col\" class=\"bars\"><span class=\"unseen\">Bar</span></th>"
                      "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < windows->count && i < ROWS_MAX; i++)
        put_window(windows->items[i], i, most, compared, html);
    by_str_puts(html, "</tbody>\n</table></div>\n<p class=\"remark\">");
    if (windows->count > ROWS_MAX) {
        by_str_printf(html, "The first %d of ", ROWS_MAX);
        by_html_count(html, (double)windows->count);
        by_str_puts(html, " windows. ");
    }
    by_str_puts(html, compared ? "KL is the divergence from the reference, nats a token; the same "
                                 "token: the share for which both find the same next one likeliest."
                               : "Bars show the perplexity.");
    by_str_puts(html, "</p>\n");
}
