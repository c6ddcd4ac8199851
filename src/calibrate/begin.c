/* Checks the output file and prepares the model before a calibration starts. */
#include "calibrate/begin.h"

#include "base/file.h"
#include "base/format.h"
#include "engine/trace.h"
#include "ir/infer.h"
#include "onnx/check.h"

#include <string.h>

/* --- Files --- */

const char *by_calibrate_label(struct by_arena *arena, const char *path, struct baryon_error *err)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    const char *copy = by_arena_text(arena, path, size, err);
    return copy ? by_basename(copy) : NULL;
}

const char *by_calibrate_checkpoint(struct by_arena *arena, const char *out,
                                    struct baryon_error *err)
{
    const size_t size = strlen(out) + sizeof ".part";
    char *path = by_arena_alloc(arena, size, 1, err);
    if (path)
        by_format(path, size, "%s.part", out);
    return path;
}

int by_calibrate_check_out(const char *out, const char *part, const char *model, const char *data,
                           struct baryon_error *err)
{
    if (model && by_same_file(out, model))
        return by_fail(err, BARYON_ERR_USAGE, "--out is the input model");
    if (data && by_same_file(out, data))
        return by_fail(err, BARYON_ERR_USAGE, "--out is the file of the samples");
    return by_writer_probe(out, 0, err) < 0 ? -1 : by_writer_probe(part, 0, err);
}

int by_calibrate_judge_existing(const struct by_calibration *calibration, const char *out, bool all,
                                struct by_stats **stats, struct baryon_error *err)
{
    struct baryon_error problem;
    *stats = NULL;
    if (!by_file_exists(out))
        return 0;
    by_err_clear(&problem);
    if (by_stats_load(stats, out, &problem) == 0 &&
        (all ? by_calibration_matches_all : by_calibration_matches)(calibration, *stats))
        return 0;
    by_stats_close(*stats);
    *stats = NULL;
    by_fail(err, BARYON_ERR_USAGE,
            "the file exists already and is of another model, other samples or settings");
    by_err_hint(err, "--force overwrites it");
    return by_err_file(err, out);
}

/* --- The model --- */

static bool has_unknown(const struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value && !value->elem)
            return true;
    }
    return false;
}

static bool is_quantized(const struct baryon_graph *graph)
{
    static const char *const names[] = {"QuantizeLinear", "DequantizeLinear"};
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (node && node->op_type &&
            (!strcmp(node->op_type, names[0]) || !strcmp(node->op_type, names[1]) ||
             !strncmp(node->op_type, "QLinear", 7)))
            return true;
    }
    return false;
}

int by_calibrate_prepare(struct baryon_model *model, bool custom_operators,
                         const struct by_calibrate_options *options, struct baryon_error *err)
{
    /* ONNX Runtime runs nodes in any order, so converters leave them so. */
    const struct by_check_options rules = {.custom_ops = custom_operators, .any_order = true};
    if (by_model_check(model, &rules, NULL, NULL, err) < 0 || by_model_link(model, err) < 0 ||
        by_model_sort(model, err) < 0 || by_model_infer(model, NULL, err) < 0 ||
        (has_unknown(model->graph) &&
         by_model_trace(model, NULL, 0, &options->session, NULL, err) < 0))
        return -1;
    if (is_quantized(model->graph))
        by_log(options->session.log, BY_LOG_NOTICE,
               "the model is already quantized; statistics are collected for its float tensors");
    return 0;
}
