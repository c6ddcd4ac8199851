/* Outputs that are joined from results of different kinds, and their parts. */
#include "engine_build.h"

#include "ir/infer.h"
#include "trial/joined.h"

#include <string.h>

static struct baryon_attribute *put_attr(struct baryon_model *model, struct baryon_node *node,
                                         const char *name, int32_t type)
{
    struct baryon_attribute *attr = BY_ARENA_NEW(&model->arena, struct baryon_attribute, &err);
    assert_non_null(attr);
    attr->name = name_of(model, name);
    attr->type = type;
    push(model, &node->attribute, attr);
    return attr;
}

static void set_axis(struct baryon_model *model, struct baryon_node *node, int64_t axis)
{
    put_attr(model, node, "axis", BY_ATTR_INT)->i = axis;
}

static struct by_joined parts_of(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return by_joined_find(by_graph_out(model->graph, 0));
}

/* Boxes [1,4,6] and scores [1,3,6], as the heads of a detector give them. */
static struct baryon_model *detector(const char *scores)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,4,6");
    takes(model, "s", BY_ELEM_FLOAT, "1,3,6");
    put_node(model->graph, "stride", "Mul", "x,x", "boxes");
    put_node(model->graph, "sure", scores, scores[0] == 'M' ? "s,s" : "s", "scores");
    return model;
}

static void boxes_and_scores_are_parts(void **state)
{
    (void)state;
    struct baryon_model *model = detector("Sigmoid");
    struct baryon_node *node = put_node(model->graph, "join", "Concat", "boxes,scores", "y");
    set_axis(model, node, 1);
    gives(model, "y", BY_ELEM_FLOAT, "1,7,6");
    const struct by_joined parts = parts_of(model);
    assert_int_equal(parts.count, 2);
    assert_int_equal(parts.axis, 1);
    assert_int_equal(parts.ends[0], 4);
    assert_int_equal(parts.ends[1], 7);
    assert_string_equal(by_joined_name(&parts, 1, "y", &model->arena, &err), "y[:,4:7]");
    by_model_free(model);
}

/* What the same operator gives for several scales of a network is of one kind. */
static void results_of_one_kind_are_a_whole(void **state)
{
    (void)state;
    struct baryon_model *model = detector("Mul");
    struct baryon_node *node = put_node(model->graph, "join", "Concat", "boxes,scores", "y");
    set_axis(model, node, 1);
    gives(model, "y", BY_ELEM_FLOAT, "1,7,6");
    const struct by_joined parts = parts_of(model);
    assert_int_equal(parts.count, 1);
    assert_string_equal(by_joined_name(&parts, 0, "y", &model->arena, &err), "y");
    by_model_free(model);
}

static void parts_are_found_through_a_transpose(void **state)
{
    (void)state;
    struct baryon_model *model = detector("Sigmoid");
    struct baryon_node *node = put_node(model->graph, "join", "Concat", "boxes,scores", "j");
    set_axis(model, node, -2);
    node = put_node(model->graph, "turn", "Transpose", "j", "y");
    static int64_t perm[] = {0, 2, 1};
    put_attr(model, node, "perm", BY_ATTR_INTS)->ints = (struct by_ints){.at = perm, .count = 3};
    gives(model, "y", BY_ELEM_FLOAT, "1,6,7");
    const struct by_joined parts = parts_of(model);
    assert_int_equal(parts.count, 2);
    assert_int_equal(parts.axis, 2);
    assert_string_equal(by_joined_name(&parts, 0, "y", &model->arena, &err), "y[:,:,0:4]");
    by_model_free(model);
}

/* Two scales, each of which joins boxes and scores in its last axis. */
static void parts_of_scales_are_those_of_each(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct baryon_model *model = detector("Sigmoid");
        struct baryon_node *node = put_node(model->graph, "one", "Concat", "boxes,scores", "a");
        set_axis(model, node, 1);
        node = put_node(model->graph, "two", "Concat", same ? "boxes,scores" : "scores,boxes", "b");
        set_axis(model, node, 1);
        node = put_node(model->graph, "join", "Concat", "a,b", "y");
        set_axis(model, node, 2);
        gives(model, "y", BY_ELEM_FLOAT, "1,7,12");
        const struct by_joined parts = parts_of(model);
        assert_int_equal(parts.count, same ? 2 : 1);
        if (same) {
            assert_int_equal(parts.axis, 1);
            assert_int_equal(parts.ends[0], 4);
        }
        by_model_free(model);
    }
}

static void a_reshape_keeps_the_axis_where_as_much_stands_before_it(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        struct baryon_model *model = detector("Sigmoid");
        const int64_t shape[3] = {keeps ? 1 : 2, 7, keeps ? 6 : 3};
        const int64_t count = 3;
        put_weight(model, "shape", BY_ELEM_INT64, &count, 1, shape, sizeof shape);
        struct baryon_node *node = put_node(model->graph, "join", "Concat", "boxes,scores", "j");
        set_axis(model, node, 1);
        put_node(model->graph, "same", "Reshape", "j,shape", "y");
        gives(model, "y", BY_ELEM_FLOAT, keeps ? "1,7,6" : "2,7,3");
        const struct by_joined parts = parts_of(model);
        assert_int_equal(parts.count, keeps ? 2 : 1);
        by_model_free(model);
    }
}

/* As of a batch of any size. */
static void a_reshape_keeps_the_axis_where_as_much_stands_after_it(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        struct baryon_model *model = new_model();
        const int64_t shape[3] = {-1, keeps ? 6 : 7, keeps ? 7 : 6}, count = 3;
        takes(model, "x", BY_ELEM_FLOAT, "N,2,3,4");
        takes(model, "s", BY_ELEM_FLOAT, "N,2,3,3");
        put_node(model->graph, "stride", "Mul", "x,x", "boxes");
        put_node(model->graph, "sure", "Sigmoid", "s", "scores");
        put_weight(model, "shape", BY_ELEM_INT64, &count, 1, shape, sizeof shape);
        struct baryon_node *node = put_node(model->graph, "join", "Concat", "boxes,scores", "j");
        set_axis(model, node, 3);
        put_node(model->graph, "same", "Reshape", "j,shape", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        const struct by_joined parts = parts_of(model);
        assert_int_equal(parts.count, keeps ? 2 : 1);
        if (keeps)
            assert_int_equal(parts.axis, 2);
        by_model_free(model);
    }
}

static void a_part_is_cut_out(void **state)
{
    (void)state;
    float values[12];
    for (int i = 0; i < 12; i++)
        values[i] = (float)i;
    const struct by_array array = {
        .elem = BY_ELEM_FLOAT, .rank = 3, .dims = {2, 3, 2}, .data = values, .size = sizeof values};
    const struct by_joined joined = {.count = 2, .axis = 1, .ends = {1, 3}};
    struct by_arena arena;
    struct by_array part;
    by_arena_init(&arena, 0);
    assert_ok(by_joined_take(&joined, 1, &array, &arena, &part, &err));
    assert_int_equal(part.dims[1], 2);
    assert_int_equal(part.size, 8 * sizeof(float));
    assert_memory_equal(part.data, ((const float[]){2, 3, 4, 5, 8, 9, 10, 11}), part.size);
    assert_ok(by_joined_take(&joined, 0, &array, &arena, &part, &err));
    assert_memory_equal(part.data, ((const float[]){0, 1, 6, 7}), part.size);
    by_arena_release(&arena);
}

/* An open size that turns out otherwise: the output is measured as a whole. */
static void other_sizes_are_a_whole(void **state)
{
    (void)state;
    const struct by_array array = {.elem = BY_ELEM_FLOAT, .rank = 3, .dims = {2, 4, 2}};
    const struct by_joined joined = {.count = 2, .axis = 1, .ends = {1, 3}};
    const struct by_joined whole = by_joined_of(&joined, &array);
    assert_int_equal(whole.count, 1);
    const struct by_joined_blocks blocks = by_joined_blocks(&whole, 0, &array);
    assert_int_equal(blocks.count, 1);
    assert_int_equal(blocks.size, 16);
    assert_int_equal(blocks.first, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_and_scores_are_parts),
        cmocka_unit_test(results_of_one_kind_are_a_whole),
        cmocka_unit_test(parts_are_found_through_a_transpose),
        cmocka_unit_test(parts_of_scales_are_those_of_each),
        cmocka_unit_test(a_reshape_keeps_the_axis_where_as_much_stands_before_it),
        cmocka_unit_test(a_reshape_keeps_the_axis_where_as_much_stands_after_it),
        cmocka_unit_test(a_part_is_cut_out),
        cmocka_unit_test(other_sizes_are_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
