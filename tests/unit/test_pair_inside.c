/* Tests that pairs inside the graph that the runtime has optimized give what they give outside. */
#include "engine_build.h"

#include "engine/pair.h"
#include "onnx/save.h"

#include <math.h>

#define SIDE 8
#define SIZE ((size_t)3 * SIDE * SIDE)

static char said[512];

static void take_line(void *context, enum by_log_level level, const char *text)
{
    (void)context, (void)level;
    snprintf(said, sizeof said, "%s", text);
}

static const struct by_log logger = {.write = take_line, .level = BY_LOG_DEBUG};
static const struct by_session_options as_written = {
    .optimization = -1, .threads = 1, .as_written = true, .log = &logger};

static void put_pair(struct baryon_model *model, const char *from, const char *scale,
                     const char *levels, const char *to)
{
    char inputs[64];
    snprintf(inputs, sizeof inputs, "%s,%s", from, scale);
    put_node(model->graph, levels, "QuantizeLinear", inputs, levels);
    snprintf(inputs, sizeof inputs, "%s,%s", levels, scale);
    put_node(model->graph, to, "DequantizeLinear", inputs, to);
}

/* Three convolutions, and a sum of what two of them give, each with a pair after it. odd: one
 * value has two pairs, and a constant has one. */
static struct baryon_model *residual_model(bool odd)
{
    struct baryon_model *model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_random(model, "w1", "16,3,3,3");
    put_random(model, "w2", "16,16,1,1");
    put_random(model, "w3", "8,16,1,1");
    put_floats(model, "s", "", 0.05f);
    put_floats(model, "t", "", 0.4f);
    put_node(model->graph, "one", "Conv", "x,w1", "a");
    put_pair(model, "a", "s", "la", "b");
    put_node(model->graph, "two", "Conv", "b,w2", "c");
    put_pair(model, "c", "s", "lc", "d");
    if (odd) {
        put_random(model, "k", "16,1,1");
        put_pair(model, "k", "t", "lk", "kq");
        put_pair(model, "a", "t", "la2", "b2");
        put_node(model->graph, "shift", "Add", "b2,kq", "b3");
    }
    put_node(model->graph, "sum", "Add", odd ? "b3,d" : "b,d", "e");
    put_node(model->graph, "act", "Relu", "e", "f");
    put_pair(model, "f", "t", "lf", "g");
    put_node(model->graph, "three", "Conv", "g,w3", "y");
    assert_ok(by_model_link(model, &err));
    return model;
}

static void save(struct baryon_model *model, struct by_str *bytes)
{
    by_str_init(bytes);
    assert_ok(by_model_save_bytes(model, bytes, &err));
}

static struct by_session *open_inside(struct baryon_model *model)
{
    struct by_session *session;
    struct by_str before, after;
    save(model, &before);
    said[0] = '\0';
    assert_ok(by_session_open_pairs(&session, model, &as_written, &err));
    assert_sound(model);
    save(model, &after);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.text, after.text, after.size);
    by_str_release(&before);
    by_str_release(&after);
    by_model_free(model);
    return session;
}

static void compare(struct by_session *session, struct by_session *plain,
                    const struct by_array *inputs, size_t count)
{
    struct by_run *got = run_ok(session, inputs, count), *wanted = run_ok(plain, inputs, count);
    const struct by_array *one = output(got, 0), *other = output(wanted, 0);
    const float *values = one->data, *exact = other->data;
    assert_string_equal(one->name, "y");
    assert_int_equal(one->size, other->size);
    assert_memory_equal(one->dims, other->dims, 4 * sizeof *one->dims);
    for (size_t i = 0; i < one->size / sizeof *values; i++)
        if (fabsf(values[i] - exact[i]) > 1e-5f * (1 + fabsf(exact[i])))
            fail_msg("value %zu: %g, outside %g", i, (double)values[i], (double)exact[i]);
    by_run_free(got);
    by_run_free(wanted);
}

static const int64_t dims[] = {1, 3, SIDE, SIDE};

static void fill(float *values)
{
    for (size_t i = 0; i < SIZE; i++)
        values[i] = draw(7);
}

static void same_as_outside(bool odd)
{
    float values[SIZE];
    size_t joined;
    struct baryon_model *models[2];
    for (size_t i = 0; i < 2; i++) {
        models[i] = residual_model(odd);
        assert_ok(by_pairs_join(models[i], &joined, &err));
        assert_true(joined >= 3);
    }
    struct by_session *session = open_inside(models[0]);
    struct by_session *plain = open_model(models[1], &as_written);
    assert_string_equal(said, "");
    fill(values);
    const struct by_array x = FLOATS("x", 4, dims, values);
    compare(session, plain, &x, 1);
    by_session_close(session);
    by_session_close(plain);
}

static void test_same_as_outside(void **state)
{
    (void)state;
    same_as_outside(false);
    same_as_outside(true);
}

/* The table of a run decides, with a scale of 0 too. */
static void test_tables(void **state)
{
    (void)state;
    float values[SIZE];
    struct by_pair_table tables[2];
    struct baryon_model *models[2];
    for (size_t i = 0; i < 2; i++) {
        models[i] = residual_model(false);
        assert_ok(by_pairs_join_open(models[i], &tables[i], &err));
        assert_int_equal(tables[i].count, 3);
    }
    struct by_session *session = open_inside(models[0]);
    struct by_session *plain = open_model(models[1], &as_written);
    assert_string_equal(said, "");
    fill(values);
    for (size_t off = 0; off < 4; off++) {
        float rows[3 * BY_PAIR_TABLE];
        memcpy(rows, tables[0].rows, sizeof rows);
        if (off < 3)
            rows[off * BY_PAIR_TABLE] = 0;
        struct by_array inputs[] = {FLOATS("x", 4, dims, values), tables[0].array};
        inputs[1].data = rows;
        compare(session, plain, inputs, 2);
    }
    by_session_close(session);
    by_session_close(plain);
    by_pair_table_release(&tables[0]);
    by_pair_table_release(&tables[1]);
}

/* What the runtime refuses is its error, as without pairs inside; the model stays. */
static void test_refused(void **state)
{
    (void)state;
    size_t joined;
    struct by_session *session;
    struct baryon_model *model = residual_model(false);
    assert_ok(by_pairs_join(model, &joined, &err));
    for (size_t i = 0; i < model->graph->node.count; i++) {
        struct baryon_node *node = model->graph->node.at[i];
        if (!strcmp(node->op_type, "Relu"))
            assert_ok(by_node_set_int(node, "unknown", 1, &err));
    }
    assert_int_equal(by_session_open_pairs(&session, model, &as_written, &err), -1);
    assert_null(session);
    assert_non_null(strstr(err.message, "unknown"));
    assert_non_null(strstr(said, "pairs stay in the original model: "));
    assert_sound(model);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_outside),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
