/*
 * Finding the library of ONNX Runtime; the order is in ort.h.
 */
#ifndef BY_ORT_FIND_H
#define BY_ORT_FIND_H

#include "baryon.h"

/* A handle of dlopen(), which is never NULL when 0 is returned. given may be NULL. */
int by_ort_find(const char *given, void **handle, struct baryon_error *err);

#endif
