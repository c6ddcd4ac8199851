/* Tensors of QuantizeLinear and DequantizeLinear, in pairs or alone, and of pairs of Casts. */
#include "compare/profile.h"

#include "ir/opinfo.h"
#include "ir/shape.h"

/* --- Constants --- */

enum by_role by_profile_role(const struct baryon_value *out)
{
    for (size_t i = 0; out && i < out->use_count; i++) {
        const struct baryon_node *reader = out->uses[i].node;
        const struct by_opinfo *info = reader ? by_node_opinfo(reader) : NULL;
        if (info && info->bias != BY_SLOT_NONE && out->uses[i].slot == (size_t)info->bias)
            return BY_ROLE_BIAS;
        if (reader && by_form_dequantizes(reader))
            return by_profile_role(by_node_out(reader, 0));
    }
    return BY_ROLE_WEIGHT;
}

/* --- Pairs --- */

static int64_t type_of_half(const struct baryon_node *node)
{
    const struct baryon_tensor *zeros = by_value_constant(by_node_in(node, 2));
    const struct baryon_value *integers =
        by_form_dequantizes(node) ? by_node_in(node, 0) : by_node_out(node, 0);
    const struct baryon_tensor *stored = by_value_constant(integers);
    if (zeros || stored)
        return zeros ? zeros->data_type : stored->data_type;
    if (integers && integers->elem)
        return integers->elem;
    return by_node_int(node, "output_dtype", BY_ELEM_UINT8);
}

/* Counted from the front. */
static int axis_of_half(const struct baryon_node *node)
{
    const struct baryon_tensor *stored = by_value_constant(by_node_in(node, 0));
    const struct baryon_value *in = by_node_in(node, 0);
    const int64_t axis = by_node_int(node, "axis", 1);
    const int64_t rank = stored      ? (int64_t)stored->dims.count
                         : in->shape ? (int64_t)in->shape->rank
                                     : 0;
    return (int)(axis < 0 && axis + rank >= 0 ? axis + rank : axis);
}

static int add_half(struct by_profile *profile, const struct baryon_node *node, const char *name,
                    struct baryon_error *err)
{
    struct by_profile_tensor tensor = {.elem = type_of_half(node), .role = BY_ROLE_ACTIVATION};
    const struct baryon_value *out = by_node_out(node, 0);
    size_t at;
    tensor.stored = by_value_constant(by_node_in(node, 0));
    if (tensor.stored)
        tensor.role = by_profile_role(out);
    tensor.type = by_profile_elem(tensor.elem);
    tensor.block = (size_t)by_node_int(node, "block_size", 0);
    tensor.name = by_profile_name(&profile->arena, name, err);
    if (!tensor.name ||
        by_profile_read(&profile->arena, by_value_constant(by_node_in(node, 1)),
                        by_value_constant(by_node_in(node, 2)), axis_of_half(node), &tensor.params,
                        err) < 0 ||
        by_profile_add(profile, &tensor, &at, err) < 0)
        return -1;
    return by_profile_set_holds(profile, out, at, err);
}

static int add_dequantize(struct by_profile *profile, const struct baryon_node *node,
                          struct baryon_error *err)
{
    const struct baryon_value *in = by_node_in(node, 0), *out = by_node_out(node, 0);
    const size_t held = by_profile_holds(profile, in);
    if (held != BY_NO_ROW)
        return by_profile_set_holds(profile, out, held, err);
    return add_half(profile, node, by_value_constant(in) ? in->name : out->name, err);
}

/* --- Casts to floats of fewer bits and back --- */

static bool is_narrow(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return info && info->class == BY_CLASS_FLOAT && info->bits < 32;
}

static bool is_widening(const struct baryon_node *node)
{
    return node && by_node_is(node, "Cast") && by_node_int(node, "to", 0) == BY_ELEM_FLOAT;
}

static bool all_widen(const struct baryon_value *value)
{
    for (size_t i = 0; i < value->use_count; i++)
        if (!is_widening(value->uses[i].node))
            return false;
    return value->use_count > 0;
}

static int add_cast(struct by_profile *profile, const struct baryon_node *node,
                    struct baryon_error *err)
{
    const struct baryon_value *in = by_node_in(node, 0), *out = by_node_out(node, 0);
    const size_t held = by_profile_holds(profile, in);
    const int64_t to = by_node_int(node, "to", 0);
    const struct baryon_tensor *stored = by_value_constant(in);
    struct by_profile_tensor tensor = {.stored = stored,
                                       .role = stored ? by_profile_role(out) : BY_ROLE_ACTIVATION};
    size_t at;
    if (is_widening(node) && held != BY_NO_ROW)
        return by_profile_set_holds(profile, out, held, err);
    if (is_widening(node) && stored && is_narrow(stored->data_type))
        tensor.elem = stored->data_type;
    else if (is_narrow(to) && in->elem == BY_ELEM_FLOAT && all_widen(out))
        tensor.elem = to;
    else
        return 0;
    tensor.type = by_profile_elem(tensor.elem);
    tensor.name = by_profile_name(&profile->arena, in->name, err);
    if (!tensor.name || by_profile_add(profile, &tensor, &at, err) < 0)
        return -1;
    return by_profile_set_holds(profile, out, at, err);
}

int by_profile_pair(struct by_profile *profile, struct baryon_node *node, struct baryon_error *err)
{
    const struct baryon_value *in = by_node_in(node, 0);
    if (!in || !by_node_out(node, 0))
        return 0;
    if (by_form_quantizes(node))
        return add_half(profile, node, in->name, err);
    if (by_form_dequantizes(node))
        return add_dequantize(profile, node, err);
    return by_node_is(node, "Cast") ? add_cast(profile, node, err) : 0;
}
