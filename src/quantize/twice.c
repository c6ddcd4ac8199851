/* Reports weights that the quantized model stores both as integers and as floats. */
#include "quantize/twice.h"

#include "ir/tensor.h"

#define WORTH_TELLING ((size_t)64 << 10) /* bytes */

static bool reads(const struct by_quant_row *row, const struct by_use *use)
{
    for (size_t i = 0; i < row->readers.count; i++) {
        const struct by_quant_reader *reader = &row->readers.at[i];
        if (reader->node == use->node && reader->slot == use->slot)
            return true;
    }
    return false;
}

/* The first use of the floats; NULL: there is none. */
static const struct by_use *find_float_use(const struct by_quant_row *row)
{
    for (size_t i = 0; i < row->value->use_count; i++)
        if (!reads(row, &row->value->uses[i]))
            return &row->value->uses[i];
    return NULL;
}

void by_quantize_tell_twice(const struct by_quantization *q)
{
    const struct by_use *first = NULL;
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < q->plan->rows.count; i++) {
        const struct by_quant_row *row = &q->plan->rows.at[i];
        const struct by_use *use = NULL;
        size_t elements, size;
        if (row->role == BY_ROLE_WEIGHT && !row->keep_float)
            use = find_float_use(row);
        if (!use || !use->node || by_tensor_count(row->value->initializer, &elements, NULL) < 0 ||
            by_elem_bytes(row->value->elem, elements, &size, NULL) < 0)
            continue;
        first = first ? first : use;
        count++;
        bytes += size;
    }
    if (bytes < WORTH_TELLING)
        return;
    char label[128];
    by_log(q->options->log, BY_LOG_NOTICE,
           "%zu %s stored as floats as well (%.1f MiB), because %s uses %s and stays float", count,
           count == 1 ? "weight is" : "weights are", (double)bytes / (1 << 20),
           by_node_label(first->node, label, sizeof label), count == 1 ? "it" : "one of them");
}
