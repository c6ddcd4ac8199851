/* Every allocation fails, once and for good, while scales of a finished model move, and while
 * second pairs are planned and written. */
#include "tests/fault/two_layers.h"

#include "convert/convert.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"
#include "tests/fault/sweep.h"

static const char passes[] = "input_model_path: q.onnx\n"
                             "passes:\n"
                             "  onnx_align_scale: {align_scale: [MaxPool]}\n"
                             "  bias-scales: {}\n"
                             "  bound-weight-scales: {maxmin_scale_ratio: 2, min_w_scale: 0.25}\n"
                             "  onnx_xint8_adjust: {xint8_adjust: true}\n"
                             "output_model_path: out.onnx\n";

static void put_scale(struct baryon_model *model, const char *name, float scale)
{
    put_weight(model, name, BY_ELEM_FLOAT, NULL, 0, &scale, sizeof scale);
}

static void put_pair(struct baryon_model *model, const char *name, float scale)
{
    char names[6][16];
    static const char *const suffixes[] = {"s", "q", "d", "Q", "D", "i"};
    char inputs[2][64];
    for (size_t i = 0; i < 6; i++)
        snprintf(names[i], sizeof names[i], "%s_%s", name, suffixes[i]);
    put_scale(model, names[0], scale);
    snprintf(inputs[0], sizeof inputs[0], "%s,%s,zero", name, names[0]);
    snprintf(inputs[1], sizeof inputs[1], "%s,%s,zero", names[1], names[0]);
    put_node(model->graph, names[3], "QuantizeLinear", inputs[0], names[1]);
    put_node(model->graph, names[4], "DequantizeLinear", inputs[1], names[2]);
}

/* x -> MaxPool -> Conv with a bias of another scale, the Conv breaks rules of XINT8. */
static void save_quantized(void)
{
    static const int8_t w[] = {1, -100, 3, 4}, zero = 0;
    static const int32_t b[] = {1000, 2};
    static const float scales[] = {0x1p-12F, 0x1p-3F};
    const int64_t dims[] = {2, 2, 1, 1};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2,4,4");
    put_weight(model, "zero", BY_ELEM_INT8, NULL, 0, &zero, 1);
    put_weight(model, "w", BY_ELEM_INT8, dims, 4, w, sizeof w);
    put_weight(model, "w_s", BY_ELEM_FLOAT, dims, 1, scales, sizeof scales);
    put_weight(model, "b", BY_ELEM_INT32, dims, 1, b, sizeof b);
    put_scale(model, "b_s", 0.5F);
    put_pair(model, "x", 0.25F);
    put_node(model->graph, "pool", "GlobalMaxPool", "x_d", "p");
    put_pair(model, "p", 0.5F);
    put_node(model->graph, "average", "GlobalAveragePool", "p_d", "v");
    put_pair(model, "v", 0.125F);
    put_node(model->graph, "w_D", "DequantizeLinear", "w,w_s", "w_d");
    put_node(model->graph, "b_D", "DequantizeLinear", "b,b_s", "b_d");
    put_node(model->graph, "conv", "Conv", "v_d,w_d,b_d", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(by_graph_value(model->graph, "w_d")->producer, "axis", 0, &err));
    assert_ok(by_model_save(model, "q.onnx", NULL, &err));
    by_model_free(model);
}

static int move_scales(void)
{
    struct by_arena arena;
    struct baryon_model *model = NULL;
    const struct by_session_options session = {.threads = 1};
    by_arena_init(&arena, 0);
    struct by_convert convert = {.arena = &arena};
    const int failed = by_model_load(&model, "q.onnx", NULL, &err) ||
                       by_convert_read(&convert, "p.yaml", NULL, &err) ||
                       by_convert_run(&convert, model, &session, NULL, NULL, &err);
    by_model_free(model);
    by_arena_release(&arena);
    return failed ? -1 : 0;
}

static void moving(void **state)
{
    (void)state;
    save_quantized();
    assert_ok(by_write_file("p.yaml", passes, sizeof passes - 1, 0, &err));
    sweep_memory(move_scales);
    unlink("q.onnx");
    unlink("p.yaml");
}

static void give_ranges(struct by_quant_plan *plan)
{
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].role == BY_ROLE_ACTIVATION) {
            plan->rows.at[i].range = (struct by_range){-1, 1, false, 0};
            plan->rows.at[i].has_range = true;
        }
}

static int plan_and_write(struct baryon_model *model, const struct by_recipe *recipe)
{
    struct by_quant_plan *plan;
    if (by_model_infer(model, NULL, &err) || by_quant_plan_open(&plan, model, recipe, &err))
        return -1;
    int failed = by_place(plan, NULL, NULL, &err);
    if (!failed) {
        give_ranges(plan);
        failed = by_quant_find_params(plan, NULL, NULL, &err) || by_lower_qdq(plan, NULL, &err);
    }
    by_quant_plan_close(plan);
    return failed ? -1 : 0;
}

static int add_second_pairs(void)
{
    struct by_pattern nodes[] = {{"second", NULL}};
    struct by_tensor_spec int8 = {.elem = BY_ELEM_INT8, .symmetric = true};
    int8.method = by_calibrator_find("minmax");
    struct by_rule rule = {.kind = BY_RULE_TENSOR, .pattern = {"c", NULL}};
    rule.convert = (struct by_conversion){
        true, {.spec = {.elem = BY_ELEM_UINT8}, .set = BY_CHANGE_ELEM}, {nodes, 1, 0}};
    struct by_recipe recipe = {.activation = int8, .weight = int8, .bias = int8};
    recipe.bias.elem = BY_ELEM_INT32;
    recipe.rules.at = &rule;
    recipe.rules.count = 1;
    struct baryon_model *model = NULL;
    const int failed = by_model_load(&model, "m.onnx", NULL, &err) || by_model_link(model, &err) ||
                       plan_and_write(model, &recipe);
    by_model_free(model);
    return failed ? -1 : 0;
}

static void second_pairs(void **state)
{
    (void)state;
    save_two_layers(1, false);
    sweep_memory(add_second_pairs);
    unlink("m.onnx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moving), cmocka_unit_test(second_pairs)};
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/baryon-fault-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return (chdir("/") || rmdir(folder)) ? 1 : failed;
}
