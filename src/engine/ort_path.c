/* Gives ONNX Runtime paths as they are. */
#include "engine/ort_path.h"

#include "base/file.h"
#include "base/mem.h"

#include <limits.h>
#include <string.h>

ORTCHAR_T *by_ort_path(const char *path, struct baryon_error *err)
{
    return by_strdup(path, err);
}

ORTCHAR_T *by_ort_library_path(const char *path, struct baryon_error *err)
{
    char here[PATH_MAX];
    const bool is_here =
        !strchr(path, '/') && by_file_exists(path) && by_join_path(here, sizeof here, "./", path);
    return by_ort_path(is_here ? here : path, err);
}
