/*
 * The options of quantization, for the command line, files, presets and the library, and the
 * recipe that they make (quant/recipe.h).
 *
 * Three things stand besides plain values:
 *   - presets (preset/preset.h) are values between the defaults and what was given;
 *   - rules for operator types, nodes and tensors, maps in files and short texts on the command
 *     line (quantize_rules.h);
 *   - options of Quark, which are translated into ours (quantize_alias.h).
 */
#ifndef BY_QUANTIZE_SETTINGS_H
#define BY_QUANTIZE_SETTINGS_H

#include "quantize_rules.h"
#include "settings.h"

/* Values of --bias besides element types. */
#define BY_BIAS_INT32     1000
#define BY_BIAS_AS_WEIGHT 1001
/* --rounding-samples by default. */
#define BY_ROUNDING_SAMPLES 1024
/* Values of --bias-scale and --bias-method. */
#define BY_AS_WEIGHT 100

struct by_recipe_settings {
    /* --- Preset --- */
    const char *preset;
    int compat;
    struct by_setting_pairs extra;
    struct by_setting_texts notices; /* about options of Quark's */

    /* --- Types --- */
    int approach, format, domain;
    int activation, activation_scale, activation_method;
    bool activation_symmetric, activation_reduce_range;
    double activation_headroom, percentile;
    bool percentile_symmetric, percentile_guard, moving_average;
    struct by_setting_numbers percentile_candidates;
    int layerwise_metric;
    int64_t entropy_bins, entropy_levels;
    int weight, weight_scale, weight_method, weight_granularity;
    bool weight_symmetric, weight_reduce_range;
    int64_t group_size;
    double weight_percentile;
    int bias, bias_scale, bias_method;
    bool bias_int16, adjust_weight_for_bias;

    /* --- Floats and blocks --- */
    int float_form;
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
    bool dedicated_pairs, dedicated_dq, keep_float_weights, keep_float_blocks, fold_relu,
        align_elementwise;
    bool keep_unquantized_chains;
    struct by_setting_texts no_output_op_types, no_output_nodes, passthrough, fuse_between;
    bool fuse_relu, fuse_clip, fuse_leaky_relu, fuse_prelu, fuse_gelu, fuse_instance_norm;
    bool fuse_mul_add, fuse_blocks;

    /* --- Graph --- */
    bool optimize;
    struct by_setting_texts passes;
    int64_t opset;
    int half_floats;

    /* --- Solvers and hardware --- */
    int cle;
    const char *passes_from;
    double cle_threshold;
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

/* The groups of the recipe, in the order of help; all are bound to one struct by_recipe_settings.
 */
#define BY_RECIPE_GROUPS 8
extern const struct by_option_group by_recipe_preset_group, by_recipe_types_group,
    by_recipe_floats_group, by_recipe_nodes_group, by_recipe_pairs_group, by_recipe_graph_group,
    by_recipe_hardware_group, by_recipe_nbits_group;
const struct by_option_group *const *by_recipe_groups(void);

/*
 * The recipe, in the config's arena. Settings are completed on the way: values of the preset and
 * of --extra are put in, and defaults that depend on other values are made definite. What
 * contradicts itself, or has no meaning beside the rest, is BARYON_ERR_USAGE.
 */
int by_recipe_make(struct by_config *config, struct by_recipe **recipe, struct baryon_error *err);

/* Binds all groups to settings. */
int by_recipe_bind(struct by_config *config, struct by_recipe_settings *settings,
                   struct baryon_error *err);
/* What they are bound to. */
struct by_recipe_settings *by_recipe_settings_of(const struct by_config *config);

/* All options of the recipe that have a meaning together, after by_recipe_make() completed them:
 * as a configuration file, and as members of an object. */
void by_recipe_write(const struct by_config *config, struct by_str *out);
/* settings: a struct by_recipe_settings. */
bool by_recipe_has_meaning(const void *settings, const struct by_option *option);
void by_recipe_json(const struct by_config *config, struct by_json *json);

#endif
