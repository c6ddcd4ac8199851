/* Recognizes and inserts the factors that simulate the arithmetic of DPUs. */
#include "pass/dpu.h"

#include "pass/make.h"

#include <math.h>
#include <string.h>

#define KERNEL_MAX 255
#define PART       "/dpu/"

/* --- Recognizing --- */

bool by_node_is_dpu_factor(const struct baryon_node *node)
{
    const struct baryon_value *input = by_node_in(node, 0), *scale = by_node_in(node, 1);
    const struct baryon_value *output = by_node_out(node, 0);
    if (!by_node_is(node, "Mul") || !input || !output || !scale || !scale->initializer)
        return false;
    const size_t length = strlen(output->name);
    return node->name == input->name && strncmp(input->name, output->name, length) == 0 &&
           strncmp(input->name + length, "_Mul", 4) == 0 &&
           strncmp(scale->name, output->name, length) == 0 &&
           strncmp(scale->name + length, "_Scale", 6) == 0;
}

bool by_value_is_inside_dpu(const struct baryon_value *value)
{
    if (strstr(value->name, PART))
        return true;
    const struct baryon_node *reader = by_pass_only_reader(value);
    return reader && by_node_is_dpu_factor(reader);
}

/* --- Factors --- */

double by_dpu_mean_factor(double count)
{
    const int last = 7 + (int)ceil(log2(count));
    double best = INFINITY, factor = 1;
    for (int n = 0; n < last; n++) {
        const double whole = nearbyint(ldexp(1, n) / count);
        const double share = ldexp(whole, -n), off = fabs(share - 1 / count);
        if (off < best) {
            best = off;
            factor = share * count;
        }
    }
    return factor;
}

double by_dpu_pool_factor(int64_t kernel)
{
    if (kernel < 1 || kernel > KERNEL_MAX)
        return 1;
    switch (kernel) { /* what hardware has for these */
    case 3:
        return 9.0 * 7 / 64;
    case 5:
        return 25.0 * 10 / 256;
    case 6:
        return 36.0 * 7 / 256;
    case 7:
        return 49.0 * 21 / 1024;
    case 14:
        return 196.0 * 21 / 4096;
    default:
        return by_dpu_mean_factor((double)(kernel * kernel));
    }
}

/* --- Writing --- */

static struct baryon_node *add_factor(struct by_matcher *match, struct baryon_value *output,
                                      double factor)
{
    char stem[BY_STEM_MAX];
    struct baryon_graph *graph = output->graph;
    struct baryon_value *inputs[2] = {output};
    inputs[1] = by_pass_add_doubles(graph, by_make_stem(stem, output->name, "_Scale"),
                                    by_elem_is_float(output->elem) ? output->elem : BY_ELEM_FLOAT,
                                    NULL, 0, &factor, match->err);
    if (!inputs[1])
        return NULL;
    by_make_stem(stem, output->name, "_Mul");
    struct baryon_node *node = by_pass_add_node(graph, "Mul", stem, inputs, 2, match->err);
    if (!node)
        return NULL;
    node->outs[0]->elem = output->elem;
    node->outs[0]->shape = output->shape;
    return node;
}

int by_dpu_multiply(struct by_matcher *match, struct baryon_node *node, double factor)
{
    struct baryon_value *output = by_node_out(node, 0);
    const char *name = output->name;
    const struct baryon_node *reader = by_pass_only_reader(output);
    if (by_value_is_kept(output) || (reader && by_node_is_dpu_factor(reader)) ||
        (factor == 1 && !match->context->compat))
        return 0;
    const struct baryon_node *mul = add_factor(match, output, factor);
    if (!mul)
        return -1;
    struct baryon_value *product = mul->outs[0];
    if (by_value_replace_uses(output, product, mul, match->err) ||
        by_value_rename(output, mul->name, match->err) ||
        by_value_rename(product, name, match->err))
        return -1;
    match->context->changes++;
    return 0;
}
