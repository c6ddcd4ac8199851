/* Baryon: number formats, and lists of what there is. A part of <baryon.h>. */
#ifndef BARYON_FORMATS_H
#define BARYON_FORMATS_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Number formats
 *
 * What a float becomes in few bits: integers, small floats, and blocks whose elements share a
 * scale (`baryon list formats`). Names of Quark's ("MXFP4E2M1", "BFloat16") and without what tells
 * variants of one ("mxfp4") are known too.
 */
struct baryon_format {
    const char *name, *help;
    double bits;        /* of an element, with what a block shares */
    size_t block;       /* elements that share a scale; 0: none do */
    bool integer;       /* then scale and zero point make its range */
    int64_t low, high;  /* of integers */
    double most, least; /* greatest finite magnitude, and least above 0 */
};

/* By place; NULL after the last one. */
BARYON_API const struct baryon_format *baryon_format_at(size_t place);
BARYON_API const struct baryon_format *baryon_format_find(const char *name,
                                                          struct baryon_error *err);

/* What becomes of a value between two levels: of two equally near ones. */
enum baryon_ties {
    BARYON_TIES_EVEN = 0,
    BARYON_TIES_AWAY = 1, /* the greater magnitude */
    BARYON_TIES_UP = 2,   /* the greater value */
};

struct baryon_round_options {
    size_t size;
    float
        scale; /* of formats without blocks; 0: 1, for integers what the greatest magnitude asks */
    int64_t zero_point;
    int axis;          /* that blocks lie along; below 0: from the end */
    size_t block_size; /* 0: the format's */
    enum baryon_ties ties;
};

/* What is left of the values of an array in C order; out may be in. options may be NULL. */
BARYON_API int baryon_round(const char *format, const float *in, const int64_t *dims, int rank,
                            const struct baryon_round_options *options, float *out,
                            struct baryon_error *err);

/*
 * Lists
 *
 * Names of what there is: "presets", "formats", "methods", "metrics", "passes", "readers", ... NULL
 * after the last one, or when there is no such list. help may be NULL.
 */
BARYON_API const char *baryon_list(const char *list, size_t place, const char **help);

#ifdef __cplusplus
}
#endif

#endif
