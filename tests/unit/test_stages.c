/* A model run piece by piece gives what it gives in one piece, and holds no more than it needs. */
#include "engine_build.h"

#include "engine/stages.h"

#include <math.h>

#define SAMPLES 3

static float data[SAMPLES][2];
static struct by_array arrays[SAMPLES];
static struct by_parked parked[SAMPLES];
static const struct by_parked *inputs[SAMPLES];
static struct by_depot *depot;
static struct by_stages *stages;
static bool outputs_wait;
static uint64_t budget; /* of the depot */

static int prepare(void **state)
{
    budget = *state ? *(const uint64_t *)*state : UINT64_MAX;
    drawn = 0;
    outputs_wait = false;
    for (size_t i = 0; i < SAMPLES; i++) {
        data[i][0] = (float)i - 1;
        data[i][1] = 0.5f * (float)i;
        arrays[i] = (struct by_array){.name = "x",
                                      .elem = BY_ELEM_FLOAT,
                                      .rank = 2,
                                      .dims = {1, 2},
                                      .data = data[i],
                                      .size = sizeof data[i]};
        inputs[i] = &parked[i];
    }
    return 0;
}

static void open_on(struct baryon_model *model, struct by_pool *pool)
{
    const struct by_depot_options waiting = {.folder = ".", .budget = budget};
    assert_ok(by_depot_open(&depot, &waiting, &err));
    for (size_t i = 0; i < SAMPLES; i++)
        assert_ok(by_park(depot, &arrays[i], true, &parked[i], &err));
    const struct by_stages_options options = {
        .session = {.threads = 1}, .pool = pool, .depot = depot, .outputs_wait = outputs_wait};
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_settle(model, &err));
    assert_ok(by_stages_open(&stages, model, inputs, 1, SAMPLES, &options, &err));
}

static void open_stages(struct baryon_model *model)
{
    open_on(model, NULL);
}

/* Everything was given back. */
static void close_stages(struct baryon_model *model)
{
    by_stages_close(stages);
    for (size_t i = 0; i < SAMPLES; i++)
        by_park_drop(depot, &parked[i]);
    assert_int_equal(by_depot_in_memory(depot), 0);
    assert_int_equal(by_depot_in_file(depot), 0);
    assert_int_equal(by_depot_file_size(depot) > 0, budget == 0);
    by_depot_close(depot);
    by_model_free(model);
}

static bool waits(const struct baryon_model *model, const char *name)
{
    return by_stages_has(stages, value_of(model->graph, name));
}

static void reach(const struct baryon_model *model, const char *name)
{
    struct baryon_value *wanted = value_of(model->graph, name);
    assert_ok(by_stages_reach(stages, &wanted, 1, &err));
}

static float at(const struct baryon_model *model, const char *name, size_t sample, size_t place)
{
    struct by_unpark_room room = {0};
    struct by_array array;
    assert_true(waits(model, name));
    assert_ok(by_stages_look(stages, value_of(model->graph, name), sample, &room, &array, &err));
    assert_int_equal(array.elem, BY_ELEM_FLOAT);
    const float value = ((const float *)array.data)[place];
    by_unpark_room_release(&room);
    return value;
}

/* a = x + w, b = a * a, c = b + a, y = relu(c) */
static struct baryon_model *chain(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_values(model, "w", "2", (const float[]){1, -2});
    put_node(model->graph, "add", "Add", "x,w", "a");
    put_node(model->graph, "mul", "Mul", "a,a", "b");
    put_node(model->graph, "sum", "Add", "b,a", "c");
    put_node(model->graph, "relu", "Relu", "c", "y");
    return model;
}

static float a_of(size_t sample, size_t place)
{
    return data[sample][place] + (place ? -2 : 1);
}

static void test_values(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    open_stages(model);
    reach(model, "a");
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t k = 0; k < 2; k++)
            assert_true(at(model, "a", i, k) == a_of(i, k));
    reach(model, "y");
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t k = 0; k < 2; k++) {
            const float c = a_of(i, k) * a_of(i, k) + a_of(i, k);
            assert_true(at(model, "y", i, k) == (c > 0 ? c : 0));
        }
    close_stages(model);
}

/* a is read twice and by nodes of two pieces; it goes when the last of them ran. */
static void test_what_waits(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    const uint64_t one = SAMPLES * sizeof data[0];
    open_stages(model);
    assert_int_equal(by_stages_bytes(stages), 0);
    reach(model, "b");
    assert_int_equal(by_stages_bytes(stages), 2 * one); /* a and b */
    assert_false(waits(model, "c"));
    reach(model, "c");
    assert_int_equal(by_stages_bytes(stages), 2 * one); /* b, still wanted, and c */
    by_stages_let_go(stages, value_of(model->graph, "b"));
    assert_false(waits(model, "b"));
    assert_int_equal(by_stages_bytes(stages), one);
    by_stages_let_go(stages, value_of(model->graph, "c")); /* relu is to read it */
    assert_int_equal(by_stages_bytes(stages), one);
    reach(model, "y");
    assert_int_equal(by_stages_bytes(stages), one);
    close_stages(model);
}

/* A constant of a node that did not run may become another one; of one that ran, it is too late. */
static void test_constants_change(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_values(model, "v", "2", (const float[]){10, 20});
    put_values(model, "w", "2", (const float[]){3, 4});
    put_node(model->graph, "first", "Add", "x,v", "a");
    struct baryon_node *second = put_node(model->graph, "second", "Mul", "a,w", "y");
    open_stages(model);
    reach(model, "a");
    const int64_t dims[1] = {2};
    struct baryon_tensor *tensor = by_tensor_new(model, "u", BY_ELEM_FLOAT, dims, 1,
                                                 (const float[]){-1, 2}, 2 * sizeof(float), &err);
    assert_non_null(tensor);
    struct baryon_value *changed = by_graph_add_initializer(model->graph, tensor, &err);
    assert_non_null(changed);
    assert_ok(by_node_set_input(second, 1, changed, &err));
    reach(model, "y");
    for (size_t i = 0; i < SAMPLES; i++) {
        assert_true(at(model, "y", i, 0) == -(data[i][0] + 10));
        assert_true(at(model, "y", i, 1) == 2 * (data[i][1] + 20));
    }
    assert_ok(by_graph_verify(model, &err));
    close_stages(model);
}

static struct baryon_model *pairs(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_values(model, "s", "", (const float[]){0.25f});
    const int8_t zero = 0;
    put_weight(model, "z", BY_ELEM_INT8, NULL, 0, &zero, sizeof zero);
    put_node(model->graph, "q", "QuantizeLinear", "x,s,z", "i");
    put_node(model->graph, "dq", "DequantizeLinear", "i,s,z", "d");
    put_node(model->graph, "one", "Abs", "d", "a");
    put_node(model->graph, "two", "Neg", "d", "b");
    put_node(model->graph, "sum", "Add", "a,b", "y");
    return model;
}

/* What is dequantized waits as integers, a byte each, though two nodes in two pieces read it. */
static void test_integers_wait(void **state)
{
    (void)state;
    struct baryon_model *model = pairs();
    open_stages(model);
    reach(model, "a");
    const uint64_t floats = SAMPLES * sizeof data[0];
    assert_int_equal(by_stages_bytes(stages), floats + SAMPLES * 2);
    assert_false(waits(model, "d"));
    reach(model, "b");
    assert_int_equal(by_stages_bytes(stages), 2 * floats);
    for (size_t i = 0; i < SAMPLES; i++)
        assert_true(at(model, "b", i, 1) == -data[i][1]);
    close_stages(model);
}

/* Samples of several sizes, and several threads. */
static void test_sizes_differ(void **state)
{
    (void)state;
    struct by_pool *pool;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "neg", "Neg", "x", "a");
    put_node(model->graph, "abs", "Abs", "a", "y");
    const float more[4] = {1, -2, 3, -4};
    arrays[1].dims[0] = 2;
    arrays[1].data = more;
    arrays[1].size = sizeof more;
    assert_ok(by_pool_open(&pool, 3, &err));
    open_on(model, pool);
    reach(model, "a");
    reach(model, "y");
    for (size_t k = 0; k < 4; k++)
        assert_true(at(model, "y", 1, k) == (float)(k + 1));
    assert_true(at(model, "y", 2, 1) == data[2][1]);
    close_stages(model);
    by_pool_close(pool);
}

/* The outer value that a nested graph reads is part of what its node needs. */
static void test_nested(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    const uint8_t yes = 1;
    put_weight(model, "yes", BY_ELEM_BOOL, NULL, 0, &yes, 1);
    put_node(model->graph, "neg", "Neg", "x", "a");
    put_node(model->graph, "abs", "Abs", "x", "b");
    struct baryon_node *branch = put_node(model->graph, "if", "If", "yes", "y");
    for (size_t i = 0; i < 2; i++) {
        struct baryon_graph *graph = put_nested(model, branch, i ? "else_branch" : "then_branch");
        put_node(graph, i ? "e" : "t", "Identity", i ? "b" : "a", i ? "eb" : "ta");
        put_output(graph, i ? "eb" : "ta");
    }
    open_stages(model);
    reach(model, "a");
    reach(model, "y");
    assert_true(at(model, "y", 0, 0) == -data[0][0]);
    close_stages(model);
}

static void test_gone(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    open_stages(model);
    reach(model, "y");
    struct baryon_value *wanted = value_of(model->graph, "b");
    assert_int_equal(by_stages_reach(stages, &wanted, 1, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "'b'"));
    close_stages(model);
}

/* --- The rest --- */

struct shown {
    size_t sample, count;
    float values[3]; /* the first element of each; NAN: it is empty */
};

static int show(void *context, size_t sample, const struct by_array *values, size_t count,
                struct baryon_error *e)
{
    struct shown *shown = context;
    (void)e;
    *shown = (struct shown){.sample = sample, .count = count};
    for (size_t i = 0; i < count; i++)
        shown->values[i] = values[i].data ? ((const float *)values[i].data)[0] : NAN;
    return 0;
}

static int refuse(void *context, size_t sample, const struct by_array *values, size_t count,
                  struct baryon_error *e)
{
    (void)context, (void)sample, (void)values, (void)count;
    return by_fail(e, BARYON_ERR_USAGE, "seen");
}

static struct shown run_rest(const struct by_stages_rest *rest, size_t sample)
{
    struct shown shown;
    assert_ok(by_stages_rest_run(rest, sample, 0, show, &shown, &err));
    assert_int_equal(shown.sample, sample);
    return shown;
}

/* As often as one likes, and nothing changes by it. */
static void test_rest(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    open_stages(model);
    struct baryon_value *y = value_of(model->graph, "y");
    struct by_stages_rest *rest;
    reach(model, "a");
    const uint64_t bytes = by_stages_bytes(stages);
    assert_ok(by_stages_rest_open(&rest, stages, &y, 1, &err));
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < SAMPLES; i++) {
            const float a = a_of(i, 0), c = a * a + a;
            const struct shown shown = run_rest(rest, i);
            assert_int_equal(shown.count, 1);
            assert_true(shown.values[0] == (c > 0 ? c : 0));
        }
    assert_int_equal(by_stages_rest_run(rest, 0, 0, refuse, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_int_equal(by_stages_bytes(stages), bytes);
    assert_false(waits(model, "c"));
    by_stages_rest_close(rest);
    reach(model, "y");
    assert_true(at(model, "y", 2, 0) == a_of(2, 0) * a_of(2, 0) + a_of(2, 0));
    close_stages(model);
}

/* What has gone is out of reach, what nothing has run yet is not. */
static void what_can_still_be_reached(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    open_stages(model);
    assert_true(by_stages_may_reach(stages, value_of(model->graph, "a")));
    assert_true(by_stages_may_reach(stages, value_of(model->graph, "y")));
    reach(model, "c");
    by_stages_let_go(stages, value_of(model->graph, "a"));
    assert_false(by_stages_may_reach(stages, value_of(model->graph, "a")));
    assert_true(by_stages_may_reach(stages, value_of(model->graph, "c")));
    assert_true(by_stages_may_reach(stages, value_of(model->graph, "y")));
    close_stages(model);
}

/* Outputs that ran already are there with the others; constants are not. */
static void test_outputs_wait(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    gives(model, "a", BY_ELEM_FLOAT, NULL);
    outputs_wait = true;
    open_stages(model);
    struct baryon_value *values[3] = {value_of(model->graph, "y"), value_of(model->graph, "a"),
                                      value_of(model->graph, "w")};
    struct by_stages_rest *rest;
    for (int step = 0; step < 3; step++) {
        static const char *const names[] = {"b", "c", "y"};
        reach(model, names[step]);
        by_stages_let_go(stages, value_of(model->graph, names[step]));
        assert_ok(by_stages_rest_open(&rest, stages, values, 3, &err));
        for (size_t i = 0; i < SAMPLES; i++) {
            const float a = a_of(i, 0), c = a * a + a;
            const struct shown shown = run_rest(rest, i);
            assert_int_equal(shown.count, 3);
            assert_true(shown.values[0] == (c > 0 ? c : 0));
            assert_true(shown.values[1] == a);
            assert_true(isnan(shown.values[2]));
        }
        by_stages_rest_close(rest);
    }
    close_stages(model);
}

/* What the caller keeps in memory of its own may change from run to run. */
static void test_inputs_change(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    open_stages(model);
    struct baryon_value *y = value_of(model->graph, "y");
    struct by_stages_rest *rest;
    by_park_drop(depot, &parked[1]);
    by_stages_close(stages);
    const struct by_stages_options options = {.session = {.threads = 1}, .depot = depot};
    float own[2] = {1, 0};
    parked[1] = (struct by_parked){.array = arrays[1]};
    parked[1].array.data = own;
    assert_ok(by_stages_open(&stages, model, inputs, 1, SAMPLES, &options, &err));
    assert_ok(by_stages_rest_open(&rest, stages, &y, 1, &err));
    assert_true(run_rest(rest, 1).values[0] == 6);
    own[0] = 2;
    assert_true(run_rest(rest, 1).values[0] == 12);
    by_stages_rest_close(rest);
    close_stages(model);
}

static void test_rest_is_gone(void **state)
{
    (void)state;
    struct baryon_model *model = chain();
    open_stages(model);
    struct baryon_value *b = value_of(model->graph, "b");
    struct by_stages_rest *rest;
    reach(model, "y");
    assert_int_equal(by_stages_rest_open(&rest, stages, &b, 1, &err), -1);
    assert_null(rest);
    assert_non_null(strstr(err.message, "'b'"));
    close_stages(model);
}

int main(void)
{
    static uint64_t nothing = 0;
#define IN_MEMORY(test) cmocka_unit_test_setup(test, prepare)
#define IN_A_FILE(test) cmocka_unit_test_prestate_setup_teardown(test, prepare, NULL, &nothing)
    const struct CMUnitTest tests[] = {
        IN_MEMORY(test_values),
        IN_MEMORY(test_what_waits),
        IN_MEMORY(test_constants_change),
        IN_MEMORY(test_integers_wait),
        IN_MEMORY(test_sizes_differ),
        IN_MEMORY(test_nested),
        IN_MEMORY(test_gone),
        IN_MEMORY(test_rest),
        IN_MEMORY(what_can_still_be_reached),
        IN_MEMORY(test_outputs_wait),
        IN_MEMORY(test_inputs_change),
        IN_MEMORY(test_rest_is_gone),
        IN_A_FILE(test_values),
        IN_A_FILE(test_what_waits),
        IN_A_FILE(test_integers_wait),
        IN_A_FILE(test_sizes_differ),
        IN_A_FILE(test_rest),
        IN_A_FILE(test_outputs_wait),
    };
    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
