/* Splits rows off the weights of a plan that have one scale of integers. */
#include "adjust/weight_rows.h"

#include "pass/split_weight_rows.h"
#include "quant/place.h"

/* With scales of its own each channel has its steps already. */
static double levels_of(const struct by_quant_plan *plan, const struct by_quant_node *node)
{
    int64_t qmin, qmax;
    const size_t row =
        node->state == BY_NODE_QUANTIZED ? by_quant_read(plan, node->node, 1) : BY_NO_ROW;
    if (row == BY_NO_ROW || node->node->graph != plan->model->graph)
        return 0;
    const struct by_quant_row *weight = &plan->rows.at[row];
    if (weight->role != BY_ROLE_WEIGHT || !by_spec_is_integer(&weight->spec) ||
        weight->spec.granularity != BY_PER_TENSOR)
        return 0;
    by_spec_levels(&weight->spec, &qmin, &qmax);
    return (double)(qmax - qmin) / 2;
}

static int do_all(struct by_quant_plan *plan, bool write, struct by_weight_rows_report *report,
                  struct baryon_error *err)
{
    double all = 0, twice = 0;
    bool open;
    *report = (struct by_weight_rows_report){0};
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_quant_node *node = &plan->nodes[i];
        const double levels = levels_of(plan, node), macs = by_place_macs(node->node, &open);
        struct by_split_rows rows = {0};
        if (levels > 0 && by_split_weight_rows(node->node, levels, write, &rows, err) < 0)
            return -1;
        all += macs;
        if (!rows.count)
            continue;
        twice += macs * (double)rows.count / (double)rows.of;
        report->layers++;
        report->rows += rows.count;
    }
    report->share = all > 0 ? twice / all : 0;
    return 0;
}

int by_weight_rows_survey(struct by_quant_plan *plan, struct by_weight_rows_report *report,
                          struct baryon_error *err)
{
    return do_all(plan, false, report, err);
}

int by_weight_rows_run(struct by_quant_plan *plan, struct by_weight_rows_report *report,
                       struct baryon_error *err)
{
    return do_all(plan, true, report, err);
}
