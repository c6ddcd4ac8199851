/* Means as DPUs have them: a sum times a share of a power of two. */
#include "pass/dpu.h"
#include "pass/make.h"
#include "pass/passes.h"

/* --- AveragePool and GlobalAveragePool with square kernels --- */

static bool find_kernel(const struct baryon_node *node, int64_t kernel[2])
{
    const struct baryon_attribute *attr = by_node_attr(node, "kernel_shape");
    if (by_match_plain(node, "AveragePool") && attr && attr->ints.count == 2) {
        kernel[0] = attr->ints.at[0];
        kernel[1] = attr->ints.at[1];
        return true;
    }
    const struct baryon_value *input = by_node_in(node, 0);
    if (!by_match_plain(node, "GlobalAveragePool") || by_pass_rank(input) != 4)
        return false;
    kernel[0] = by_match_size(input, 2);
    kernel[1] = by_match_size(input, 3);
    return true;
}

static int visit_pool(struct by_matcher *match, struct baryon_node *node)
{
    int64_t kernel[2];
    if (!find_kernel(node, kernel) || kernel[0] != kernel[1] || kernel[0] < 1 ||
        !by_match_is_float(by_node_in(node, 0)))
        return 0;
    return by_dpu_multiply(match, node, by_dpu_pool_factor(kernel[0]));
}

static int run_pool(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_main(context, visit_pool, err);
}

const struct by_pass by_pass_average_pool_dpu = {
    .name = "average-pool-dpu",
    .alias = "ConvertAvgPoolToDPUVersion",
    .help = "Multiply AveragePool and GlobalAveragePool with square kernels by the factor of the "
            "hardware",
    .fallback = BY_PASS_DPU,
    .simulates = true,
    .shapes = true,
    .run = run_pool,
};

/* --- ReduceMean --- */

#define COUNT_MAX ((int64_t)1 << 40)

/* Elements that one mean is over; 0: not known. */
static int64_t count_elements(struct by_matcher *match, const struct baryon_node *node)
{
    size_t axes;
    int64_t product = 1;
    const int rank = by_pass_rank(by_node_in(node, 0));
    const int64_t *axis = rank < 0 ? NULL : by_match_axes(match, node, &axes);
    for (size_t i = 0; axis && i < axes; i++) {
        const int64_t size = axis[i] < 0 ? -1 : by_match_size(by_node_in(node, 0), (size_t)axis[i]);
        if (size < 1 || __builtin_mul_overflow(product, size, &product) || product > COUNT_MAX)
            return 0;
    }
    return axis ? product : 0;
}

static int visit_mean(struct by_matcher *match, struct baryon_node *node)
{
    if (!by_match_plain(node, "ReduceMean") || !by_match_is_float(by_node_in(node, 0)))
        return 0;
    const int64_t count = count_elements(match, node);
    return count ? by_dpu_multiply(match, node, by_dpu_mean_factor((double)count)) : 0;
}

static int run_mean(struct by_pass_context *context, struct baryon_error *err)
{
    return by_match_main(context, visit_mean, err);
}

const struct by_pass by_pass_reduce_mean_dpu = {
    .name = "reduce-mean-dpu",
    .alias = "ConvertReduceMeanToDPUVersion",
    .help = "Multiply ReduceMean by the factor of the hardware",
    .fallback = BY_PASS_DPU,
    .simulates = true,
    .shapes = true,
    .run = run_mean,
};
