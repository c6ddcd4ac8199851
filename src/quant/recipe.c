/* Changes of a spec, a spec as text, and patterns of names. */
#include "quant/recipe.h"

#include "base/str.h"
#include "base/text.h"
#include "ir/tensor.h"

#include <inttypes.h>
#include <regex.h>
#include <string.h>

void by_spec_apply(struct by_tensor_spec *spec, const struct by_change *change)
{
    if (change->set & BY_CHANGE_ELEM) {
        spec->elem = change->spec.elem;
        spec->format = change->spec.format;
        spec->bits = change->spec.bits;
    }
    if (change->set & BY_CHANGE_SYMMETRIC)
        spec->symmetric = change->spec.symmetric;
    if (change->set & BY_CHANGE_REDUCE)
        spec->reduce_range = change->spec.reduce_range;
    if (change->set & BY_CHANGE_SCALE)
        spec->scale = change->spec.scale;
    if (change->set & BY_CHANGE_GRANULARITY) {
        spec->granularity = change->spec.granularity;
        spec->group = change->spec.group;
    }
    if (change->set & BY_CHANGE_METHOD) {
        spec->method = change->spec.method;
        spec->calib = change->spec.calib;
    }
}

const char *by_spec_type(const struct by_tensor_spec *spec, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    if (spec->format)
        by_text_add(&text, "%s", spec->format->name);
    else if (spec->bits)
        by_text_add(&text, "%sint%u", by_spec_is_unsigned(spec) ? "u" : "", spec->bits);
    else
        by_text_add(&text, "%s", spec->elem ? by_elem_name(spec->elem) : "float");
    return buf;
}

const char *by_spec_stored_type(const struct by_tensor_spec *spec, char *buf, size_t size)
{
    char type[32];
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "%s", by_spec_type(spec, type, sizeof type));
    if ((spec->bits && spec->bits < by_elem_info(spec->elem)->bits) ||
        (by_spec_is_block(spec) && spec->elem != BY_ELEM_FLOAT))
        by_text_add(&text, " in %s", by_elem_name(spec->elem));
    return buf;
}

static const char *block_text(const struct by_tensor_spec *spec, const char *type, char *buf,
                              size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "%s", type);
    if (by_spec_is_block(spec) && spec->block.size)
        by_text_add(&text, ", blocks of %" PRId64, spec->block.size);
    if (by_spec_is_block(spec) && spec->block.from_bf16)
        by_text_add(&text, ", from bf16");
    if (by_spec_is_block(spec) && spec->block.ties != BY_TIES_EVEN)
        by_text_add(&text, ", ties %s", by_ties_name((int)spec->block.ties));
    return buf;
}

static const char *text_of(const struct by_tensor_spec *spec, const char *type, char *buf,
                           size_t size)
{
    static const char *const scales[] = {
        [BY_SCALE_FLOAT32] = "float32 scale",
        [BY_SCALE_FLOAT16] = "float16 scale",
        [BY_SCALE_POW2] = "power of two",
        [BY_SCALE_INT16] = "int16 scale",
    };
    struct by_text text;
    if (by_spec_is_scaled(spec)) {
        by_text_init(&text, buf, size);
        by_text_add(&text, "%s, scaled, per tensor", type);
        return buf;
    }
    if (!by_spec_is_integer(spec))
        return block_text(spec, type, buf, size);
    by_text_init(&text, buf, size);
    by_text_add(&text, "%s", type);
    by_text_add(&text, ", %s", spec->symmetric ? "symmetric" : "asymmetric");
    if (spec->reduce_range)
        by_text_add(&text, ", one bit less");
    if (spec->scale != BY_SCALE_FLOAT32)
        by_text_add(&text, ", %s", scales[spec->scale]);
    if (spec->granularity == BY_PER_CHANNEL)
        by_text_add(&text, ", per channel");
    else if (spec->granularity == BY_PER_GROUP)
        by_text_add(&text, ", groups of %" PRId64, spec->group);
    else
        by_text_add(&text, ", per tensor");
    if (spec->method)
        by_text_add(&text, ", %s", spec->method->name);
    return buf;
}

const char *by_spec_text(const struct by_tensor_spec *spec, char *buf, size_t size)
{
    char type[32];
    return text_of(spec, by_spec_type(spec, type, sizeof type), buf, size);
}

const char *by_spec_stored_text(const struct by_tensor_spec *spec, char *buf, size_t size)
{
    char type[32];
    return text_of(spec, by_spec_stored_type(spec, type, sizeof type), buf, size);
}

/* The expression of a pattern that is one, else NULL. */
static const char *expression_of(const char *text)
{
    if (!strncmp(text, "re:", 3))
        return text + 3;
    return text[0] == '^' && strstr(text, ".*") ? text : NULL;
}

static int match_expression(const struct by_pattern *pattern, const char *expression,
                            const char *name, bool *picks, struct baryon_error *err)
{
    char why[128], quoted[BY_QUOTE_MAX];
    regex_t compiled;
    const int failed = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB);
    if (failed == REG_ESPACE)
        return by_err_nomem(err, strlen(expression));
    if (failed) {
        regerror(failed, &compiled, why, sizeof why);
        by_fail(err, BARYON_ERR_USAGE, "%s is not a valid regular expression: %s",
                by_quote(quoted, expression), why);
        return pattern->origin ? by_err_in(err, "%s", pattern->origin) : -1;
    }
    *picks = regexec(&compiled, name, 0, NULL, 0) == 0;
    regfree(&compiled);
    return 0;
}

int by_pattern_picks(const struct by_pattern *pattern, const char *name, bool *picks,
                     struct baryon_error *err)
{
    const char *expression = expression_of(pattern->text);
    *picks = !strcmp(pattern->text, name);
    if (*picks)
        return 0;
    if (expression)
        return match_expression(pattern, expression, name, picks, err);
    *picks = by_glob(pattern->text, name);
    return 0;
}

static bool calibrates(const struct by_tensor_spec *activation, unsigned set)
{
    return set && (by_spec_is_integer(activation) || by_spec_is_scaled(activation));
}

/* Integers and scaled floats of activations have ranges; what else there is has none. */
bool by_recipe_has_ranges(const struct by_recipe *recipe)
{
    if (calibrates(&recipe->activation, 1))
        return true;
    for (size_t i = 0; i < recipe->rules.count; i++) {
        const struct by_rule *rule = &recipe->rules.at[i];
        if (calibrates(&rule->input.spec, rule->input.set & BY_CHANGE_ELEM) ||
            calibrates(&rule->output.spec, rule->output.set & BY_CHANGE_ELEM))
            return true;
    }
    return false;
}

bool by_recipe_needs_data(const struct by_recipe *recipe)
{
    return (recipe->approach == BY_APPROACH_STATIC &&
            (by_recipe_has_ranges(recipe) || recipe->cle == BY_CLE_AUTO ||
             recipe->bias_correction != BY_BIASES_KEPT)) ||
           recipe->rounding != BY_ROUNDING_NEAREST || by_recipe_searches(recipe);
}

bool by_recipe_searches(const struct by_recipe *recipe)
{
    return recipe->mixed.narrow && recipe->mixed.goal > 0;
}

bool by_rounding_op(const char *type)
{
    static const char *const types[BY_ROUNDING_OP_COUNT] = {"Conv", "ConvTranspose", "Gemm",
                                                            "MatMul"};
    for (size_t i = 0; i < BY_ROUNDING_OP_COUNT; i++)
        if (!strcmp(type, types[i]))
            return true;
    return false;
}
