/* MatMul of matrices and an Add of a row after it become a Gemm with a bias. */
#include "pass/layer.h"
#include "pass/passes.h"

static int convert_to_gemm(struct by_pass_context *context, struct baryon_node *add,
                           struct baryon_error *err)
{
    struct by_pass_layer layer;
    if (!by_pass_is(context, add, "Add") || !by_layer_of(context, add, &layer) || layer.rank != 2 ||
        by_pass_rank(by_node_in(layer.node, 0)) != 2 || !by_pass_can_take_over(layer.node, add))
        return 0;
    struct baryon_value *const inputs[] = {by_node_in(layer.node, 0), by_node_in(layer.node, 1),
                                           by_node_in(add, layer.bias_slot)};
    struct baryon_node *matmul = layer.node;
    const char *stem = matmul->name && *matmul->name ? matmul->name : add->outs[0]->name;
    struct baryon_node *gemm = by_pass_add_node(add->graph, "Gemm", stem, inputs, 3, err);
    if (!gemm || by_pass_replace(add, gemm, err) || by_graph_remove_node(matmul, err))
        return -1;
    context->changes++;
    return 0;
}

static int run_matmul_add_to_gemm(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, convert_to_gemm, err);
}

const struct by_pass by_pass_matmul_add_to_gemm = {
    .name = "matmul-add-to-gemm",
    .help = "Replace MatMul of matrices and Add of a row by Gemm",
    .exact = true,
    .again = true,
    .shapes = true,
    .run = run_matmul_add_to_gemm,
};
