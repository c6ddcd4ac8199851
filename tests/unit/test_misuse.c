/*
 * Every function of the public interface with arguments that make no sense: it refuses them or
 * does nothing, and never crashes. The calls are made out of the headers by tests/misuse.py; what
 * goes wrong inside lists and structs has tests below.
 */
#include "api_expect.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOAT     1
#define STRING    8
#define WIDTH     4
#define LLM_WIDTH 16

enum wants {
    BASE,    /* success: all arguments are good */
    FINE,    /* success too: the argument may be NULL */
    REFUSED, /* failure that says why */
    SAFE,    /* no crash; failures say why */
};

struct call {
    const char *what; /* is bad */
    enum wants wants;
    bool failed;
};

/* What all calls begin with, made anew for each. */
static struct {
    struct baryon_model *model, *second, *quantized;
    struct baryon_graph *graph;
    struct baryon_node *node, *unread;
    struct baryon_value *value, *middle, *spare; /* an input, MatMul's output, a constant */
    struct baryon_tensor *loose;
    struct baryon_attribute *attribute;
    struct baryon_session *session;
    struct baryon_run *run;
    struct baryon_statistics *statistics[2];
    struct baryon_plan *plan;
    struct baryon_quality *quality;
    struct baryon_preset *preset;
    struct baryon_evaluation *evaluation;
    struct baryon_comparison *comparison;
    struct baryon_llm *llm;
    struct baryon_auto *search;
    void *bytes;
    size_t size;
} world;

static const int64_t dims[] = {1, WIDTH};
static float floats[WIDTH] = {1, -2, 3, 4}, floats_out[WIDTH];
static const char *const no_symbols[2], *const new_output = "new output", *const world_output = "z";
static const char small_report[] = "{\"report\":1,\"command\":\"quantize\",\"version\":\"0.1.0\","
                                   "\"outcome\":{\"text\":\"done\",\"goal\":\"none\"}}";
static const char *world_help, *world_symbol;
static const void *world_bytes;
static size_t out_size, world_slot, visits;
static void *out_bytes;
static struct baryon_bin *out_bins;
static bool marks[16];
static char room[512], more_room[512];
static struct baryon_error problem, a_problem = {.code = BARYON_ERR_INPUT, .message = "wrong"};
static const struct baryon_array input = {"x", FLOAT, 2, dims, floats, sizeof floats};
static const struct baryon_setting random_setting = {"random", "2"}, peak_setting = {"peak", "1"},
                                   many_setting = {"random", "8"},
                                   llm_quantize_setting = {"config", "llm_quantize.yaml"},
                                   llm_convert_setting = {"config", "llm_convert.yaml"},
                                   llm_dequantize_setting = {"to", "f32"},
                                   llm_auto_setting = {"config", "llm_auto.yaml"},
                                   llm_eval_setting = {"config", "llm_eval.yaml"},
                                   llm_export_setting = {"context", "16"};
static float llm_floats[LLM_WIDTH * LLM_WIDTH];
static int16_t llm_codes[LLM_WIDTH * LLM_WIDTH];
static int32_t llm_zeros[LLM_WIDTH];

/* --- The world --- */

/* x [1,4] -> MatMul w [4,4] -> y -> LeakyRelu -> z, and what nothing reads. */
static struct baryon_model *make_model(void)
{
    struct baryon_model *model;
    ok(baryon_model_new(&model, 10, 21, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    const int64_t square[] = {WIDTH, WIDTH};
    const char *const y = "y", *const z = "z", *const unread = "unread";
    float w[WIDTH * WIDTH];
    for (int i = 0; i < WIDTH * WIDTH; i++)
        w[i] = (float)(i % 7 - 3) / 4;
    struct baryon_value *both[2];
    both[0] = baryon_graph_add_input(graph, "x", FLOAT, dims, NULL, 2, &err);
    struct baryon_tensor *tensor =
        baryon_tensor_new(model, "w", FLOAT, square, 2, w, sizeof w, &err);
    both[1] = baryon_graph_add_initializer(graph, tensor, &err);
    struct baryon_node *node =
        baryon_graph_add_node(graph, "MatMul", NULL, "product", both, 2, &y, 1, &err);
    struct baryon_value *value = baryon_node_output(node, 0);
    node = baryon_graph_add_node(graph, "LeakyRelu", NULL, "leaky", &value, 1, &z, 1, &err);
    ok(baryon_node_set_float(node, "alpha", 0.5F, &err));
    ok(baryon_value_make_output(baryon_node_output(node, 0), FLOAT, dims, NULL, 2, &err));
    assert_non_null(
        baryon_graph_add_node(graph, "Abs", NULL, "unread", &value, 1, &unread, 1, &err));
    tensor = baryon_tensor_new(model, "spare", FLOAT, square, 2, w, sizeof w, &err);
    assert_non_null(baryon_graph_add_initializer(graph, tensor, &err));
    ok(baryon_model_set_metadata(model, "made", "here", &err));
    return model;
}

static void open_world(void)
{
    ok(baryon_model_load(&world.model, "model.onnx", NULL, &err));
    ok(baryon_model_load(&world.second, "model.onnx", NULL, &err));
    ok(baryon_model_save_bytes(world.model, &world.bytes, &world.size, &err));
    world.graph = baryon_model_graph(world.model);
    world.node = baryon_graph_find_node(world.graph, "leaky");
    world.unread = baryon_graph_find_node(world.graph, "unread");
    world.value = baryon_graph_find_value(world.graph, "x");
    world.middle = baryon_graph_find_value(world.graph, "y");
    world.spare = baryon_graph_find_value(world.graph, "spare");
    world.attribute = baryon_node_attribute(world.node, 0);
    world.loose =
        baryon_tensor_new(world.model, "loose", FLOAT, dims, 2, floats, sizeof floats, &err);
    assert_true(world.node && world.unread && world.middle && world.spare && world.attribute &&
                world.loose);
}

static void close_world(void)
{
    baryon_evaluation_free(world.evaluation);
    baryon_comparison_free(world.comparison);
    baryon_llm_close(world.llm);
    baryon_auto_free(world.search);
    baryon_preset_free(world.preset);
    baryon_plan_free(world.plan);
    baryon_quality_free(world.quality);
    baryon_statistics_free(world.statistics[0]);
    baryon_statistics_free(world.statistics[1]);
    baryon_run_free(world.run);
    baryon_session_close(world.session);
    baryon_model_free(world.model);
    baryon_model_free(world.second);
    baryon_model_free(world.quantized);
    baryon_bytes_free(world.bytes);
    baryon_bytes_free(out_bytes);
    baryon_bytes_free(out_bins);
    memset(&world, 0, sizeof world);
    out_bytes = NULL;
    out_bins = NULL;
}

/* The call frees it. */
static void world_lost(const void *object)
{
    const void **const owners[] = {
        (const void **)&world.model,      (const void **)&world.session,
        (const void **)&world.run,        (const void **)&world.statistics[0],
        (const void **)&world.plan,       (const void **)&world.preset,
        (const void **)&world.evaluation, (const void **)&world.bytes,
        (const void **)&world.quality,    (const void **)&world.comparison,
        (const void **)&world.llm,        (const void **)&world.search,
    };
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (*owners[i] == object)
            *owners[i] = NULL;
}

static struct baryon_session *world_session(void)
{
    const struct baryon_session_options one = {.size = sizeof one, .threads = 1};
    if (!world.session)
        ok(baryon_session_open(&world.session, "model.onnx", &one, &err));
    return world.session;
}

static struct baryon_run *world_run(void)
{
    if (!world.run)
        ok(baryon_session_run(world_session(), &input, 1, NULL, 0, &world.run, &err));
    return world.run;
}

static struct baryon_statistics *world_statistics(const char *path)
{
    struct baryon_statistics **statistics = &world.statistics[!strcmp(path, "two.stats")];
    if (!*statistics)
        ok(baryon_statistics_load(statistics, path, &err));
    return *statistics;
}

static struct baryon_plan *world_plan(void)
{
    if (!world.plan)
        ok(baryon_plan_make(&world.plan, world.second, &random_setting, 1, NULL, &err));
    return world.plan;
}

static struct baryon_quality *world_quality(void)
{
    const struct baryon_quantize_options measured = {.size = sizeof measured,
                                                     .quality = &world.quality};
    struct baryon_model *model;
    if (world.quality)
        return world.quality;
    ok(baryon_model_load(&model, "model.onnx", NULL, &err));
    ok(baryon_quantize(model, &random_setting, 1, &measured, NULL, &err));
    baryon_model_free(model);
    return world.quality;
}

static struct baryon_preset *world_preset(void)
{
    if (!world.preset)
        ok(baryon_preset_open(&world.preset, "XINT8", &err));
    return world.preset;
}

static struct baryon_evaluation *world_evaluation(void)
{
    if (!world.evaluation)
        ok(baryon_evaluate_folders(&world.evaluation, "results", "results", NULL, 0, NULL, &err));
    return world.evaluation;
}

static struct baryon_model *world_quantized(void)
{
    if (!world.quantized) {
        ok(baryon_model_load(&world.quantized, "model.onnx", NULL, &err));
        ok(baryon_quantize(world.quantized, &random_setting, 1, NULL, NULL, &err));
    }
    return world.quantized;
}

static struct baryon_comparison *world_comparison(void)
{
    if (!world.comparison)
        ok(baryon_compare(&world.comparison, world.second, world_quantized(), NULL, NULL, 0, NULL,
                          &err));
    return world.comparison;
}

static struct baryon_llm *world_llm(void)
{
    if (!world.llm)
        ok(baryon_llm_open(&world.llm, "llm.quantized", false, &err));
    return world.llm;
}

/* A folder that is not there. */
static const char *world_out(void)
{
    static const char *const files[] = {"config.json", "model.safetensors", "model.onnx",
                                        "model.onnx.data", "genai_config.json"};
    char path[64];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "llm.out/%s", files[i]);
        unlink(path);
    }
    rmdir("llm.out");
    return "llm.out";
}

static struct baryon_auto *world_search(void)
{
    const struct baryon_setting quick[] = {
        {"random", "8"}, {"effort", "quick"}, {"goal", "sqnr>=1"}};
    if (!world.search)
        ok(baryon_auto(&world.search, world.second, quick, 3, NULL, &err));
    return world.search;
}

static bool count_finding(void *context, const struct baryon_finding *finding)
{
    if (context)
        ++*(size_t *)context;
    return finding->error != NULL;
}

/* --- Every function --- */

struct function_row {
    const char *name;
    bool (*call)(int variant, struct call *call);
};

static const char *current_function = "", *current_what = "";

static void begin(struct call *call, const char *what, enum wants wants)
{
    *call = (struct call){.what = what, .wants = wants};
    current_what = what;
    memset(&problem, 0, sizeof problem);
}

#include "misuse_calls.h"

/* A crash names the call. */
static void tell_call(int number)
{
    char text[300];
    int size = snprintf(text, sizeof text, "crashed: %s, %s\n", current_function, current_what);
    if (write(STDERR_FILENO, text, (size_t)size) < 0)
        _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

static bool is_right(const struct call *call)
{
    bool explained = problem.code != BARYON_OK && problem.message[0];
    switch (call->wants) {
    case BASE:
    case FINE:
        return !call->failed;
    case REFUSED:
        return call->failed && explained;
    default:
        return !call->failed || explained;
    }
}

static bool call_is_right(const struct function_row *function, int variant, bool *there)
{
    struct call call = {0};
    open_world();
    *there = function->call(variant, &call);
    close_world();
    if (!*there || is_right(&call))
        return true;
    print_error("%s, %s: %s \"%s\"\n", function->name, call.what,
                call.failed ? "failed" : "succeeded", problem.message);
    return false;
}

#define TRIES 16

/* Bytes that a call leaves over, where the C library can tell them. */
static size_t left_behind(const struct function_row *function, int variant)
{
    struct call call = {0};
    const size_t before = mallinfo2().uordblks;
    open_world();
    function->call(variant, &call);
    close_world();
    const size_t after = mallinfo2().uordblks;
    return after > before ? after - before : 0;
}

/* What grows each time is lost; what is kept for later, or given back late by a thread, is not. */
static bool loses_memory(const struct function_row *function, int variant)
{
    size_t lost = SIZE_MAX;
    for (int i = 0; i < TRIES && lost; i++) {
        const size_t bytes = left_behind(function, variant);
        lost = bytes < lost ? bytes : lost;
    }
    if (lost)
        print_error("%s, %s: %zu bytes are lost\n", function->name, current_what, lost);
    return lost > 0;
}

static void loses_no_memory(void **state)
{
    (void)state;
    size_t losing = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        bool there = true;
        for (int variant = 0; there; variant++) {
            call_is_right(&functions[i], variant, &there);
            losing += there && loses_memory(&functions[i], variant);
        }
    }
    assert_int_equal(losing, 0);
}

static void refuses_bad_arguments(void **state)
{
    (void)state;
    size_t calls = 0, wrong = 0;
    signal(SIGSEGV, tell_call);
    signal(SIGABRT, tell_call);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        bool there = true;
        current_function = functions[i].name;
        for (int variant = 0; there; variant++, calls++)
            wrong += !call_is_right(&functions[i], variant, &there);
    }
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    assert_true(calls > 700);
    assert_int_equal(wrong, 0);
}

/* --- Inside lists --- */

static void refuses_null_in_lists(void **state)
{
    (void)state;
    struct baryon_session *session;
    struct baryon_run *run;
    const char *const names[] = {"cpu", NULL};
    struct baryon_session_options options = {
        .size = sizeof options, .providers = names, .provider_count = 2};
    open_world();
    assert_error(baryon_session_open(&session, "model.onnx", &options, &err), BARYON_ERR_USAGE,
                 "providers[1] is NULL, a value is required");
    options = (struct baryon_session_options){
        .size = sizeof options, .operator_libraries = names + 1, .operator_library_count = 1};
    assert_error(baryon_session_open(&session, "model.onnx", &options, &err), BARYON_ERR_USAGE,
                 "operator_libraries[0] is NULL, a value is required");
    const char *const outputs[] = {"z", NULL};
    assert_error(baryon_session_run(world_session(), &input, 1, outputs, 2, &run, &err),
                 BARYON_ERR_USAGE, "outputs[1] is NULL, a value is required");
    struct baryon_node *const nodes[] = {world.node, NULL};
    assert_error(baryon_graph_between(world.graph, nodes, 2, nodes, 1, marks, &err),
                 BARYON_ERR_USAGE, "starts[1] is NULL, a value is required");
    const char *texts[] = {"a", NULL};
    const struct baryon_array strings = {"x", STRING, 1, (const int64_t[]){2}, texts, sizeof texts};
    assert_error(baryon_session_run(world_session(), &strings, 1, NULL, 0, &run, &err),
                 BARYON_ERR_USAGE, "element 1 of the input 'x' is NULL");
    close_world();
}

static void refuses_null_settings(void **state)
{
    (void)state;
    struct baryon_statistics *statistics;
    const struct baryon_setting nameless[] = {{"random", "2"}, {NULL, "1"}};
    const struct baryon_setting without[] = {
        {"random", "2"}, {"per-channel", NULL}, {"prep", NULL}};
    open_world();
    assert_error(baryon_calibrate(&statistics, world.model, nameless, 2, NULL, &err),
                 BARYON_ERR_USAGE, "setting 1 has no name");
    assert_error(baryon_calibrate(&statistics, world.model, without, 3, NULL, &err),
                 BARYON_ERR_USAGE, "prep: a value is required");
    const struct baryon_setting half[] = {{"random", "2"}, {"exclude-between", "product"}};
    assert_int_equal(baryon_quantize(world.model, half, 2, NULL, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    close_world();
}

static void refuses_versions(void **state)
{
    (void)state;
    struct baryon_model *model;
    assert_error(baryon_model_new(&model, -1, -1, &err), BARYON_ERR_USAGE,
                 "IR version -1, known are 3 to 14");
    assert_null(model);
    assert_error(baryon_model_new(&model, 10, -1, &err), BARYON_ERR_USAGE,
                 "opset -1, known are 7 to 28");
    assert_error(baryon_model_load_bytes(&model, NULL, 4, NULL, NULL, &err), BARYON_ERR_USAGE,
                 "the argument bytes is NULL, with a count of 4");
    assert_error(baryon_model_load(&model, NULL, NULL, &err), BARYON_ERR_USAGE,
                 "the argument path is NULL, a value is required");
}

/* --- Samples --- */

static struct baryon_array sample;
static size_t sample_count, given;

static int give_sample(void *context, const struct baryon_array **arrays, size_t *count,
                       const char **name, struct baryon_error *why)
{
    (void)context, (void)name, (void)why;
    if (given++)
        return 0;
    *arrays = &sample;
    *count = sample_count;
    return 0;
}

static int calibrate_sample(void)
{
    struct baryon_statistics *statistics;
    const struct baryon_samples samples = {.size = sizeof samples, .next = give_sample, .count = 1};
    const struct baryon_calibrate_options options = {.size = sizeof options, .samples = &samples};
    given = 0;
    open_world();
    int status = baryon_calibrate(&statistics, world.model, NULL, 0, &options, &err);
    baryon_statistics_free(statistics);
    close_world();
    return status;
}

static void refuses_bad_samples(void **state)
{
    (void)state;
    sample_count = 1;
    sample = input;
    ok(calibrate_sample());
    sample.data = NULL;
    assert_error(calibrate_sample(), BARYON_ERR_USAGE,
                 "array 0: the input 'x' has 16 bytes, and its data are NULL");
    sample = input;
    sample.dims = NULL;
    assert_int_equal(calibrate_sample(), -1);
    sample = input;
    sample.rank = -1;
    assert_int_equal(calibrate_sample(), -1);
    sample = input;
    sample.size = 8;
    assert_int_equal(calibrate_sample(), -1);
    sample = input;
    sample.type = 99;
    assert_int_equal(calibrate_sample(), -1);
    sample = input;
    sample.name = NULL; /* in the order of the inputs */
    ok(calibrate_sample());
    sample_count = 0;
    assert_int_equal(calibrate_sample(), -1);
}

/* --- A folder with what the calls read --- */

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_results(void)
{
    char npy[128 + sizeof floats];
    static const char header[] = "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, "
                                 "'shape': (1, 4), }";
    memset(npy, ' ', 128);
    memcpy(npy, header, sizeof header - 1);
    npy[127] = '\n';
    memcpy(npy + 128, floats, sizeof floats);
    assert_int_equal(mkdir("results", 0700), 0);
    write_file("results/a.npy", npy, sizeof npy);
}

static void write_statistics(const char *path, const char *shard)
{
    struct baryon_statistics *statistics;
    const struct baryon_setting settings[] = {{"random", "4"}, {"shard", shard}};
    ok(baryon_calibrate_file(&statistics, "model.onnx", settings, 2, NULL, &err));
    ok(baryon_statistics_save(statistics, path, &err));
    baryon_statistics_free(statistics);
}

/* --- A language model of a layer whose sizes are all the same --- */

/* Ids of tokens, and what is asked of them. */
static void write_auto(void)
{
    enum { HEADER = 128, IDS = 64 };
    static const char config[] = "{bits: 9, text: [ids.npy], length: 4, windows: 2, "
                                 "judge-windows: 1, no-uniform: true, threads: 1}";
    static const char evaluation[] = "{text: [ids.npy], length: 4, windows: 2, threads: 1}";
    uint8_t file[HEADER + 2 * IDS] = "\x93NUMPY\x01\x00\x76";
    const int size = snprintf((char *)file + 10, HEADER - 10,
                              "{'descr': '<u2', 'fortran_order': False, 'shape': (%d,), }", IDS);
    memset(file + 10 + size, ' ', (size_t)(HEADER - 11 - size));
    file[HEADER - 1] = '\n';
    for (size_t i = 0; i < IDS; i++)
        file[HEADER + 2 * i] = (uint8_t)(i * i * 7 % 13);
    write_file("ids.npy", file, sizeof file);
    write_file("llm_auto.yaml", config, sizeof config - 1);
    write_file("llm_eval.yaml", evaluation, sizeof evaluation - 1);
}

static void write_llm(void)
{
    static const char config[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 16, \"intermediate_size\": 16, "
        "\"num_hidden_layers\": 1, \"num_attention_heads\": 1, \"vocab_size\": 16, "
        "\"tie_word_embeddings\": true, \"max_position_embeddings\": 16, \"rms_norm_eps\": 1e-5}";
    static const char quantize[] = "{scheme: uint4_wo_per_channel, dry-run: true}";
    static const char convert[] = "{no-tokenizer: true}";
    static const char *const matrices[] = {
        "embed_tokens",
        "layers.0.self_attn.q_proj",
        "layers.0.self_attn.k_proj",
        "layers.0.self_attn.v_proj",
        "layers.0.self_attn.o_proj",
        "layers.0.mlp.gate_proj",
        "layers.0.mlp.up_proj",
        "layers.0.mlp.down_proj",
    };
    static const char *const norms[] = {"layers.0.input_layernorm",
                                        "layers.0.post_attention_layernorm", "norm"};
    enum { MATRICES = sizeof matrices / sizeof *matrices, NORMS = sizeof norms / sizeof *norms };
    char file[4096 + sizeof(float) * LLM_WIDTH * (LLM_WIDTH * MATRICES + NORMS)] = {0};
    size_t used = 8, at = 0;
    for (size_t i = 0; i < MATRICES + NORMS; i++) {
        const bool norm = i >= MATRICES;
        const size_t size = sizeof(float) * LLM_WIDTH * (norm ? 1 : LLM_WIDTH);
        used += (size_t)snprintf(file + used, 200,
                                 "%s\"model.%s.weight\": {\"dtype\": \"F32\", \"shape\": [16%s], "
                                 "\"data_offsets\": [%zu, %zu]}",
                                 i ? ", " : "{", norm ? norms[i - MATRICES] : matrices[i],
                                 norm ? "" : ", 16", at, at + size);
        at += size;
    }
    file[used++] = '}';
    file[0] = (char)((used - 8) & 255);
    file[1] = (char)((used - 8) >> 8);
    for (size_t i = 0; i < at / sizeof(float); i++) {
        const float value = (float)((int)(i * 7 % 13) - 6);
        memcpy(file + used + i * sizeof value, &value, sizeof value);
    }
    assert_int_equal(mkdir("llm", 0777), 0);
    write_file("llm/config.json", config, sizeof config - 1);
    write_file("llm/model.safetensors", file, used + at);
    write_file("llm_quantize.yaml", quantize, sizeof quantize - 1);
    write_file("llm_convert.yaml", convert, sizeof convert - 1);
    write_auto();
    const struct baryon_setting settings[] = {{"scheme", "uint4_wo_per_channel"}};
    ok(baryon_llm_quantize("llm", "llm.quantized", settings, 1, NULL, NULL, &err));
}

static int make_files(void **state)
{
    static const char passes[] = "passes: {fp32_to_fp16: {keep_io: false}}\n";
    if (api_enter(state))
        return -1;
    struct baryon_model *model = make_model();
    ok(baryon_model_save(model, "model.onnx", NULL, &err));
    baryon_model_free(model);
    write_file("passes.yaml", passes, sizeof passes - 1);
    write_results();
    write_statistics("one.stats", "1/2");
    write_statistics("two.stats", "2/2");
    write_llm();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_arguments), cmocka_unit_test(loses_no_memory),
        cmocka_unit_test(refuses_null_in_lists), cmocka_unit_test(refuses_null_settings),
        cmocka_unit_test(refuses_versions),      cmocka_unit_test(refuses_bad_samples),
    };
    return cmocka_run_group_tests(tests, make_files, api_leave);
}
