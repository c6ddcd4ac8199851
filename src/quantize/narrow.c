/* Reports levels and block codes that are stored in wider types than they need. */
#include "quantize/narrow.h"

#include "base/text.h"
#include "ir/tensor.h"
#include "quant/lower_block.h"

static unsigned stored_bits(const struct by_tensor_spec *spec)
{
    return by_elem_info(spec->elem)->bits;
}

/* The first of those that take more bits than they have. */
static const struct by_tensor_spec *find_wider(const struct by_quant_plan *plan, unsigned bits,
                                               size_t *count)
{
    const struct by_tensor_spec *first = NULL;
    *count = 0;
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_tensor_spec *spec = &plan->rows.at[i].spec;
        if (spec->bits != bits || stored_bits(spec) == bits)
            continue;
        first = first ? first : spec;
        ++*count;
    }
    return first;
}

static const char *why_no_smaller(const struct by_tensor_spec *spec, const struct by_recipe *recipe)
{
    if (spec->bits > 2)
        return "ONNX has no smaller type for it";
    if (recipe->domain == BY_Q_MICROSOFT)
        return "com.microsoft has no smaller type for it";
    return recipe->approach == BY_APPROACH_STATIC
               ? "ONNX Runtime does not run 2-bit weights with quantized activations"
               : "ONNX Runtime misreads 2-bit columns that do not fill whole bytes";
}

/* What newer opsets would take; else why nothing takes less. */
static void add_smaller(struct by_text *text, const struct by_tensor_spec *spec,
                        const struct by_recipe *recipe, int64_t opset)
{
    static const int types[] = {BY_ELEM_INT4, BY_ELEM_INT2};
    unsigned least = stored_bits(spec);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const unsigned since = by_elem_info(types[i])->opset;
        struct by_tensor_spec other = *spec;
        by_spec_store(&other, recipe, since);
        if (stored_bits(&other) >= least || since <= opset)
            continue;
        by_text_add(text,
                    least == stored_bits(spec) ? "; --opset %u provides %s" : ", --opset %u %s",
                    since, by_elem_name(other.elem));
        least = stored_bits(&other);
    }
    if (least == stored_bits(spec))
        by_text_add(text, "; %s", why_no_smaller(spec, recipe));
}

/* --- Blocks --- */

static const char *why_wider(const struct by_dtype *format, const struct by_recipe *recipe)
{
    if (format->block.sub)
        return "sub-blocks require one more bit, and ONNX has no type of that size";
    if (recipe->block_form == BY_BLOCKS_ONNX)
        return "ONNX has 6-bit types from opset 28 on";
    return format->bits == 4 ? "ONNX Runtime does not dequantize float4e2m1 on CPUs"
                             : "ONNX Runtime has no 6-bit types";
}

/* Stored constants of a format, or of any; elem: their type, all have the same. */
static size_t count_stored(const struct by_quantization *q, const struct by_dtype *format,
                           int64_t *elem)
{
    size_t count = 0;
    for (size_t i = 0; i < q->plan->rows.count; i++) {
        const struct by_quant_row *row = &q->plan->rows.at[i];
        if (!by_lower_is_stored(row) || (format && row->spec.format != format))
            continue;
        *elem = row->spec.elem;
        count++;
    }
    return count;
}

static void tell_wider_blocks(const struct by_quantization *q)
{
    size_t count;
    const struct by_dtype *const *formats = by_dtypes(&count);
    for (size_t i = 0; i < count; i++) {
        int64_t elem;
        const size_t stored = count_stored(q, formats[i], &elem);
        if (stored && by_elem_info(elem)->bits > formats[i]->bits)
            by_log(q->options->log, BY_LOG_NOTICE, "%s is stored as %s in %zu %s; %s",
                   formats[i]->name, by_elem_name(elem), stored,
                   stored == 1 ? "constant" : "constants",
                   why_wider(formats[i], q->options->recipe));
    }
}

static void tell_own_types(const struct by_quantization *q)
{
    int64_t elem;
    const size_t stored =
        q->options->recipe->block_form == BY_BLOCKS_ONNX ? count_stored(q, NULL, &elem) : 0;
    if (stored)
        by_log(q->options->log, BY_LOG_NOTICE,
               "%zu %s scales of float8e8m0, which ONNX Runtime 1.31 does not run on CPUs "
               "(OpenVINO from August 2026 and the reference evaluator of the onnx package do); "
               "--block-form runtime writes the same values in a form that it runs",
               stored, stored == 1 ? "constant has" : "constants have");
}

/* --- All of it --- */

void by_quantize_tell_narrow(const struct by_quantization *q)
{
    tell_wider_blocks(q);
    tell_own_types(q);
    for (unsigned bits = 2; bits <= 3; bits++) {
        char buf[256], type[32];
        struct by_text text;
        size_t count;
        const struct by_tensor_spec *spec = find_wider(q->plan, bits, &count);
        if (!spec)
            continue;
        by_text_init(&text, buf, sizeof buf);
        by_text_add(&text, "%s is stored as %s in %zu %s", by_spec_type(spec, type, sizeof type),
                    by_elem_name(spec->elem), count, count == 1 ? "constant" : "constants");
        add_smaller(&text, spec, q->options->recipe, by_model_opset(q->model, ""));
        by_log(q->options->log, BY_LOG_NOTICE, "%s", buf);
    }
}
