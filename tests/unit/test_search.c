/* Which decisions are chosen, and how a search for a goal goes on. */
#include "decision_case.h"

#include "search/decision_internal.h"

/* --- Choosing --- */

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

/* Met by what leaves hardly anything quantized alone, and without the margin by a small gain. */
struct margin {
    double nearly_from, met_from; /* dB, cost */
    bool holds;
    size_t asked;
};

static int judge_with_margin(void *context, const struct by_decisions *of, const bool *on,
                             struct by_verified *verified, struct baryon_error *error)
{
    const struct margin *margin = context;
    if (by_decisions_judge(of, on, NULL, &verified->sqnr, error) < 0)
        return -1;
    verified->nearly = verified->sqnr >= margin->nearly_from;
    verified->meets = cost_of(on) >= margin->met_from;
    return 0;
}

static int confirm(void *context, const struct by_decisions *of, const bool *on, bool *holds,
                   struct baryon_error *error)
{
    struct margin *margin = context;
    (void)of, (void)on, (void)error;
    margin->asked++;
    *holds = margin->holds;
    return 0;
}

static void test_margin_is_spared_where_it_costs_all(void **state)
{
    (void)state;
    bool on[MOST] = {false}, met;
    struct margin margin = {0};
    open_decisions(1, &regions, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    margin.nearly_from = judged(on) + 1;
    const double most = 8 * cost_of(on);
    margin.met_from = 0.92 * most;
    struct by_search_options search = {.limits = {NAN, 1, INFINITY},
                                       .verify = judge_with_margin,
                                       .confirm = confirm,
                                       .context = &margin};
    memset(on, 0, sizeof on);
    assert_ok(by_decisions_search(&d, &search, on, &met, &err));
    assert_true(met && margin.asked > 0 && cost_of(on) >= margin.met_from);
    margin.holds = true;
    memset(on, 0, sizeof on);
    assert_ok(by_decisions_search(&d, &search, on, &met, &err));
    assert_false(met);
    assert_true(judged(on) >= margin.nearly_from && cost_of(on) < 0.9 * most);
    /* A goal that was raised above it is no margin to spare. */
    const double spared = by_decisions_verified(&d, on);
    assert_near(judged(on), spared, 1e-9);
    search.limits.sqnr = spared + 0.5;
    memset(on, 0, sizeof on);
    assert_ok(by_decisions_search(&d, &search, on, &met, &err));
    assert_true(by_decisions_verified(&d, on) >= spared + 0.5);
    close_decisions();
}

static size_t count_on(const struct by_decisions *of, const bool *on)
{
    size_t count = 0;
    for (size_t i = 0; i < of->decision_count; i++)
        count += on[i];
    return count;
}

static int say_whether(bool meets, struct by_verified *verified)
{
    verified_count++;
    *verified = (struct by_verified){.meets = meets, .sqnr = meets ? 50 : 5};
    return 0;
}

/* Where all that the sum of errors leads to misses the goal, sets with less noise of each source
 * are tried, from the widest on. */
static bool meets_when_wide; /* else nothing does */

static int judge_by_number(void *context, const struct by_decisions *of, const bool *on,
                           struct by_verified *verified, struct baryon_error *error)
{
    (void)context, (void)error;
    return say_whether(meets_when_wide && 2 * count_on(of, on) >= of->decision_count, verified);
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
        const size_t count = count_on(&d, on);
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

/* Met by sets of so many decisions at least, which has nothing to do with what is predicted. */
static size_t least_number;

static int judge_above_number(void *context, const struct by_decisions *of, const bool *on,
                              struct by_verified *verified, struct baryon_error *error)
{
    (void)context, (void)error;
    return say_whether(count_on(of, on) >= least_number, verified);
}

static double apart_cost(size_t least)
{
    bool on[MOST] = {false}, met;
    const struct by_search_options search = {
        .limits = {30, 1, INFINITY}, .verify = judge_above_number, .verifications = 1};
    open_decisions(1, &adds_up, &all_samples);
    assert_ok(by_decisions_measure(&d, &err));
    least_number = least;
    verified_count = 0;
    assert_ok(by_decisions_search(&d, &search, on, &met, &err));
    const double cost = cost_of(on) / cost_of((bool[MOST]){false});
    assert_true(met && verified_count <= 8);
    close_decisions();
    return cost;
}

/* The more decisions it takes, the dearer the set, in few candidates; one that costs nothing is
 * found where one is enough. */
static void test_apart_finds_the_least(void **state)
{
    (void)state;
    double before = 1;
    for (size_t i = 1; i < 9; i++) {
        const double cost = apart_cost(i);
        assert_true(cost >= before);
        before = cost;
    }
    assert_near(apart_cost(1), 1, 1e-3);
    assert_true(before < 2.5);
}

/* A goal that the worst output cannot reach is asked of the mean of all. */
static void test_mean_where_the_worst_leads_nowhere(void **state)
{
    (void)state;
    const double goals[] = {12, 140};
    two_outputs = true;
    for (size_t i = 0; i < 2; i++) {
        bool on[MOST] = {false}, met;
        const struct by_search_options search = {
            .limits = {goals[i], 1, INFINITY}, .verify = judge_above_number, .verifications = 3};
        const struct by_decide_options worst = {.samples = SAMPLES, .worst = true};
        open_decisions(1, &widens, &worst);
        assert_ok(by_decisions_measure(&d, &err));
        assert_int_equal(d.output_count, 2);
        least_number = MOST;
        assert_ok(by_decisions_search(&d, &search, on, &met, &err));
        assert_int_equal(d.work->options.worst, i == 0);
        close_decisions();
    }
    two_outputs = false;
}

/* Where little is to be gained, the best under the limits comes first: if it misses, it is all. */
static void test_brief_search_ends_early(void **state)
{
    (void)state;
    for (size_t least = 2; least <= MOST; least += MOST - 2) {
        bool on[MOST] = {false}, met;
        const struct by_search_options search = {.limits = {30, 1, INFINITY},
                                                 .verify = judge_above_number,
                                                 .narrows = true,
                                                 .brief = true};
        open_decisions(1, &widens, &all_samples);
        assert_ok(by_decisions_measure(&d, &err));
        const double begin = predicted(on);
        least_number = least;
        verified_count = 0;
        assert_ok(by_decisions_search(&d, &search, on, &met, &err));
        assert_int_equal(met, least == 2);
        if (met) {
            assert_true(verified_count > 2 && cost_of(on) < 1.5 * cost_of((bool[MOST]){false}));
        } else { /* as it is, and the best, which says nothing to the model */
            assert_int_equal(verified_count, 2);
            assert_near(10 * log10(d.scale[0]), begin - 5, 1e-9);
        }
        close_decisions();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_cost_is_chosen),
        cmocka_unit_test(test_margins_of_choices),
        cmocka_unit_test(test_search_reaches_the_goal),
        cmocka_unit_test(test_goals_of_the_caller),
        cmocka_unit_test(test_margin_is_spared_where_it_costs_all),
        cmocka_unit_test(test_search_goes_down_from_the_widest),
        cmocka_unit_test(test_apart_finds_the_least),
        cmocka_unit_test(test_mean_where_the_worst_leads_nowhere),
        cmocka_unit_test(test_brief_search_ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
