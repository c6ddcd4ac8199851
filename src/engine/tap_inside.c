/*
 * Taps inside the graph that ONNX Runtime has optimized.
 *
 * The runtime opens the model with the tapped values as outputs, so that no fusion hides them. What
 * it has made of it is opened again, without optimizations and with taps. A value that lies in
 * blocks and was put in order only to be an output is looked at as it lies.
 */
#include "engine/tap_internal.h"
#include "ir/graph.h"
#include "onnx/external.h"
#include "onnx/load.h"

#include <string.h>

/* --- optimizing --- */

static int give_back(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    (void)err;
    by_tensor_done(context, tensor);
    return 0;
}

static int optimize(struct by_optimized *optimized, const struct by_tapped *tapped,
                    struct baryon_model *model, const struct by_session_options *options,
                    struct baryon_error *err)
{
    struct by_tap_edit edit = {.model = NULL};
    by_arena_init(&edit.arena, 0);
    const int failed = by_taps_show(&edit, tapped, model, err) ||
                       by_optimized_open(optimized, model, options, err);
    by_taps_take_out(&edit);
    by_arena_release(&edit.arena);
    by_trim_memory(); /* of the weights that it had */
    /* From here on the runtime has weights of its own. */
    return failed ? -1 : by_model_each_tensor(model, give_back, model, err);
}

/* --- what came of it --- */

/* The outputs that were there before stand in front. */
static int drop_shown(struct baryon_model *optimized, const struct baryon_model *model,
                      struct baryon_error *err)
{
    struct by_ptrs *outputs = &optimized->graph->output;
    const struct by_ptrs *wanted = &model->graph->output;
    bool same = outputs->count >= wanted->count;
    for (size_t i = 0; same && i < wanted->count; i++) {
        const struct by_value_info *one = outputs->at[i], *other = wanted->at[i];
        same = one->name && strcmp(one->name, other->name) == 0;
    }
    if (!same)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "its outputs are different");
    outputs->count = wanted->count;
    return 0;
}

static bool is_ordering(const struct baryon_node *node)
{
    return node && node->domain && strcmp(node->domain, "com.microsoft.nchwc") == 0 &&
           strcmp(node->op_type, "ReorderOutput") == 0 && !by_node_int(node, "channels_last", 0) &&
           by_node_int(node, "channels", 0) > 0 && by_node_in(node, 0) &&
           by_node_in(node, 0)->producer;
}

/* Only taps on one value can look at blocks. */
static int point_to(struct by_tapped *tapped, struct by_tap_point *tap,
                    const struct baryon_model *optimized, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < tap->count; i++) {
        const char *name = tap->values[i].name;
        const struct baryon_value *value = by_graph_value(optimized->graph, name);
        if (!value)
            return by_fail(err, BARYON_ERR_UNSUPPORTED, "it no longer has the tensor %s",
                           by_quote(quoted, name));
        if (tap->count > 1 || !is_ordering(value->producer))
            continue;
        const char *blocked = by_node_in(value->producer, 0)->name;
        tap->channels = (size_t)by_node_int(value->producer, "channels", 0);
        tap->blocked = by_arena_text(&tapped->arena, blocked, strlen(blocked), err);
        if (!tap->blocked)
            return -1;
    }
    return 0;
}

static int drop_ordering(struct baryon_model *optimized, struct baryon_error *err)
{
    struct baryon_graph *graph = optimized->graph;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (is_ordering(node) && !by_node_out(node, 0)->use_count &&
            by_graph_remove_node(node, err))
            return -1;
    }
    return by_graph_settle(graph, err);
}

/* --- blocks --- */

/*
 * y = ReorderInput(x), x of 1 x 4 x 1 x 1: y has as many channels as a block. The runtime tells it
 * in no other way.
 */
static const char probe[] =
    "\x08\x08:V\n)\n\x01x\x12\x01y\"\x0cReorderInput:\x13"
    "com.microsoft.nchwc\x12\x01gZ\x1b\n\x01x\x12\x16\n\x14\x08\x01\x12\x10\n\x02\x08\x01\n\x02"
    "\x08\x04\n\x02\x08\x01\n\x02\x08\x01"
    "b\t\n\x01y\x12\x04\n\x02\x08\x01"
    "B\x17\n\x13"
    "com.microsoft.nchwc\x10\x01"
    "B\x04\n\x00\x10\r";

static int run_probe(struct by_session *session, size_t *block, struct baryon_error *err)
{
    static const float values[4];
    const struct by_array x = {.name = "x",
                               .elem = BY_ELEM_FLOAT,
                               .rank = 4,
                               .dims = {1, 4, 1, 1},
                               .data = values,
                               .size = sizeof values};
    struct by_run *run;
    size_t count;
    if (by_session_run(session, &x, 1, NULL, 0, &run, err))
        return -1;
    const struct by_array *y = by_run_outputs(run, &count);
    const bool known = count == 1 && y->rank == 4 && y->dims[1] > 0;
    *block = known ? (size_t)y->dims[1] : 0;
    by_run_free(run);
    return known ? 0 : by_fail(err, BARYON_ERR_UNSUPPORTED, "the size of its blocks is unknown");
}

static int find_block(size_t *block, const struct by_session_options *options,
                      struct baryon_error *err)
{
    const struct by_session_options alone = {.ort_path = options ? options->ort_path : NULL,
                                             .threads = 1};
    struct by_session *session;
    if (by_session_open_bytes(&session, probe, sizeof probe - 1, &alone, err))
        return -1;
    int failed = run_probe(session, block, err);
    by_session_close(session);
    return failed;
}

static int set_blocks(struct by_tapped *tapped, const struct by_session_options *options,
                      struct baryon_error *err)
{
    size_t block = 0;
    for (size_t i = 0; i < tapped->count; i++) {
        if (!tapped->taps[i].blocked)
            continue;
        if (!block && find_block(&block, options, err))
            return -1;
        tapped->taps[i].block = block;
    }
    return 0;
}

/* --- all of it --- */

static int make(struct by_optimized *optimized, struct by_tapped *tapped,
                struct baryon_model *model, const struct by_session_options *options,
                struct baryon_error *err)
{
    if (optimize(optimized, tapped, model, options, err) ||
        drop_shown(optimized->model, model, err) || by_model_link(optimized->model, err))
        return -1;
    for (size_t i = 0; i < tapped->count; i++)
        if (point_to(tapped, &tapped->taps[i], optimized->model, err))
            return -1;
    return set_blocks(tapped, options, err) || drop_ordering(optimized->model, err) ? -1 : 0;
}

static const char original[] = "taps are inserted into the original model";

static void go_back(struct by_optimized *inside, struct by_tapped *tapped)
{
    by_optimized_close(inside);
    for (size_t i = 0; i < tapped->count; i++)
        tapped->taps[i].blocked = NULL;
}

int by_tap_inside_open(struct by_optimized *inside, struct by_tapped *tapped,
                       struct baryon_model *model, const struct by_session_options *options,
                       struct baryon_error *err)
{
    const char *why;
    struct baryon_error problem;
    *inside = (struct by_optimized){.file = {.fd = -1}, .weights = {.fd = -1}};
    if (by_optimized_obstacle(&why, model, options, err))
        return -1;
    if (why) {
        if (options)
            by_log(options->log, BY_LOG_DEBUG, "%s: %s", original, why);
        return 0;
    }
    by_err_clear(&problem);
    if (make(inside, tapped, model, options, &problem) == 0)
        return 0;
    go_back(inside, tapped);
    return by_optimized_give_up(options, original, &problem, err);
}
