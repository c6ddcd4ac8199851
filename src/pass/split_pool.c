/* A GlobalAveragePool over more places than hardware can add up gets an AveragePool before it. */
#include "pass/make.h"
#include "pass/passes.h"

#define PLACES_MAX 512

/* The largest factor that is not above the square root. */
static int64_t lower_factor(int64_t size)
{
    int64_t found = 1;
    for (int64_t i = 2; i <= size / i; i++)
        if (size % i == 0)
            found = i;
    return found;
}

static bool find_kernel(const struct baryon_value *input, int64_t kernel[2])
{
    const int64_t height = by_match_size(input, 2), width = by_match_size(input, 3);
    if (by_pass_rank(input) != 4 || height < 1 || width < 1 || height > INT32_MAX ||
        width > INT32_MAX || height * width <= PLACES_MAX)
        return false;
    kernel[0] = lower_factor(height);
    kernel[1] = lower_factor(width);
    return kernel[0] * kernel[1] <= PLACES_MAX &&
           (height / kernel[0]) * (width / kernel[1]) <= PLACES_MAX;
}

static int set_shape(struct by_matcher *match, struct baryon_value *value,
                     const struct baryon_value *input, const int64_t kernel[2])
{
    struct by_shape *shape = by_shape_copy(&match->context->model->arena, input->shape, match->err);
    if (!shape)
        return -1;
    for (size_t i = 0; i < 2; i++)
        shape->dims[2 + i] = by_extent_of(input->shape->dims[2 + i].size / kernel[i]);
    value->elem = input->elem;
    value->shape = shape;
    return 0;
}

static int visit_global_pool(struct by_matcher *match, struct baryon_node *node)
{
    char stem[BY_STEM_MAX];
    int64_t kernel[2];
    struct baryon_value *input = by_node_in(node, 0);
    if (!by_match_plain(node, "GlobalAveragePool") || !by_match_is_float(input) ||
        !find_kernel(input, kernel))
        return 0;
    by_make_stem(stem, input->name, "_Split");
    struct baryon_node *pool =
        by_pass_add_node(node->graph, "AveragePool", stem, &input, 1, match->err);
    if (!pool || by_node_set_ints(pool, "kernel_shape", kernel, 2, match->err) ||
        by_node_set_ints(pool, "strides", kernel, 2, match->err) ||
        set_shape(match, pool->outs[0], input, kernel) ||
        by_node_set_input(node, 0, pool->outs[0], match->err))
        return -1;
    match->context->changes++;
    return 0;
}

static int run_split_pool(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_each(context, visit_global_pool, err);
}

const struct by_pass by_pass_split_large_pool = {
    .name = "split-large-pool",
    .alias = "SplitLargeKernelPool",
    .help = "Split GlobalAveragePool over more than 512 elements into two steps",
    .fallback = BY_PASS_NPU,
    .exact = true,
    .shapes = true,
    .run = run_split_pool,
};
