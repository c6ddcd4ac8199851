/* Opens ONNX Runtime, checks its version and creates its environment. */
#include "engine/ort.h"

#include "engine/ort_find.h"
#include "engine/spare.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * The lowest version with all that we call. 17 brought per-session logging and
 * deterministic kernels; everything else is older.
 */
#define API_VERSION 17

_Static_assert(ORT_API_VERSION >= API_VERSION, "this onnxruntime_c_api.h is too old");

struct library {
    struct by_ort ort;
    void *handle;
    char *path;
    unsigned users, sharing; /* the latter: sessions that share memory */
    OrtMemoryInfo *shared;   /* names the arena; NULL: there is none, or it is not ours */
    struct library *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct library *libraries;

/* The environment's own log has no reader; that of a session goes to the session's. */
static void drop_log(void *context, OrtLoggingLevel level, const char *category, const char *id,
                     const char *place, const char *message)
{
    (void)context, (void)level, (void)category, (void)id, (void)place, (void)message;
}

static const char *path_of(void *handle)
{
    struct link_map *map = NULL;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

/* N of "1.N.x", -1 when it is of another form. */
static int minor_version(const char *version)
{
    if (strncmp(version, "1.", 2) != 0)
        return -1;
    char *end;
    long minor = strtol(version + 2, &end, 10);
    return end > version + 2 && minor >= 0 && minor < 10000 ? (int)minor : -1;
}

static int refuse_version(const char *path, const char *version, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], text[64];
    by_fail(err, BARYON_ERR_DEPENDENCY, "%.280s is ONNX Runtime %s, must be 1.%d or newer",
            by_quote(quoted, path), by_ort_text(version, text, sizeof text), API_VERSION);
    return by_err_hint(err, "run 'make deps', or set BARYON_ONNXRUNTIME to a newer library");
}

/* GetApi() prints a complaint when the version is too new for it, so it is asked last. */
static int get_api(struct by_ort *ort, void *handle, struct baryon_error *err)
{
    typedef const OrtApiBase *get_base_fn(void);
    get_base_fn *get_base;
    char quoted[BY_QUOTE_MAX];
    *(void **)&get_base = dlsym(handle, "OrtGetApiBase");
    if (!get_base)
        return by_fail(err, BARYON_ERR_DEPENDENCY,
                       "%.280s is not ONNX Runtime: it has no OrtGetApiBase",
                       by_quote(quoted, ort->path));
    const OrtApiBase *base = get_base();
    ort->version = base->GetVersionString();
    int minor = minor_version(ort->version);
    if (minor >= 0 && minor < API_VERSION)
        return refuse_version(ort->path, ort->version, err);
    ort->minor = minor < 0 ? INT_MAX : minor;
    ort->api = base->GetApi(API_VERSION);
    return ort->api ? 0 : refuse_version(ort->path, ort->version, err);
}

/*
 * From 1.29 on it gives the machine a number, kept in the user's cache, and sends that and more to
 * its makers, from a thread that may outlive what it reads. The call below only stops what would
 * follow; the variable stops all, when it is set before the environment is made. Who has set it
 * otherwise has chosen.
 */
static int send_nothing(struct baryon_error *err)
{
    static const char name[] = "ORT_DISABLE_TELEMETRY";
    return setenv(name, "1", 0) ? by_err_nomem(err, sizeof name) : 0;
}

static int make_env(struct by_ort *ort, struct baryon_error *err)
{
    const OrtApi *api = ort->api;
    if (send_nothing(err) || by_spare_take(err) ||
        by_ort_status(ort,
                      api->CreateEnvWithCustomLogger(drop_log, NULL, ORT_LOGGING_LEVEL_FATAL,
                                                     "baryon", &ort->env),
                      "start", err) ||
        by_ort_status(ort, api->DisableTelemetryEvents(ort->env), "switch telemetry off", err))
        return -1;
    return 0;
}

static void free_library(struct library *library)
{
    if (library->ort.env)
        library->ort.api->ReleaseEnv(library->ort.env);
    if (!libraries)
        by_spare_close();
    if (library->handle)
        dlclose(library->handle);
    by_free(library->path);
    by_free(library);
}

/* Takes the handle over, also when it fails. */
static struct library *new_library(void *handle, struct baryon_error *err)
{
    struct library *library = by_alloc_zero(1, sizeof *library, err);
    if (!library) {
        dlclose(handle);
        return NULL;
    }
    library->handle = handle;
    by_spare_open(handle);
    library->path = by_strdup(path_of(handle), err);
    library->ort.path = library->path;
    if (library->path && get_api(&library->ort, handle, err) == 0 &&
        make_env(&library->ort, err) == 0)
        return library;
    free_library(library);
    return NULL;
}

static struct library *open_library(const char *path, struct baryon_error *err)
{
    void *handle;
    if (by_ort_find(path, &handle, err))
        return NULL;
    for (struct library *library = libraries; library; library = library->next)
        if (library->handle == handle) {
            dlclose(handle); /* gives back the second count of one library */
            return library;
        }
    struct library *library = new_library(handle, err);
    if (library) {
        library->next = libraries;
        libraries = library;
    }
    return library;
}

/* Where the list names it. */
static struct library **library_place(const struct by_ort *ort)
{
    struct library **at = &libraries;
    while (&(*at)->ort != ort)
        at = &(*at)->next;
    return at;
}

int by_ort_open(const struct by_ort **ort, const char *path, struct baryon_error *err)
{
    pthread_mutex_lock(&lock);
    struct library *library = open_library(path, err);
    if (library)
        library->users++;
    pthread_mutex_unlock(&lock);
    *ort = library ? &library->ort : NULL;
    return library ? 0 : -1;
}

void by_ort_close(const struct by_ort *ort)
{
    if (!ort)
        return;
    pthread_mutex_lock(&lock);
    struct library **at = library_place(ort), *library = *at;
    if (--library->users == 0) {
        *at = library->next;
        free_library(library);
    }
    pthread_mutex_unlock(&lock);
}

/* --- Memory that sessions share --- */

/* Regions as large as what is asked for: those of the default grow in powers of two. */
static OrtStatus *make_arena(const struct by_ort *ort, const OrtMemoryInfo *info)
{
    static const char *const keys[] = {"max_mem", "arena_extend_strategy"};
    static const size_t values[] = {0, 1};
    OrtArenaCfg *config = NULL;
    OrtStatus *status = ort->api->CreateArenaCfgV2(keys, values, 2, &config);
    if (!status)
        status = ort->api->CreateAndRegisterAllocator(ort->env, info, config);
    if (config)
        ort->api->ReleaseArenaCfg(config);
    return status;
}

/* It is refused where the process has one. */
static int begin_sharing(struct library *library, struct baryon_error *err)
{
    const struct by_ort *ort = &library->ort;
    OrtMemoryInfo *info = NULL;
    if (by_ort_status(ort,
                      ort->api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &info),
                      "describe memory", err))
        return -1;
    OrtStatus *status = make_arena(ort, info);
    if (!status) {
        library->shared = info;
        return 0;
    }
    ort->api->ReleaseStatus(status);
    ort->api->ReleaseMemoryInfo(info);
    return 0;
}

static void end_sharing(struct library *library)
{
    const OrtApi *api = library->ort.api;
    if (!library->shared)
        return;
    OrtStatus *status = api->UnregisterAllocator(library->ort.env, library->shared);
    if (status)
        api->ReleaseStatus(status);
    api->ReleaseMemoryInfo(library->shared);
    library->shared = NULL;
}

int by_ort_share_memory(const struct by_ort *ort, struct baryon_error *err)
{
    pthread_mutex_lock(&lock);
    struct library *library = *library_place(ort);
    const int status = library->sharing ? 0 : begin_sharing(library, err);
    library->sharing += status == 0;
    pthread_mutex_unlock(&lock);
    return status;
}

void by_ort_unshare_memory(const struct by_ort *ort)
{
    pthread_mutex_lock(&lock);
    struct library *library = *library_place(ort);
    if (--library->sharing == 0)
        end_sharing(library);
    pthread_mutex_unlock(&lock);
}
