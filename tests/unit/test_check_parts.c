/* Rules about functions, training information, devices, annotations and declared types. */
#include "check_expect.h"

static struct by_span span(const char *text)
{
    return (struct by_span){(const uint8_t *)text, strlen(text)};
}

/* A model that calls local.f(x). */
static struct baryon_model *calling_model(struct by_function **function)
{
    struct baryon_model *model = relu_model();
    put_import(model, &model->opset_import, "local", 1);
    struct baryon_node *node = put_node(model->graph, "call", "f", "x", "z");
    node->domain = name_of(model, "local");
    *function = put_function(model, "local", "f");
    put_import(model, &(*function)->opset_import, "", 21);
    push_names(model, &(*function)->input, "a");
    push_names(model, &(*function)->output, "b");
    return model;
}

static struct baryon_node *put_body(struct baryon_model *model, struct by_function *function,
                                    const char *op_type, const char *inputs, const char *outputs)
{
    struct baryon_node *node = new_node(model, "", op_type, inputs, outputs);
    push(model, &function->node, node);
    return node;
}

static void accepts_a_function(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    put_body(model, function, "Relu", "a", "t");
    put_body(model, function, "Neg", "t", "b");
    assert_findings(model, "");
}

static void judges_what_a_function_says_of_itself(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    put_body(model, function, "Relu", "a", "b");
    push_names(model, &function->input, "a");
    push_names(model, &function->output, "b");
    push_names(model, &function->attribute, "alpha,alpha");
    struct by_function *nameless = put_function(model, "local", "");
    struct by_function *homeless = put_function(model, "local", "g");
    homeless->domain = NULL;
    (void)nameless;
    assert_findings(
        model, "error arity: graph.node[1].input[1]: node 'call' (f): input 1 is missing, the "
               "operator requires it\nerror function: functions[0].input[1]: function 'local.f' "
               "has input 'a' twice, must appear once\nerror function: functions[0].output[1]: "
               "function 'local.f' has "
               "output 'b' twice, must appear once\nerror function: functions[0].attribute[1]: "
               "function 'local.f' has attribute 'alpha' twice, must appear once\nerror function: "
               "functions[1]: the function has no name, must have one\nerror function: "
               "functions[2]: function 'g' has no domain, must have one");
}

static void judges_calls(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    put_body(model, function, "Relu", "a", "b");
    push_names(model, &node_at(model->graph, 1)->input, "x");
    push_names(model, &node_at(model->graph, 1)->output, "more");
    assert_findings(model, "error arity: graph.node[1].input: node 'call' (f) has 2 inputs, the "
                           "operator requires 0 to 1");
    model = calling_model(&function);
    put_body(model, function, "Relu", "a", "b");
    push_names(model, &node_at(model->graph, 1)->output, "more");
    assert_findings(model, "error arity: graph.node[1].output: node 'call' (f) has 2 outputs, the "
                           "operator requires 0 to 1");
}

static void judges_a_function_by_its_own_opsets(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    put_body(model, function, "Gelu", "a", "b");
    ((struct by_opset *)function->opset_import.at[0])->version = 17;
    put_import(model, &function->opset_import, "ai.onnx", 18);
    assert_findings(
        model, "error opset-import: functions[0].opset_import[1]: domain 'ai.onnx' is imported "
               "twice (opset 17 and 18), must appear once\nerror operator: functions[0].node[0]: "
               "node #0 (Gelu) is not in opset 17, Gelu starts with opset 20");
    model = calling_model(&function);
    put_body(model, function, "Relu", "a", "b");
    ((struct by_opset *)function->opset_import.at[0])->version = 3;
    assert_findings(model,
                    "error opset-version: functions[0].opset_import[0]: opset 3 of domain "
                    "'ai.onnx', must be 7 to 28; convert the model with onnx.version_converter");
}

/* Each function has imports of its own to forget. */
static void tells_what_each_function_does_not_import(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    put_body(model, function, "Gelu", "a", "b")->domain = name_of(model, "com.microsoft");
    struct by_function *second = put_function(model, "local", "g");
    put_import(model, &second->opset_import, "", 21);
    put_body(model, second, "Gelu", "", "c")->domain = name_of(model, "com.microsoft");
    put_body(model, second, "Gelu", "c", "d")->domain = name_of(model, "com.microsoft");
    const char *found = strstr(findings_of(model), "functions[0]");
    assert_non_null(found);
    assert_non_null(found =
                        strstr(found, "error opset-import: functions[1].node[0]: node #0 (Gelu) "
                                      "has the domain 'com.microsoft', which is not imported"));
    assert_null(strstr(found, "functions[1].node[1]: node #1 (Gelu) is of"));
}

static void follows_names_through_nested_graphs_of_a_function(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    put_body(model, function, "Relu", "a", "t");
    struct baryon_node *node = put_body(model, function, "If", "a", "b");
    struct baryon_graph *graph = put_nested(model, node, "then_branch");
    put_node(graph, "n", "Neg", "t", "inner");
    put_output(graph, "inner");
    graph = put_nested(model, node, "else_branch");
    put_input(graph, "p");
    put_init(graph, "w");
    put_sparse(graph, "s");
    put_node(graph, "n", "Add", "w,p", "other");
    put_output(graph, "elsewhere");
    put_node(graph, "t", "Neg", "s", "t");
    put_body(model, function, "Neg", "inner", "late");
    ((struct by_sparse_tensor *)graph->sparse_initializer.at[0])->indices = NULL;
    const char *found = findings_of(model);
    assert_non_null(strstr(
        found,
        "error function-names: functions[0].node[1].attribute[1].g.node[1].output[0]: tensor 't' "
        "is defined twice in the function, must be defined once\nerror function-names: "
        "functions[0].node[1].attribute[1].g.output[0]: output 'elsewhere' is not defined in the "
        "function\nerror function-names: functions[0].node[2].input[0]: node #2 (Neg) has input "
        "'inner', which is not defined before it in the function\n"));
}

static void takes_references_only_in_functions(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    struct baryon_node *node = put_body(model, function, "LeakyRelu", "a", "b");
    struct baryon_attribute *attr = put_attr(model, &node->attribute, "alpha", BY_ATTR_FLOAT);
    attr->ref_attr_name = name_of(model, "slope");
    push_names(model, &function->attribute, "slope");
    assert_findings(model, "");
    model = calling_model(&function);
    node = put_body(model, function, "LeakyRelu", "a", "b");
    attr = put_attr(model, &node->attribute, "alpha", BY_ATTR_FLOAT);
    attr->ref_attr_name = name_of(model, "slope");
    attr->f = 1;
    assert_findings(model, "error attribute: functions[0].node[0].attribute[0]: attribute 'alpha' "
                           "has a value and refers to 'slope', must have one of them");
}

static void judges_defaults_of_attributes(void **state)
{
    (void)state;
    struct by_function *function;
    struct baryon_model *model = calling_model(&function);
    put_body(model, function, "Relu", "a", "b");
    put_attr(model, &function->attribute_proto, "slope", BY_ATTR_INT)->f = 1;
    assert_findings(model, "error attribute: functions[0].attribute_proto[0]: attribute 'slope' "
                           "has type INT, but its value is in f");
}

/* --- training --- */

static struct by_pair *put_pair(struct baryon_model *model, struct by_ptrs *list, const char *key,
                                const char *value)
{
    struct by_pair *pair = BY_ARENA_NEW(&model->arena, struct by_pair, &err);
    push(model, list, pair);
    pair->key = name_of(model, key);
    pair->value = span(value);
    return pair;
}

static struct baryon_graph *new_graph(struct baryon_model *model, const char *name)
{
    struct baryon_graph *graph = BY_ARENA_NEW(&model->arena, struct baryon_graph, &err);
    assert_non_null(graph);
    graph->model = model;
    graph->name = name_of(model, name);
    return graph;
}

static void warns_about_training_that_names_nothing(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    struct by_training_info *training = BY_ARENA_NEW(&model->arena, struct by_training_info, &err);
    push(model, &model->training_info, training);
    put_init(model->graph, "w");
    put_node(model->graph, "use", "Add", "y,w", "z");
    training->initialization = new_graph(model, "init");
    put_node(training->initialization, "", "Identity", "w", "w0");
    put_output(training->initialization, "w0");
    training->algorithm = new_graph(model, "step");
    put_init(training->algorithm, "rate");
    put_node(training->algorithm, "", "Mul", "y,rate", "w1");
    put_node(training->algorithm, "", "Mul", "gone,rate", "w2");
    put_output(training->algorithm, "w1");
    put_pair(model, &training->initialization_binding, "w", "w0");
    put_pair(model, &training->update_binding, "w", "w1");
    put_pair(model, &training->update_binding, "rate", "w1");
    put_pair(model, &training->update_binding, "v", "w1");
    assert_findings(model,
                    "warning training: training_info[0].algorithm.node[1].input[0]: node #1 (Mul) "
                    "has input 'gone', which is not defined before it in the training graph or the "
                    "model\nwarning training: training_info[0].update_binding[2]: 'v' is bound, "
                    "but there is no tensor of this name\nnotice node-names: "
                    "training_info[0].initialization.node[0]: 3 of 5 nodes have no name");
}

/* --- devices --- */

static struct by_device *put_device(struct baryon_model *model, const char *name, int64_t count)
{
    struct by_device *device = BY_ARENA_NEW(&model->arena, struct by_device, &err);
    push(model, &model->configuration, device);
    device->name = name_of(model, name);
    device->num_devices = count;
    return device;
}

static struct by_sharding_spec *put_spec(struct baryon_model *model, struct baryon_node *node,
                                         const char *id, const char *tensor)
{
    struct by_node_device *device = BY_ARENA_NEW(&model->arena, struct by_node_device, &err);
    struct by_sharding_spec *spec = BY_ARENA_NEW(&model->arena, struct by_sharding_spec, &err);
    push(model, &node->device_configurations, device);
    push(model, &device->sharding_spec, spec);
    device->configuration_id = name_of(model, id);
    spec->tensor_name = name_of(model, tensor);
    return spec;
}

static void put_shards(struct baryon_model *model, struct by_sharding_spec *spec, int64_t shards)
{
    struct by_sharded_dim *dim = BY_ARENA_NEW(&model->arena, struct by_sharded_dim, &err);
    struct by_simple_sharded_dim *simple =
        BY_ARENA_NEW(&model->arena, struct by_simple_sharded_dim, &err);
    push(model, &spec->sharded_dim, dim);
    push(model, &dim->simple_sharding, simple);
    simple->num_shards = shards;
}

static void warns_about_devices_that_do_not_fit(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    struct baryon_node *node = node_at(model->graph, 0);
    put_device(model, "good", 2);
    put_device(model, "none", 0);
    push_names(model, &put_device(model, "few", 2)->device, "one");
    put_device(model, "good", 1);
    put_device(model, "", 1);
    put_shards(model, put_spec(model, node, "good", "x"), 2);
    put_shards(model, put_spec(model, node, "good", "y"), 0);
    put_spec(model, node, "good", "elsewhere");
    put_spec(model, node, "bad", "x");
    assert_findings(
        model,
        "warning devices: configuration[1]: configuration 'none' has 0 devices, must have at least "
        "1\nwarning devices: configuration[2]: configuration 'few' has 2 devices and 1 names, must "
        "be as many\nwarning devices: configuration[3]: a second configuration 'good', names must "
        "be unique\nwarning devices: configuration[4]: the configuration has no name, must have "
        "one\nwarning devices: "
        "graph.node[0].device_configurations[1].sharding_spec[0].sharded_dim[0].simple_sharding[0]:"
        " 0 shards, must be at least 1\nwarning devices: "
        "graph.node[0].device_configurations[2].sharding_spec[0]: 'elsewhere' is sharded, must be "
        "an input or output of the node\nwarning devices: graph.node[0].device_configurations[3]: "
        "configuration 'bad' does not exist in the model");
}

/* --- annotations, declared types --- */

static void warns_about_annotations_of_nothing(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_init(model->graph, "s");
    static const char *const names[] = {"x", "gone"};
    for (int i = 0; i < 2; i++) {
        struct by_annotation *annotation = BY_ARENA_NEW(&model->arena, struct by_annotation, &err);
        push(model, &model->graph->annotation, annotation);
        annotation->tensor_name = name_of(model, names[i]);
        put_pair(model, &annotation->names, "SCALE_TENSOR", "s");
        put_pair(model, &annotation->names, "ZERO_POINT_TENSOR", "zp");
    }
    assert_findings(
        model,
        "warning annotation: graph.quantization_annotation[0].quant_parameter_tensor_names[1]: "
        "'ZERO_POINT_TENSOR' names 'zp', which does not exist\nwarning annotation: "
        "graph.quantization_annotation[1]: an annotation for 'gone', which does not exist");
}

static struct by_type *input_type(struct baryon_model *model, const char *name)
{
    put_input(model->graph, name);
    struct by_value_info *info = model->graph->input.at[model->graph->input.count - 1];
    info->type = BY_ARENA_NEW(&model->arena, struct by_type, &err);
    assert_non_null(info->type);
    return info->type;
}

static struct by_tensor_type *tensor_type(struct baryon_model *model, int64_t elem)
{
    struct by_tensor_type *type = BY_ARENA_NEW(&model->arena, struct by_tensor_type, &err);
    assert_non_null(type);
    type->elem_type = elem;
    type->shape = BY_ARENA_NEW(&model->arena, struct by_shape_msg, &err);
    return type;
}

static struct by_type *new_type(struct baryon_model *model, int64_t elem)
{
    struct by_type *type = BY_ARENA_NEW(&model->arena, struct by_type, &err);
    assert_non_null(type);
    type->tensor = tensor_type(model, elem);
    return type;
}

static void judges_types_in_types(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    struct by_type *type = input_type(model, "sequence");
    type->sequence = BY_ARENA_NEW(&model->arena, struct by_sequence_type, &err);
    type->sequence->elem_type = new_type(model, 77);
    type = input_type(model, "optional");
    type->optional = BY_ARENA_NEW(&model->arena, struct by_sequence_type, &err);
    type = input_type(model, "map");
    type->map = BY_ARENA_NEW(&model->arena, struct by_map_type, &err);
    type->map->key_type = BY_ELEM_FLOAT;
    type = input_type(model, "map2");
    type->map = BY_ARENA_NEW(&model->arena, struct by_map_type, &err);
    type->map->key_type = BY_ELEM_STRING;
    type = input_type(model, "map3");
    type->map = BY_ARENA_NEW(&model->arena, struct by_map_type, &err);
    type->map->key_type = BY_ELEM_INT64;
    type->map->value_type = BY_ARENA_NEW(&model->arena, struct by_type, &err);
    type = input_type(model, "sparse");
    type->sparse_tensor = tensor_type(model, 0);
    type = input_type(model, "both");
    type->tensor = tensor_type(model, BY_ELEM_FLOAT);
    type->opaque = BY_ARENA_NEW(&model->arena, struct by_opaque_type, &err);
    type = input_type(model, "opaque");
    type->opaque = BY_ARENA_NEW(&model->arena, struct by_opaque_type, &err);
    assert_findings(
        model,
        "error value-type: graph.input[1].type.sequence_type.elem_type.tensor_type.elem_type: "
        "element type 77, must be 1 to 28\nerror value-type: graph.input[2].type.optional_type: no "
        "type of its elements, must be given\nerror value-type: "
        "graph.input[3].type.map_type.key_type: keys of type float32, must be integers or "
        "strings\nerror value-type: graph.input[4].type.map_type: a map without a value type, must "
        "be given\nerror value-type: graph.input[5].type.map_type.value_type: an empty type, must "
        "be given\nerror value-type: graph.input[6].type.sparse_tensor_type.elem_type: no element "
        "type, must be given\nerror value-type: graph.input[7].type: 'both' has several types, "
        "must have one");
}

static void takes_less_of_types_that_only_help(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    put_node(model->graph, "neg", "Neg", "x", "n");
    put_info(model->graph, &model->graph->value_info, "n");
    struct by_type *unknown = new_type(model, 0);
    unknown->tensor->shape = NULL;
    ((struct by_value_info *)model->graph->value_info.at[0])->type = unknown;
    assert_findings(model, "");
    model = relu_model();
    put_node(model->graph, "neg", "Neg", "x", "n");
    put_info(model->graph, &model->graph->value_info, "n");
    put_info(model->graph, &model->graph->value_info, "n");
    ((struct by_value_info *)model->graph->value_info.at[1])->type = new_type(model, 99);
    assert_findings(model, "warning value-type: graph.value_info[1].type.tensor_type.elem_type: "
                           "element type 99, must be 1 to 28\nnotice value-info: "
                           "graph.value_info[1]: 1 tensor with two types, the first is 'n'");
}

static void refuses_a_model_without_outputs(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    model->graph->output.count = 0;
    model->graph->name = NULL;
    assert_findings(model,
                    "error outputs: graph.output: the model has no outputs, must have at least "
                    "one\n"
                    "warning graph-name: graph.name: the graph has no name, ONNX requires "
                    "one");
}

static void says_when_types_contradict(void **state)
{
    (void)state;
    struct baryon_model *model = relu_model();
    ((struct by_value_info *)model->graph->output.at[0])->type->tensor->elem_type = BY_ELEM_INT64;
    const char *found = findings_of(model);
    assert_memory_equal(found, "error inference: ", 17);
    model = relu_model();
    struct by_shape_msg *shape =
        ((struct by_value_info *)model->graph->output.at[0])->type->tensor->shape;
    ((struct by_dim *)shape->dims.at[0])->value = 3;
    assert_findings(
        model, "notice inference: graph: 1 declared shape is different from the computed shape");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_a_function),
        cmocka_unit_test(judges_what_a_function_says_of_itself),
        cmocka_unit_test(judges_calls),
        cmocka_unit_test(judges_a_function_by_its_own_opsets),
        cmocka_unit_test(tells_what_each_function_does_not_import),
        cmocka_unit_test(follows_names_through_nested_graphs_of_a_function),
        cmocka_unit_test(takes_references_only_in_functions),
        cmocka_unit_test(judges_defaults_of_attributes),
        cmocka_unit_test(warns_about_training_that_names_nothing),
        cmocka_unit_test(warns_about_devices_that_do_not_fit),
        cmocka_unit_test(warns_about_annotations_of_nothing),
        cmocka_unit_test(judges_types_in_types),
        cmocka_unit_test(takes_less_of_types_that_only_help),
        cmocka_unit_test(refuses_a_model_without_outputs),
        cmocka_unit_test(says_when_types_contradict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
