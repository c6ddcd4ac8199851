/* Tests element types and every form of tensor payload. */
#include "ir/tensor.h"

#include "onnx/external.h"
#include "onnx/load.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

static struct by_span span(const void *bytes, size_t size)
{
    return (struct by_span){bytes, size};
}

static struct baryon_tensor tensor_of(int64_t elem, int64_t *dims, size_t rank)
{
    return (struct baryon_tensor){.data_type = elem, .dims = {dims, rank, rank}};
}

static void test_elem_table(void **state)
{
    (void)state;
    for (int elem = 1; elem < BY_ELEM_COUNT; elem++) {
        const struct by_elem_info *info = by_elem_info(elem);
        assert_non_null(info->name);
        assert_int_equal(by_elem_by_name(info->name), elem);
        assert_int_equal(by_elem_by_name(info->onnx), elem);
        assert_int_not_equal(info->typed, BY_TYPED_NONE);
        assert_true(info->ir_version >= 3 && info->opset >= 1);
    }
    assert_null(by_elem_info(0));
    assert_null(by_elem_info(-1));
    assert_null(by_elem_info(BY_ELEM_COUNT));
    assert_int_equal(by_elem_by_name("fp16"), BY_ELEM_FLOAT16);
    assert_int_equal(by_elem_by_name("int5"), -1);
    assert_string_equal(by_elem_name(99), "unknown");
}

static void test_dims(void **state)
{
    (void)state;
    size_t count;
    assert_int_equal(by_dims_count((int64_t[]){2, 3, 4}, 3, &count, &err), 0);
    assert_int_equal(count, 24);
    assert_int_equal(by_dims_count(NULL, 0, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_int_equal(by_dims_count((int64_t[]){INT64_MAX, 0, INT64_MAX}, 3, &count, &err), 0);
    assert_int_equal(count, 0);
    assert_int_equal(by_dims_count((int64_t[]){2, -1}, 2, &count, &err), -1);
    assert_string_equal(err.message, "dimension 1 is -1, must be 0 or more");
    assert_int_equal(by_dims_count((int64_t[]){1ll << 40, 1ll << 40}, 2, &count, &err), -1);
    int64_t many[17] = {1};
    assert_int_equal(by_dims_count(many, 17, &count, &err), -1);
    assert_string_equal(err.message, "17 dimensions, must be at most 16");
}

static void test_sizes(void **state)
{
    (void)state;
    size_t bytes;
    assert_int_equal(by_elem_bytes(BY_ELEM_INT4, 5, &bytes, &err), 0);
    assert_int_equal(bytes, 3);
    assert_int_equal(by_elem_bytes(BY_ELEM_UINT2, 5, &bytes, &err), 0);
    assert_int_equal(bytes, 2);
    assert_int_equal(by_elem_bytes(BY_ELEM_FLOAT6E3M2, 5, &bytes, &err), 0);
    assert_int_equal(bytes, 4);
    assert_int_equal(by_elem_bytes(BY_ELEM_DOUBLE, SIZE_MAX / 4, &bytes, &err), -1);
    assert_int_equal(by_elem_bytes(77, 1, &bytes, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
}

static void assert_bad(const struct baryon_tensor *tensor, const char *place, const char *message)
{
    assert_int_equal(by_tensor_check(tensor, &err), -1);
    assert_string_equal(err.place, place);
    assert_string_equal(err.message, message);
}

static void test_payload_rules(void **state)
{
    (void)state;
    int64_t three[] = {3};
    struct baryon_tensor tensor = tensor_of(BY_ELEM_FLOAT, three, 1);
    assert_bad(&tensor, "float_data", "0 elements, must be 3 for the dims");
    tensor.raw_data = span("0123456789", 10);
    assert_bad(&tensor, "raw_data", "10 bytes, the dims and type float32 require 12");
    tensor.raw_data = span("0123456789ab", 12);
    assert_int_equal(by_tensor_check(&tensor, &err), 0);
    tensor.float_data = span("0123", 4);
    assert_bad(&tensor, "", "both raw_data and float_data are given, must be one");
    tensor.raw_data = span(NULL, 0);
    tensor.float_data = span(NULL, 0);
    tensor.int64_data = span("\1\2\3", 3);
    assert_bad(&tensor, "int64_data",
               "int64_data is given, elements of type float32 must be in float_data");
    tensor.data_type = BY_ELEM_INT64;
    assert_int_equal(by_tensor_check(&tensor, &err), 0);
    tensor.data_type = BY_ELEM_STRING;
    assert_int_equal(by_tensor_check(&tensor, &err), -1);
    tensor.data_type = 40;
    assert_bad(&tensor, "data_type", "element type 40, must be 1 to 28");
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
}

/* Typed fields give the same bytes as raw_data would hold. */
static void test_typed_to_raw(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_span bytes;
    by_arena_init(&arena, 0);
    int64_t dims[] = {4};
    struct baryon_tensor tensor = tensor_of(BY_ELEM_INT8, dims, 1);
    /* -1, 2, -128, 127 as varints of int32 */
    tensor.int32_data = span("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x80\xff\xff\xff\xff\xff"
                             "\xff\xff\xff\x01\x7f",
                             22);
    assert_int_equal(by_tensor_bytes(&tensor, &arena, &bytes, &err), 0);
    assert_int_equal(bytes.size, 4);
    assert_memory_equal(bytes.data, "\xff\x02\x80\x7f", 4);
    tensor = tensor_of(BY_ELEM_UINT4, (int64_t[]){3}, 1);
    tensor.int32_data = span("\xa1\x01\x03", 3); /* 0xa1, 0x03: 1, 10, 3 */
    assert_int_equal(by_tensor_bytes(&tensor, &arena, &bytes, &err), 0);
    int64_t ints[3];
    assert_int_equal(by_elem_to_ints(BY_ELEM_UINT4, bytes.data, 0, 3, ints, &err), 0);
    assert_true(ints[0] == 1 && ints[1] == 10 && ints[2] == 3);
    tensor = tensor_of(BY_ELEM_FLOAT6E2M3, (int64_t[]){5}, 1);
    tensor.int32_data = span("\x01\x3f\x20\x08\x15", 5);
    assert_int_equal(by_tensor_bytes(&tensor, &arena, &bytes, &err), 0);
    assert_int_equal(bytes.size, 4);
    double values[5];
    assert_int_equal(by_elem_to_doubles(tensor.data_type, bytes.data, 0, 5, values, &err), 0);
    assert_true(values[0] == 0.125 && values[1] == -7.5 && signbit(values[2]) && values[3] == 1);
    by_arena_release(&arena);
}

static void test_values(void **state)
{
    (void)state;
    double v[4];
    assert_int_equal(by_elem_to_doubles(BY_ELEM_FLOAT8E4M3FN, (const uint8_t *)"\x7e\x7f\x01\xc0",
                                        0, 4, v, &err),
                     0);
    assert_true(v[0] == 448 && isnan(v[1]) && v[2] == 0x1p-9 && v[3] == -2);
    assert_int_equal(
        by_elem_to_doubles(BY_ELEM_FLOAT8E5M2, (const uint8_t *)"\x7b\x7c\xfc\x7e", 0, 4, v, &err),
        0);
    assert_true(v[0] == 57344 && v[1] == INFINITY && v[2] == -INFINITY && isnan(v[3]));
    assert_int_equal(
        by_elem_to_doubles(BY_ELEM_FLOAT8E8M0, (const uint8_t *)"\x7f\x00\xfe\xff", 0, 4, v, &err),
        0);
    assert_true(v[0] == 1 && v[1] == 0x1p-127 && v[2] == 0x1p127 && isnan(v[3]));
    assert_int_equal(
        by_elem_to_doubles(BY_ELEM_FLOAT4E2M1, (const uint8_t *)"\x17\xf2", 0, 4, v, &err), 0);
    assert_true(v[0] == 6 && v[1] == 0.5 && v[2] == 1 && v[3] == -6);
    int64_t ints[2];
    assert_int_equal(by_elem_to_ints(BY_ELEM_INT2, (const uint8_t *)"\x0b", 0, 2, ints, &err), 0);
    assert_true(ints[0] == -1 && ints[1] == -2);
    assert_int_equal(by_elem_to_ints(BY_ELEM_FLOAT, (const uint8_t *)"0000", 0, 1, ints, &err), -1);
    assert_string_equal(err.message, "elements of type float32, must be integers");
}

static void test_number(void **state)
{
    (void)state;
    struct baryon_tensor tensor = tensor_of(BY_ELEM_UINT8, NULL, 0);
    double number = 7;
    bool is_one = true;
    tensor.int32_data = span("\xc8\x01", 2);
    assert_int_equal(by_tensor_number(&tensor, &is_one, &number, &err), 0);
    assert_true(is_one && number == 200);
    tensor = tensor_of(BY_ELEM_FLOAT, (int64_t[]){2}, 1);
    tensor.raw_data = span("01234567", 8);
    assert_int_equal(by_tensor_number(&tensor, &is_one, &number, &err), 0);
    assert_true(!is_one && number == 200);
    is_one = true;
    assert_int_equal(by_tensor_number(NULL, &is_one, &number, &err), 0);
    assert_false(is_one);
    tensor = tensor_of(BY_ELEM_FLOAT, (int64_t[]){1}, 1);
    assert_int_equal(by_tensor_number(&tensor, &is_one, &number, &err), -1);
}

static void test_new(void **state)
{
    (void)state;
    struct baryon_model *model;
    assert_int_equal(by_model_new(&model, 10, 21, &err), 0);
    const float data[] = {1, 2};
    struct baryon_tensor *tensor =
        by_tensor_new(model, "t", BY_ELEM_FLOAT, (int64_t[]){2}, 1, data, sizeof data, &err);
    assert_non_null(tensor);
    assert_int_equal(by_tensor_check(tensor, &err), 0);
    assert_null(by_tensor_new(model, "t", BY_ELEM_FLOAT, (int64_t[]){3}, 1, data, 8, &err));
    assert_string_equal(err.message, "8 bytes given, the dims and type float32 require 12");
    by_model_free(model);
}

#define LARGE (64u << 10)

/* A tensor of an attribute, which is no initializer. */
static struct baryon_tensor *nested_tensor(struct baryon_model *model, struct by_span bytes)
{
    struct baryon_node *node = BY_ARENA_NEW(&model->arena, struct baryon_node, &err);
    struct baryon_attribute *attribute = BY_ARENA_NEW(&model->arena, struct baryon_attribute, &err);
    const int64_t dims[] = {LARGE};
    attribute->t = by_tensor_over(model, "t", BY_ELEM_UINT8, dims, 1, bytes, &err);
    assert_non_null(attribute->t);
    assert_int_equal(by_list_reserve(&model->arena, &node->attribute, 1, sizeof(void *), &err), 0);
    node->attribute.at[node->attribute.count++] = attribute;
    assert_int_equal(by_list_reserve(&model->arena, &model->graph->node, 1, sizeof(void *), &err),
                     0);
    model->graph->node.at[model->graph->node.count++] = node;
    return attribute->t;
}

static void test_payloads(void **state)
{
    static uint8_t bytes[LARGE];
    struct by_span kept, gone, small;
    struct baryon_model *models[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(by_model_new(&models[i], 10, 21, &err), 0);
        memset(bytes, 'k', sizeof bytes);
        assert_int_equal(by_model_payload(models[i], bytes, LARGE, &kept, &err), 0);
    }
    const uint8_t *one = kept.data; /* both have it */
    assert_ptr_equal(models[1]->constants.at[0], models[0]->constants.at[0]);
    memset(bytes, 'g', sizeof bytes);
    assert_int_equal(by_model_payload(models[0], bytes, LARGE, &gone, &err), 0);
    assert_int_equal(by_model_payload(models[0], bytes, LARGE - 1, &small, &err), 0);
    assert_int_equal(models[0]->constants.count, 2);
    nested_tensor(models[0], kept);
    by_model_payloads_done(models[0]);
    assert_int_equal(models[0]->constants.count, 1);
    assert_int_equal(one[LARGE - 1], 'k');
    assert_int_equal(small.data[LARGE - 2], 'g');
    by_model_payloads_done(models[1]); /* nothing there has it */
    assert_int_equal(models[1]->constants.count, 0);
    assert_int_equal(one[0], 'k');
    by_model_free(models[0]);
    by_model_free(models[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elem_table),   cmocka_unit_test(test_dims),
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_payload_rules),
        cmocka_unit_test(test_typed_to_raw), cmocka_unit_test(test_values),
        cmocka_unit_test(test_number),       cmocka_unit_test(test_new),
        cmocka_unit_test(test_payloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
