/* Paths as ONNX Runtime takes them. */
#ifndef BY_ORT_PATH_H
#define BY_ORT_PATH_H

#include "engine/ort.h"

/* NULL with err filled; free() it. */
ORTCHAR_T *by_ort_path(const char *path, struct baryon_error *err);
/* The same of a library: a name without a folder is a file here, or one that the loader searches.
 */
ORTCHAR_T *by_ort_library_path(const char *path, struct baryon_error *err);

#endif
