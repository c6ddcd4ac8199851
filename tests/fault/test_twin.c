/* Every allocation fails while models are put side by side and run: nothing is leaked, and the
 * models can be freed in any state. */
#include "tests/unit/engine_build.h"

#include "engine/twin.h"
#include "onnx/frame.h"

#include "sweep.h"

static const float row[] = {1, 2};
static const int64_t one_by_two[] = {1, 2};
static struct baryon_model *source;

struct work {
    struct by_frame frame;
    struct baryon_model *exact, *other;
    struct by_twin_side side;
    struct by_twin *twin;
};

static int open_models(struct work *work)
{
    return by_frame_take(&work->frame, source, &err) < 0 ||
                   by_frame_copy(&work->frame, &work->exact, &err) < 0 ||
                   by_frame_copy(&work->frame, &work->other, &err) < 0 ||
                   by_twin_side_open(&work->side, work->exact, work->other, true, &err) < 0
               ? -1
               : 0;
}

static int run_twin(struct work *work)
{
    const struct by_session_options options = {.threads = 1};
    const struct by_array feed = FLOATS("x", 2, one_by_two, row), *const inputs[] = {&feed, &feed};
    const struct baryon_value *y = by_graph_value(work->exact->graph, "y");
    const struct by_twin_want want = {.value = y, .others = {work->side.same[y->index]}};
    if (by_twin_open(&work->twin, work->exact, &work->side, 1, &want, 1, &options, &err) < 0)
        return -1;
    return by_twin_run(work->twin, NULL, inputs, 1, 2, &err);
}

static int call_twin(void)
{
    struct work work = {.twin = NULL};
    const int status = open_models(&work) < 0 ? -1 : run_twin(&work);
    by_twin_close(work.twin);
    by_twin_side_close(&work.side);
    by_model_free(work.other);
    by_model_free(work.exact);
    by_frame_release(&work.frame);
    return status;
}

static void twins(void **state)
{
    (void)state;
    source = add_model();
    assert_ok(by_model_link(source, &err));
    sweep_memory(call_twin);
    by_model_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
