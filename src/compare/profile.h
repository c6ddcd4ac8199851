/*
 * How a model is quantized, whoever quantized it: which tensors have which types and scales, and
 * in which types its layers compute. The model is not changed.
 *
 * Tensors have the names of the float model, as far as those are known: of a pair the value that
 * it stands on, of a constant without what tools add to its name (profile_name.c).
 */
#ifndef BY_PROFILE_H
#define BY_PROFILE_H

#include "base/map.h"
#include "quant/form.h"
#include "quant/plan.h"

struct by_profile_type {
    const char *name; /* "int8", "bfp16", "float32", "int4" */
    double bits;      /* an element */
};

struct by_profile_tensor {
    const char *name;
    enum by_role role;
    struct by_profile_type type;
    struct by_params params;            /* count 0: no scales, or none that are constant */
    int64_t elem;                       /* of the integers; 0: blocks and floats */
    size_t block;                       /* neighbours that share a scale; 0: no blocks */
    const struct baryon_tensor *stored; /* a constant's integers, or floats; NULL: none */
    size_t next;                        /* another tensor of this name; BY_NO_ROW: none */
};

/* What a layer reads. */
struct by_profile_operand {
    size_t tensor; /* BY_NO_ROW: it is not quantized */
    struct by_profile_type type;
    const struct baryon_tensor *stored; /* a constant that is not quantized; NULL: none */
    const char *name;                   /* of a constant; NULL: nodes compute it */
};

struct by_profile_layer {
    const char *name, *op_type, *output; /* names without what tools add */
    struct by_profile_operand data, weight, bias;
    bool has_weight, has_bias;
    double bits; /* of the wider of data and weight */
    double macs;
    bool open; /* some sizes are not known */
};

struct by_profile_op {
    const char *domain, *op_type;
    uint64_t nodes;
};

struct by_profile {
    struct by_arena arena;
    struct baryon_model *model;
    struct {
        struct by_profile_tensor *at;
        size_t count, cap;
    } tensors;
    struct {
        struct by_profile_layer *at;
        size_t count, cap;
    } layers; /* nodes that compute on floats, or on what stands for them */
    struct {
        struct by_profile_op *at;
        size_t count, cap;
    } ops;                          /* most nodes first, then by name */
    uint64_t forms[BY_QUANT_FORMS]; /* nodes of each form */
    uint64_t nodes;
    double macs;
    bool open;
    struct by_map by_name;  /* name of a tensor -> place + 1 */
    struct by_map by_value; /* value -> place + 1 of the tensor that it holds */
    struct by_map by_op;
};

/* The model is linked and inferred. */
int by_profile_open(struct by_profile *profile, struct baryon_model *model,
                    struct baryon_error *err);
void by_profile_close(struct by_profile *profile);
bool by_profile_is_quantized(const struct by_profile *profile);
/* The first tensor of that name; BY_NO_ROW: none. */
size_t by_profile_find(const struct by_profile *profile, const char *name);
/* A tensor's values as float, into the arena: what the integers mean, or rounded to levels where
 * floats are stored. NULL without an error where they are not known. */
int by_profile_values(const struct by_profile_tensor *tensor, struct by_arena *arena,
                      float **values, size_t *count, struct baryon_error *err);

/* --- Between the files of the profile --- */

/* The name without endings of Quark, ONNX Runtime and Baryon. */
const char *by_profile_name(struct by_arena *arena, const char *name, struct baryon_error *err);

/* Of a constant that becomes the value: a weight, or the bias of the layer that reads it. */
enum by_role by_profile_role(const struct baryon_value *out);
struct by_profile_type by_profile_elem(int64_t elem);
/* Scales and zero points; either may be NULL. axis counts where there are several. */
int by_profile_read(struct by_arena *arena, const struct baryon_tensor *scales,
                    const struct baryon_tensor *zeros, int axis, struct by_params *params,
                    struct baryon_error *err);
/* The tensor that a value holds; BY_NO_ROW: none. */
size_t by_profile_holds(const struct by_profile *profile, const struct baryon_value *value);
int by_profile_set_holds(struct by_profile *profile, const struct baryon_value *value,
                         size_t tensor, struct baryon_error *err);
/* Adds the tensor, or finds the equal one of its name, as pairs for single readers have it. */
int by_profile_add(struct by_profile *profile, const struct by_profile_tensor *tensor, size_t *at,
                   struct baryon_error *err);

/* What one node says. */
int by_profile_pair(struct by_profile *profile, struct baryon_node *node, struct baryon_error *err);
int by_profile_block(struct by_profile *profile, struct baryon_node *node,
                     struct baryon_error *err);
int by_profile_operator(struct by_profile *profile, struct baryon_node *node,
                        struct baryon_error *err);
/* The node is a part of the form of quantization and computes nothing itself. */
bool by_profile_is_form(const struct baryon_node *node);
int by_profile_add_layer(struct by_profile *profile, struct baryon_node *node,
                         struct baryon_error *err);

/* Inputs and outputs of an operator on integers: places of value, scale and zero point; -1: none.
 */
struct by_profile_slots {
    int value, scale, zero;
};
struct by_profile_operator_row {
    const char *op_type;
    struct by_profile_slots data, weight, bias, output;
};
/* NULL when the operator is not in the table. */
const struct by_profile_operator_row *by_profile_operator_row(const struct baryon_node *node);

#endif
