/* Decisions of a search: what is measured, and what rules make of it. */
#include "decision_case.h"

/* --- Measuring --- */

static void test_lists_tensors_and_weights(void **state)
{
    (void)state;
    open_decisions(1, &excludes, NULL);
    assert_int_equal(d.source_count, 6 + 4); /* x, a, b, c, e, y, and four weights */
    assert_int_equal(d.decision_count, 6 + 4 + 4);
    const struct by_decision *two = &d.decisions[find("float layer", "two")];
    assert_near(two->extra_cost, 7 * two->macs, 1e-6 * two->macs * 8);
    assert_true(d.decisions[find("int16 activation", "b")].extra_cost > 0);
    assert_int_equal(d.decisions[find("int16 weight", "two")].extra_bytes, 6 * 6 * 9);
    close_decisions();
}

/* One session with switches says what a candidate for each decision does, but for what all others
 * are rounded to when one changes. */
static void test_gains_are_those_of_candidates(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    const double plan = judged(on);
    struct by_prediction prediction;
    by_decisions_predict(&d, on, &prediction);
    assert_near(prediction.sqnr, plan, 0.05);
    for (size_t i = 0; i < d.decision_count; i++) {
        on[i] = true;
        assert_near(d.decisions[i].gain, judged(on) - plan, 0.8);
        on[i] = false;
    }
    assert_true(d.decisions[find("int16 activation", "y")].gain > 3);
    assert_true(d.decisions[find("int16 weight", "two")].gain > 1);
    close_decisions();
}

/* Weights of MatMul and Gemm are constants, and what rounding changes is added to their products.
 */
static void test_products_are_changed(void **state)
{
    (void)state;
    for (product = MATMUL; product <= GEMM; product++) {
        bool on[MOST] = {false};
        open_decisions(1, &widens, &all_samples);
        assert_ok(by_decisions_measure(&d, &err));
        const double plan = judged(on);
        assert_near(predicted(on), plan, 0.05);
        on[find("int16 weight", "dense")] = true;
        const double gain = judged(on) - plan;
        assert_true(gain > 0.1);
        assert_near(d.decisions[find("int16 weight", "dense")].gain, gain, 0.1);
        close_decisions();
    }
    product = NO_PRODUCT;
}

/* Noise is that of all sources, and sets of them are predicted. */
static void test_sets_are_predicted(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    double share = 0;
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    for (size_t i = 0; i < d.source_count; i++)
        share += d.sources[i].share;
    assert_near(share, 1, 0.1);
    for (uint64_t set = 0; set < 12; set++) {
        struct by_prediction prediction;
        for (size_t i = 0; i < d.decision_count; i++)
            on[i] = by_rng_unit(5, set, i) < 0.5;
        by_decisions_predict(&d, on, &prediction);
        assert_near(prediction.sqnr, judged(on), 1.5);
    }
    close_decisions();
}

/* What the worst ones do among the others is known after they were measured there. */
static void test_worst_are_measured_in_place(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    double before = 0, after = 0;
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    on[find("int16 activation", "y")] = true;
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = 0; i < d.decision_count; i++) {
            if (on[i])
                continue;
            on[i] = true;
            const double gap = fabs(predicted(on) - judged(on));
            double *most = round ? &after : &before;
            *most = fmax(*most, gap);
            on[i] = false;
        }
        if (!round)
            assert_ok(by_decisions_measure_around(&d, on, &err));
    }
    assert_true(after < 0.6 * before);
    close_decisions();
}

static double alone_noise(size_t place)
{
    double noise = 0;
    for (size_t k = 0; k < d.output_count; k++)
        noise += d.sources[place].alone[k] / d.signal[k];
    return noise / (double)d.output_count;
}

/* Of an output that joins results of different kinds each part has errors of its own. */
static void test_parts_of_outputs(void **state)
{
    (void)state;
    const bool none[MOST] = {false};
    joins = true;
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    assert_int_equal(d.output_count, 2);
    double noise[2] = {0};
    for (size_t i = 0; i < d.source_count; i++)
        for (size_t k = 0; k < 2; k++)
            noise[k] += d.sources[i].alone[k];
    assert_true(noise[0] > 0 && noise[1] > 0 && noise[1] < noise[0] / 100);
    assert_near(predicted(none), judged(none), 1);
    close_decisions();
    joins = false;
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    double gains[MOST];
    open_decisions(1, &widens, NULL);
    assert_ok(by_decisions_measure(&d, &err));
    for (size_t i = 0; i < d.decision_count; i++)
        gains[i] = d.decisions[i].gain;
    close_decisions();
    open_decisions(3, &widens, NULL);
    assert_ok(by_decisions_measure(&d, &err));
    for (size_t i = 0; i < d.decision_count; i++)
        assert_true(gains[i] == d.decisions[i].gain);
    close_decisions();
}

/* Sessions with a part of the sources measure what one with all of them does. */
static void parts_measure_the_same(void)
{
    double gains[MOST];
    const struct by_decide_options parts = {.samples = SAMPLES, .parts = 3};
    open_decisions(1, &excludes, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    for (size_t i = 0; i < d.decision_count; i++)
        gains[i] = d.decisions[i].gain;
    close_decisions();
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        open_decisions(threads, &excludes, &parts);
        assert_ok(by_decisions_measure(&d, &err));
        for (size_t i = 0; i < d.decision_count; i++)
            assert_near(d.decisions[i].gain, gains[i], 1e-4);
        close_decisions();
    }
}

static void test_parts_measure_the_same(void **state)
{
    (void)state;
    parts_measure_the_same();
    has_branch = true;
    parts_measure_the_same();
    has_branch = false;
    two_outputs = true; /* later sources leave the first one as it is */
    parts_measure_the_same();
    two_outputs = false;
}

/* With fewer runs than sources the worst ones are found all the same. */
static void test_few_runs(void **state)
{
    (void)state;
    const struct by_decide_options few = {.samples = 2, .runs = 14};
    open_decisions(1, &widens, &few);
    assert_ok(by_decisions_measure(&d, &err));
    const size_t one = find("int16 weight", "two"), other = find("int16 activation", "y");
    const double worst = fmax(d.decisions[one].gain, d.decisions[other].gain);
    for (size_t i = 0; i < d.decision_count; i++)
        assert_true(i == one || i == other || d.decisions[i].gain < worst);
    close_decisions();
}

static bool stop_after(void *context, const char *what, size_t done, size_t all)
{
    (void)what, (void)all;
    return done < *(const size_t *)context;
}

/* Where one reader of a tensor has a second pair, both pairs are the source's. */
static void test_second_pairs_are_switched(void **state)
{
    (void)state;
    const bool none[MOST] = {false};
    has_second = true;
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    size_t second = 0;
    for (size_t i = 0; i < q.plan->rows.count; i++)
        second += q.plan->rows.at[i].converts != BY_NO_ROW;
    assert_int_equal(second, 1);
    assert_near(predicted(none), judged(none), 0.05);
    has_second = false;
    close_decisions();
}

/* The range of a Softmax is known, so calibration has no statistics of it; in a group with others
 * it has its share of their noise all the same. */
static void test_known_ranges_have_noise(void **state)
{
    (void)state;
    const struct by_decide_options few = {.samples = 2, .runs = 2};
    has_softmax = true;
    open_decisions(1, &widens, &few);
    assert_ok(by_decisions_measure(&d, &err));
    const size_t shares = find("int16 activation", "m");
    assert_true(alone_noise(d.decisions[shares].place) > 0);
    assert_true(d.decisions[shares].gain > 0);
    has_softmax = false;
    close_decisions();
}

/* What sources do alone on two samples is in the order of what they do on others. */
static void test_order_is_that_of_single_runs(void **state)
{
    (void)state;
    struct by_alone_source alone[MOST];
    struct by_checked checked;
    const struct by_decide_options two = {.samples = 2};
    open_decisions(1, &widens, &two);
    assert_ok(by_decisions_measure(&d, &err));
    assert_ok(by_decisions_check(&d, MOST, SAMPLES, alone, &checked, &err));
    assert_int_equal(checked.sources, d.source_count);
    assert_int_equal(checked.samples, by_judge_count(judge) - 2);
    assert_true(checked.noise > 0.75 && checked.share > 0.75);
    for (size_t i = 1; i < checked.sources; i++)
        assert_true(alone[i - 1].measured.share >= alone[i].measured.share);
    double shares = 0;
    for (size_t i = 0; i < checked.sources; i++) {
        const double half = (alone[i].half[0].share + alone[i].half[1].share) / 2;
        assert_near(alone[i].run.share, half, 1e-9);
        assert_near(alone[i].measured.noise, alone_noise(alone[i].source), 1e-9);
        shares += alone[i].run.share;
    }
    assert_near(shares, 1, 1e-9);
    assert_ok(by_decisions_check(&d, 3, 1, alone, &checked, &err));
    assert_true(checked.sources == 3 && checked.samples == 1);
    close_decisions();
    open_decisions(1, &widens, &all_samples); /* no other sample is left */
    assert_ok(by_decisions_measure(&d, &err));
    assert_ok(by_decisions_check(&d, MOST, SAMPLES, alone, &checked, &err));
    assert_true(!checked.sources && isnan(checked.share));
    close_decisions();
}

/* Where that takes few multiply-adds all sources are alone. */
static void test_small_models_have_more_runs(void **state)
{
    (void)state;
    const struct by_decide_options few = {.runs = 20}, more = {.runs = 20, .work = 1e9};
    open_decisions(1, &widens, &few);
    assert_ok(by_decisions_measure(&d, &err));
    const size_t runs = d.runs;
    close_decisions();
    open_decisions(1, &widens, &more);
    assert_ok(by_decisions_measure(&d, &err));
    assert_true(d.runs >= runs + 4 * d.source_count - 20);
    close_decisions();
}

/* A goal above what passes leave is none that sources are measured for. */
static void test_hopeless_models_are_not_measured(void **state)
{
    (void)state;
    const struct by_decide_options hopeless = {.worst = true, .least = INFINITY},
                                   hopeful = {.worst = true, .least = 1};
    open_decisions(1, &widens, &hopeless);
    assert_ok(by_decisions_measure(&d, &err));
    const size_t runs = d.runs;
    assert_true(by_decisions_ceiling(&d) < INFINITY);
    close_decisions();
    open_decisions(1, &widens, &hopeful);
    assert_ok(by_decisions_measure(&d, &err));
    assert_true(by_decisions_ceiling(&d) >= 1 && d.runs > 4 * runs);
    close_decisions();
}

static void test_can_be_stopped(void **state)
{
    (void)state;
    size_t most = 4;
    const struct by_decide_options stops = {.samples = 2, .progress = stop_after, .context = &most};
    open_decisions(1, &widens, &stops);
    assert_err(by_decisions_measure(&d, &err), BARYON_ERR_CANCELLED,
               "stopped while decisions were measured");
    close_decisions();
}

/* --- Rules --- */

/* A pair that is left out adds no noise, and the layer after it costs what a float one does. */
static void test_tensors_can_be_float(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    struct by_str yaml;
    struct by_prediction narrow, wide, loose_one;
    by_str_init(&yaml);
    open_decisions(1, &loosens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    by_decisions_predict(&d, on, &narrow);
    on[find("int16 activation", "b")] = true;
    by_decisions_predict(&d, on, &wide);
    const double wide_sqnr = judged(on);
    on[find("int16 activation", "b")] = false;
    on[find("float tensor", "b")] = true;
    by_decisions_predict(&d, on, &loose_one);
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "tensors:\n  \"b\": float\n");
    assert_near(judged(on), wide_sqnr, 0.05); /* 16 bits lose nothing either */
    assert_true(loose_one.sqnr >= wide.sqnr && wide.sqnr > narrow.sqnr);
    assert_near(loose_one.cost - narrow.cost, 7 * (wide.cost - narrow.cost), 1e-3 * wide.cost);
    assert_true(wide.cost > narrow.cost);
    by_str_release(&yaml);
    close_decisions();
}

/* What gives and reads a tensor stays float with it, and layers between two such tensors cost so
 * once. */
static void test_regions_stay_float(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    struct by_str yaml;
    struct by_prediction narrow, one, both;
    by_str_init(&yaml);
    open_decisions(1, &regions, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    by_decisions_predict(&d, on, &narrow);
    on[find("around", "c")] = true;
    by_decisions_predict(&d, on, &one);
    assert_near(judged(on), one.sqnr, 1.1);
    assert_true(one.sqnr > narrow.sqnr);
    assert_near(one.cost - narrow.cost, 7 * (324 + 36) * 16, 1);
    on[find("around", "b")] = on[find("float layer", "two")] = true;
    by_decisions_predict(&d, on, &both);
    assert_near(judged(on), both.sqnr, 1.1);
    assert_near(both.cost, one.cost, 1);
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "nodes:\n"
                                            "  \"act\": float\n"
                                            "  \"two\": float\n"
                                            "  \"three\": float\n");
    by_str_release(&yaml);
    close_decisions();
}

/* Constants of nodes that are no layers have decisions, too. */
static void test_constants_are_decided(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    struct by_str yaml;
    by_str_init(&yaml);
    has_scale = true;
    open_decisions(1, &loosens, &all_samples);
    has_scale = false;
    assert_ok(by_decisions_measure(&d, &err));
    const double plan = judged(on);
    on[find("int16 activation", "s")] = true;
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "tensors:\n  \"s\": {type: int16}\n");
    assert_true(judged(on) != plan);
    for (size_t i = 0; i < d.decision_count; i++) /* weights of layers are theirs */
        assert_true(strcmp(d.decisions[i].name, "w2") != 0);
    by_str_release(&yaml);
    close_decisions();
}

/* What a table gives is rounded as the table is: both stay float with who reads it. */
static void test_tables_stay_float(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    struct by_str yaml;
    by_str_init(&yaml);
    has_table = true;
    open_decisions(1, &regions, &all_samples);
    has_table = false;
    assert_ok(by_decisions_measure(&d, &err));
    const double plan = judged(on);
    on[find("around", "lookup")] = true;
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "nodes:\n"
                                            "  \"lookup\": float\n"
                                            "  \"add\": float\n");
    assert_true(judged(on) > plan + 1);
    by_str_release(&yaml);
    close_decisions();
}

static double candidate_sqnr(const bool *on, enum by_decide_kept kept)
{
    struct baryon_model *model;
    double sqnr;
    struct by_judgement *each = calloc(by_judge_count(judge) + 1, sizeof *each);
    assert_ok(by_decisions_candidate(&d, on, kept, &model, &err));
    assert_ok(by_judge_model(judge, model, q.pool, each, &err));
    sqnr = by_judge_sqnr(each, by_judge_count(judge));
    by_model_free(model);
    free(each);
    return sqnr;
}

/* Solved integers make up for what is rounded before them: behind a change they are rounded anew,
 * and the better of both candidates counts. */
static void test_solved_integers_stay_before_changes(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    solves = true;
    open_decisions(1, &excludes, &all_samples);
    solves = false;
    assert_ok(by_decisions_measure(&d, &err));
    assert_int_equal(by_decisions_ways(&d, on), 1);
    on[find("float layer", "four")] = true; /* nothing is behind the last one */
    assert_int_equal(by_decisions_ways(&d, on), BY_KEPT);
    assert_true(candidate_sqnr(on, BY_KEEPS_ALL) == candidate_sqnr(on, BY_KEEPS_BEFORE));
    on[find("float layer", "four")] = false;
    on[find("float layer", "one")] = true;
    const double all = candidate_sqnr(on, BY_KEEPS_ALL);
    const double before = candidate_sqnr(on, BY_KEEPS_BEFORE);
    assert_true(all != before);
    assert_true(judged(on) == fmax(all, before));
    close_decisions();
}

static void test_rules_are_those_of_a_config(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    struct by_str yaml;
    by_str_init(&yaml);
    open_decisions(1, &excludes, NULL);
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "");
    on[find("int16 weight", "two")] = on[find("int16 activation", "b")] = true;
    on[find("float layer", "four")] = true;
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "nodes:\n"
                                            "  \"two\": {weight: int16}\n"
                                            "  \"four\": float\n"
                                            "tensors:\n"
                                            "  \"b\": {type: int16}\n");
    by_str_release(&yaml);
    close_decisions();
}

/* A quantization with the rules is the candidate. */
/* What a layer reads alone goes with its weight, unless a decision about the tensor says otherwise;
 * what others read as well stays. */
static void test_layers_have_another_type(void **state)
{
    bool on[MOST] = {false};
    struct by_prediction alone, both, tensor;
    struct by_str yaml;
    (void)state;
    by_str_init(&yaml);
    floats = BY_FLOATS_CAST;
    open_decisions(1, &blocks, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    const struct by_decision *two = &d.decisions[find("bf16 layer", "two")];
    assert_int_equal(two->count, 2); /* b and w2 */
    assert_near(two->extra_cost, 3 * two->macs, 1e-6 * two->macs * 8);
    assert_true(two->gain > 1);
    by_decisions_predict(&d, on, &alone);
    on[find("bf16 layer", "two")] = true;
    by_decisions_predict(&d, on, &both);
    assert_near(judged(on), both.sqnr, 1.5);
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "nodes:\n  \"two\": {weight: bf16}\n"
                                            "tensors:\n  \"b\": {type: bf16}\n");
    on[find("int16 activation", "b")] = true;
    by_decisions_predict(&d, on, &tensor);
    by_str_clear(&yaml);
    assert_ok(by_decisions_write(&d, on, &yaml, &err));
    assert_string_equal(by_str_text(&yaml), "nodes:\n  \"two\": {weight: bf16}\n"
                                            "tensors:\n  \"b\": {type: int16}\n");
    assert_true(alone.sqnr < both.sqnr && both.sqnr <= tensor.sqnr);
    assert_near(judged(on), tensor.sqnr, 1.5);
    by_str_release(&yaml);
    close_decisions();
    floats = BY_FLOATS_QUARK;
}

/* Casts to bf16 are those of opset 13. */
static void test_types_that_the_model_cannot_have(void **state)
{
    (void)state;
    opset = 12;
    open_decisions(1, &blocks, &all_samples);
    assert_int_equal(d.decision_count, 6 + 4);
    close_decisions();
    floats = BY_FLOATS_CAST;
    open_decisions(1, &blocks, &all_samples);
    assert_int_equal(d.decision_count, 6);
    close_decisions();
    opset = 13;
    open_decisions(1, &blocks, &all_samples);
    assert_int_equal(d.decision_count, 6 + 4);
    close_decisions();
    floats = BY_FLOATS_QUARK;
}

static void test_rules_give_the_candidate(void **state)
{
    (void)state;
    bool on[MOST] = {false};
    struct by_arena arena;
    struct by_rule_list rules = {0};
    by_arena_init(&arena, 0);
    open_decisions(1, &excludes, NULL);
    on[find("int16 weight", "two")] = on[find("int16 activation", "c")] = true;
    on[find("float layer", "four")] = true;
    const double wanted = judged(on);
    assert_ok(by_decisions_rules(&d, on, &arena, &rules, &err));
    assert_int_equal(rules.count, 3);
    close_decisions();

    struct baryon_model *model = made_model();
    struct by_judgement each[SAMPLES];
    set_options(1);
    recipe.rules.at = rules.at;
    recipe.rules.count = rules.count;
    assert_ok(by_sensitivity_begin(&judge, model, &options, &err));
    source.next = 0;
    assert_ok(by_quantization_open(&q, model, &options, &err));
    assert_ok(by_quantization_lower(&q, &err));
    assert_ok(by_judge_model(judge, model, NULL, each, &err));
    assert_near(by_judge_sqnr(each, by_judge_count(judge)), wanted, 1e-9);
    by_judge_close(judge);
    by_quantization_close(&q);
    by_model_free(model);
    by_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_tensors_and_weights),
        cmocka_unit_test(test_gains_are_those_of_candidates),
        cmocka_unit_test(test_sets_are_predicted),
        cmocka_unit_test(test_products_are_changed),
        cmocka_unit_test(test_worst_are_measured_in_place),
        cmocka_unit_test(test_parts_of_outputs),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_parts_measure_the_same),
        cmocka_unit_test(test_few_runs),
        cmocka_unit_test(test_second_pairs_are_switched),
        cmocka_unit_test(test_known_ranges_have_noise),
        cmocka_unit_test(test_order_is_that_of_single_runs),
        cmocka_unit_test(test_small_models_have_more_runs),
        cmocka_unit_test(test_hopeless_models_are_not_measured),
        cmocka_unit_test(test_can_be_stopped),
        cmocka_unit_test(test_tensors_can_be_float),
        cmocka_unit_test(test_regions_stay_float),
        cmocka_unit_test(test_tables_stay_float),
        cmocka_unit_test(test_solved_integers_stay_before_changes),
        cmocka_unit_test(test_constants_are_decided),
        cmocka_unit_test(test_rules_are_those_of_a_config),
        cmocka_unit_test(test_layers_have_another_type),
        cmocka_unit_test(test_types_that_the_model_cannot_have),
        cmocka_unit_test(test_rules_give_the_candidate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
