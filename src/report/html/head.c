/* Writes the head of the page: what ran on what, the outcome in one sentence, its figures. */
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <math.h>
#include <string.h>

static void open_figure(struct by_str *html, const char *label)
{
    by_str_printf(html, "<li><span class=\"label\">%s</span> <span class=\"big\">", label);
}

/* What ends the texts, before a bar. */
static void end_texts(struct by_str *html)
{
    by_str_puts(html, "</span>");
}

static void close_figure(struct by_str *html)
{
    by_str_puts(html, "</li>\n");
}

/* What follows the large number, in small. */
static void put_note(struct by_str *html)
{
    by_str_puts(html, "</span> <span class=\"small\">");
}

/* The first goal on SQNR, which is what the figure of the quality is. */
static const struct by_doc_node *sqnr_goal(const struct by_doc_node *root)
{
    const struct by_doc_node *goals = by_report_filled(root, "goals");
    for (size_t i = 0; goals && i < goals->count; i++)
        if (!strcmp(by_report_text(goals->items[i], "metric"), "sqnr"))
            return goals->items[i];
    return NULL;
}

static void put_quality_figure(const struct by_doc_node *root, struct by_str *html)
{
    double quality = by_report_number(by_doc_get(root, "outcome"), "quality_db");
    const struct by_doc_node *goal = sqnr_goal(root);
    double least = by_report_number(goal, "least");
    if (isnan(quality))
        return;
    open_figure(html, "Quality, worst output");
    by_html_decibels(html, quality);
    put_note(html);
    if (isnan(least))
        by_str_puts(html, "SQNR");
    else {
        by_str_puts(html, "goal ");
        by_html_decibel_bound(html, least);
    }
    end_texts(html);
    double room = fmax(isnan(least) ? 40 : 2 * least, 1);
    by_html_bar(html, quality / room, isnan(least) ? NAN : least / room);
    close_figure(html);
}

static void put_bits_figure(const struct by_doc_node *root, struct by_str *html)
{
    double share = by_report_number(by_doc_get(root, "outcome"), "low_bits_share");
    if (isnan(share))
        return;
    open_figure(html, "In 8 bits or less");
    by_html_share(html, share);
    put_note(html);
    by_str_puts(html, "of multiply-adds");
    end_texts(html);
    by_html_bar(html, share, NAN);
    close_figure(html);
}

/* Of language models. */
static void put_weight_figure(const struct by_doc_node *root, struct by_str *html)
{
    const double bits = by_report_number(root, "bits_per_weight");
    if (isnan(bits))
        return;
    open_figure(html, "Bits a weight");
    by_html_number(html, bits);
    put_note(html);
    by_str_puts(html, "scales included");
    end_texts(html);
    close_figure(html);
}

/* What has the divergence: what a search has chosen, or the evaluation itself. */
static const struct by_doc_node *measured(const struct by_doc_node *root)
{
    const struct by_doc_node *chosen = by_report_filled(root, "chosen");
    return chosen ? chosen : root;
}

/* After a note. */
static void put_error(double error, void (*put)(struct by_str *html, double value),
                      struct by_str *html)
{
    if (isnan(error))
        return;
    by_str_puts(html, ", \u00b1\u00a0");
    put(html, error);
}

static void put_divergence_figure(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *chosen = measured(root);
    const struct by_doc_node *uniform = by_report_filled(root, "uniform");
    if (isnan(by_report_number(chosen, "kl")))
        return;
    open_figure(html, "KL divergence");
    by_html_number(html, by_report_number(chosen, "kl"));
    put_note(html);
    by_str_puts(html, "nats a token");
    put_error(by_report_number(chosen, "kl_error"), by_html_number, html);
    if (uniform) {
        by_str_puts(html, "; ");
        by_html_number(html, by_report_number(uniform, "kl"));
        by_str_puts(html, " with one type");
    }
    end_texts(html);
    close_figure(html);
}

static void put_agreement_figure(const struct by_doc_node *root, struct by_str *html)
{
    if (isnan(by_report_number(root, "same_top")))
        return;
    open_figure(html, "Same likeliest token");
    by_html_share(html, by_report_number(root, "same_top"));
    put_note(html);
    by_str_puts(html, "of tokens");
    put_error(by_report_number(root, "same_top_error"), by_html_share, html);
    end_texts(html);
    close_figure(html);
}

static void put_perplexity_figure(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *chosen = measured(root);
    const double reference = by_report_number(root, "reference_perplexity");
    if (isnan(by_report_number(chosen, "perplexity")))
        return;
    open_figure(html, "Perplexity");
    by_html_number(html, by_report_number(chosen, "perplexity"));
    put_note(html);
    if (!isnan(reference)) {
        by_str_puts(html, by_report_filled(root, "chosen") ? "the float model " : "the reference ");
        by_html_number(html, reference);
    } else {
        by_str_puts(html, "e to the mean loss");
    }
    put_error(by_report_number(chosen, "perplexity_error"), by_html_number, html);
    end_texts(html);
    close_figure(html);
}

static void put_size_figure(const struct by_doc_node *root, struct by_str *html)
{
    double before = by_report_number(root, "bytes_before"), bytes = by_report_number(root, "bytes");
    if (isnan(bytes))
        return;
    open_figure(html, "Size");
    by_html_bytes(html, bytes);
    if (before > 0) {
        put_note(html);
        by_str_puts(html, "of ");
        by_html_bytes(html, before);
    }
    end_texts(html);
    if (before > 0)
        by_html_bar(html, bytes / before, NAN);
    close_figure(html);
}

/* What the command does with its samples. */
static const char *used_for(const struct by_doc_node *root)
{
    return by_has_word("evaluate compare", by_report_text(root, "command")) ? "to compare on"
                                                                            : "to calibrate";
}

/* "12 to calibrate, 6 to choose, 6 to judge", as far as they are known. */
static void put_uses(const double counts[3], const char *first, struct by_str *html)
{
    const char *const uses[] = {first, "to choose", "to judge"};
    bool some = false;
    for (size_t i = 0; i < 3; i++) {
        if (isnan(counts[i]))
            continue;
        by_str_puts(html, some ? ", " : "");
        by_html_count(html, counts[i]);
        by_str_printf(html, " %s", uses[i]);
        some = true;
    }
}

/* Samples of a part of a search. */
static double part_count(const struct by_doc_node *splits, const char *part)
{
    return by_report_number(by_doc_get(splits, part), "count");
}

/* The quality is measured on samples of the calibration. */
static bool are_seen(const struct by_doc_node *root)
{
    const char *which = by_report_text(by_doc_get(root, "quality"), "which");
    return which && !strcmp(which, "seen");
}

static void put_samples_figure(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *splits = by_report_filled(root, "splits");
    double counts[3] = {by_report_number(root, "samples"), part_count(splits, "choose"),
                        part_count(splits, "last")};
    double sum = by_report_number(splits, "samples");
    if (splits)
        counts[0] = part_count(splits, "calibrate");
    else
        counts[2] = by_report_number(by_doc_get(root, "quality"), "samples");
    if (isnan(sum) && are_seen(root))
        sum = counts[0];
    else if (isnan(sum))
        sum = (isnan(counts[0]) ? 0 : counts[0]) + (isnan(counts[2]) ? 0 : counts[2]);
    if (!(sum > 0))
        return;
    open_figure(html, "Samples");
    by_html_count(html, sum);
    put_note(html);
    by_str_puts(html, by_report_is_true(root, "random") ? "random, " : "");
    put_uses(counts, used_for(root), html);
    end_texts(html);
    close_figure(html);
}

static double all_seconds(const struct by_doc_node *root)
{
    const struct by_doc_node *seconds = by_report_filled(root, "seconds");
    double sum = 0;
    for (size_t i = 0; seconds && i < seconds->count; i++) {
        double value = by_report_value(seconds->pairs[i].value);
        sum += isnan(value) ? 0 : value;
    }
    return seconds ? sum : by_report_number(root, "search_seconds");
}

static void put_time_figure(const struct by_doc_node *root, struct by_str *html)
{
    double peak = by_report_number(by_doc_get(root, "memory"), "peak_bytes");
    double seconds = all_seconds(root);
    if (isnan(seconds))
        return;
    open_figure(html, "Time");
    by_html_seconds(html, seconds);
    if (!isnan(peak)) {
        put_note(html);
        by_html_bytes(html, peak);
        by_str_puts(html, " of memory");
    }
    end_texts(html);
    close_figure(html);
}

/* "baryon auto: m.onnx to int8.onnx" */
static void put_subject(const struct by_doc_node *root, struct by_str *html)
{
    const char *model = by_report_text(root, "model"), *file = by_report_text(root, "file");
    by_str_puts(html, "<p class=\"subject\"><span class=\"command\">baryon ");
    by_html_text(html, by_report_text(root, "command"));
    by_str_puts(html, "</span>");
    if (model) {
        by_str_puts(html, " ");
        by_html_name(html, model);
    }
    if (file) {
        by_str_puts(
            html, model
                      ? " <span aria-hidden=\"true\">\u2192</span><span class=\"unseen\">to</span> "
                      : " ");
        by_html_name(html, file);
    }
    by_str_puts(html, "</p>\n");
}

static void put_badge(bool met, const char *text, struct by_str *html)
{
    by_str_printf(html, "<p class=\"badge %s\"><span aria-hidden=\"true\">%s</span> %s</p>\n",
                  met ? "met" : "missed", met ? "\u2713" : "\u2717", text);
}

/* Last samples may say otherwise than those that chose. */
static bool is_missed_last(const struct by_doc_node *goals)
{
    for (size_t i = 0; goals && goals->kind == BY_DOC_LIST && i < goals->count; i++)
        if (by_doc_get(goals->items[i], "met") && !by_report_is_true(goals->items[i], "met"))
            return true;
    return false;
}

static void put_badges(const char *goal, const struct by_doc_node *goals, struct by_str *html)
{
    const bool met = goal && !strcmp(goal, "met");
    if (met && is_missed_last(goals)) {
        put_badge(true, "Goal met on the samples that chose", html);
        put_badge(false, "Missed on the last samples", html);
    } else if (met) {
        put_badge(true, "Goal met", html);
    } else if (goal && !strcmp(goal, "missed")) {
        put_badge(false, "Goal missed", html);
    }
}

static void put_figures(const struct by_doc_node *root, struct by_str *html)
{
    static void (*const figures[])(const struct by_doc_node *, struct by_str *) = {
        put_quality_figure,    put_bits_figure,      put_weight_figure,
        put_divergence_figure, put_agreement_figure, put_perplexity_figure,
        put_size_figure,       put_samples_figure,   put_time_figure,
    };
    size_t before = html->size, open;
    by_str_puts(html, "<ul class=\"figures\">\n");
    open = html->size;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figures[i](root, html);
    if (html->size > open)
        by_str_puts(html, "</ul>\n");
    else
        by_str_cut(html, before);
}

void by_section_head(const struct by_doc_node *root, struct by_str *html)
{
    const struct by_doc_node *outcome = by_doc_get(root, "outcome");
    const char *text = by_report_text(outcome, "text");
    put_subject(root, html);
    put_badges(by_report_text(outcome, "goal"), by_doc_get(root, "goals"), html);
    by_str_puts(html, "<h1>");
    by_html_sentence(html, text ? text : "No outcome is given.");
    by_str_puts(html, "</h1>\n");
    put_figures(root, html);
}
