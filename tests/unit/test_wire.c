/* Tests decoding, encoding and hashing of protobuf messages. */
#include "onnx/schema.h"
#include "onnx/wire_hash.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A reader over bytes that the test owns. */
struct fixture {
    struct by_arena arena;
    struct by_names_table names;
    struct by_wire_reader reader;
    struct baryon_error err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    by_arena_init(&f->arena, 0);
    by_names_table_init(&f->names, &f->arena);
    by_err_clear(&f->err);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    by_names_table_release(&f->names);
    by_arena_release(&f->arena);
    free(f);
    return 0;
}

static void *decode(struct fixture *f, const struct by_schema *schema, const void *bytes,
                    size_t size)
{
    f->reader = (struct by_wire_reader){.arena = &f->arena, .names = &f->names, .base = bytes};
    void *msg = by_arena_alloc(&f->arena, 1, schema->size, NULL);
    return by_wire_decode(&f->reader, schema, bytes, size, msg, &f->err) ? NULL : msg;
}

static int collect(void *context, const uint8_t *bytes, size_t size, struct baryon_error *err)
{
    by_str_add(context, bytes, size);
    return by_str_error(context, err);
}

static void assert_encodes(const struct by_schema *schema, void *msg, const void *bytes,
                           size_t size)
{
    struct by_str out;
    by_str_init(&out);
    assert_int_equal(by_wire_measure(schema, msg), size);
    assert_int_equal(by_wire_encode(schema, msg, collect, &out, NULL), 0);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.text, bytes, size);
    by_str_release(&out);
}

static void assert_refused(struct fixture *f, const struct by_schema *schema, const void *bytes,
                           size_t size, const char *place, const char *message)
{
    assert_null(decode(f, schema, bytes, size));
    assert_int_equal(f->err.code, BARYON_ERR_INPUT);
    assert_string_equal(f->err.place, place);
    assert_string_equal(f->err.message, message);
    by_err_clear(&f->err);
}

static void test_varints(void **state)
{
    (void)state;
    const uint64_t values[] = {0, 1, 127, 128, 300, 1ull << 32, UINT64_MAX, INT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint8_t bytes[10];
        uint64_t back = 1;
        size_t size = by_varint_write(bytes, values[i]);
        assert_int_equal(size, by_varint_size(values[i]));
        assert_int_equal(by_varint_read(bytes, size, &back), size);
        assert_true(back == values[i]);
        assert_int_equal(by_varint_read(bytes, size - 1, &back), 0);
    }
    uint64_t value;
    const uint8_t over[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1};
    assert_int_equal(by_varint_read(over, sizeof over, &value), 0);
    assert_int_equal(by_varint_read(eleven, sizeof eleven, &value), 0);
}

/* Rows stand in the order of their numbers, and the named bits are where model.h says. */
static void test_schemas(void **state)
{
    (void)state;
    size_t count;
    const struct by_schema *const *all = by_schema_all(&count);
    assert_int_equal(count, 26);
    for (size_t i = 0; i < count; i++) {
        assert_true(all[i]->count <= BY_SCHEMA_FIELDS_MAX);
        for (size_t k = 1; k < all[i]->count; k++)
            assert_true(all[i]->fields[k - 1].number < all[i]->fields[k].number);
        for (size_t k = 0; k < all[i]->count; k++) {
            const struct by_field *row = &all[i]->fields[k];
            bool is_child = row->kind == BY_FIELD_MSG || row->kind == BY_FIELD_MSGS;
            assert_int_equal(row->child != NULL, is_child);
            assert_true(row->offset >= sizeof(struct by_msg) && row->offset < all[i]->size);
            assert_ptr_equal(by_schema_field(all[i], row->number), row);
        }
    }
    assert_string_equal(by_schema_dim.fields[0].name, "dim_value");
    assert_string_equal(by_schema_attribute.fields[1].name, "f");
    assert_string_equal(by_schema_attribute.fields[2].name, "i");
}

/* attribute { name: "k" (unknown 99: 5) ints: 1 ints: 300 type: INTS } with an unknown between */
static const uint8_t attribute_bytes[] = {0x0a, 1,    'k',  0x98, 6,    5, 0x40,
                                          1,    0x40, 0xac, 2,    0xa0, 1, 7};

static void test_untouched(void **state)
{
    struct baryon_attribute *attr =
        decode(*state, &by_schema_attribute, attribute_bytes, sizeof attribute_bytes);
    assert_non_null(attr);
    assert_string_equal(attr->name, "k");
    assert_int_equal(attr->ints.count, 2);
    assert_int_equal(attr->ints.at[1], 300);
    assert_int_equal(attr->type, BY_ATTR_INTS);
    assert_encodes(&by_schema_attribute, attr, attribute_bytes, sizeof attribute_bytes);
    assert_true(by_wire_unchanged(&attr->msg));
}

/* Overlong numbers and other odd spellings come back as they were. */
static void test_odd_spelling(void **state)
{
    const uint8_t bytes[] = {0xa0, 0x81, 0x00, 0x82, 0x00, 0x0a, 0x81, 0x00, 'k'};
    struct baryon_attribute *attr = decode(*state, &by_schema_attribute, bytes, sizeof bytes);
    assert_non_null(attr);
    assert_int_equal(attr->type, 2);
    assert_encodes(&by_schema_attribute, attr, bytes, sizeof bytes);
}

/* A changed field is written where it stood; the unknown one keeps its place. */
static void test_changed(void **state)
{
    const uint8_t wanted[] = {0x0a, 1, 'k', 0x98, 6, 5, 0x40, 1, 0x40, 7, 0xa0, 1, 7};
    struct baryon_attribute *attr =
        decode(*state, &by_schema_attribute, attribute_bytes, sizeof attribute_bytes);
    attr->ints.at[1] = 7;
    assert_encodes(&by_schema_attribute, attr, wanted, sizeof wanted);
    assert_false(by_wire_unchanged(&attr->msg));
    attr->ints.at[1] = 300;
    assert_encodes(&by_schema_attribute, attr, attribute_bytes, sizeof attribute_bytes);
}

/* A new field follows the old ones; a removed one is left out. */
static void test_added_and_removed(void **state)
{
    const uint8_t wanted[] = {0x0a, 1, 'k', 0x98, 6, 5, 0xa0, 1, 2, 0x18, 0};
    struct baryon_attribute *attr =
        decode(*state, &by_schema_attribute, attribute_bytes, sizeof attribute_bytes);
    attr->ints.count = 0;
    attr->type = BY_ATTR_INT;
    attr->msg.has |= BY_HAS_ATTR_I;
    assert_encodes(&by_schema_attribute, attr, wanted, sizeof wanted);
}

static void test_child_change_reaches_parent(void **state)
{
    /* node { op_type: "A" attribute { name: "k" } unknown 12: "z" output: "y" } */
    const uint8_t bytes[] = {0x22, 1, 'A', 0x2a, 3, 0x0a, 1, 'k', 0x62, 1, 'z', 0x12, 1, 'y'};
    const uint8_t wanted[] = {0x22, 1, 'A',  0x2a, 6,   0x0a, 1, 'k', 0xa0,
                              1,    1, 0x62, 1,    'z', 0x12, 1, 'y'};
    struct baryon_node *node = decode(*state, &by_schema_node, bytes, sizeof bytes);
    struct baryon_attribute *attr = node->attribute.at[0];
    assert_encodes(&by_schema_node, node, bytes, sizeof bytes);
    attr->type = BY_ATTR_FLOAT;
    assert_encodes(&by_schema_node, node, wanted, sizeof wanted);
    attr->type = 0;
    node->attribute.at[0] = NULL; /* a hole is not written */
    const uint8_t without[] = {0x22, 1, 'A', 0x62, 1, 'z', 0x12, 1, 'y'};
    assert_encodes(&by_schema_node, node, without, sizeof without);
}

static void test_packed_forms(void **state)
{
    /* dims packed and unpacked mixed; float_data unpacked; int32_data in two runs */
    const uint8_t bytes[] = {0x0a, 2, 2,    3,    0x08, 4, 0x25, 0,    0, 0x80, 0x3f, 0x25, 0,
                             0,    0, 0x40, 0x2a, 2,    5, 6,    0x2a, 1, 7,    0x10, 1};
    struct baryon_tensor *tensor = decode(*state, &by_schema_tensor, bytes, sizeof bytes);
    assert_non_null(tensor);
    assert_int_equal(tensor->dims.count, 3);
    assert_int_equal(tensor->dims.at[2], 4);
    assert_int_equal(tensor->float_data.size, 8);
    assert_int_equal(tensor->int32_data.size, 3);
    assert_memory_equal(tensor->int32_data.data, "\5\6\7", 3);
    assert_encodes(&by_schema_tensor, tensor, bytes, sizeof bytes);
    /* One packed run stays a view. */
    const uint8_t one[] = {0x3a, 3, 1, 0xac, 2};
    tensor = decode(*state, &by_schema_tensor, one, sizeof one);
    assert_ptr_equal(tensor->int64_data.data, one + 2);
}

/* Runs of typed payloads, with small numbers around the long one. */
static void test_long_numbers_in_payloads(void **state)
{
    struct fixture *f = *state;
    for (uint8_t before = 0; before < 20; before++) {
        for (uint8_t size = 1; size <= 12; size++) {
            const uint8_t run = (uint8_t)(before + size + 3);
            uint8_t bytes[40] = {0x3a, run}, *number = bytes + 2 + before;
            memset(number, 0x80, size - 1u);
            number[size - 1] = 1;
            if (size <= 10) {
                struct baryon_tensor *tensor = decode(f, &by_schema_tensor, bytes, run + 2u);
                assert_non_null(tensor);
                assert_int_equal(tensor->int64_data.size, run);
            } else
                assert_refused(f, &by_schema_tensor, bytes, run + 2u, "int64_data",
                               "a packed number of more than 64 bits");
            number[size - 1] = 2;
            if (size == 10)
                assert_refused(f, &by_schema_tensor, bytes, run + 2u, "int64_data",
                               "a packed number of more than 64 bits");
        }
    }
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    const uint8_t cut[] = {0x0a, 5, 'k'};
    assert_refused(f, &by_schema_attribute, cut, sizeof cut, "name",
                   "requires 5 bytes, but only 1 are left");
    const uint8_t zero[] = {0x02, 0};
    assert_refused(f, &by_schema_attribute, zero, sizeof zero, "",
                   "field number 0, must be 1 to 536870911");
    const uint8_t group[] = {0x0b};
    assert_refused(f, &by_schema_attribute, group, sizeof group, "name",
                   "wire type 3 in field number 1, must be 0, 1, 2 or 5");
    const uint8_t type[] = {0x08, 1};
    assert_refused(f, &by_schema_attribute, type, sizeof type, "name",
                   "wire type 0 (varint), must be 2 (length-delimited)");
    const uint8_t twice[] = {0x0a, 1, 'a', 0x0a, 1, 'b'};
    assert_refused(f, &by_schema_attribute, twice, sizeof twice, "name",
                   "given twice, must appear once");
    const uint8_t utf8[] = {0x0a, 2, 0xc3, 0x28};
    assert_refused(f, &by_schema_attribute, utf8, sizeof utf8, "name",
                   "text '\\xc3(' is not valid UTF-8");
    const uint8_t nul[] = {0x0a, 2, 'a', 0};
    assert_refused(f, &by_schema_attribute, nul, sizeof nul, "name",
                   "name 'a\\x00' contains a NUL byte");
    const uint8_t ten[] = {0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1};
    assert_refused(f, &by_schema_attribute, ten, sizeof ten, "i",
                   "a number of more than 10 bytes, the limit");
    const uint8_t wide[] = {0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    assert_refused(f, &by_schema_attribute, wide, sizeof wide, "i",
                   "a number of more than 64 bits, the limit");
}

static void test_offsets_and_places(void **state)
{
    struct fixture *f = *state;
    /* graph { node {} node { attribute { name: <bad> } } } */
    const uint8_t bytes[] = {0x0a, 0, 0x0a, 6, 0x2a, 4, 0x0a, 2, 0xff, 0xff};
    assert_null(decode(f, &by_schema_graph, bytes, sizeof bytes));
    assert_string_equal(f->err.place, "node[1].attribute[0].name");
    assert_int_equal(f->err.offset, 6);
}

static void test_depth(void **state)
{
    struct fixture *f = *state;
    /* type { sequence { elem_type: type { ... } } }, built from the inside */
    uint8_t bytes[1024];
    size_t size = 0;
    for (int level = 0; level < 120; level++) {
        uint8_t head[11] = {level % 2 ? 0x22 : 0x0a};
        size_t length = 1 + by_varint_write(head + 1, size);
        memmove(bytes + length, bytes, size);
        memcpy(bytes, head, length);
        size += length;
    }
    assert_null(decode(f, &by_schema_type, bytes, size));
    assert_string_equal(f->err.message, "messages nested deeper than 100 levels, the limit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varints),
        cmocka_unit_test(test_schemas),
        cmocka_unit_test_setup_teardown(test_untouched, setup, teardown),
        cmocka_unit_test_setup_teardown(test_odd_spelling, setup, teardown),
        cmocka_unit_test_setup_teardown(test_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_added_and_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_child_change_reaches_parent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_packed_forms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_numbers_in_payloads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_offsets_and_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_depth, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
