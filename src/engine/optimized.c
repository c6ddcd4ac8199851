/*
 * The graph that ONNX Runtime makes of a model when it optimizes it.
 *
 * The runtime opens the model and writes what it has made of it, weights in its own layout too,
 * into files of ours.
 */
#include "engine/optimized.h"

#include "engine/ort_path.h"
#include "ir/graph.h"
#include "onnx/external.h"
#include "onnx/load.h"

#include <string.h>

/* What is written there takes memory once more. */
#define WEIGHTS_MAX ((uint64_t)1 << 30)
/* From this size on they are in a file of their own. */
#define APART "65536"

/* --- rules --- */

struct survey {
    uint64_t bytes;
    bool halves, convolutions;
};

static bool is_half(int64_t elem)
{
    return elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16;
}

static int survey_tensor(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct survey *survey = context;
    size_t count, bytes;
    if (tensor->data_type == BY_ELEM_STRING) /* always in the model, however long they are */
        return 0;
    if (by_tensor_count(tensor, &count, err) ||
        by_elem_bytes(tensor->data_type, count, &bytes, err))
        return -1;
    survey->halves |= is_half(tensor->data_type);
    survey->bytes += bytes;
    return 0;
}

static int survey_nodes(void *context, struct baryon_graph *graph, unsigned depth,
                        struct baryon_error *err)
{
    struct survey *survey = context;
    (void)depth, (void)err;
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (by_node_is(node, "Cast"))
            survey->halves |= is_half(by_node_int(node, "to", 0));
        survey->convolutions |= by_node_is(node, "Conv");
    }
    return 0;
}

static bool takes_halves(const struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        if (info->type && info->type->tensor && is_half(info->type->tensor->elem_type))
            return true;
    }
    return false;
}

static bool is_only_cpu(const struct by_session_options *options)
{
    return !options || !options->provider_count ||
           (options->provider_count == 1 && strcmp(options->providers[0], "cpu") == 0);
}

int by_optimized_obstacle(const char **why, struct baryon_model *model,
                          const struct by_session_options *options, struct baryon_error *err)
{
    struct survey survey = {0};
    *why = NULL;
    if (by_model_each_tensor(model, survey_tensor, &survey, err) ||
        by_model_each_graph(model, survey_nodes, &survey, err))
        return -1;
    if (options && options->optimization == 0)
        *why = "optimization is off";
    else if (!is_only_cpu(options))
        *why = "an execution provider other than the CPU is used";
    else if (survey.halves || takes_halves(model->graph))
        *why = "it computes in 16-bit floats";
    else if (survey.bytes > WEIGHTS_MAX)
        *why = "it is too large";
    else if (!survey.convolutions)
        *why = "it has no convolutions, whose layout would change";
    return 0;
}

/* --- optimizing --- */

/* Files that the runtime writes: the weights' is beside the other. */
struct made_files {
    struct by_received graph, weights;
};

/* Weights in a file of their own are not copied into a message first. */
static int set_paths(void *context, struct by_session *session, OrtSessionOptions *built,
                     struct baryon_error *err)
{
    const struct made_files *files = context;
    const struct by_ort *ort = session->ort;
    const char *const entries[][2] = {
        {"session.disable_prepacking", "1"},
        {"session.optimized_model_external_initializers_file_name",
         by_basename(files->weights.path)},
        {"session.optimized_model_external_initializers_min_size_in_bytes", APART},
    };
    ORTCHAR_T *graph = by_ort_path(files->graph.path, err);
    const int status = graph ? by_ort_status(ort, ort->api->SetOptimizedModelFilePath(built, graph),
                                             "save the model", err)
                             : -1;
    by_free(graph);
    if (status)
        return -1;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (by_ort_status(ort, ort->api->AddSessionConfigEntry(built, entries[i][0], entries[i][1]),
                          "save the model", err))
            return -1;
    return 0;
}

/* Nothing is run here: one thread is enough. The runtime warns of the file, which nobody keeps. */
static int optimize(struct baryon_model *model, const struct by_session_options *options,
                    struct made_files *files, struct baryon_error *err)
{
    struct by_session_options alone =
        options ? *options : (struct by_session_options){.optimization = -1};
    struct by_session *session = NULL;
    alone.threads = 1;
    alone.branches = alone.cuts = 0;
    alone.log = NULL;
    const int status = by_session_open_extended(&session, model, 0, &alone, set_paths, files, err);
    by_session_close(session);
    return status;
}

/* --- what came of it --- */

static int find_weights(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    const struct by_optimized *optimized = context;
    struct by_external_ref ref;
    if (!by_tensor_is_external(tensor))
        return 0;
    if (by_external_parse(tensor, &optimized->model->arena, &ref, err))
        return -1;
    if (ref.offset > optimized->weights.size || ref.length > optimized->weights.size - ref.offset)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "its weights are truncated");
    tensor->external =
        (struct by_span){optimized->weights.bytes + (size_t)ref.offset, (size_t)ref.length};
    return 0;
}

static int load_optimized(struct by_optimized *optimized, struct baryon_error *err)
{
    const struct by_load_options later = {.no_external = true};
    return by_model_load_bytes(&optimized->model, optimized->file.bytes, optimized->file.size, NULL,
                               &later, err) ||
                   by_model_each_tensor(optimized->model, find_weights, optimized, err)
               ? -1
               : 0;
}

int by_optimized_open(struct by_optimized *optimized, struct baryon_model *model,
                      const struct by_session_options *options, struct baryon_error *err)
{
    static const char name[] = "the optimized model";
    struct made_files files;
    *optimized = (struct by_optimized){.file = {.fd = -1}, .weights = {.fd = -1}};
    if (by_received_open(&files.graph, name, err))
        return -1;
    if (by_received_open(&files.weights, name, err)) {
        (void)by_received_map(&files.graph, NULL, name, NULL);
        return -1;
    }
    int failed = optimize(model, options, &files, err);
    failed |= by_received_map(&files.graph, &optimized->file, name, failed ? NULL : err);
    failed |= by_received_map(&files.weights, &optimized->weights, name, failed ? NULL : err);
    if (!failed && load_optimized(optimized, err) == 0)
        return 0;
    by_optimized_close(optimized);
    return -1;
}

int by_optimized_give_up(const struct by_session_options *options, const char *what,
                         const struct baryon_error *problem, struct baryon_error *err)
{
    char text[512];
    if (problem->code == BARYON_ERR_NOMEM || problem->code == BARYON_ERR_IO) {
        if (err)
            *err = *problem;
        return -1;
    }
    baryon_error_format(problem, text, sizeof text);
    if (options)
        by_log(options->log, BY_LOG_DEBUG, "%s: %s", what, text);
    return 0;
}

void by_optimized_close(struct by_optimized *optimized)
{
    by_model_free(optimized->model);
    by_mapped_close(&optimized->file);
    by_mapped_close(&optimized->weights);
    *optimized = (struct by_optimized){.file = {.fd = -1}, .weights = {.fd = -1}};
}
