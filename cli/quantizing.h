/*
 * What 'quantize' and 'plan' have in common: their options, and a run up to the plan.
 */
#ifndef BY_QUANTIZING_H
#define BY_QUANTIZING_H

#include "cli/plan_view.h"
#include "cli/running.h"
#include "report/report.h"
#include "search/mixed.h"
#include "settings/recipe/take.h"

/* Groups of a command whose settings have a `quantize`. `own` may be left out. */
#define BY_QUANTIZING_GROUPS(settings)                                                             \
    {&by_recipe_preset_group, offsetof(settings, quantize.recipe)},                                \
        {&by_data_group, offsetof(settings, quantize.running.data)},                               \
        {&by_prep_group, offsetof(settings, quantize.running.prep)},                               \
        {&by_quantize_statistics_group, offsetof(settings, quantize)},                             \
        {&by_recipe_types_group, offsetof(settings, quantize.recipe)},                             \
        {&by_recipe_nodes_group, offsetof(settings, quantize.recipe)},                             \
        {&by_recipe_pairs_group, offsetof(settings, quantize.recipe)},                             \
        {&by_recipe_graph_group, offsetof(settings, quantize.recipe)},                             \
        {&by_recipe_hardware_group, offsetof(settings, quantize.recipe)},                          \
        {&by_recipe_floats_group, offsetof(settings, quantize.recipe)},                            \
        {&by_recipe_nbits_group, offsetof(settings, quantize.recipe)},                             \
        {&by_engine_group, offsetof(settings, quantize.running.engine)},                           \
        {&by_model_group, offsetof(settings, quantize.running.model)},                             \
    {                                                                                              \
        &by_runtime_group, offsetof(settings, quantize.running.runtime)                            \
    }

struct by_quantizing {
    struct by_cli *cli;
    const struct by_quantize_settings *settings;
    struct by_quantize_options options;
    struct by_quality_options quality;
    struct by_quality_run quality_run; /* for 'quantize' */
    struct by_loaded loaded;
    struct by_quantization quantization;
    struct by_mixed mixed; /* what it was made with */
    struct by_progress progress;
    char stage[64]; /* that the progress is of */
    uint64_t bytes_before;
    struct by_plan_view view;
};

/* The options alone: everything that can be said before a file is opened. */
int by_quantizing_take(struct by_quantizing *quantizing, struct by_cli *cli,
                       const struct by_quantize_settings *settings, struct baryon_error *err);
int by_quantizing_load(struct by_quantizing *quantizing, struct baryon_error *err);
/* Up to the plan, and what there is to tell about it. */
int by_quantizing_plan(struct by_quantizing *quantizing, struct baryon_error *err);
/* After stages with progress. */
void by_quantizing_pause(struct by_quantizing *quantizing);
void by_quantizing_close(struct by_quantizing *quantizing);

/* "model", "config", "samples": what went in, a line each. */
void by_quantizing_head(const struct by_quantizing *quantizing, struct by_out *out);
/* The same as members of an object, with all options. */
void by_quantizing_head_json(const struct by_quantizing *quantizing, struct by_json *json);
/* The same for a report. */
struct by_report_head by_quantizing_report_head(const struct by_quantizing *quantizing);
/* How pictures among the samples are prepared; NULL: samples are random. */
const struct by_prep *by_quantizing_prep(const struct by_quantizing *quantizing);

#endif
