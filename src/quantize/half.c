/* Handles models that compute in float16 or bfloat16: converts or refuses them. */
#include "quantize/half.h"

#include "ir/opinfo.h"
#include "ir/tensor.h"

#include <string.h>

/* Values of a type among those of the main graph. */
static size_t count_values(const struct baryon_model *model, int64_t elem)
{
    size_t count = 0;
    const struct by_ptrs *values = &model->graph->all_values;
    for (size_t i = 0; i < values->count; i++) {
        const struct baryon_value *value = values->at[i];
        count += value && value->elem == elem;
    }
    return count;
}

/* Constants of float32, such as scales of Resize, and sums of sizes say nothing of a model. */
static bool has_float32_layer(const struct baryon_model *model)
{
    const struct by_ptrs *nodes = &model->graph->node;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct baryon_node *node = nodes->at[i];
        const struct by_opinfo *info = node ? by_node_opinfo(node) : NULL;
        const struct baryon_value *out = node ? by_node_out(node, 0) : NULL;
        if (info && info->weight >= 0 && out && out->elem == BY_ELEM_FLOAT)
            return true;
    }
    return false;
}

/* The user has a word on the pass itself. */
static bool names_pass(const struct by_recipe *recipe)
{
    const struct by_pass *pass = by_pass_find("fp16-to-fp32");
    for (size_t i = 0; i < recipe->passes.count; i++) {
        const char *name = recipe->passes.at[i].text;
        if (by_pass_find(name + (*name == '-')) == pass)
            return true;
    }
    return false;
}

/* Operators that have no form in float16. */
static const char *takes_no_half(const struct by_recipe *recipe)
{
    return recipe->approach == BY_APPROACH_DYNAMIC ? "--approach dynamic"
           : recipe->format == BY_FORMAT_QOPERATOR ? "--format qoperator"
                                                   : NULL;
}

bool by_quantize_widens(const struct baryon_model *model, const struct by_recipe *recipe)
{
    const size_t half =
        count_values(model, BY_ELEM_FLOAT16) + count_values(model, BY_ELEM_BFLOAT16);
    if (!half || names_pass(recipe) || recipe->half_floats == BY_HALF_KEPT)
        return false;
    return recipe->half_floats == BY_HALF_TO_FLOAT32 || takes_no_half(recipe) ||
           (recipe->approach != BY_APPROACH_NBITS && !has_float32_layer(model));
}

int by_quantize_refuse_half(const struct baryon_model *model, const struct by_recipe *recipe,
                            struct baryon_error *err)
{
    if (recipe->half_floats != BY_HALF_KEPT || !takes_no_half(recipe) ||
        !count_values(model, BY_ELEM_FLOAT16))
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "the model computes in float16, for which %s has no operators", takes_no_half(recipe));
    return by_err_hint(err, "--half-floats float32 converts it to float32");
}
