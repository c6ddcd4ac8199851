/* Writes the steps of a search as a table; the script draws them and the frontier above it. */
#include "report/html/markup.h"
#include "report/html/metric.h"
#include "report/html/sections.h"

#include <math.h>
#include <string.h>

static const char *const columns[] = {"Step",   "Choosing", "Last samples", "Cost",
                                      "Widths", "Size",     "Time"};

static void put_metrics(const struct by_doc_node *values, struct by_str *html)
{
    by_str_puts(html, "<td class=\"number\">");
    for (size_t i = 0; values && i < values->count; i++) {
        if (i)
            by_str_puts(html, "<br>");
        by_html_metric(html, values->pairs[i].key, by_report_value(values->pairs[i].value));
        if (values->count > 1) {
            by_str_puts(html, " <span class=\"small\">");
            by_html_text(html, values->pairs[i].key);
            by_str_puts(html, "</span>");
        }
    }
    by_str_puts(html, "</td>");
}

static void put_widths(const struct by_doc_node *widths, struct by_str *html)
{
    by_str_puts(html, "<td>");
    for (size_t i = 0; widths && i < widths->count; i++) {
        if (i)
            by_str_puts(html, "<br>");
        by_html_share(html, by_report_value(widths->pairs[i].value));
        by_str_puts(html, " ");
        by_html_text(html, widths->pairs[i].key);
    }
    by_str_puts(html, "</td>");
}

static const char *state_text(const char *state)
{
    if (!state)
        return NULL;
    return !strcmp(state, "best")      ? "best so far"
           : !strcmp(state, "final")   ? "written"
           : !strcmp(state, "dropped") ? "dropped"
                                       : state;
}

static void put_config(const char *config, struct by_str *html)
{
    by_str_puts(html, "<details><summary>Config</summary><pre>");
    by_html_text(html, config);
    by_str_puts(html, "</pre></details>");
}

static void put_step_name(const struct by_doc_node *step, size_t index, struct by_str *html)
{
    const char *text = by_report_text(step, "text"), *config = by_report_text(step, "config");
    const char *state = by_report_text(step, "state");
    by_str_printf(html,
                  "<tr data-step=\"%zu\"%s><th scope=\"row\"><span class=\"place\">%zu</span> ",
                  index, state && !strcmp(state, "final") ? " class=\"final\"" : "", index + 1);
    by_html_plain_name(html, by_report_text(step, "name"));
    if (state) {
        by_str_puts(html, " <span class=\"tag\">");
        by_html_text(html, state_text(state));
        by_str_puts(html, "</span>");
    }
    if (text) {
        by_str_puts(html, "<span class=\"note\">");
        by_html_text(html, text);
        by_str_puts(html, "</span>");
    }
    if (config)
        put_config(config, html);
    by_str_puts(html, "</th>");
}

static void put_step(const struct by_doc_node *step, size_t index, struct by_str *html)
{
    double bytes = by_report_number(step, "bytes"), seconds = by_report_number(step, "seconds");
    put_step_name(step, index, html);
    put_metrics(by_report_filled(step, "choose"), html);
    put_metrics(by_report_filled(step, "last"), html);
    by_str_puts(html, "<td class=\"number\">");
    by_html_number(html, by_report_number(step, "cost"));
    by_str_puts(html, "</td>");
    put_widths(by_report_filled(step, "widths"), html);
    by_str_puts(html, "<td class=\"number\">");
    by_html_bytes(html, bytes);
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_seconds(html, seconds);
    by_str_puts(html, "</td></tr>\n");
}

bool by_has_search(const struct by_doc_node *root)
{
    return by_report_filled(root, "steps");
}

void by_section_search(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *steps = by_report_filled(root, "steps");
    by_str_puts(html, "<div data-view=\"search\"></div>\n<div class=\"scroll\">"
                      "<table class=\"plain steps\">\n<thead><tr>");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        by_str_printf(html, "<th scope=\"col\"%s>%s</th>",
                      i == 0 || i == 4 ? "" : " class=\"number\"", columns[i]);
    by_str_puts(html, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < steps->count; i++)
        put_step(steps->items[i], i, html);
    by_str_puts(html,
                "</tbody>\n</table></div>\n"
                "<p class=\"remark\">Steps are chosen on the samples of \u201cChoosing\u201d; "
                "the last samples choose nothing. Cost 1 is all multiply-adds in 8 bits.</p>\n");
}
