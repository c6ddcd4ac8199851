/* Translates our session options into those of ONNX Runtime. */
#include "base/file.h"
#include "base/par.h"
#include "engine/opening.h"
#include "engine/ops_find.h"
#include "engine/ort_path.h"
#include "engine/session_internal.h"
#include "engine/spare.h"

#include <limits.h>
#include <string.h>

static const struct level_row {
    int number;
    GraphOptimizationLevel level;
} levels[] = {
    {-1, ORT_ENABLE_ALL},     {0, ORT_DISABLE_ALL}, {1, ORT_ENABLE_BASIC},
    {2, ORT_ENABLE_EXTENDED}, {99, ORT_ENABLE_ALL},
};

static int find_level(int number, GraphOptimizationLevel *level, struct baryon_error *err)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].number == number) {
            *level = levels[i].level;
            return 0;
        }
    return by_fail(err, BARYON_ERR_USAGE,
                   "optimization level %d, must be 0 (none), 1 (basic), 2 (extended) or 99 (all)",
                   number);
}

static int check_threads(unsigned threads, struct baryon_error *err)
{
    if (threads <= 4096)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "%u threads, must be at most 4096", threads);
}

/* In a loop the runtime repeats a warning in every round of every run. */
static bool is_news(struct by_session *session, const char *message)
{
    const uint64_t hash = by_hash(message, strlen(message), 0) | 1;
    for (size_t i = 0; i < BY_SAID_MOST; i++) {
        uint64_t said = 0;
        if (atomic_compare_exchange_strong(&session->said[i], &said, hash))
            return true;
        if (said == hash)
            return false;
    }
    return false;
}

static void forward_log(void *context, OrtLoggingLevel severity, const char *category,
                        const char *id, const char *place, const char *message)
{
    char line[900];
    struct by_session *session = context;
    (void)severity, (void)category, (void)id, (void)place;
    if (is_news(session, message))
        by_log(&session->log, BY_LOG_INFO, "ONNX Runtime: %s",
               by_ort_text(message, line, sizeof line));
}

/* What goes wrong comes back as a status, so that even its errors are news only for those who want
 * to see how things go. What it says of each of its passes would bury our own lines. */
static OrtLoggingLevel severity_of(const struct by_log *log)
{
    return !log->write || log->level > BY_LOG_INFO ? ORT_LOGGING_LEVEL_FATAL
                                                   : ORT_LOGGING_LEVEL_WARNING;
}

static int set_log(struct by_session *session, OrtSessionOptions *built, struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    if (by_ort_status(ort, ort->api->SetUserLoggingFunction(built, forward_log, session),
                      "set up logging", err) ||
        by_ort_status(ort,
                      ort->api->SetSessionLogSeverityLevel(built, (int)severity_of(&session->log)),
                      "set up logging", err))
        return -1;
    return 0;
}

/*
 * When ONNX Runtime cannot start all of its threads, it waits for those it has started
 * for ever (seen with 1.31). So as many are started here first; the C library keeps
 * their stacks for the next ones.
 */
static int try_threads(unsigned threads, unsigned branches, struct baryon_error *err)
{
    struct by_pool *pool;
    unsigned count = threads + branches;
    if (by_pool_open(&pool, count < BY_THREADS_MAX ? count : BY_THREADS_MAX, err))
        return -1;
    int status = by_spare_for_threads(count, err);
    by_pool_close(pool);
    return status;
}

/* Threads inside a node. */
static int set_inner_threads(struct by_session *session, OrtSessionOptions *built,
                             const struct by_session_options *options, unsigned threads,
                             struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    if (!options->cuts)
        return by_ort_status(ort, ort->api->SetIntraOpNumThreads(built, (int)threads),
                             "set the number of threads", err);
    if (threads > options->cuts)
        threads = options->cuts;
    return by_crew_open(&session->crew, threads, options->cuts, err) ||
                   by_spare_for_threads(options->cuts, err) ||
                   by_crew_put(session->crew, ort, built, err)
               ? -1
               : 0;
}

static int set_threads(struct by_session *session, OrtSessionOptions *built,
                       const struct by_session_options *options, struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    unsigned threads = options->threads ? options->threads : by_cpu_count();
    if (check_threads(threads, err) || check_threads(options->branches, err) ||
        (!options->cuts && try_threads(threads, options->branches, err)) ||
        set_inner_threads(session, built, options, threads, err))
        return -1;
    if (options->branches < 2)
        return 0;
    if (by_ort_status(ort, ort->api->SetSessionExecutionMode(built, ORT_PARALLEL),
                      "run nodes in parallel", err) ||
        by_ort_status(ort, ort->api->SetInterOpNumThreads(built, (int)options->branches),
                      "set the number of threads", err))
        return -1;
    return 0;
}

/* A pattern is kept for every shape that was ever seen: not with dynamic shapes. */
static int set_memory(const struct by_ort *ort, OrtSessionOptions *built,
                      const struct by_session_options *options, bool dynamic,
                      struct baryon_error *err)
{
    if ((dynamic || options->low_memory || options->shares_memory) &&
        by_ort_status(ort, ort->api->DisableMemPattern(built), "set the memory options", err))
        return -1;
    if (options->low_memory &&
        by_ort_status(ort, ort->api->DisableCpuMemArena(built), "set the memory options", err))
        return -1;
    if (options->shares_memory &&
        by_ort_status(ort,
                      ort->api->AddSessionConfigEntry(built, "session.use_env_allocators", "1"),
                      "set the memory options", err))
        return -1;
    return 0;
}

static int set_compute(const struct by_ort *ort, OrtSessionOptions *built,
                       const struct by_session_options *options, struct baryon_error *err)
{
    GraphOptimizationLevel level = ORT_ENABLE_ALL;
    if (find_level(options->optimization, &level, err) ||
        by_ort_status(ort, ort->api->SetSessionGraphOptimizationLevel(built, level),
                      "set the optimization level", err))
        return -1;
    if (options->as_written &&
        by_ort_status(ort, ort->api->AddSessionConfigEntry(built, "session.disable_quant_qdq", "1"),
                      "keep the Q/DQ pairs", err))
        return -1;
    if (options->few_runs &&
        by_ort_status(ort,
                      ort->api->AddSessionConfigEntry(built, "session.disable_prepacking", "1"),
                      "leave weights as they lie", err))
        return -1;
    if (!options->deterministic)
        return 0;
    return by_ort_status(ort, ort->api->SetDeterministicCompute(built, true),
                         "set deterministic computation", err);
}

static int add_op_library(struct by_session *session, OrtSessionOptions *built, const char *path,
                          struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    session->brings = by_opening_add(session->brings, ort->api, path);
    ORTCHAR_T *library = by_ort_library_path(path, err);
    if (!library)
        return -1;
    const int status = by_ort_status(ort, ort->api->RegisterCustomOpsLibrary_V2(built, library),
                                     "load the operator library", err);
    by_free(library);
    if (!status)
        return 0;
    if (err && err->code == BARYON_ERR_ENGINE)
        err->code = BARYON_ERR_DEPENDENCY;
    return by_err_file(err, path);
}

/* Quark imports its domain into all of its models, so that one without our library may run. */
static int add_op_libraries(struct by_session *session, OrtSessionOptions *built,
                            const struct by_session_options *options, bool ours,
                            struct baryon_error *err)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < options->op_library_count; i++)
        if (add_op_library(session, built, options->op_libraries[i], err))
            return -1;
    if (!ours || options->op_library_count || !by_ops_find(path, sizeof path))
        return 0;
    return add_op_library(session, built, path, err);
}

int by_session_options_build(struct by_session *session, const struct by_session_options *options,
                             const struct by_session_needs *needs, OrtSessionOptions **out,
                             struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    *out = NULL;
    if (by_ort_status(ort, ort->api->CreateSessionOptions(out), "create session options", err))
        return -1;
    if (set_log(session, *out, err) || set_threads(session, *out, options, err) ||
        set_memory(ort, *out, options, needs->dynamic, err) ||
        set_compute(ort, *out, options, err) ||
        add_op_libraries(session, *out, options, needs->ops, err) ||
        by_providers_append(ort, *out, options, err))
        return -1;
    return 0;
}
