/* Tests that joined pairs give the bits of QuantizeLinear and DequantizeLinear. */
#include "engine_build.h"

#include "engine/pair.h"
#include "stats/stats.h"

#include <math.h>

static const struct by_session_options as_written = {
    .optimization = -1, .threads = 1, .as_written = true};

static const struct {
    int64_t elem, least, most;
} types[] = {
    {BY_ELEM_INT8, INT8_MIN, INT8_MAX},
    {BY_ELEM_UINT8, 0, UINT8_MAX},
    {BY_ELEM_INT16, INT16_MIN, INT16_MAX},
    {BY_ELEM_UINT16, 0, UINT16_MAX},
};
#define TYPES (sizeof types / sizeof *types)

static void put_zero(struct baryon_model *model, int64_t elem, int64_t zero)
{
    const uint16_t bits = (uint16_t)zero; /* the low byte is that of 8 bits */
    const bool narrow = elem == BY_ELEM_INT8 || elem == BY_ELEM_UINT8;
    put_weight(model, "z", elem, NULL, 0, &bits, narrow ? 1 : 2);
}

/* y = dequantized(quantized(x)), twice: two nodes read the integers. */
static struct baryon_model *pair_model(int64_t elem, float scale, int64_t zero)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N");
    gives(model, "y", BY_ELEM_FLOAT, "N");
    gives(model, "w", BY_ELEM_FLOAT, "N");
    put_weight(model, "s", BY_ELEM_FLOAT, NULL, 0, &scale, sizeof scale);
    put_zero(model, elem, zero);
    put_node(model->graph, "q", "QuantizeLinear", "x,s,z", "l");
    put_node(model->graph, "d", "DequantizeLinear", "l,s,z", "y");
    put_node(model->graph, "e", "DequantizeLinear", "l,s,z", "v");
    put_node(model->graph, "n", "Neg", "v", "w");
    return model;
}

static struct by_session *open_joined(struct baryon_model *model, size_t wanted)
{
    size_t joined;
    assert_ok(by_model_link(model, &err));
    assert_ok(by_pairs_join(model, &joined, &err));
    assert_int_equal(joined, wanted);
    assert_sound(model);
    return open_model(model, &as_written);
}

#define VALUES 1003 /* no whole number of vectors */

/* Ties, what saturates, neighbours of both, and what is not finite. */
static void fill(float *values, float scale, int64_t zero, int64_t least, int64_t most)
{
    const float odd[] = {0,         -0.0f,     NAN,       -NAN,    INFINITY,
                         -INFINITY, 0x1p-149f, 0x1p-130f, 0x1p40f, -0x1p40f};
    for (size_t i = 0; i < VALUES; i++) {
        const int64_t span = most - least + 9;
        const float level = (float)(least - zero - 4 + (int64_t)(i * 7919) % span) + 0.5f;
        values[i] = i % 4 == 0   ? level * scale
                    : i % 4 == 1 ? nextafterf(level * scale, INFINITY)
                    : i % 4 == 2 ? nextafterf(level * scale, -INFINITY)
                                 : draw(3) * scale * 300;
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        values[i * 37] = odd[i];
}

static void compare(int64_t elem, float scale, int64_t zero, int64_t least, int64_t most)
{
    float values[VALUES];
    const int64_t dims[] = {VALUES};
    fill(values, scale, zero, least, most);
    const struct by_array x = FLOATS("x", 1, dims, values);
    struct by_session *plain = open_model(pair_model(elem, scale, zero), &as_written);
    struct by_session *joined = open_joined(pair_model(elem, scale, zero), 3);
    struct by_run *wanted = run_ok(plain, &x, 1), *got = run_ok(joined, &x, 1);
    for (size_t k = 0; k < 2; k++) {
        assert_string_equal(output(got, k)->name, output(wanted, k)->name);
        assert_int_equal(output(got, k)->size, sizeof values);
        assert_memory_equal(output(got, k)->data, output(wanted, k)->data, sizeof values);
    }
    by_run_free(wanted);
    by_run_free(got);
    by_session_close(plain);
    by_session_close(joined);
}

static void test_bits(void **state)
{
    const float scales[] = {0.1f, 0x1p-5f, 0.037f};
    (void)state;
    for (size_t t = 0; t < TYPES; t++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
            for (int64_t zero = 0; zero <= types[t].most; zero += types[t].most / 3)
                compare(types[t].elem, scales[s], zero, types[t].least, types[t].most);
}

/* --- Tables of runs --- */

static struct baryon_model *open_table(size_t type, float scale, struct by_pair_table *table,
                                       struct by_hash128 *hash)
{
    struct baryon_model *model = pair_model(types[type].elem, scale, 0);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_pairs_join_open(model, table, &err));
    assert_ok(by_pairs_fold(model, &err));
    assert_int_equal(table->count, 1);
    assert_sound(model);
    assert_ok(by_model_content_hash(model, hash, &err));
    return model;
}

static struct baryon_model *odd_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,3");
    gives(model, "y", BY_ELEM_FLOAT, "N,3");
    put_floats(model, "s", "", 0.5f);
    put_floats(model, "t", "", 0.25f);
    put_floats(model, "each", "3", 0.5f);
    return model;
}

/* The first one's session with the table of each gives what a session of each alone gives. */
static void test_tables(void **state)
{
    (void)state;
    struct by_session *session = NULL;
    struct by_hash128 first, hash;
    for (size_t t = 0; t < TYPES; t++) {
        const float scale = 0.1f * (float)(t + 1);
        const int64_t dims[] = {VALUES};
        float values[VALUES];
        struct by_pair_table table;
        struct baryon_model *model = open_table(t, scale, &table, t ? &hash : &first);
        struct by_session *plain = open_model(pair_model(types[t].elem, scale, 0), &as_written);
        if (t)
            by_model_free(model);
        else
            session = open_model(model, &as_written);
        assert_true(!t || by_hash128_equal(hash, first));
        fill(values, scale, 0, types[t].least, types[t].most);
        const struct by_array inputs[] = {FLOATS("x", 1, dims, values), table.array};
        struct by_run *wanted = run_ok(plain, inputs, 1), *got = run_ok(session, inputs, 2);
        for (size_t k = 0; k < 2; k++)
            assert_memory_equal(output(got, k)->data, output(wanted, k)->data, sizeof values);
        by_run_free(wanted);
        by_run_free(got);
        by_session_close(plain);
        by_pair_table_release(&table);
    }
    by_session_close(session);
}

/* With a scale of 0 values come out as they went in, to the bit; the input of a run stays. */
static void test_scale_of_zero(void **state)
{
    (void)state;
    const int64_t dims[] = {VALUES};
    float values[VALUES], before[VALUES];
    struct by_pair_table table;
    struct by_hash128 hash;
    struct by_session *session = open_model(open_table(0, 0.1f, &table, &hash), &as_written);
    fill(values, 0.1f, 0, types[0].least, types[0].most);
    memcpy(before, values, sizeof values);
    table.rows[0] = 0;
    const struct by_array inputs[] = {FLOATS("x", 1, dims, values), table.array};
    struct by_run *got = run_ok(session, inputs, 2);
    assert_memory_equal(output(got, 0)->data, before, sizeof values);
    assert_memory_equal(values, before, sizeof values);
    by_run_free(got);
    by_pair_table_release(&table);
    by_session_close(session);
}

/* A model without pairs has no further input. */
static void test_no_table(void **state)
{
    (void)state;
    struct by_pair_table table;
    struct baryon_model *model = odd_model();
    put_node(model->graph, "n", "Neg", "x", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_pairs_join_open(model, &table, &err));
    assert_int_equal(table.count, 0);
    assert_int_equal(model->graph->input.count, 1);
    by_pair_table_release(&table);
    by_model_free(model);
}

/* --- Constants --- */

/* y = x + dequantized constant, by channels along the axis. */
static struct baryon_model *constant_model(int64_t elem, const void *levels, size_t size,
                                           int64_t axis, bool zeros)
{
    const float scales[] = {0.1f, 0.25f, 1.7f};
    const int8_t least[] = {-3, 0, 7};
    const int64_t dims[] = {3, 3}, count[] = {3};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "3,3");
    gives(model, "y", BY_ELEM_FLOAT, "3,3");
    put_weight(model, "c", elem, dims, 2, levels, size);
    put_weight(model, "s", BY_ELEM_FLOAT, count, 1, scales, sizeof scales);
    if (zeros)
        put_weight(model, "z", elem, count, 1, least, sizeof least);
    struct baryon_node *node =
        put_node(model->graph, "d", "DequantizeLinear", zeros ? "c,s,z" : "c,s", "v");
    put_node(model->graph, "a", "Add", "x,v", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node, "axis", axis, &err));
    return model;
}

static void compare_constant(int64_t elem, const void *levels, size_t size, int64_t axis,
                             bool zeros)
{
    static const float none[9];
    const int64_t dims[] = {3, 3};
    const struct by_array x = FLOATS("x", 2, dims, none);
    struct by_session *plain =
        open_model(constant_model(elem, levels, size, axis, zeros), &as_written);
    struct by_session *joined = open_joined(constant_model(elem, levels, size, axis, zeros), 1);
    struct by_run *wanted = run_ok(plain, &x, 1), *got = run_ok(joined, &x, 1);
    assert_memory_equal(output(got, 0)->data, output(wanted, 0)->data, sizeof none);
    by_run_free(wanted);
    by_run_free(got);
    by_session_close(plain);
    by_session_close(joined);
}

static void test_constants(void **state)
{
    const int8_t bytes[9] = {-128, 127, 0, 1, -1, 64, -5, 99, -77};
    const int32_t words[9] = {INT32_MIN, INT32_MAX, 0, 16777217, -16777219, 64, -5, 99, -77};
    (void)state;
    for (int64_t axis = -2; axis < 2; axis++) {
        compare_constant(BY_ELEM_INT8, bytes, sizeof bytes, axis, true);
        compare_constant(BY_ELEM_INT8, bytes, sizeof bytes, axis, false);
        compare_constant(BY_ELEM_INT32, words, sizeof words, axis, false);
    }
}

/* --- Tables --- */

#define TABLE_ROWS    600
#define TABLE_COLUMNS 500

/* y = table[i] and w = -table[:, i], dequantized. */
static struct baryon_model *table_model(bool read_whole)
{
    static int8_t levels[TABLE_ROWS * TABLE_COLUMNS];
    const int64_t dims[] = {TABLE_ROWS, TABLE_COLUMNS};
    const float scale = 0.037f;
    struct baryon_model *model = new_model();
    for (size_t i = 0; i < sizeof levels; i++)
        levels[i] = (int8_t)(i * 7919 % 251);
    takes(model, "i", BY_ELEM_INT64, "2,3");
    gives(model, "y", BY_ELEM_FLOAT, "");
    gives(model, "w", BY_ELEM_FLOAT, "");
    put_weight(model, "t", BY_ELEM_INT8, dims, 2, levels, sizeof levels);
    put_weight(model, "s", BY_ELEM_FLOAT, NULL, 0, &scale, sizeof scale);
    put_zero(model, BY_ELEM_INT8, -3);
    put_node(model->graph, "d", "DequantizeLinear", "t,s,z", "f");
    put_node(model->graph, "rows", "Gather", "f,i", "y");
    struct baryon_node *columns = put_node(model->graph, "columns", "Gather", "f,i", "v");
    put_node(model->graph, "n", "Neg", "v", "w");
    if (read_whole) {
        gives(model, "m", BY_ELEM_FLOAT, "");
        put_node(model->graph, "all", "ReduceMax", "f", "m");
    }
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(columns, "axis", 1, &err));
    return model;
}

static bool reads_table(const struct baryon_model *model)
{
    const struct baryon_value *table = by_graph_value(model->graph, "t");
    for (size_t i = 0; i < table->use_count; i++)
        if (by_node_is(table->uses[i].node, "DequantizeLinear"))
            return true;
    return false;
}

static void test_look_up(void **state)
{
    (void)state;
    const int64_t places[] = {0, 7, 499, 3, 3, 250}, dims[] = {2, 3};
    const struct by_array i = {.name = "i",
                               .elem = BY_ELEM_INT64,
                               .rank = 2,
                               .dims = {dims[0], dims[1]},
                               .data = places,
                               .size = sizeof places};
    struct baryon_model *model = table_model(false);
    assert_ok(by_pairs_fold(model, &err));
    assert_sound(model);
    assert_false(reads_table(model));
    struct by_session *plain = open_model(table_model(false), &as_written);
    struct by_session *looked_up = open_model(model, &as_written);
    struct by_run *wanted = run_ok(plain, &i, 1), *got = run_ok(looked_up, &i, 1);
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(output(got, k)->size, output(wanted, k)->size);
        assert_memory_equal(output(got, k)->data, output(wanted, k)->data, output(got, k)->size);
    }
    by_run_free(wanted);
    by_run_free(got);
    by_session_close(plain);
    by_session_close(looked_up);
    model = table_model(true); /* all of it is needed as floats */
    assert_ok(by_pairs_fold(model, &err));
    assert_true(reads_table(model));
    by_model_free(model);
}

/* --- What stays --- */

static void expect_joined(struct baryon_model *model, size_t wanted)
{
    size_t joined;
    assert_ok(by_model_link(model, &err));
    assert_ok(by_pairs_join(model, &joined, &err));
    assert_int_equal(joined, wanted);
    assert_int_equal(by_pairs_wanted(model), wanted > 0);
    assert_sound(model);
    by_model_free(model);
}

static void test_others_stay(void **state)
{
    (void)state;
    struct baryon_model *model = odd_model(); /* another scale after */
    put_node(model->graph, "q", "QuantizeLinear", "x,s", "l");
    put_node(model->graph, "d", "DequantizeLinear", "l,t", "y");
    expect_joined(model, 0);
    model = odd_model(); /* channels */
    put_node(model->graph, "q", "QuantizeLinear", "x,each", "l");
    put_node(model->graph, "d", "DequantizeLinear", "l,each", "y");
    expect_joined(model, 0);
    model = odd_model(); /* somebody else reads the integers */
    gives(model, "l", BY_ELEM_UINT8, "N,3");
    put_node(model->graph, "q", "QuantizeLinear", "x,s", "l");
    put_node(model->graph, "d", "DequantizeLinear", "l,s", "y");
    expect_joined(model, 0);
    model = odd_model();
    takes(model, "dynamic", BY_ELEM_FLOAT, "");
    put_node(model->graph, "q", "QuantizeLinear", "x,dynamic", "l");
    put_node(model->graph, "d", "DequantizeLinear", "l,dynamic", "y");
    expect_joined(model, 0);
    model = odd_model(); /* uint8 without a zero point */
    put_node(model->graph, "q", "QuantizeLinear", "x,s", "l");
    put_node(model->graph, "d", "DequantizeLinear", "l,s", "y");
    expect_joined(model, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),          cmocka_unit_test(test_tables),
        cmocka_unit_test(test_scale_of_zero), cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_constants),     cmocka_unit_test(test_look_up),
        cmocka_unit_test(test_others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
