/* Writes the goals and what became of them, and the scores of an evaluation. */
#include "report/html/markup.h"
#include "report/html/metric.h"
#include "report/html/sections.h"

#include <math.h>
#include <string.h>

/* "sqnr, mean of probs" */
static void put_subject_of(const struct by_doc_node *goal, struct by_str *html)
{
    const char *of = by_report_text(goal, "of"), *output = by_report_text(goal, "output");
    by_html_text(html, by_report_text(goal, "metric"));
    if (of) {
        by_str_puts(html, ", ");
        by_html_text(html, of);
    }
    if (output) {
        by_str_puts(html, " of ");
        by_html_name(html, output);
    }
}

static void put_verdict(bool met, struct by_str *html)
{
    by_str_printf(
        html, "<td><span class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> %s</span></td>",
        met ? "met" : "missed", met ? "\u2713" : "\u2717", met ? "met" : "missed");
}

/* A bar in which the bound has its mark. */
static void put_goal_bar(const struct by_doc_node *goal, struct by_str *html)
{
    double value = by_report_number(goal, "value");
    double bound = by_report_number(goal, "least");
    if (isnan(bound))
        bound = by_report_number(goal, "most");
    double room = fmax(fabs(bound) * 1.5, fabs(value) * 1.1);
    if (isnan(value) || !(bound > 0) || value < 0)
        return;
    by_html_bar(html, value / room, bound / room);
}

static void put_goal(const struct by_doc_node *goal, struct by_str *html)
{
    double value = by_report_number(goal, "value");
    by_str_puts(html, "<tr><th scope=\"row\">");
    put_subject_of(goal, html);
    by_str_puts(html, "</th><td>");
    by_html_bound(html, goal);
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_metric(html, by_report_text(goal, "metric"), value);
    by_str_puts(html, "</td><td class=\"bars\">");
    put_goal_bar(goal, html);
    by_str_puts(html, "</td>");
    if (by_doc_get(goal, "met"))
        put_verdict(by_report_is_true(goal, "met"), html);
    else
        by_str_puts(html, "<td>not measured</td>");
    by_str_puts(html, "</tr>\n");
}

bool by_has_goals(const struct by_doc_node *root)
{
    return by_report_filled(root, "goals");
}

void by_section_goals(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *goals = by_report_filled(root, "goals");
    by_str_puts(html,
                "<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>"
                "<th scope=\"col\">Metric</th><th scope=\"col\">Goal</th>"
                "<th scope=\"col\" class=\"number\">Value</th><th scope=\"col\" class=\"bars\">"
                "<span class=\"unseen\">Bar</span></th>"
                "<th scope=\"col\">Result</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < goals->count; i++)
        put_goal(goals->items[i], html);
    by_str_puts(html, "</tbody>\n</table></div>\n"
                      "<p class=\"remark\">On samples that neither calibration nor the search "
                      "used. The mark in a bar is the goal.</p>\n");
}

/* --- Scores of an evaluation --- */

static void put_score(const struct by_doc_node *score, struct by_str *html)
{
    const char *metric = by_report_text(score, "metric");
    const char *output = by_report_text(score, "output");
    const char *worst = by_report_text(score, "worst_sample");
    by_str_puts(html, "<tr><th scope=\"row\">");
    if (output)
        by_html_name(html, output);
    by_str_puts(html, "</th><td>");
    by_html_text(html, metric);
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_metric(html, metric, by_report_number(score, "mean"));
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_metric(html, metric, by_report_number(score, "worst"));
    by_str_puts(html, "</td><td>");
    if (worst)
        by_html_name(html, worst);
    by_str_puts(html, "</td></tr>\n");
}

static void put_missed(const struct by_doc_node *missed, struct by_str *html)
{
    by_str_puts(html, "<li>");
    put_subject_of(missed, html);
    by_str_puts(html, ": ");
    by_html_metric(html, by_report_text(missed, "metric"), by_report_number(missed, "value"));
    by_str_puts(html, ", goal ");
    by_html_bound(html, missed);
    by_str_puts(html, "</li>\n");
}

bool by_has_scores(const struct by_doc_node *root)
{
    return by_report_filled(root, "scores");
}

void by_section_scores(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *scores = by_report_filled(root, "scores");
    const struct by_doc_node *missed = by_report_filled(root, "missed");
    if (missed) {
        by_str_puts(html, "<h3>Goals that were missed</h3>\n<ul>\n");
        for (size_t i = 0; i < missed->count; i++)
            put_missed(missed->items[i], html);
        by_str_puts(html, "</ul>\n");
    }
    by_str_puts(html, "<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>"
                      "<th scope=\"col\">Output</th><th scope=\"col\">Metric</th>"
                      "<th scope=\"col\" class=\"number\">Mean</th>"
                      "<th scope=\"col\" class=\"number\">Worst</th>"
                      "<th scope=\"col\">Worst sample</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < scores->count; i++)
        put_score(scores->items[i], html);
    by_str_puts(html, "</tbody>\n</table></div>\n");
}
