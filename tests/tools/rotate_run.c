/*
 * Rotates float models and saves them, for tests/diff/test_rotate.py.
 *
 *   rotate_run < jobs      lines "IN<tab>OUT<tab>WORD,WORD..."
 *
 * WORD: "heads", "stream", "products" (ends of streams may have some), "passes" (the default ones
 * run first). All nodes count as quantized. Prints for each job "OK" with heads, streams, norms,
 * products and what is left alone, or "FAIL message"; before it "LEFT message" for each that is.
 */
#include "adjust/rotate.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "onnx/save.h"
#include "pass/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSES_MAX 128

static void print_left(void *context, enum by_log_level level, const char *text)
{
    (void)context, (void)level;
    printf("LEFT\t%s\n", text);
}

static int run_passes(struct baryon_model *model, struct baryon_error *err)
{
    const struct by_session_options session = {.threads = 1, .optimization = 0};
    struct by_pass_context context = {.model = model, .session = &session};
    bool on[PASSES_MAX] = {false};
    by_passes_defaults(on, false, false);
    int status = by_origins_open(&context.origins, model, err);
    if (!status)
        status = by_passes_run(&context, on, NULL, err);
    by_origins_close(context.origins);
    return status;
}

static bool reads_weights(const struct baryon_node *node)
{
    const struct baryon_value *data = by_node_in(node, 0), *weight = by_node_in(node, 1);
    return data && !data->initializer && weight && weight->initializer &&
           weight->initializer->dims.count >= 2;
}

static int fill_plan(struct by_quant_plan *plan, struct baryon_error *err)
{
    static const struct by_tensor_spec spec = {.elem = BY_ELEM_INT8, .symmetric = true};
    const struct baryon_graph *graph = plan->model->graph;
    struct by_quant_node *nodes =
        by_arena_alloc(&plan->arena, graph->node.count, sizeof *nodes, err);
    if (!nodes)
        return -1;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        nodes[i] = (struct by_quant_node){.node = node, .state = BY_NODE_QUANTIZED};
        if (reads_weights(node) && by_quant_find(plan, by_node_in(node, 0)) == BY_NO_ROW &&
            by_quant_add(plan, by_node_in(node, 0), BY_ROLE_ACTIVATION, &spec, "test", err) ==
                BY_NO_ROW)
            return -1;
    }
    return by_quant_set_nodes(plan, nodes, graph->node.count, err);
}

static int rotate_model(struct baryon_model *model, const char *words, struct baryon_error *err)
{
    static struct by_recipe recipe;
    static const struct by_log log = {print_left, NULL, BY_LOG_DEBUG};
    const struct by_rotate_options options = {.heads = strstr(words, "heads") != NULL,
                                              .streams = strstr(words, "stream") != NULL,
                                              .multiplies = strstr(words, "products") != NULL,
                                              .log = &log};
    struct by_rotate_report report;
    struct by_quant_plan *plan;
    if (by_quant_plan_open(&plan, model, &recipe, err))
        return -1;
    int status = fill_plan(plan, err);
    if (!status)
        status = by_rotate_run(plan, &options, &report, err);
    if (!status)
        printf("OK\t%zu\t%zu\t%zu\t%zu\t%zu\n", report.heads, report.streams, report.norms,
               report.products, report.left);
    by_quant_plan_close(plan);
    return status;
}

static int run_job(const char *in, const char *out, const char *words, struct baryon_error *err)
{
    const struct by_save_options options = {.writer_flags = BY_WRITER_NO_SYNC};
    struct baryon_model *model;
    if (by_model_load(&model, in, NULL, err))
        return -1;
    int status = by_model_link(model, err);
    if (!status && strstr(words, "passes"))
        status = run_passes(model, err);
    if (!status)
        status = by_model_infer(model, NULL, err);
    if (!status)
        status = rotate_model(model, words, err);
    if (!status)
        status = by_model_settle(model, err);
    if (!status)
        status = by_graph_verify(model, err);
    if (!status)
        status = by_model_save(model, out, &options, err);
    by_model_free(model);
    return status;
}

int main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        struct baryon_error err;
        char *rest, *in = strtok_r(line, "\t\n", &rest), *out = strtok_r(NULL, "\t\n", &rest);
        const char *words = strtok_r(NULL, "\t\n", &rest);
        if (in && out && words && run_job(in, out, words, &err)) {
            char text[2048];
            baryon_error_format(&err, text, sizeof text);
            printf("FAIL\t%s\n", text);
        }
        fflush(stdout);
    }
    return 0;
}
