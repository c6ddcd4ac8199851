/* The quantized graph: names, pairs, domains, opsets, and what it computes at every level of
 * ONNX Runtime's optimization. */
#include "small_network.h"

#include "ir/infer.h"
#include "onnx/check.h"
#include "onnx/save.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        /* Products of 8 bits saturate in ONNX Runtime on processors without VNNI. */
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true, .reduce_range = true},
        .bias = {.elem = BY_ELEM_INT8, .symmetric = true},
        .fuse_relu = true,
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    return 0;
}

/* --- Running --- */

static const float input[32] = {0.3f,  -0.9f, 0.5f,  1,     -0.2f, 0.8f,  0.1f, -1,
                                0.7f,  0.6f,  -0.5f, 0.4f,  -0.1f, 0.2f,  0.9f, -0.7f,
                                -0.3f, 0.1f,  0.8f,  -0.6f, 1,     -0.4f, 0.2f, 0.5f,
                                -0.8f, 0.9f,  -0.2f, 0.3f,  0.6f,  -1,    0.4f, 0.7f};

static void run(struct baryon_model *model, int level, float *out, size_t count)
{
    const struct by_session_options options = {.threads = 1, .optimization = level};
    const struct by_array x = FLOATS("x", 4, ((const int64_t[]){1, 2, 4, 4}), input);
    struct by_session *session;
    assert_ok(by_session_open_model(&session, model, 0, &options, &err));
    struct by_run *done = run_ok(session, &x, 1);
    assert_int_equal(output(done, 0)->size, count * sizeof *out);
    memcpy(out, output(done, 0)->data, count * sizeof *out);
    by_run_free(done);
    by_session_close(session);
}

static void assert_near(const float *got, const float *wanted, size_t count, float most)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(got[i] - wanted[i]) <= most))
            fail_msg("[%zu]: %g, not %g", i, (double)got[i], (double)wanted[i]);
}

/* --- Quantizing with ranges that hold all values --- */

static void make_plan(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        if (row->role != BY_ROLE_ACTIVATION)
            continue;
        const double most = row->value->is_input ? 1 : strcmp(row->value->name, "y") ? 8 : 16;
        row->has_range = true;
        row->range = (struct by_range){strcmp(row->value->name, "r") ? -most : 0, most, false, NAN};
    }
    assert_ok(by_quant_find_params(plan, NULL, NULL, &err));
}

static void quantize(struct baryon_model *model, struct by_pool *pool)
{
    make_plan(model);
    assert_ok(by_lower_qdq(plan, pool, &err));
    by_quant_plan_close(plan);
    assert_sound(model);
    assert_ok(by_model_check(model, NULL, NULL, NULL, &err));
}

static void assert_computes(struct baryon_model *model, int64_t opset, float most)
{
    float wanted[3], got[4][3];
    const int levels[4] = {0, 1, 2, 99};
    struct baryon_model *was = network(opset);
    run(was, 0, wanted, 3);
    by_model_free(was);
    for (int i = 0; i < 4; i++) {
        run(model, levels[i], got[i], 3);
        assert_near(got[i], wanted, 3, most);
        assert_near(got[i], got[0], 3, 0.26f); /* two levels of y */
    }
}

/* "A,B -> C" */
static const char *wiring(const struct baryon_node *node)
{
    static char text[512];
    text[0] = '\0';
    for (size_t i = 0; i < node->input.count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", node->input.at[i]);
    }
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, " -> %s", node->output.at[0]);
    return text;
}

#define assert_wired(model, name, wanted)                                                          \
    assert_string_equal(wiring(node_named((model), (name))), (wanted))

/* --- Tests --- */

static void names_and_pairs(void **state)
{
    (void)state;
    struct baryon_model *model = network(13);
    quantize(model, NULL);
    assert_wired(model, "x_QuantizeLinear", "x,x_scale,x_zero_point -> x_QuantizeLinear_Output");
    assert_wired(model, "x_DequantizeLinear",
                 "x_QuantizeLinear_Output,x_scale,x_zero_point -> x_DequantizeLinear_Output");
    assert_wired(model, "w_DequantizeLinear",
                 "w_quantized,w_scale,w_zero_point -> w_DequantizeLinear_Output");
    assert_wired(model, "b_DequantizeLinear",
                 "b_quantized,b_quantized_scale,b_quantized_zero_point -> b");
    assert_wired(model, "conv", "x_DequantizeLinear_Output,w_DequantizeLinear_Output,b -> c");
    assert_wired(model, "relu", "c -> r");
    /* What only moves has the very same initializers; an output keeps its name. */
    assert_wired(model, "p_QuantizeLinear",
                 "p_QuantizeLinear_Input,r_scale,r_zero_point -> p_QuantizeLinear_Output");
    assert_wired(model, "p_DequantizeLinear", "p_QuantizeLinear_Output,r_scale,r_zero_point -> p");
    assert_wired(model, "move", "p,shape -> f");
    assert_wired(model, "gemm",
                 "f_DequantizeLinear_Output,v_DequantizeLinear_Output,a -> "
                 "y_QuantizeLinear_Input");
    assert_null(by_graph_value(model->graph, "w"));
    assert_computes(model, 13, 0.3f);
    by_model_free(model);
}

static void every_form_computes_the_same(void **state)
{
    (void)state;
    for (int form = 0; form < 6; form++) {
        assert_int_equal(prepare(state), 0);
        if (form == 1)
            recipe.weight.granularity = BY_PER_CHANNEL;
        if (form == 2)
            recipe.dedicated_pairs = recipe.dedicated_dq = true;
        if (form == 3)
            recipe.keep_float_weights = true;
        if (form == 4)
            recipe.fold_relu = true;
        if (form == 5)
            recipe.bias_kind = BY_BIAS_OWN;
        struct baryon_model *model = network(13);
        quantize(model, NULL);
        assert_computes(model, 13, 0.3f);
        by_model_free(model);
    }
}

static const char *types_of(const struct baryon_model *model)
{
    static char text[512];
    text[0] = '\0';
    for (size_t i = 0; i < model->graph->node.count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                 node_at(model->graph, i)->op_type);
    }
    return text;
}

static void operators_of_integers(void **state)
{
    (void)state;
    for (int channels = 0; channels < 2; channels++) {
        recipe.fold_relu = true;
        recipe.weight.granularity = channels ? BY_PER_CHANNEL : BY_PER_TENSOR;
        struct baryon_model *model = network(13);
        make_plan(model);
        assert_ok(by_lower_qoperator(plan, NULL, &err));
        by_quant_plan_close(plan);
        assert_sound(model);
        assert_ok(by_model_check(model, NULL, NULL, NULL, &err));
        assert_string_equal(types_of(model),
                            "QuantizeLinear QLinearConv MaxPool DequantizeLinear Reshape "
                            "QGemm DequantizeLinear");
        assert_computes(model, 13, 0.3f);
        by_model_free(model);
    }
}

/* Of 16 rows each: 4-bit levels from the greatest magnitude, 7 steps to each side. */
static void assert_scales_of_blocks(const float *weights, const uint8_t *scales)
{
    for (size_t block = 0; block < 4; block++)
        for (size_t channel = 0; channel < 3; channel++) {
            float most = 0, scale;
            for (size_t row = 16 * block; row < 16 * (block + 1); row++)
                most = fmaxf(most, fabsf(weights[row * 3 + channel]));
            memcpy(&scale, scales + (block * 3 + channel) * sizeof scale, sizeof scale);
            const float wanted = most / 7;
            assert_near(&scale, &wanted, 1, 1e-5f * wanted);
        }
}

static void groups_are_blocks(void **state)
{
    (void)state;
    recipe.approach = BY_APPROACH_WEIGHTS;
    recipe.weight.granularity = BY_PER_GROUP;
    recipe.weight.group = 16;
    recipe.weight.elem = BY_ELEM_INT4;
    recipe.weight.reduce_range = false;
    struct baryon_model *model = network(21);
    float weights[64 * 3];
    const struct by_span bytes = value_of(model->graph, "v")->initializer->raw_data;
    assert_int_equal(bytes.size, sizeof weights);
    memcpy(weights, bytes.data, sizeof weights);
    quantize(model, NULL);
    const struct baryon_node *node = node_named(model, "v_DequantizeLinear");
    assert_int_equal(by_node_int(node, "block_size", 0), 16);
    assert_int_equal(by_node_int(node, "axis", -1), 0);
    const struct baryon_tensor *scale = by_node_in(node, 1)->initializer;
    assert_int_equal(scale->dims.at[0], 4);
    assert_int_equal(scale->dims.at[1], 3);
    assert_scales_of_blocks(weights, scale->raw_data.data);
    assert_int_equal(by_node_in(node, 0)->initializer->raw_data.size, 64 * 3 / 2);
    assert_int_equal(model->ir_version, 10);
    assert_computes(model, 21, 1.5f);
    by_model_free(model);
}

/* The axis is counted from the end: by its number ONNX Runtime makes MatMulNBits of such a product.
 */
static void blocks_are_stored(void **state)
{
    (void)state;
    recipe.approach = BY_APPROACH_WEIGHTS;
    by_spec_set_type(&recipe.weight, BY_TYPE_MXINT8);
    struct baryon_model *model = network(21);
    quantize(model, NULL);
    const struct baryon_node *node = node_named(model, "v_DequantizeLinear");
    const struct baryon_tensor *scale = by_node_in(node, 1)->initializer;
    const struct baryon_tensor *codes = by_node_in(node, 0)->initializer;
    assert_true(node->domain == NULL || !*node->domain);
    assert_int_equal(node->input.count, 2);
    assert_int_equal(by_node_int(node, "block_size", 0), 32);
    assert_int_equal(by_node_int(node, "axis", 0), -2);
    assert_int_equal(scale->dims.at[0], 2);
    assert_int_equal(scale->dims.at[1], 3);
    assert_int_equal(codes->data_type, BY_ELEM_INT8);
    assert_int_equal(codes->raw_data.size, 64 * 3);
    assert_int_equal(by_model_opset(model, "com.amd.quark"), 0);
    assert_computes(model, 21, 0.2f);
    by_model_free(model);
}

static void refuse(int64_t opset, const char *wanted)
{
    struct baryon_model *model = network(opset);
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_UNSUPPORTED, wanted);
    by_quant_plan_close(plan);
    by_model_free(model);
}

/* An odd number of codes of 4 bits in half a byte each, scales of a byte. */
static void blocks_have_types_of_onnx(void **state)
{
    (void)state;
    recipe.approach = BY_APPROACH_WEIGHTS;
    recipe.block_form = BY_BLOCKS_ONNX;
    by_spec_set_type(&recipe.weight, BY_TYPE_MXFP4_E2M1);
    struct baryon_model *model = network(24);
    quantize(model, NULL);
    const struct baryon_node *node = node_named(model, "v_DequantizeLinear");
    const struct baryon_tensor *scale = by_node_in(node, 1)->initializer;
    const struct baryon_tensor *codes = by_node_in(node, 0)->initializer;
    assert_int_equal(by_node_int(node, "output_dtype", 0), BY_ELEM_FLOAT);
    assert_int_equal(codes->data_type, BY_ELEM_FLOAT4E2M1);
    assert_int_equal(codes->raw_data.size, 64 * 3 / 2);
    assert_int_equal(scale->data_type, BY_ELEM_FLOAT8E8M0);
    assert_int_equal(scale->raw_data.size, 2 * 3);
    assert_int_equal(model->ir_version, 12);
    by_model_free(model);
}

/* Which of ONNX's types, by the opset; models that are run here have others. */
static void types_of_blocks(void **state)
{
    static const struct {
        const char *format;
        enum by_block_form form;
        int64_t opset;
        const char *codes;
    } cases[] = {
        {"mxfp4_e2m1", BY_BLOCKS_RUNTIME, 25, "fp8_e4m3"},
        {"mxfp4_e2m1", BY_BLOCKS_ONNX, 24, "fp4_e2m1"},
        {"mxfp6_e3m2", BY_BLOCKS_ONNX, 27, "fp8_e4m3"},
        {"mxfp6_e3m2", BY_BLOCKS_ONNX, 28, "fp6_e3m2"},
        {"mxfp6_e2m3", BY_BLOCKS_ONNX, 28, "fp6_e2m3"},
        {"mxfp8_e5m2", BY_BLOCKS_ONNX, 24, "fp8_e5m2"},
        {"mxint8", BY_BLOCKS_ONNX, 24, "int8"},
        {"mx4", BY_BLOCKS_ONNX, 24, "int4"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(
            by_spec_block_codes(by_dtype_find(cases[i].format), cases[i].form, cases[i].opset)
                ->name,
            cases[i].codes);
    assert_null(by_spec_block_codes(by_dtype_find("nvfp4"), BY_BLOCKS_ONNX, 24));
    recipe.block_form = BY_BLOCKS_ONNX;
    assert_int_equal(by_recipe_to_run(&recipe).block_form, BY_BLOCKS_RUNTIME);
}

static void blocks_need_an_opset(void **state)
{
    (void)state;
    by_spec_set_type(&recipe.weight, BY_TYPE_MXFP4_E2M1);
    by_spec_set_type(&recipe.bias, BY_TYPE_MXFP4_E2M1);
    refuse(20, "mxfp4_e2m1 requires opset 21, the model has 20; convert the model with --opset 21");
    recipe.keep_float_blocks = true;
    assert_int_equal(by_quant_least_opset(&recipe), 11); /* of activations */
    recipe.keep_float_blocks = false;
    assert_int_equal(by_quant_least_opset(&recipe), 21);
    assert_true(by_quant_must_raise(&recipe, 20));
    assert_false(by_quant_must_raise(&recipe, 21));
    recipe.block_form = BY_BLOCKS_ONNX;
    assert_int_equal(by_quant_least_opset(&recipe), 24);
    assert_true(by_quant_must_raise(&recipe, 23));
    assert_false(by_quant_must_raise(&recipe, 24));
    refuse(23, "mxfp4_e2m1 requires opset 24, the model has 23; convert the model with --opset 24, "
               "or use --block-form runtime");
}

static void rules_need_an_opset(void **state)
{
    struct by_rule rule = {.kind = BY_RULE_NODE};
    (void)state;
    recipe.rules.at = &rule;
    recipe.rules.count = 1;
    assert_false(by_quant_must_raise(&recipe, 10));
    rule.weight =
        (struct by_change){{.group = 32, .granularity = BY_PER_GROUP}, BY_CHANGE_GRANULARITY};
    assert_int_equal(by_quant_least_opset(&recipe), 21);
    assert_true(by_quant_must_raise(&recipe, 20));
    assert_false(by_quant_must_raise(&recipe, 21));
    rule.weight.set = 0;
    recipe.floats = BY_FLOATS_CAST;
    by_spec_set_type(&rule.input.spec, BY_ELEM_BFLOAT16);
    rule.input.set = BY_CHANGE_ELEM;
    assert_true(by_quant_must_raise(&recipe, 12));
    assert_false(by_quant_must_raise(&recipe, 13));
    recipe.floats = BY_FLOATS_QUARK;
    assert_false(by_quant_must_raise(&recipe, 12));
    recipe.rules.count = 0;
}

static void domains_and_opsets(void **state)
{
    (void)state;
    recipe.activation.elem = BY_ELEM_INT16;
    struct baryon_model *model = network(13);
    quantize(model, NULL);
    assert_string_equal(node_named(model, "x_QuantizeLinear")->domain, "com.microsoft");
    assert_int_equal(by_model_opset(model, "com.microsoft"), 1);
    by_model_free(model);
    model = network(21);
    quantize(model, NULL);
    assert_string_equal(by_domain(node_named(model, "x_QuantizeLinear")->domain), "");
    by_model_free(model);
    recipe.domain = BY_Q_ONNX;
    refuse(13, "int16 requires opset 21, the model has 13; convert the model with --opset 21, or "
               "use the operators of com.microsoft");
    recipe.domain = BY_Q_AUTO;
    recipe.activation.elem = BY_ELEM_UINT8;
    refuse(9,
           "QuantizeLinear requires opset 10, the model has 9; convert the model with --opset 10");
    recipe.weight.granularity = BY_PER_GROUP;
    recipe.weight.group = 16;
    refuse(13, "per-group quantization requires opset 21, the model has 13; convert the model with "
               "--opset 21");
}

static void what_a_recipe_needs(void **state)
{
    (void)state;
    assert_int_equal(by_quant_least_opset(&recipe), 11);
    assert_true(by_quant_must_raise(&recipe, 9));
    assert_false(by_quant_must_raise(&recipe, 10));
    recipe.weight.granularity = BY_PER_CHANNEL;
    assert_int_equal(by_quant_least_opset(&recipe), 13);
    assert_false(by_quant_must_raise(&recipe, 12)); /* operators of com.microsoft have channels */
    recipe.domain = BY_Q_ONNX;
    assert_true(by_quant_must_raise(&recipe, 12));
    recipe.domain = BY_Q_AUTO;
    recipe.weight.elem = BY_ELEM_INT4;
    assert_int_equal(by_quant_least_opset(&recipe), 21);
    assert_false(by_quant_must_raise(&recipe, 13));
    by_spec_set_type(&recipe.weight, BY_TYPE_INT3); /* stored as int8 where there is no int4 */
    assert_int_equal(by_quant_least_opset(&recipe), 13);
    by_spec_set_type(&recipe.weight, BY_ELEM_INT2);
    assert_int_equal(by_quant_least_opset(&recipe), 13);
    recipe.weight.granularity = BY_PER_GROUP;
    assert_true(by_quant_must_raise(&recipe, 20));
    assert_false(by_quant_must_raise(&recipe, 21));
    recipe.approach = BY_APPROACH_NBITS;
    assert_false(by_quant_must_raise(&recipe, 7));
}

/* Scales and integers are the same for any number of threads. */
static void threads_change_nothing(void **state)
{
    (void)state;
    struct by_str bytes[2];
    for (unsigned i = 0; i < 2; i++) {
        struct by_pool *pool;
        struct baryon_model *model = network(13);
        recipe.weight.granularity = BY_PER_CHANNEL;
        assert_ok(by_pool_open(&pool, i ? 4 : 1, &err));
        quantize(model, pool);
        by_str_init(&bytes[i]);
        assert_ok(by_model_save_bytes(model, &bytes[i], &err));
        by_pool_close(pool);
        by_model_free(model);
    }
    assert_int_equal(bytes[0].size, bytes[1].size);
    assert_memory_equal(bytes[0].text, bytes[1].text, bytes[0].size);
    by_str_release(&bytes[0]);
    by_str_release(&bytes[1]);
}

static void biases_find_room(void **state)
{
    (void)state;
    recipe.bias_int16 = true;
    struct baryon_model *model = network(13);
    make_plan(model);
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        if (row->role != BY_ROLE_BIAS)
            continue;
        const float scale = row->params.scales[0];
        const struct by_params *weight = by_quant_params(plan, row->weight_row);
        const struct by_params *from = by_quant_params(plan, row->input_row);
        assert_true(1 / scale <= 32767.5f); /* no bias here is above 1 */
        assert_true(fabsf(scale - weight->scales[0] * from->scales[0]) < 1e-7f * scale);
    }
    by_quant_plan_close(plan);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_and_pairs, prepare),
        cmocka_unit_test_setup(every_form_computes_the_same, prepare),
        cmocka_unit_test_setup(operators_of_integers, prepare),
        cmocka_unit_test_setup(groups_are_blocks, prepare),
        cmocka_unit_test_setup(blocks_are_stored, prepare),
        cmocka_unit_test_setup(blocks_have_types_of_onnx, prepare),
        cmocka_unit_test_setup(types_of_blocks, prepare),
        cmocka_unit_test_setup(blocks_need_an_opset, prepare),
        cmocka_unit_test_setup(rules_need_an_opset, prepare),
        cmocka_unit_test_setup(domains_and_opsets, prepare),
        cmocka_unit_test_setup(what_a_recipe_needs, prepare),
        cmocka_unit_test_setup(threads_change_nothing, prepare),
        cmocka_unit_test_setup(biases_find_room, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
