/* Sizes that all samples share: found over samples, set while a session opens, and taken back. */
#include "engine_build.h"

#include "engine/common_shapes.h"

static struct by_common_shape common_of(size_t count, const int64_t (*dims)[2])
{
    const float values[64] = {0};
    struct by_common_shape shape = {0};
    for (size_t i = 0; i < count; i++) {
        const struct by_array input = array_of("x", BY_ELEM_FLOAT, 2, dims[i], values,
                                               (size_t)(dims[i][0] * dims[i][1]) * sizeof *values);
        if (i)
            by_common_shape_add(&shape, &input);
        else
            shape = by_common_shape_begin(&input);
    }
    return shape;
}

static void test_samples_share_sizes(void **state)
{
    (void)state;
    struct by_common_shape shape = common_of(2, (const int64_t[][2]){{3, 2}, {3, 2}});
    assert_int_equal(shape.rank, 2);
    assert_true(shape.dims[0] == 3 && shape.dims[1] == 2);
    shape = common_of(3, (const int64_t[][2]){{3, 2}, {5, 2}, {3, 2}});
    assert_true(shape.dims[0] == -1 && shape.dims[1] == 2);
}

static void test_other_ranks_share_nothing(void **state)
{
    (void)state;
    struct by_common_shape shape = common_of(1, (const int64_t[][2]){{3, 2}});
    const float value = 0;
    const struct by_array scalar = array_of("x", BY_ELEM_FLOAT, 0, NULL, &value, sizeof value);
    by_common_shape_add(&shape, &scalar);
    assert_int_equal(shape.rank, 0);
}

static struct by_dim *first_dim(const struct baryon_model *model)
{
    const struct by_value_info *info = model->graph->input.at[0];
    return info->type->tensor->shape->dims.at[0];
}

static int run_rows(struct by_session *session, int64_t rows)
{
    static const float values[16];
    const int64_t dims[] = {rows, 2};
    const struct by_array input =
        array_of("x", BY_ELEM_FLOAT, 2, dims, values, (size_t)rows * 2 * sizeof *values);
    struct by_run *run = NULL;
    const int status = by_session_run(session, &input, 1, NULL, 0, &run, &err);
    if (!status)
        by_run_free(run);
    return status;
}

/* -1: as Paddle's exporter writes an open size. */
static void test_session_has_the_sizes(void **state)
{
    (void)state;
    const struct by_session_options options = {.threads = 1, .optimization = -1};
    const struct by_common_shape shape = common_of(1, (const int64_t[][2]){{3, 2}});
    for (int minus = 0; minus < 2; minus++) {
        struct by_session *session;
        struct baryon_model *model = add_model();
        assert_ok(by_model_link(model, &err));
        if (minus)
            *first_dim(model) = (struct by_dim){.value = -1, .msg = {.has = BY_HAS_DIM_VALUE}};
        const struct by_dim before = *first_dim(model);
        assert_ok(by_session_open_shaped(&session, model, &shape, 1, &options, &err));
        assert_true(first_dim(model)->value == before.value &&
                    first_dim(model)->param == before.param &&
                    first_dim(model)->msg.has == before.msg.has);
        assert_ok(run_rows(session, 3));
        assert_true(run_rows(session, 4) < 0);
        by_session_close(session);
        by_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_share_sizes),
        cmocka_unit_test(test_other_ranks_share_nothing),
        cmocka_unit_test(test_session_has_the_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
