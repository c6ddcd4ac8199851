/* Rules about tensors, and about layers with weights. */
#include "check_expect.h"

#include <math.h>

/* --- payloads --- */

static struct baryon_model *weight_model(int64_t elem, int64_t count, struct baryon_tensor **tensor)
{
    struct baryon_model *model = relu_model();
    *tensor = put_zeros(model->graph, "w", elem, &count, 1);
    put_node(model->graph, "use", "Identity", "w", "u");
    return model;
}

static void names_the_tensor(void **state)
{
    (void)state;
    struct baryon_tensor *tensor;
    struct baryon_model *model = weight_model(BY_ELEM_FLOAT, 3, &tensor);
    tensor->raw_data.size = 11;
    assert_findings(model, "error tensor: graph.initializer[0].raw_data: tensor 'w': 11 bytes, the "
                           "dims and type float32 require 12");
    model = weight_model(BY_ELEM_FLOAT, 3, &tensor);
    tensor->data_location = 7;
    assert_findings(model, "error tensor: graph.initializer[0].data_location: tensor 'w': data "
                           "location 7, must be 0 (default) or 1 (external)");
    model = weight_model(BY_ELEM_FLOAT, 3, &tensor);
    push(model, &tensor->external_data, BY_ARENA_NEW(&model->arena, struct by_pair, &err));
    assert_findings(model, "warning tensor: graph.initializer[0].external_data: tensor 'w': it "
                           "names external data, but its data location is 0 (default)");
}

static void cuts_long_names_and_messages(void **state)
{
    (void)state;
    char text[600];
    struct baryon_tensor tensor = {.name = text};
    struct baryon_error error;
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    by_fail(&error, BARYON_ERR_INPUT, "short");
    by_err_tensor(&error, &tensor);
    assert_string_equal(error.message + strlen(error.message) - 14, "mmm'...: short");
    by_fail(&error, BARYON_ERR_INPUT, "%s", text);
    tensor.name = "w";
    by_err_tensor(&error, &tensor);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_memory_equal(error.message, "tensor 'w': mmm", 15);
    tensor.name = "";
    by_fail(&error, BARYON_ERR_INPUT, "x");
    by_err_tensor(&error, &tensor);
    assert_string_equal(error.message, "x");
    assert_int_equal(by_err_tensor(NULL, &tensor), -1);
}

static void warns_about_types_that_came_later(void **state)
{
    (void)state;
    struct baryon_tensor *tensor;
    struct baryon_model *model = weight_model(BY_ELEM_INT4, 3, &tensor);
    ((struct by_opset *)model->opset_import.at[0])->version = 19;
    model->ir_version = 9;
    const int64_t count = 1;
    put_zeros(model->graph, "v", BY_ELEM_INT4, &count, 1);
    put_node(model->graph, "use2", "Identity", "v", "u2");
    assert_findings(
        model,
        "warning type-version: graph.initializer[0]: type int4 in IR version 9, requires version "
        "10\nwarning type-version: graph.initializer[0]: type int4 in opset 19, requires opset 21");
}

/* --- NaN and infinities --- */

struct special_bits {
    int64_t elem;
    uint64_t nan, infinity; /* infinity 0: the type has none */
};

static const struct special_bits specials[] = {
    {BY_ELEM_FLOAT, 0x7fc00001, 0xff800000},
    {BY_ELEM_FLOAT16, 0xfe00, 0x7c00},
    {BY_ELEM_BFLOAT16, 0x7fc0, 0xff80},
    {BY_ELEM_DOUBLE, 0x7ff8000000000000, 0xfff0000000000000},
    {BY_ELEM_FLOAT8E4M3FN, 0xff, 0},
    {BY_ELEM_FLOAT8E4M3FNUZ, 0x80, 0},
    {BY_ELEM_FLOAT8E5M2, 0x7d, 0xfc},
    {BY_ELEM_FLOAT8E5M2FNUZ, 0x80, 0},
    {BY_ELEM_FLOAT8E8M0, 0xff, 0},
};

static struct baryon_model *special_model(int64_t elem, size_t count, size_t width,
                                          struct baryon_tensor **tensor)
{
    const int64_t dims[2] = {(int64_t)(count / 100), 100};
    struct baryon_model *model = relu_model();
    model->ir_version = 14;
    ((struct by_opset *)model->opset_import.at[0])->version = 28;
    *tensor = put_zeros(model->graph, "w", elem, dims, 2);
    put_node(model->graph, "use", "Identity", "w", "u");
    /* The largest finite value, or 1: what is nearest to what is looked for. */
    uint8_t *bytes = (uint8_t *)(uintptr_t)(*tensor)->raw_data.data;
    for (size_t i = 0; i < count; i++)
        bytes[i * width] = 0x3c;
    return model;
}

static void put_bits(struct baryon_tensor *tensor, size_t index, size_t width, uint64_t bits)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)tensor->raw_data.data + index * width;
    for (size_t i = 0; i < width; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
}

/* In the first block, in a later one, and after the last. */
static void finds_what_is_not_finite_in_every_type(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof specials / sizeof *specials; t++) {
        const struct special_bits *special = &specials[t];
        const size_t width = by_elem_info(special->elem)->bits / 8, count = 9300;
        static const size_t places[] = {7, 4603, 9299};
        for (size_t p = 0; p < 3; p++) {
            struct baryon_tensor *tensor;
            char wanted[200];
            struct baryon_model *model = special_model(special->elem, count, width, &tensor);
            put_bits(tensor, places[p], width, special->nan);
            snprintf(wanted, sizeof wanted,
                     "warning finite: graph.initializer[0]: tensor 'w': 1 NaN among 9300 elements, "
                     "at [%zu,%zu]",
                     places[p] / 100, places[p] % 100);
            assert_non_null(strstr(findings_of(model), wanted));
            if (!special->infinity)
                continue;
            model = special_model(special->elem, count, width, &tensor);
            put_bits(tensor, places[p], width, special->infinity);
            put_bits(tensor, places[p] - 1, width, special->nan);
            assert_non_null(strstr(findings_of(model), "tensor 'w': 1 NaN and 1 infinity among "
                                                       "9300 elements, the first is NaN at ["));
            model = special_model(special->elem, count, width, &tensor);
            put_bits(tensor, places[p], width, special->infinity);
            put_bits(tensor, places[p] - 1, width, special->infinity);
            assert_non_null(strstr(findings_of(model),
                                   "tensor 'w': 2 infinities among 9300 elements, the first at ["));
        }
    }
}

static void tells_nan_from_infinity(void **state)
{
    (void)state;
    struct baryon_tensor *tensor;
    const int64_t count = 8;
    struct baryon_model *model = weight_model(BY_ELEM_FLOAT8E5M2, count, &tensor);
    model->ir_version = 14;
    static const uint8_t codes[] = {0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0xfc, 0xfe, 0xfb};
    for (size_t i = 0; i < sizeof codes; i++)
        put_bits(tensor, i, 1, codes[i]);
    assert_non_null(strstr(findings_of(model), "tensor 'w': 4 NaN and 2 infinities among 8 "
                                               "elements, the first is infinite at [1]"));
}

/* Up to IR version 3 an initializer had to be an input as well. */
static void initializers_need_no_input_from_version_4_on(void **state)
{
    (void)state;
    for (int64_t version = 3; version <= 4; version++) {
        struct baryon_tensor *tensor;
        struct baryon_model *model = weight_model(BY_ELEM_FLOAT, 3, &tensor);
        model->ir_version = version;
        const char *told = strstr(findings_of(model), "'w' is not a graph input");
        assert_int_equal(told != NULL, version == 3);
    }
}

static void takes_finite_numbers_of_every_type(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof specials / sizeof *specials; t++) {
        struct baryon_tensor *tensor;
        const size_t width = by_elem_info(specials[t].elem)->bits / 8;
        struct baryon_model *model = special_model(specials[t].elem, 9300, width, &tensor);
        assert_null(strstr(findings_of(model), "finite"));
    }
}

/* --- layers --- */

/* op(x, w[, b]) -> y with a weight of those dims. */
static struct baryon_model *layer_model(const char *op_type, const int64_t *dims, size_t rank)
{
    struct baryon_model *model = new_model();
    put_input(model->graph, "x");
    put_output(model->graph, "y");
    put_zeros(model->graph, "w", BY_ELEM_FLOAT, dims, rank);
    put_node(model->graph, "layer", op_type, "x,w", "y");
    return model;
}

/* The error's message after "error geometry: graph.node[0]: node 'layer' (OP): ". */
static const char *geometry_error(struct baryon_model *model)
{
    const char *found = strstr(findings_of(model), "error geometry: ");
    if (!found)
        return "none";
    const char *label = strstr(found, "): ");
    assert_non_null(label);
    static char text[512];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(label + 3, "\n"), label + 3);
    return text;
}

static struct baryon_model *conv_with(const char *op_type, const char *name, const int64_t *values,
                                      size_t count)
{
    static const int64_t dims[] = {4, 3, 5, 5};
    struct baryon_model *model = layer_model(op_type, dims, 4);
    struct baryon_attribute *attr =
        put_attr(model, &node_at(model->graph, 0)->attribute, name, BY_ATTR_INTS);
    assert_ok(by_list_reserve(&model->arena, &attr->ints, count, sizeof(int64_t), &err));
    memcpy(attr->ints.at, values, count * sizeof *values);
    attr->ints.count = count;
    return model;
}

static void compares_lists_with_the_weight(void **state)
{
    (void)state;
    const int64_t ones[] = {1, 1, 1, 1, 1}, zeros[] = {0, 0, 0, 0}, five[] = {5, 5};
    const int64_t negative[] = {0, 0, -1, 0};
    assert_string_equal(geometry_error(conv_with("Conv", "strides", ones, 2)), "none");
    assert_string_equal(geometry_error(conv_with("Conv", "strides", ones, 3)),
                        "strides has 3 numbers, the weight requires 2");
    assert_string_equal(geometry_error(conv_with("Conv", "strides", zeros, 2)),
                        "strides[0] is 0, must be 1 or more");
    assert_string_equal(geometry_error(conv_with("Conv", "dilations", ones, 1)),
                        "dilations has 1 number, the weight requires 2");
    assert_string_equal(geometry_error(conv_with("Conv", "pads", zeros, 4)), "none");
    assert_string_equal(geometry_error(conv_with("Conv", "pads", negative, 4)),
                        "pads[2] is -1, must be 0 or more");
    assert_string_equal(geometry_error(conv_with("Conv", "kernel_shape", five, 2)), "none");
    assert_string_equal(geometry_error(conv_with("Conv", "kernel_shape", ones, 2)),
                        "kernel_shape[0] is 1, but weight 'w' has the dims [4,3,5,5]");
    assert_string_equal(geometry_error(conv_with("ConvTranspose", "output_padding", ones, 3)),
                        "output_padding has 3 numbers, the weight requires 2");
}

static struct baryon_model *grouped(const char *op_type, int64_t group, int64_t channels)
{
    static const int64_t dims[] = {4, 3, 5, 5};
    struct baryon_model *model = layer_model(op_type, dims, 4);
    put_attr(model, &node_at(model->graph, 0)->attribute, "group", BY_ATTR_INT)->i = group;
    struct by_shape *shape = by_shape_new(&model->arena, 4, &err);
    assert_non_null(shape);
    for (size_t i = 0; i < 4; i++)
        shape->dims[i] = (struct by_extent){i == 1 ? channels : 8, NULL};
    ((struct by_value_info *)model->graph->input.at[0])->type =
        by_type_tensor(model, BY_ELEM_FLOAT, shape, &err);
    return model;
}

static void compares_groups_with_channels(void **state)
{
    (void)state;
    assert_string_equal(geometry_error(grouped("Conv", 2, 6)), "none");
    assert_string_equal(geometry_error(grouped("Conv", -1, 6)), "group is -1, must be 1 or more");
    assert_string_equal(geometry_error(grouped("Conv", 3, 9)),
                        "group is 3, must divide the first of the weight's dims [4,3,5,5]");
    assert_string_equal(
        geometry_error(grouped("Conv", 2, 5)),
        "the input has 5 channels, but the weight's dims [4,3,5,5] and group 2 require 6");
    assert_string_equal(geometry_error(grouped("ConvTranspose", 2, 4)), "none");
    assert_string_equal(
        geometry_error(grouped("ConvTranspose", 2, 6)),
        "the input has 6 channels, but the weight's dims [4,3,5,5] and group 2 require 4");
}

static struct baryon_model *biased(const char *op_type, int64_t group, int64_t size)
{
    struct baryon_model *model = grouped(op_type, group, op_type[4] ? 4 : 3 * group);
    put_zeros(model->graph, "b", BY_ELEM_FLOAT, &size, 1);
    push_names(model, &node_at(model->graph, 0)->input, "b");
    return model;
}

static void compares_the_bias_with_the_weight(void **state)
{
    (void)state;
    assert_string_equal(geometry_error(biased("Conv", 1, 4)), "none");
    assert_string_equal(geometry_error(biased("Conv", 1, 3)),
                        "bias 'b' has the dims [3], the weight requires [4]");
    assert_string_equal(geometry_error(biased("ConvTranspose", 2, 6)), "none");
    assert_string_equal(geometry_error(biased("ConvTranspose", 2, 4)),
                        "bias 'b' has the dims [4], the weight requires [6]");
}

static struct baryon_model *pool_with(const int64_t *kernel, size_t count, const char *auto_pad)
{
    struct baryon_model *model = relu_model();
    struct baryon_node *node = put_node(model->graph, "layer", "MaxPool", "x", "p");
    struct baryon_attribute *attr = put_attr(model, &node->attribute, "kernel_shape", BY_ATTR_INTS);
    assert_ok(by_list_reserve(&model->arena, &attr->ints, count, sizeof(int64_t), &err));
    memcpy(attr->ints.at, kernel, count * sizeof *kernel);
    attr->ints.count = count;
    attr = put_attr(model, &node->attribute, "strides", BY_ATTR_INTS);
    assert_ok(by_list_reserve(&model->arena, &attr->ints, 1, sizeof(int64_t), &err));
    attr->ints.at[attr->ints.count++] = 1;
    if (auto_pad)
        put_attr(model, &node->attribute, "auto_pad", BY_ATTR_STRING)->s =
            (struct by_span){(const uint8_t *)auto_pad, strlen(auto_pad)};
    return model;
}

static void compares_lists_of_pools_with_the_kernel(void **state)
{
    (void)state;
    const int64_t kernel[] = {3, 3}, nothing[] = {0};
    assert_string_equal(geometry_error(pool_with(kernel, 2, NULL)),
                        "strides has 1 number, kernel_shape requires 2");
    assert_string_equal(geometry_error(pool_with(nothing, 1, "VALID")),
                        "kernel_shape[0] is 0, must be 1 or more");
    assert_string_equal(
        geometry_error(pool_with(kernel, 1, "SAME_MIDDLE")),
        "auto_pad is 'SAME_MIDDLE', must be NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

/* The weight may come out of a Constant, or not be known at all. */
static void looks_into_constants(void **state)
{
    (void)state;
    const int64_t dims[] = {4, 3}, empty[] = {0, 3, 1, 1};
    struct baryon_model *model = layer_model("Conv", dims, 2);
    struct baryon_node *node = new_node(model, "k", "Constant", "", "w");
    node->input.count = 0;
    put_attr(model, &node->attribute, "value", BY_ATTR_TENSOR)->t = model->graph->initializer.at[0];
    model->graph->initializer.count = 0;
    push(model, &model->graph->node, model->graph->node.at[0]);
    model->graph->node.at[0] = node;
    assert_string_equal(geometry_error(model),
                        "weight 'w' has the dims [4,3], a convolution requires 3 or more");
    model = layer_model("Conv", empty, 4);
    assert_non_null(strstr(findings_of(model),
                           "error weight: graph.node[0].input[1]: node 'layer' (Conv): "
                           "weight 'w' has no elements (dims [0,3,1,1]), must have some"));
}

static void variances_of(double variance, const char *wanted)
{
    const int64_t dims[] = {2};
    struct baryon_model *model = relu_model();
    static const char *const names[] = {"scale", "shift", "mean", "var"};
    for (size_t i = 0; i < 4; i++) {
        struct baryon_tensor *tensor = put_zeros(model->graph, names[i], BY_ELEM_DOUBLE, dims, 1);
        if (i == 3)
            memcpy((uint8_t *)(uintptr_t)tensor->raw_data.data + 8, &variance, 8);
    }
    put_node(model->graph, "norm", "BatchNormalization", "x,scale,shift,mean,var", "n");
    const char *found = strstr(findings_of(model), "error batch-norm: ");
    assert_string_equal(found ? found : "none", wanted);
}

static void wants_variances_of_zero_or_more(void **state)
{
    (void)state;
    variances_of(-0.5, "error batch-norm: graph.node[1].input[4]: node 'norm' "
                       "(BatchNormalization): variance 1 of 'var' is -0.5, must be 0 or more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_tensor),
        cmocka_unit_test(cuts_long_names_and_messages),
        cmocka_unit_test(warns_about_types_that_came_later),
        cmocka_unit_test(finds_what_is_not_finite_in_every_type),
        cmocka_unit_test(takes_finite_numbers_of_every_type),
        cmocka_unit_test(tells_nan_from_infinity),
        cmocka_unit_test(initializers_need_no_input_from_version_4_on),
        cmocka_unit_test(compares_lists_with_the_weight),
        cmocka_unit_test(compares_groups_with_channels),
        cmocka_unit_test(compares_the_bias_with_the_weight),
        cmocka_unit_test(compares_lists_of_pools_with_the_kernel),
        cmocka_unit_test(looks_into_constants),
        cmocka_unit_test(wants_variances_of_zero_or_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
