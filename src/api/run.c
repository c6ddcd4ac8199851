/* The public interface: running models. */
#include "api/api.h"
#include "engine/ort.h"
#include "engine/session.h"
#include "engine/trace.h"

#include <string.h>

struct port_list {
    struct baryon_port *at;
    size_t count;
};

struct baryon_session {
    struct by_session *session;
    struct by_arena arena; /* of the lists */
    struct port_list inputs, optional, outputs;
    struct by_api_log log;
};

struct baryon_run {
    struct by_run *run;
    struct baryon_array *outputs;
    size_t count;
};

/* --- options --- */

static int find_level(enum baryon_optimization optimization, int *level, struct baryon_error *err)
{
    switch (optimization) {
    case BARYON_OPTIMIZE_ALL:
        *level = 99;
        return 0;
    case BARYON_OPTIMIZE_NONE:
        *level = 0;
        return 0;
    case BARYON_OPTIMIZE_BASIC:
        *level = 1;
        return 0;
    case BARYON_OPTIMIZE_EXTENDED:
        *level = 2;
        return 0;
    }
    return by_fail(err, BARYON_ERR_USAGE, "optimization %d, must be 0 to 3", (int)optimization);
}

/* session may be NULL: then there is no log. */
static int take_options(struct by_session_options *out, struct baryon_session *session,
                        const struct baryon_session_options *theirs, struct baryon_error *err)
{
    struct baryon_session_options options = {.size = sizeof options};
    int level = 0;
    if (by_api_options(&options, sizeof options, theirs, err) ||
        find_level(options.optimization, &level, err) ||
        by_need_each(options.providers, options.provider_count, "providers", err) ||
        by_need_each(options.operator_libraries, options.operator_library_count,
                     "operator_libraries", err))
        return -1;
    *out = (struct by_session_options){
        .ort_path = options.onnxruntime,
        .threads = options.threads,
        .branches = options.branches,
        .optimization = level,
        .providers = options.providers,
        .provider_count = options.provider_count,
        .op_libraries = options.operator_libraries,
        .op_library_count = options.operator_library_count,
        .deterministic = options.deterministic,
        .low_memory = options.low_memory,
        .allow_links = options.allow_links,
    };
    if (!session || !options.log)
        return 0;
    by_api_log_open(&session->log, options.log, options.log_context, BY_LOG_INFO);
    out->log = &session->log.log;
    return 0;
}

/* --- sessions --- */

static int copy_symbols(struct by_arena *arena, const struct by_port *from, struct baryon_port *to,
                        struct baryon_error *err)
{
    const char **symbols = by_arena_alloc(arena, from->rank, sizeof *symbols, err);
    if (!symbols)
        return -1;
    for (size_t i = 0; i < from->rank; i++)
        symbols[i] = from->symbols[i][0] ? from->symbols[i] : NULL;
    to->symbols = symbols;
    return 0;
}

static int copy_ports(struct by_arena *arena, const struct by_port *ports, size_t count,
                      struct port_list *list, struct baryon_error *err)
{
    list->at = by_arena_alloc(arena, count, sizeof *list->at, err);
    if (!list->at)
        return -1;
    list->count = count;
    for (size_t i = 0; i < count; i++) {
        list->at[i] = (struct baryon_port){
            .name = ports[i].name,
            .kind = ports[i].kind,
            .type = (int)ports[i].elem,
            .rank = ports[i].any_rank ? -1 : (int)ports[i].rank,
            .dims = ports[i].dims,
        };
        if (copy_symbols(arena, &ports[i], &list->at[i], err))
            return -1;
    }
    return 0;
}

static int list_ports(struct baryon_session *session, struct baryon_error *err)
{
    size_t inputs, optional, outputs;
    const struct by_port *in = by_session_inputs(session->session, &inputs);
    const struct by_port *more = by_session_optional_inputs(session->session, &optional);
    const struct by_port *out = by_session_outputs(session->session, &outputs);
    if (copy_ports(&session->arena, in, inputs, &session->inputs, err) ||
        copy_ports(&session->arena, more, optional, &session->optional, err) ||
        copy_ports(&session->arena, out, outputs, &session->outputs, err))
        return -1;
    return 0;
}

/* What a session is opened from: one of the three. */
struct source {
    const char *path;
    const void *bytes;
    size_t size;
    struct baryon_model *model;
};

static int open_source(struct baryon_session *session, const struct source *source,
                       const struct baryon_session_options *theirs, struct baryon_error *err)
{
    struct by_session_options options;
    struct by_session **out = &session->session;
    if (take_options(&options, session, theirs, err))
        return -1;
    if (source->path)
        return by_session_open(out, source->path, &options, err);
    if (source->model)
        return by_session_open_model(out, source->model, 0, &options, err);
    return by_session_open_bytes(out, source->bytes, source->size, &options, err);
}

static int open_session(struct baryon_session **out, const struct source *source,
                        const struct baryon_session_options *options, struct baryon_error *err)
{
    *out = NULL;
    struct baryon_session *session = by_alloc_zero(1, sizeof *session, err);
    if (!session)
        return -1;
    by_arena_init(&session->arena, 0);
    if (open_source(session, source, options, err) || list_ports(session, err)) {
        baryon_session_close(session);
        return -1;
    }
    *out = session;
    return 0;
}

int baryon_session_open(struct baryon_session **session, const char *path,
                        const struct baryon_session_options *options, struct baryon_error *err)
{
    if (BY_NEED(session, err) || BY_NEED(path, err))
        return -1;
    return open_session(session, &(struct source){.path = path}, options, err);
}

int baryon_session_open_bytes(struct baryon_session **session, const void *bytes, size_t size,
                              const struct baryon_session_options *options,
                              struct baryon_error *err)
{
    if (BY_NEED(session, err) || BY_NEED_LIST(bytes, size, err))
        return -1;
    return open_session(session, &(struct source){.bytes = bytes, .size = size}, options, err);
}

int baryon_session_open_model(struct baryon_session **session, struct baryon_model *model,
                              const struct baryon_session_options *options,
                              struct baryon_error *err)
{
    if (BY_NEED(session, err) || BY_NEED(model, err))
        return -1;
    return open_session(session, &(struct source){.model = model}, options, err);
}

void baryon_session_close(struct baryon_session *session)
{
    if (!session)
        return;
    by_session_close(session->session);
    by_arena_release(&session->arena);
    by_free(session);
}

const char *baryon_session_runtime(const struct baryon_session *session)
{
    return session ? by_session_ort(session->session)->version : "";
}

static const struct baryon_port *port_at(const struct port_list *list, size_t place)
{
    return place < list->count ? &list->at[place] : NULL;
}

size_t baryon_session_input_count(const struct baryon_session *session)
{
    return session ? session->inputs.count : 0;
}

const struct baryon_port *baryon_session_input(const struct baryon_session *session, size_t place)
{
    return session ? port_at(&session->inputs, place) : NULL;
}

size_t baryon_session_optional_count(const struct baryon_session *session)
{
    return session ? session->optional.count : 0;
}

const struct baryon_port *baryon_session_optional(const struct baryon_session *session,
                                                  size_t place)
{
    return session ? port_at(&session->optional, place) : NULL;
}

size_t baryon_session_output_count(const struct baryon_session *session)
{
    return session ? session->outputs.count : 0;
}

const struct baryon_port *baryon_session_output(const struct baryon_session *session, size_t place)
{
    return session ? port_at(&session->outputs, place) : NULL;
}

/* --- runs --- */

/* There are data, and where they are strings, all of them. */
static int check_data(const struct baryon_array *array, const char *name, struct baryon_error *err)
{
    const char *const *texts = array->data;
    if (array->size && !array->data)
        return by_fail(err, BARYON_ERR_USAGE, "the input %s has %zu bytes, and its data are NULL",
                       name, array->size);
    for (size_t i = 0; array->type == BY_ELEM_STRING && i < array->size / sizeof *texts; i++)
        if (!texts[i])
            return by_fail(err, BARYON_ERR_USAGE, "element %zu of the input %s is NULL", i, name);
    return 0;
}

int by_api_array(const struct baryon_array *theirs, struct by_array *ours, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *name = theirs->name ? by_quote(quoted, theirs->name) : "without a name";
    if (theirs->rank < 0 || theirs->rank > BY_RANK_MAX || (theirs->rank && !theirs->dims))
        return by_fail(err, BARYON_ERR_USAGE, "input %s has rank %d, must be 0 to %d", name,
                       theirs->rank, BY_RANK_MAX);
    if (check_data(theirs, name, err) < 0)
        return -1;
    *ours = (struct by_array){.name = theirs->name,
                              .elem = theirs->type,
                              .rank = (size_t)theirs->rank,
                              .data = theirs->data,
                              .size = theirs->size};
    for (size_t i = 0; i < ours->rank; i++)
        ours->dims[i] = theirs->dims[i];
    return 0;
}

static int take_array(const struct baryon_array *theirs, struct by_array *ours,
                      struct baryon_error *err)
{
    if (!theirs->name)
        return by_fail(err, BARYON_ERR_USAGE, "an input has no name");
    return by_api_array(theirs, ours, err);
}

/* By by_free(). */
static struct by_array *take_arrays(const struct baryon_array *theirs, size_t count,
                                    struct baryon_error *err)
{
    struct by_array *ours = by_alloc(count, sizeof *ours, err);
    for (size_t i = 0; ours && i < count; i++)
        if (take_array(&theirs[i], &ours[i], err)) {
            by_free(ours);
            return NULL;
        }
    return ours;
}

static struct baryon_run *give_run(struct by_run *inner, struct baryon_error *err)
{
    size_t count;
    const struct by_array *arrays = by_run_outputs(inner, &count);
    struct baryon_run *run = by_alloc(1, sizeof *run, err);
    struct baryon_array *outputs = run ? by_alloc(count, sizeof *outputs, err) : NULL;
    if (!outputs) {
        by_free(run);
        return NULL;
    }
    *run = (struct baryon_run){inner, outputs, count};
    for (size_t i = 0; i < count; i++)
        outputs[i] = (struct baryon_array){.name = arrays[i].name,
                                           .type = (int)arrays[i].elem,
                                           .rank = (int)arrays[i].rank,
                                           .dims = arrays[i].dims,
                                           .data = arrays[i].data,
                                           .size = arrays[i].size};
    return run;
}

int baryon_session_run(struct baryon_session *session, const struct baryon_array *inputs,
                       size_t input_count, const char *const *outputs, size_t output_count,
                       struct baryon_run **run, struct baryon_error *err)
{
    if (BY_NEED(session, err) || BY_NEED(run, err) || BY_NEED_LIST(inputs, input_count, err) ||
        BY_NEED_EACH(outputs, output_count, err))
        return -1;
    struct by_run *inner;
    *run = NULL;
    struct by_array *ours = take_arrays(inputs, input_count, err);
    if (!ours)
        return -1;
    int failed =
        by_session_run(session->session, ours, input_count, outputs, output_count, &inner, err);
    by_free(ours);
    if (failed)
        return -1;
    if (!(*run = give_run(inner, err))) {
        by_run_free(inner);
        return -1;
    }
    return 0;
}

size_t baryon_run_output_count(const struct baryon_run *run)
{
    return run ? run->count : 0;
}

const struct baryon_array *baryon_run_output(const struct baryon_run *run, size_t place)
{
    return run && place < run->count ? &run->outputs[place] : NULL;
}

const struct baryon_array *baryon_run_find_output(const struct baryon_run *run, const char *name)
{
    if (!run || !name)
        return NULL;
    for (size_t i = 0; i < run->count; i++)
        if (strcmp(run->outputs[i].name, name) == 0)
            return &run->outputs[i];
    return NULL;
}

void baryon_run_free(struct baryon_run *run)
{
    if (!run)
        return;
    by_run_free(run->run);
    by_free(run->outputs);
    by_free(run);
}

void baryon_session_cancel(struct baryon_session *session)
{
    if (session)
        by_session_cancel(session->session);
}

void baryon_session_resume(struct baryon_session *session)
{
    if (session)
        by_session_resume(session->session);
}

int baryon_model_trace(struct baryon_model *model, const struct baryon_array *inputs,
                       size_t input_count, const struct baryon_session_options *theirs,
                       struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED_LIST(inputs, input_count, err))
        return -1;
    struct by_session_options options;
    struct by_array *ours = NULL;
    if (take_options(&options, NULL, theirs, err) ||
        (inputs && !(ours = take_arrays(inputs, input_count, err))))
        return -1;
    int failed = by_model_trace(model, ours, input_count, &options, NULL, err);
    by_free(ours);
    return failed ? -1 : 0;
}
