/* The engine of candidates: what wins, what loses, and that a quantization stays as it was. */
#include "engine_build.h"

#include "base/hash.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/known.h"
#include "quant/place.h"
#include "trial/snapshot.h"
#include "trial/trial_internal.h"

#include <math.h>

#define PLACES  (3 * 8 * 8)
#define SAMPLES 40

static struct by_recipe recipe;
static struct by_quantize_options options;
static struct by_quantization q;
static struct by_snapshot plan_before;

/* --- Samples --- */

struct source {
    size_t next, count, read;
    float values[PLACES];
    struct by_array array;
};

static struct source source;
static struct by_input_callback samples;

static int next_sample(void *context, const struct by_array **arrays, size_t *count,
                       const char **name, struct baryon_error *error)
{
    struct source *from = context;
    (void)error;
    if (from->next == from->count)
        return 0;
    for (size_t i = 0; i < PLACES; i++)
        from->values[i] = sinf((float)(i + 7 * from->next * from->next));
    from->array = (struct by_array){.name = "x",
                                    .elem = BY_ELEM_FLOAT,
                                    .rank = 4,
                                    .dims = {1, 3, 8, 8},
                                    .data = from->values,
                                    .size = sizeof from->values};
    from->next++;
    from->read++;
    *arrays = &from->array;
    *count = 1;
    *name = "made";
    return 1;
}

static int begin_again(void *context, struct baryon_error *error)
{
    (void)error;
    ((struct source *)context)->next = 0;
    return 0;
}

/* --- The model: a pair of layers whose channels differ by powers of two --- */

static void put_uneven(struct baryon_model *model, const char *name, const char *shape,
                       size_t channels, float steps)
{
    float values[PUT_MOST];
    const size_t count = count_of(model, shape);
    for (size_t i = 0; i < count; i++)
        values[i] = draw(7) * exp2f(steps * (float)(i / (count / channels) * 5 % 9));
    put_values(model, name, shape, values);
}

/* Weights of the second layer, which all channels of the first one matter to alike. */
static const float *even_out(float steps)
{
    static float values[4 * 6 * 9];
    for (size_t i = 0; i < 4 * 6 * 9; i++)
        values[i] = draw(7) * exp2f(-steps * (float)(i / 9 % 6 * 5 % 9));
    return values;
}

/* steps: bits between channels. With 0 nothing is to be gained. */
static struct baryon_model *pair_model(float steps)
{
    struct baryon_model *model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_uneven(model, "w1", "6,3,3,3", 6, steps);
    put_uneven(model, "b1", "6", 6, steps);
    put_values(model, "w2", "4,6,3,3", even_out(steps));
    put_node(model->graph, "one", "Conv", "x,w1,b1", "p");
    put_node(model->graph, "act", "Relu", "p", "q");
    put_node(model->graph, "two", "Conv", "q,w2", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "", 13, &err));
    return model;
}

/* --- A quantization up to the trial --- */

static bool stop_now(void *context, const struct by_calibrate_progress *progress)
{
    return progress->done >= *(const size_t *)context;
}

static bool note_done(void *context, const struct by_calibrate_progress *progress)
{
    *(uint64_t *)context = progress->done;
    return false;
}

static void set_options(size_t count)
{
    source = (struct source){.count = count};
    samples = (struct by_input_callback){
        .next = next_sample, .rewind = begin_again, .context = &source, .count = count};
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
        .fuse_relu = true,
        .bias_correction = BY_BIASES_AUTO,
        .cle = BY_CLE_AUTO,
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    by_calib_defaults(recipe.activation.method, &recipe.activation.calib);
    recipe.weight.calib = recipe.bias.calib = recipe.activation.calib;
    options = (struct by_quantize_options){
        .recipe = &recipe, .calibrate = {.samples = &samples, .session = {.threads = 1}}};
}

static void open_quantization(struct baryon_model *model)
{
    q = (struct by_quantization){.model = model, .options = &options};
    q.recipe = recipe;
    q.settled = options;
    q.settled.recipe = &q.recipe;
    q.options = &q.settled;
    assert_ok(by_pool_open(&q.pool, options.calibrate.session.threads, &err));
    assert_ok(by_known_open(&q.known, &err));
    assert_ok(by_origins_open(&q.origins, model, &err));
    assert_ok(by_model_settle(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&q.plan, model, &q.recipe, &err));
    assert_ok(by_place(q.plan, q.origins, NULL, &err));
    assert_ok(by_snapshot_take(&plan_before, q.plan, NULL, 0, &err));
}

static void close_quantization(void)
{
    by_snapshot_release(&plan_before);
    struct baryon_model *model = q.model;
    by_trial_forget(&q);
    by_stats_close(q.begun);
    by_known_close(q.known); /* that of the candidate that was adopted */
    by_quant_plan_close(q.plan);
    by_origins_close(q.origins);
    by_pool_close(q.pool);
    by_model_free(model);
}

/* All that candidates may edit, byte by byte: model and recipe here, the plan in a snapshot. */
static struct by_hash128 state_hash(void)
{
    struct by_hasher *hasher;
    struct by_hash128 hash;
    assert_ok(by_model_content_hash(q.model, &hash, &err));
    assert_ok(by_hasher_open(&hasher, &err));
    by_hasher_add(hasher, &hash, sizeof hash);
    by_hasher_add(hasher, &q.recipe, sizeof q.recipe);
    hash = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return hash;
}

static void assert_unchanged(struct by_hash128 before)
{
    assert_true(by_hash128_equal(before, state_hash()));
    assert_ok(by_snapshot_check(&plan_before, q.plan, &err));
}

static struct by_candidate candidate_of(enum by_cle_mode mode, bool corrects, int headroom)
{
    return (struct by_candidate){.edits = {[BY_EDIT_EQUALIZATION] = (int)mode,
                                           [BY_EDIT_BIASES] = corrects,
                                           [BY_EDIT_HEADROOM] = headroom}};
}

/* With equalization (1) and without (0), the trial open. */
static void contest_equalization(struct by_trial **trial, struct by_trial_score scores[2])
{
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_OFF, false, 0),
                                              candidate_of(BY_CLE_EXACT, false, 0)};
    assert_ok(by_trial_open(trial, &q, 2, &err));
    assert_ok(by_trial_contest(*trial, candidates, 2, scores, &err));
}

/* --- Tests --- */

static void test_best_is_adopted(void **state)
{
    (void)state;
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_OFF, false, 0),
                                              candidate_of(BY_CLE_EXACT, false, 0),
                                              candidate_of(BY_CLE_EXACT, true, 0)};
    struct by_trial_score scores[3];
    struct by_trial *trial;
    bool changed = false;
    set_options(SAMPLES);
    open_quantization(pair_model(1));
    const struct by_hash128 before = state_hash();
    assert_ok(by_trial_open(&trial, &q, 3, &err));
    assert_ok(by_trial_contest(trial, candidates, 3, scores, &err));
    assert_unchanged(before);
    assert_true(scores[0].lost && !scores[1].lost);
    assert_true(by_judge_sqnr(scores[1].each, scores[0].count) >
                by_judge_sqnr(scores[0].each, scores[0].count) + 1);
    assert_ok(by_trial_adopt(trial, &candidates[1], &changed, &err));
    assert_true(changed);
    assert_false(by_hash128_equal(before, state_hash()));
    assert_non_null(q.begun);
    by_trial_close(trial);
    close_quantization();
}

/* Each candidate alone, and contests one after the other. */
static void test_state_is_the_same_after_each_candidate(void **state)
{
    (void)state;
    struct by_trial *trial;
    struct by_trial_score score;
    set_options(SAMPLES);
    open_quantization(pair_model(1));
    const struct by_hash128 before = state_hash();
    assert_ok(by_trial_open(&trial, &q, 8, &err));
    for (int mode = BY_CLE_OFF; mode <= BY_CLE_KEEP; mode++)
        for (int more = 0; mode != BY_CLE_AUTO && more < 4; more++) {
            const struct by_candidate one =
                candidate_of((enum by_cle_mode)mode, more & 1, more & 2 ? 2000 : 0);
            assert_ok(by_trial_contest(trial, &one, 1, &score, &err));
            assert_false(score.lost);
            assert_unchanged(before);
        }
    by_trial_close(trial);
    assert_unchanged(before);
    close_quantization();
}

static double sqnr_alone(const struct by_candidate *candidate, unsigned threads)
{
    struct by_trial *trial;
    struct by_trial_score score;
    set_options(SAMPLES);
    options.calibrate.session.threads = threads;
    recipe.activation.elem = recipe.weight.elem = BY_ELEM_INT16;
    recipe.domain = BY_Q_MICROSOFT;
    open_quantization(pair_model(1));
    assert_ok(by_trial_open(&trial, &q, 1, &err));
    assert_ok(by_trial_contest(trial, candidate, 1, &score, &err));
    const double sqnr = by_judge_sqnr(score.each, score.count);
    by_trial_close(trial);
    close_quantization();
    return sqnr;
}

/* Config edits reach the draft: twice the range is one bit less. */
static void test_headroom_is_an_edit_of_config(void **state)
{
    (void)state;
    const struct by_candidate without = candidate_of(BY_CLE_EXACT, false, 1000),
                              with = candidate_of(BY_CLE_EXACT, false, 16000);
    const double wide = sqnr_alone(&with, 1), plain = sqnr_alone(&without, 1);
    assert_true(plain > wide + 3);
    assert_true(sqnr_alone(&with, 3) == wide);
}

/* --- Sessions --- */

/* A bias is rounded to scales that depend on activations: without one the constants are the same.
 */
static struct baryon_model *model_without_biases(void)
{
    struct baryon_model *model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_uneven(model, "w1", "6,3,3,3", 6, 1);
    put_values(model, "w2", "4,6,3,3", even_out(1));
    put_node(model->graph, "one", "Conv", "x,w1", "p");
    put_node(model->graph, "act", "Relu", "p", "q");
    put_node(model->graph, "two", "Conv", "q,w2", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "", 13, &err));
    return model;
}

static size_t open_sessions(const struct by_trial *trial)
{
    size_t count = 0;
    for (size_t i = 0; i < BY_TRIAL_ENTRIES; i++)
        count += trial->sessions[i].session != NULL;
    return count;
}

/* How many sessions were open at the end. */
static size_t contest_without_biases(const struct by_candidate *candidates, size_t count,
                                     unsigned threads, double *sqnr)
{
    struct by_trial *trial;
    struct by_trial_score scores[4];
    set_options(SAMPLES);
    options.calibrate.session.threads = threads;
    recipe.activation.elem = recipe.weight.elem = BY_ELEM_INT16; /* where headroom matters */
    recipe.domain = BY_Q_MICROSOFT;
    open_quantization(model_without_biases());
    assert_ok(by_trial_open(&trial, &q, count, &err));
    assert_ok(by_trial_contest(trial, candidates, count, scores, &err));
    for (size_t i = 0; i < count; i++)
        sqnr[i] = by_judge_sqnr(scores[i].each, BY_TRIAL_FEWEST);
    const size_t open = open_sessions(trial);
    by_trial_close(trial);
    close_quantization();
    return open;
}

/* What differs in scales of activations alone shares a session, and the judgement is the same. */
static void test_sessions_are_shared(void **state)
{
    (void)state;
    const struct by_candidate candidates[] = {
        candidate_of(BY_CLE_OFF, false, 1000), candidate_of(BY_CLE_OFF, false, 1500),
        candidate_of(BY_CLE_OFF, false, 4000), candidate_of(BY_CLE_EXACT, false, 1000)};
    double alone[4], together[4], side_by_side[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(contest_without_biases(&candidates[i], 1, 1, &alone[i]), 1);
    assert_int_equal(contest_without_biases(candidates, 3, 1, together), 1);
    assert_int_equal(contest_without_biases(candidates, 4, 1, together), 2);
    assert_int_equal(contest_without_biases(candidates, 4, 4, side_by_side), 2);
    assert_memory_equal(together, alone, sizeof alone);
    assert_memory_equal(side_by_side, alone, sizeof alone);
    assert_true(alone[0] != alone[1] && alone[1] != alone[2] && alone[0] != alone[3]);
}

/* One that nobody runs any more makes room. */
static void test_idle_sessions_make_room(void **state)
{
    (void)state;
    struct by_trial *trial;
    struct by_trial_score score;
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_OFF, false, 1000),
                                              candidate_of(BY_CLE_EXACT, false, 1000),
                                              candidate_of(BY_CLE_EXACT, false, 4000)};
    set_options(SAMPLES);
    open_quantization(model_without_biases());
    assert_ok(by_trial_open(&trial, &q, 3, &err));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(by_trial_contest(trial, &candidates[i], 1, &score, &err));
        assert_int_equal(open_sessions(trial), 1);
    }
    by_trial_close(trial);
    close_quantization();
}

/* The second one waits for its contest, and is judged as it would be without. */
static void test_candidates_are_prepared_ahead(void **state)
{
    (void)state;
    struct by_trial *trial;
    struct by_trial_score score;
    double alone;
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_OFF, false, 1000),
                                              candidate_of(BY_CLE_EXACT, false, 1000),
                                              candidate_of(BY_CLE_REPLACE, false, 1000)};
    contest_without_biases(&candidates[1], 1, 1, &alone);
    set_options(SAMPLES);
    recipe.activation.elem = recipe.weight.elem = BY_ELEM_INT16;
    recipe.domain = BY_Q_MICROSOFT;
    open_quantization(model_without_biases());
    assert_ok(by_trial_open(&trial, &q, 3, &err));
    assert_ok(by_trial_ahead(trial, candidates, 2, &err));
    assert_int_equal(open_sessions(trial), 2);
    assert_ok(by_trial_contest(trial, candidates, 1, &score, &err));
    assert_int_equal(open_sessions(trial), 2);
    assert_ok(by_trial_contest(trial, &candidates[1], 1, &score, &err));
    assert_true(by_judge_sqnr(score.each, BY_TRIAL_FEWEST) == alone);
    const struct by_candidate more[] = {candidates[0], candidates[2]};
    const size_t entries = trial->entry_count, open = open_sessions(trial);
    assert_ok(by_trial_ahead(trial, more, 2, &err)); /* the first one is judged */
    assert_int_equal(trial->entry_count, entries + 1);
    assert_int_equal(open_sessions(trial), open);
    by_trial_close(trial);
    close_quantization();
}

/* A later contest runs nothing that an earlier one ran. */
static void test_known_candidates_are_not_run_again(void **state)
{
    (void)state;
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_EXACT, false, 0),
                                              candidate_of(BY_CLE_EXACT, true, 0)};
    struct by_trial_score scores[2];
    struct by_trial *trial;
    uint64_t done;
    set_options(SAMPLES);
    options.calibrate.progress = note_done;
    options.calibrate.context = &done;
    open_quantization(pair_model(1));
    assert_ok(by_trial_open(&trial, &q, 2, &err));
    assert_ok(by_trial_contest(trial, candidates, 2, scores, &err));
    const uint64_t before = done;
    const struct by_judgement *each = scores[0].each;
    assert_ok(by_trial_contest(trial, candidates, 2, scores, &err));
    assert_ptr_equal(scores[0].each, each);
    assert_int_equal(done, before);
    by_trial_close(trial);
    close_quantization();
}

/* How many samples judged two headrooms that differ by a third of a decibel. */
static size_t judged_of(const struct by_trial_question *question, double *sqnr)
{
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_OFF, false, 1040),
                                              candidate_of(BY_CLE_OFF, false, 1000)};
    struct by_trial_score scores[2];
    struct by_trial *trial;
    set_options(SAMPLES);
    recipe.activation.elem = recipe.weight.elem = BY_ELEM_INT16;
    recipe.domain = BY_Q_MICROSOFT;
    open_quantization(model_without_biases());
    assert_ok(by_trial_open(&trial, &q, 2, &err));
    assert_ok(by_trial_ask(trial, candidates, 2, question, question != NULL, scores, &err));
    assert_true(!scores[0].lost && !scores[1].lost);
    assert_int_equal(scores[0].count, scores[1].count);
    *sqnr = by_judge_sqnr(scores[1].each, BY_TRIAL_FEWEST);
    by_trial_close(trial);
    close_quantization();
    return scores[0].count;
}

/* A third of a decibel is far from 1.5. */
static void test_contests_end_when_questions_are_answered(void **state)
{
    (void)state;
    const struct by_trial_question question = {BY_VERDICT_EQUALIZED_SOLVED, 1, 0};
    double sqnr[2];
    assert_int_equal(judged_of(NULL, &sqnr[0]), SAMPLES - 8);
    assert_int_equal(judged_of(&question, &sqnr[1]), (SAMPLES - 8) / 2);
    assert_true(sqnr[0] == sqnr[1]);
}

/* The next trial reads no sample again, and judges alike. */
static void test_samples_wait_for_the_next_trial(void **state)
{
    (void)state;
    struct by_trial_score scores[2];
    struct by_trial *trial;
    double sqnr[2];
    set_options(SAMPLES);
    open_quantization(pair_model(1));
    contest_equalization(&trial, scores);
    sqnr[0] = by_judge_sqnr(scores[1].each, scores[0].count);
    by_trial_close(trial);
    const size_t read = source.read;
    assert_non_null(q.judge);
    contest_equalization(&trial, scores);
    sqnr[1] = by_judge_sqnr(scores[1].each, scores[0].count);
    assert_null(q.judge);
    assert_int_equal(source.read, read);
    assert_true(sqnr[0] == sqnr[1]);
    by_trial_close(trial);
    by_trial_rest(&q);
    assert_non_null(q.judge);
    q.judge_weights = 16u << 20;
    by_trial_rest(&q);
    assert_non_null(q.judge);
    q.judge_weights++;
    by_trial_rest(&q);
    assert_null(q.judge);
    contest_equalization(&trial, scores);
    assert_true(source.read > read);
    assert_true(by_judge_sqnr(scores[1].each, scores[0].count) == sqnr[0]);
    by_trial_close(trial);
    close_quantization();
}

/* --- The next trial --- */

/* What the stage after a trial does: pairs again, and a trial of its own. */
static void place_again(void)
{
    by_quant_plan_close(q.plan);
    assert_ok(by_quant_plan_open(&q.plan, q.model, &q.recipe, &err));
    assert_ok(by_place(q.plan, q.origins, NULL, &err));
}

static void open_without_biases(void)
{
    set_options(SAMPLES);
    recipe.activation.elem = recipe.weight.elem = BY_ELEM_INT16; /* where headroom matters */
    recipe.domain = BY_Q_MICROSOFT;
    open_quantization(model_without_biases());
}

/* Two headrooms of a model differ too little for one to lose early, and too much to be alike. */
static void contest_headrooms(struct by_trial *trial, enum by_cle_mode mode,
                              struct by_trial_score scores[2])
{
    const struct by_candidate candidates[] = {candidate_of(mode, false, 1060),
                                              candidate_of(mode, false, 1100)};
    assert_ok(by_trial_contest(trial, candidates, 2, scores, &err));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(scores[i].count, SAMPLES - 8);
}

/* A winner that is adopted is the model of the next trial, which takes over what the samples said
 * of it, and runs what they did not say. */
static void test_next_trial_recalls_the_winner(void **state)
{
    (void)state;
    struct by_trial *trial;
    struct by_trial_score scores[2], again[2];
    bool changed;
    double alone[2];
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_EXACT, false, 1060),
                                              candidate_of(BY_CLE_OFF, false, 1060)};
    open_without_biases();
    assert_ok(by_trial_open(&trial, &q, 2, &err));
    contest_headrooms(trial, BY_CLE_EXACT, scores);
    for (size_t i = 0; i < 2; i++)
        alone[i] = by_judge_sqnr(scores[i].each, scores[i].count);
    by_trial_close(trial);
    by_trial_forget(&q);
    assert_ok(by_trial_open(&trial, &q, 2, &err));
    assert_ok(by_trial_contest(trial, candidates, 2, scores, &err));
    assert_true(scores[1].lost && scores[0].count < SAMPLES - 8);
    const size_t judged = scores[0].count;
    const double sqnr = by_judge_sqnr(scores[0].each, judged);
    assert_ok(by_trial_adopt(trial, &candidates[0], &changed, &err));
    by_trial_close(trial);
    place_again();
    assert_ok(by_trial_open(&trial, &q, 2, &err));
    const struct by_candidate as_it_is = candidate_of(BY_CLE_OFF, false, 1060);
    assert_ok(by_trial_contest(trial, &as_it_is, 1, again, &err));
    assert_int_equal(open_sessions(trial), 0);
    assert_true(again[0].count <= judged);
    assert_true(by_judge_sqnr(again[0].each, judged) == sqnr);
    contest_headrooms(trial, BY_CLE_OFF, again);
    for (size_t i = 0; i < 2; i++)
        assert_true(by_judge_sqnr(again[i].each, again[i].count) == alone[i]);
    by_trial_close(trial);
    close_quantization();
}

/* Statistics of the model as it is are gathered once, and not taken for those of another one. */
static void test_next_trial_takes_what_was_seen(void **state)
{
    (void)state;
    struct by_trial *trial;
    set_options(SAMPLES);
    open_quantization(pair_model(1));
    assert_ok(by_trial_open(&trial, &q, 1, &err));
    struct by_stats *seen = by_trial_seen(trial);
    by_trial_end(trial, false);
    assert_ptr_equal(q.begun, seen);
    assert_ok(by_trial_open(&trial, &q, 1, &err));
    assert_ptr_equal(by_trial_seen(trial), seen);
    assert_null(q.begun);
    by_trial_end(trial, false);
    seen->key.model.low ^= 1;
    assert_ok(by_trial_open(&trial, &q, 1, &err));
    assert_ptr_equal(q.begun, seen);
    assert_ptr_not_equal(by_trial_seen(trial), seen);
    by_trial_close(trial);
    close_quantization();
}

/* --- Bad input --- */

/* 1 sample, 2, 8: the same ones judge that ranges come from, or as few as there are. */
static void test_few_samples(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 8, 9};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct by_trial_score scores[2];
        struct by_trial *trial;
        set_options(counts[i]);
        open_quantization(pair_model(1));
        contest_equalization(&trial, scores);
        const size_t judging = counts[i] == 9 ? 1 : counts[i];
        assert_true(scores[1].count == judging || (scores[0].lost && scores[1].count < judging));
        assert_false(scores[1].lost);
        by_trial_close(trial);
        close_quantization();
    }
}

/* Outputs that are zero for every input: nothing tells candidates apart, and none is out. */
static void test_constant_outputs(void **state)
{
    (void)state;
    struct by_trial_score scores[2];
    struct by_trial *trial;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_uneven(model, "w1", "6,3,3,3", 6, 1);
    put_floats(model, "w2", "4,6,3,3", 0);
    put_node(model->graph, "one", "Conv", "x,w1", "p");
    put_node(model->graph, "two", "Conv", "p,w2", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "", 13, &err));
    set_options(SAMPLES);
    open_quantization(model);
    contest_equalization(&trial, scores);
    assert_true(!scores[0].lost && !scores[1].lost);
    by_trial_close(trial);
    close_quantization();
}

/* Small values round to zero, whose logarithm is no number to compare. */
static struct baryon_model *logarithm_model(void)
{
    float sums[4 * 6];
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_uneven(model, "w1", "6,3,3,3", 6, 0);
    for (size_t i = 0; i < 4 * 6; i++)
        sums[i] = i % 6 == i / 6 ? 1 : 0;
    put_values(model, "w2", "4,6,1,1", sums);
    put_node(model->graph, "one", "Conv", "x,w1", "p");
    put_node(model->graph, "exp", "Exp", "p", "q");
    put_node(model->graph, "two", "Conv", "q,w2", "r");
    put_values(model, "least", "1", (float[]){1e-6F});
    put_node(model->graph, "sum", "Add", "r,least", "s");
    put_node(model->graph, "log", "Log", "s", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "", 13, &err));
    return model;
}

static void test_candidates_that_are_not_finite_lose(void **state)
{
    (void)state;
    const struct by_candidate candidates[] = {
        {.edits = {[BY_EDIT_LOGARITHMS] = BY_LOGARITHMS_QUANTIZED}}, {{0}}};
    struct by_trial_score scores[2];
    struct by_trial *trial;
    set_options(SAMPLES);
    open_quantization(logarithm_model());
    assert_ok(by_trial_open(&trial, &q, 2, &err));
    assert_ok(by_trial_contest(trial, candidates, 2, scores, &err));
    assert_true(scores[0].lost && !scores[1].lost);
    assert_true(by_trial_prefers(&q, BY_VERDICT_LOGARITHMS, &scores[1], &scores[0]));
    by_trial_close(trial);
    close_quantization();
}

/* What ONNX Runtime has no kernels for loses, and the trial goes on. */
static void test_refused_candidates_lose(void **state)
{
    (void)state;
    struct by_trial_score scores[2];
    struct by_trial *trial;
    set_options(SAMPLES);
    by_spec_set_type(&recipe.activation, BY_ELEM_FLOAT4E2M1);
    recipe.floats = BY_FLOATS_CAST;
    struct baryon_model *model = pair_model(1);
    assert_ok(by_model_set_opset(model, "", 23, &err));
    open_quantization(model);
    const struct by_hash128 before = state_hash();
    contest_equalization(&trial, scores);
    assert_true(scores[0].lost && scores[1].lost);
    assert_int_equal(scores[0].count, 0);
    assert_unchanged(before);
    by_trial_close(trial);
    close_quantization();
}

/* Stopped anywhere, the quantization is as it was. */
static void test_interruption(void **state)
{
    (void)state;
    const struct by_candidate candidates[] = {candidate_of(BY_CLE_OFF, false, 0),
                                              candidate_of(BY_CLE_EXACT, true, 0)};
    for (size_t at = 0; at < 40; at += 7) {
        struct by_trial_score scores[2];
        struct by_trial *trial = NULL;
        set_options(SAMPLES);
        options.calibrate.progress = stop_now;
        options.calibrate.context = &at;
        open_quantization(pair_model(1));
        const struct by_hash128 before = state_hash();
        int failed = by_trial_open(&trial, &q, 2, &err);
        if (!failed)
            failed = by_trial_contest(trial, candidates, 2, scores, &err);
        assert_true(failed && err.code == BARYON_ERR_CANCELLED);
        assert_unchanged(before);
        by_trial_close(trial);
        close_quantization();
    }
}

static void test_descriptions(void **state)
{
    (void)state;
    char text[256];
    const struct by_candidate none = {0}, all = candidate_of(BY_CLE_KEEP, true, 1500);
    assert_string_equal(by_candidate_describe(&none, text, sizeof text), "equalization off");
    assert_string_equal(by_candidate_describe(&all, text, sizeof text),
                        "equalization keep, bias correction on, activation headroom 1.5");
    for (size_t i = 0; i < BY_EDIT_KINDS; i++) {
        const struct by_edit *edit = by_edit((enum by_edit_kind)i);
        assert_true(edit->name && edit->describe && (edit->config || edit->model || edit->plan));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_is_adopted),
        cmocka_unit_test(test_state_is_the_same_after_each_candidate),
        cmocka_unit_test(test_headroom_is_an_edit_of_config),
        cmocka_unit_test(test_known_candidates_are_not_run_again),
        cmocka_unit_test(test_sessions_are_shared),
        cmocka_unit_test(test_candidates_are_prepared_ahead),
        cmocka_unit_test(test_idle_sessions_make_room),
        cmocka_unit_test(test_contests_end_when_questions_are_answered),
        cmocka_unit_test(test_samples_wait_for_the_next_trial),
        cmocka_unit_test(test_next_trial_recalls_the_winner),
        cmocka_unit_test(test_next_trial_takes_what_was_seen),
        cmocka_unit_test(test_few_samples),
        cmocka_unit_test(test_constant_outputs),
        cmocka_unit_test(test_candidates_that_are_not_finite_lose),
        cmocka_unit_test(test_refused_candidates_lose),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
