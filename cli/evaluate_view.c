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
