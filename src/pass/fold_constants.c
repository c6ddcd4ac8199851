/*
 * Nodes that read constants alone are computed now. Only what something else reads becomes an
 * initializer, and only where it takes little more room than what it was made of: a mask that
 * ConstantOfShape or Expand blows up stays a node.
 */
#include "pass/edit.h"
#include "pass/fold.h"
#include "pass/passes.h"

#define GROWTH_FREE (1 << 20) /* bytes of one value that nobody minds */
#define PART_BYTES  (256 << 20)
#define PART_VALUES 256u

struct folding {
    struct by_pass_context *context;
    struct baryon_graph *graph;
    struct by_arena arena;
    bool *foldable;   /* nodes */
    uint64_t *source; /* of each: bytes of the constants it is made of */
    struct {
        struct by_folded *at;
        size_t count, cap;
    } list;
};

/* --- which nodes --- */

/* Random, quantizing, of one's own, or with graphs inside. */
static bool is_left_alone(const struct by_pass_context *context, const struct baryon_node *node)
{
    static const char *const never[] = {
        "Bernoulli",
        "Constant",
        "DequantizeLinear",
        "Dropout",
        "DynamicQuantizeLinear",
        "If",
        "Loop",
        "Multinomial",
        "Optional",
        "QuantizeLinear",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Scan",
        "SequenceMap",
        NULL,
    };
    struct by_nested at = {0};
    return *by_domain(node->domain) || !by_node_opinfo(node) || by_node_is_one_of(node, never) ||
           by_node_nested(node, &at) || by_pass_is_excluded(context, node);
}

/* An upper bound of the bytes; false where there is none. */
static bool value_bytes(const struct baryon_value *value, uint64_t *bytes)
{
    const struct by_elem_info *info = by_elem_info(value->elem);
    int64_t count;
    if (!info || !info->bits || !by_shape_count(value->shape, &count))
        return false;
    *bytes = ((uint64_t)count * info->bits + 7) / 8;
    return true;
}

static bool is_folded_node(const struct folding *f, const struct baryon_value *value)
{
    return value->producer && value->graph == f->graph && f->foldable[value->producer->index];
}

static bool reads_constants(const struct folding *f, const struct baryon_node *node,
                            uint64_t *source)
{
    *source = 0;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        uint64_t bytes;
        if (!value)
            continue;
        if (is_folded_node(f, value)) {
            *source += f->source[value->producer->index];
            continue;
        }
        if (!value->initializer || !by_pass_tensor(value) || !value_bytes(value, &bytes))
            return false;
        *source += bytes;
    }
    return true;
}

/* Sums of what is shared count twice, but must not run away. */
#define SOURCE_MAX (1ull << 50)

static void judge_foldable(struct folding *f, const struct baryon_node *node)
{
    uint64_t source, bytes, total = 0;
    if (is_left_alone(f->context, node) || !reads_constants(f, node, &source))
        return;
    source = source < SOURCE_MAX ? source : SOURCE_MAX;
    for (size_t i = 0; i < node->output.count; i++) {
        if (!node->outs[i])
            continue;
        if (!value_bytes(node->outs[i], &bytes))
            return;
        total += bytes;
    }
    if (total > source + source / 2 && total > GROWTH_FREE)
        return;
    f->foldable[node->index] = true;
    f->source[node->index] = source;
}

/* --- which values --- */

static bool is_read_elsewhere(const struct folding *f, const struct baryon_value *value)
{
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *reader = by_use_reader(&value->uses[i], f->graph);
        if (!reader || !f->foldable[reader->index])
            return true;
    }
    return false;
}

static bool is_wanted_outside(const struct folding *f, const struct baryon_value *value)
{
    return value && is_read_elsewhere(f, value) && !value->output_count && !by_value_is_kept(value);
}

static int choose_folded_values(struct folding *f, struct baryon_error *err)
{
    struct baryon_graph *graph = f->graph;
    for (size_t i = 0; i < graph->node.count; i++)
        judge_foldable(f, graph->node.at[i]);
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        for (size_t k = 0; f->foldable[i] && k < node->output.count; k++) {
            if (!is_wanted_outside(f, node->outs[k]))
                continue;
            if (by_list_reserve(&f->arena, &f->list, 1, sizeof *f->list.at, err))
                return -1;
            f->list.at[f->list.count++] = (struct by_folded){node->outs[k], NULL};
        }
    }
    return 0;
}

/* --- what becomes of them --- */

static int put_folded_constant(struct by_pass_context *context, const struct by_folded *folded,
                               struct baryon_error *err)
{
    if (!folded->tensor)
        return 0;
    if (by_pass_become_constant(folded->value, folded->tensor, err))
        return -1;
    context->changes++;
    return 0;
}

static int put_all(struct by_pass_context *context, const struct by_folded *values, size_t count,
                   struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (put_folded_constant(context, &values[i], err))
            return -1;
    return 0;
}

/* In parts: a result stands beside the runtime's copy of it for a part at a time alone, later
 * parts read what earlier ones gave, and the runtime slows down with many outputs. */
static int evaluate(struct folding *f, struct baryon_error *err)
{
    for (size_t at = 0, end; at < f->list.count; at = end) {
        uint64_t total = 0, bytes = 0;
        for (end = at; end < f->list.count && end - at < PART_VALUES; end++) {
            value_bytes(f->list.at[end].value, &bytes);
            if (end > at && total + bytes > PART_BYTES)
                break;
            total += bytes;
        }
        if (by_fold_evaluate(f->context, f->graph, &f->list.at[at], end - at, err) ||
            put_all(f->context, &f->list.at[at], end - at, err))
            return -1;
    }
    return 0;
}

static int fold_graph(void *context, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err)
{
    (void)depth;
    struct folding f = {.context = context, .graph = graph};
    if (by_graph_settle(graph, err))
        return -1;
    by_arena_init(&f.arena, 0);
    f.foldable = by_alloc_zero(graph->node.count, sizeof *f.foldable, err);
    f.source = by_alloc_zero(graph->node.count, sizeof *f.source, err);
    int failed = !f.foldable || !f.source || choose_folded_values(&f, err) || evaluate(&f, err);
    by_free(f.foldable);
    by_free(f.source);
    by_arena_release(&f.arena);
    return failed ? -1 : 0;
}

static int run_fold_constants(struct by_pass_context *context, struct baryon_error *err)
{
    return by_model_each_graph(context->model, fold_graph, context, err);
}

const struct by_pass by_pass_fold_constants = {
    .name = "fold-constants",
    .alias = "SimplifyModel",
    .help = "Compute nodes with only constant inputs with ONNX Runtime",
    .exact = true,
    .again = true,
    .shapes = true,
    .run = run_fold_constants,
};
