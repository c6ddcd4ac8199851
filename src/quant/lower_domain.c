/* Where QuantizeLinear and DequantizeLinear come from, and what float types need. ONNX's own take
 * more types and forms the newer the opset is; those of com.microsoft take 16 and 4 bits and axes
 * with any. */
#include "ir/tensor.h"
#include "quant/lower_block.h"

struct need {
    int64_t opset;
    const char *what;
};

static void want(struct need *need, int64_t opset, const char *what)
{
    if (opset > need->opset)
        *need = (struct need){opset, what};
}

/* ONNX Runtime makes QLinearConv and the like of pairs of either domain; ONNX has them from here.
 */
#define LEAST_OPSET 10

#define CLIP_OPSET 11 /* Clip with limits that are inputs */

/* DequantizeLinear with block_size, and with scales of float8e8m0 as well. */
static int64_t block_opset(const struct by_recipe *recipe)
{
    return recipe->block_form == BY_BLOCKS_ONNX ? 24 : 21;
}

/* What a float type needs of ONNX, where its operators are Quark's: nothing. */
static int64_t float_opset(const struct by_recipe *recipe, const struct by_tensor_spec *spec,
                           bool constant)
{
    if (by_spec_is_block(spec))
        return constant && !recipe->keep_float_blocks ? block_opset(recipe) : 0;
    if (!spec->format)
        return 0;
    const int64_t clip = recipe->float_clip ? CLIP_OPSET : 0, type = by_dtype_opset(spec->format);
    if (by_spec_is_divided(spec))
        return type;
    return recipe->floats == BY_FLOATS_QUARK || clip > type ? clip : type;
}

static int64_t larger(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/* The least that has all of the type in ONNX's own operators. */
static int64_t integer_opset(const struct by_recipe *recipe, const struct by_tensor_spec *spec)
{
    int64_t least = LEAST_OPSET + 1; /* 10 has few operators that runtimes keep */
    if (!by_spec_is_integer(spec))
        return 0;
    const unsigned bits = by_elem_info(spec->elem)->bits;
    if (spec->granularity == BY_PER_CHANNEL)
        least = 13;
    if (spec->granularity == BY_PER_GROUP || (recipe->domain == BY_Q_ONNX && bits == 16))
        least = 21;
    /* Levels of fewer bits are stored as what the opset has. */
    return recipe->domain != BY_Q_MICROSOFT && bits == 4 && !spec->bits ? 21 : least;
}

/* Without it nothing could be written. */
static int64_t needed_opset(const struct by_recipe *recipe, const struct by_tensor_spec *spec,
                            bool constant)
{
    if (!by_spec_is_integer(spec))
        return float_opset(recipe, spec, constant);
    const bool only_onnx = recipe->domain == BY_Q_ONNX || spec->granularity == BY_PER_GROUP;
    if (only_onnx)
        return integer_opset(recipe, spec);
    return recipe->approach == BY_APPROACH_DYNAMIC ? BY_DYNAMIC_OPSET : LEAST_OPSET;
}

bool by_quant_has_type(const struct by_recipe *recipe, const struct by_tensor_spec *spec,
                       bool constant, int64_t opset)
{
    return opset >= needed_opset(recipe, spec, constant);
}

/* A type that a recipe or one of its rules asks for. */
struct asked_type {
    struct by_tensor_spec spec;
    bool constant;
};

#define BASES   3 /* of a recipe */
#define CHANGES 4 /* of a rule */

/* The types of a recipe come first, then those of its rules; false: there is no further one. */
static bool next_type(const struct by_recipe *recipe, size_t place, struct asked_type *type)
{
    const struct by_tensor_spec *const bases[] = {&recipe->activation, &recipe->weight,
                                                  &recipe->bias};
    if (place < BASES) {
        *type = (struct asked_type){*bases[place], place > 0};
        return true;
    }
    const size_t rule = (place - BASES) / CHANGES, side = (place - BASES) % CHANGES;
    if (rule >= recipe->rules.count)
        return false;
    const struct by_rule *at = &recipe->rules.at[rule];
    const struct by_change *const changes[] = {&at->input, &at->weight, &at->bias, &at->output};
    const bool constant = side == 1 || side == 2;
    *type = (struct asked_type){*bases[constant ? side : 0], constant};
    if (changes[side]->set & (BY_CHANGE_ELEM | BY_CHANGE_GRANULARITY))
        by_spec_apply(&type->spec, changes[side]);
    return true;
}

int64_t by_quant_least_opset(const struct by_recipe *recipe)
{
    int64_t least = 0;
    struct asked_type type;
    for (size_t i = 0; next_type(recipe, i, &type); i++)
        least = larger(least, larger(integer_opset(recipe, &type.spec),
                                     float_opset(recipe, &type.spec, type.constant)));
    return recipe->approach == BY_APPROACH_NBITS ? 0 : least;
}

bool by_quant_must_raise(const struct by_recipe *recipe, int64_t opset)
{
    struct asked_type type;
    if (recipe->approach == BY_APPROACH_NBITS)
        return false;
    for (size_t i = 0; next_type(recipe, i, &type); i++)
        if (opset < needed_opset(recipe, &type.spec, type.constant))
            return true;
    return false;
}

static struct need need_of(const struct by_quant_plan *plan)
{
    struct need need = {LEAST_OPSET, "QuantizeLinear"};
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        const int64_t since = (int64_t)by_elem_info(row->spec.elem)->opset;
        if (row->spec.format)
            continue;
        if (row->spec.elem != BY_ELEM_INT32)
            want(&need, since, by_elem_name(row->spec.elem));
        if (row->spec.elem == BY_ELEM_INT16 || row->spec.elem == BY_ELEM_UINT16)
            want(&need, 21, by_elem_name(row->spec.elem));
        if (row->params.axis >= 0)
            want(&need, 13, "per-channel quantization");
        if (row->value->elem == BY_ELEM_FLOAT16)
            want(&need, 19, "quantization of float16");
        if (row->spec.granularity == BY_PER_GROUP)
            want(&need, 21, "per-group quantization");
    }
    return need;
}

static bool has_groups(const struct by_quant_plan *plan)
{
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].spec.granularity == BY_PER_GROUP)
            return true;
    return false;
}

static int too_old(const struct need *need, int64_t opset, const char *also,
                   struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED, "%s requires opset %lld, the model has %lld", need->what,
            (long long)need->opset, (long long)opset);
    return by_err_hint(err, "convert the model with --opset %lld%s", (long long)need->opset, also);
}

/* --- Float types --- */

static int refuse_form(const struct by_recipe *recipe, const struct by_quant_row *row,
                       struct baryon_error *err)
{
    char quote[BY_QUOTE_MAX];
    const int64_t elem = row->spec.elem;
    const char *type = row->spec.format->name;
    if (recipe->floats == BY_FLOATS_COMPILER && elem != BY_ELEM_BFLOAT16)
        return by_fail(err, BARYON_ERR_USAGE, "--float-form compiler requires bf16, not %s", type);
    if (by_spec_is_divided(&row->spec))
        return 0;
    if (recipe->floats == BY_FLOATS_QUARK && elem != BY_ELEM_BFLOAT16 && elem != BY_ELEM_FLOAT16) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "Quark's operators have no %s", type);
        return by_err_hint(err, "--float-form cast uses operators of ONNX");
    }
    if (row->value->elem != BY_ELEM_FLOAT &&
        (recipe->floats == BY_FLOATS_QUARK || recipe->float_clip)) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "tensor %s is %s, must be float32 for %s",
                by_quote(quote, row->value->name), by_elem_name(row->value->elem),
                recipe->floats == BY_FLOATS_QUARK ? "ExtendedQuantizeLinear" : "--float-clip");
        return by_err_hint(err, "--pass fp16-to-fp32 converts it");
    }
    return 0;
}

static int check_floats(const struct by_quant_plan *plan, int64_t opset, struct baryon_error *err)
{
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        const bool block = by_spec_is_block(&row->spec);
        if (!row->spec.format || (block && !by_lower_is_stored(row)))
            continue;
        if (!block && refuse_form(plan->recipe, row, err))
            return -1;
        const struct need need = {
            block ? block_opset(plan->recipe)
                  : float_opset(plan->recipe, &row->spec, row->role != BY_ROLE_ACTIVATION),
            row->spec.format->name};
        if (opset < need.opset)
            return too_old(&need, opset, need.opset == 24 ? ", or use --block-form runtime" : "",
                           err);
    }
    return 0;
}

static bool has_integers(const struct by_quant_plan *plan)
{
    for (size_t i = 0; i < plan->rows.count; i++)
        if (!plan->rows.at[i].spec.format)
            return true;
    return false;
}

int by_quant_domain(const struct by_quant_plan *plan, const char **domain, struct baryon_error *err)
{
    const struct need need = need_of(plan);
    const int64_t opset = by_model_opset(plan->model, "");
    const enum by_q_domain asked = plan->recipe->domain;
    const bool groups = has_groups(plan);
    *domain = "";
    if (check_floats(plan, opset, err))
        return -1;
    if (!has_integers(plan))
        return 0;
    if (opset < LEAST_OPSET)
        return too_old(&need, opset, "", err);
    if (asked != BY_Q_MICROSOFT && opset >= need.opset)
        return 0;
    if (groups)
        return opset >= need.opset ? 0 : too_old(&need, opset, "", err);
    if (asked == BY_Q_ONNX)
        return too_old(&need, opset, ", or use the operators of com.microsoft", err);
    *domain = "com.microsoft";
    return 0;
}
