/* Gives ONNX Runtime paths in UTF-16. */
#include "engine/ort_path.h"

#include "base/fault.h"
#include "port/windows/inside.h"

ORTCHAR_T *by_ort_path(const char *path, struct baryon_error *err)
{
    ORTCHAR_T *text = by_fault(BY_FAULT_ALLOC) ? NULL : by_win_wide_text(path);
    if (!text)
        by_err_nomem(err, strlen(path) * sizeof *text);
    return text;
}
