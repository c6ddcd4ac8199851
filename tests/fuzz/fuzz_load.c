/*
 * A whole model: load, check, link, infer, edit, save, load again, save again.
 * The second saving has to give the bytes of the first.
 */
#include "ir/graph.h"
#include "ir/infer.h"
#include "onnx/check.h"
#include "onnx/save.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int edit(void *context, struct baryon_graph *graph, unsigned depth, struct baryon_error *err)
{
    (void)context, (void)depth;
    size_t count = graph->node.count;
    for (size_t i = 0; i < count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (i % 3 == 0 && node && by_node_in(node, 0) &&
            !by_graph_insert_on_edge(node, 0, "Identity", "", NULL, 0, err))
            return -1;
    }
    size_t removed;
    return by_graph_prune(graph, &removed, err);
}

static void save(struct baryon_model *model, struct by_str *out)
{
    if (by_model_save_bytes(model, out, NULL))
        abort();
}

static void edit_and_save(struct baryon_model *model)
{
    struct baryon_error err;
    struct baryon_model *again;
    struct by_str first, second;
    by_str_init(&first);
    by_str_init(&second);
    if (by_model_each_graph(model, edit, NULL, &err) == 0 &&
        by_model_save_bytes(model, &first, &err) == 0) {
        /* Names may have grown beyond what a file may have: that refusal is fine. */
        if (by_model_load_bytes(&again, first.text, first.size, NULL, NULL, &err) == 0) {
            save(again, &second);
            if (first.size != second.size || memcmp(first.text, second.text, first.size) != 0)
                abort();
            by_model_free(again);
        }
    }
    by_str_release(&first);
    by_str_release(&second);
}

/* With somebody who listens, all rules run. */
static bool listen(void *context, const struct by_finding *finding)
{
    size_t *errors = context;
    *errors += finding->severity == BY_FINDING_ERROR;
    return *errors < 100;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t errors = 0;
    struct baryon_model *model;
    struct baryon_error err;
    struct by_load_options options = {.no_external = true};
    if (by_model_load_bytes(&model, bytes, size, NULL, &options, &err))
        return 0;
    int refused = by_model_check(model, NULL, listen, &errors, &err);
    if (refused ? !errors && err.code != BARYON_ERR_NOMEM : errors)
        abort();
    if (by_model_link(model, &err) == 0 && by_graph_verify(model, &err))
        abort();
    if (by_model_link(model, &err) == 0) {
        by_model_infer(model, NULL, &err);
        if (!refused)
            edit_and_save(model);
    }
    by_model_free(model);
    return 0;
}
