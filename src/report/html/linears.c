/* Writes the linear layers of a language model: along its layers, and a table of all. */
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_MAX  1024 /* of a decoder, that the chart has */
#define STATIC_ROWS 200  /* of a table that no script shortens */

/* Rows of a quantization, or of a search for bits. */
static const struct by_doc_node *rows_of(const struct by_doc_node *root)
{
    const struct by_doc_node *weights = by_report_filled(root, "weights");
    return weights ? weights : by_report_filled(root, "linears");
}

static const char *either_text(const struct by_doc_node *row, const char *key, const char *other)
{
    const char *text = by_report_text(row, key);
    return text ? text : by_report_text(row, other);
}

static double either_number(const struct by_doc_node *row, const char *key, const char *other)
{
    const double value = by_report_number(row, key);
    return isnan(value) ? by_report_number(row, other) : value;
}

static const char *weight_name(const struct by_doc_node *row)
{
    const char *name = either_text(row, "name", "layer");
    return name ? name : "";
}

/* The number between two dots of a name; LAYERS_MAX: there is none. */
static size_t layer_of(const char *name)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        char *end;
        const unsigned long number =
            dot[1] >= '0' && dot[1] <= '9' ? strtoul(dot + 1, &end, 10) : LAYERS_MAX;
        if (number < LAYERS_MAX && *end == '.')
            return number;
    }
    return LAYERS_MAX;
}

/* --- Along the layers --- */

struct along {
    double bits[LAYERS_MAX], values[LAYERS_MAX], error[LAYERS_MAX], count[LAYERS_MAX];
    size_t layers;
};

static double values_of(const struct by_doc_node *row)
{
    const struct by_doc_node *shape = by_report_filled(row, "shape");
    double values = 1;
    for (size_t i = 0; shape && i < shape->count; i++)
        values *= by_report_value(shape->items[i]);
    return values;
}

static void add_row(struct along *along, const struct by_doc_node *row)
{
    const size_t layer = layer_of(weight_name(row));
    const double bits = either_number(row, "bits", "bits_per_weight");
    const double error = either_number(row, "output_error", "relative_error");
    if (layer == LAYERS_MAX || isnan(bits))
        return;
    along->layers = layer >= along->layers ? layer + 1 : along->layers;
    along->bits[layer] += bits * values_of(row);
    along->values[layer] += values_of(row);
    if (isnan(error))
        return;
    along->error[layer] += error;
    along->count[layer]++;
}

/* What the bar of a layer shows: the measured divergence of a search, else the mean error. */
static double height_of(const struct along *along, const struct by_doc_node *kl, size_t layer)
{
    if (kl)
        return layer < kl->count ? by_report_value(kl->items[layer]) : (double)NAN;
    return along->count[layer] > 0 ? along->error[layer] / along->count[layer] : (double)NAN;
}

static void put_along(const struct along *along, const struct by_doc_node *kl, struct by_str *html)
{
    double most = 0;
    for (size_t i = 0; i < along->layers; i++)
        most = fmax(most, height_of(along, kl, i));
    for (size_t i = 0; i < along->layers; i++) {
        const double height = height_of(along, kl, i);
        if (!(along->values[i] > 0))
            continue;
        by_str_printf(html, "<tr><th scope=\"row\">%zu</th><td class=\"number\">", i);
        by_html_number(html, along->bits[i] / along->values[i]);
        by_str_puts(html, "</td><td class=\"number\">");
        if (kl)
            by_html_number(html, height);
        else
            by_html_share(html, height);
        by_str_puts(html, "</td><td class=\"bars\">");
        if (most > 0 && !isnan(height))
            by_html_bar(html, height / most, NAN);
        by_str_puts(html, "</td></tr>\n");
    }
}

bool by_has_decoder(const struct by_doc_node *root)
{
    const struct by_doc_node *rows = rows_of(root);
    for (size_t i = 0; rows && i < rows->count; i++)
        if (layer_of(weight_name(rows->items[i])) < LAYERS_MAX &&
            !isnan(either_number(rows->items[i], "bits", "bits_per_weight")))
            return true;
    return false;
}

void by_section_decoder(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *rows = rows_of(root), *kl = by_report_filled(root, "layers_kl");
    struct along along = {.layers = 0};
    for (size_t i = 0; i < rows->count; i++)
        add_row(&along, rows->items[i]);
    by_str_printf(html,
                  "<div class=\"scroll\"><table class=\"plain times\">\n<thead><tr>"
                  "<th scope=\"col\">Layer</th><th scope=\"col\" class=\"number\">Bits</th>"
                  "<th scope=\"col\" class=\"number\">%s</th>"
                  "<th scope=\"col\" class=\"bars\"><span class=\"unseen\">Bar</span></th>"
                  "</tr></thead>\n<tbody>\n",
                  kl ? "KL" : "Error");
    put_along(&along, kl, html);
    by_str_puts(html, "</tbody>\n</table></div>\n<p class=\"remark\">");
    by_str_puts(html, kl ? "Divergence from the float model, nats a token, with this layer alone "
                           "quantized: measured."
                         : "Squared error of the outputs of its linear layers, as a share of the "
                           "outputs\u2019 own squares; the mean. Without texts that of weights.");
    by_str_puts(html, "</p>\n");
}

/* --- The table --- */

bool by_has_linears(const struct by_doc_node *root)
{
    return rows_of(root);
}

static void put_linear(const struct by_doc_node *row, struct by_str *html)
{
    const char *type = either_text(row, "scheme", "type");
    by_str_puts(html, "<tr><th scope=\"row\">");
    by_html_name(html, weight_name(row));
    by_str_puts(html, "</th><td>");
    by_html_text(html, type ? type : "as it was");
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_number(html, either_number(row, "bits", "bits_per_weight"));
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_share(html, either_number(row, "output_error", "relative_error"));
    by_str_puts(html, "</td><td class=\"number\">");
    by_html_number(html, by_report_number(row, "predicted_kl"));
    by_str_puts(html, "</td></tr>\n");
}

void by_section_linears(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *rows = rows_of(root);
    by_str_puts(html, "<div data-view=\"table\"></div>\n<noscript>\n"
                      "<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>"
                      "<th scope=\"col\">Weight</th><th scope=\"col\">Type</th>"
                      "<th scope=\"col\">Bits</th><th scope=\"col\">Error</th>"
                      "<th scope=\"col\">KL, predicted</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < rows->count && i < STATIC_ROWS; i++)
        put_linear(rows->items[i], html);
    by_str_puts(html, "</tbody>\n</table></div>\n");
    if (rows->count > STATIC_ROWS) {
        by_str_printf(html, "<p class=\"remark\">The first %d of ", STATIC_ROWS);
        by_html_count(html, (double)rows->count);
        by_str_puts(html, "; with a script all are shown.</p>\n");
    }
    by_str_puts(html, "</noscript>\n");
}
