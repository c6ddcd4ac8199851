/* Rows of second pairs: after the pair of a tensor, for readers that want another type. */
#include "quant/place_internal.h"

#include "base/str.h"

struct splitting {
    struct by_placing *placing;
    size_t row;
    const struct by_conversion *convert; /* of the tensor's rule; NULL: readers' rules */
    const struct by_rule *rule;
    bool outputs; /* outputs of the model have the other type, too */
};

/* --- Who wants another type --- */

static int names_reader(const struct splitting *splitting, const struct baryon_node *node,
                        bool *named, struct baryon_error *err)
{
    const struct by_patterns *nodes = &splitting->convert->nodes;
    *named = !nodes->count;
    for (size_t i = 0; i < nodes->count && !*named; i++)
        if (by_place_picks(splitting->placing, &nodes->at[i], node, named, err))
            return -1;
    return 0;
}

static bool reads_data(const struct by_placing *placing, const struct by_quant_reader *reader)
{
    return reader->node && reader->graph == placing->graph &&
           placing->quantized[reader->node->index] &&
           by_place_slot(placing, reader->node, reader->slot) == BY_SLOT_DATA;
}

/* spec: what the reader is to have. */
static int wanted_by(const struct splitting *splitting, const struct by_quant_reader *reader,
                     struct by_tensor_spec *spec, struct baryon_error *err)
{
    const struct by_placing *placing = splitting->placing;
    bool named = splitting->outputs;
    *spec = placing->plan->rows.at[splitting->row].spec;
    if (!splitting->convert) {
        if (reads_data(placing, reader))
            by_place_wanted_spec(placing, reader->node, spec);
        return 0;
    }
    if (reader->node && names_reader(splitting, reader->node, &named, err))
        return -1;
    if (!named)
        return 0;
    *spec = placing->recipe->activation;
    spec->granularity = BY_PER_TENSOR;
    by_spec_apply(spec, &splitting->convert->change);
    return 0;
}

/* --- What a rule says must be so --- */

static int bad_conversion(const struct splitting *splitting, const char *node, const char *what,
                          struct baryon_error *err)
{
    const struct by_pattern *pattern = &splitting->rule->pattern;
    char tensor[BY_QUOTE_MAX], quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_USAGE, "%s: convert of tensor %s: %s%s",
                   pattern->origin ? pattern->origin : "rule",
                   by_quote(tensor, splitting->placing->plan->rows.at[splitting->row].value->name),
                   node ? by_quote(quoted, node) : "", what);
}

static int check_names(struct splitting *splitting, struct baryon_error *err)
{
    const struct by_quant_row *row = &splitting->placing->plan->rows.at[splitting->row];
    const struct by_patterns *nodes = &splitting->convert->nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        bool named = false;
        for (size_t k = 0; k < row->readers.count && !named; k++)
            if (row->readers.at[k].node && by_place_picks(splitting->placing, &nodes->at[i],
                                                          row->readers.at[k].node, &named, err))
                return -1;
        if (!named)
            return bad_conversion(splitting, nodes->at[i].text, " does not read it", err);
    }
    return 0;
}

/* As onnxruntime.quantization has it: outputs follow when no other reader stays. */
static int find_outputs(struct splitting *splitting, struct baryon_error *err)
{
    const struct by_quant_row *row = &splitting->placing->plan->rows.at[splitting->row];
    splitting->outputs = true;
    for (size_t i = 0; i < row->readers.count && splitting->outputs; i++)
        if (row->readers.at[i].node &&
            names_reader(splitting, row->readers.at[i].node, &splitting->outputs, err))
            return -1;
    return 0;
}

static int open_conversion(struct splitting *splitting, struct baryon_error *err)
{
    const struct by_change *change = &splitting->convert->change;
    if (change->spec.bits)
        return bad_conversion(splitting, NULL, "activations cannot have 3 or fewer bits", err);
    return check_names(splitting, err) || find_outputs(splitting, err) ? -1 : 0;
}

/* --- Splitting --- */

static const char *second_reason(struct by_placing *placing, const struct by_quant_row *first,
                                 const struct by_quant_reader *reader,
                                 const struct by_tensor_spec *spec, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80], type[32], from[32];
    return by_place_text(
        placing, err, "%s converted to %s for %s", by_spec_type(&first->spec, from, sizeof from),
        by_spec_type(spec, type, sizeof type),
        reader->node ? by_node_label(reader->node, label, sizeof label) : "an output of the model");
}

/* The row of that type after the first one. */
static size_t second_row(struct splitting *splitting, const struct by_quant_reader *reader,
                         const struct by_tensor_spec *spec, struct baryon_error *err)
{
    struct by_quant_plan *plan = splitting->placing->plan;
    for (size_t at = plan->rows.at[splitting->row].second; at != BY_NO_ROW;
         at = plan->rows.at[at].second)
        if (by_place_same_spec(&plan->rows.at[at].spec, spec))
            return at;
    const char *why =
        second_reason(splitting->placing, &plan->rows.at[splitting->row], reader, spec, err);
    return why ? by_quant_add_second(plan, splitting->row, spec, why, err) : BY_NO_ROW;
}

static int refuse_scaled(const struct splitting *splitting, const struct by_tensor_spec *spec,
                         struct baryon_error *err)
{
    char tensor[BY_QUOTE_MAX], type[32];
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "tensor %s cannot be converted to %s with a scale after its first pair",
            by_quote(tensor, splitting->placing->plan->rows.at[splitting->row].value->name),
            by_spec_type(spec, type, sizeof type));
    return by_err_hint(err, "convert it to integers, or to floats without a scale");
}

static int split(struct splitting *splitting, struct baryon_error *err)
{
    struct by_quant_plan *plan = splitting->placing->plan;
    size_t kept = 0;
    for (size_t i = 0; i < plan->rows.at[splitting->row].readers.count; i++) {
        const struct by_quant_reader reader = plan->rows.at[splitting->row].readers.at[i];
        struct by_tensor_spec spec;
        if (wanted_by(splitting, &reader, &spec, err))
            return -1;
        if (!spec.elem || by_place_same_spec(&spec, &plan->rows.at[splitting->row].spec)) {
            plan->rows.at[splitting->row].readers.at[kept++] = reader;
            continue;
        }
        if (by_spec_is_scaled(&spec))
            return refuse_scaled(splitting, &spec, err);
        const size_t row = second_row(splitting, &reader, &spec, err);
        if (row == BY_NO_ROW ||
            by_quant_add_reader(plan, row, reader.node, reader.graph, reader.slot, err))
            return -1;
    }
    plan->rows.at[splitting->row].readers.count = kept;
    plan->rows.at[splitting->row].dedicated &= kept > 1;
    return 0;
}

int by_place_second(struct by_placing *placing, size_t row, struct baryon_error *err)
{
    struct splitting splitting = {.placing = placing, .row = row};
    if (placing->recipe->approach != BY_APPROACH_STATIC)
        return 0;
    if (by_place_tensor_rule(placing, placing->plan->rows.at[row].value, &splitting.rule, err))
        return -1;
    if (splitting.rule && splitting.rule->convert.on)
        splitting.convert = &splitting.rule->convert;
    else if (splitting.rule || !placing->recipe->dual_pairs)
        return 0;
    if (splitting.convert && open_conversion(&splitting, err))
        return -1;
    return split(&splitting, err);
}
