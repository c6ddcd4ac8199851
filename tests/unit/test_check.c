/* Rules about the model, its values, nodes and functions. */
#include "check_expect.h"

static void finds_nothing_in_a_sound_model(void **state)
{
    (void)state;
    assert_findings(relu_model(), "");
}

static void judges_the_ir_version(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    model->ir_version = 0;
    assert_findings(model, "error ir-version: ir_version: no IR version is given, must be 3 to 14");
    model = relu_model();
    model->ir_version = 15;
    assert_findings(model, "error ir-version: ir_version: IR version 15, must be 3 to 14; save the "
                           "model for an older version of ONNX");
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    model = relu_model();
    model->ir_version = 2;
    assert_findings(model, "error ir-version: ir_version: IR version 2, must be 3 to 14");
}

static void wants_each_domain_imported_once(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_import(model, &model->opset_import, "ai.onnx", 17);
    assert_findings(model, "error opset-import: opset_import[1]: domain 'ai.onnx' is imported "
                           "twice (opset 21 and 17), must appear once");
    model = relu_model();
    put_import(model, &model->opset_import, "ai.onnx", 21);
    assert_findings(model, "warning opset-import: opset_import[1]: domain 'ai.onnx' is imported "
                           "twice (opset 21 and 21), must appear once");
    model = relu_model();
    model->opset_import.count = 0;
    assert_findings(model, "error opset-import: opset_import: no opset is imported, every domain "
                           "in use must be imported");
    model = relu_model();
    node_at(model->graph, 0)->domain = name_of(model, "com.microsoft");
    node_at(model->graph, 0)->op_type = name_of(model, "Gelu");
    assert_findings(model,
                    "error opset-import: graph.node[0]: node 'relu' (Gelu) has the domain "
                    "'com.microsoft', which is not imported; add the domain to opset_import");
}

static void judges_opset_versions(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    ((struct by_opset *)model->opset_import.at[0])->version = 6;
    assert_findings(model, "error opset-version: opset_import[0]: opset 6 of domain 'ai.onnx', "
                           "must be 7 to 28; convert the model with onnx.version_converter");
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    model = relu_model();
    ((struct by_opset *)model->opset_import.at[0])->version = 29;
    assert_findings(model, "error opset-version: opset_import[0]: opset 29 of domain 'ai.onnx', "
                           "must be 7 to 28; export the model for an older opset");
    model = relu_model();
    put_import(model, &model->opset_import, "com.acme", 0);
    assert_findings(
        model,
        "error opset-version: opset_import[1]: opset 0 of domain 'com.acme', must be at least 1");
    model = relu_model();
    put_import(model, &model->opset_import, "com.acme", 123456);
    assert_findings(model, "");
}

static void wants_metadata_keys_once(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    for (int i = 0; i < 2; i++) {
        struct by_pair *pair = BY_ARENA_NEW(&model->arena, struct by_pair, &err);
        push(model, &model->metadata, pair);
        pair->key = name_of(model, "author");
    }
    assert_findings(
        model,
        "warning metadata: metadata_props[1]: key 'author' is given twice, must appear once");
}

static void judges_value_types(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    struct by_value_info *x = model->graph->input.at[0], *y = model->graph->output.at[0];
    x->type = NULL;
    y->type->tensor->shape = NULL;
    assert_findings(model,
                    "error value-type: graph.input[0]: 'x' has no type, must be declared for "
                    "inputs and outputs of a model\nwarning value-type: graph.output[0]: 'y' has "
                    "no shape, must be declared for inputs and outputs of a model");
    model = relu_model();
    ((struct by_value_info *)model->graph->input.at[0])->type->tensor->elem_type = 99;
    assert_findings(model, "error value-type: graph.input[0].type.tensor_type.elem_type: element "
                           "type 99, must be 1 to 28");
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    model = relu_model();
    struct by_dim *dim =
        ((struct by_value_info *)model->graph->input.at[0])->type->tensor->shape->dims.at[0];
    dim->value = -5;
    assert_findings(model, "warning value-type: graph.input[0].type.tensor_type.shape.dim[0]: 'x': "
                           "dimension -5, must be 0 or more");
}

static void knows_operators(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    node_at(model->graph, 0)->op_type = name_of(model, "Rellu");
    assert_findings(model, "error operator: graph.node[0]: node 'relu' (Rellu): unknown operator "
                           "in the domain 'ai.onnx'; did you mean 'Relu'?");
    model = relu_model();
    node_at(model->graph, 0)->op_type = name_of(model, "Gelu");
    ((struct by_opset *)model->opset_import.at[0])->version = 17;
    assert_findings(model, "error operator: graph.node[0]: node 'relu' (Gelu) is not in opset 17, "
                           "Gelu starts with opset 20");
    model = relu_model();
    node_at(model->graph, 0)->op_type = NULL;
    assert_findings(
        model,
        "error operator: graph.node[0]: node 'relu' () has no operator, op_type must be given");
}

static void lists_custom_domains(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    const struct by_check_options with_library = {.custom_ops = true};
    put_import(model, &model->opset_import, "com.acme", 1);
    put_import(model, &model->opset_import, "org.lab", 1);
    node_at(model->graph, 0)->domain = name_of(model, "com.acme");
    node_at(model->graph, 0)->op_type = name_of(model, "Frob");
    put_node(model->graph, "b", "Frob", "x", "b")->domain = name_of(model, "com.acme");
    put_node(model->graph, "c", "Warp", "x", "c")->domain = name_of(model, "org.lab");
    assert_ok(by_model_check(model, &with_library, NULL, NULL, &err));
    assert_findings(model,
                    "error custom-domain: graph.node[0]: operators of unknown domains: 'com.acme' "
                    "(2 nodes like 'Frob'), 'org.lab' (1 node like 'Warp'); load their library in "
                    "run with --ops-library, or accept them in check and copy with --custom-ops");
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
}

static void counts_inputs_and_outputs(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    push_names(model, &node_at(model->graph, 0)->input, "x,x");
    assert_findings(model, "error arity: graph.node[0].input: node 'relu' (Relu) has 3 inputs, the "
                           "operator requires 1");
    model = relu_model();
    put_node(model->graph, "add", "Add", ",x", "z");
    assert_findings(model, "error arity: graph.node[1].input[0]: node 'add' (Add): input 0 is "
                           "missing, the operator requires it");
    model = relu_model();
    struct baryon_node *cat = put_node(model->graph, "cat", "Concat", "x", "a,b");
    put_attr(model, &cat->attribute, "axis", BY_ATTR_INT);
    assert_findings(model, "error arity: graph.node[1].output: node 'cat' (Concat) has 2 outputs, "
                           "the operator requires 1");
}

/* Attention whose three heads are packed in its first input. */
static struct baryon_model *packed_heads(const char *inputs)
{
    struct baryon_model *model = relu_model();
    put_import(model, &model->opset_import, "com.microsoft", 1);
    struct baryon_node *node = put_node(model->graph, "heads", "GroupQueryAttention", inputs, "z");
    node->domain = name_of(model, "com.microsoft");
    put_attr(model, &node->attribute, "num_heads", BY_ATTR_INT)->i = 1;
    put_attr(model, &node->attribute, "kv_num_heads", BY_ATTR_INT)->i = 1;
    return model;
}

static void knows_inputs_that_may_lack(void **state)
{
    (void)state;
    assert_findings(packed_heads("x,,,,,x,x"), "");
    assert_findings(packed_heads("x,,,,,,x"),
                    "error arity: graph.node[1].input[5]: node 'heads' (GroupQueryAttention): "
                    "input 5 is missing, the operator requires it");
}

static void judges_attributes_by_themselves(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    struct by_ptrs *list = &node_at(model->graph, 0)->attribute;
    put_attr(model, list, "__a", BY_ATTR_INT)->f = 1;
    put_attr(model, list, "__b", BY_ATTR_TENSOR);
    put_attr(model, list, "__c", BY_ATTR_UNDEFINED);
    put_attr(model, list, "__d", (enum by_attr_type)77);
    struct baryon_attribute *both = put_attr(model, list, "__e", BY_ATTR_INT);
    both->i = 3;
    both->f = 1;
    put_attr(model, list, "__e", BY_ATTR_INT);
    put_attr(model, list, "", BY_ATTR_INT);
    put_attr(model, list, "__f", BY_ATTR_INT)->ref_attr_name = name_of(model, "alpha");
    assert_findings(
        model,
        "error attribute: graph.node[0].attribute[5]: attribute '__e' is given twice, must "
        "appear once\nerror attribute: graph.node[0].attribute[0]: attribute '__a' has type INT, "
        "but its value is in f\nerror attribute: graph.node[0].attribute[1]: attribute '__b' "
        "of type TENSOR has no value\nerror attribute: graph.node[0].attribute[2]: attribute '__c' "
        "has no type (0), must be 1 to 14\nerror attribute: graph.node[0].attribute[3]: attribute "
        "'__d' has type number 77, must be 1 to 14\nerror attribute: graph.node[0].attribute[4]: "
        "attribute '__e' has type INT, but its value is in f\nerror attribute: "
        "graph.node[0].attribute[6]: an attribute without a name, must have one\nerror attribute: "
        "graph.node[0].attribute[7]: attribute '__f' refers to 'alpha' of a function, but is "
        "not in a function");
}

static void judges_attributes_by_the_operator(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    struct baryon_node *cat = put_node(model->graph, "cat", "Concat", "x,x", "z");
    assert_findings(model, "error operator-attribute: graph.node[1].attribute: node 'cat' "
                           "(Concat): attribute 'axis' is missing, the operator requires it");
    model = relu_model();
    cat = put_node(model->graph, "cat", "Concat", "x,x", "z");
    put_attr(model, &cat->attribute, "axis", BY_ATTR_FLOAT);
    put_attr(model, &cat->attribute, "axes", BY_ATTR_INT);
    assert_findings(model, "error operator-attribute: graph.node[1].attribute[0]: node 'cat' "
                           "(Concat): attribute 'axis' has type FLOAT, the operator requires "
                           "INT\nerror operator-attribute: graph.node[1].attribute[1]: node 'cat' "
                           "(Concat): the operator has no attribute 'axes' in opset 21");
}

static void finds_many_attributes_of_one_name(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    struct by_ptrs *list = &node_at(model->graph, 0)->attribute;
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "__%d", i % 39);
        put_attr(model, list, name, BY_ATTR_INT);
    }
    assert_findings(model, "error attribute: graph.node[0].attribute[39]: attribute '__0' is "
                           "given twice, must appear once");
}

static void says_what_linking_finds(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_node(model->graph, "again", "Relu", "x", "y");
    assert_findings(model, "error links: graph.node[1].output[0]: value 'y' is defined twice, must "
                           "be defined once; node 'relu' (Relu) defines it first");
}

static void says_how_to_sort(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_node(model->graph, "late", "Relu", "early", "z");
    put_node(model->graph, "early", "Relu", "x", "early");
    assert_findings(model,
                    "error order: graph.node[1]: node 'late' (Relu) is before a node that produces "
                    "its input, must be after it; sort the nodes with 'baryon copy --sort'");
}

static void wants_nested_graphs_to_give_back_their_own(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_init(model->graph, "cond");
    ((struct baryon_tensor *)model->graph->initializer.at[0])->data_type = BY_ELEM_FLOAT;
    struct baryon_node *node = put_node(model->graph, "if", "If", "cond", "z");
    put_output(put_nested(model, node, "then_branch"), "y");
    struct baryon_graph *other = put_nested(model, node, "else_branch");
    put_node(other, "neg", "Neg", "y", "n");
    put_output(other, "n");
    assert_findings(
        model, "error outer-output: graph.node[1].attribute[0].g.output[0]: output 'y' of a nested "
               "graph is a tensor of an outer graph, must be its own; insert an Identity");
}

static void sums_up_names_of_nodes(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_node(model->graph, "relu", "Relu", "x", "a");
    put_node(model->graph, "", "Relu", "x", "b");
    put_node(model->graph, "", "Relu", "x", "c");
    assert_findings(
        model, "notice node-names: graph.node[2]: 2 of 4 nodes have no name\nnotice node-names: "
               "graph.node[1]: 1 of 4 nodes has a name that is already used, the first is 'relu'");
}

static void sums_up_what_is_unused(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_init(model->graph, "w");
    put_init(model->graph, "v");
    put_info(model->graph, &model->graph->value_info, "gone");
    assert_findings(model, "notice value-info: graph.value_info[0]: types of 1 tensor that do not "
                           "exist, the first is 'gone'\nnotice unused: graph.initializer[0]: 2 "
                           "unused initializers of 16 bytes, the first is 'w'");
}

static void notices_quantized_models(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    const int64_t none = 0;
    put_zeros(model->graph, "s", BY_ELEM_FLOAT, &none, 0);
    put_node(model->graph, "q", "QuantizeLinear", "x,s", "z");
    assert_findings(
        model, "notice quantized: graph.node[1]: already quantized: 1 node like 'QuantizeLinear'");
}

static void stops_when_told(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    model->ir_version = 99;
    node_at(model->graph, 0)->op_type = name_of(model, "Nope");
    assert_err(
        by_model_check(model, NULL, NULL, NULL, &err), BARYON_ERR_UNSUPPORTED,
        "ir_version: IR version 99, must be 3 to 14; save the model for an older version of ONNX");
    by_model_free(model);
}

static void every_rule_has_a_name_and_a_text(void **state)
{
    (void)state;
    size_t count;
    const struct by_check_rule *rules = by_check_rules(&count);
    assert_true(count > 30);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(rules[i].text) > 10);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rules[i].name, rules[k].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nothing_in_a_sound_model),
        cmocka_unit_test(judges_the_ir_version),
        cmocka_unit_test(wants_each_domain_imported_once),
        cmocka_unit_test(judges_opset_versions),
        cmocka_unit_test(wants_metadata_keys_once),
        cmocka_unit_test(judges_value_types),
        cmocka_unit_test(knows_operators),
        cmocka_unit_test(lists_custom_domains),
        cmocka_unit_test(counts_inputs_and_outputs),
        cmocka_unit_test(knows_inputs_that_may_lack),
        cmocka_unit_test(judges_attributes_by_themselves),
        cmocka_unit_test(judges_attributes_by_the_operator),
        cmocka_unit_test(finds_many_attributes_of_one_name),
        cmocka_unit_test(says_what_linking_finds),
        cmocka_unit_test(says_how_to_sort),
        cmocka_unit_test(wants_nested_graphs_to_give_back_their_own),
        cmocka_unit_test(sums_up_names_of_nodes),
        cmocka_unit_test(sums_up_what_is_unused),
        cmocka_unit_test(notices_quantized_models),
        cmocka_unit_test(stops_when_told),
        cmocka_unit_test(every_rule_has_a_name_and_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
