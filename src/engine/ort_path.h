/* Paths as ONNX Runtime takes them. */
#ifndef BY_ORT_PATH_H
#define BY_ORT_PATH_H

#include "engine/ort.h"

/* NULL with err filled; free() it. */
ORTCHAR_T *by_ort_path(const char *path, struct baryon_error *err);

#endif
