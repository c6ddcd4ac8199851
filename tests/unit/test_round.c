/* A layer's solver on a target made of plain arrays: what it makes of samples, against plain loops.
 */
#include "engine_build.h"

#include "moments/moments.h"
#include "solve/round_given.h"

#include <math.h>
#include <stdlib.h>

#define ROOM 256 /* numbers of anything here */

static struct by_round_scratch *scratch;

static int prepare(void **state)
{
    (void)state;
    drawn = 0;
    return by_round_scratch_open(&scratch, NULL, &err);
}

static int finish(void **state)
{
    (void)state;
    by_round_scratch_close(scratch);
    return 0;
}

/* --- Samples --- */

struct numbers {
    float x[ROOM], y[ROOM];
    struct by_array in, out;
};

static struct by_array numbers_of(float *values, size_t rank, const int64_t *dims)
{
    struct by_array array = {.name = "x", .elem = BY_ELEM_FLOAT, .rank = rank, .data = values};
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        array.dims[i] = dims[i];
        count *= (size_t)dims[i];
    }
    assert_true(count <= ROOM);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((int)((i * 37 + drawn++ * 11) % 23) - 9) / 8;
    array.size = count * sizeof *values;
    return array;
}

/* Conv with two groups, 4 channels to 6, windows of 1 x 2. */
struct layer {
    struct by_round_target target;
    float weights[24], biases[6], scales[6];
    size_t units[6];
};

enum grid { FREE_SCALES, POW2_SCALES };

/* Scales with which the greatest magnitude is the last of so many levels. */
static void set_scales(struct layer *layer, int32_t levels, bool channels, enum grid grid)
{
    float most[6] = {0}, all = 0;
    for (size_t i = 0; i < 24; i++) {
        most[i / 4] = fmaxf(most[i / 4], fabsf(layer->weights[i]));
        all = fmaxf(all, most[i / 4]);
    }
    for (size_t i = 0; i < 6; i++) {
        const float scale = (channels ? most[i] : all) / (float)levels;
        layer->scales[i] = grid == POW2_SCALES ? exp2f(roundf(log2f(scale))) : scale;
        layer->units[i] = channels ? i : 0;
    }
    layer->target.grid = (struct by_round_grid){.spans = 1,
                                                .span = 4,
                                                .scales = layer->scales,
                                                .low = -levels,
                                                .high = levels,
                                                .units = layer->units,
                                                .pow2 = grid == POW2_SCALES};
}

static void conv_layer(struct layer *layer, struct numbers *numbers)
{
    for (size_t i = 0; i < 24; i++)
        layer->weights[i] = draw(5);
    for (size_t i = 0; i < 6; i++)
        layer->biases[i] = draw(5);
    layer->target = (struct by_round_target){
        .rows = {.kind = BY_LAYER_CONV,
                 .name = "y",
                 .groups = 2,
                 .columns = 4,
                 .spatial = 2,
                 .channels = 4,
                 .kernel = {1, 2},
                 .stride = {1, 1},
                 .dilation = {1, 1}},
        .groups = 2,
        .outs = 3,
        .columns = 4,
        .weights = layer->weights,
        .biases = layer->biases,
        .low = -INFINITY,
        .high = INFINITY,
    };
    set_scales(layer, 127, false, FREE_SCALES);
    numbers->in = numbers_of(numbers->x, 4, (const int64_t[]){2, 4, 1, 5});
    numbers->out = numbers_of(numbers->y, 4, (const int64_t[]){2, 6, 1, 4});
}

static double conv_x(const struct numbers *numbers, size_t group, size_t row, size_t column)
{
    const size_t channel = group * 2 + column / 2, at = row % 4 + column % 2;
    return (double)numbers->x[(row / 4 * 4 + channel) * 5 + at];
}

static double conv_y(const struct numbers *numbers, size_t group, size_t row, size_t out)
{
    return (double)numbers->y[(row / 4 * 6 + group * 3 + out) * 4 + row % 4];
}

static void assert_close(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-5 * (1 + fabs(wanted))))
        fail_msg("%.9g is not %.9g", found, wanted);
}

static double mean_of(double value(const struct numbers *, size_t, size_t, size_t),
                      const struct numbers *numbers, size_t rows, size_t group, size_t which)
{
    double sum = 0;
    for (size_t row = 0; row < rows; row++)
        sum += value(numbers, group, row, which);
    return sum / (double)rows;
}

/* Rows but for those that are left out, at the end. */
static void check_group(const struct by_round_moments *moments, const struct numbers *numbers,
                        size_t rows, size_t g, bool centred)
{
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            double sum = 0;
            for (size_t row = 0; row < rows; row++)
                sum += conv_x(numbers, g, row, i) * conv_x(numbers, g, row, k);
            const double shift = centred ? mean_of(conv_x, numbers, rows, g, i) *
                                               mean_of(conv_x, numbers, rows, g, k)
                                         : 0;
            assert_close((double)moments->gram[(g * 4 + i) * 4 + k], sum / (double)rows - shift);
        }
    for (size_t o = 0; o < 3; o++)
        for (size_t i = 0; i < 4; i++) {
            double sum = 0;
            for (size_t row = 0; row < rows; row++)
                sum += conv_y(numbers, g, row, o) * conv_x(numbers, g, row, i);
            const double shift = centred ? mean_of(conv_y, numbers, rows, g, o) *
                                               mean_of(conv_x, numbers, rows, g, i)
                                         : 0;
            assert_close((double)moments->cross[(g * 3 + o) * 4 + i], sum / (double)rows - shift);
            assert_close(moments->x[g * 4 + i], mean_of(conv_x, numbers, rows, g, i));
            assert_close(moments->y[g * 3 + o], mean_of(conv_y, numbers, rows, g, o));
        }
}

/* Looked at `looks` times, which changes nothing of the means. */
static void check_moments(bool centred, size_t looks, bool spoiled)
{
    struct layer layer;
    struct by_round_moments moments;
    struct numbers numbers;
    conv_layer(&layer, &numbers);
    if (spoiled) /* the last row of the last image */
        numbers.y[(6 + 4) * 4 + 3] = NAN;
    assert_ok(by_round_moments_init(&moments, &layer.target, &err));
    for (size_t i = 0; i < looks; i++)
        assert_ok(by_round_moments_look(&moments, scratch, &layer.target, &numbers.in, &numbers.out,
                                        i, &err));
    const size_t rows = spoiled ? 7 : 8;
    assert_int_equal(moments.rows, looks * rows);
    assert_int_equal(by_round_left_out(scratch), looks * (8 - rows));
    assert_ok(by_round_moments_finish(&moments, centred, NULL, &err));
    for (size_t g = 0; g < 2; g++)
        check_group(&moments, &numbers, rows, g, centred);
    by_round_moments_release(&moments);
    finish(NULL);
    prepare(NULL);
}

static void test_moments(void **state)
{
    (void)state;
    check_moments(false, 1, false);
    check_moments(true, 1, false);
    check_moments(true, 3, false);
    check_moments(true, 2, true);
}

/* --- Moments that others gathered --- */

struct given {
    struct by_moments_layer layer;
    struct by_moments moments;
};

static void given_means(void *context, size_t group, double *x)
{
    const struct given *given = context;
    by_moments_mean(&given->moments, &given->layer, group, x);
}

static int given_gram(void *context, size_t group, const double *means, float *gram,
                      struct baryon_error *problem)
{
    const struct given *given = context;
    struct by_moments_tile tile;
    (void)problem;
    by_moments_tile_at(&given->layer, group, &tile);
    by_moments_put_tile(&given->moments.tiles[group], &tile, 4, 1 / (double)given->moments.rows,
                        means, gram);
    return 0;
}

/* What a statistics file has of the layer's inputs. */
static void gather_given(struct given *given, const struct layer *layer,
                         const struct numbers *numbers)
{
    struct by_moments_scratch *room;
    given->layer = layer->target.rows;
    assert_ok(by_moments_scratch_open(&room, 1, &err));
    assert_ok(by_moments_init(&given->moments, &given->layer, 0, 2, &err));
    assert_ok(by_moments_look(&given->moments, &given->layer, room, &numbers->in, 0, NULL, &err));
    by_moments_scratch_close(room);
}

/* The float layer's own outputs for its inputs. */
static void compute_outputs(const struct layer *layer, struct numbers *numbers)
{
    for (size_t g = 0; g < 2; g++)
        for (size_t o = 0; o < 3; o++)
            for (size_t row = 0; row < 8; row++) {
                double sum = layer->target.biases ? (double)layer->biases[g * 3 + o] : 0;
                for (size_t i = 0; i < 4; i++)
                    sum += (double)layer->weights[(g * 3 + o) * 4 + i] * conv_x(numbers, g, row, i);
                numbers->y[(row / 4 * 6 + g * 3 + o) * 4 + row % 4] = (float)sum;
            }
}

/* Solved on samples, and on a Gram matrix of these: the same integers, biases and errors. */
static void compare_given(bool with_biases, bool scales)
{
    struct layer layer;
    struct numbers numbers;
    struct given given;
    struct by_round_moments seen, taken;
    struct by_round_choice choices[2][2] = {0};
    double noise[2] = {0}, cost[2] = {0};
    const struct by_round_options options = {.damping = 0.05, .scales = scales};
    conv_layer(&layer, &numbers);
    set_scales(&layer, 3, true, FREE_SCALES);
    layer.target.biases = with_biases ? layer.biases : NULL;
    compute_outputs(&layer, &numbers);
    gather_given(&given, &layer, &numbers);
    const struct by_round_given source = {given.moments.rows, given_means, given_gram, &given};
    assert_ok(by_round_moments_init(&seen, &layer.target, &err));
    assert_ok(
        by_round_moments_look(&seen, scratch, &layer.target, &numbers.in, &numbers.out, 0, &err));
    assert_ok(by_round_moments_finish(&seen, with_biases, NULL, &err));
    assert_ok(by_round_moments_take(&taken, &layer.target, &source, NULL, &err));
    assert_int_equal(taken.rows, 8);
    for (size_t i = 0; i < 32; i++)
        assert_close((double)taken.gram[i], (double)seen.gram[i]);
    for (size_t i = 0; i < 24; i++)
        assert_close((double)taken.cross[i], (double)seen.cross[i]);
    for (size_t i = 0; i < 6; i++)
        assert_close(taken.y[i], seen.y[i]);
    assert_ok(
        by_round_solve(&layer.target, &seen, &options, NULL, &choices[0][0], &choices[0][1], &err));
    assert_ok(by_round_solve(&layer.target, &taken, &options, NULL, &choices[1][0], &choices[1][1],
                             &err));
    const struct by_round_choice *one = &choices[0][0], *other = &choices[1][0];
    assert_memory_equal(one->integers, other->integers, 24 * sizeof *one->integers);
    assert_int_equal(!choices[0][1].scales, !choices[1][1].scales);
    for (size_t i = 0; with_biases && i < 6; i++)
        assert_close((double)one->biases[i], (double)other->biases[i]);
    struct by_round_errors errors = {.choices = one, .count = 2, .noise = noise};
    struct by_round_errors costs = {.choices = one, .count = 2, .noise = cost};
    const struct by_round_choice both[2] = {*one, choices[1][1].scales ? choices[1][1] : *other};
    errors.choices = costs.choices = both;
    by_round_moments_release(&taken);
    assert_ok(by_round_moments_take(&taken, &layer.target, &source, NULL, &err));
    assert_ok(
        by_round_errors_look(&errors, scratch, &layer.target, &numbers.in, &numbers.out, 0, &err));
    assert_ok(by_round_errors_take(&costs, &layer.target, &taken, NULL, &err));
    assert_true(noise[0] > 0 && errors.signal > noise[0]);
    assert_close(8 * costs.signal, errors.signal);
    for (size_t i = 0; i < 2; i++)
        assert_close(8 * cost[i], noise[i]);
    for (size_t i = 0; i < 4; i++)
        by_round_choice_release(&choices[i / 2][i % 2]);
    by_round_moments_release(&seen);
    by_round_moments_release(&taken);
    by_moments_release(&given.moments);
}

static void test_given(void **state)
{
    (void)state;
    compare_given(true, false);
    compare_given(false, false);
    compare_given(true, true);
    compare_given(false, true);
}

static void test_errors(void **state)
{
    (void)state;
    struct layer layer;
    struct numbers numbers;
    float weights[2][24], biases[6];
    double noise[2] = {0}, wanted[2] = {0}, signal = 0;
    conv_layer(&layer, &numbers);
    numbers_of(weights[0], 1, (const int64_t[]){24});
    numbers_of(weights[1], 1, (const int64_t[]){24});
    numbers_of(biases, 1, (const int64_t[]){6});
    const struct by_round_choice choices[2] = {{.weights = weights[0], .biases = biases},
                                               {.weights = weights[1]}};
    struct by_round_errors errors = {.choices = choices, .count = 2, .noise = noise};
    for (size_t g = 0; g < 2; g++)
        for (size_t o = 0; o < 3; o++)
            for (size_t row = 0; row < 8; row++) {
                const double y = conv_y(&numbers, g, row, o);
                signal += y * y;
                for (size_t k = 0; k < 2; k++) {
                    double left = y - (k ? 0 : (double)biases[g * 3 + o]);
                    for (size_t c = 0; c < 4; c++)
                        left -=
                            (double)weights[k][(g * 3 + o) * 4 + c] * conv_x(&numbers, g, row, c);
                    wanted[k] += left * left;
                }
            }
    for (size_t i = 1; i <= 2; i++) {
        assert_ok(by_round_errors_look(&errors, scratch, &layer.target, &numbers.in, &numbers.out,
                                       i, &err));
        assert_close(errors.signal, (double)i * signal);
        assert_close(noise[0], (double)i * wanted[0]);
        assert_close(noise[1], (double)i * wanted[1]);
    }
}

/* --- The activation after --- */

static double product(const struct numbers *numbers, const float *weights, size_t g, size_t row,
                      size_t o)
{
    double sum = 0;
    for (size_t c = 0; c < 4; c++)
        sum += (double)weights[(g * 3 + o) * 4 + c] * conv_x(numbers, g, row, c);
    return sum;
}

/* The bias that is left for weights. */
static double bias_for(const struct numbers *numbers, const float *weights, size_t g, size_t o)
{
    double sum = 0;
    for (size_t row = 0; row < 8; row++)
        sum += conv_y(numbers, g, row, o) - product(numbers, weights, g, row, o);
    return sum / 8;
}

/* What one output of one row is to give. */
static double aim_of(const struct numbers *numbers, const struct by_round_target *target,
                     const struct by_round_behind *at, size_t g, size_t row, size_t o)
{
    const double y = conv_y(numbers, g, row, o), low = (double)target->low,
                 high = (double)target->high;
    const double exact = product(numbers, at->exact, g, row, o) +
                         (at->centred ? bias_for(numbers, at->exact, g, o) : 0);
    const double now =
        product(numbers, at->now, g, row, o) + (at->centred ? bias_for(numbers, at->now, g, o) : 0);
    return y <= low    ? fmin(now, low)
           : y >= high ? fmax(now, high)
                       : (1 - at->mix) * y + at->mix * exact;
}

static void check_aim(const struct numbers *numbers, const struct by_round_target *target,
                      const struct by_round_behind *at, const float *cross, const double *y)
{
    for (size_t g = 0; g < 2; g++)
        for (size_t o = 0; o < 3; o++) {
            double sums[4] = {0}, sum = 0;
            for (size_t row = 0; row < 8; row++) {
                const double aim = aim_of(numbers, target, at, g, row, o);
                for (size_t c = 0; c < 4; c++)
                    sums[c] += aim * conv_x(numbers, g, row, c) / 8;
                sum += aim / 8;
            }
            for (size_t c = 0; c < 4; c++)
                assert_close((double)cross[(g * 3 + o) * 4 + c],
                             sums[c] - (at->centred ? sum * mean_of(conv_x, numbers, 8, g, c) : 0));
            if (at->centred)
                assert_close(y[g * 3 + o], sum);
        }
}

/* cross of what is aimed at by those who look at everything */
static void mix_moments(struct by_round_moments *moments, const float *exact, double share)
{
    for (size_t i = 0; i < 24; i++) {
        const float *gram = moments->gram + i / 12 * 16;
        double sum = 0;
        for (size_t c = 0; c < 4; c++)
            sum += (double)exact[i / 4 * 4 + c] * (double)gram[i % 4 * 4 + c];
        moments->cross[i] = (float)((1 - share) * (double)moments->cross[i] + share * sum);
    }
}

static void check_behind(bool centred, double share)
{
    struct layer layer;
    struct by_round_moments moments;
    struct numbers numbers;
    float exact[24], now[24], cross[24];
    double y[6];
    conv_layer(&layer, &numbers);
    layer.target.low = -0.3F;
    layer.target.high = 0.6F;
    numbers_of(exact, 1, (const int64_t[]){24});
    numbers_of(now, 1, (const int64_t[]){24});
    assert_ok(by_round_moments_init(&moments, &layer.target, &err));
    assert_ok(by_round_moments_look(&moments, scratch, &layer.target, &numbers.in, &numbers.out, 0,
                                    &err));
    assert_ok(by_round_moments_finish(&moments, centred, NULL, &err));
    mix_moments(&moments, exact, share);
    struct by_round_behind at = {.moments = &moments,
                                 .exact = exact,
                                 .now = now,
                                 .now_y = moments.y,
                                 .mix = share,
                                 .centred = centred};
    assert_ok(by_round_behind_open(&at, &err));
    for (size_t i = 0; i < 3; i++)
        assert_ok(
            by_round_behind_look(&at, scratch, &layer.target, &numbers.in, &numbers.out, i, &err));
    assert_int_equal(at.rows, 24);
    by_round_behind_aim(&at, cross, y);
    check_aim(&numbers, &layer.target, &at, cross, y);
    by_round_behind_close(&at);
    by_round_moments_release(&moments);
    finish(NULL);
    prepare(NULL);
}

/* What three samples add up to, of which the first ones are kept if there is the room. */
static void look_again_at_three(size_t budget, size_t kept, float cross[24])
{
    struct layer layer;
    struct numbers numbers;
    struct by_round_moments moments;
    float exact[24], now[24];
    conv_layer(&layer, &numbers);
    layer.target.low = 0;
    numbers_of(exact, 1, (const int64_t[]){24});
    numbers_of(now, 1, (const int64_t[]){24});
    assert_ok(by_round_moments_init(&moments, &layer.target, &err));
    by_round_keep(scratch, budget);
    for (size_t i = 0; i < 3; i++) {
        numbers.x[5] = (float)i;
        assert_ok(by_round_moments_look(&moments, scratch, &layer.target, &numbers.in, &numbers.out,
                                        i, &err));
    }
    assert_int_equal(by_round_kept_samples(scratch), kept);
    struct by_round_behind at = {
        .moments = &moments, .exact = exact, .now = now, .now_y = moments.y};
    assert_ok(by_round_behind_open(&at, &err));
    assert_ok(by_round_behind_look_kept(&at, scratch, &layer.target, &err));
    for (size_t i = kept; i < 3; i++) {
        numbers.x[5] = (float)i;
        assert_ok(
            by_round_behind_look(&at, scratch, &layer.target, &numbers.in, &numbers.out, i, &err));
    }
    assert_int_equal(at.rows, 24);
    memcpy(cross, at.cross, 24 * sizeof *cross);
    by_round_behind_close(&at);
    by_round_moments_release(&moments);
    finish(NULL);
    prepare(NULL);
}

#define SAMPLE (8 * (2 * 4 + 6) * sizeof(float)) /* bytes: rows, columns, outputs */

static void kept_rows_are_those_of_the_sample(void **state)
{
    float all[24], some[24], none[24];
    (void)state;
    look_again_at_three(0, 0, none);
    look_again_at_three(2 * SAMPLE + 1, 2, some);
    look_again_at_three(4 * SAMPLE, 3, all);
    assert_memory_equal(some, none, sizeof none);
    assert_memory_equal(all, none, sizeof none);
}

static int note_chunk(void *context, const struct by_round_chunk *chunk, struct baryon_error *error)
{
    struct by_round_chunk *noted = context;
    (void)error;
    *noted = *chunk;
    return 0;
}

/* One chunk, in which each column has its rows of one sample after the other. */
static void kept_samples_are_joined(void **state)
{
    struct layer layer;
    struct numbers numbers;
    struct by_round_moments moments;
    struct by_round_chunk all;
    float first[3];
    (void)state;
    conv_layer(&layer, &numbers);
    assert_ok(by_round_moments_init(&moments, &layer.target, &err));
    by_round_keep(scratch, 1 << 20);
    for (size_t i = 0; i < 3; i++) {
        numbers.y[0] = first[i] = (float)(i + 7);
        assert_ok(by_round_moments_look(&moments, scratch, &layer.target, &numbers.in, &numbers.out,
                                        i, &err));
    }
    assert_ok(by_round_each_kept(scratch, &layer.target, note_chunk, &all, &err));
    assert_int_equal(all.length, moments.rows);
    assert_int_equal(all.length % 3, 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(all.y[i * all.length / 3] == first[i]);
    assert_ok(by_round_each_kept(scratch, &layer.target, note_chunk, &all, &err));
    assert_int_equal(all.length, moments.rows);
    assert_int_equal(by_round_kept_samples(scratch), 3);
    by_round_moments_release(&moments);
    finish(NULL);
    prepare(NULL);
}

static void test_behind(void **state)
{
    (void)state;
    check_behind(true, 0);
    check_behind(true, 0.25);
    check_behind(false, 0);
    check_behind(false, 0.75);
}

struct shown {
    struct numbers numbers;
    struct layer layer;
    size_t looks;
};

static int show(void *context, struct by_round_behind *at, struct baryon_error *error)
{
    struct shown *shown = context;
    shown->looks++;
    return by_round_behind_look(at, scratch, &shown->layer.target, &shown->numbers.in,
                                &shown->numbers.out, 0, error);
}

static double cut(const struct by_round_target *target, double value)
{
    return fmax(fmin(value, (double)target->high), (double)target->low);
}

/* Error after the activation, of what is solved. */
static double error_behind(struct shown *shown, bool looking)
{
    struct by_round_moments moments;
    struct by_round_choice choice;
    const struct by_round_options options = {.look = looking ? show : NULL, .context = shown};
    double sum = 0;
    shown->looks = 0;
    assert_ok(by_round_moments_init(&moments, &shown->layer.target, &err));
    assert_ok(by_round_moments_look(&moments, scratch, &shown->layer.target, &shown->numbers.in,
                                    &shown->numbers.out, 0, &err));
    assert_ok(by_round_moments_finish(&moments, true, NULL, &err));
    assert_ok(by_round_solve(&shown->layer.target, &moments, &options, NULL, &choice, NULL, &err));
    assert_int_equal(shown->looks, looking ? 2 : 0); /* at the start, and at what came of it */
    for (size_t g = 0; g < 2; g++)
        for (size_t o = 0; o < 3; o++)
            for (size_t row = 0; row < 8; row++) {
                const double given = product(&shown->numbers, choice.weights, g, row, o) +
                                     (double)choice.biases[g * 3 + o];
                const double left = cut(&shown->layer.target, given) -
                                    cut(&shown->layer.target, conv_y(&shown->numbers, g, row, o));
                sum += left * left;
            }
    by_round_choice_release(&choice);
    by_round_moments_release(&moments);
    return sum;
}

/* What the layer gives with its float weights. */
static void set_outputs(struct shown *shown)
{
    const float *weights = shown->layer.weights;
    for (size_t g = 0; g < 2; g++)
        for (size_t o = 0; o < 3; o++)
            for (size_t row = 0; row < 8; row++)
                shown->numbers.y[(row / 4 * 6 + g * 3 + o) * 4 + row % 4] =
                    (float)product(&shown->numbers, weights, g, row, o) + 0.1F;
}

/* What is aimed at is nowhere below the error after the activation, and is the same where it
 * starts, but where Relu cuts off what ought to be there. */
static void test_less_error_behind(void **state)
{
    (void)state;
    double sum = 0, sum_seeing = 0;
    size_t less = 0;
    for (size_t i = 0; i < 40; i++) {
        struct shown shown;
        drawn = i * 131;
        conv_layer(&shown.layer, &shown.numbers);
        set_scales(&shown.layer, 7, false, FREE_SCALES);
        set_outputs(&shown);
        shown.layer.target.low = 0;
        const double all = error_behind(&shown, false), seeing = error_behind(&shown, true);
        sum += all;
        sum_seeing += seeing;
        less += seeing < all * 0.99;
        if (!(seeing <= all * 1.05))
            fail_msg("%zu: %.9g grew to %.9g", i, all, seeing);
        finish(NULL);
        prepare(NULL);
    }
    if (!(sum_seeing < 0.97 * sum) || less < 10)
        fail_msg("%.9g and %.9g, %zu less", sum, sum_seeing, less);
}

/* --- Scales --- */

/* Of an output: what it gives away from what its float weights give, on all rows. */
static double error_of(const struct numbers *numbers, const float *exact, const float *weights,
                       size_t g, size_t o, bool centred)
{
    double sum = 0, squares = 0;
    for (size_t row = 0; row < 8; row++) {
        const double left =
            product(numbers, exact, g, row, o) - product(numbers, weights, g, row, o);
        sum += left;
        squares += left * left;
    }
    return squares - (centred ? sum * sum / 8 : 0);
}

static void compare_scales(const struct by_round_choice *solved,
                           const struct by_round_choice *scaled, const struct by_round_choice *was,
                           const float *scales, bool channels, bool pow2)
{
    for (size_t out = 0; out < 6; out++) {
        const float old = scales[out], now = scaled->scales[out];
        assert_true(now > old * 0.2F && now < old * 4);
        if (pow2)
            assert_true(now == old || now == old * 2 || now == old / 2);
        if (!channels)
            assert_true(now == scaled->scales[0]);
        for (size_t i = out * 4; i < out * 4 + 4; i++) {
            assert_close((double)scaled->weights[i], (double)scaled->integers[i] * (double)now);
            assert_close((double)solved->weights[i], (double)solved->integers[i] * (double)old);
            /* next to the float weight, or the last level */
            assert_true(abs(scaled->integers[i]) == 7 ||
                        fabsf(scaled->weights[i] - was->weights[i]) < now * 1.0001F);
        }
    }
}

/* How much the layer's errors are with scales that are solved, as a share of those without; 1 where
 * the scales stay as they are, for which there is no choice then. */
static double check_scales(size_t seed, bool channels, bool pow2)
{
    struct layer layer;
    struct by_round_moments moments;
    struct by_round_choice solved, scaled, exact;
    struct numbers numbers;
    const struct by_round_options options = {.mix = 1, .scales = true};
    double sum = 0, sum_scaled = 0;
    drawn = seed * 977;
    conv_layer(&layer, &numbers);
    set_scales(&layer, 7, channels, pow2 ? POW2_SCALES : FREE_SCALES);
    assert_ok(by_round_moments_init(&moments, &layer.target, &err));
    assert_ok(by_round_moments_look(&moments, scratch, &layer.target, &numbers.in, &numbers.out, 0,
                                    &err));
    assert_ok(by_round_moments_finish(&moments, true, NULL, &err));
    assert_ok(by_round_exact(&layer.target, &exact, &err));
    assert_ok(by_round_solve(&layer.target, &moments, &options, NULL, &solved, &scaled, &err));
    if (scaled.scales)
        compare_scales(&solved, &scaled, &exact, layer.scales, channels, pow2);
    else
        assert_true(!scaled.integers && !scaled.weights && !scaled.biases);
    for (size_t out = 0; out < 6 && scaled.scales; out++) {
        const double one =
            error_of(&numbers, exact.weights, solved.weights, out / 3, out % 3, true);
        const double other =
            error_of(&numbers, exact.weights, scaled.weights, out / 3, out % 3, true);
        sum += one;
        sum_scaled += other;
        if (channels)
            assert_true(other <= one + 1e-5);
    }
    assert_true(sum_scaled <= sum + 1e-5);
    const double share = scaled.scales ? sum_scaled / sum : 1;
    by_round_choice_release(&solved);
    by_round_choice_release(&scaled);
    by_round_choice_release(&exact);
    by_round_moments_release(&moments);
    finish(NULL);
    prepare(NULL);
    return share;
}

static void test_scales(void **state)
{
    (void)state;
    size_t better[2] = {0}, stay = 0;
    for (size_t i = 0; i < 10; i++) {
        better[0] += check_scales(i, false, false) < 0.9;
        better[1] += check_scales(i, true, false) < 0.9;
    }
    for (size_t i = 0; i < 200; i++)
        stay += check_scales(i, false, true) == 1; /* half or double is seldom better */
    if (better[0] < 5 || better[1] < 8 || stay < 150 || stay == 200)
        fail_msg("better: %zu and %zu, as they are: %zu", better[0], better[1], stay);
}

static void test_shapes_that_do_not_fit(void **state)
{
    (void)state;
    struct layer layer;
    struct by_round_moments moments;
    struct numbers numbers;
    conv_layer(&layer, &numbers);
    assert_ok(by_round_moments_init(&moments, &layer.target, &err));
    numbers.out = numbers_of(numbers.y, 4, (const int64_t[]){2, 6, 1, 3});
    assert_err(
        by_round_moments_look(&moments, scratch, &layer.target, &numbers.in, &numbers.out, 0, &err),
        BARYON_ERR_INTERNAL, "layer 'y' has 36 output values, expected 48");
    assert_int_equal(moments.rows, 0);
    by_round_moments_release(&moments);
}

static void samples_share_the_rows_that_columns_need(void **state)
{
    (void)state;
    assert_int_equal(by_rows_wanted(100, 1), 1024);
    assert_int_equal(by_rows_wanted(8192, 1), 4096);
    assert_int_equal(by_rows_wanted(8192, 0), 4096);
    assert_int_equal(by_rows_wanted(8192, 8), 512);
    assert_int_equal(by_rows_wanted(4096, 24), 1024);
    assert_int_equal(by_rows_wanted(8192, 24), 170);
    assert_int_equal(by_rows_wanted(8192, 1000), 128);
    assert_int_equal(by_rows_wanted(5120, 1), 6553);
    assert_int_equal(by_rows_wanted(20480, 1), 10240);
}

static void few_columns_need_few_rows(void **state)
{
    (void)state;
    assert_int_equal(by_rows_enough(9, 24), 64);
    assert_int_equal(by_rows_enough(96, 24), 64);
    assert_int_equal(by_rows_enough(97, 24), 65);
    assert_int_equal(by_rows_enough(192, 24), 128);
    assert_int_equal(by_rows_enough(384, 24), 256);
    assert_int_equal(by_rows_enough(1536, 24), 1024);
    assert_int_equal(by_rows_enough(9, 1), 144);
    assert_int_equal(by_rows_enough(9, 0), 144);
    assert_int_equal(by_rows_enough(8192, 24), 170);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_share_the_rows_that_columns_need),
        cmocka_unit_test(few_columns_need_few_rows),
        cmocka_unit_test_setup_teardown(test_moments, prepare, finish),
        cmocka_unit_test_setup_teardown(test_given, prepare, finish),
        cmocka_unit_test_setup_teardown(test_errors, prepare, finish),
        cmocka_unit_test_setup_teardown(test_behind, prepare, finish),
        cmocka_unit_test_setup_teardown(kept_rows_are_those_of_the_sample, prepare, finish),
        cmocka_unit_test_setup_teardown(kept_samples_are_joined, prepare, finish),
        cmocka_unit_test_setup_teardown(test_less_error_behind, prepare, finish),
        cmocka_unit_test_setup_teardown(test_scales, prepare, finish),
        cmocka_unit_test_setup_teardown(test_shapes_that_do_not_fit, prepare, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
