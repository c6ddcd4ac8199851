/* The check after writing: default optimizations first, then none, then the model before. */
#include "engine/verify.h"

#include "base/file.h"
#include "base/log.h"
#include "engine/ort.h"

/* A session holds the weights in memory, some of them twice: what took little memory to make is not
 * opened where it is big. */
#define BYTES_MAX       ((uint64_t)512 << 20)
#define BYTES_MAX_UNRUN ((uint64_t)8 << 20)

/* Opening takes ONNX Runtime the square of the nodes, and more where functions are inlined. */
#define NODES_MAX 1000

static int count_nodes(void *context, struct baryon_graph *graph, unsigned depth,
                       struct baryon_error *err)
{
    (void)depth;
    (void)err;
    *(size_t *)context += graph->node.count;
    return 0;
}

/* A model that did not run yet may be made to cost much. */
static bool is_big(const struct by_verify *verify)
{
    const bool ran = !verify->before;
    size_t nodes = 0;
    if (verify->bytes > (ran ? BYTES_MAX : BYTES_MAX_UNRUN) ||
        (!ran && verify->model->functions.count))
        return true;
    (void)by_model_each_graph(verify->model, count_nodes, &nodes, NULL);
    return nodes > NODES_MAX;
}

/* keep: where the session goes; NULL: it is closed. */
static int try_open(const struct by_verify *verify, const char *path, int optimization,
                    struct by_session **keep, struct baryon_error *err)
{
    struct by_session *session;
    struct by_session_options options = verify->session;
    options.threads = 1;
    options.shares_memory = true;
    options.optimization = optimization;
    options.provider_count = 0;
    options.log = NULL;
    if (by_session_open(&session, path, &options, err) < 0)
        return -1;
    if (keep)
        *keep = session;
    else
        by_session_close(session);
    return 0;
}

static bool has_runtime(const struct by_verify *verify)
{
    const struct by_ort *ort;
    if (by_ort_open(&ort, verify->session.ort_path, NULL) < 0)
        return false;
    by_ort_close(ort);
    return true;
}

/* What refuses the model before refuses the written one with good reason. */
static bool opened_before(const struct by_verify *verify)
{
    return !verify->before || (!by_same_file(verify->before, verify->path) &&
                               try_open(verify, verify->before, -1, NULL, NULL) == 0);
}

int by_verify_written(const struct by_verify *verify, const struct by_log *log,
                      struct baryon_error *err)
{
    char text[1024];
    struct baryon_error refusal;
    if (is_big(verify) || !has_runtime(verify) ||
        try_open(verify, verify->path, -1, verify->keep, &refusal) == 0 || !opened_before(verify))
        return 0;
    if (refusal.code == BARYON_ERR_NOMEM) {
        by_log(log, BY_LOG_NOTICE, "%s: not verified, too little memory", verify->path);
        return 0;
    }
    baryon_error_format(&refusal, text, sizeof text);
    if (try_open(verify, verify->path, 0, NULL, NULL) == 0) {
        by_log(log, BY_LOG_WARNING,
               "the written model loads in ONNX Runtime only with optimizations disabled: %s",
               text);
        return 0;
    }
    if (refusal.code == BARYON_ERR_UNSUPPORTED) {
        by_log(log, BY_LOG_NOTICE, "ONNX Runtime on this machine cannot load the written model: %s",
               text);
        return 0;
    }
    if (err)
        *err = refusal;
    by_err_hint(err, "the model is written; --no-verify skips this check");
    return -1;
}
