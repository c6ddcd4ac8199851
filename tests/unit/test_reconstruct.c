/* The driver that goes from layer to layer, on two dense layers made of plain arrays: no graph, no
 * runtime. */
#include "reconstruct/reconstruct.h"

#include "base/decibels.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define IN      12 /* y = w1 relu(w0 x + b0) + b1 */
#define HIDDEN  16
#define OUT     6
#define ROWS    40 /* of a sample */
#define TRAIN   6
#define JUDGING 2
#define SAMPLES (TRAIN + JUDGING)
#define MOST    (ROWS * HIDDEN) /* numbers of a value in a sample */
#define WEIGHTS (HIDDEN * IN)   /* of either layer at most */
#define LEVELS  3               /* integers from -3 to 3 */

struct dense {
    size_t ins, outs;
    float weights[WEIGHTS], biases[HIDDEN], scales[HIDDEN];
    size_t units[HIDDEN];
    float now[WEIGHTS], now_biases[HIDDEN]; /* in the quantized model */
    int32_t integers[WEIGHTS];              /* that were patched in */
    bool patched;
    struct by_round_target target;
};

struct network {
    struct dense layers[2];
    float inputs[SAMPLES][MOST];
    size_t place; /* the layer in hand */
    float read[MOST], wanted[MOST];
    struct by_array x, y;
    double sqnr; /* of the last time it was judged; below 0: it was not */
    size_t undone, left;
    bool contrary;          /* held-out samples want the nearest integers in the first layer */
    bool never_better;      /* what the judge says at the end */
    bool may_rescale;       /* answers rescale() with yes */
    size_t rescaled, limit; /* layers after which it is time to stop; 0: never */
    bool shows_moments;     /* of what layers read in the float model; no samples */
};

/* --- The network --- */

static float value_at(uint64_t stream, uint64_t index)
{
    return (float)by_rng_normal(7, stream, index);
}

/* Scales with which the greatest magnitude of an output is the last level. */
static void set_grid(struct dense *layer)
{
    for (size_t out = 0; out < layer->outs; out++) {
        float most = 0;
        for (size_t i = 0; i < layer->ins; i++)
            most = fmaxf(most, fabsf(layer->weights[out * layer->ins + i]));
        layer->scales[out] = most / LEVELS;
        layer->units[out] = out;
    }
    layer->target.grid = (struct by_round_grid){.spans = 1,
                                                .span = layer->ins,
                                                .scales = layer->scales,
                                                .low = -LEVELS,
                                                .high = LEVELS,
                                                .units = layer->units};
}

static void set_nearest(struct dense *layer)
{
    layer->patched = false;
    for (size_t i = 0; i < layer->outs * layer->ins; i++) {
        const float scale = layer->scales[i / layer->ins];
        layer->now[i] = nearbyintf(layer->weights[i] / scale) * scale;
    }
    memcpy(layer->now_biases, layer->biases, sizeof layer->biases);
}

static void make_layer(struct dense *layer, size_t place, size_t ins, size_t outs)
{
    layer->ins = ins;
    layer->outs = outs;
    for (size_t i = 0; i < ins * outs; i++)
        layer->weights[i] = value_at(place, i);
    for (size_t i = 0; i < outs; i++)
        layer->biases[i] = value_at(place + 10, i);
    layer->target = (struct by_round_target){
        .rows = {.kind = BY_LAYER_MATMUL,
                 .name = place ? "second" : "first",
                 .groups = 1,
                 .columns = (int64_t)ins},
        .groups = 1,
        .outs = outs,
        .columns = ins,
        .weights = layer->weights,
        .biases = layer->biases,
        .low = place ? -INFINITY : 0, /* Relu is after the first one */
        .high = INFINITY,
    };
    set_grid(layer);
    set_nearest(layer);
}

/* Inputs that hang together, so that errors of rounding can cancel each other. */
static void make_inputs(struct network *network)
{
    for (size_t i = 0; i < SAMPLES * ROWS; i++) {
        float *row = network->inputs[i / ROWS] + i % ROWS * IN;
        for (size_t k = 0; k < IN; k++)
            row[k] = value_at(20, i * IN + k) + value_at(21, i) + (k % 2 ? value_at(22, i) : 0);
    }
}

static struct network *new_network(void)
{
    struct network *network = by_alloc_zero(1, sizeof *network, &err);
    assert_non_null(network);
    make_layer(&network->layers[0], 0, IN, HIDDEN);
    make_layer(&network->layers[1], 1, HIDDEN, OUT);
    make_inputs(network);
    network->sqnr = -1;
    return network;
}

static void multiply(const struct dense *layer, bool now, bool relu, const float *from, float *to)
{
    const float *weights = now ? layer->now : layer->weights;
    const float *biases = now ? layer->now_biases : layer->biases;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t out = 0; out < layer->outs; out++) {
            double sum = (double)biases[out];
            for (size_t i = 0; i < layer->ins; i++)
                sum += (double)weights[out * layer->ins + i] * (double)from[row * layer->ins + i];
            to[row * layer->outs + out] = (float)(relu && sum < 0 ? 0 : sum);
        }
}

/* What the second layer reads. */
static void run_first(const struct network *network, bool now, size_t sample, float *to)
{
    multiply(&network->layers[0], now, true, network->inputs[sample], to);
}

static double sqnr_of(const struct network *network)
{
    double signal = 0, noise = 0;
    for (size_t sample = TRAIN; sample < SAMPLES; sample++) {
        float hidden[MOST], exact[MOST], rounded[MOST];
        run_first(network, false, sample, hidden);
        multiply(&network->layers[1], false, false, hidden, exact);
        run_first(network, true, sample, hidden);
        multiply(&network->layers[1], true, false, hidden, rounded);
        for (size_t i = 0; i < ROWS * OUT; i++) {
            const double left = (double)exact[i] - (double)rounded[i];
            signal += (double)exact[i] * (double)exact[i];
            noise += left * left;
        }
    }
    return by_decibels(signal, noise);
}

/* --- What the driver asks --- */

static int reach_layer(void *context, size_t place, const struct by_round_target **target,
                       struct baryon_error *error)
{
    struct network *network = context;
    (void)error;
    assert_int_equal(network->left, place); /* in order, each left before the next one */
    network->place = place;
    *target = &network->layers[place].target;
    return 0;
}

static struct by_array rows_of(const float *values, size_t width)
{
    return (struct by_array){.elem = BY_ELEM_FLOAT,
                             .rank = 2,
                             .dims = {ROWS, (int64_t)width},
                             .data = values,
                             .size = ROWS * width * sizeof *values};
}

static int read_sample(void *context, size_t sample, const struct by_array **x,
                       const struct by_array **y, struct baryon_error *error)
{
    struct network *network = context;
    const struct dense *layer = &network->layers[network->place];
    float hidden[MOST];
    (void)error;
    assert_true(sample < SAMPLES);
    if (network->place == 0) {
        memcpy(network->read, network->inputs[sample], ROWS * IN * sizeof(float));
        multiply(layer, network->contrary && sample >= TRAIN, false, network->read,
                 network->wanted);
    } else {
        run_first(network, true, sample, network->read);
        run_first(network, false, sample, hidden);
        multiply(layer, false, false, hidden, network->wanted);
    }
    network->x = rows_of(network->read, layer->ins);
    network->y = rows_of(network->wanted, layer->outs);
    *x = &network->x;
    *y = &network->y;
    return 0;
}

/* Inputs that have nothing to do with each other, for which the nearest integers are the best. */
static void make_contrary(struct by_round_moments *moments)
{
    for (size_t i = 0; i < moments->columns * moments->columns; i++)
        moments->gram[i] = i % (moments->columns + 1) == 0;
    memset(moments->x, 0, moments->columns * sizeof *moments->x);
}

static int read_moments(void *context, bool judging, struct by_round_moments *moments,
                        struct baryon_error *error)
{
    struct network *network = context;
    const struct dense *layer = &network->layers[network->place];
    struct by_round_scratch *scratch;
    const size_t first = judging ? TRAIN : 0, end = judging ? SAMPLES : TRAIN;
    assert_ok(by_round_scratch_open(&scratch, NULL, error));
    assert_ok(by_round_moments_init(moments, &layer->target, error));
    for (size_t sample = first; sample < end; sample++) {
        if (network->place == 0)
            memcpy(network->read, network->inputs[sample], ROWS * IN * sizeof(float));
        else
            run_first(network, false, sample, network->read);
        multiply(layer, false, false, network->read, network->wanted);
        network->x = rows_of(network->read, layer->ins);
        network->y = rows_of(network->wanted, layer->outs);
        assert_ok(by_round_moments_look(moments, scratch, &layer->target, &network->x, &network->y,
                                        sample, error));
    }
    by_round_scratch_close(scratch);
    assert_ok(by_round_moments_finish(moments, true, NULL, error));
    if (judging && network->contrary && network->place == 0)
        make_contrary(moments);
    return 0;
}

static int rescale_layer(void *context, const struct by_round_choice *choice, bool *moved,
                         struct baryon_error *error)
{
    struct network *network = context;
    (void)error;
    assert_non_null(choice->scales);
    network->rescaled++;
    *moved = network->may_rescale;
    return 0;
}

static int patch_layer(void *context, const struct by_round_choice *choice,
                       struct baryon_error *error)
{
    struct network *network = context;
    struct dense *layer = &network->layers[network->place];
    const float *scales = choice->scales ? choice->scales : layer->scales;
    (void)error;
    layer->patched = true;
    for (size_t i = 0; i < layer->outs * layer->ins; i++) {
        layer->integers[i] = choice->integers[i];
        layer->now[i] = (float)choice->integers[i] * scales[i / layer->ins];
        assert_true(abs(choice->integers[i]) <= LEVELS);
    }
    memcpy(layer->now_biases, choice->biases, layer->outs * sizeof(float));
    return 0;
}

static void leave_layer(void *context)
{
    ((struct network *)context)->left++;
}

static int judge_network(void *context, struct by_reconstruct_score *score,
                         struct baryon_error *error)
{
    struct network *network = context;
    (void)error;
    score->sqnr = sqnr_of(network);
    score->better = !network->never_better && score->sqnr > network->sqnr;
    score->against = network->sqnr;
    network->sqnr = score->sqnr;
    return 0;
}

static int undo_layers(void *context, struct baryon_error *error)
{
    struct network *network = context;
    (void)error;
    network->undone++;
    set_nearest(&network->layers[0]);
    set_nearest(&network->layers[1]);
    return 0;
}

static int add_key(void *context, struct by_hasher *hasher, struct baryon_error *error)
{
    const struct network *network = context;
    (void)error;
    by_hasher_add(hasher, network->inputs, sizeof network->inputs);
    return 0;
}

static int go_on(void *context, const struct by_reconstruct_progress *now,
                 struct baryon_error *error)
{
    const struct network *network = context;
    assert_int_equal(now->total, 2);
    assert_true(now->share >= 0 && now->share <= 1);
    return network->limit && now->done >= network->limit
               ? by_fail(error, BARYON_ERR_CANCELLED, "enough")
               : 0;
}

/* --- Runs --- */

struct outcome {
    struct by_solved solved;
    struct by_solved_layer layers[2];
};

static int run_driver(struct network *network, struct by_reconstruct_options options,
                      unsigned threads, struct outcome *outcome)
{
    const struct by_reconstruct_layer layers[] = {
        {.name = "first", .groups = 1, .outs = HIDDEN, .columns = IN, .places = ROWS},
        {.name = "second", .groups = 1, .outs = OUT, .columns = HIDDEN, .places = ROWS}};
    struct by_reconstruct_model model = {
        .context = network,
        .layers = layers,
        .layer_count = 2,
        .train = TRAIN,
        .judging = JUDGING,
        .held_out = true,
        .reach = reach_layer,
        .sample = read_sample,
        .rescale = rescale_layer,
        .patch = patch_layer,
        .leave = leave_layer,
        .judge = judge_network,
        .undo = undo_layers,
        .key = add_key,
    };
    if (network->shows_moments) {
        model.moments = read_moments;
        model.sample = NULL;
        model.judge = NULL;
        model.undo = NULL;
    }
    network->left = 0;
    assert_ok(by_pool_open(&options.pool, threads, &err));
    assert_ok(by_round_scratch_open(&options.scratch, options.pool, &err));
    options.round.mix = 0.5;
    options.round.damping = 0.01;
    options.progress = go_on;
    options.context = network;
    options.run_name = "";
    *outcome = (struct outcome){0};
    outcome->solved.layers = outcome->layers;
    const int status = by_reconstruct(&model, &options, &outcome->solved, &err);
    by_round_scratch_close(options.scratch);
    by_pool_close(options.pool);
    return status;
}

static void layers_get_better_and_are_kept(void **state)
{
    (void)state;
    struct outcome outcome;
    struct network *network = new_network();
    const double nearest = sqnr_of(network);
    assert_ok(run_driver(network, (struct by_reconstruct_options){0}, 1, &outcome));
    assert_true(outcome.solved.kept);
    assert_int_equal(outcome.solved.count, 2);
    assert_true(outcome.solved.before == nearest);
    assert_true(outcome.solved.after == sqnr_of(network));
    assert_true(outcome.solved.after > nearest + 1);
    for (size_t i = 0; i < 2; i++) {
        assert_true(outcome.layers[i].kept && network->layers[i].patched);
        assert_true(outcome.layers[i].solved > outcome.layers[i].nearest);
        assert_int_equal(outcome.layers[i].rows, TRAIN * ROWS);
    }
    assert_int_equal(outcome.layers[0].columns, IN);
    assert_int_equal(network->undone, 0);
    assert_int_equal(network->left, 2);
    by_free(network);
}

static void a_layer_that_held_out_samples_reject_stays(void **state)
{
    (void)state;
    struct outcome outcome;
    struct network *network = new_network();
    network->contrary = true;
    assert_ok(run_driver(network, (struct by_reconstruct_options){0}, 1, &outcome));
    assert_false(outcome.layers[0].kept || network->layers[0].patched);
    assert_true(outcome.layers[0].solved < outcome.layers[0].nearest);
    assert_true(outcome.layers[1].kept && network->layers[1].patched);
    by_free(network);
}

/* Nobody runs the model: layers are solved and judged one by one, on what is shown of them. */
static void layers_are_solved_on_moments_alone(void **state)
{
    (void)state;
    struct outcome outcome;
    struct network *network = new_network();
    const double nearest = sqnr_of(network);
    network->shows_moments = true;
    assert_ok(run_driver(network, (struct by_reconstruct_options){0}, 1, &outcome));
    assert_true(outcome.solved.kept && sqnr_of(network) > nearest + 1);
    const struct by_solved_layer *first = &outcome.layers[0], *second = &outcome.layers[1];
    assert_true(first->kept && first->solved > first->nearest);
    assert_true(second->kept && second->solved > second->nearest);
    assert_true(fabs(outcome.solved.before - (first->nearest + second->nearest) / 2) < 1e-9);
    assert_true(fabs(outcome.solved.after - (first->solved + second->solved) / 2) < 1e-9);
    by_free(network);

    network = new_network();
    network->shows_moments = network->contrary = true;
    assert_ok(run_driver(network, (struct by_reconstruct_options){0}, 1, &outcome));
    assert_false(first->kept || network->layers[0].patched);
    assert_true(first->solved < first->nearest);
    assert_true(second->kept && network->layers[1].patched && outcome.solved.kept);
    assert_true(fabs(outcome.solved.after - (first->nearest + second->solved) / 2) < 1e-9);
    assert_int_equal(network->left, 2);
    by_free(network);
}

static void all_is_undone_where_the_model_is_no_better(void **state)
{
    (void)state;
    struct outcome outcome;
    struct network *network = new_network();
    const double nearest = sqnr_of(network);
    network->never_better = true;
    assert_ok(run_driver(network, (struct by_reconstruct_options){0}, 1, &outcome));
    assert_false(outcome.solved.kept);
    assert_int_equal(network->undone, 1);
    assert_true(outcome.layers[0].kept); /* the layer by itself did get better */
    assert_true(sqnr_of(network) == nearest);
    by_free(network);
}

static void assert_same_layers(const struct network *one, const struct network *other)
{
    for (size_t i = 0; i < 2; i++) {
        const struct dense *a = &one->layers[i], *b = &other->layers[i];
        assert_int_equal(a->patched, b->patched);
        assert_memory_equal(a->integers, b->integers, sizeof a->integers);
        assert_memory_equal(a->now, b->now, sizeof a->now);
        assert_memory_equal(a->now_biases, b->now_biases, sizeof a->now_biases);
    }
}

static void check_threads(struct by_round_options round)
{
    struct outcome outcome;
    struct network *one = new_network();
    one->may_rescale = true;
    const struct by_reconstruct_options options = {.round = round};
    assert_ok(run_driver(one, options, 1, &outcome));
    for (unsigned threads = 2; threads <= 5; threads += 3) {
        struct network *other = new_network();
        other->may_rescale = true;
        assert_ok(run_driver(other, options, threads, &outcome));
        assert_same_layers(one, other);
        by_free(other);
    }
    by_free(one);
}

static void threads_change_no_integer(void **state)
{
    (void)state;
    check_threads((struct by_round_options){0});
    check_threads((struct by_round_options){.scales = true});
    check_threads((struct by_round_options){.starts = 3});
    check_threads((struct by_round_options){.gptq = true, .free = true});
    check_threads((struct by_round_options){.relaxation = 40});
}

static void scales_move_where_the_model_lets_them(void **state)
{
    (void)state;
    struct outcome fixed, free_ones, refused;
    struct network *networks[] = {new_network(), new_network(), new_network()};
    const struct by_reconstruct_options scales = {.round = {.scales = true}};
    networks[1]->may_rescale = true;
    assert_ok(run_driver(networks[0], (struct by_reconstruct_options){0}, 1, &fixed));
    assert_ok(run_driver(networks[1], scales, 1, &free_ones));
    assert_ok(run_driver(networks[2], scales, 1, &refused));
    assert_int_equal(networks[0]->rescaled, 0);
    assert_true(networks[1]->rescaled > 0 && networks[2]->rescaled > 0);
    assert_true(free_ones.solved.after > fixed.solved.after);
    assert_same_layers(networks[0], networks[2]);
    for (size_t i = 0; i < 3; i++)
        by_free(networks[i]);
}

#define CHECKPOINT "out.part"

static void an_interrupted_run_goes_on(void **state)
{
    (void)state;
    struct outcome outcome;
    struct network *whole = new_network(), *first = new_network(), *second = new_network();
    struct by_reconstruct_keep keep = {0}, again = {0};
    struct by_reconstruct_options options = {.checkpoint = CHECKPOINT, .keep = &keep};
    assert_ok(run_driver(whole, (struct by_reconstruct_options){0}, 1, &outcome));
    first->limit = 1;
    assert_error(run_driver(first, options, 1, &outcome), BARYON_ERR_CANCELLED, "enough");
    by_reconstruct_keep_close(&keep, NULL);
    assert_true(first->layers[0].patched && !first->layers[1].patched);
    options.keep = &again;
    assert_ok(run_driver(second, options, 2, &outcome));
    by_reconstruct_keep_close(&again, NULL);
    assert_same_layers(whole, second);
    assert_true(outcome.solved.kept && outcome.layers[0].kept);
    assert_int_equal(outcome.layers[0].rows, TRAIN * ROWS);
    by_free(whole);
    by_free(first);
    by_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_get_better_and_are_kept),
        cmocka_unit_test(a_layer_that_held_out_samples_reject_stays),
        cmocka_unit_test(layers_are_solved_on_moments_alone),
        cmocka_unit_test(all_is_undone_where_the_model_is_no_better),
        cmocka_unit_test(threads_change_no_integer),
        cmocka_unit_test(scales_move_where_the_model_lets_them),
        cmocka_unit_test_setup_teardown(an_interrupted_run_goes_on, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
