/* Writes the quality of each output, and what weights and activations cost. */
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <math.h>
#include <string.h>

static void put_decibel_cell(const struct by_doc_node *row, const char *key, struct by_str *html)
{
    by_str_puts(html, "<td class=\"number\">");
    by_html_decibels(html, by_report_number(row, key));
    by_str_puts(html, "</td>");
}

/* "7 of 8" */
static void put_classes(const struct by_doc_node *output, struct by_str *html)
{
    double rows = by_report_number(output, "rows"), same = by_report_number(output, "same_class");
    by_str_puts(html, "<td class=\"number\">");
    if (rows > 0 && !isnan(same)) {
        by_html_count(html, same);
        by_str_puts(html, " of ");
        by_html_count(html, rows);
    } else
        by_html_number(html, NAN);
    by_str_puts(html, "</td>");
}

/* What is wrong beyond noise. */
static void put_faults(const struct by_doc_node *output, struct by_str *html)
{
    double nonfinite = by_report_number(output, "nonfinite");
    double reshaped = by_report_number(output, "reshaped");
    by_str_puts(html, "<td>");
    if (nonfinite > 0) {
        by_html_count(html, nonfinite);
        by_str_puts(html, " values are NaN or infinite in this model alone");
    }
    if (reshaped > 0) {
        by_str_puts(html, nonfinite > 0 ? "; " : "");
        by_html_count(html, reshaped);
        by_str_puts(html, " samples have another shape");
    }
    by_str_puts(html, "</td>");
}

static void put_output(const struct by_doc_node *output, struct by_str *html)
{
    double error = by_report_number(output, "error_db");
    by_str_puts(html, "<tr><th scope=\"row\">");
    by_html_name(html, by_report_text(output, "name"));
    by_str_puts(html, "</th><td class=\"number\">");
    by_html_decibels(html, by_report_number(output, "sqnr_db"));
    if (!isnan(error)) {
        by_str_puts(html, " <span class=\"small\">\u00b1\u00a0");
        by_html_number(html, round(error * 100) / 100);
        by_str_puts(html, "</span>");
    }
    by_str_puts(html, "</td>");
    put_classes(output, html);
    put_faults(output, html);
    by_str_puts(html, "</tr>\n");
}

static void put_outputs(const struct by_doc_node *quality, struct by_str *html)
{
    const struct by_doc_node *outputs = by_report_filled(quality, "outputs");
    if (!outputs)
        return;
    by_str_puts(html, "<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>"
                      "<th scope=\"col\">Output</th><th scope=\"col\" class=\"number\">SQNR</th>"
                      "<th scope=\"col\" class=\"number\">Same class</th>"
                      "<th scope=\"col\"><span class=\"unseen\">Faults</span></th></tr></thead>\n"
                      "<tbody>\n");
    for (size_t i = 0; i < outputs->count; i++)
        put_output(outputs->items[i], html);
    by_str_puts(html, "</tbody>\n</table></div>\n");
}

/* On which samples. */
static void put_which(const struct by_doc_node *quality, struct by_str *html)
{
    const char *which = by_report_text(quality, "which");
    double samples = by_report_number(quality, "samples");
    if (isnan(samples))
        return;
    by_str_puts(html, "<p class=\"remark\">Beside the float model, on ");
    by_html_count(html, samples);
    by_str_puts(html, samples == 1 ? " sample" : " samples");
    if (which && !strcmp(which, "unseen"))
        by_str_puts(html, " that the quantization did not use");
    else if (which && !strcmp(which, "seen"))
        by_str_puts(html, " that calibration used, too");
    else if (which && !strcmp(which, "others"))
        by_str_puts(html, " of their own");
    by_str_puts(html, by_report_is_true(quality, "random") ? ", of random values" : "");
    by_str_puts(html, ". 20\u00a0dB is an error of a tenth, 40\u00a0dB of a hundredth.</p>\n");
}

static void put_sentence(const struct by_doc_node *part, const char *key, const char *before,
                         struct by_str *html)
{
    const char *text = by_report_text(part, key);
    if (!text)
        return;
    by_str_printf(html, "<p class=\"advice\">%s", before);
    by_html_text(html, text);
    by_str_puts(html, "</p>\n");
}

static void put_states(const struct by_doc_node *measured, struct by_str *html)
{
    const struct by_doc_node *states = by_report_filled(measured, "states");
    if (!states)
        return;
    by_str_puts(html,
                "<h3>What is lost by what</h3>\n<div class=\"scroll\"><table class=\"plain\">\n"
                "<thead><tr><th scope=\"col\">Output</th>"
                "<th scope=\"col\" class=\"number\">Passes</th>"
                "<th scope=\"col\" class=\"number\">Weights</th>"
                "<th scope=\"col\" class=\"number\">Activations</th>"
                "<th scope=\"col\" class=\"number\">Both</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < states->count; i++) {
        by_str_puts(html, "<tr><th scope=\"row\">");
        by_html_name(html, by_report_text(states->items[i], "output"));
        by_str_puts(html, "</th>");
        put_decibel_cell(states->items[i], "passes_db", html);
        put_decibel_cell(states->items[i], "weights_db", html);
        put_decibel_cell(states->items[i], "activations_db", html);
        put_decibel_cell(states->items[i], "both_db", html);
        by_str_puts(html, "</tr>\n");
    }
    by_str_puts(html, "</tbody>\n</table></div>\n<p class=\"remark\">SQNR of the output when that "
                      "part alone is quantized.</p>\n");
}

bool by_has_quality(const struct by_doc_node *root)
{
    return by_report_filled(root, "quality") || by_report_filled(root, "measured");
}

void by_section_quality(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *quality = by_report_filled(root, "quality");
    const struct by_doc_node *measured = by_report_filled(root, "measured");
    const char *cause = by_report_text(quality, "cause");
    const char *other = by_report_text(measured, "cause");
    put_outputs(quality, html);
    put_which(quality, html);
    put_sentence(quality, "unmeasured", "Not measured: ", html);
    put_sentence(quality, "cause", "", html);
    put_sentence(quality, "next", "To try next: ", html);
    put_states(measured, html);
    put_sentence(measured, "unmeasured", "Layers and tensors are not measured: ", html);
    if (other && (!cause || strcmp(cause, other) != 0))
        put_sentence(measured, "cause", "", html);
}
