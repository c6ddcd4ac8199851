/*
 * Plans and quantizes a model without any pass, for tests that compare with other programs.
 *
 *   quant_dump MODEL SETTINGS [STATS OUT [THREADS]]
 *
 * SETTINGS are words joined by commas: one of xint8, vint8, u8s8, a8w8, a16w8, transformer,
 * weights, dynamic, nbits, and then b2, b8, hqq, symmetric, minmse, u8, spill, extra, compat,
 * channel, group, dedicated, dq, fold, chains, int4, all, keep, qoperator. Prints a line for each
 * row ("R" role, type, tensor, owner of its parameters, readers, reason) and for each node ("N"
 * state, operator, name, reason), words separated by tabs. With STATS
 * ("-": none are needed) the quantized model is written to OUT.
 */
#include "ir/infer.h"
#include "onnx/load.h"
#include "onnx/save.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const char *settings, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = settings; (at = strstr(at, word)); at++)
        if ((at == settings || at[-1] == ',') && (at[size] == ',' || !at[size]))
            return true;
    return false;
}

static struct by_tensor_spec spec_of(int64_t elem, bool symmetric, enum by_scale_type scale,
                                     const char *method)
{
    struct by_tensor_spec spec = {.elem = elem, .symmetric = symmetric, .scale = scale};
    spec.method = by_calibrator_find(method);
    by_calib_defaults(spec.method, &spec.calib);
    return spec;
}

static void set_common(struct by_recipe *recipe)
{
    recipe->activation = spec_of(BY_ELEM_UINT8, false, BY_SCALE_FLOAT32, "percentile");
    recipe->weight = spec_of(BY_ELEM_INT8, true, BY_SCALE_FLOAT32, "minmax");
    recipe->bias = recipe->weight;
    recipe->fuse_relu = recipe->fuse_clip = recipe->fuse_leaky_relu = recipe->fuse_prelu = true;
}

static void set_pow2(struct by_recipe *recipe, int64_t elem)
{
    recipe->activation = spec_of(elem, true, BY_SCALE_POW2, "minmse-pow2");
    recipe->weight = spec_of(BY_ELEM_INT8, true, BY_SCALE_POW2, "minmse-pow2");
    recipe->bias = recipe->weight;
    recipe->bias_kind = BY_BIAS_OWN;
}

static void set_nbits(struct by_recipe *recipe, const char *settings)
{
    recipe->approach = BY_APPROACH_NBITS;
    recipe->nbits.bits = has(settings, "b2") ? 2 : has(settings, "b8") ? 8 : 4;
    recipe->nbits.group = 32;
    recipe->nbits.symmetric = has(settings, "symmetric");
    recipe->nbits.method = has(settings, "hqq") ? BY_NBITS_HQQ : BY_NBITS_RTN;
}

static void set_preset(struct by_recipe *recipe, const char *settings)
{
    set_common(recipe);
    if (has(settings, "xint8")) {
        set_pow2(recipe, has(settings, "compat") ? BY_ELEM_UINT8 : BY_ELEM_INT8);
        recipe->operators = BY_OPERATORS_NPU;
        recipe->hardware = BY_HARDWARE_XINT8;
    } else if (has(settings, "vint8")) {
        set_pow2(recipe, BY_ELEM_INT8);
        recipe->operators = BY_OPERATORS_NPU;
        recipe->hardware = BY_HARDWARE_XINT8;
        recipe->all_op_types = recipe->dedicated_pairs = true;
        recipe->fuse_relu = recipe->fuse_clip = false;
        recipe->fuse_leaky_relu = recipe->fuse_prelu = false;
        recipe->keep_unquantized_chains = true;
    } else if (has(settings, "a8w8") || has(settings, "a16w8")) {
        const int64_t elem = has(settings, "a8w8") ? BY_ELEM_INT8 : BY_ELEM_INT16;
        recipe->activation = spec_of(elem, true, BY_SCALE_FLOAT32, "minmax");
        recipe->operators = BY_OPERATORS_NPU;
        recipe->hardware = BY_HARDWARE_EXTENDED;
        recipe->domain = BY_Q_MICROSOFT;
        recipe->align_elementwise = elem == BY_ELEM_INT16;
    } else if (has(settings, "transformer")) {
        recipe->activation = spec_of(BY_ELEM_UINT8, false, BY_SCALE_FLOAT32, "minmax");
        recipe->operators = BY_OPERATORS_TRANSFORMER;
        recipe->keep_unquantized_chains = recipe->matmul_constant_only = true;
    } else if (has(settings, "nbits")) {
        set_nbits(recipe, settings);
    } else if (has(settings, "dynamic")) {
        recipe->approach = BY_APPROACH_DYNAMIC;
    } else if (has(settings, "weights")) {
        recipe->approach = BY_APPROACH_WEIGHTS;
    }
}

static void set_flags(struct by_recipe *recipe, const char *settings)
{
    recipe->compat = has(settings, "compat");
    recipe->dedicated_pairs |= has(settings, "dedicated");
    recipe->dedicated_dq = has(settings, "dq");
    if (has(settings, "qoperator"))
        recipe->format = BY_FORMAT_QOPERATOR;
    recipe->fold_relu = has(settings, "fold");
    recipe->keep_unquantized_chains |= has(settings, "chains");
    recipe->all_op_types |= has(settings, "all");
    recipe->keep_float_weights = has(settings, "keep");
    if (has(settings, "minmse"))
        recipe->weight = spec_of(BY_ELEM_INT8, true, BY_SCALE_FLOAT32, "minmse");
    if (has(settings, "u8"))
        recipe->weight = spec_of(BY_ELEM_UINT8, false, BY_SCALE_FLOAT32, "minmax");
    if (has(settings, "channel"))
        recipe->weight.granularity = BY_PER_CHANNEL;
    if (has(settings, "int4"))
        recipe->weight.elem = BY_ELEM_INT4;
    if (has(settings, "group")) {
        recipe->weight.granularity = BY_PER_GROUP;
        recipe->weight.group = 32;
    }
}

/* --- Printing --- */

static void print_plan(const struct by_quant_plan *plan)
{
    static const char *const roles[] = {"activation", "weight", "bias"};
    static const char *const states[] = {"quantized", "float", "other"};
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        printf("R\t%s\t%s\t%s\t%s\t%zu\t%s\n", roles[row->role], by_elem_name(row->spec.elem),
               row->value->name, plan->rows.at[by_quant_owner(plan, i)].value->name,
               row->readers.count, row->why);
    }
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_quant_node *node = &plan->nodes[i];
        printf("N\t%s\t%s\t%s\t%s\n", states[node->state], node->node->op_type,
               node->node->name ? node->node->name : "", node->why);
    }
}

/* --- Quantizing --- */

static int quantize(struct by_quant_plan *plan, const char *stats_path, const char *out,
                    unsigned threads, struct baryon_error *err)
{
    struct by_stats *stats = NULL;
    struct by_pool *pool = NULL;
    int failed = by_pool_open(&pool, threads, err) ||
                 (strcmp(stats_path, "-") && by_stats_load(&stats, stats_path, err)) ||
                 by_quant_find_params(plan, stats, pool, err) || by_lower(plan, pool, err);
    if (!failed)
        failed = by_model_save(plan->model, out, NULL, err);
    by_stats_close(stats);
    by_pool_close(pool);
    return failed;
}

static int run(int argc, char **argv, struct baryon_error *err)
{
    struct by_recipe recipe = {0};
    struct baryon_model *model = NULL;
    struct by_quant_plan *plan = NULL;
    set_preset(&recipe, argv[2]);
    set_flags(&recipe, argv[2]);
    const bool spill = has(argv[2], "spill");
    struct by_pattern extra[] = {{"Gather", "settings"}, {"Gemm", "settings"}};
    if (has(argv[2], "extra"))
        recipe.extra_op_types.at = extra, recipe.extra_op_types.count = 2;
    int failed = by_model_load(&model, argv[1], NULL, err) ||
                 (spill && by_model_spill(model, ".", (size_t)1 << 36, err)) ||
                 by_model_link(model, err) || by_model_infer(model, NULL, err) ||
                 by_quant_plan_open(&plan, model, &recipe, err) || by_place(plan, NULL, NULL, err);
    if (!failed)
        print_plan(plan);
    if (!failed && argc > 4)
        failed = quantize(plan, argv[3], argv[4], argc > 5 ? (unsigned)atoi(argv[5]) : 2, err);
    by_quant_plan_close(plan);
    by_model_free(model);
    return failed;
}

int main(int argc, char **argv)
{
    struct baryon_error err = {0};
    char text[2048];
    if (argc < 3)
        return 2;
    if (run(argc, argv, &err) == 0)
        return 0;
    baryon_error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}
