/* Ranges by the error of the model's outputs: what is chosen, what it gains, and that it is undone.
 */
#include "made_source.h"

#include "base/decibels.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/range_factor.h"
#include "quantize/quantize.h"
#include "search/ranges.h"
#include "trial/judge.h"
#include "trial/snapshot.h"

#include <math.h>

#define CHANNELS 6
#define PEAK     40 /* what one channel has beside the others */

static struct by_recipe recipe;
static struct by_quantize_options options;
static struct by_quantization q;

/* --- The model: nothing reads the channel with large values --- */

static void put_kernel(struct baryon_model *model, const char *name, size_t in, size_t loud,
                       float factor)
{
    float values[CHANNELS * CHANNELS] = {0};
    for (size_t i = 0; i < CHANNELS * in; i++) {
        const bool row = loud == SIZE_MAX, hit = row ? i % in == 0 : i / in == loud;
        values[i] = (draw(7) - 0.1F) / 4 * (hit ? factor : 1);
    }
    char shape[32];
    snprintf(shape, sizeof shape, "%d,%zu,1,1", CHANNELS, in);
    put_values(model, name, shape, values);
}

/* unread: what the second layer multiplies the loud channel with. */
static struct baryon_model *made_model(float unread)
{
    struct baryon_model *model = new_model();
    drawn = 0;
    takes(model, "x", BY_ELEM_FLOAT, "N,3,8,8");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_kernel(model, "w1", 3, 0, PEAK);
    put_kernel(model, "w2", CHANNELS, SIZE_MAX, unread);
    put_node(model->graph, "one", "Conv", "x,w1", "a");
    put_node(model->graph, "act", "Tanh", "a", "t");
    put_node(model->graph, "loud", "Mul", "a,t", "b");
    put_node(model->graph, "two", "Conv", "b,w2", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "", 13, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

static void set_options(const char *method, enum by_scale_type scale)
{
    begin_source();
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_INT8, .symmetric = true, .scale = scale},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
        .smooth = BY_SMOOTH_OFF,
    };
    by_spec_set_type(&recipe.activation, BY_ELEM_INT8);
    recipe.activation.method = by_calibrator_find(method);
    recipe.weight.method = recipe.bias.method = by_calibrator_find("minmax");
    by_calib_defaults(recipe.activation.method, &recipe.activation.calib);
    by_calib_defaults(recipe.weight.method, &recipe.weight.calib);
    recipe.bias.calib = recipe.weight.calib;
    options = (struct by_quantize_options){
        .recipe = &recipe, .calibrate = {.samples = &samples}, .choose_ranges = by_output_ranges};
}

static void close_quantization(void)
{
    struct baryon_model *model = q.model;
    by_quantization_close(&q);
    by_model_free(model);
}

static double scale_of(const char *name)
{
    const size_t row = by_quant_find(q.plan, by_graph_value(q.model->graph, name));
    assert_int_not_equal(row, BY_NO_ROW);
    return (double)by_quant_params(q.plan, row)->scales[0];
}

/* dB of the written model beside the float one, on all samples. */
static double quality_of(float unread)
{
    struct by_judge *judge;
    struct by_judgement each[SAMPLES];
    struct baryon_model *exact = made_model(unread);
    const struct by_judge_options how = {.samples = &samples, .aside = SAMPLES, .most = SAMPLES};
    assert_ok(by_quantization_lower(&q, &err));
    source.next = 0;
    assert_ok(by_judge_open(&judge, exact, &how, &err));
    assert_ok(by_judge_references(judge, q.pool, &err));
    assert_ok(by_judge_model(judge, q.model, q.pool, each, &err));
    const double sqnr = by_judge_sqnr(each, by_judge_count(judge));
    by_judge_close(judge);
    by_model_free(exact);
    return sqnr;
}

/* --- What is chosen --- */

static double quantized(const char *method, enum by_scale_type scale, double *step)
{
    set_options(method, scale);
    assert_ok(by_quantization_open(&q, made_model(0), &options, &err));
    *step = scale_of("b");
    const double sqnr = quality_of(0);
    return sqnr;
}

static void test_what_nothing_reads_is_cut_off(void **state)
{
    (void)state;
    static const enum by_scale_type scales[] = {BY_SCALE_FLOAT32, BY_SCALE_POW2};
    static const char *const own[] = {"minmse", "minmse-pow2"};
    for (size_t i = 0; i < 2; i++) {
        double before, after;
        const double tensor = quantized(own[i], scales[i], &before);
        close_quantization();
        const double output = quantized("output", scales[i], &after);
        assert_true(after == before * (i ? 0.25 : 0.5));
        assert_true(output > tensor + 3);
        assert_int_equal(q.report.choice_count, 1);
        assert_string_equal(q.report.choices[0].choice, "ranges");
        assert_false(q.report.choices[0].undone);
        assert_in_range(q.report.choices[0].samples, 4, SAMPLES / 2);
        assert_true(q.report.choices[0].gain > 3);
        close_quantization();
    }
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    double steps[2][3];
    for (unsigned i = 0; i < 2; i++) {
        set_options("output", BY_SCALE_FLOAT32);
        options.calibrate.session.threads = 1 + 2 * i;
        assert_ok(by_quantization_open(&q, made_model(0), &options, &err));
        steps[i][0] = scale_of("x");
        steps[i][1] = scale_of("a");
        steps[i][2] = scale_of("b");
        close_quantization();
    }
    assert_memory_equal(steps[0], steps[1], sizeof steps[0]);
}

/* --- What is undone --- */

static struct by_hash128 content(void)
{
    struct by_hash128 hash;
    assert_ok(by_model_content_hash(q.model, &hash, &err));
    return hash;
}

/* Samples that judge are ten times the others: whatever is cut off costs them more. */
static int next_louder(void *context, const struct by_array **arrays, size_t *count,
                       const char **name, struct baryon_error *error)
{
    struct source *from = context;
    const int status = next_sample(context, arrays, count, name, error);
    for (size_t i = 0; from->next > SAMPLES / 2 && i < PLACES; i++)
        from->values[i] *= 10;
    return status;
}

static int choose_and_compare(struct by_quantization *of, struct baryon_error *error)
{
    struct by_snapshot before = {.row_count = 0};
    struct by_hash128 hash;
    assert_ok(by_model_content_hash(of->model, &hash, error));
    assert_ok(by_snapshot_take(&before, of->plan, NULL, 0, error));
    assert_ok(by_output_ranges(of, error));
    assert_ok(by_snapshot_check(&before, of->plan, error));
    by_snapshot_release(&before);
    struct by_hash128 after;
    assert_ok(by_model_content_hash(of->model, &after, error));
    assert_true(by_hash128_equal(hash, after));
    return 0;
}

static void test_undone_leaves_everything(void **state)
{
    (void)state;
    set_options("minmse", BY_SCALE_FLOAT32);
    samples.next = next_louder;
    assert_ok(by_quantization_open(&q, made_model(0.25F), &options, &err));
    const double tensor = scale_of("b");
    const struct by_hash128 hash = content();
    close_quantization();
    set_options("output", BY_SCALE_FLOAT32);
    samples.next = next_louder;
    options.choose_ranges = choose_and_compare;
    assert_ok(by_quantization_open(&q, made_model(0.25F), &options, &err));
    assert_false(q.recipe.factors.on);
    assert_int_equal(q.report.choice_count, 1);
    assert_true(q.report.choices[0].undone);
    assert_true(scale_of("b") == tensor);
    assert_true(by_hash128_equal(hash, content()));
    close_quantization();
}

/* --- Samples that are held out --- */

static struct by_range range_in(struct by_stats *stats, const char *name)
{
    const struct by_tensor_stats *tensor = by_stats_find(stats, name);
    const struct by_calib_target target = {.qmin = -127, .qmax = 127, .symmetric = true};
    struct by_range range;
    assert_non_null(tensor);
    assert_ok(by_calibrator_find("minmse")->range(&tensor->sketch, &target,
                                                  &recipe.activation.calib, &range, &err));
    return range;
}

/* Choices are judged with statistics that are those of the first half alone. */
static void test_the_first_half_is_known(void **state)
{
    (void)state;
    set_options("output", BY_SCALE_FLOAT32);
    assert_ok(by_quantization_open(&q, made_model(0), &options, &err));
    assert_int_equal(by_stats_covered(q.part), SAMPLES / 2);
    assert_int_equal(by_stats_covered(q.stats), SAMPLES);
    const struct by_range part = range_in(q.part, "b"), all = range_in(q.stats, "b");
    close_quantization();
    set_options("minmse", BY_SCALE_FLOAT32);
    options.calibrate.input.count = SAMPLES / 2;
    assert_ok(by_quantization_open(&q, made_model(0), &options, &err));
    assert_null(q.part);
    const struct by_range half = range_in(q.stats, "b");
    assert_true(part.high == half.high && part.low == half.low && part.error == half.error);
    assert_true(all.error != half.error);
    close_quantization();
}

/* --- Where a factor may not apply --- */

static void test_given_ranges_stay(void **state)
{
    (void)state;
    set_options("output", BY_SCALE_FLOAT32);
    assert_ok(by_quantization_open(&q, made_model(0), &options, &err));
    struct by_quant_row *row =
        &q.plan->rows.at[by_quant_find(q.plan, by_graph_value(q.model->graph, "b"))];
    assert_true(by_range_factor_fits(row));
    row->has_range = true;
    assert_false(by_range_factor_fits(row));
    row->has_range = false;
    row->has_params = true;
    assert_false(by_range_factor_fits(row));
    row->has_params = false;
    by_spec_set_type(&row->spec, BY_ELEM_INT16);
    assert_false(by_range_factor_fits(row));
    by_spec_set_type(&row->spec, BY_ELEM_INT8);
    row->spec.method = by_calibrator_find("minmse");
    assert_false(by_range_factor_fits(row));
    close_quantization();
}

static void test_samples_that_come_once_are_refused(void **state)
{
    (void)state;
    set_options("output", BY_SCALE_FLOAT32);
    samples.rewind = NULL;
    assert_err(by_quantization_open(&q, made_model(0), &options, &err), BARYON_ERR_USAGE,
               "--activation-method output requires samples, those of the caller come only "
               "once; provide rewind, or another method");
    close_quantization();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_nothing_reads_is_cut_off),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_undone_leaves_everything),
        cmocka_unit_test(test_the_first_half_is_known),
        cmocka_unit_test(test_given_ranges_stay),
        cmocka_unit_test(test_samples_that_come_once_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
