/* Finds libbaryon_ops.so, the library of Quark's custom operators. */
#include "engine/ops_find.h"

#include "base/file.h"

#include <limits.h>
#include <stdlib.h>

#ifndef BY_OPS_NAME
#define BY_OPS_NAME "libbaryon_ops.so"
#endif

#define NAME BY_OPS_NAME

/* Of the build; empty where nothing is installed into a folder of the system's. */
static const char set_folder[] = BY_OPS_FOLDER;

bool by_ops_wanted(const struct baryon_model *model)
{
    return by_model_opset(model, "com.amd.quark") || by_model_opset(model, "com.vai.quantize");
}

static bool is_there(char *path, size_t size, const char *folder, const char *name)
{
    return by_join_path(path, size, folder, name) && by_file_exists(path);
}

bool by_ops_find(char *path, size_t size)
{
    char own[PATH_MAX], above[PATH_MAX];
    const char *named = secure_getenv("BARYON_OPS");
    if (named && *named)
        return by_join_path(path, size, ".", named);
    if (by_own_folder(own, sizeof own) &&
        (is_there(path, size, own, NAME) ||
         (by_folder_of(own, above, sizeof above) && is_there(path, size, above, "lib/" NAME))))
        return true;
    return *set_folder && is_there(path, size, set_folder, NAME);
}

int by_ops_missing(struct baryon_error *err)
{
    char own[PATH_MAX];
    by_fail(err, BARYON_ERR_DEPENDENCY, NAME " is neither in %.200s nor in %.200s",
            by_own_folder(own, sizeof own) ? own : "the program's folder",
            *set_folder ? set_folder : "lib beside that folder");
    return by_err_hint(err, "build it with 'make ops', or set BARYON_OPS to it");
}
