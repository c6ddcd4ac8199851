/*
 * What a user asks of quantization, after presets, files and flags have been put together:
 * a table of settings and rules, without a model. The plan (quant/plan.h) is what becomes of
 * it on one.
 */
#ifndef BY_RECIPE_H
#define BY_RECIPE_H

#include "calib/calib.h"
#include "dtype/dtype.h"

enum by_scale_type { BY_SCALE_FLOAT32, BY_SCALE_FLOAT16, BY_SCALE_POW2, BY_SCALE_INT16 };
enum by_granularity { BY_PER_TENSOR, BY_PER_CHANNEL, BY_PER_GROUP };

/* Types that may be asked for besides those of ir/tensor.h: ONNX has none of 3 bits. */
#define BY_TYPE_INT3  1003
#define BY_TYPE_UINT3 1004
/* Nor formats whose elements share an exponent; dtype/dtype.h has them. */
enum by_block_type {
    BY_TYPE_BFP16 = 1100,
    BY_TYPE_BFP16_RAISED,
    BY_TYPE_MX4,
    BY_TYPE_MX6,
    BY_TYPE_MX9,
    BY_TYPE_MXINT8,
    BY_TYPE_MXFP8_E5M2,
    BY_TYPE_MXFP8_E4M3,
    BY_TYPE_MXFP6_E3M2,
    BY_TYPE_MXFP6_E2M3,
    BY_TYPE_MXFP4_E2M1,
    BY_TYPE_BLOCKS_END,
};

/* How values are put into blocks. */
struct by_block_spec {
    int64_t size;   /* 0: that of the format */
    int64_t axis;   /* where no operator says another */
    bool one_axis;  /* operators have no say */
    bool from_bf16; /* values are rounded to bf16 first */
    enum by_ties ties;
};

/* How the values of a tensor become a smaller type. */
struct by_tensor_spec {
    int64_t elem; /* of ir/tensor.h, blocks are stored as float32; 0: stays float */
    const struct by_dtype *format; /* of floats and blocks; NULL: integers with a scale */
    bool scaled;                   /* floats have a scale, too: by_spec_is_scaled() */
    struct by_block_spec block;
    unsigned bits; /* of its levels, where a wider type may store them: 2 or 3; 0: all it has */
    bool symmetric;
    bool reduce_range; /* 7 bits of 8, 15 of 16 */
    enum by_scale_type scale;
    enum by_granularity granularity;
    int64_t group;                      /* elements of a group, of BY_PER_GROUP */
    const struct by_calibrator *method; /* of weights: minmax, minmse or a power-of-two one */
    struct by_calib_options calib;
};

/* Bits of by_change.set: which members of the spec a rule changes. */
#define BY_CHANGE_ELEM        (1u << 0) /* and bits */
#define BY_CHANGE_SYMMETRIC   (1u << 1)
#define BY_CHANGE_REDUCE      (1u << 2)
#define BY_CHANGE_SCALE       (1u << 3)
#define BY_CHANGE_GRANULARITY (1u << 4) /* and group */
#define BY_CHANGE_METHOD      (1u << 5) /* and calib */

struct by_change {
    struct by_tensor_spec spec;
    unsigned set;
};

/* A text that picks names: as it is, a glob (* ? [...]), or a regular expression ("re:..." or the
 * peer's "^...": POSIX extended). */
struct by_pattern {
    const char *text;
    const char *origin; /* "--exclude", "config.yaml", for messages */
};

/* From any of the starts to any of the ends. */
struct by_span_rule {
    const char **starts, **ends;
    size_t start_count, end_count;
    const char *origin;
};

struct by_patterns {
    struct by_pattern *at;
    size_t count, cap;
};

/* A second pair after that of a tensor, for readers that want another type. */
struct by_conversion {
    bool on;
    struct by_change change;  /* of the recipe's activation */
    struct by_patterns nodes; /* these readers; none: all, and outputs of the model */
};

enum by_rule_kind { BY_RULE_OP_TYPE, BY_RULE_NODE, BY_RULE_TENSOR };

/* One rule; later rules win. The peer's layer_type_config, specific_layer_config and
 * TensorQuantOverrides. */
struct by_rule {
    enum by_rule_kind kind;
    struct by_pattern pattern;                    /* an operator's name, of nodes or of a tensor */
    const struct by_span_rule *span;              /* BY_RULE_NODE: instead of names; else NULL */
    struct by_change input, weight, bias, output; /* BY_RULE_TENSOR: input alone counts */
    bool keep_float;                              /* the whole layer, or the tensor, stays float */
    /* BY_RULE_TENSOR alone: given parameters or range; counts 0: none. */
    const double *scales;
    const int64_t *zeros;
    size_t param_count;
    int axis;        /* of several parameters */
    double range[2]; /* low, high */
    bool has_range;
    struct by_conversion convert;
};

enum by_approach {
    BY_APPROACH_STATIC,  /* activations by calibration */
    BY_APPROACH_WEIGHTS, /* weights alone, DequantizeLinear before the layer */
    BY_APPROACH_DYNAMIC, /* activations while the model runs: MatMulInteger and the like */
    BY_APPROACH_NBITS,   /* MatMulNBits */
};
enum by_format { BY_FORMAT_QDQ, BY_FORMAT_QOPERATOR };
/* How a model says that a tensor is a float of fewer bits. */
enum by_float_form {
    BY_FLOATS_QUARK,    /* ExtendedQuantizeLinear and ExtendedDequantizeLinear */
    BY_FLOATS_CAST,     /* a Cast there and one back */
    BY_FLOATS_COMPILER, /* constants are rounded, the compiler does the rest */
};
/* As what constants in blocks are stored. */
enum by_block_form {
    BY_BLOCKS_RUNTIME, /* what ONNX Runtime dequantizes on processors, and scales of float32 */
    BY_BLOCKS_ONNX,    /* the least that ONNX has, and scales of float8e8m0 */
};
/* The list of operators that are quantized by themselves, facts 6.1. */
enum by_operators { BY_OPERATORS_CNN, BY_OPERATORS_NPU, BY_OPERATORS_TRANSFORMER };
enum by_q_domain { BY_Q_AUTO, BY_Q_ONNX, BY_Q_MICROSOFT };
enum by_bias_kind {
    BY_BIAS_PRODUCT, /* int32, scale of the input times that of the weight */
    BY_BIAS_OWN,     /* a scale of its own, by the bias spec */
    BY_BIAS_FLOAT,
};
enum by_hardware { BY_HARDWARE_NONE, BY_HARDWARE_XINT8, BY_HARDWARE_EXTENDED };
/* What becomes of float16 and bfloat16; AUTO: float32, unless layers are float32 already. */
/* What computes the input of a logarithm: as samples say, float, quantized, or float with the
 * layers that compute a spectrum. */
enum by_logarithms {
    BY_LOGARITHMS_AUTO,
    BY_LOGARITHMS_FLOAT,
    BY_LOGARITHMS_QUANTIZED,
    BY_LOGARITHMS_FRONT_END,
};
/* Pairs that no layer reads: kept, left out unless samples say otherwise, or left out. */
enum by_auto_exclude { BY_EXCLUDE_OFF, BY_EXCLUDE_AUTO, BY_EXCLUDE_ALWAYS };
/* Concat nodes that leave little of an input: in integers, float, or as samples say. */
enum by_joins { BY_JOINS_AUTO, BY_JOINS_QUANTIZED, BY_JOINS_FLOAT };
/* What --mixed may give to layers. */
enum by_mixed_type { BY_MIXED_OFF, BY_MIXED_INT8, BY_MIXED_BFP16, BY_MIXED_MXINT8 };
enum by_half_floats { BY_HALF_AUTO, BY_HALF_TO_FLOAT32, BY_HALF_KEPT };
enum by_cle_mode { BY_CLE_OFF, BY_CLE_AUTO, BY_CLE_EXACT, BY_CLE_REPLACE, BY_CLE_KEEP };
enum by_rotate_mode {
    BY_ROTATE_OFF,
    BY_ROTATE_AUTO,
    BY_ROTATE_HEADS,
    BY_ROTATE_STREAM,
    BY_ROTATE_ON
};
/* Channels with outliers are split off. */
enum by_split_mode { BY_SPLIT_OFF, BY_SPLIT_AUTO, BY_SPLIT_ON };
/* What is no alpha of smoothing. */
enum by_smooth_mode { BY_SMOOTH_ON = -3, BY_SMOOTH_OFF = -2, BY_SMOOTH_AUTO = -1 };
enum by_bias_correction { BY_BIASES_KEPT, BY_BIASES_CORRECTED, BY_BIASES_AUTO };
enum by_rounding {
    BY_ROUNDING_NEAREST,
    BY_ROUNDING_DESCENT,
    BY_ROUNDING_GPTQ,
    BY_ROUNDING_RELAXATION,
};
enum by_nbits_method { BY_NBITS_RTN, BY_NBITS_HQQ, BY_NBITS_MINMSE };

/* Rules for spans that there may be. */
#define BY_RULE_SPANS_MAX 64

/* What a tensor has in 8 bits by itself, in dB. */
struct by_own_sqnr {
    const char *tensor;
    double sqnr;
};

/* What the range of an activation of 8 bits is multiplied by. */
struct by_range_factor {
    const char *tensor;
    double factor;
};

struct by_recipe {
    const char *preset; /* NULL: none */
    struct by_arena *arena;

    enum by_approach approach;
    enum by_format format;
    struct by_tensor_spec activation, weight, bias;
    enum by_bias_kind bias_kind;
    bool headroom_auto;          /* samples decide whether activations have headroom */
    bool activation_method_auto; /* samples may replace activation.method */
    /* What samples may replace weight.method with; NULL: nothing. */
    const struct by_calibrator *other_weight_method;
    bool weight_rows_auto; /* samples decide whether rows of weights are split off */
    bool wide_auto;        /* samples decide about wide_below */
    double wide_below;     /* tensors with less by themselves have 16 bits instead of 8; 0: none */
    struct {               /* sorted by name; none before there are statistics */
        const struct by_own_sqnr *at;
        size_t count;
    } own;
    enum by_joins joins;
    struct { /* outputs of nodes that are such joins, see joins.h; none before there are statistics
              */
        const char *const *at;
        size_t count;
        bool on; /* they stay float */
    } float_joins;
    struct { /* sorted by name; what samples chose by the outputs of the model */
        const struct by_range_factor *at;
        size_t count;
        bool on; /* they apply */
    } factors;
    struct {                /* layers in a narrower type, where that costs little */
        const char *narrow; /* as rules have types; NULL: none */
        double goal;        /* dB on held-out samples; 0: all layers, without a search */
        double share;       /* of multiply-adds in the wider type, at most */
    } mixed;
    bool bias_int16;             /* int32 biases have to fit 16 bits: the scale is made to */
    bool adjust_weight_for_bias; /* widens a weight's scale until the bias fits int32 */

    /* --- Which nodes --- */
    enum by_operators operators;
    struct by_patterns op_types;       /* only these; none: the list */
    struct by_patterns extra_op_types; /* besides the list */
    bool all_op_types;
    struct by_patterns nodes;   /* only these; none: all */
    struct by_patterns exclude; /* node names */
    struct by_patterns exclude_op_types;
    struct by_patterns input_nodes, output_nodes; /* what is before, after stays float */
    struct {
        struct by_span_rule *at;
        size_t count, cap;
    } exclude_spans;
    struct {
        struct by_rule *at;
        size_t count, cap;
    } rules;

    /* --- Where pairs stand --- */
    bool dedicated_pairs;    /* one pair for each reader */
    bool dedicated_dq;       /* one DequantizeLinear for each reader */
    bool dual_pairs;         /* a second pair where a reader's rule wants another type */
    bool keep_float_weights; /* weights with QuantizeLinear and DequantizeLinear */
    bool keep_float_blocks;  /* those of blocks with their operator */
    enum by_block_form block_form;
    bool fold_relu;               /* an asymmetric range takes the place of Relu and Clip */
    bool align_elementwise;       /* constants of Add, Mul, ... get the activation's type */
    bool keep_unquantized_chains; /* Reshape, Transpose, ... only after quantized tensors */
    bool matmul_constant_only;
    enum by_logarithms logarithms;
    enum by_auto_exclude auto_exclude;
    bool spares_pairs; /* those that no layer reads are left out */
    struct by_patterns no_output_op_types, no_output_nodes; /* no pairs on their outputs */
    /* A pair between a layer and its activation is left out for: */
    bool fuse_relu, fuse_clip, fuse_leaky_relu, fuse_prelu, fuse_gelu, fuse_instance_norm;
    bool fuse_mul_add;
    struct by_patterns fuse_between; /* "Mul>Add": no pair between the two */
    struct by_patterns passthrough;  /* operators whose output takes its input's range */
    bool fuse_blocks;                /* those before formats of blocks, too */
    enum by_q_domain domain;
    enum by_float_form floats;
    bool float_clip; /* what a float type cannot hold is cut off before it */

    /* --- Graph --- */
    bool optimize;             /* folds and fusions */
    struct by_patterns passes; /* "name" switches a pass on, "-name" off */
    const char *passes_from;   /* file of what is done before all else; NULL: none */
    int64_t opset;             /* to convert to; 0: as it is */
    bool all_value_info;       /* the quantized model declares all types and shapes */
    enum by_half_floats half_floats;

    /* --- Solvers and hardware --- */
    enum by_rotate_mode rotate;
    double smooth; /* alpha, or enum by_smooth_mode */
    enum by_split_mode split;
    enum by_cle_mode cle;
    double cle_threshold;
    double cle_range; /* times that of its tensor a channel may reach, 0: any */
    int64_t cle_steps;
    bool cle_stem;
    /* Biases make up for the mean of what rounding weights does. */
    enum by_bias_correction bias_correction;
    enum by_rounding rounding; /* of weights */
    double rounding_damping, rounding_mix;
    unsigned rounding_starts;             /* of descent */
    unsigned rounding_iterations;         /* of the relaxation */
    bool rounding_on_float;               /* layers are solved on what the float model gives */
    bool rounding_biases;                 /* are solved with the weights */
    bool rounding_free;                   /* integers need not be next to the weights */
    bool rounding_scales;                 /* of what layers read are solved with it */
    int64_t rounding_samples;             /* at most */
    struct by_patterns rounding_op_types; /* only these; none: all that can be */
    enum by_hardware hardware;
    bool simulate_dpu;
    struct by_patterns refine; /* "name" switches a rule on, "-name" off */
    int64_t refine_rounds;
    bool compat; /* as Quark 0.13, defects included */

    /* --- MatMulNBits --- */
    struct {
        int64_t bits, group, accuracy_level;
        bool symmetric;
        enum by_nbits_method method;
    } nbits;
};

/* Sets elem, bits and format: an element type, one of BY_TYPE_*, or 0. */
void by_spec_set_type(struct by_tensor_spec *spec, int64_t type);
bool by_spec_is_integer(const struct by_tensor_spec *spec);
bool by_spec_is_block(const struct by_tensor_spec *spec);
/* The same of a type as options have it. */
bool by_type_is_integer(int64_t type);
bool by_type_is_block(int64_t type);
bool by_type_is_fp8(int64_t type);
/* A float type whose values are divided by a scale before they are rounded. */
bool by_spec_is_scaled(const struct by_tensor_spec *spec);
/* One that Quark's operators have no scale for: all but bfloat16. */
bool by_spec_is_divided(const struct by_tensor_spec *spec);
/* The type that holds the codes of a format of blocks where constants are stored in it; NULL for
 * other formats. */
const struct by_dtype *by_spec_block_codes(const struct by_dtype *format, enum by_block_form form,
                                           int64_t opset);
/* A copy of the recipe for models that are run here and thrown away. */
struct by_recipe by_recipe_to_run(const struct by_recipe *recipe);
bool by_spec_is_unsigned(const struct by_tensor_spec *spec);
/* The levels of an integer type, facts 4.2: symmetric signed types lose their lowest one. */
void by_spec_levels(const struct by_tensor_spec *spec, int64_t *qmin, int64_t *qmax);
/* What levels of 2 and 3 bits are stored as: the smallest type that DequantizeLinear of the
 * recipe's domain has in that opset, and that ONNX Runtime takes. Other types stay. */
void by_spec_store(struct by_tensor_spec *spec, const struct by_recipe *recipe, int64_t opset);
/* What calibration methods want to know about a spec. */
void by_spec_target(const struct by_tensor_spec *spec, struct by_calib_target *target);
/* What the change sets. */
void by_spec_apply(struct by_tensor_spec *spec, const struct by_change *change);
/* "int8, symmetric, power of two, per channel"; returns buf. */
const char *by_spec_text(const struct by_tensor_spec *spec, char *buf, size_t size);
/* The same of a row of the plan: "int3 in int4, symmetric". */
const char *by_spec_stored_text(const struct by_tensor_spec *spec, char *buf, size_t size);
/* Their beginning: "int3", "int3 in int4"; "float". */
const char *by_spec_type(const struct by_tensor_spec *spec, char *buf, size_t size);
const char *by_spec_stored_type(const struct by_tensor_spec *spec, char *buf, size_t size);
/* True when the pattern picks the name. */
int by_pattern_picks(const struct by_pattern *pattern, const char *name, bool *picks,
                     struct baryon_error *err);

/* True when some activations become integers, by ranges. */
bool by_recipe_has_ranges(const struct by_recipe *recipe);
/* True when the recipe needs samples or statistics. */
bool by_recipe_needs_data(const struct by_recipe *recipe);
/* True when held-out samples say which layers have recipe->mixed.narrow. */
bool by_recipe_searches(const struct by_recipe *recipe);
/* Operators whose weights are rounded by solving. */
#define BY_ROUNDING_OPS      "Conv, ConvTranspose, Gemm and MatMul"
#define BY_ROUNDING_OP_COUNT 4
bool by_rounding_op(const char *type);

#endif
