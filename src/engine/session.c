/* Opens a model as a session of ONNX Runtime and describes its inputs and outputs. */
#include "engine/session.h"

#include "base/constant.h"
#include "engine/dequantize.h"
#include "engine/opening.h"
#include "engine/ops_find.h"
#include "engine/ort_path.h"
#include "engine/pair.h"
#include "engine/product.h"
#include "engine/session_internal.h"
#include "engine/spare.h"
#include "ir/graph.h"
#include "onnx/load.h"

#include <limits.h>
#include <string.h>

/* How ONNX Runtime gets the model: one of the three. */
struct source {
    const char *path;
    const void *bytes;
    size_t size;
    const struct by_lent *lent;
    by_session_extend_fn *extend; /* may be NULL */
    void *context;
};

static struct by_session *new_session(const struct by_session_options *options,
                                      struct baryon_error *err)
{
    struct by_session *session = by_alloc_zero(1, sizeof *session, err);
    if (!session)
        return NULL;
    by_arena_init(&session->arena, 0);
    by_map_init(&session->inputs.by_name);
    by_map_init(&session->optional_inputs.by_name);
    by_map_init(&session->outputs.by_name);
    atomic_init(&session->cancelled, false);
    if (options->log)
        session->log = *options->log;
    const struct by_ort *ort;
    if (by_ort_open(&ort, options->ort_path, err)) {
        by_session_close(session);
        return NULL;
    }
    session->ort = ort;
    if (by_spare_take(err) ||
        by_ort_status(ort, ort->api->CreateRunOptions(&session->run_options), "create run options",
                      err) ||
        by_ort_status(
            ort,
            ort->api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &session->memory),
            "describe memory", err) ||
        (options->shares_memory && by_ort_share_memory(ort, err))) {
        by_session_close(session);
        return NULL;
    }
    session->shares_memory = options->shares_memory;
    return session;
}

static void leave_constants(struct by_session *session)
{
    for (size_t i = 0; i < session->constants.count; i++) {
        struct by_kept_constant *kept = &session->constants.at[i];
        if (kept->value)
            session->ort->api->ReleaseValue(kept->value);
        by_constant_leave(kept->constant);
    }
}

void by_session_close(struct by_session *session)
{
    if (!session)
        return;
    if (session->ort) {
        const OrtApi *api = session->ort->api;
        if (session->handle)
            api->ReleaseSession(session->handle);
        leave_constants(session);
        for (size_t i = 0; i < BY_OWN_DOMAINS && session->own_ops[i]; i++)
            api->ReleaseCustomOpDomain(session->own_ops[i]);
        if (session->run_options)
            api->ReleaseRunOptions(session->run_options);
        if (session->memory)
            api->ReleaseMemoryInfo(session->memory);
        by_crew_close(session->crew);
        if (session->shares_memory)
            by_ort_unshare_memory(session->ort);
        by_ort_close(session->ort);
    }
    by_ports_release(session);
    by_arena_release(&session->arena);
    by_free(session);
}

static bool is_initialized(const struct baryon_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->initializer.count; i++) {
        const struct baryon_tensor *tensor = graph->initializer.at[i];
        if (tensor && tensor->name == name)
            return true;
    }
    return false;
}

static bool has_open_dims(const struct by_value_info *info)
{
    const struct by_tensor_type *tensor = info->type ? info->type->tensor : NULL;
    if (!tensor || !tensor->shape)
        return true;
    for (size_t i = 0; i < tensor->shape->dims.count; i++)
        if (by_dim_is_open(tensor->shape->dims.at[i]))
            return true;
    return false;
}

/* True when runs can differ in the shapes of their inputs. */
static bool is_dynamic(const struct baryon_model *model)
{
    const struct baryon_graph *graph = model->graph;
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        if (info && has_open_dims(info) && !is_initialized(graph, info->name))
            return true;
    }
    return false;
}

static int create(struct by_session *session, const struct source *source,
                  const OrtSessionOptions *built, struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    OrtStatus *status;
    ORTCHAR_T *path = source->path ? by_ort_path(source->path, err) : NULL;
    if (source->path && !path)
        return -1;
    by_opening_begin(session->brings);
    if (source->path) {
        status = ort->api->CreateSession(ort->env, path, built, &session->handle);
        by_free(path);
    } else {
        size_t size = source->size;
        const void *bytes = source->lent ? by_lent_bytes(source->lent, &size) : source->bytes;
        status = ort->api->CreateSessionFromArray(ort->env, bytes, size, built, &session->handle);
    }
    by_opening_end(session->brings, !status);
    if (by_ort_status(ort, status, "open the model", err) == 0)
        return 0;
    return source->path ? by_err_file(err, source->path) : -1;
}

int by_session_add_ops(struct by_session *session, OrtSessionOptions *built, const char *domain,
                       const OrtCustomOp *const *ops, size_t count, struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    OrtCustomOpDomain **own = session->own_ops;
    while (*own)
        own++;
    if (by_ort_status(ort, ort->api->CreateCustomOpDomain(domain, own), "create operators", err))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (by_ort_status(ort, ort->api->CustomOpDomain_Add(*own, ops[i]), "create operators", err))
            return -1;
    session->brings = by_opening_add(session->brings, ort->api, domain);
    return by_ort_status(ort, ort->api->AddCustomOpDomain(built, *own), "register operators", err);
}

/* What may have been lacking. */
static void hint_at_ops(struct baryon_error *err)
{
    char path[PATH_MAX];
    if (err && err->code == BARYON_ERR_UNSUPPORTED && !by_ops_find(path, sizeof path))
        by_err_hint(err, "libbaryon_ops.so with Quark's operators is missing: build it with 'make "
                         "ops', or set BARYON_OPS to it");
}

static int open_source(struct by_session *session, const struct baryon_model *model,
                       const struct source *source, const struct by_session_options *options,
                       struct baryon_error *err)
{
    OrtSessionOptions *built = NULL;
    const struct by_session_needs needs = {is_dynamic(model), by_ops_wanted(model)};
    int failed = by_session_options_build(session, options, &needs, &built, err) ||
                 (source->lent && by_lent_add(source->lent, built, err)) ||
                 (by_pairs_wanted(model) && by_pair_ops_add(session, built, err)) ||
                 (by_dequantize_wanted(model) && by_dequantize_op_add(session, built, err)) ||
                 (by_products_wanted(model) && by_product_ops_add(session, built, err)) ||
                 (source->extend && source->extend(source->context, session, built, err)) ||
                 create(session, source, built, err);
    if (built)
        session->ort->api->ReleaseSessionOptions(built);
    if (failed && needs.ops && !options->op_library_count)
        hint_at_ops(err);
    return failed ? -1 : by_ports_read(session, model, err);
}

/* Takes the session over, also when it fails. */
static int finish_opening(struct by_session **out, struct by_session *session, int failed)
{
    if (failed)
        by_session_close(session);
    else
        *out = session;
    return failed ? -1 : 0;
}

static const struct by_session_options *or_defaults(const struct by_session_options *options)
{
    static const struct by_session_options defaults = {.optimization = -1};
    return options ? options : &defaults;
}

int by_session_open(struct by_session **out, const char *path,
                    const struct by_session_options *options, struct baryon_error *err)
{
    options = or_defaults(options);
    const struct by_load_options load = {.allow_links = options->allow_links, .log = options->log};
    struct baryon_model *model;
    *out = NULL;
    if (by_model_load(&model, path, &load, err))
        return -1;
    struct by_session *session = new_session(options, err);
    const struct source source = {.path = path};
    int failed = !session || open_source(session, model, &source, options, err) ||
                 by_model_unchanged_on_disk(model, err);
    by_model_free(model);
    return finish_opening(out, session, failed);
}

int by_session_open_bytes(struct by_session **out, const void *bytes, size_t size,
                          const struct by_session_options *options, struct baryon_error *err)
{
    options = or_defaults(options);
    struct baryon_model *model;
    *out = NULL;
    if (by_model_load_bytes(&model, bytes, size, NULL, NULL, err))
        return -1;
    struct by_session *session = new_session(options, err);
    const struct source source = {.bytes = bytes, .size = size};
    int failed = !session || open_source(session, model, &source, options, err);
    by_model_free(model);
    return finish_opening(out, session, failed);
}

int by_session_open_extended(struct by_session **out, struct baryon_model *model, size_t lend_min,
                             const struct by_session_options *options, by_session_extend_fn *extend,
                             void *context, struct baryon_error *err)
{
    options = or_defaults(options);
    struct by_lent *lent = NULL;
    *out = NULL;
    struct by_session *session = new_session(options, err);
    if (!session)
        return -1;
    int failed = by_model_lend(&lent, session, model, lend_min, options, err);
    if (!failed) {
        const struct source source = {.lent = lent, .extend = extend, .context = context};
        failed = open_source(session, model, &source, options, err) ||
                 by_model_unchanged_on_disk(model, err);
    }
    by_lent_free(lent);
    return finish_opening(out, session, failed);
}

int by_session_open_model(struct by_session **out, struct baryon_model *model, size_t lend_min,
                          const struct by_session_options *options, struct baryon_error *err)
{
    return by_session_open_extended(out, model, lend_min, options, NULL, NULL, err);
}

const struct by_port *by_session_inputs(const struct by_session *session, size_t *count)
{
    *count = session->inputs.count;
    return session->inputs.at;
}

const struct by_port *by_session_optional_inputs(const struct by_session *session, size_t *count)
{
    *count = session->optional_inputs.count;
    return session->optional_inputs.at;
}

const struct by_port *by_session_outputs(const struct by_session *session, size_t *count)
{
    *count = session->outputs.count;
    return session->outputs.at;
}

const struct by_ort *by_session_ort(const struct by_session *session)
{
    return session->ort;
}
