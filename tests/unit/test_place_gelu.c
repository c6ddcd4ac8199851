/* A GELU written out with tanh: from its power to Tanh it stays float. */
#include "place_case.h"

static int prepare(void **state)
{
    (void)state;
    set_int8_recipe();
    recipe.operators = BY_OPERATORS_NPU;
    return 0;
}

/* x = in * w + b, then what the caller adds, from x to t, and y = x * (1 + tanh(t)). */
static struct baryon_model *begin(void)
{
    struct baryon_model *model = new_model();
    takes(model, "in", BY_ELEM_FLOAT, "N,4");
    put_floats(model, "w", "4,4", 0.5f);
    put_floats(model, "b", "4", 1);
    put_floats(model, "k", "", 0.044715f);
    put_floats(model, "c", "", 0.7978846f);
    put_floats(model, "one", "", 1);
    put_floats(model, "three", "", 3);
    put_node(model->graph, "product", "MatMul", "in,w", "p");
    put_node(model->graph, "bias", "Add", "p,b", "x");
    return model;
}

static struct baryon_model *end(struct baryon_model *model)
{
    put_node(model->graph, "tanh", "Tanh", "t", "h");
    put_node(model->graph, "plus", "Add", "h,one", "g");
    put_node(model->graph, "result", "Mul", "x,g", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

/* c (x + k x^3) */
static struct baryon_model *with_pow(void)
{
    struct baryon_model *model = begin();
    put_node(model->graph, "g1", "Pow", "x,three", "x3");
    put_node(model->graph, "g2", "Mul", "x3,k", "kx3");
    put_node(model->graph, "g3", "Add", "x,kx3", "s");
    put_node(model->graph, "g4", "Mul", "s,c", "t");
    return end(model);
}

/* c (((k x) x) x + x) */
static struct baryon_model *with_products(void)
{
    struct baryon_model *model = begin();
    put_node(model->graph, "g0", "Mul", "x,k", "kx");
    put_node(model->graph, "g1", "Mul", "kx,x", "kx2");
    put_node(model->graph, "g2", "Mul", "kx2,x", "kx3");
    put_node(model->graph, "g3", "Add", "kx3,x", "s");
    put_node(model->graph, "g4", "Mul", "s,c", "t");
    return end(model);
}

/* (c x) (1 + (k x) x) */
static struct baryon_model *factored(void)
{
    struct baryon_model *model = begin();
    put_node(model->graph, "g0", "Mul", "x,c", "cx");
    put_node(model->graph, "g1", "Mul", "x,k", "kx");
    put_node(model->graph, "g2", "Mul", "kx,x", "kx2");
    put_node(model->graph, "g3", "Add", "kx2,one", "f");
    put_node(model->graph, "g4", "Mul", "cx,f", "t");
    return end(model);
}

static bool stays(const char *name)
{
    return strcmp(plan_node(name)->why,
                  "it is part of a GELU of several nodes: a cube has too wide a range") == 0;
}

static void all_forms_stay_float(void **state)
{
    (void)state;
    struct baryon_model *(*const forms[])(void) = {with_pow, with_products, factored};
    static const char *const parts[] = {"g2", "g3", "g4", "tanh"};
    for (size_t i = 0; i < 3; i++) {
        place(forms[i](), NULL);
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            assert_true(stays(parts[k]));
        assert_int_equal(plan_node("g1")->state,
                         BY_NODE_FLOAT); /* Pow is no operator to quantize */
        assert_true(i == 0 || (stays("g0") && stays("g1")));
        static const char *const others[] = {"product", "plus", "result"};
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(plan_node(others[k])->state, BY_NODE_QUANTIZED);
        assert_false(stays("bias"));
        close_plan();
    }
}

static void the_peer_quantizes_them(void **state)
{
    (void)state;
    recipe.compat = true;
    place(with_products(), NULL);
    assert_int_equal(plan_node("g3")->state, BY_NODE_QUANTIZED);
    assert_int_equal(plan_node("tanh")->state, BY_NODE_QUANTIZED);
    close_plan();
}

/* A line, and a product of two values: no powers of one. */
static void other_arguments_of_tanh_are_quantized(void **state)
{
    (void)state;
    struct baryon_model *model = begin();
    put_node(model->graph, "g3", "Mul", "x,c", "s");
    put_node(model->graph, "g4", "Add", "s,x", "t");
    place(end(model), NULL);
    assert_int_equal(plan_node("g4")->state, BY_NODE_QUANTIZED);
    assert_int_equal(plan_node("tanh")->state, BY_NODE_QUANTIZED);
    close_plan();

    model = begin();
    put_node(model->graph, "g3", "Sigmoid", "x", "s");
    put_node(model->graph, "g4", "Mul", "s,x", "t");
    place(end(model), NULL);
    assert_int_equal(plan_node("g4")->state, BY_NODE_QUANTIZED);
    assert_int_equal(plan_node("tanh")->state, BY_NODE_QUANTIZED);
    close_plan();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_forms_stay_float, prepare),
        cmocka_unit_test_setup(the_peer_quantizes_them, prepare),
        cmocka_unit_test_setup(other_arguments_of_tanh_are_quantized, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
