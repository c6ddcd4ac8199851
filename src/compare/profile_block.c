/* Tensors of block formats, which one node rounds, and of weights that are stored in few bits. */
#include "compare/profile.h"

#include "dtype/dtype.h"

#include <stdio.h>
#include <string.h>

static bool is_one_of(const struct baryon_node *node, const char *const *names)
{
    for (; node->op_type && *names; names++)
        if (!strcmp(node->op_type, *names))
            return true;
    return false;
}

static bool is_bfp(const struct baryon_node *node)
{
    return is_one_of(node, (const char *const[]){"BFPQuantizeDequantize", "BFPFixNeuron", NULL});
}

static bool is_mx(const struct baryon_node *node)
{
    return is_one_of(node, (const char *const[]){"MXQuantizeDequantize", "MXFixNeuron", NULL});
}

/* bit_width counts the exponent's eight bits, whether a block shares them or not. */
static const struct by_dtype *find_bfp(const struct baryon_node *node)
{
    static const char prime[] = "to_bfp_prime";
    const int64_t bits = by_node_int(node, "bit_width", 16) - 8;
    const struct baryon_attribute *method = by_node_attr(node, "bfp_method");
    const bool is_prime = method && method->s.size == sizeof prime - 1 &&
                          !memcmp(method->s.data, prime, method->s.size);
    const bool raises = by_node_int(node, "use_compiler_version_cpu_kernel", 0) != 0;
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; i < count; i++) {
        const struct by_block_layout *block = &rows[i]->block;
        if (block->size && rows[i]->bits == bits &&
            (is_prime ? block->sub : !strncmp(rows[i]->name, "bfp", 3)) && block->raises == raises)
            return rows[i];
    }
    return NULL;
}

static const struct by_dtype *find_mx(const struct baryon_node *node)
{
    char name[32];
    const struct baryon_attribute *attr = by_node_attr(node, "element_dtype");
    if (attr && attr->s.size)
        snprintf(name, sizeof name, "mx%.*s", (int)attr->s.size, (const char *)attr->s.data);
    return by_dtype_find(attr && attr->s.size ? name : "mxint8");
}

/* Formats that are no row are named by their operator. */
static struct by_profile_type type_of_rounded(const struct baryon_node *node)
{
    const struct by_dtype *format = is_bfp(node) ? find_bfp(node) : find_mx(node);
    if (format)
        return (struct by_profile_type){format->name, format->bits};
    return (struct by_profile_type){node->op_type, (double)by_node_int(node, "bit_width", 16) - 8};
}

static int add_rounded(struct by_profile *profile, const struct baryon_node *node,
                       struct baryon_error *err)
{
    const struct baryon_value *in = by_node_in(node, 0), *out = by_node_out(node, 0);
    struct by_profile_tensor tensor = {
        .role = by_value_constant(in) ? by_profile_role(out) : BY_ROLE_ACTIVATION,
        .block = (size_t)by_node_int(node, "block_size", is_bfp(node) ? 8 : 32)};
    size_t at;
    if (!in || !out)
        return 0;
    tensor.type = type_of_rounded(node);
    tensor.name = by_profile_name(&profile->arena, in->name, err);
    if (!tensor.name || by_profile_add(profile, &tensor, &at, err) < 0)
        return -1;
    return by_profile_set_holds(profile, out, at, err);
}

/* --- MatMulNBits and its like: levels of few bits in bytes --- */

static int add_packed(struct by_profile *profile, const struct baryon_node *node, size_t slot,
                      struct baryon_error *err)
{
    static const char *const types[] = {NULL,   "int1", "int2", "int3", "int4",
                                        "int5", "int6", "int7", "int8"};
    const int64_t bits = by_node_int(node, "bits", 4);
    const struct baryon_value *levels = by_node_in(node, slot);
    struct by_profile_tensor tensor = {.role = BY_ROLE_WEIGHT,
                                       .block = (size_t)by_node_int(node, "block_size", 0)};
    size_t at;
    if (!levels)
        return 0;
    if (bits < 1 || bits > 8)
        return 0;
    tensor.type = (struct by_profile_type){types[bits], (double)bits};
    tensor.name = by_profile_name(&profile->arena, levels->name, err);
    if (!tensor.name || by_profile_add(profile, &tensor, &at, err) < 0)
        return -1;
    return by_profile_set_holds(profile, levels, at, err);
}

int by_profile_block(struct by_profile *profile, struct baryon_node *node, struct baryon_error *err)
{
    if (is_bfp(node) || is_mx(node))
        return add_rounded(profile, node, err);
    if (by_quant_form_of(node) != BY_QUANT_WEIGHT_ONLY)
        return 0;
    return add_packed(profile, node, !strcmp(node->op_type, "GatherBlockQuantized") ? 0 : 1, err);
}

bool by_profile_is_form(const struct baryon_node *node)
{
    return by_form_quantizes(node) || by_form_dequantizes(node) || is_bfp(node) || is_mx(node) ||
           by_node_is(node, "DynamicQuantizeLinear") || by_node_is(node, "Constant");
}
