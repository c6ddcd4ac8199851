/* Writes the command that repeats the run, its options and what the log said. */
#include "report/html/markup.h"
#include "report/html/sections.h"

bool by_has_repeat(const struct by_doc_node *root)
{
    return by_report_text(root, "repeat") || by_report_filled(root, "options") ||
           by_report_filled(root, "notices");
}

static void put_value(const struct by_doc_node *value, struct by_str *html)
{
    if (value->kind == BY_DOC_LIST)
        for (size_t i = 0; i < value->count; i++) {
            by_str_puts(html, i ? ", " : "");
            put_value(value->items[i], html);
        }
    else if (value->kind == BY_DOC_MAP)
        by_str_puts(html, "\u2026");
    else
        by_html_text(html, value->text);
}

static void put_options(const struct by_doc_node *options, struct by_str *html)
{
    by_str_puts(html, "<h3>Options that are not at their default</h3>\n<ul class=\"options\">\n");
    for (size_t i = 0; i < options->count; i++) {
        by_str_puts(html, "<li><span class=\"label\">");
        by_html_text(html, options->pairs[i].key);
        by_str_puts(html, "</span> ");
        put_value(options->pairs[i].value, html);
        by_str_puts(html, "</li>\n");
    }
    by_str_puts(html, "</ul>\n");
}

static void put_notices(const struct by_doc_node *notices, struct by_str *html)
{
    by_str_puts(html, "<h3>Notices</h3>\n<ul class=\"notices\">\n");
    for (size_t i = 0; i < notices->count; i++) {
        const char *level = by_report_text(notices->items[i], "level");
        const char *text = by_report_text(notices->items[i], "text");
        by_str_puts(html, "<li>");
        if (level) {
            by_str_puts(html, "<span class=\"tag\">");
            by_html_text(html, level);
            by_str_puts(html, "</span> ");
        }
        if (text)
            by_html_text(html, text);
        by_str_puts(html, "</li>\n");
    }
    by_str_puts(html, "</ul>\n");
}

void by_section_repeat(const struct by_doc_node *root, struct by_str *html)
{
    const char *repeat = by_report_text(root, "repeat");
    const struct by_doc_node *options = by_report_filled(root, "options");
    const struct by_doc_node *notices = by_report_filled(root, "notices");
    if (repeat) {
        by_str_puts(html, "<div class=\"shell\" data-view=\"copy\"><pre tabindex=\"0\" "
                          "aria-label=\"Command that repeats this run\"><code>");
        by_html_text(html, repeat);
        by_str_puts(html, "</code></pre></div>\n");
    }
    if (options && options->kind == BY_DOC_MAP)
        put_options(options, html);
    if (notices)
        put_notices(notices, html);
}
