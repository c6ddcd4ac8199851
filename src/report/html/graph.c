/* Writes the layers along the graph and the tables of tensors and layers, for readers without a
 * script; with one they are drawn from the data. */
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <math.h>
#include <string.h>

#define STATIC_ROWS 200 /* of a table that no script shortens */

bool by_has_graph(const struct by_doc_node *root)
{
    return by_report_filled(root, "layers");
}

void by_section_graph(const struct by_doc_node *root, struct by_str *html)
{
    (void)root;
    by_str_puts(html,
                "<div data-view=\"strip\"></div>\n"
                "<noscript><p class=\"remark\">The chart is drawn by the script of this page; "
                "the figures are in the tables below.</p></noscript>\n");
}

static void put_cell_text(const struct by_doc_node *row, const char *key, struct by_str *html)
{
    const char *text = by_report_text(row, key);
    by_str_puts(html, "<td>");
    if (text)
        by_html_text(html, text);
    by_str_puts(html, "</td>");
}

static void put_cell_decibels(const struct by_doc_node *row, const char *key, struct by_str *html)
{
    by_str_puts(html, "<td class=\"number\">");
    by_html_decibels(html, by_report_number(row, key));
    by_str_puts(html, "</td>");
}

static void put_tensor(const struct by_doc_node *tensor, struct by_str *html)
{
    by_str_puts(html, "<tr><th scope=\"row\">");
    by_html_name(html, by_report_text(tensor, "name"));
    by_str_puts(html, "</th>");
    put_cell_text(tensor, "role", html);
    put_cell_text(tensor, "type", html);
    by_str_puts(html, "<td class=\"number\">");
    by_html_number(html, by_report_number(tensor, "scale"));
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_number(html, by_report_number(tensor, "min"));
    by_str_puts(html, " to ");
    by_html_number(html, by_report_number(tensor, "max"));
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_share(html, by_report_number(tensor, "clipped"));
    by_str_puts(html, "</td>");
    put_cell_decibels(tensor, "alone_db", html);
    put_cell_decibels(tensor, "whole_db", html);
    put_cell_text(tensor, "why", html);
    by_str_puts(html, "</tr>\n");
}

static void put_layer(const struct by_doc_node *layer, struct by_str *html)
{
    const char *name = by_report_text(layer, "name");
    by_str_puts(html, "<tr><th scope=\"row\">");
    by_html_name(html, name ? name : "");
    by_str_puts(html, "</th>");
    put_cell_text(layer, "op_type", html);
    put_cell_text(layer, "state", html);
    put_cell_text(layer, "activation", html);
    put_cell_text(layer, "weight", html);
    by_str_puts(html, "<td class=\"number\">");
    by_html_share(html, by_report_number(layer, "cost"));
    by_str_puts(html, "</td>");
    put_cell_decibels(layer, "weights_db", html);
    put_cell_decibels(layer, "input_db", html);
    put_cell_decibels(layer, "whole_db", html);
    by_str_puts(html, "</tr>\n");
}

static void put_heads(const char *const *heads, struct by_str *html)
{
    by_str_puts(html, "<thead><tr>");
    for (; *heads; heads++)
        by_str_printf(html, "<th scope=\"col\">%s</th>", *heads);
    by_str_puts(html, "</tr></thead>\n<tbody>\n");
}

static void put_rows(const struct by_doc_node *list, const char *title, const char *const *heads,
                     void (*put)(const struct by_doc_node *row, struct by_str *html),
                     struct by_str *html)
{
    if (!list)
        return;
    by_str_printf(html, "<h3>%s</h3>\n<div class=\"scroll\"><table class=\"plain\">\n", title);
    put_heads(heads, html);
    for (size_t i = 0; i < list->count && i < STATIC_ROWS; i++)
        put(list->items[i], html);
    by_str_puts(html, "</tbody>\n</table></div>\n");
    if (list->count > STATIC_ROWS) {
        by_str_printf(html, "<p class=\"remark\">The first %d of ", STATIC_ROWS);
        by_html_count(html, (double)list->count);
        by_str_puts(html, "; with a script all are shown.</p>\n");
    }
}

bool by_has_table(const struct by_doc_node *root)
{
    return by_report_filled(root, "tensors") || by_report_filled(root, "layers");
}

void by_section_table(const struct by_doc_node *root, struct by_str *html)
{
    static const char *const of_tensors[] = {"Tensor",  "Role",  "Type",        "Scale", "Values",
                                             "Clipped", "Alone", "Whole model", "Why",   NULL};
    static const char *const of_layers[] = {
        "Layer", "Operator",      "State",       "Activation",  "Weight",
        "Cost",  "Weights alone", "Input alone", "Whole model", NULL};
    by_str_puts(html, "<div data-view=\"table\"></div>\n<noscript>\n");
    put_rows(by_report_filled(root, "tensors"), "Tensors", of_tensors, put_tensor, html);
    put_rows(by_report_filled(root, "layers"), "Layers", of_layers, put_layer, html);
    by_str_puts(html, "</noscript>\n");
}
