/*
 * What this program is made of and what it found on this machine.
 */
#ifndef BY_VERSIONS_H
#define BY_VERSIONS_H

#include "base/blas.h"
#include "cli/out.h"

struct by_versions {
    const char *compiler; /* "gcc 12.2.0" */
    const char *vectors;  /* "avx512" */
    bool has_ort;
    char ort_version[32], ort_path[1024];
    struct baryon_error ort_error; /* why there is none */
    const struct by_blas *blas;    /* NULL: none */
    struct baryon_error blas_error;
    bool has_ops; /* the library with Quark's operators */
    char ops_path[1024];
};

/* ort_path: as --onnxruntime, NULL for the usual places. */
void by_versions_find(struct by_versions *versions, const char *ort_path);
/* "baryon 0.1.0 (ONNX Runtime 1.31.1)" */
void by_version_line(struct by_out *out);

#endif
