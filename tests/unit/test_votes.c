/* Votes of single samples beside the definition, value by value; and how they add. */
#include "calib/methods.h"
#include "calib/votes.h"
#include "ir/tensor.h"
#include "quant/recipe.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/unit/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define VALUES       3000

static const struct by_calib_target int8 = {
    .qmin = -127, .qmax = 127, .symmetric = true, .power_of_two = true};

static void vote(struct by_sketch *into, const float *values, size_t count, uint64_t sample)
{
    size_t levels;
    const struct by_vote_levels *all = by_vote_all_levels(&levels);
    struct by_sketch alone;
    by_sketch_init(&alone);
    assert_ok(by_sketch_look_ref(&alone, values, BY_ELEM_FLOAT, count, sample, &err));
    assert_ok(by_votes_cast(&alone, all, levels, &err));
    assert_ok(by_sketch_merge(into, &alone, &err));
    by_sketch_release(&alone);
}

/* --- The definition --- */

static double squared_error(const float *values, size_t count, const struct by_vote_levels *levels,
                            int position)
{
    const double scale = ldexp(1, -position);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double level = nearbyint((double)values[i] / scale);
        const double kept = fmin(fmax(level, (double)levels->least), (double)levels->most);
        sum += pow(kept * scale - (double)values[i], 2);
    }
    return sum;
}

static int first_position(const float *values, size_t count, const struct by_vote_levels *levels)
{
    double reach = 0;
    for (size_t i = 0; i < count; i++)
        reach = fmax(reach, fabs((double)values[i]));
    return (int)nearbyint(-log2(2 * reach / (double)(levels->most - levels->least)));
}

static int best_position(const float *values, size_t count, const struct by_vote_levels *levels)
{
    const int base = first_position(values, count, levels);
    int best = base - 1;
    for (int position = base; position <= base + 3; position++)
        if (squared_error(values, count, levels, position) <
            squared_error(values, count, levels, best))
            best = position;
    return best;
}

static void make_values(float *values, size_t count, uint64_t sample)
{
    for (size_t i = 0; i < count; i++) {
        const double normal = by_rng_normal(5, sample, i);
        const double kinds[] = {normal, fmax(normal, 0), normal * fabs(normal) * fabs(normal)};
        values[i] = (float)(kinds[sample % 3] * (1 + (double)(sample % 7)) / 3);
    }
}

/* Bins stand for their values, so of positions that are nearly as good either may be chosen. */
static void votes_are_those_of_the_values(void **state)
{
    (void)state;
    float values[VALUES];
    size_t levels, count, same = 0, asked = 0;
    const struct by_vote_levels *all = by_vote_all_levels(&levels);
    for (uint64_t sample = 0; sample < 42; sample++) {
        struct by_sketch sketch;
        by_sketch_init(&sketch);
        make_values(values, VALUES, sample);
        vote(&sketch, values, VALUES, sample);
        assert_int_equal(sketch.votes.count, levels);
        for (size_t i = 0; i < levels; i++) {
            const struct by_vote *found = by_votes_of(&sketch.votes, &all[i], &count);
            const int best = best_position(values, VALUES, &all[i]);
            assert_int_equal(count, 1);
            assert_int_equal(found->samples, 1);
            assert_true(squared_error(values, VALUES, &all[i], found->position) <=
                        1.02 * squared_error(values, VALUES, &all[i], best));
            same += found->position == best;
            asked++;
        }
        by_sketch_release(&sketch);
    }
    assert_true(same * 100 >= asked * 98);
}

/* --- Who wins --- */

static void assert_position(const struct by_sketch *sketch, int position)
{
    const struct by_calibrator *method = by_calibrator_find("minmse-pow2-common");
    struct by_calib_options options;
    struct by_range range;
    struct by_scale scale;
    by_calib_defaults(method, &options);
    assert_ok(method->range(sketch, &int8, &options, &range, &err));
    assert_ok(by_scale_of_range(&range, &int8, &scale, &err));
    assert_int_equal(scale.position, position);
    assert_true(isnan(range.error) && range.low == -127 * scale.scale);
}

/* A line from -reach to reach: no value is worth cutting. */
static void vote_of_reach(struct by_sketch *sketch, double reach)
{
    float values[1001];
    for (int i = 0; i < 1001; i++)
        values[i] = (float)(reach * (i - 500) / 500);
    vote(sketch, values, COUNT(values), sketch->samples);
}

static void most_samples_win(void **state)
{
    (void)state;
    struct by_sketch sketch;
    by_sketch_init(&sketch);
    vote_of_reach(&sketch, 127);
    assert_position(&sketch, 0);
    vote_of_reach(&sketch, 127. / 4);
    assert_position(&sketch, 2); /* one each: the smallest scale */
    vote_of_reach(&sketch, 127);
    assert_position(&sketch, 0);
    vote_of_reach(&sketch, 127. / 8);
    vote_of_reach(&sketch, 127. / 8);
    assert_position(&sketch, 3);
    by_sketch_release(&sketch);
}

static void some_have_no_vote(void **state)
{
    (void)state;
    const float zeros[] = {0, -0.0f, 0}, strange[] = {NAN, INFINITY, -INFINITY},
                tiny[] = {1e-40f, -1e-42f}, holes[] = {NAN, 127, -INFINITY, -127, 100};
    struct by_sketch sketch;
    by_sketch_init(&sketch);
    vote(&sketch, zeros, COUNT(zeros), 0);
    vote(&sketch, strange, COUNT(strange), 1);
    vote(&sketch, tiny, COUNT(tiny), 2);
    assert_int_equal(sketch.votes.count, 0);
    assert_int_equal(sketch.samples, 3);
    const struct by_calibrator *method = by_calibrator_find("minmse-pow2-common");
    assert_false(by_calib_lacks_votes(&sketch, &int8, method)); /* there is nothing to choose */
    vote(&sketch, holes, COUNT(holes), 3);
    assert_position(&sketch, 0);
    by_sketch_release(&sketch);
}

static void without_votes(void **state)
{
    (void)state;
    const float values[] = {1, -2, 3};
    const struct by_calibrator *method = by_calibrator_find("minmse-pow2-common");
    struct by_calib_options options;
    struct by_range range;
    struct by_sketch sketch;
    by_sketch_init(&sketch);
    by_calib_defaults(method, &options);
    assert_ok(by_sketch_look_ref(&sketch, values, BY_ELEM_FLOAT, 3, 0, &err));
    assert_true(by_calib_lacks_votes(&sketch, &int8, method));
    assert_false(by_calib_lacks_votes(&sketch, &int8, by_calibrator_find("minmse-pow2")));
    assert_error(method->range(&sketch, &int8, &options, &range, &err), BARYON_ERR_USAGE,
                 "the statistics have no votes of single samples, which minmse-pow2-common counts; "
                 "'baryon calibrate --votes' gathers them; 'baryon quantize' does by itself where "
                 "it is given samples");
    by_sketch_release(&sketch);
}

/* --- Adding --- */

static void assert_same_votes(const struct by_votes *a, const struct by_votes *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(by_vote_compare(&a->at[i], &b->at[i]), 0);
        assert_int_equal(a->at[i].samples, b->at[i].samples);
        assert_true(!i || by_vote_compare(&a->at[i - 1], &a->at[i]) < 0);
    }
}

#define SAMPLES 24u
#define PARTS   5u

static void any_order_and_grouping_is_the_same(void **state)
{
    (void)state;
    float values[VALUES];
    struct by_sketch whole, parts[PARTS];
    by_sketch_init(&whole);
    for (size_t p = 0; p < PARTS; p++)
        by_sketch_init(&parts[p]);
    for (uint64_t sample = 0; sample < SAMPLES; sample++) {
        make_values(values, 200, sample);
        vote(&whole, values, 200, sample);
    }
    for (uint64_t i = 0; i < SAMPLES; i++) {
        const uint64_t sample = i * 7 % SAMPLES; /* each once, in another order */
        make_values(values, 200, sample);
        vote(&parts[sample * sample % PARTS], values, 200, sample);
    }
    for (size_t p = PARTS - 1; p > 0; p--)
        assert_ok(by_sketch_merge(&parts[p / 2], &parts[p], &err));
    assert_true(whole.votes.count > 12);
    assert_same_votes(&parts[0].votes, &whole.votes);
    for (size_t p = 0; p < PARTS; p++)
        by_sketch_release(&parts[p]);
    by_sketch_release(&whole);
}

/* Whoever looks at a sample alone and adds it has what a look gives. */
static void a_look_alone_adds_as_a_look(void **state)
{
    (void)state;
    float values[VALUES];
    struct by_sketch voted, looked;
    by_sketch_init(&voted);
    by_sketch_init(&looked);
    for (uint64_t sample = 0; sample < 6; sample++) {
        make_values(values, VALUES, sample);
        values[7] = sample == 3 ? NAN : values[7];
        vote(&voted, values, VALUES, sample);
        assert_ok(by_sketch_look_ref(&looked, values, BY_ELEM_FLOAT, VALUES, sample, &err));
    }
    by_votes_release(&voted.votes);
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e < BY_SKETCH_EXPONENTS; e++) {
            void **a = &voted.rows[sign][e], **b = &looked.rows[sign][e];
            assert_int_equal(*a == NULL, *b == NULL);
            if (*a)
                assert_memory_equal(*a, *b, sizeof(uint32_t) << by_sketch_bits(looked.top - e));
            by_free(*a);
            by_free(*b);
            *a = *b = NULL;
        }
    assert_memory_equal(&voted, &looked, sizeof voted);
}

/* --- Levels --- */

static void every_type_of_activations_has_its_levels(void **state)
{
    (void)state;
    static const int64_t types[] = {BY_ELEM_INT4,  BY_ELEM_UINT4, BY_ELEM_INT8,
                                    BY_ELEM_UINT8, BY_ELEM_INT16, BY_ELEM_UINT16};
    size_t count, found = 0;
    const struct by_vote_levels *all = by_vote_all_levels(&count);
    for (size_t i = 0; i < 2 * COUNT(types); i++) {
        const struct by_tensor_spec spec = {
            .elem = types[i / 2], .symmetric = true, .reduce_range = i % 2, .scale = BY_SCALE_POW2};
        struct by_calib_target target;
        struct by_vote_levels levels;
        by_spec_target(&spec, &target);
        by_vote_levels_of(&target, &levels);
        for (size_t k = 0; k < count; k++)
            found += all[k].least == levels.least && all[k].most == levels.most;
        assert_int_equal(found, i + 1);
    }
    assert_int_equal(count, found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(votes_are_those_of_the_values),
        cmocka_unit_test(most_samples_win),
        cmocka_unit_test(some_have_no_vote),
        cmocka_unit_test(without_votes),
        cmocka_unit_test(any_order_and_grouping_is_the_same),
        cmocka_unit_test(a_look_alone_adds_as_a_look),
        cmocka_unit_test(every_type_of_activations_has_its_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
