/* Which of the user's nodes stay float by name, operator, span and side. */
#include "graph_build.h"

#include "quant/place.h"

static struct by_recipe recipe;
static char warnings[512];

/*
 *   x -> a -> b -> c ------> e -> f -> y        g reads x alone
 *         \-> d ----------->/
 *   x -> g --------------------->/
 */
static struct baryon_model *net(void)
{
    struct baryon_model *model = new_model();
    put_input(model->graph, "x");
    put_node(model->graph, "a", "Relu", "x", "a0");
    put_node(model->graph, "b", "Sin", "a0", "b0");
    put_node(model->graph, "c", "Sin", "b0", "c0");
    put_node(model->graph, "d", "Relu", "a0", "d0");
    put_node(model->graph, "e", "Add", "c0,d0", "e0");
    put_node(model->graph, "", "Cos", "x", "g0");
    put_node(model->graph, "f", "Add", "e0,g0", "y");
    put_output(model->graph, "y");
    assert_ok(by_model_link(model, &err));
    return model;
}

static void note(void *context, enum by_log_level level, const char *text)
{
    (void)context;
    if (level == BY_LOG_WARNING)
        snprintf(warnings, sizeof warnings, "%s", text);
}

static const struct by_log watching = {note, NULL, BY_LOG_DEBUG};

/* Names of the excluded nodes, "a b"; a node without one by its output. */
static const char *excluded(struct baryon_model *model)
{
    static char text[256];
    struct by_origins *origins;
    size_t count;
    text[0] = warnings[0] = '\0';
    assert_ok(by_origins_open(&origins, model, &err));
    assert_ok(by_exclude_resolve(&recipe, model, origins, &watching, &err));
    const struct by_user_node *users = by_origins_user(origins, &count);
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(text);
        assert_true(users[i].excluded == (users[i].why != NULL));
        if (users[i].excluded)
            snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "",
                     users[i].name[0] ? users[i].name : users[i].output);
    }
    by_origins_close(origins);
    by_model_free(model);
    return text;
}

static void assert_refused(const char *wanted)
{
    struct baryon_model *model = net();
    struct by_origins *origins;
    assert_ok(by_origins_open(&origins, model, &err));
    assert_err(by_exclude_resolve(&recipe, model, origins, NULL, &err), BARYON_ERR_USAGE, wanted);
    by_origins_close(origins);
    by_model_free(model);
}

static struct by_pattern patterns[4];

static struct by_patterns list(const char *one, const char *two)
{
    patterns[0] = (struct by_pattern){one, "--exclude"};
    patterns[1] = (struct by_pattern){two, "--exclude"};
    return (struct by_patterns){patterns, two ? 2 : 1, 4};
}

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){.compat = false};
    return 0;
}

static void by_name_and_pattern(void **state)
{
    (void)state;
    assert_string_equal(excluded(net()), "");
    recipe.exclude = list("b", "re:^[ef]$");
    assert_string_equal(excluded(net()), "b e f");
    recipe.exclude = list("g?", NULL); /* one without a name goes by its output */
    assert_string_equal(excluded(net()), "g0");
}

static void by_operator(void **state)
{
    (void)state;
    recipe.exclude_op_types = list("Sin", "Cos");
    assert_string_equal(excluded(net()), "b c g0");
}

static void what_picks_nothing_is_refused(void **state)
{
    (void)state;
    recipe.exclude = list("b", "none*");
    assert_refused("--exclude: 'none*' matches no node of the model");
    recipe.exclude = (struct by_patterns){0};
    recipe.exclude_op_types = list("Sinn", NULL);
    assert_refused("--exclude: 'Sinn' matches no operator of the model; did you mean 'Sin'?");
}

static void only_some_nodes(void **state)
{
    (void)state;
    recipe.nodes = list("[bd]", "e");
    assert_string_equal(excluded(net()), "a c g0 f");
}

static struct by_span_rule span;

static void use_span(const char **starts, size_t start_count, const char **ends, size_t end_count)
{
    span = (struct by_span_rule){starts, ends, start_count, end_count, "--exclude-between"};
    recipe.exclude_spans.at = &span;
    recipe.exclude_spans.count = 1;
}

static void spans_are_all_ways_from_starts_to_ends(void **state)
{
    (void)state;
    use_span((const char *[]){"a"}, 1, (const char *[]){"e"}, 1);
    assert_string_equal(excluded(net()), "a b c d e");
    assert_string_equal(warnings, "");
    use_span((const char *[]){"b", "d"}, 2, (const char *[]){"e"}, 1);
    assert_string_equal(excluded(net()), "b c d e");
    assert_string_equal(warnings, "");
    use_span((const char *[]){"b"}, 1, (const char *[]){"b"}, 1);
    assert_string_equal(excluded(net()), "b");
}

static void spans_that_are_open_are_warned_of(void **state)
{
    (void)state;
    use_span((const char *[]){"b"}, 1, (const char *[]){"f"}, 1);
    assert_string_equal(excluded(net()), "b c e f");
    assert_string_equal(warnings,
                        "--exclude-between: the span that ends at 'f' can be reached from input "
                        "'x' without its starts; only nodes on a path from a start stay float");
}

static void spans_without_a_way_are_refused(void **state)
{
    (void)state;
    use_span((const char *[]){"e"}, 1, (const char *[]){"b"}, 1);
    assert_refused("--exclude-between: no path leads from 'e' to 'b'; a span is the nodes on all "
                   "paths from its starts to its ends");
    use_span((const char *[]){"nowhere"}, 1, (const char *[]){"b"}, 1);
    assert_refused("--exclude-between: 'nowhere' matches no node of the model");
}

static void before_and_behind(void **state)
{
    (void)state;
    recipe.input_nodes = list("c", "d0"); /* a node or what it gives */
    assert_string_equal(excluded(net()), "a b");
    recipe.input_nodes = (struct by_patterns){0};
    recipe.output_nodes = list("c", NULL);
    assert_string_equal(excluded(net()), "e f");
    recipe.output_nodes = list("a", "e"); /* what is between the two is neither */
    assert_string_equal(excluded(net()), "f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(by_name_and_pattern, prepare),
        cmocka_unit_test_setup(by_operator, prepare),
        cmocka_unit_test_setup(what_picks_nothing_is_refused, prepare),
        cmocka_unit_test_setup(only_some_nodes, prepare),
        cmocka_unit_test_setup(spans_are_all_ways_from_starts_to_ends, prepare),
        cmocka_unit_test_setup(spans_that_are_open_are_warned_of, prepare),
        cmocka_unit_test_setup(spans_without_a_way_are_refused, prepare),
        cmocka_unit_test_setup(before_and_behind, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
