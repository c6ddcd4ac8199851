/* A plan for a copy of its model: rows of some roles, final parameters, readers of the copy. */
#include "small_network.h"

#include "ir/infer.h"
#include "onnx/frame.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"
#include "quant/plan_copy.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;
static struct baryon_model *model;
static struct by_frame frame;

static int open_plan(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true, .reduce_range = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
        .fuse_relu = true,
        .fold_relu = true,
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    model = network(21);
    assert_ok(by_model_settle(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        row->has_range = row->role == BY_ROLE_ACTIVATION;
        if (row->has_range)
            row->range = (struct by_range){strcmp(row->value->name, "r") ? -16 : 0, 16, false, NAN};
    }
    assert_ok(by_quant_find_params(plan, NULL, NULL, &err));
    assert_ok(by_frame_take(&frame, model, &err));
    return 0;
}

static int close_plan(void **state)
{
    (void)state;
    by_quant_plan_close(plan);
    by_frame_release(&frame);
    by_model_free(model);
    return 0;
}

static void assert_row(const struct by_quant_plan *copy, size_t at, size_t from)
{
    const struct by_quant_row *row = &copy->rows.at[at], *was = &plan->rows.at[from];
    assert_string_equal(row->value->name, was->value->name);
    assert_ptr_equal(row->value->graph, copy->model->graph);
    assert_int_equal(row->role, was->role);
    assert_int_equal(row->shares, BY_NO_ROW);
    assert_true(row->params.count == by_quant_params(plan, from)->count);
    assert_true(row->params.scales == by_quant_params(plan, from)->scales);
    assert_int_equal(row->readers.count, was->readers.count);
    for (size_t i = 0; i < was->readers.count; i++) {
        const struct by_quant_reader *reader = &row->readers.at[i], *other = &was->readers.at[i];
        assert_int_equal(reader->slot, other->slot);
        assert_ptr_equal(reader->graph, copy->model->graph);
        assert_true(!reader->node == !other->node);
        if (!reader->node)
            continue;
        assert_ptr_equal(reader->node->graph, copy->model->graph);
        assert_string_equal(reader->node->name, other->node->name);
    }
}

static size_t count_op(const struct baryon_model *lowered, const char *op_type)
{
    size_t count = 0;
    for (size_t i = 0; i < lowered->graph->node.count; i++)
        count += by_node_is(node_at(lowered->graph, i), op_type);
    return count;
}

static size_t rows_of(unsigned roles)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->rows.count; i++)
        count += (roles >> plan->rows.at[i].role) & 1;
    return count;
}

/* Lowered; *quantizes, *dequantizes: nodes of that kind. */
static void copy_and_lower(unsigned roles, size_t *quantizes, size_t *dequantizes, size_t *relus)
{
    struct baryon_model *other;
    struct by_quant_plan *copy;
    size_t rows[64];
    assert_ok(by_frame_copy(&frame, &other, &err));
    assert_ok(by_model_settle(other, &err));
    assert_ok(by_model_infer(other, NULL, &err));
    assert_ok(by_quant_plan_copy(&copy, plan, other, &recipe, roles, rows, &err));
    assert_int_equal(copy->rows.count, rows_of(roles));
    for (size_t i = 0; i < copy->rows.count; i++)
        assert_row(copy, i, rows[i]);
    assert_ok(by_lower_qdq(copy, NULL, &err));
    assert_sound(other);
    *quantizes = count_op(other, "QuantizeLinear");
    *dequantizes = count_op(other, "DequantizeLinear");
    *relus = count_op(other, "Relu");
    by_quant_plan_close(copy);
    by_model_free(other);
}

static void test_roles(void **state)
{
    (void)state;
    size_t quantizes, dequantizes, relus, both;
    assert_int_equal(rows_of(BY_ROLES_WEIGHTS), 4);
    copy_and_lower(BY_ROLES_WEIGHTS, &quantizes, &dequantizes, &relus);
    assert_int_equal(quantizes, 0);
    assert_int_equal(dequantizes, 4);
    assert_int_equal(relus, 1); /* no range does its work */
    copy_and_lower(BY_ROLES_ACTIVATIONS, &quantizes, &dequantizes, &relus);
    assert_int_equal(quantizes, rows_of(BY_ROLES_ACTIVATIONS));
    assert_int_equal(dequantizes, quantizes);
    assert_int_equal(relus, 0);
    copy_and_lower(BY_ROLES_WEIGHTS | BY_ROLES_ACTIVATIONS, &both, &dequantizes, &relus);
    assert_int_equal(both, quantizes);
    assert_int_equal(dequantizes, quantizes + 4);
    assert_int_equal(relus, 0);
}

static void test_another_model(void **state)
{
    (void)state;
    struct baryon_model *other = add_model();
    struct by_quant_plan *copy;
    assert_ok(by_model_link(other, &err));
    assert_err(by_quant_plan_copy(&copy, plan, other, &recipe, BY_ROLES_WEIGHTS, NULL, &err),
               BARYON_ERR_INTERNAL,
               "the copy of the model has a different node in place of 'conv'");
    assert_null(copy);
    by_model_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_roles, open_plan, close_plan),
        cmocka_unit_test_setup_teardown(test_another_model, open_plan, close_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
