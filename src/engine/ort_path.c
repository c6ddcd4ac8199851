/* Gives ONNX Runtime paths as they are. */
#include "engine/ort_path.h"

#include "base/mem.h"

ORTCHAR_T *by_ort_path(const char *path, struct baryon_error *err)
{
    return by_strdup(path, err);
}
