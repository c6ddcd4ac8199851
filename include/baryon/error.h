/* Baryon: its version, and errors. A part of <baryon.h>. */
#ifndef BARYON_ERROR_H
#define BARYON_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BARYON_API                 __attribute__((visibility("default")))
#define BARYON_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BARYON_API
#define BARYON_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that runs, as "0.1.0". */
BARYON_API const char *baryon_version(void);

/*
 * Errors
 *
 * The struct is the caller's, usually on the stack; reporting an error never
 * allocates. The parts are kept apart so that a program can use them:
 * baryon_error_format() joins them to
 *     FILE[@OFFSET]: PLACE: MESSAGE[; HINT]
 * Control characters, as names in a file may have them, are \xNN in the text it makes
 * and in all parts but the file.
 * Code values are pinned: a program may store them.
 */
enum baryon_code {
    BARYON_OK = 0,
    BARYON_ERR_INTERNAL = 10,    /* a defect of Baryon itself */
    BARYON_ERR_USAGE = 20,       /* options or arguments that make no sense */
    BARYON_ERR_INPUT = 30,       /* a damaged or wrong file */
    BARYON_ERR_CHANGED = 32,     /* a file changed while it was in use */
    BARYON_ERR_UNSUPPORTED = 40, /* well formed, but not something Baryon does */
    BARYON_ERR_NOMEM = 50,       /* out of memory, or over the limit set for it */
    BARYON_ERR_IO = 52,          /* reading or writing failed: disk full, permission */
    BARYON_ERR_DEPENDENCY = 60,  /* ONNX Runtime or another library is missing */
    BARYON_ERR_ENGINE = 62,      /* ONNX Runtime refused or failed */
    BARYON_ERR_GOAL = 70,        /* a goal was missed; the output is saved */
    BARYON_ERR_CANCELLED = 80,   /* the caller asked to stop */
};

struct baryon_error {
    enum baryon_code code;
    int64_t offset;    /* byte in the file, -1 when there is none */
    char file[256];    /* as it was given, "" when there is none */
    char place[256];   /* where in the file: "graph.node[12].attribute[0]" */
    char message[512]; /* what was found, with the value and the rule */
    char hint[256];    /* what to do about it, may be "" */
};

/* Joins the parts into buf (always ended with NUL); returns the length it wanted. */
BARYON_API int baryon_error_format(const struct baryon_error *err, char *buf, size_t size);
/* The short name of a code: "input", "unsupported", ... */
BARYON_API const char *baryon_code_name(enum baryon_code code);
/* The exit status that the command line tool gives for a code. */
BARYON_API int baryon_code_exit(enum baryon_code code);

#ifdef __cplusplus
}
#endif

#endif
