/* Chooses the operators and attributes that quantize a value to its number format. */
#include "quant/lower_format.h"

#include "quant/floats.h"
#include "quant/lower_block.h"
#include "quant/lower_node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- Which operator --- */

static bool is_cast(const struct by_recipe *recipe, const struct by_quant_row *row)
{
    return row->spec.format && !by_spec_is_block(&row->spec) &&
           (recipe->floats != BY_FLOATS_QUARK || by_spec_is_divided(&row->spec));
}

bool by_lower_is_quark(const struct by_recipe *recipe, const struct by_quant_row *row)
{
    return row->spec.format && !is_cast(recipe, row) && !by_lower_is_stored(row);
}

bool by_lower_is_rounded(const struct by_recipe *recipe, const struct by_quant_row *row)
{
    return is_cast(recipe, row) && recipe->floats == BY_FLOATS_COMPILER &&
           row->role != BY_ROLE_ACTIVATION;
}

/* Names of nodes are those of pairs, whatever the operator. */
static const char *const words[] = {
    [BY_NARROWS] = "QuantizeLinear", [BY_WIDENS] = "DequantizeLinear"};

static bool is_microscaled(const struct by_dtype *format)
{
    return !strncmp(format->name, "mxfp", 4) || !strcmp(format->name, "mxint8");
}

static const char *operator_of(const struct by_recipe *recipe, const struct by_quant_row *row,
                               enum by_half half)
{
    static const char *const extended[] = {
        [BY_NARROWS] = "ExtendedQuantizeLinear", [BY_WIDENS] = "ExtendedDequantizeLinear"};
    if (by_lower_is_stored(row))
        return words[half];
    if (by_spec_is_block(&row->spec))
        return is_microscaled(row->spec.format) ? "MXQuantizeDequantize" : "BFPQuantizeDequantize";
    if (is_cast(recipe, row))
        return "Cast";
    return row->spec.format ? extended[half] : words[half];
}

/* --- With which attributes --- */

static int set_axes(struct baryon_node *node, const struct by_params *params,
                    const struct by_tensor_spec *spec, struct baryon_error *err)
{
    if (params->groups > 1 && params->group_axis >= 0)
        return by_node_set_int(node, "axis", params->group_axis, err) ||
                       by_node_set_int(node, "block_size", spec->group, err)
                   ? -1
                   : 0;
    return params->axis >= 0 ? by_node_set_int(node, "axis", params->axis, err) : 0;
}

struct number {
    const char *name;
    int64_t value;
};

static int set_numbers(struct baryon_node *node, const struct number *numbers,
                       struct baryon_error *err)
{
    for (; numbers->name; numbers++)
        if (by_node_set_int(node, numbers->name, numbers->value, err))
            return -1;
    return 0;
}

static int64_t rounding_mode(enum by_ties ties)
{
    return ties == BY_TIES_AWAY ? 0 : ties == BY_TIES_UP ? 1 : 2;
}

static int64_t block_size(const struct by_tensor_spec *spec)
{
    return spec->block.size ? spec->block.size : (int64_t)spec->format->block.size;
}

static int set_microscaled(struct baryon_node *node, const struct by_quant_row *row,
                           struct baryon_error *err)
{
    const struct by_tensor_spec *spec = &row->spec;
    const struct number numbers[] = {{"axis", row->block_axis},
                                     {"block_size", block_size(spec)},
                                     {"rounding_mode", rounding_mode(spec->block.ties)},
                                     {0}};
    if (by_node_set_text(node, "element_dtype", spec->format->name + strlen("mx"), err))
        return -1;
    return set_numbers(node, numbers, err);
}

/* Of bit_width eight are the exponent's, shared or not; what has no shifts has their defaults. */
static int set_block(struct baryon_node *node, const struct by_quant_row *row,
                     struct baryon_error *err)
{
    const struct by_tensor_spec *spec = &row->spec;
    const struct by_block_layout *layout = &spec->format->block;
    const struct number numbers[] = {{"axis", row->block_axis},
                                     {"bit_width", (int64_t)spec->format->bits + 8},
                                     {"block_size", block_size(spec)},
                                     {"rounding_mode", rounding_mode(spec->block.ties)},
                                     {"sub_block_size", layout->sub ? (int64_t)layout->sub : 2},
                                     {"sub_block_shift_bits", layout->sub ? layout->shifts : 1},
                                     {"convert_to_bfloat_before_bfp", spec->block.from_bf16},
                                     {0}};
    if (by_node_set_text(node, "bfp_method", layout->sub ? "to_bfp_prime" : "to_bfp", err) ||
        set_numbers(node, numbers, err))
        return -1;
    return layout->raises ? by_node_set_int(node, "use_compiler_version_cpu_kernel", 1, err) : 0;
}

static int set_attributes(struct by_lowering *lowering, size_t index, enum by_half half,
                          struct baryon_node *node, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    if (by_lower_is_stored(row))
        return by_lower_block_attributes(node, lowering->recipe, row, err);
    if (by_spec_is_block(&row->spec))
        return is_microscaled(row->spec.format) ? set_microscaled(node, row, err)
                                                : set_block(node, row, err);
    if (is_cast(lowering->recipe, row))
        return by_node_set_int(node, "to", half == BY_NARROWS ? row->spec.elem : row->value->elem,
                               err);
    return row->spec.format
               ? 0
               : set_axes(node, by_quant_params(lowering->plan, index), &row->spec, err);
}

/* --- The nodes --- */

/* After the value: scale and zero point, or what there is of them. */
static int find_inputs(struct by_lowering *lowering, size_t index, struct baryon_value **inputs,
                       size_t *count, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    *count = 1;
    if (by_lower_is_stored(row)) {
        inputs[(*count)++] = lowering->at[index].scale;
        return 0;
    }
    if (by_spec_is_block(&row->spec) || is_cast(lowering->recipe, row))
        return 0;
    *count = 3;
    return by_lower_params(lowering, index, &inputs[1], &inputs[2], err);
}

static struct baryon_value *add_half(struct by_lowering *lowering, size_t index, enum by_half half,
                                     struct baryon_value *input, const char *stem, size_t number,
                                     struct baryon_error *err)
{
    char suffix[64];
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    struct baryon_value *inputs[3] = {input};
    size_t count;
    if (find_inputs(lowering, index, inputs, &count, err))
        return NULL;
    snprintf(suffix, sizeof suffix, "%s_Output", words[half]);
    const char *name = by_lower_name(lowering, stem, words[half], number, err);
    const char *output = name ? by_lower_name(lowering, stem, suffix, number, err) : NULL;
    if (!output)
        return NULL;
    const char *domain = by_lower_is_quark(lowering->recipe, row) ? BY_QUARK
                         : row->spec.format                       ? ""
                                                                  : lowering->domain;
    struct baryon_node *node =
        by_graph_add_node(lowering->graph, operator_of(lowering->recipe, row, half),
                          domain[0] ? domain : NULL, name, inputs, count, &output, 1, err);
    if (!node || set_attributes(lowering, index, half, node, err))
        return NULL;
    struct baryon_value *made = by_node_out(node, 0);
    made->elem = half == BY_NARROWS ? row->spec.elem : row->value->elem;
    made->shape = row->value->shape;
    return made;
}

/* --- A Cast has no scale: what it narrows is divided by it before, what it widens multiplied ---
 */

bool by_lower_is_divided(const struct by_recipe *recipe, const struct by_quant_row *row)
{
    return is_cast(recipe, row) && by_spec_is_scaled(&row->spec);
}

/* A node of ONNX that gives what is like the row's value; output NULL: a name failed. */
static struct baryon_value *add_float(struct by_lowering *lowering, const struct by_quant_row *row,
                                      const char *op_type, const char *name, const char *output,
                                      struct baryon_value *const *inputs, size_t count,
                                      struct baryon_error *err)
{
    struct baryon_node *node = output ? by_graph_add_node(lowering->graph, op_type, NULL, name,
                                                          inputs, count, &output, 1, err)
                                      : NULL;
    if (!node)
        return NULL;
    by_node_out(node, 0)->elem = row->value->elem;
    by_node_out(node, 0)->shape = row->value->shape;
    return by_node_out(node, 0);
}

static struct baryon_value *add_scaling(struct by_lowering *lowering, size_t index,
                                        const char *op_type, struct baryon_value *input,
                                        const char *stem, size_t number, struct baryon_error *err)
{
    char suffix[32];
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    struct baryon_value *inputs[2] = {input};
    if (by_lower_scale(lowering, index, &inputs[1], err))
        return NULL;
    snprintf(suffix, sizeof suffix, "%s_Output", op_type);
    const char *name = by_lower_name(lowering, stem, op_type, number, err);
    const char *output = name ? by_lower_name(lowering, stem, suffix, number, err) : NULL;
    return add_float(lowering, row, op_type, name, output, inputs, 2, err);
}

struct baryon_value *by_lower_divide(struct by_lowering *lowering, size_t index, const char *stem,
                                     struct baryon_error *err)
{
    return add_scaling(lowering, index, "Div", lowering->plan->rows.at[index].value, stem, 0, err);
}

struct baryon_value *by_lower_half(struct by_lowering *lowering, size_t index, enum by_half half,
                                   struct baryon_value *input, const char *stem, size_t number,
                                   struct baryon_error *err)
{
    struct baryon_value *made = add_half(lowering, index, half, input, stem, number, err);
    if (!made || half == BY_NARROWS ||
        !by_lower_is_divided(lowering->recipe, &lowering->plan->rows.at[index]))
        return made;
    return add_scaling(lowering, index, "Mul", made, stem, number, err);
}

static struct baryon_value *add_limit(struct by_lowering *lowering, const struct by_dtype *format,
                                      const char *what, float limit, struct baryon_error *err)
{
    const char *name = by_lower_name(lowering, format->name, what, 0, err);
    struct baryon_tensor *tensor = name ? by_tensor_new(lowering->model, name, BY_ELEM_FLOAT, NULL,
                                                        0, &limit, sizeof limit, err)
                                        : NULL;
    return tensor ? by_graph_add_initializer(lowering->graph, tensor, err) : NULL;
}

static int find_limits(struct by_lowering *lowering, const struct by_dtype *format,
                       struct baryon_error *err)
{
    struct baryon_value **limits = lowering->limits[format->elem];
    const float most = (float)by_dtype_max(format);
    if (!limits[0])
        limits[0] = add_limit(lowering, format, "clip_min", -most, err);
    if (limits[0] && !limits[1])
        limits[1] = add_limit(lowering, format, "clip_max", most, err);
    return limits[1] ? 0 : -1;
}

struct baryon_value *by_lower_clip(struct by_lowering *lowering, size_t index, const char *stem,
                                   struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    if (find_limits(lowering, row->spec.format, err))
        return NULL;
    struct baryon_value *const *limits = lowering->limits[row->spec.elem];
    struct baryon_value *const inputs[] = {row->value, limits[0], limits[1]};
    const char *name = by_lower_name(lowering, stem, "Clip", 0, err);
    const char *output = name ? by_lower_name(lowering, stem, "clip_output", 0, err) : NULL;
    return add_float(lowering, row, "Clip", name, output, inputs, 3, err);
}

/* --- Constants --- */

/* values as multiples of the row's scale. */
static int encode_scaled(const struct by_quant_row *row, const float *values, size_t count,
                         struct by_pool *pool, uint8_t *out, struct baryon_error *err)
{
    float *parts = by_alloc(count, sizeof *parts, err);
    if (!parts)
        return -1;
    for (size_t i = 0; i < count; i++)
        parts[i] = values[i] / row->params.scales[0];
    const int failed =
        by_dtype_encode(row->spec.format, parts, count, &by_cast_default, pool, out, err);
    by_free(parts);
    return failed;
}

int by_lower_floats(const struct by_recipe *recipe, const struct by_quant_row *row,
                    const float *values, size_t count, struct by_pool *pool, uint8_t *out,
                    struct baryon_error *err)
{
    if (by_lower_is_rounded(recipe, row))
        return by_dtype_round(row->spec.format, values, count, &by_cast_default, pool,
                              (float *)(void *)out, err);
    if (by_spec_is_scaled(&row->spec))
        return encode_scaled(row, values, count, pool, out, err);
    return by_dtype_encode(row->spec.format, values, count, &by_cast_default, pool, out, err);
}

static bool holds_all(const float *values, size_t count, float most)
{
    unsigned outside = 0;
    for (size_t i = 0; i < count; i++)
        outside |= !(fabsf(values[i]) <= most);
    return !outside;
}

static int replace_constant(struct by_quant_row *row, struct baryon_value *made,
                            struct baryon_error *err)
{
    struct baryon_value *old = row->value;
    for (size_t i = 0; i < row->readers.count; i++)
        if (by_node_set_input(row->readers.at[i].node, row->readers.at[i].slot, made, err))
            return -1;
    row->value = made;
    return by_lower_drop(old, err);
}

/* Values in place of the constant, as far as its type holds them. */
static int put_values(struct by_lowering *lowering, struct by_quant_row *row, const char *suffix,
                      const float *values, size_t count, float most, struct baryon_error *err)
{
    const struct by_ints *dims = &row->value->initializer->dims;
    const char *name = by_lower_name(lowering, row->value->name, suffix, 0, err);
    struct baryon_tensor *tensor =
        name ? by_tensor_new(lowering->model, name, BY_ELEM_FLOAT, dims->at, dims->count, NULL,
                             count * sizeof *values, err)
             : NULL;
    struct baryon_value *made =
        tensor ? by_graph_add_initializer(lowering->graph, tensor, err) : NULL;
    if (!made)
        return -1;
    float *out = (float *)(uintptr_t)tensor->raw_data.data;
    for (size_t i = 0; i < count; i++)
        out[i] = fminf(fmaxf(values[i], -most), most);
    made->elem = row->value->elem;
    made->shape = row->value->shape;
    return replace_constant(row, made, err);
}

int by_lower_fit(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    struct by_quant_row *row = &lowering->plan->rows.at[index];
    struct by_floats_view floats;
    if (by_floats_open(&floats, row->value->initializer, err))
        return -1;
    const float scale = by_spec_is_scaled(&row->spec) ? row->params.scales[0] : 1;
    const float most = (float)(by_dtype_max(row->spec.format) * (double)scale);
    int failed = 0;
    if (row->solved)
        failed = put_values(lowering, row, "solved", row->solved, floats.count, INFINITY, err);
    else if (!holds_all(floats.values, floats.count, most))
        failed = put_values(lowering, row, "clipped", floats.values, floats.count, most, err);
    by_floats_close(&floats);
    return failed;
}
