/* Writes the samples and their quality; the script shows what each model makes of them. */
#include "report/html/markup.h"
#include "report/html/sections.h"

bool by_has_examples(const struct by_doc_node *root)
{
    return by_report_filled(root, "examples");
}

static void put_example(const struct by_doc_node *example, struct by_str *html)
{
    const char *name = by_report_text(example, "sample"), *rank = by_report_text(example, "rank");
    by_str_puts(html, "<li>");
    by_html_name(html, name ? name : "sample");
    if (rank) {
        by_str_puts(html, ", ");
        by_html_text(html, rank);
    }
    by_str_puts(html, ": ");
    by_html_decibels(html, by_report_number(example, "quality_db"));
    by_str_puts(html, "</li>\n");
}

void by_section_examples(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *examples = by_report_filled(root, "examples");
    by_str_puts(html, "<div data-view=\"samples\"></div>\n<noscript>\n<ul>\n");
    for (size_t i = 0; i < examples->count; i++)
        put_example(examples->items[i], html);
    by_str_puts(html, "</ul>\n</noscript>\n");
}
