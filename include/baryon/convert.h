/* Baryon: other float types and forms of a model. A part of <baryon.h>. */
#ifndef BARYON_CONVERT_H
#define BARYON_CONVERT_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct baryon_convert_options {
    size_t size;
    const char *onnxruntime; /* as in struct baryon_session_options */
    baryon_log_fn *log;      /* for notices and warnings; default: nobody */
    void *log_context;
};

/*
 * Convert
 *
 * Does what a file of passes says : YAML or JSON, with the names of Quark's
 * Shapeshifter or of our passes. The paths of models in it are not looked at; the model becomes the
 * one that comes out, and one that it failed on is good for nothing but being freed.
 */
BARYON_API int baryon_convert(struct baryon_model *model, const char *passes,
                              const struct baryon_convert_options *options,
                              struct baryon_error *err);

/* Which models such a file names, "" where it names none; each has room for size bytes. */
BARYON_API int baryon_convert_places(const char *passes, char *in, char *out, size_t size,
                                     struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
