/*
 * The options of quantization as rows, and the struct that they fill; the recipe that becomes of
 * them is made in settings/recipe.
 */
#ifndef BY_SETTINGS_QUANTIZE_H
#define BY_SETTINGS_QUANTIZE_H

#include "settings/methods.h"
#include "settings/rules.h"
#include "settings/settings.h"

/* Values of --bias besides element types. */
#define BY_BIAS_INT32     1000
#define BY_BIAS_AS_WEIGHT 1001
/* --rounding-samples by default. */
#define BY_ROUNDING_SAMPLES 1024

struct by_recipe_settings {
    /* --- Preset --- */
    const char *preset;
    int compat;
    struct by_setting_pairs extra;
    struct by_setting_texts notices; /* see settings/notices.h */
    int quark_random;                /* UseRandomData: 1 true, -1 false, 0 not given */
    unsigned quark_gptq;             /* bits of options that GPTQParams set */

    /* --- Types --- */
    int approach, format, domain;
    int activation, activation_scale, activation_method;
    bool activation_symmetric, activation_reduce_range;
    double activation_headroom;
    bool activation_headroom_auto, activation_method_auto;
    double wide_below;
    bool wide_auto;
    struct by_method_values activation_options;
    int weight, weight_scale, weight_method, weight_granularity;
    bool weight_symmetric, weight_reduce_range, weight_method_auto, weight_rows_auto;
    int64_t group_size;
    struct by_method_values weight_options;
    int bias, bias_scale, bias_method;
    bool bias_int16, adjust_weight_for_bias;

    /* --- Floats and blocks --- */
    int float_form;
    bool activation_scaled, weight_scaled;
    int block_form;
    bool float_clip;
    int64_t block_size, block_axis;
    int block_ties;
    bool block_axis_everywhere, block_from_bf16;
    struct { /* of Quark's attributes; 0: not given */
        int method, bits, raised, element;
    } quark_block;

    /* --- Nodes --- */
    int operators;
    struct by_setting_texts op_types, extra_op_types, nodes, exclude, exclude_op_type;
    struct by_setting_texts input_nodes, output_nodes, exclude_from;
    struct by_setting_pairs exclude_between;
    bool all_op_types, matmul_constant_only;
    struct by_setting_pairs op_type_rules, node_rules, tensor_rules;
    struct by_rule_list file_rules; /* of a file or of Quark's options */
    struct by_span_list file_spans;

    /* --- Pairs --- */
    int logarithm_inputs, joins, auto_exclude, mixed;
    double mixed_goal, mixed_share;
    bool dedicated_pairs, dedicated_dq, dual_pairs, keep_float_weights, keep_float_blocks,
        fold_relu, align_elementwise;
    bool keep_unquantized_chains;
    struct by_setting_texts no_output_op_types, no_output_nodes, passthrough, fuse_between;
    bool fuse_relu, fuse_clip, fuse_leaky_relu, fuse_prelu, fuse_gelu, fuse_instance_norm;
    bool fuse_mul_add, fuse_blocks;

    /* --- Graph --- */
    bool optimize;
    struct by_setting_texts passes;
    int64_t opset;
    int half_floats;
    bool all_value_info;

    /* --- Solvers and hardware --- */
    bool trials;
    int rotate;
    double smooth; /* alpha, or enum by_smooth_mode */
    int split;
    int cle;
    const char *passes_from;
    double cle_threshold;
    double cle_range;
    int64_t cle_steps;
    bool cle_stem;
    int bias_correction;
    int rounding;
    double rounding_damping, rounding_mix;
    int64_t rounding_starts, rounding_iterations;
    int rounding_inputs;
    bool rounding_biases, rounding_free, rounding_scales;
    bool quark_adaquant; /* asked for scales by that name */
    int64_t rounding_samples;
    struct by_setting_texts rounding_op_types;
    int hardware;
    bool simulate_dpu;
    struct by_setting_texts refine;
    int64_t refine_rounds;

    /* --- MatMulNBits --- */
    int64_t nbits, nbits_group, nbits_accuracy_level;
    bool nbits_symmetric;
    int nbits_method;
};

/* Groups of the recipe; all are bound to one struct by_recipe_settings. */
extern const struct by_option_group by_recipe_types_group, by_recipe_floats_group,
    by_recipe_nodes_group, by_recipe_pairs_group, by_recipe_graph_group, by_recipe_hardware_group,
    by_recipe_nbits_group;

/* What they are bound to. */
struct by_recipe_settings *by_recipe_settings_of(const struct by_config *config);

#endif
