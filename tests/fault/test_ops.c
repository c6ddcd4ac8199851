/*
 * Every allocation of Quark's operators fails, once and for good, while a kernel is made and while
 * it computes: the runtime gets a status that names the operator, and the session goes on working.
 */
#include "tests/unit/engine_build.h"

#include "engine/ort.h"
#include "onnx/save.h"
#include "ops/op.h"

#include <dlfcn.h>

#include "base/fault.h"

/* That of the library, which is linked into this program. */
OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base);

static const struct by_ort *ort;
static const OrtApiBase *base;
static struct by_str bytes; /* of the model */
static const int64_t dims[] = {2, 3, 4}, steps[] = {6, 1, 4};

struct one {
    struct baryon_model *(*make)(void);
    const int64_t *dims; /* of its input */
    enum ONNXTensorElementDataType type;
    size_t bytes;   /* of an element */
    bool allocates; /* while it computes */
};

/* --- Models of one node --- */

struct attribute {
    const char *name;
    int64_t value;
};

static void put_op(struct baryon_model *model, const char *op_type, const char *inputs,
                   const struct attribute *attributes)
{
    struct baryon_node *node = put_node(model->graph, "node", op_type, inputs, "y");
    node->domain = name_of(model, "com.amd.quark");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "com.amd.quark", 1, &err));
    for (; attributes && attributes->name; attributes++)
        assert_ok(by_node_set_int(node, attributes->name, attributes->value, &err));
}

static struct baryon_model *ports(int64_t in, int64_t out)
{
    struct baryon_model *model = new_model();
    takes(model, "x", in, "2,3,4");
    gives(model, "y", out, NULL);
    return model;
}

static void put_scales(struct baryon_model *model)
{
    static const int16_t zeros[3] = {1, 2, 3};
    put_floats(model, "scale", "3", 0.5F);
    put_weight(model, "zero", BY_ELEM_INT16, (const int64_t[]){3}, 1, zeros, sizeof zeros);
}

static struct baryon_model *quantize(void)
{
    static const struct attribute along[] = {{"axis", 1}, {0}};
    struct baryon_model *model = ports(BY_ELEM_FLOAT, BY_ELEM_INT16);
    put_scales(model);
    put_op(model, "ExtendedQuantizeLinear", "x,scale,zero", along);
    return model;
}

static struct baryon_model *dequantize(void)
{
    static const struct attribute along[] = {{"axis", 1}, {0}};
    struct baryon_model *model = ports(BY_ELEM_INT16, BY_ELEM_FLOAT);
    put_scales(model);
    put_op(model, "ExtendedDequantizeLinear", "x,scale,zero", along);
    return model;
}

static struct baryon_model *bfp(void)
{
    struct baryon_model *model = ports(BY_ELEM_FLOAT, BY_ELEM_FLOAT);
    put_op(model, "BFPQuantizeDequantize", "x", NULL);
    return model;
}

static struct baryon_model *halves(void)
{
    static const struct attribute small[] = {{"block_size", 2}, {0}};
    struct baryon_model *model = ports(BY_ELEM_FLOAT16, BY_ELEM_FLOAT16);
    put_op(model, "MXQuantizeDequantize", "x", small);
    return model;
}

static struct baryon_model *instance_norm(void)
{
    struct baryon_model *model = ports(BY_ELEM_FLOAT, BY_ELEM_FLOAT);
    put_floats(model, "scale", "3", 0.5F);
    put_floats(model, "bias", "3", 1);
    put_op(model, "ExtendedInstanceNormalization", "x,scale,bias", NULL);
    return model;
}

/* Its steps are as many as the input has; the batch is 1. */
static struct baryon_model *lstm(void)
{
    static const struct attribute of[] = {
        {"hidden_size", 2},
        {"x_zero_point", 32768},
        {"w_zero_point", 32768},
        {"r_zero_point", 32768},
        {"b_zero_point", 32768},
        {"y_zero_point", 32768},
        {0},
    };
    static const char *const scales[] = {"x_scale", "w_scale", "r_scale", "b_scale", "y_scale"};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "6,1,4");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_floats(model, "w", "2,8,4", 0.1F);
    put_floats(model, "r", "2,8,2", 0.2F);
    put_floats(model, "b", "2,16", 0.3F);
    put_op(model, "ExtendedLSTM", "x,w,r,b", of);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        assert_ok(by_node_set_float(node_at(model->graph, 0), scales[i], 1e-3F, &err));
    return model;
}

/* --- One node's life --- */

static bool is_nomem(OrtStatus *status)
{
    const char *text = ort->api->GetErrorMessage(status);
    const bool is = strstr(text, "out of memory") != NULL;
    if (!is)
        print_error("%s\n", text);
    ort->api->ReleaseStatus(status);
    return is;
}

static void has_to(OrtStatus *status)
{
    if (status)
        fail_msg("%s", ort->api->GetErrorMessage(status));
}

static OrtStatus *open_session(OrtSession **session)
{
    OrtSessionOptions *options;
    has_to(ort->api->CreateSessionOptions(&options));
    has_to(ort->api->SetIntraOpNumThreads(options, 1));
    has_to(RegisterCustomOps(options, base));
    OrtStatus *status =
        ort->api->CreateSessionFromArray(ort->env, bytes.text, bytes.size, options, session);
    ort->api->ReleaseSessionOptions(options);
    return status;
}

static OrtValue *sample(const struct one *one)
{
    static float values[24];
    OrtMemoryInfo *memory;
    OrtValue *value = NULL;
    has_to(ort->api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
    has_to(ort->api->CreateTensorWithDataAsOrtValue(memory, values, 24 * one->bytes, one->dims, 3,
                                                    one->type, &value));
    ort->api->ReleaseMemoryInfo(memory);
    return value;
}

static OrtStatus *run_session(OrtSession *session, const OrtValue *input)
{
    static const char *const x = "x", *const y = "y";
    OrtValue *output = NULL;
    OrtStatus *status = ort->api->Run(session, NULL, &x, &input, 1, &y, 1, &output);
    if (output)
        ort->api->ReleaseValue(output);
    return status;
}

static uint64_t allocations(void)
{
    return by_fault_count(BY_FAULT_ALLOC);
}

/* The kernel's own keeps the session from being made; looking for processors is done without. */
static void sweep_opening(void)
{
    OrtSession *session;
    const uint64_t before = allocations();
    has_to(open_session(&session));
    const uint64_t calls = allocations() - before;
    ort->api->ReleaseSession(session);
    uint64_t failed = 0;
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++) {
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            OrtStatus *status = open_session(&session);
            by_fault_arm(BY_FAULT_ALLOC, 0, false);
            if (status)
                assert_true(is_nomem(status));
            else
                ort->api->ReleaseSession(session);
            failed += status != NULL;
        }
    assert_true(failed >= 2);
}

/* Those of a run: it fails, and the next one works. */
static uint64_t sweep_runs(const struct one *one)
{
    OrtSession *session;
    has_to(open_session(&session));
    OrtValue *input = sample(one);
    const uint64_t before = allocations();
    has_to(run_session(session, input));
    const uint64_t calls = allocations() - before;
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++) {
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            OrtStatus *status = run_session(session, input);
            by_fault_arm(BY_FAULT_ALLOC, 0, false);
            assert_non_null(status);
            assert_true(is_nomem(status));
            has_to(run_session(session, input));
        }
    ort->api->ReleaseValue(input);
    ort->api->ReleaseSession(session);
    return calls;
}

static void each_operator(void **state)
{
    const enum ONNXTensorElementDataType f32 = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                         f16 = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16,
                                         i16 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16;
    const struct one cases[] = {
        {quantize, dims, f32, 4, true}, {dequantize, dims, i16, 2, true},
        {bfp, dims, f32, 4, false},     {halves, dims, f16, 2, true},
        {lstm, steps, f32, 4, true},    {instance_norm, dims, f32, 4, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct baryon_model *model = cases[i].make();
        by_str_init(&bytes);
        assert_ok(by_model_save_bytes(model, &bytes, &err));
        by_model_free(model);
        sweep_opening();
        assert_true((sweep_runs(&cases[i]) > 0) == cases[i].allocates);
        by_str_release(&bytes);
    }
}

static const OrtApiBase *find_base(void)
{
    const OrtApiBase *(*get)(void);
    void *library = dlopen(ort->path, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)&get = dlsym(library, "OrtGetApiBase");
    assert_non_null(get);
    return get();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_operator)};
    if (by_ort_open(&ort, NULL, &err) < 0) {
        print_error("%s\n", err.message);
        return 1;
    }
    base = find_base();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    by_ort_close(ort);
    return failed;
}
