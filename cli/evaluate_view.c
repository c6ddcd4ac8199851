/* Prints the scores of an evaluation and the missed goals, as text or JSON. */
#include "cli/evaluate_view.h"

#include <math.h>
#include <string.h>

static const struct by_score *find_metric_score(const struct by_evaluation *evaluation,
                                                const char *metric)
{
    const struct by_score *score;
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++)
        if (!strcmp(score->metric->name, metric))
            return score;
    return NULL;
}

/* NaN has a sign that means nothing. */
static double shown(double value)
{
    return isnan(value) ? (double)NAN : value;
}

void by_evaluation_lines(const struct by_evaluation *evaluation, struct by_out *out)
{
    static const struct line {
        const char *metric, *label;
    } lines[] = {
        {"cosine", "cos similarity"}, {"l2", "l2 distance"}, {"psnr", "psnr"}, {"ssim", "ssim"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct by_score *score = find_metric_score(evaluation, lines[i].metric);
        by_str_printf(&out->text, "Mean %s: %.6g\n", lines[i].label, shown(score->mean));
        by_str_printf(&out->text, "%s %s: %.6g\n", score->metric->higher ? "Min" : "Max",
                      lines[i].label, shown(score->worst));
    }
}

static bool is_missed(const struct by_evaluation *evaluation, const struct by_score *score)
{
    for (size_t i = 0; i < evaluation->missed.count; i++)
        if (evaluation->missed.at[i].score == score)
            return true;
    return false;
}

int by_evaluation_text(const struct by_evaluation *evaluation, struct by_out *out,
                       struct baryon_error *err)
{
    struct by_table table;
    const struct by_score *score, *last = NULL;
    by_table_init(&table, out);
    by_table_column(&table, "Outputs", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "measure", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "mean", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "worst", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "of sample", BY_LEFT, BY_DIM);
    by_table_column(&table, "", BY_LEFT, BY_RED);
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++) {
        const bool same = last && last->output == score->output;
        by_table_cell(&table, "%s", same ? "" : score->output);
        by_table_cell(&table, "%s", score->metric->name);
        by_table_cell(&table, "%.6g", shown(score->mean));
        by_table_cell(&table, "%.6g", shown(score->worst));
        by_table_cell(&table, "%s", score->worst_sample);
        by_table_cell(&table, "%s", is_missed(evaluation, score) ? "missed" : "");
        last = score;
    }
    return by_table_print(&table, 2, err);
}

static void score_json(const struct by_score *score, struct by_json *json)
{
    by_json_open(json, NULL, '{');
    if (score->output)
        by_json_text(json, "output", score->output);
    by_json_text(json, "metric", score->metric->name);
    by_json_double(json, "mean", score->mean);
    by_json_double(json, "worst", score->worst);
    by_json_text(json, "worst_sample", score->worst_sample);
    by_json_int(json, "samples", (int64_t)score->samples);
    by_json_close(json, '}');
}

static void missed_json(const struct by_missed_goal *missed, struct by_json *json)
{
    const struct by_goal *goal = missed->goal;
    by_json_open(json, NULL, '{');
    if (missed->score->output)
        by_json_text(json, "output", missed->score->output);
    by_json_text(json, "metric", goal->metric->name);
    by_json_text(json, "of", goal->worst ? "worst" : "mean");
    by_json_double(json, goal->most ? "most" : "least", goal->bound);
    by_json_double(json, "value", goal->worst ? missed->score->worst : missed->score->mean);
    by_json_close(json, '}');
}

void by_evaluation_json(const struct by_evaluation *evaluation, struct by_json *json)
{
    const struct by_score *score;
    by_json_int(json, "samples", (int64_t)evaluation->samples);
    by_json_int(json, "skipped", (int64_t)evaluation->skipped);
    by_json_bool(json, "compat", evaluation->settings.compat);
    by_json_open(json, "scores", '[');
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++)
        score_json(score, json);
    by_json_close(json, ']');
    by_json_open(json, "missed", '[');
    for (size_t i = 0; i < evaluation->missed.count; i++)
        missed_json(&evaluation->missed.at[i], json);
    by_json_close(json, ']');
}
