/* Searches the folders where the library of ONNX Runtime may be and loads it. */
#include "engine/ort_find.h"

#include "base/fault.h"
#include "base/file.h"
#include "base/room.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BY_ORT_FOLDERS
#define BY_ORT_FOLDERS "" /* several are separated by colons */
#endif

/* Where libraries have other names, the build says so. */
#ifndef BY_ORT_STEM
#define BY_ORT_STEM "libonnxruntime.so"
#endif

#define STEM     BY_ORT_STEM
#define STARTING ((size_t)16 << 20) /* beside the bytes of the library */
#define NOT_HERE 1                  /* beside 0 and -1: nothing was found, the search may go on */

struct search {
    void *handle;
    char place_list[320]; /* looked at so far, for the message when it is in none of them */
    struct by_text places;
};

/* The loader has words for it, but no code. */
static bool lacks_memory(const char *reason)
{
    return by_has_suffix(reason, "failed to map segment from shared object") ||
           strstr(reason, "annot allocate memory");
}

/* What is done in a library while it is loaded has no way to fail but to end the process. */
static bool has_room(const char *path)
{
    struct stat st;
    const size_t size = strchr(path, '/') && stat(path, &st) == 0 ? (size_t)st.st_size : 0;
    return by_room_is_there(size + STARTING);
}

static bool is_loaded(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    return handle && dlclose(handle) == 0;
}

static int load_ort_library(struct search *search, const char *path, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], reason[BY_QUOTE_MAX];
    if (!is_loaded(path) && !has_room(path))
        return by_fail(err, BARYON_ERR_NOMEM, "not enough memory to load the library %.180s",
                       by_quote(quoted, path));
    dlerror();
    search->handle = by_fault(BY_FAULT_IO) ? NULL : dlopen(path, RTLD_NOW | RTLD_NODELETE);
    if (search->handle)
        return 0;
    const char *text = dlerror();
    if (!text)
        text = "unknown reason";
    return by_fail(err, lacks_memory(text) ? BARYON_ERR_NOMEM : BARYON_ERR_DEPENDENCY,
                   "the library %.180s cannot be loaded: %.280s", by_quote(quoted, path),
                   by_quote(reason, text));
}

/* dlopen() takes a name without a slash for one to search, not for a file. */
static int load_file(struct search *search, const char *folder, const char *name,
                     struct baryon_error *err)
{
    char path[PATH_MAX];
    int wanted = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (wanted < 0 || (size_t)wanted >= sizeof path)
        return NOT_HERE;
    return load_ort_library(search, path, err);
}

/* True for libonnxruntime.so, ....so.1 and ....so.1.31.1, but not for ....so.part. */
static bool is_library(const char *name)
{
    size_t stem = strlen(STEM);
    if (strncmp(name, STEM, stem) != 0)
        return false;
    return name[stem + strspn(name + stem, ".0123456789")] == '\0';
}

static int load_from_folder(struct search *search, const char *folder, struct baryon_error *err)
{
    struct by_listing listing;
    struct stat st;
    if (stat(folder, &st) || !S_ISDIR(st.st_mode))
        return NOT_HERE;
    if (by_list_folder(&listing, folder, err))
        return -1;
    /* Sorted by name: the one without a version, usually a link, comes first. */
    int result = NOT_HERE;
    for (size_t i = 0; i < listing.count && result == NOT_HERE; i++)
        if (is_library(listing.names[i]))
            result = load_file(search, folder, listing.names[i], err);
    by_listing_release(&listing);
    return result;
}

/* A library or a folder that somebody named: `who` did. */
static int load_named(struct search *search, const char *who, const char *path,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], below[PATH_MAX];
    struct stat st;
    if (stat(path, &st))
        return by_fail_errno(err, BARYON_ERR_DEPENDENCY, "%s for ONNX Runtime is %s", who,
                             by_quote(quoted, path));
    if (!S_ISDIR(st.st_mode))
        return strchr(path, '/') ? load_ort_library(search, path, err)
                                 : load_file(search, ".", path, err);
    int result = load_from_folder(search, path, err);
    /* The root of a release, with the library in lib/. */
    if (result == NOT_HERE && by_join_path(below, sizeof below, path, "lib"))
        result = load_from_folder(search, below, err);
    if (result != NOT_HERE)
        return result;
    return by_fail(err, BARYON_ERR_DEPENDENCY, "%s for ONNX Runtime is %s, a folder without %s*",
                   who, by_quote(quoted, path), STEM);
}

static int try_folder(struct search *search, const char *folder, struct baryon_error *err)
{
    by_text_add(&search->places, "%s%s", search->places.used ? ", " : "", folder);
    return load_from_folder(search, folder, err);
}

/* Beside a library in lib/ it is baryon/, beside a program in bin/ it is ../lib/baryon/. */
static int search_own_folder(struct search *search, struct baryon_error *err)
{
    char own[PATH_MAX], above[PATH_MAX], path[PATH_MAX];
    int result = NOT_HERE;
    if (!by_own_folder(own, sizeof own))
        return NOT_HERE;
    if (by_join_path(path, sizeof path, own, "baryon"))
        result = try_folder(search, path, err);
    if (result == NOT_HERE && by_folder_of(own, above, sizeof above) &&
        by_join_path(path, sizeof path, above, "lib/baryon"))
        result = try_folder(search, path, err);
    return result;
}

static int search_set_folders(struct search *search, struct baryon_error *err)
{
    const char *at = BY_ORT_FOLDERS;
    char folder[PATH_MAX];
    int result = NOT_HERE;
    while (*at && result == NOT_HERE) {
        size_t length = strcspn(at, ":");
        if (length && length < sizeof folder) {
            memcpy(folder, at, length);
            folder[length] = '\0';
            result = try_folder(search, folder, err);
        }
        at += length + (at[length] == ':');
    }
    return result;
}

static int search_system(struct search *search, struct baryon_error *err)
{
    static const char *const names[] = {STEM ".1", STEM};
    struct baryon_error found;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (load_ort_library(search, names[i], &found) == 0) {
            return 0;
        } else if (found.code == BARYON_ERR_NOMEM) {
            if (err)
                *err = found;
            return -1;
        }
    by_fail(err, BARYON_ERR_DEPENDENCY,
            "ONNX Runtime is not installed: no %s* in %s, and neither %s nor %s in the system's "
            "library path",
            STEM, search->place_list, names[0], names[1]);
    return by_err_hint(err,
                       "run 'make deps', or set BARYON_ONNXRUNTIME to the library or its folder");
}

int by_ort_find(const char *given, void **handle, struct baryon_error *err)
{
    struct search search = {.handle = NULL};
    by_text_init(&search.places, search.place_list, sizeof search.place_list);
    const char *named = secure_getenv("BARYON_ONNXRUNTIME");
    int result;
    if (given)
        result = load_named(&search, "the path", given, err);
    else if (named && *named)
        result = load_named(&search, "$BARYON_ONNXRUNTIME", named, err);
    else
        result = search_own_folder(&search, err);
    if (result == NOT_HERE)
        result = search_set_folders(&search, err);
    if (result == NOT_HERE)
        result = search_system(&search, err);
    *handle = search.handle;
    return result;
}
