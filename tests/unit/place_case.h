/* A model whose pairs are placed by a recipe, and what the plan says of it. */
#ifndef BY_TEST_PLACE_CASE_H
#define BY_TEST_PLACE_CASE_H

#include "engine_build.h"

#include "ir/infer.h"
#include "quant/place.h"

static struct by_recipe recipe;
static struct by_quant_plan *plan;

/* Everything in eight bits. */
static inline void set_int8_recipe(void)
{
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_INT8, .symmetric = true},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT8, .symmetric = true},
    };
    recipe.activation.method = recipe.weight.method = by_calibrator_find("minmax");
}

static inline void open_plan(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
}

static inline void place(struct baryon_model *model, const struct by_origins *origins)
{
    open_plan(model);
    assert_ok(by_place(plan, origins, NULL, &err));
}

static inline void close_plan(void)
{
    struct baryon_model *model = plan->model;
    by_quant_plan_close(plan);
    by_model_free(model);
}

static inline const struct by_quant_row *row_of(const char *name)
{
    const size_t row = by_quant_find(plan, value_of(plan->model->graph, name));
    assert_true(row != BY_NO_ROW);
    return &plan->rows.at[row];
}

static inline const struct by_quant_node *plan_node(const char *name)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].node->name && strcmp(plan->nodes[i].node->name, name) == 0)
            return by_quant_node_of(plan, plan->nodes[i].node);
    fail_msg("no node '%s'", name);
    return NULL;
}

#endif
