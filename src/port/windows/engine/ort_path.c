/* Gives ONNX Runtime paths in UTF-16. */
#include "engine/ort_path.h"

#include "base/fault.h"
#include "base/file.h"
#include "port/windows/inside.h"

ORTCHAR_T *by_ort_path(const char *path, struct baryon_error *err)
{
    ORTCHAR_T *text = by_fault(BY_FAULT_ALLOC) ? NULL : by_win_wide_text(path);
    if (!text)
        by_err_nomem(err, strlen(path) * sizeof *text);
    return text;
}

/* The loader takes a path with a folder only from the root on, and with \\. */
ORTCHAR_T *by_ort_library_path(const char *path, struct baryon_error *err)
{
    char here[PATH_MAX];
    ORTCHAR_T *text = by_ort_path(by_file_exists(path) && realpath(path, here) ? here : path, err);
    for (ORTCHAR_T *at = text; at && *at; at++)
        if (*at == L'/')
            *at = L'\\';
    return text;
}
