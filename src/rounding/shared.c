/* Weights that several layers read have one rounding for all of them, which none of them can
 * choose: they are told. */
#include "rounding/rounding_internal.h"

#include "stats/layers.h"

/* Readers that are layers. */
static size_t count_layers(const struct by_quant_plan *plan, const struct by_quant_row *row)
{
    size_t count = 0;
    struct by_moments_layer layer;
    for (size_t i = 0; i < row->readers.count; i++) {
        const struct by_quant_reader *reader = &row->readers.at[i];
        count += reader->node && reader->slot == 1 &&
                 by_layer_of_node(plan->model->graph, reader->node, &layer);
    }
    return count;
}

int by_rounding_report_shared(struct by_quantization *q, struct baryon_error *err)
{
    struct by_quant_plan *plan = q->plan;
    size_t shared = 0;
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        const size_t layers = row->role == BY_ROLE_WEIGHT ? count_layers(plan, row) : 0;
        if (layers < 2)
            continue;
        shared++;
        if (by_quant_remark(plan, i, "rounding", err,
                            "rounded to nearest, because %zu layers use it", layers) < 0)
            return -1;
    }
    if (shared)
        by_log(q->options->log, BY_LOG_NOTICE,
               "rounding reconstruction: %zu %s used by several layers %s rounded to nearest",
               shared, shared == 1 ? "weight" : "weights", shared == 1 ? "is" : "are");
    return 0;
}
