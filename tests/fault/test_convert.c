/* Every allocation fails, once and for good, while a file of passes is read and done. */
#include "tests/fault/two_layers.h"

#include "convert/range.h"
#include "tests/fault/sweep.h"

static const char passes[] = "input_model_path: m.onnx\n"
                             "passes:\n"
                             "  onnx_fix_shapes: {input_output_name_shapes: {x: [1, 6]}}\n"
                             "  onnx_copy_bias_init: {shared_bias_op_types: [Gemm]}\n"
                             "  equalize: {cle_weight_threshold: 0, cle_steps: 1}\n"
                             "  set-attributes:\n"
                             "    nodes: [{node_name: first, attributes: {transA: 0}}]\n"
                             "  onnx_remove_qdq_between_op_types:\n"
                             "    remove_qdq_between_op_types: [[Gemm, Relu]]\n"
                             "  onnx_insert_clip_before_bfloat16_qdq:\n"
                             "    insert_clip_before_bfloat16_qdq: true\n"
                             "  fp32_to_fp16: {keep_io: true, exclude: [relu]}\n"
                             "  onnx_convert_fp16_to_fp32:\n"
                             "    convert_fp16_to_fp32: true\n"
                             "    subgraphs_to_include: [[[second], [second]]]\n"
                             "output_model_path: out.onnx\n";

static int convert_model(struct by_arena *arena, struct baryon_model *model)
{
    struct by_convert convert = {.arena = arena};
    struct by_retype_report report = {.arena = arena};
    const struct by_session_options session = {.threads = 1};
    if (by_convert_read(&convert, "p.yaml", NULL, &err) ||
        by_convert_run(&convert, model, &session, NULL, &report, &err))
        return -1;
    assert_int_equal(report.nodes, 4);
    assert_int_equal(report.kept.count, 1);
    assert_string_equal(report.kept.at[0].op_type, "Relu");
    return 0;
}

static int convert(void)
{
    struct by_arena arena;
    struct baryon_model *model = NULL;
    by_arena_init(&arena, 0);
    int failed = by_model_load(&model, "m.onnx", NULL, &err) || convert_model(&arena, model);
    by_model_free(model);
    by_arena_release(&arena);
    return failed ? -1 : 0;
}

static void reading_and_doing(void **state)
{
    (void)state;
    save_two_layers(1, false);
    assert_ok(by_write_file("p.yaml", passes, sizeof passes - 1, 0, &err));
    sweep_memory(convert);
}

static int find_overflow(void)
{
    struct by_arena arena;
    struct baryon_model *model = NULL;
    size_t count = 0;
    const struct by_convert_range range = {.stats = "m.stats", .keep = true};
    by_arena_init(&arena, 0);
    struct by_convert convert = {.arena = &arena};
    struct by_convert_step *step = NULL;
    int failed = by_model_load(&model, "m.onnx", NULL, &err) || by_model_link(model, &err) ||
                 by_model_infer(model, NULL, &err) ||
                 !(step = by_convert_add(&convert, NULL, &err)) ||
                 by_convert_find_overflow(&convert, step, model, &range, &count, &err);
    if (!failed) {
        assert_int_equal(count, 1);
        assert_true(step->retype.keep_io);
        assert_string_equal(step->exclude.at[0].text, "second");
    }
    by_model_free(model);
    by_arena_release(&arena);
    return failed ? -1 : 0;
}

static void values_beyond_float16(void **state)
{
    (void)state;
    struct baryon_model *model;
    struct by_stats *stats;
    struct by_calibrate_report report;
    const struct by_calibrate_options options = {.targets = BY_TARGETS_ALL,
                                                 .input = {.random = true, .count = 2},
                                                 .session = {.threads = 1},
                                                 .model = "m",
                                                 .data = "r"};
    save_two_layers(1e6F, false);
    assert_ok(by_model_load(&model, "m.onnx", NULL, &err));
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_calibrate(&stats, model, NULL, &options, &report, &err));
    assert_ok(by_stats_save(stats, "m.stats", 0, &err));
    by_stats_close(stats);
    by_model_free(model);
    sweep_memory(find_overflow);
    unlink("m.stats");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading_and_doing),
                                       cmocka_unit_test(values_beyond_float16)};
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/baryon-fault-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("m.onnx");
    unlink("p.yaml");
    return (chdir("/") || rmdir(folder)) ? 1 : failed;
}
