/* Rotates the heads of attentions and the residual streams of a model. */
#include "adjust/rotate.h"

#include "adjust/rotate_internal.h"
#include "quant/place.h"

#include <string.h>

#define SEED 24u

struct by_rotating {
    struct by_smooth smooth;
    const struct by_rotate_options *options;
    bool write;
    struct by_rotate_report *report;
};

static void tell_left(const struct by_rotating *rotating, const char *name, const char *why)
{
    rotating->report->left++;
    by_log(rotating->options->log, BY_LOG_INFO, "rotation leaves '%s' alone: %s", name, why);
}

/* --- Heads --- */

/* Each channel stands once in the constant. */
static bool is_whole(struct by_smooth *smooth, const struct by_smooth_edit *edit, size_t channels,
                     bool *whole, struct baryon_error *err)
{
    bool *seen = by_arena_alloc(&smooth->arena, channels, sizeof *seen, err);
    size_t count = 0;
    *whole = !edit->multiplies && !edit->reader;
    if (!seen)
        return false;
    memset(seen, 0, channels * sizeof *seen);
    for (size_t i = 0; *whole && i < edit->count; i++) {
        const int32_t number = edit->map[i];
        if (number == BY_SMOOTH_NONE)
            continue;
        *whole = !seen[number];
        seen[number] = true;
        count++;
    }
    *whole = *whole && count == channels;
    return true;
}

static int check_edits(struct by_smooth *smooth, size_t channels, bool *fits,
                       struct baryon_error *err)
{
    for (size_t i = 0; *fits && i < smooth->edits.count; i++) {
        if (!is_whole(smooth, &smooth->edits.at[i], channels, fits, err))
            return -1;
        if (!*fits)
            return by_smooth_refuse(smooth, fits, err, "'%s' is not one value a channel",
                                    smooth->edits.at[i].value->name);
    }
    return 0;
}

static int find_heads(struct by_smooth *smooth, const struct by_smooth_group *group, bool *fits,
                      struct baryon_error *err)
{
    struct by_smooth_spread spread;
    smooth->edits.count = 0;
    smooth->heads.channels = NULL;
    if (group->why || group->tensor->use_count != group->layers.count ||
        !by_smooth_is_free(group->tensor))
        return by_smooth_refuse(smooth, fits, err, "%s",
                                group->why ? group->why : "other nodes read it, too");
    if (by_smooth_spread_axis(&smooth->arena, group->tensor->shape->rank, group->axis,
                              group->channels, &spread, err) < 0 ||
        by_smooth_back(smooth, group->tensor, &spread, fits, err) < 0)
        return -1;
    if (*fits && !smooth->heads.channels)
        return by_smooth_refuse(smooth, fits, err, "no attention computes it");
    if (*fits && (smooth->heads.size < 2 || !by_rotation_fits(smooth->heads.size)))
        return by_smooth_refuse(smooth, fits, err, "no rotation for heads of %zu channels",
                                smooth->heads.size);
    return *fits ? check_edits(smooth, group->channels, fits, err) : 0;
}

static int write_heads(struct by_smooth *smooth, const struct by_smooth_group *group,
                       struct baryon_error *err)
{
    struct by_rotation rotation;
    if (by_rotation_make(&rotation, smooth->heads.size, BY_ROTATION_HADAMARD, SEED, err) < 0)
        return -1;
    const struct by_rotate_turn turn = {
        .rotation = &rotation, .size = group->channels, .channels = smooth->heads.channels};
    int status = 0;
    for (size_t i = 0; status == 0 && i < smooth->edits.count; i++) {
        const struct by_smooth_edit *from = &smooth->edits.at[i];
        const struct by_rotate_edit edit = {
            .value = from->value, .inner = from->inner, .count = from->count, .map = from->map};
        status = by_rotate_write(smooth, &edit, &turn, err);
    }
    for (size_t i = 0; status == 0 && i < group->layers.count; i++) {
        const struct by_smooth_layer *layer = &group->layers.at[i];
        const struct by_rotate_edit edit = {
            .value = layer->weight, .inner = layer->inner, .count = layer->ins};
        status = by_rotate_write(smooth, &edit, &turn, err);
    }
    by_rotation_free(&rotation);
    return status;
}

static int do_heads(struct by_rotating *rotating, struct baryon_error *err)
{
    struct by_smooth *smooth = &rotating->smooth;
    if (by_smooth_find(smooth, err) < 0)
        return -1;
    for (size_t i = 0; i < smooth->groups.count; i++) {
        const struct by_smooth_group *group = &smooth->groups.at[i];
        bool fits;
        if (find_heads(smooth, group, &fits, err) < 0)
            return -1;
        rotating->report->heads += fits;
        if (!fits)
            tell_left(rotating, group->tensor->name, smooth->refusal);
        else if (rotating->write && write_heads(smooth, group, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Streams --- */

/* What a norm reads, written out or not. */
static struct baryon_value *read_by_norm(const struct baryon_node *node)
{
    static const char *const norms[] = {"LayerNormalization",
                                        "RMSNormalization",
                                        "SimplifiedLayerNormalization",
                                        "SkipLayerNormalization",
                                        "SkipSimplifiedLayerNormalization",
                                        NULL};
    for (size_t i = 0; norms[i]; i++)
        if (!strcmp(node->op_type, norms[i]))
            return by_node_in(node, 0);
    const struct baryon_value *mean = by_node_in(node, 1);
    if (by_node_is(node, "Sub") && mean && mean->producer &&
        by_node_is(mean->producer, "ReduceMean") &&
        by_node_in(mean->producer, 0) == by_node_in(node, 0))
        return by_node_in(node, 0);
    const struct baryon_value *square = by_node_is(node, "Pow") ? by_node_out(node, 0) : NULL;
    if (square && square->use_count == 1 && square->uses[0].node &&
        by_node_is(square->uses[0].node, "ReduceMean"))
        return by_node_in(node, 0);
    return NULL;
}

static int do_stream(struct by_rotating *rotating, struct by_rotate_stream *stream,
                     struct baryon_value *value, struct baryon_error *err)
{
    struct by_smooth *smooth = &rotating->smooth;
    stream->smooth = smooth;
    if (by_rotate_find(stream, value, value->shape->rank - 1, err) < 0)
        return -1;
    const size_t products = stream->fits ? by_rotate_products(stream) : 0;
    if (stream->fits && products && !rotating->options->multiplies &&
        by_smooth_refuse(smooth, &stream->fits, err,
                         "it would need %zu products of its own, which the target does not take",
                         products) < 0)
        return -1;
    if (!stream->fits) {
        tell_left(rotating, value->name, smooth->refusal);
        return 0;
    }
    rotating->report->streams++;
    rotating->report->norms += stream->folds.count;
    rotating->report->products += products;
    return rotating->write ? by_rotate_write_stream(stream, SEED + rotating->report->streams, err)
                           : 0;
}

/* Not what a product of a stream gives. */
static struct baryon_value *norm_input(const struct baryon_node *node)
{
    struct baryon_value *value = node ? read_by_norm(node) : NULL;
    const struct baryon_node *from = value ? value->producer : NULL;
    const bool turned =
        from && from->name && !strncmp(from->name, BY_ROTATE_MATMUL, sizeof BY_ROTATE_MATMUL - 1);
    return value && !turned && !value->initializer && value->shape && value->shape->rank ? value
                                                                                         : NULL;
}

/* The first norm of each stream stands for it. */
static int do_streams(struct by_rotating *rotating, struct baryon_error *err)
{
    const struct baryon_graph *graph = rotating->smooth.graph;
    struct {
        struct by_rotate_stream **at;
        size_t count, cap;
    } seen = {0};
    const size_t nodes = graph->node.count;
    for (size_t i = 0; i < nodes; i++) {
        struct baryon_value *value = norm_input(graph->node.at[i]);
        bool is_new = value != NULL;
        for (size_t k = 0; is_new && k < seen.count; k++)
            is_new = !by_rotate_has(seen.at[k], value);
        if (!is_new)
            continue;
        struct by_arena *arena = &rotating->smooth.arena;
        struct by_rotate_stream *stream = BY_ARENA_NEW(arena, struct by_rotate_stream, err);
        if (!stream || by_list_reserve(arena, &seen, 1, sizeof(void *), err) < 0)
            return -1;
        seen.at[seen.count++] = stream;
        if (do_stream(rotating, stream, value, err) < 0)
            return -1;
    }
    return 0;
}

static int do_rotation(struct by_quant_plan *plan, const struct by_rotate_options *options,
                       bool write, struct by_rotate_report *report, struct baryon_error *err)
{
    struct by_rotating rotating = {
        .smooth = {.plan = plan, .graph = plan->model->graph, .mixes = true},
        .options = options,
        .write = write,
        .report = report};
    *report = (struct by_rotate_report){0};
    by_arena_init(&rotating.smooth.arena, SIZE_MAX);
    int status = options->heads ? do_heads(&rotating, err) : 0;
    if (status == 0 && options->streams)
        status = do_streams(&rotating, err);
    by_arena_release(&rotating.smooth.arena);
    return status;
}

int by_rotate_survey(struct by_quant_plan *plan, const struct by_rotate_options *options,
                     struct by_rotate_report *report, struct baryon_error *err)
{
    return do_rotation(plan, options, false, report, err);
}

int by_rotate_run(struct by_quant_plan *plan, const struct by_rotate_options *options,
                  struct by_rotate_report *report, struct baryon_error *err)
{
    return do_rotation(plan, options, true, report, err);
}
