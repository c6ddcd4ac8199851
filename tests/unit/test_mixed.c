/* Layers in a narrower type where that costs little: which are found, and what is quantized. */
#include "made_source.h"

#include "ir/infer.h"
#include "search/mixed.h"

static struct by_recipe recipe;
static struct by_quantize_options options;
static struct by_quantization q;
static struct by_mixed mixed;
static struct baryon_model *model;

/* --- The model: the second of its layers has weights of a wide range --- */

static void make_model(void)
{
    model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_layer(model, "one", "w1", "6,3,3,3", "x,w1", "a", 0.2F);
    put_node(model->graph, "act", "Tanh", "a", "b");
    put_layer(model, "two", "w2", "6,6,3,3", "b,w2", "c", 40);
    put_layer(model, "three", "w3", "6,6,1,1", "c,w3", "e", 0.1F);
    put_layer(model, "four", "w4", "2,6,3,3", "e,w4", "y", 0.3F);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "", 13, &err));
    assert_ok(by_model_infer(model, NULL, &err));
}

static void set_options(unsigned threads, double goal)
{
    begin_source();
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_INT16, .symmetric = true},
        .weight = {.elem = BY_ELEM_INT16, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
        .domain = BY_Q_MICROSOFT,
        .smooth = BY_SMOOTH_OFF,
        .mixed = {.narrow = "int8", .goal = goal, .share = 1},
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    by_calib_defaults(recipe.activation.method, &recipe.activation.calib);
    recipe.activation.calib.headroom = 1.5;
    recipe.weight.calib = recipe.bias.calib = recipe.activation.calib;
    options = (struct by_quantize_options){
        .recipe = &recipe, .calibrate = {.samples = &samples, .session = {.threads = threads}}};
}

static int open_mixed(unsigned threads, double goal)
{
    make_model();
    set_options(threads, goal);
    return by_mixed_open(&mixed, &q, model, &options, &err);
}

static void close_mixed(void)
{
    by_quantization_close(&q);
    by_mixed_close(&mixed);
    by_model_free(model);
}

static int64_t type_of(const char *tensor)
{
    for (size_t i = 0; i < q.plan->rows.count; i++)
        if (!strcmp(q.plan->rows.at[i].value->name, tensor))
            return q.plan->rows.at[i].spec.elem;
    return 0;
}

static const struct by_mixed_change *change_of(const char *name)
{
    for (size_t i = 0; i < q.report.mixed.change_count; i++)
        if (!strcmp(q.report.mixed.changes[i].name, name))
            return &q.report.mixed.changes[i];
    return NULL;
}

/* --- Tests --- */

static const struct {
    const char *name, *tensor;
} places[] = {{"x", "x"},    {"b", "b"},    {"c", "c"},      {"e", "e"},
              {"one", "w1"}, {"two", "w2"}, {"three", "w3"}, {"four", "w4"}};

static void goal_0_gives_all_layers_the_narrow_type(void **state)
{
    (void)state;
    assert_ok(open_mixed(1, 0));
    assert_null(q.report.mixed.narrow);
    assert_int_equal(type_of("w1"), BY_ELEM_INT8);
    assert_int_equal(type_of("w2"), BY_ELEM_INT8);
    assert_int_equal(type_of("x"), BY_ELEM_INT8);
    assert_int_equal(type_of("y"), BY_ELEM_INT16);
    close_mixed();
}

static void what_hurts_keeps_the_wide_type(void **state)
{
    (void)state;
    assert_ok(open_mixed(1, 30));
    const struct by_mixed_report *report = &q.report.mixed;
    assert_string_equal(report->narrow, "int8");
    assert_true(report->met);
    assert_true(report->narrow_sqnr < 30);
    assert_true(report->sqnr >= 30);
    assert_int_equal(report->samples, 10);
    assert_true(report->change_count > 0 && report->change_count < 8);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_int_equal(type_of(places[i].tensor),
                         change_of(places[i].name) ? BY_ELEM_INT16 : BY_ELEM_INT8);
    for (size_t i = 0; i < report->change_count; i++)
        assert_string_equal(report->changes[i].type, "int16");
    close_mixed();
}

static void goals_out_of_reach_are_reported(void **state)
{
    (void)state;
    assert_ok(open_mixed(1, 149));
    assert_false(q.report.mixed.met);
    assert_true(q.report.mixed.sqnr > 60);
    assert_int_equal(type_of("w2"), BY_ELEM_INT16);
    close_mixed();
}

static void types_that_are_the_same_are_refused(void **state)
{
    (void)state;
    make_model();
    set_options(1, 30);
    by_spec_set_type(&recipe.activation, BY_ELEM_INT8);
    by_spec_set_type(&recipe.weight, BY_ELEM_INT8);
    assert_int_equal(by_mixed_open(&mixed, &q, model, &options, &err), -1);
    assert_string_equal(err.message, "--mixed int8: --activation and --weight are int8 already");
    close_mixed();
}

static void the_share_is_a_limit(void **state)
{
    (void)state;
    make_model();
    set_options(1, 149);
    recipe.mixed.share = 0;
    assert_ok(by_mixed_open(&mixed, &q, model, &options, &err));
    assert_true(q.report.mixed.wide_share < 1e-12);
    assert_int_equal(type_of("w2"), BY_ELEM_INT8);
    close_mixed();
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    struct by_mixed_report one;
    char names[512] = "";
    assert_ok(open_mixed(1, 40));
    one = q.report.mixed;
    for (size_t i = 0; i < one.change_count; i++)
        strncat(names, one.changes[i].name, sizeof names - strlen(names) - 1);
    close_mixed();
    assert_ok(open_mixed(3, 40));
    assert_true(one.sqnr == q.report.mixed.sqnr);
    assert_true(one.wide_share == q.report.mixed.wide_share);
    for (size_t i = 0, at = 0; i < q.report.mixed.change_count; i++) {
        const char *name = q.report.mixed.changes[i].name;
        assert_int_equal(strncmp(names + at, name, strlen(name)), 0);
        at += strlen(name);
    }
    close_mixed();
}

static void a_rule_of_the_users_wins(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_rule_list rules = {0};
    by_arena_init(&arena, 0);
    make_model();
    set_options(1, 30);
    assert_ok(by_rule_parse(&arena, BY_RULE_NODE, "four", "weight:int16", "--node", &rules, &err));
    recipe.rules.at = rules.at;
    recipe.rules.count = rules.count;
    assert_ok(by_mixed_open(&mixed, &q, model, &options, &err));
    assert_int_equal(type_of("w4"), BY_ELEM_INT16);
    assert_null(change_of("four"));
    close_mixed();
    by_arena_release(&arena);
}

static void what_cannot_judge_is_refused(void **state)
{
    (void)state;
    make_model();
    set_options(1, 30);
    options.stats = "x.stats";
    assert_int_equal(by_mixed_open(&mixed, &q, model, &options, &err), -1);
    assert_string_equal(err.message, "--mixed requires samples, statistics (--stats) contain none");
    close_mixed();
    make_model();
    set_options(1, 30);
    samples.rewind = NULL;
    assert_int_equal(by_mixed_open(&mixed, &q, model, &options, &err), -1);
    assert_string_equal(err.message,
                        "the samples come only once, --mixed reads them several times");
    close_mixed();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goal_0_gives_all_layers_the_narrow_type),
        cmocka_unit_test(what_hurts_keeps_the_wide_type),
        cmocka_unit_test(goals_out_of_reach_are_reported),
        cmocka_unit_test(types_that_are_the_same_are_refused),
        cmocka_unit_test(the_share_is_a_limit),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_rule_of_the_users_wins),
        cmocka_unit_test(what_cannot_judge_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
