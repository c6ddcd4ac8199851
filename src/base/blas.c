/* Opens a CBLAS at run time and limits it to one thread; without one, takes the loops of gemm.c. */
#include "base/blas.h"

#include "base/cpu.h"
#include "base/fault.h"
#include "base/gemm.h"
#include "base/room.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plain name of a library: it is searched as any program's libraries are. */
#ifndef BY_BLAS_NAMES
#define BY_BLAS_NAMES                                                                              \
    "libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libcblas.so", "libblas.so.3",          \
        "libblas.so"
#endif

static const char *const names[] = {BY_BLAS_NAMES};

#define OWN        "own" /* $BARYON_CBLAS for none of them */
#define NAME_COUNT (sizeof names / sizeof *names)

static struct by_blas found;
static char found_name[64], found_path[PATH_MAX];
static bool is_open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * OpenBLAS takes address space for buffers when it is loaded, and asks for them again and
 * again for ever where there is none (a limit on address space).
 */
#define BUFFERS ((size_t)128 << 20)

#define CORE "OPENBLAS_CORETYPE"

/* ISO C has no conversion from the pointer that dlsym() gives to one to a function. */
static bool find_symbol(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}

/* What OpenBLAS takes on a processor newer than itself: a tenth as fast as it could be. */
static bool falls_back(void *handle)
{
    const char *(*core)(void);
    return by_cpu_openblas_core() && !getenv(CORE) &&
           find_symbol(handle, "openblas_get_corename", &core) && !strcmp(core(), "Prescott");
}

/* Loads it anew; it looks at the environment while it is loaded. */
static void *open_with_core(void *handle, const char *name)
{
    dlclose(handle);
    setenv(CORE, by_cpu_openblas_core(), 1);
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    unsetenv(CORE);
    return handle;
}

static void *open_blas_library(const char *name)
{
    void *handle = by_fault(BY_FAULT_IO) ? NULL : dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle && falls_back(handle))
        handle = open_with_core(handle, name);
    return handle;
}

/* From now on the library stays. */
static void keep(const char *name)
{
    dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static bool find_products(void *handle, struct by_blas *blas)
{
    return find_symbol(handle, "cblas_sgemm", &blas->sgemm) &&
           find_symbol(handle, "cblas_ssyrk", &blas->ssyrk);
}

/* Threads of its own would only be in the way of ours. */
static void keep_to_one_thread(void *handle)
{
    static const char *const setters[] = {"openblas_set_num_threads", "bli_thread_set_num_threads"};
    void (*set)(int), (*set_long)(long);
    if (find_symbol(handle, setters[0], &set))
        set(1);
    if (find_symbol(handle, setters[1], &set_long))
        set_long(1);
}

/* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." begins with what is wanted. */
static void name_it(void *handle, const char *file)
{
    const char *(*config)(void);
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    if (!find_symbol(handle, "openblas_get_config", &config)) {
        snprintf(found_name, sizeof found_name, "%.60s", base);
        return;
    }
    const char *text = config();
    size_t length = strcspn(text, " ");
    length += text[length] == ' ' ? 1 + strcspn(text + length + 1, " ") : 0;
    snprintf(found_name, sizeof found_name, "%.*s", (int)length, text);
}

/*
 * An OpenBLAS that was built without threads hands one buffer to two callers at once, and gives
 * wrong products; one built for OpenMP gets stuck, and keeps its number of threads for each
 * caller. Their callers take turns.
 */
static struct by_blas untamed;
static void (*set_threads)(int);
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void sgemm_in_turn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                          const float *a, int lda, const float *b, int ldb, float beta, float *c,
                          int ldc)
{
    pthread_mutex_lock(&turn);
    if (set_threads)
        set_threads(1);
    untamed.sgemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    pthread_mutex_unlock(&turn);
}

static void ssyrk_in_turn(int order, int uplo, int trans, int n, int k, float alpha, const float *a,
                          int lda, float beta, float *c, int ldc)
{
    pthread_mutex_lock(&turn);
    if (set_threads)
        set_threads(1);
    untamed.ssyrk(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
    pthread_mutex_unlock(&turn);
}

static void take_turns(struct by_blas *blas)
{
    untamed = *blas;
    blas->sgemm = sgemm_in_turn;
    blas->ssyrk = ssyrk_in_turn;
}

#define PARALLEL_BY_PTHREADS 1

static bool needs_turns(void *handle)
{
    int (*parallel)(void);
    find_symbol(handle, "openblas_set_num_threads", &set_threads);
    return find_symbol(handle, "openblas_get_parallel", &parallel) &&
           parallel() != PARALLEL_BY_PTHREADS;
}

static void accept(void *handle, const char *file, const struct by_blas *blas)
{
    struct link_map *map;
    keep(file);
    if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_name && *map->l_name)
        file = map->l_name;
    if (!realpath(file, found_path))
        snprintf(found_path, sizeof found_path, "%s", file);
    keep_to_one_thread(handle);
    name_it(handle, found_path);
    found = *blas;
    if (needs_turns(handle))
        take_turns(&found);
    found.name = found_name;
    found.path = found_path;
    is_open = true;
}

static int open_named(const char *path, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], reason[BY_QUOTE_MAX];
    struct by_blas blas;
    dlerror();
    void *handle = open_blas_library(path);
    if (!handle) {
        const char *text = dlerror();
        return by_fail(err, BARYON_ERR_DEPENDENCY,
                       "$BARYON_CBLAS is %.180s, which cannot be loaded: %.260s",
                       by_quote(quoted, path), by_quote(reason, text ? text : "unknown reason"));
    }
    if (!find_products(handle, &blas)) {
        dlclose(handle);
        return by_fail(err, BARYON_ERR_DEPENDENCY,
                       "$BARYON_CBLAS is %.180s, which has no cblas_sgemm and cblas_ssyrk",
                       by_quote(quoted, path));
    }
    accept(handle, path, &blas);
    return 0;
}

static void take_own_loops(void)
{
    snprintf(found_name, sizeof found_name, "none, built-in loops");
    snprintf(found_path, sizeof found_path, "Debian's libopenblas0-pthread is faster");
    found = (struct by_blas){found_name, found_path, by_sgemm, by_ssyrk};
    is_open = true;
}

static void open_system(void)
{
    struct by_blas blas;
    for (size_t i = 0; i < NAME_COUNT && !is_open; i++) {
        void *handle = open_blas_library(names[i]);
        if (handle && find_products(handle, &blas))
            accept(handle, names[i], &blas);
        else if (handle)
            dlclose(handle);
    }
    if (!is_open)
        take_own_loops();
}

static int open_any(struct baryon_error *err)
{
    const char *named = secure_getenv("BARYON_CBLAS");
    if (!named || !*named)
        open_system();
    else if (!strcmp(named, OWN))
        take_own_loops();
    else
        return open_named(named, err);
    return 0;
}

int by_blas_open(const struct by_blas **blas, struct baryon_error *err)
{
    pthread_mutex_lock(&lock);
    int status = 0;
    if (!is_open && !by_room_is_there(2 * BUFFERS))
        status =
            by_fail(err, BARYON_ERR_NOMEM, "not enough memory for the buffers of a BLAS library");
    else if (!is_open)
        status = open_any(err);
    pthread_mutex_unlock(&lock);
    *blas = status ? NULL : &found;
    return status;
}
