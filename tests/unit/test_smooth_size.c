/* Sizes of axes that type inference leaves open. */
#include "engine_build.h"

#include "adjust/smooth_internal.h"
#include "ir/infer.h"

#define SUMS 90 /* each reads the one before by two ways: 2^90 walks without a memory */

static const char *numbered(struct baryon_model *model, char kind, int number)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%c%d", kind, number);
    return name_of(model, text);
}

/* The batch of x, and 24 channels, which a reshape says; then a stream of residuals. */
static struct baryon_model *stream_model(void)
{
    static const int64_t wanted[] = {0, 24};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,6,4");
    put_weight(model, "wanted", BY_ELEM_INT64, (const int64_t[]){2}, 1, wanted, sizeof wanted);
    put_node(model->graph, "flat", "Reshape", "x,wanted", "y0");
    for (int i = 1; i <= SUMS; i++) {
        char in[32];
        const char *before = numbered(model, 'y', i - 1), *branch = numbered(model, 'r', i);
        (void)snprintf(in, sizeof in, "%s,%s", before, branch);
        put_node(model->graph, numbered(model, 'a', i), "Relu", before, branch);
        put_node(model->graph, numbered(model, 'b', i), "Add", name_of(model, in),
                 numbered(model, 'y', i));
    }
    gives(model, numbered(model, 'y', SUMS), BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

/* As if inference had left every size open. */
static void forget_sizes(struct baryon_model *model)
{
    for (int i = 0; i <= SUMS; i++)
        for (const char *kind = "yr"; *kind; kind++) {
            struct baryon_value *value = by_graph_value(model->graph, numbered(model, *kind, i));
            if (value)
                value->shape = (struct by_shape *)shape_of(model, "A,B");
        }
}

static void test_a_stream_has_the_size_of_its_first_sum(void **state)
{
    (void)state;
    struct baryon_model *model = stream_model();
    forget_sizes(model);
    for (int i = 0; i <= SUMS; i += 30) {
        const struct baryon_value *value = by_graph_value(model->graph, numbered(model, 'y', i));
        assert_int_equal(by_smooth_size(value, 1), 24);
        assert_int_equal(by_smooth_size(value, 0), -1);
        assert_int_equal(by_smooth_size(value, 2), -1);
    }
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_has_the_size_of_its_first_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
