/* Registers all custom operators when ONNX Runtime loads the library. */
#include "ops/op.h"

#include <pthread.h>
#include <stdlib.h>

static const struct by_op_row *const rows[] = {
    &by_op_quantize, &by_op_dequantize, &by_op_bfp, &by_op_mx, &by_op_instance_norm, &by_op_lstm,
};

#define COUNT (sizeof rows / sizeof *rows)

/* Of the process: sessions point into it until they end, and nobody says when the last has. */
static struct {
    pthread_mutex_t lock;
    struct by_ort ort;
    struct by_op ops[2 * COUNT];
    OrtCustomOpDomain *domains[2];
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const domain_names[] = {"com.amd.quark", "com.vai.quantize"};

static OrtStatus *make_domain(size_t index)
{
    OrtCustomOpDomain *domain = NULL;
    OrtStatus *status = made.ort.api->CreateCustomOpDomain(domain_names[index], &domain);
    for (size_t i = 0; !status && i < COUNT; i++) {
        struct by_op *op = &made.ops[index * COUNT + i];
        by_op_fill(op, rows[i], index ? rows[i]->old_name : rows[i]->name, &made.ort);
        status = made.ort.api->CustomOpDomain_Add(domain, &op->op);
    }
    if (status && domain)
        made.ort.api->ReleaseCustomOpDomain(domain);
    else
        made.domains[index] = domain;
    return status;
}

/* "1.31.1": 31; 0 where it is of another form. */
static int minor_of(const char *version)
{
    char *end;
    const long minor = version[0] == '1' && version[1] == '.' ? strtol(version + 2, &end, 10) : 0;
    return minor > 0 && minor < 10000 ? (int)minor : 0;
}

static OrtStatus *add_domains(OrtSessionOptions *options)
{
    OrtStatus *status = NULL;
    for (size_t i = 0; !status && i < 2; i++)
        if (!made.domains[i])
            status = make_domain(i);
    for (size_t i = 0; !status && i < 2; i++)
        status = made.ort.api->AddCustomOpDomain(options, made.domains[i]);
    return status;
}

__attribute__((visibility("default"))) OrtStatus *RegisterCustomOps(OrtSessionOptions *options,
                                                                    const OrtApiBase *base)
{
    const int minor = minor_of(base->GetVersionString());
    const OrtApi *api = minor && minor < BY_OP_API ? NULL : base->GetApi(BY_OP_API);
    if (!api)
        return base->GetApi(1)->CreateStatus(
            ORT_FAIL, "the operators of Baryon require ONNX Runtime 1.17 or newer");
    pthread_mutex_lock(&made.lock);
    made.ort.api = api;
    made.ort.minor = minor;
    OrtStatus *status = add_domains(options);
    pthread_mutex_unlock(&made.lock);
    return status;
}

__attribute__((destructor)) static void release_domains(void)
{
    for (size_t i = 0; i < 2; i++)
        if (made.domains[i])
            made.ort.api->ReleaseCustomOpDomain(made.domains[i]);
}
