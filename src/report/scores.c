/* Writes the scores of an evaluation as JSON. */
#include "report/results.h"

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
