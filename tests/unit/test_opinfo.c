/* Tests that the rows of the operator tables are sorted, complete and sensible. */
#include "graph_build.h"

#include "ir/opinfo.h"

static void rows_are_sorted_and_unique(void **state)
{
    size_t count;
    const struct by_opinfo *rows = by_opinfo_rows(&count);
    (void)state;
    assert_true(count > 370);
    for (size_t i = 1; i < count; i++) {
        const int domains = strcmp(rows[i - 1].domain, rows[i].domain);
        assert_true(domains < 0 ||
                    (domains == 0 && strcmp(rows[i - 1].op_type, rows[i].op_type) < 0));
    }
}

static void every_row_is_found(void **state)
{
    size_t count;
    const struct by_opinfo *rows = by_opinfo_rows(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(by_opinfo(rows[i].op_type, rows[i].domain), &rows[i]);
}

static void slot_is_possible(const struct by_opinfo *row, int slot)
{
    assert_true(slot == BY_SLOT_NONE || row->max_in < 0 || (slot >= 0 && slot < row->max_in));
}

static void every_row_is_sane(void **state)
{
    size_t count;
    const struct by_opinfo *rows = by_opinfo_rows(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct by_opinfo *row = &rows[i];
        assert_true(row->since >= 1 && (!row->until || row->until >= row->since));
        assert_true(row->min_in >= 0 && (row->max_in == -1 || row->max_in >= row->min_in));
        assert_true(row->min_out >= 0 && (row->max_out == -1 || row->max_out >= row->min_out));
        slot_is_possible(row, row->weight);
        slot_is_possible(row, row->bias);
        assert_true(row->channel_axis == BY_AXIS_NONE || row->weight != BY_SLOT_NONE);
        assert_true(row->bias == BY_SLOT_NONE || row->weight != BY_SLOT_NONE);
        for (int slot = 0; slot < 32 && row->data_inputs != UINT32_MAX; slot++)
            if (row->data_inputs >> slot & 1)
                slot_is_possible(row, slot);
    }
}

static void input_types_are_possible(const struct by_opinfo *row)
{
    switch (row->type_rule) {
    case BY_TYPE_SAME:
    case BY_TYPE_ATTR_OR_SAME:
        assert_true(row->type_arg >= 0);
        slot_is_possible(row, row->type_arg);
        break;
    case BY_TYPE_FIXED:
        assert_non_null(by_elem_info(row->type_arg));
        break;
    case BY_TYPE_SPECIAL:
        assert_non_null(row->infer);
        break;
    default:
        break;
    }
}

/* Each word is an input that there is, a type that there is, or "?". */
static void words_are_possible(const struct by_opinfo *row)
{
    char words[64], *save = NULL;
    int outputs = 0;
    snprintf(words, sizeof words, "%s", row->type_text);
    assert_string_equal(words, row->type_text);
    for (const char *c = words; *c; c++)
        outputs += *c == ' ';
    assert_true(row->max_out < 0 || outputs + 1 <= row->max_out);
    for (char *word = strtok_r(words, " |", &save); word; word = strtok_r(NULL, " |", &save)) {
        if (word[0] >= '0' && word[0] <= '9')
            slot_is_possible(row, word[0] - '0');
        else if (strcmp(word, "?"))
            assert_true(by_elem_by_name(word) > 0);
    }
}

static void type_rules_are_sane(void **state)
{
    size_t count;
    const struct by_opinfo *rows = by_opinfo_rows(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct by_opinfo *row = &rows[i];
        input_types_are_possible(row);
        if (row->type_rule == BY_TYPE_EACH)
            words_are_possible(row);
        if (row->type_rule == BY_TYPE_ATTR || row->type_rule == BY_TYPE_ATTR_OR_SAME) {
            const struct by_op_attr *attr = by_op_attr(row, row->type_text, row->since + 100);
            assert_non_null(attr);
            assert_int_equal(attr->type, BY_ATTR_INT);
        }
    }
}

static void attributes_are_sane(void **state)
{
    size_t count;
    const struct by_opinfo *rows = by_opinfo_rows(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (const struct by_op_attr *attr = rows[i].attrs; attr && attr->name; attr++) {
            assert_true(strlen(attr->name) > 0);
            assert_string_not_equal(by_attr_type_name((int64_t)attr->type), "unknown");
            assert_true(!attr->until || attr->until >= attr->since);
            /* Two lines of one name never hold in the same opset. */
            for (const struct by_op_attr *next = attr + 1; next->name; next++)
                if (strcmp(next->name, attr->name) == 0)
                    assert_true(attr->until && attr->until < next->since);
        }
}

static void unknown_ones_are_refused(void **state)
{
    (void)state;
    assert_null(by_opinfo("Conv", "com.example"));
    assert_null(by_opinfo("conv", ""));
    assert_null(by_opinfo("Convolution", NULL));
    assert_null(by_opinfo("", ""));
    assert_null(by_opinfo(NULL, ""));
    assert_null(by_opinfo("FusedConv", ""));
}

static void domains_have_two_names(void **state)
{
    (void)state;
    assert_non_null(by_opinfo("Conv", NULL));
    assert_ptr_equal(by_opinfo("Conv", NULL), by_opinfo("Conv", ""));
    assert_ptr_equal(by_opinfo("Conv", "ai.onnx"), by_opinfo("Conv", ""));
    assert_ptr_not_equal(by_opinfo("Attention", "com.microsoft"), by_opinfo("Attention", ""));
}

static void versions_limit_operators_and_attributes(void **state)
{
    const struct by_opinfo *clip = by_opinfo("Clip", ""), *upsample = by_opinfo("Upsample", "");
    (void)state;
    assert_int_equal(by_op_attr(clip, "min", 10)->type, BY_ATTR_FLOAT);
    assert_null(by_op_attr(clip, "min", 11));
    assert_null(by_op_attr(clip, "axis", 11));
    assert_true(by_opinfo_in_opset(upsample, 9));
    assert_false(by_opinfo_in_opset(upsample, 10));
    assert_false(by_opinfo_in_opset(by_opinfo("Gelu", ""), 19));
    assert_true(by_op_attr(by_opinfo("Unsqueeze", ""), "axes", 12)->required);
    assert_null(by_op_attr(by_opinfo("Unsqueeze", ""), "axes", 13));
    assert_true(by_op_attr(by_opinfo("Constant", ""), "value", 10)->required);
    assert_false(by_op_attr(by_opinfo("Constant", ""), "value", 11)->required);
}

static void roles_of_well_known_layers(void **state)
{
    const struct by_opinfo *conv = by_opinfo("Conv", ""), *qconv = by_opinfo("QLinearConv", "");
    (void)state;
    assert_int_equal(conv->weight, 1);
    assert_int_equal(conv->bias, 2);
    assert_int_equal(conv->data_inputs, 1);
    assert_int_equal(conv->data_axis, 1);
    assert_int_equal(qconv->weight, 3);
    assert_int_equal(qconv->bias, 8);
    assert_int_equal(by_opinfo("MatMul", "")->data_inputs, 3);
    assert_int_equal(by_opinfo("Gather", "")->weight, 0);
    assert_int_equal(by_opinfo("Shape", "")->data_inputs, 0);
    assert_int_equal(by_opinfo("Where", "")->data_inputs, 6);
}

/* A node with weight "w" of that rank; returns its output-channel axis. */
static int axis_of(const char *op_type, size_t rank, const char *attr, int64_t value)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    const int64_t dims[4] = {2, 2, 2, 2};
    const float zeros[16] = {0};
    put_input(graph, "x");
    put_output(graph, "y");
    push(model, &graph->initializer,
         by_tensor_new(model, "w", BY_ELEM_FLOAT, dims, rank, zeros,
                       ((size_t)1 << rank) * sizeof *zeros, &err));
    struct baryon_node *node = put_node(graph, "n", op_type, "x,w", "y");
    assert_ok(by_model_link(model, &err));
    if (attr)
        assert_ok(by_node_set_int(node, attr, value, &err));
    const int axis = by_node_channel_axis(node);
    by_model_free(model);
    return axis;
}

static void channel_axis_of_a_node(void **state)
{
    (void)state;
    assert_int_equal(axis_of("Conv", 4, NULL, 0), 0);
    assert_int_equal(axis_of("ConvTranspose", 4, NULL, 0), 1);
    assert_int_equal(axis_of("ConvTranspose", 4, "group", 2), -1);
    assert_int_equal(axis_of("Gemm", 2, NULL, 0), 1);
    assert_int_equal(axis_of("Gemm", 2, "transB", 1), 0);
    assert_int_equal(axis_of("MatMul", 2, NULL, 0), 1);
    assert_int_equal(axis_of("MatMul", 3, NULL, 0), 2);
    assert_int_equal(axis_of("MatMul", 1, NULL, 0), -1);
    assert_int_equal(axis_of("Gather", 2, NULL, 0), -1);
    assert_int_equal(axis_of("Relu", 2, NULL, 0), -1);
    assert_int_equal(axis_of("NoSuchOperator", 2, NULL, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_and_unique),
        cmocka_unit_test(every_row_is_found),
        cmocka_unit_test(every_row_is_sane),
        cmocka_unit_test(type_rules_are_sane),
        cmocka_unit_test(attributes_are_sane),
        cmocka_unit_test(unknown_ones_are_refused),
        cmocka_unit_test(domains_have_two_names),
        cmocka_unit_test(versions_limit_operators_and_attributes),
        cmocka_unit_test(roles_of_well_known_layers),
        cmocka_unit_test(channel_axis_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
