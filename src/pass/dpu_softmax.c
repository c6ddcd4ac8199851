/*
 * Softmax taken apart as DPUs compute it, in bfloat16: exp(x) = 2^k p(r) with
 * k = floor(x log2 e), r = x - k ln 2, p(r) = 1 + r (1 + r (0.486328125 + 0.21875 r)), without
 * taking the greatest x away first.
 *
 * ONNX Runtime has no arithmetic in bfloat16 on CPUs, so each result of it is a float that goes
 * through a Cast to bfloat16 and one back, which gives the same values.
 */
#include "pass/dpu.h"
#include "pass/make.h"
#include "pass/passes.h"

#define LOG2_E 1.4453125  /* as bfloat16 */
#define LN_2   0.69140625 /* the same */
#define CUBE   0.21875
#define SQUARE 0.486328125
#define OPSET  13 /* with casts to bfloat16, the sum's axes as an input, and Softmax of one axis */

/* Nodes one after the other; NULL goes through, so that it is asked for once. */
struct chain {
    struct by_matcher *match;
    struct baryon_graph *graph;
    const char *name; /* of the output */
};

static struct baryon_value *constant(const struct chain *chain, const char *suffix, double number)
{
    char stem[BY_STEM_MAX];
    return by_pass_add_doubles(chain->graph, by_make_stem(stem, chain->name, suffix), BY_ELEM_FLOAT,
                               NULL, 0, &number, chain->match->err);
}

static struct baryon_value *make_binary_step(const struct chain *chain, const char *op_type,
                                             const char *suffix, struct baryon_value *one,
                                             struct baryon_value *other)
{
    char stem[BY_STEM_MAX];
    struct baryon_value *inputs[2] = {one, other};
    if (!one)
        return NULL;
    by_make_stem(stem, chain->name, suffix);
    struct baryon_node *node =
        by_pass_add_node(chain->graph, op_type, stem, inputs, other ? 2 : 1, chain->match->err);
    return node ? by_node_out(node, 0) : NULL;
}

static struct baryon_value *binary(const struct chain *chain, const char *op_type,
                                   const char *suffix, struct baryon_value *one,
                                   struct baryon_value *other)
{
    return one && other ? make_binary_step(chain, op_type, suffix, one, other) : NULL;
}

static struct baryon_value *cast(const struct chain *chain, const char *suffix,
                                 struct baryon_value *value, int64_t elem)
{
    struct baryon_value *made = make_binary_step(chain, "Cast", suffix, value, NULL);
    if (!made || by_node_set_int(made->producer, "to", elem, chain->match->err))
        return NULL;
    return made;
}

static struct baryon_value *rounded(const struct chain *chain, struct baryon_value *value)
{
    struct baryon_value *small = cast(chain, "/dpu/short", value, BY_ELEM_BFLOAT16);
    return cast(chain, "/dpu/back", small, BY_ELEM_FLOAT);
}

/* r * p + number, rounded. */
static struct baryon_value *horner(const struct chain *chain, struct baryon_value *r,
                                   struct baryon_value *p, double number)
{
    struct baryon_value *product = binary(chain, "Mul", "/dpu/product", r, p);
    struct baryon_value *term = constant(chain, "/dpu/term", number);
    return rounded(chain, binary(chain, "Add", "/dpu/sum", product, term));
}

static struct baryon_value *exponential(const struct chain *chain, struct baryon_value *input)
{
    struct baryon_value *x = rounded(chain, input);
    struct baryon_value *scaled = rounded(
        chain, binary(chain, "Mul", "/dpu/scaled", x, constant(chain, "/dpu/log2e", LOG2_E)));
    struct baryon_value *k = make_binary_step(chain, "Floor", "/dpu/floor", scaled, NULL);
    struct baryon_value *whole =
        rounded(chain, binary(chain, "Mul", "/dpu/whole", k, constant(chain, "/dpu/ln2", LN_2)));
    struct baryon_value *r = rounded(chain, binary(chain, "Sub", "/dpu/rest", x, whole));
    struct baryon_value *p = horner(chain, r, constant(chain, "/dpu/cube", CUBE), SQUARE);
    p = horner(chain, r, p, 1);
    p = horner(chain, r, p, 1);
    struct baryon_value *power =
        rounded(chain, binary(chain, "Pow", "/dpu/power", constant(chain, "/dpu/two", 2), k));
    return rounded(chain, binary(chain, "Mul", "/dpu/exp", power, p));
}

static struct baryon_value *sum_over(const struct chain *chain, struct baryon_value *value,
                                     int64_t axis)
{
    char stem[BY_STEM_MAX];
    by_make_stem(stem, chain->name, "/dpu/axis");
    struct baryon_value *axes =
        by_pass_add_ints(chain->graph, stem, (const int64_t[]){1}, 1, &axis, chain->match->err);
    return rounded(chain, binary(chain, "ReduceSum", "/dpu/total", value, axes));
}

static int visit_softmax(struct by_matcher *match, struct baryon_node *node)
{
    struct baryon_value *input = by_node_in(node, 0), *output = by_node_out(node, 0);
    if (!by_match_plain(node, "Softmax") || !by_match_is_float(input) || by_value_is_kept(output))
        return 0;
    const struct chain chain = {match, node->graph, output->name};
    struct baryon_value *exp = exponential(&chain, input);
    struct baryon_value *sum = exp ? sum_over(&chain, exp, by_node_int(node, "axis", -1)) : NULL;
    struct baryon_value *share = rounded(&chain, binary(&chain, "Div", "/dpu/share", exp, sum));
    if (!share)
        return -1;
    match->context->changes++;
    return by_pass_replace(node, share->producer, match->err);
}

static int run_dpu_softmax(struct by_pass_context *context, struct baryon_error *err)
{
    if (by_model_opset(context->model, "") < OPSET)
        return 0;
    return by_match_main(context, visit_softmax, err);
}

const struct by_pass by_pass_softmax_dpu = {
    .name = "softmax-dpu",
    .alias = "ConvertSoftmaxToDPUVersion",
    .help = "Decompose Softmax into the bfloat16 arithmetic of the hardware (opset 13 and later)",
    .fallback = BY_PASS_OFF,
    .shapes = true,
    .run = run_dpu_softmax,
};
