/* Answers common questions about values while Q/DQ pairs are inserted. */
#include "quant/place_internal.h"

#include "base/str.h"

#include <string.h>

const char *by_place_text(struct by_placing *placing, struct baryon_error *err, const char *format,
                          ...)
{
    struct by_str str;
    const char *text = NULL;
    va_list args;
    by_str_init(&str);
    va_start(args, format);
    by_str_vprintf(&str, format, args);
    va_end(args);
    if (by_str_error(&str, err) == 0)
        text = by_arena_text(&placing->plan->arena, by_str_text(&str), str.size, err);
    by_str_release(&str);
    return text;
}

bool by_place_is_float(const struct baryon_value *value)
{
    return value && (value->elem == BY_ELEM_FLOAT || value->elem == BY_ELEM_FLOAT16);
}

bool by_place_takes(const struct by_placing *placing, const struct baryon_value *value)
{
    return by_place_is_float(value) &&
           (value->elem != BY_ELEM_FLOAT16 || placing->recipe->half_floats != BY_HALF_TO_FLOAT32);
}

void by_place_keep(struct by_placing *placing, const struct baryon_node *node, const char *why)
{
    if (placing->stays[node->index])
        return;
    placing->stays[node->index] = why;
    placing->kind[node->index] = BY_NODE_FLOAT;
}

/* One that is an input as well counts: a quantized model has no use for another value of it. */
bool by_place_is_constant(const struct baryon_value *value)
{
    return value && value->initializer;
}

bool by_place_in(const struct by_placing *placing, const struct baryon_value *value)
{
    return value && value->graph == placing->graph && value->index < placing->value_count;
}

int by_place_any_picks(const struct by_patterns *patterns, const char *name, bool *picks,
                       struct baryon_error *err)
{
    *picks = false;
    for (size_t i = 0; i < patterns->count && !*picks; i++)
        if (by_pattern_picks(&patterns->at[i], name ? name : "", picks, err))
            return -1;
    return 0;
}

/* --- Values out of constants: nobody has statistics of them --- */

static bool is_random(const struct baryon_node *node)
{
    return !strncmp(node->op_type, "Random", 6) || by_node_is(node, "Bernoulli") ||
           by_node_is(node, "Multinomial");
}

static bool is_computed(const struct by_placing *placing, const struct baryon_node *node)
{
    struct by_nested nested = {0};
    if (by_node_nested(node, &nested) || is_random(node) || !by_node_opinfo(node))
        return false;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        if (value && !value->initializer && !value->sparse && !placing->computed[value->index])
            return false;
    }
    return true;
}

void by_place_find_computed(struct by_placing *placing)
{
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        const bool computed = is_computed(placing, node);
        for (size_t slot = 0; computed && slot < node->output.count; slot++)
            if (by_node_out(node, slot))
                placing->computed[by_node_out(node, slot)->index] = true;
    }
}
