/* Models side by side see what they see alone: values are exact in floats, so that every figure can
 * be told beforehand. */
#include "engine_build.h"

#include "engine/twin.h"
#include "onnx/frame.h"

#include <math.h>

#define SAMPLES 5
#define ROWS    3

static float data[SAMPLES][ROWS * 2];
static struct by_array arrays[SAMPLES];
static const struct by_array *inputs[SAMPLES];

/* Sample i has 1 + i mod 3 rows. */
static int prepare(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const int64_t rows = 1 + (int64_t)i % ROWS;
        for (size_t k = 0; k < 2 * (size_t)rows; k++)
            data[i][k] = (float)((i * 7 + k * 5) % 17) / 4 - 2;
        arrays[i] = array_of("x", BY_ELEM_FLOAT, 2, (const int64_t[]){rows, 2}, data[i],
                             2 * (size_t)rows * sizeof(float));
        inputs[i] = &arrays[i];
    }
    return 0;
}

static const float one[4] = {1, -0.5F, 0.25F, 2}, other[4] = {0.5F, 1, -1, 0.25F};

/* a = x one, r = relu(a), y = r other */
static struct baryon_model *chain(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_values(model, "one", "2,2", one);
    put_values(model, "other", "2,2", other);
    put_node(model->graph, "first", "MatMul", "x,one", "a");
    put_node(model->graph, "relu", "Relu", "a", "r");
    put_node(model->graph, "second", "MatMul", "r,other", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_settle(model, &err));
    return model;
}

static struct baryon_model *copy_of(const struct by_frame *frame)
{
    struct baryon_model *copy;
    assert_ok(by_frame_copy(frame, &copy, &err));
    assert_ok(by_model_settle(copy, &err));
    return copy;
}

/* What a lowered copy is like: weights are others, the activation is left out and what it read took
 * its name, and an error stands before the second layer. */
static struct baryon_value *spoil(struct baryon_model *model)
{
    static const float wrong[4] = {1.25F, -0.5F, 0.25F, 1.75F}, error = 0.125F;
    const int64_t dims[2] = {2, 2};
    struct baryon_graph *graph = model->graph;
    struct baryon_node *first = node_at(graph, 0), *relu = node_at(graph, 1),
                       *second = node_at(graph, 2);
    struct baryon_value *weight = by_graph_add_initializer(
        graph, by_tensor_new(model, "wrong", BY_ELEM_FLOAT, dims, 2, wrong, sizeof wrong, &err),
        &err);
    struct baryon_value *added = by_graph_add_initializer(
        graph, by_tensor_new(model, "error", BY_ELEM_FLOAT, NULL, 0, &error, sizeof error, &err),
        &err);
    struct baryon_value *a = value_of(graph, "a"), *r = value_of(graph, "r");
    assert_ok(by_node_set_input(first, 1, weight, &err));
    assert_ok(by_node_set_input(relu, 0, NULL, &err));
    assert_ok(by_value_replace_uses(r, a, NULL, &err));
    assert_ok(by_graph_remove_node(relu, &err));
    assert_ok(by_value_rename(a, "r", &err));
    struct baryon_node *node = by_graph_insert_on_edge(second, 0, "Add", NULL, &added, 1, &err);
    assert_non_null(node);
    return by_node_out(node, 0);
}

/* --- What has to come out, in doubles --- */

struct wanted {
    double signal, noise, shift, peak;
    size_t count;
};

static void add(struct wanted *wanted, const double *exact, const double *found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double error = found[i] - exact[i];
        wanted->signal += exact[i] * exact[i];
        wanted->noise += error * error;
        wanted->shift += error;
        wanted->peak = fmax(wanted->peak, fabs(error));
        wanted->count++;
    }
}

static void multiply(const double *x, const float *w, size_t rows, double *out)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < 2; k++)
            out[2 * i + k] = x[2 * i] * (double)w[k] + x[2 * i + 1] * (double)w[2 + k];
}

/* Of the layers' results a and y, and of what the second one reads; in the whole, and alone. */
struct all {
    struct wanted a[2], y[2], read[2];
};

static struct all all_wanted(void)
{
    static const float wrong[4] = {1.25F, -0.5F, 0.25F, 1.75F};
    struct all all = {.a = {{.count = 0}}};
    for (size_t i = 0; i < SAMPLES; i++) {
        const size_t rows = (size_t)arrays[i].dims[0], count = 2 * rows;
        double x[2 * ROWS], a[2 * ROWS], r[2 * ROWS], y[2 * ROWS], spoilt[2 * ROWS], read[2 * ROWS],
            found[2 * ROWS];
        for (size_t k = 0; k < count; k++)
            x[k] = (double)data[i][k];
        multiply(x, one, rows, a);
        for (size_t k = 0; k < count; k++)
            r[k] = fmax(a[k], 0);
        multiply(r, other, rows, y);
        multiply(x, wrong, rows, spoilt);
        for (size_t local = 0; local < 2; local++) {
            add(&all.a[local], a, spoilt, count);
            for (size_t k = 0; k < count; k++)
                read[k] = (local ? a[k] : spoilt[k]) + 0.125;
            add(&all.read[local], r, read, count);
            multiply(read, other, rows, found);
            add(&all.y[local], y, found, count);
        }
    }
    return all;
}

static void assert_wanted(const struct by_twin *twin, size_t want, const struct wanted *wanted)
{
    for (size_t side = 0; side < 2; side++) {
        struct by_twin_value value;
        struct by_twin_error error;
        by_twin_value(twin, want, &value);
        by_twin_error(twin, want, side, &error);
        assert_int_equal(value.count, wanted[side].count);
        assert_true(value.signal == wanted[side].signal);
        assert_true(error.noise == wanted[side].noise);
        assert_true(error.shift == wanted[side].shift / (double)wanted[side].count);
        assert_true(error.peak == wanted[side].peak);
        assert_int_equal(error.lost, 0);
    }
}

/* --- Twins --- */

struct pair {
    struct baryon_model *source, *exact, *models[2];
    struct by_frame frame;
    struct by_twin *twin;
};

/* Wants: a, y, what the second layer reads. Sides: as it is, local. */
static void open_pair(struct pair *pair, int optimization)
{
    struct by_twin_side sides[2];
    const struct baryon_value *read[2];
    const struct by_session_options options = {.threads = 4, .optimization = optimization};
    pair->source = chain();
    assert_ok(by_frame_take(&pair->frame, pair->source, &err));
    pair->exact = copy_of(&pair->frame);
    for (size_t i = 0; i < 2; i++) {
        pair->models[i] = copy_of(&pair->frame);
        assert_ok(by_twin_side_open(&sides[i], pair->exact, pair->models[i], i, &err));
        read[i] = spoil(pair->models[i]);
    }
    struct baryon_value *const names[] = {value_of(pair->exact->graph, "a"),
                                          value_of(pair->exact->graph, "y"),
                                          value_of(pair->exact->graph, "r")};
    struct by_twin_want wants[3] = {{.value = names[0]}, {.value = names[1]}, {.value = names[2]}};
    for (size_t i = 0; i < 2; i++) {
        wants[0].others[i] = sides[i].same[names[0]->index];
        wants[1].others[i] = sides[i].same[names[1]->index];
        wants[2].others[i] = read[i];
        assert_null(sides[i].same[names[2]->index]->graph); /* left out */
    }
    wants[2].derived = true;
    assert_ok(by_twin_open(&pair->twin, pair->exact, sides, 2, wants, 3, &options, &err));
    for (size_t i = 0; i < 2; i++)
        by_twin_side_close(&sides[i]);
}

static void close_pair(struct pair *pair)
{
    by_twin_close(pair->twin);
    by_model_free(pair->models[0]); /* in any order */
    by_model_free(pair->exact);
    by_model_free(pair->models[1]);
    by_frame_release(&pair->frame);
    by_model_free(pair->source);
}

static void test_figures(void **state)
{
    (void)state;
    const struct all all = all_wanted();
    for (int optimization = 0; optimization < 2; optimization++)
        for (unsigned threads = 0; threads < 4; threads++) {
            struct pair pair;
            struct by_pool *pool = NULL;
            if (threads)
                assert_ok(by_pool_open(&pool, threads, &err));
            open_pair(&pair, optimization);
            assert_ok(by_twin_run(pair.twin, pool, inputs, 1, SAMPLES, &err));
            assert_wanted(pair.twin, 0, all.a);
            assert_wanted(pair.twin, 1, all.y);
            assert_wanted(pair.twin, 2, all.read);
            close_pair(&pair);
            by_pool_close(pool);
        }
}

/* Values whose sums round come out the same however samples are dealt out. */
static void test_any_threads(void **state)
{
    (void)state;
    struct by_twin_value values[4][3];
    struct by_twin_error errors[4][3][2];
    memset(values, 0, sizeof values);
    memset(errors, 0, sizeof errors);
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t k = 0; k < 6; k++)
            data[i][k] = draw(5) * powf(10, (float)i);
    for (unsigned threads = 1; threads < 4; threads++) {
        struct pair pair;
        struct by_pool *pool;
        assert_ok(by_pool_open(&pool, threads, &err));
        open_pair(&pair, 0);
        assert_ok(by_twin_run(pair.twin, pool, inputs, 1, 2, &err));
        assert_ok(by_twin_run(pair.twin, pool, inputs, 1, SAMPLES, &err));
        for (size_t i = 0; i < 3; i++) {
            by_twin_value(pair.twin, i, &values[threads][i]);
            by_twin_error(pair.twin, i, 0, &errors[threads][i][0]);
            by_twin_error(pair.twin, i, 1, &errors[threads][i][1]);
        }
        assert_memory_equal(values[threads], values[1], sizeof values[1]);
        assert_memory_equal(errors[threads], errors[1], sizeof errors[1]);
        close_pair(&pair);
        by_pool_close(pool);
    }
    assert_true(errors[1][0][0].noise > 0);
}

static void test_where_and_not_finite(void **state)
{
    (void)state;
    struct pair pair;
    struct by_twin_value value;
    struct by_twin_error error;
    data[2][2] = INFINITY; /* sample 2, row 1: all of that row of a is lost */
    open_pair(&pair, 0);
    assert_ok(by_twin_run(pair.twin, NULL, inputs, 1, SAMPLES, &err));
    by_twin_value(pair.twin, 0, &value);
    by_twin_error(pair.twin, 0, 0, &error);
    assert_int_equal(error.lost, 2);
    assert_true(isfinite(error.noise) && isfinite(value.signal) && isfinite(value.max));
    double most = 0;
    uint64_t sample = 0;
    size_t place = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t row = 0; row < (size_t)arrays[i].dims[0]; row++) {
            const double x[2] = {(double)data[i][2 * row], (double)data[i][2 * row + 1]};
            double a[2];
            multiply(x, one, 1, a);
            for (size_t k = 0; k < 2; k++)
                if (isfinite(a[k]) && fabs(a[k]) > most) {
                    most = fabs(a[k]);
                    sample = i;
                    place = 2 * row + k;
                }
        }
    assert_true(fmax(fabs(value.min), fabs(value.max)) == most);
    assert_int_equal(value.sample, sample);
    assert_int_equal(value.rank, 2);
    assert_int_equal(value.at[0] * 2 + value.at[1], place);
    close_pair(&pair);
}

/* A model with an error of its own is refused as by_tapped_open() does. */
static void test_refused(void **state)
{
    (void)state;
    struct by_twin *twin;
    struct by_twin_side side;
    struct by_frame frame;
    struct baryon_model *source = chain();
    const struct by_session_options options = {.threads = 1};
    assert_ok(by_frame_take(&frame, source, &err));
    struct baryon_model *exact = copy_of(&frame), *model = copy_of(&frame);
    assert_ok(by_twin_side_open(&side, exact, model, false, &err));
    const struct by_twin_want nothing = {.value = value_of(exact->graph, "a")};
    assert_err(by_twin_open(&twin, exact, &side, 1, &nothing, 1, &options, &err),
               BARYON_ERR_INTERNAL, "'a' has no tensor to compare with");
    assert_null(twin);
    by_twin_side_close(&side);
    by_model_free(exact);
    by_model_free(model);
    by_frame_release(&frame);
    by_model_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_figures, prepare),
        cmocka_unit_test_setup(test_any_threads, prepare),
        cmocka_unit_test_setup(test_where_and_not_finite, prepare),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
