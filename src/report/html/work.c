/* Writes what was quantized: operators, and what held-out samples chose. */
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <math.h>

/* The sums of operators, with a bar of the greatest. */
static double all_multiply_adds(const struct by_doc_node *operators)
{
    double sum = 0;
    for (size_t i = 0; i < operators->count; i++) {
        double value = by_report_number(operators->items[i], "multiply_adds");
        sum += value > 0 ? value : 0;
    }
    return sum;
}

static void put_type(const struct by_doc_node *row, const char *key, struct by_str *html)
{
    const char *type = by_report_text(row, key);
    by_str_puts(html, "<td>");
    if (type)
        by_html_text(html, type);
    by_str_puts(html, "</td>");
}

static void put_operator(const struct by_doc_node *row, double all, struct by_str *html)
{
    double share = by_report_number(row, "multiply_adds") / all;
    by_str_puts(html, "<tr><th scope=\"row\">");
    by_html_name(html, by_report_text(row, "op_type"));
    by_str_puts(html, "</th><td class=\"number\">");
    by_html_count(html, by_report_number(row, "quantized"));
    by_str_puts(html, " of ");
    by_html_count(html, by_report_number(row, "nodes"));
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_share(html, all > 0 ? share : NAN);
    by_str_puts(html, "</td><td class=\"bars\">");
    if (all > 0 && share > 0)
        by_html_bar(html, share, NAN);
    by_str_puts(html, "</td>");
    put_type(row, "activations", html);
    put_type(row, "weights", html);
    put_type(row, "biases", html);
    by_str_puts(html, "</tr>\n");
}

static void put_operators(const struct by_doc_node *operators, struct by_str *html)
{
    double all = all_multiply_adds(operators);
    by_str_puts(html, "<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>"
                      "<th scope=\"col\">Operator</th>"
                      "<th scope=\"col\" class=\"number\">Quantized</th>"
                      "<th scope=\"col\" class=\"number\">Multiply-adds</th>"
                      "<th scope=\"col\" class=\"bars\"><span class=\"unseen\">Bar</span></th>"
                      "<th scope=\"col\">Activations</th><th scope=\"col\">Weights</th>"
                      "<th scope=\"col\">Biases</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < operators->count; i++)
        put_operator(operators->items[i], all, html);
    by_str_puts(html, "</tbody>\n</table></div>\n");
}

/* "+3.7 dB on 8 samples" */
static void put_choice(const struct by_doc_node *choice, struct by_str *html)
{
    const char *text = by_report_text(choice, "text");
    double gain = by_report_number(choice, "gain_db");
    double samples = by_report_number(choice, "samples");
    by_str_puts(html, "<li>");
    by_html_text(html, text ? text : "a choice");
    if (!isnan(gain)) {
        by_str_puts(html, ": <strong>");
        by_str_puts(html, gain > 0 ? "+" : "");
        by_html_decibels(html, gain);
        by_str_puts(html, "</strong>");
    }
    if (!isnan(samples)) {
        by_str_puts(html, " on ");
        by_html_count(html, samples);
        by_str_puts(html, samples == 1 ? " held-out sample" : " held-out samples");
    }
    by_str_puts(html, "</li>\n");
}

bool by_has_work(const struct by_doc_node *root)
{
    return by_report_filled(root, "operators") || by_report_filled(root, "choices");
}

void by_section_work(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *operators = by_report_filled(root, "operators");
    const struct by_doc_node *choices = by_report_filled(root, "choices");
    if (operators)
        put_operators(operators, html);
    if (!choices)
        return;
    by_str_puts(html, "<h3>What samples chose</h3>\n<ul>\n");
    for (size_t i = 0; i < choices->count; i++)
        put_choice(choices->items[i], html);
    by_str_puts(html, "</ul>\n");
}
