/* Execution providers: one row each. */
#include "base/str.h"
#include "base/text.h"
#include "engine/session_internal.h"

#include <stdio.h>
#include <string.h>

#define SETTINGS_MAX 32

/* Settings of a provider, as two lists. */
struct settings {
    const char *keys[SETTINGS_MAX], *values[SETTINGS_MAX];
    size_t count;
};

typedef OrtStatus *append_fn(const OrtApi *api, OrtSessionOptions *built, const char *name,
                             const struct settings *settings);

static OrtStatus *append_generic(const OrtApi *api, OrtSessionOptions *built, const char *name,
                                 const struct settings *settings)
{
    return api->SessionOptionsAppendExecutionProvider(built, name, settings->keys, settings->values,
                                                      settings->count);
}

/* The older providers have a struct of options, made, filled, handed over and released. */
#define APPEND_WITH(function, type, create, update, append, release)                               \
    static OrtStatus *function(const OrtApi *api, OrtSessionOptions *built, const char *name,      \
                               const struct settings *settings)                                    \
    {                                                                                              \
        type options = NULL;                                                                       \
        (void)name;                                                                                \
        OrtStatus *status = api->create(&options);                                                 \
        if (!status && settings->count)                                                            \
            status = api->update(options, settings->keys, settings->values, settings->count);      \
        if (!status)                                                                               \
            status = api->append(built, options);                                                  \
        if (options)                                                                               \
            api->release(options);                                                                 \
        return status;                                                                             \
    }

APPEND_WITH(append_cuda, OrtCUDAProviderOptionsV2 *, CreateCUDAProviderOptions,
            UpdateCUDAProviderOptions, SessionOptionsAppendExecutionProvider_CUDA_V2,
            ReleaseCUDAProviderOptions)
APPEND_WITH(append_tensorrt, OrtTensorRTProviderOptionsV2 *, CreateTensorRTProviderOptions,
            UpdateTensorRTProviderOptions, SessionOptionsAppendExecutionProvider_TensorRT_V2,
            ReleaseTensorRTProviderOptions)
APPEND_WITH(append_rocm, OrtROCMProviderOptions *, CreateROCMProviderOptions,
            UpdateROCMProviderOptions, SessionOptionsAppendExecutionProvider_ROCM,
            ReleaseROCMProviderOptions)
APPEND_WITH(append_dnnl, OrtDnnlProviderOptions *, CreateDnnlProviderOptions,
            UpdateDnnlProviderOptions, SessionOptionsAppendExecutionProvider_Dnnl,
            ReleaseDnnlProviderOptions)

static const struct provider_row {
    struct by_provider provider;
    const char *generic; /* name for append_generic() */
    append_fn *append;   /* NULL: always there */
} rows[] = {
    {{"cpu", "CPUExecutionProvider", "any CPU; runs every node"}, NULL, NULL},
    {{"cuda", "CUDAExecutionProvider", "NVIDIA GPUs"}, NULL, append_cuda},
    {{"tensorrt", "TensorrtExecutionProvider", "NVIDIA GPUs, with TensorRT"},
     NULL,
     append_tensorrt},
    {{"rocm", "ROCMExecutionProvider", "AMD GPUs, in older versions of ONNX Runtime"},
     NULL,
     append_rocm},
    {{"migraphx", "MIGraphXExecutionProvider", "AMD GPUs"}, "MIGraphX", append_generic},
    {{"vitisai", "VitisAIExecutionProvider", "AMD Ryzen AI and Versal"}, "VitisAI", append_generic},
    {{"openvino", "OpenVINOExecutionProvider", "Intel CPUs, GPUs and NPUs"},
     "OpenVINO",
     append_generic},
    {{"dnnl", "DnnlExecutionProvider", "CPUs, with oneDNN"}, NULL, append_dnnl},
    {{"xnnpack", "XnnpackExecutionProvider", "CPUs, with XNNPACK"}, "XNNPACK", append_generic},
    {{"qnn", "QNNExecutionProvider", "Qualcomm NPUs"}, "QNN", append_generic},
    {{"coreml", "CoreMLExecutionProvider", "Apple devices"}, "CoreML", append_generic},
};

#define ROWS (sizeof rows / sizeof *rows)

const struct by_provider *by_provider_at(size_t index)
{
    return index < ROWS ? &rows[index].provider : NULL;
}

static const struct provider_row *find_provider_row(const char *name, size_t length)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].provider.name) == length &&
            memcmp(rows[i].provider.name, name, length) == 0)
            return &rows[i];
    return NULL;
}

static int refuse_name(const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *known[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        known[i] = rows[i].provider.name;
    const char *nearest = by_nearest(name, known, ROWS);
    by_fail(err, BARYON_ERR_USAGE, "unknown execution provider %s", by_quote(quoted, name));
    return nearest ? by_err_hint(err, "did you mean '%s'?", nearest) : -1;
}

/* What the library was built with, in its own words. */
struct available {
    char **names;
    int count;
};

static int get_available(const struct by_ort *ort, struct available *available,
                         struct baryon_error *err)
{
    *available = (struct available){NULL, 0};
    return by_ort_status(ort, ort->api->GetAvailableProviders(&available->names, &available->count),
                         "list the execution providers", err);
}

static void release_available(const struct by_ort *ort, const struct available *available)
{
    if (available->names)
        (void)by_ort_status(ort,
                            ort->api->ReleaseAvailableProviders(available->names, available->count),
                            "free a list", NULL);
}

static bool has_provider(const struct available *available, const char *full)
{
    for (int i = 0; i < available->count; i++)
        if (strcmp(available->names[i], full) == 0)
            return true;
    return false;
}

/* Those that options can name. */
static void join_available(const struct available *available, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    for (size_t i = 0; i < ROWS; i++)
        if (has_provider(available, rows[i].provider.full))
            by_text_add(&text, "%s%s", text.used ? ", " : "", rows[i].provider.name);
}

int by_providers_available(const struct by_ort *ort, char *buf, size_t size,
                           struct baryon_error *err)
{
    struct available available;
    if (get_available(ort, &available, err))
        return -1;
    join_available(&available, buf, size);
    release_available(ort, &available);
    return 0;
}

static int check_available(const struct by_ort *ort, const struct provider_row *row,
                           struct baryon_error *err)
{
    struct available available;
    char list[160];
    if (get_available(ort, &available, err))
        return -1;
    bool there = has_provider(&available, row->provider.full);
    join_available(&available, list, sizeof list);
    release_available(ort, &available);
    if (there)
        return 0;
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_DEPENDENCY, "ONNX Runtime %s has no execution provider '%s', only %s",
            ort->version, row->provider.name, list);
    return by_err_hint(err, "set BARYON_ONNXRUNTIME to a build with it; this build is %.150s",
                       by_quote(quoted, ort->path));
}

/* "key=value:key=value" in place. */
static int split_settings(char *text, struct settings *settings, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    while (text) {
        char *next = strchr(text, ':');
        if (next)
            *next++ = '\0';
        char *equals = strchr(text, '=');
        if (!equals || equals == text)
            return by_fail(err, BARYON_ERR_USAGE,
                           "setting %s of an execution provider, must be KEY=VALUE",
                           by_quote(quoted, text));
        if (settings->count == SETTINGS_MAX)
            return by_fail(err, BARYON_ERR_USAGE,
                           "more than %d settings for an execution provider, the limit",
                           SETTINGS_MAX);
        *equals = '\0';
        settings->keys[settings->count] = text;
        settings->values[settings->count++] = equals + 1;
        text = next;
    }
    return 0;
}

static int append(const struct by_ort *ort, OrtSessionOptions *built,
                  const struct provider_row *row, char *text, struct baryon_error *err)
{
    struct settings settings = {.count = 0};
    char doing[64];
    if (text && split_settings(text, &settings, err))
        return -1;
    if (!row->append) {
        if (!settings.count)
            return 0;
        return by_fail(err, BARYON_ERR_USAGE, "execution provider '%s' accepts no settings",
                       row->provider.name);
    }
    snprintf(doing, sizeof doing, "use the execution provider '%s'", row->provider.name);
    return by_ort_status(ort, row->append(ort->api, built, row->generic, &settings), doing, err);
}

static int append_named(const struct by_ort *ort, OrtSessionOptions *built, const char *text,
                        const struct provider_row **row, struct baryon_error *err)
{
    size_t length = strcspn(text, ":");
    char *copy = by_strdup(text, err);
    if (!copy)
        return -1;
    copy[length] = '\0';
    int result;
    if (!(*row = find_provider_row(copy, length)))
        result = refuse_name(copy, err);
    else
        result = check_available(ort, *row, err) ||
                 append(ort, built, *row, text[length] ? copy + length + 1 : NULL, err);
    by_free(copy);
    return result ? -1 : 0;
}

int by_providers_append(const struct by_ort *ort, OrtSessionOptions *built,
                        const struct by_session_options *options, struct baryon_error *err)
{
    bool seen[ROWS] = {false};
    for (size_t i = 0; i < options->provider_count; i++) {
        const struct provider_row *row = NULL;
        if (append_named(ort, built, options->providers[i], &row, err))
            return -1;
        if (seen[row - rows])
            return by_fail(err, BARYON_ERR_USAGE, "execution provider '%s' is given twice",
                           row->provider.name);
        seen[row - rows] = true;
    }
    if (!options->provider_count || seen[0])
        return 0;
    return by_ort_status(
        ort, ort->api->AddSessionConfigEntry(built, "session.disable_cpu_ep_fallback", "1"),
        "disable the CPU execution provider", err);
}
