/* Emits the quantized graph with Q/DQ pairs. */
#include "quant/lower_block.h"
#include "quant/lower_format.h"

#include "base/str.h"

int by_lower_open(struct by_lowering *lowering, struct by_quant_plan *plan, struct by_pool *pool,
                  struct baryon_error *err)
{
    *lowering = (struct by_lowering){.plan = plan,
                                     .recipe = plan->recipe,
                                     .model = plan->model,
                                     .graph = plan->model->graph,
                                     .pool = pool};
    lowering->at = by_alloc_zero(plan->rows.count, sizeof *lowering->at, err);
    return lowering->at ? 0 : -1;
}

void by_lower_close(struct by_lowering *lowering)
{
    by_free(lowering->at);
}

const char *by_lower_name(struct by_lowering *lowering, const char *stem, const char *suffix,
                          size_t number, struct baryon_error *err)
{
    struct by_str name;
    const char *fresh = NULL;
    by_str_init(&name);
    by_str_printf(&name, "%s%s%s", stem, suffix[0] ? "_" : "", suffix);
    if (number)
        by_str_printf(&name, "_%zu", number);
    if (by_str_error(&name, err) == 0)
        fresh = by_model_fresh_name(lowering->model, by_str_text(&name), err);
    by_str_release(&name);
    return fresh;
}

/* --- What the model has to say for its new types and operators --- */

static void declare_elem(struct baryon_model *model, int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    if (info && model->ir_version < (int64_t)info->ir_version)
        model->ir_version = (int64_t)info->ir_version;
}

static int declare(struct by_lowering *lowering, struct baryon_error *err)
{
    struct baryon_model *model = lowering->model;
    bool quark = false;
    for (size_t i = 0; i < lowering->plan->rows.count; i++) {
        const struct by_quant_row *row = &lowering->plan->rows.at[i];
        quark |= by_lower_is_quark(lowering->recipe, row);
        declare_elem(model, row->spec.elem);
        if (by_lower_is_stored(row))
            declare_elem(model, by_lower_block_scale(lowering->recipe));
    }
    if (quark && !by_model_opset(model, BY_QUARK) && by_model_set_opset(model, BY_QUARK, 1, err))
        return -1;
    if (lowering->domain[0] && !by_model_opset(model, lowering->domain))
        return by_model_set_opset(model, lowering->domain, 1, err);
    return 0;
}

static int lower_to_qdq(struct by_lowering *lowering, struct baryon_error *err)
{
    if (by_quant_domain(lowering->plan, &lowering->domain, err) || by_lower_folded(lowering, err) ||
        by_lower_constants(lowering, err))
        return -1;
    for (size_t i = 0; i < lowering->plan->rows.count; i++)
        if (by_lower_pairs(lowering, i, err))
            return -1;
    return declare(lowering, err) || by_model_settle(lowering->model, err) ? -1 : 0;
}

int by_lower_qdq(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err)
{
    struct by_lowering lowering;
    if (by_lower_open(&lowering, plan, pool, err))
        return -1;
    const int failed = lower_to_qdq(&lowering, err);
    by_lower_close(&lowering);
    return failed;
}
