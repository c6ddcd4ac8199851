/* Tells how much noise a type has, from its bits, and what costs call it. */
#include "search/decision_internal.h"

#include "ir/tensor.h"

#include <math.h>
#include <string.h>

/* Peak over root mean square that is usual: of a tensor, and of a block of a few values. */
#define PEAK_OF_TENSOR 6.0
#define PEAK_OF_BLOCK  2.5
#define SHORT_MEAN     0.43 /* mean of 1 / mantissa squared, of floats */

int by_decide_type(struct by_decisions *d, const char *name, double bits, size_t *place,
                   struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    for (*place = 0; *place < work->type_count; ++*place)
        if (!strcmp(work->types[*place], name))
            return 0;
    if (*place == BY_DECIDE_TYPES)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "a search with more than %d types",
                       BY_DECIDE_TYPES);
    work->types[*place] = by_arena_text(&d->arena, name, strlen(name), err);
    work->bits[*place] = bits;
    return work->types[work->type_count++] ? 0 : -1;
}

int by_decide_spec(struct by_decisions *d, const char *text, const struct by_tensor_spec *from,
                   struct by_tensor_spec *spec, struct baryon_error *err)
{
    struct by_doc_node *node;
    struct by_str rule;
    struct by_rule_list rules = {0};
    by_str_init(&rule);
    by_str_printf(&rule, "{weight: %s}", text);
    int status = by_str_error(&rule, err) < 0
                     ? -1
                     : by_yaml_parse(&d->arena, rule.text, rule.size, "ladder", &node, err);
    if (status == 0)
        status = by_rule_read(&d->arena, BY_RULE_NODE, "", node, "ladder", &rules, err);
    *spec = *from;
    if (status == 0)
        by_spec_apply(spec, &rules.at[0].weight);
    by_str_release(&rule);
    return status;
}

double by_decide_bits(const struct by_tensor_spec *spec)
{
    if (!spec->elem)
        return 32;
    if (spec->format)
        return by_dtype_bits(spec->format);
    return spec->bits ? spec->bits : by_elem_info(spec->elem)->bits;
}

const char *by_decide_name(const struct by_tensor_spec *spec, char *buf, size_t size)
{
    return by_spec_type(spec, buf, size);
}

/* Noise over signal of values that are usual. */
static double usual_noise(const struct by_tensor_spec *spec)
{
    if (!spec->elem)
        return 0;
    if (by_spec_is_block(spec) && spec->format->element.exponent <= 1) {
        const double bits = spec->format->element.mantissa + 2;
        return PEAK_OF_BLOCK * PEAK_OF_BLOCK * exp2(-2 * (bits - 1)) / 12;
    }
    if (spec->format)
        return SHORT_MEAN * exp2(-2 * spec->format->element.mantissa) / 12;
    return PEAK_OF_TENSOR * PEAK_OF_TENSOR * exp2(-2 * (by_decide_bits(spec) - 1)) / 12;
}

double by_decide_factor(const struct by_tensor_spec *from, const struct by_tensor_spec *to,
                        double noise)
{
    const bool alike = by_spec_is_integer(from) && by_spec_is_integer(to);
    const double before = alike || isnan(noise) || noise <= 0 ? usual_noise(from) : noise;
    return before > 0 ? usual_noise(to) / before : 1;
}
