/* Decisions of a search: what is measured, what is chosen, and what rules make of it. */
#include "made_source.h"

#include "ir/infer.h"
#include "search/decision.h"
#include "sensitivity/sensitivity.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quantize_options options;
static struct by_quantization q;
static struct by_judge *judge;
static struct by_decisions d;

/* --- The model: of its layers one has a wide range, and another wide weights --- */

static void put_layer(struct baryon_model *model, const char *name, const char *weight,
                      const char *shape, const char *input, const char *output, float peak)
{
    float values[PUT_MOST];
    const size_t count = count_of(model, shape);
    for (size_t i = 0; i < count; i++)
        values[i] = draw(7) / 4;
    values[0] = peak;
    put_values(model, weight, shape, values);
    put_node(model->graph, name, "Conv", input, output);
}

static int64_t opset = 13;
static enum by_float_form floats = BY_FLOATS_QUARK;
static bool has_scale; /* a constant that no layer multiplies with, of one great value */

static struct baryon_model *made_model(void)
{
    struct baryon_model *model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_layer(model, "one", "w1", "6,3,3,3", "x,w1", "a", 0.2F);
    if (has_scale) {
        const float scale[] = {0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 40};
        put_values(model, "s", "6,1,1", scale);
        put_node(model->graph, "scale", "Mul", "a,s", "m");
    }
    put_node(model->graph, "act", "Tanh", has_scale ? "m" : "a", "b");
    put_layer(model, "two", "w2", "6,6,3,3", "b,w2", "c", 12);
    put_layer(model, "three", "w3", "6,6,1,1", "c,w3", "e", 0.1F);
    put_layer(model, "four", "w4", "2,6,3,3", "e,w4", "y", 0.3F);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "", opset, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

/* --- Up to the decisions --- */

static void set_options(unsigned threads)
{
    begin_source();
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_INT8, .symmetric = true},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
        .domain = BY_Q_MICROSOFT,
        .floats = floats,
        .smooth = BY_SMOOTH_OFF,
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    by_calib_defaults(recipe.activation.method, &recipe.activation.calib);
    recipe.activation.calib.headroom = 1.5;
    recipe.weight.calib = recipe.bias.calib = recipe.activation.calib;
    options = (struct by_quantize_options){
        .recipe = &recipe, .calibrate = {.samples = &samples, .session = {.threads = threads}}};
}

static const struct by_alternative alternatives[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"},
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
};
static const struct by_mac_cost macs[] = {{"*int16", "*", 2, true},
                                          {"*", "int16", 2, true},
                                          {"int8", "int8", 1, false},
                                          {"*", "*", 8, true}};
static const struct by_target_ladder widens = {alternatives, 2, macs, 4, 0};
/* Where the other one is wide already it still costs. */
static const struct by_mac_cost steps[] = {{"int16", "int16", 3, true},
                                           {"int16", "*", 2, true},
                                           {"*", "int16", 2, true},
                                           {"*", "*", 1, false}};
static const struct by_target_ladder adds_up = {alternatives, 2, steps, 4, 0};
static const struct by_target_ladder excludes = {alternatives, 3, macs, 4, 0};

static const struct by_alternative loose[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "float tensor", .kind = BY_DECIDE_TENSOR, .activation = "float"},
    {.name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"},
};
static const struct by_target_ladder loosens = {loose, 3, macs, 4, 0};

static const struct by_alternative around[] = {
    {.name = "float layer", .kind = BY_DECIDE_FLOAT},
    {.name = "around", .kind = BY_DECIDE_TENSOR, .activation = "float", .around = true},
};
static const struct by_target_ladder regions = {around, 2, macs, 4, 0};

static const struct by_alternative of_layers[] = {
    {.name = "int16 activation", .kind = BY_DECIDE_TENSOR, .activation = "int16"},
    {.name = "bf16 layer", .kind = BY_DECIDE_LAYER, .activation = "bf16", .weight = "bf16"},
};
static const struct by_mac_cost costs_of_layers[] = {
    {"bf16", "*", 4, true}, {"*", "bf16", 4, true}, {"*int16", "*", 2, true}, {"*", "*", 1, false}};
static const struct by_target_ladder blocks = {of_layers, 2, costs_of_layers, 4, 0};

static void open_decisions(unsigned threads, const struct by_target_ladder *ladder,
                           const struct by_decide_options *decide)
{
    struct baryon_model *model = made_model();
    set_options(threads);
    assert_ok(by_sensitivity_begin(&judge, model, &options, &err));
    source.next = 0;
    assert_ok(by_quantization_open(&q, model, &options, &err));
    assert_ok(by_decisions_open(&d, &q, judge, ladder, decide, &err));
}

static void close_decisions(void)
{
    struct baryon_model *model = q.model;
    by_decisions_close(&d);
    by_judge_close(judge);
    by_quantization_close(&q);
    by_model_free(model);
}

static double judged(const bool *on)
{
    double sqnr;
    assert_ok(by_decisions_judge(&d, on, NULL, &sqnr, &err));
    return sqnr;
}

static size_t find(const char *alternative, const char *name)
{
    for (size_t i = 0; i < d.decision_count; i++)
        if (!strcmp(d.decisions[i].name, name) &&
            !strcmp(d.decisions[i].alternative->name, alternative))
            return i;
    fail_msg("no decision '%s' about '%s'", alternative, name);
    return 0;
}

#define MOST 32

static void assert_near(double value, double wanted, double within)
{
    if (!(fabs(value - wanted) <= within))
        fail_msg("%.9g is not within %g of %.9g", value, within, wanted);
}

/* --- Measuring --- */

static const struct by_decide_options all_samples = {.samples = SAMPLES};

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

static double alone_noise(size_t place)
{
    double noise = 0;
    for (size_t k = 0; k < d.output_count; k++)
        noise += d.sources[place].alone[k] / d.signal[k];
    return noise / (double)d.output_count;
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
static void test_parts_measure_the_same(void **state)
{
    (void)state;
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

/* --- Choosing --- */

static double cost_of(const bool *on)
{
    struct by_prediction prediction;
    by_decisions_predict(&d, on, &prediction);
    return prediction.cost;
}

static double predicted(const bool *on)
{
    struct by_prediction prediction;
    by_decisions_predict(&d, on, &prediction);
    return prediction.sqnr;
}

#define SETS 1024

/* Of all sets, one after the other. */
static void predict_sets(struct by_prediction *sets)
{
    assert_int_equal((size_t)1 << d.decision_count, SETS);
    for (size_t mask = 0; mask < SETS; mask++) {
        bool on[MOST] = {false};
        for (size_t i = 0; i < d.decision_count; i++)
            on[i] = mask >> i & 1;
        by_decisions_predict(&d, on, &sets[mask]);
    }
}

static double least_cost(const struct by_prediction *sets, double sqnr)
{
    double least = INFINITY;
    for (size_t i = 0; i < SETS; i++)
        if (sets[i].sqnr >= sqnr)
            least = fmin(least, sets[i].cost);
    return least;
}

static void test_least_cost_is_chosen(void **state)
{
    (void)state;
    static struct by_prediction sets[SETS];
    const struct by_decide_options few = {.samples = 2};
    bool reached;
    open_decisions(1, &widens, &few);
    assert_ok(by_decisions_measure(&d, &err));
    predict_sets(sets);
    for (double more = 1; more < 9; more += 3) {
        bool on[MOST] = {false};
        const struct by_choice_goal goal = {sets[0].sqnr + more, 1, INFINITY};
        assert_ok(by_decisions_choose(&d, &goal, on, &reached, &err));
        assert_true(reached && predicted(on) >= goal.sqnr - 1e-6);
        assert_near(cost_of(on), least_cost(sets, goal.sqnr), 1e-3 * sets[0].cost);
    }
    close_decisions();
}

/* What there is already needs nothing; a goal beyond all is not reached; limits hold. */
static void test_margins_of_choices(void **state)
{
    (void)state;
    bool on[MOST] = {false}, reached;
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    const double plan = predicted(on);
    struct by_choice_goal goal = {plan, 1, INFINITY};
    assert_ok(by_decisions_choose(&d, &goal, on, &reached, &err));
    assert_true(reached && predicted(on) == plan);
    goal.sqnr = plan + 0.01;
    assert_ok(by_decisions_choose(&d, &goal, on, &reached, &err));
    assert_true(reached && predicted(on) >= plan + 0.01 - 1e-6);
    goal.sqnr = 140;
    assert_ok(by_decisions_choose(&d, &goal, on, &reached, &err));
    assert_false(reached);
    goal = (struct by_choice_goal){INFINITY, 0, INFINITY};
    assert_ok(by_decisions_choose(&d, &goal, on, &reached, &err));
    struct by_prediction prediction;
    by_decisions_predict(&d, on, &prediction);
    assert_true(reached && prediction.wide_share == 0);
    goal = (struct by_choice_goal){INFINITY, 0.5, INFINITY};
    assert_ok(by_decisions_choose(&d, &goal, on, &reached, &err));
    by_decisions_predict(&d, on, &prediction);
    assert_true(reached && prediction.wide_share <= 0.5 && prediction.sqnr > plan + 1);
    close_decisions();
}

/* --- Searching --- */

struct seen {
    size_t steps;
    bool refuses;
};

static int note_step(void *context, const struct by_decisions *of, const bool *on,
                     const struct by_search_step *step, struct baryon_error *error)
{
    (void)of, (void)on, (void)step, (void)error;
    ((struct seen *)context)->steps++;
    return 0;
}

static void test_search_reaches_the_goal(void **state)
{
    (void)state;
    bool on[MOST] = {false}, met;
    struct seen seen = {0};
    open_decisions(1, &excludes, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    const double wanted = judged(on) + 6;
    const struct by_search_options search = {
        .limits = {wanted, 1, INFINITY}, .narrows = true, .step = note_step, .context = &seen};
    assert_ok(by_decisions_search(&d, &search, on, &met, &err));
    assert_true(met && judged(on) >= wanted);
    assert_true(seen.steps >= 2 && seen.steps <= 12);
    bool all[MOST];
    for (size_t i = 0; i < d.decision_count; i++)
        all[i] = d.decisions[i].alternative->kind == BY_DECIDE_FLOAT;
    assert_true(cost_of(on) < cost_of(all) / 2);
    close_decisions();
}

/* A measure of the caller's that knows no dB: met from 6 dB more on; some candidates are refused.
 */
static double met_from;
static bool verified_sets[64][MOST]; /* none is quantized twice */
static size_t verified_count;

static int judge_otherwise(void *context, const struct by_decisions *of, const bool *on,
                           struct by_verified *verified, struct baryon_error *error)
{
    const struct seen *seen = context;
    for (size_t i = 0; i < verified_count; i++)
        assert_int_not_equal(memcmp(verified_sets[i], on, of->decision_count), 0);
    assert_true(verified_count < 64);
    memcpy(verified_sets[verified_count++], on, of->decision_count);
    if (by_decisions_judge(of, on, NULL, &verified->sqnr, error) < 0)
        return -1;
    verified->meets = verified->sqnr >= met_from;
    if (seen->refuses && on[find("int16 weight", "two")])
        *verified = (struct by_verified){.sqnr = -INFINITY};
    return 0;
}

static void test_goals_of_the_caller(void **state)
{
    (void)state;
    bool on[MOST] = {false}, met;
    struct seen seen = {0};
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    met_from = judged(on) + 6;
    const struct by_search_options search = {
        .limits = {NAN, 1, INFINITY}, .verify = judge_otherwise, .context = &seen};
    assert_ok(by_decisions_search(&d, &search, on, &met, &err));
    assert_true(met && judged(on) >= met_from);
    assert_ok(by_decisions_search(&d, &search, on, &met, &err)); /* knows it all */
    close_decisions();
    open_decisions(1, &widens, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    verified_count = 0;
    seen.refuses = true;
    memset(on, 0, sizeof on);
    assert_ok(by_decisions_search(&d, &search, on, &met, &err));
    assert_false(met && on[find("int16 weight", "two")]);
    close_decisions();
}

/* Where all that the sum of errors leads to misses the goal, sets with less noise of each source
 * are tried, from the widest on. */
static bool meets_when_wide; /* else nothing does */

static int judge_by_number(void *context, const struct by_decisions *of, const bool *on,
                           struct by_verified *verified, struct baryon_error *error)
{
    size_t count = 0;
    (void)context, (void)error;
    for (size_t i = 0; i < of->decision_count; i++)
        count += on[i];
    verified_count++;
    *verified = (struct by_verified){.meets = meets_when_wide && 2 * count >= of->decision_count};
    verified->sqnr = verified->meets ? 50 : 5;
    return 0;
}

static void test_search_goes_down_from_the_widest(void **state)
{
    (void)state;
    bool on[MOST] = {false}, met;
    const struct by_search_options search = {
        .limits = {30, 1, INFINITY}, .verify = judge_by_number, .verifications = 1};
    for (int wide = 0; wide < 2; wide++) {
        open_decisions(1, &adds_up, &all_samples);
        assert_ok(by_decisions_measure(&d, &err));
        const double scale = d.scale[0];
        meets_when_wide = wide;
        verified_count = 0;
        memset(on, 0, sizeof on);
        assert_ok(by_decisions_search(&d, &search, on, &met, &err));
        size_t count = 0;
        for (size_t i = 0; i < d.decision_count; i++)
            count += on[i];
        assert_int_equal(met, wide);
        if (wide) { /* half of them, by steps */
            assert_true(2 * count >= d.decision_count && count < d.decision_count);
            assert_true(verified_count > 2 && verified_count <= 10);
        } else {
            assert_int_equal(verified_count, 3); /* and one after sources ran in place */
            assert_true(d.scale[0] > scale);
        }
        close_decisions();
    }
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
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_parts_measure_the_same),
        cmocka_unit_test(test_few_runs),
        cmocka_unit_test(test_order_is_that_of_single_runs),
        cmocka_unit_test(test_small_models_have_more_runs),
        cmocka_unit_test(test_hopeless_models_are_not_measured),
        cmocka_unit_test(test_can_be_stopped),
        cmocka_unit_test(test_least_cost_is_chosen),
        cmocka_unit_test(test_margins_of_choices),
        cmocka_unit_test(test_search_reaches_the_goal),
        cmocka_unit_test(test_goals_of_the_caller),
        cmocka_unit_test(test_search_goes_down_from_the_widest),
        cmocka_unit_test(test_tensors_can_be_float),
        cmocka_unit_test(test_regions_stay_float),
        cmocka_unit_test(test_constants_are_decided),
        cmocka_unit_test(test_rules_are_those_of_a_config),
        cmocka_unit_test(test_layers_have_another_type),
        cmocka_unit_test(test_types_that_the_model_cannot_have),
        cmocka_unit_test(test_rules_give_the_candidate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
