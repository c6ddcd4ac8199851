/*
 * Names of classes, by number: lines of a file, or what a model says of itself in its metadata
 * `names`, as Ultralytics writes it: {0: 'person', 1: 'bicycle'}, or as `character`, as RapidOCR
 * does: a name a line, which those of text recognition do not mean as classes, so they have to be
 * as many as an output has.
 */
#ifndef BY_CLASS_NAMES_H
#define BY_CLASS_NAMES_H

#include "base/mem.h"
#include "ir/model.h"

struct by_class_names {
    const char **at; /* NULL: a number without a name */
    size_t count;
    bool exact; /* of outputs with so many classes alone */
};

/* A name a line; empty lines have none. */
int by_class_names_read(struct by_class_names *labels, const char *path, struct by_arena *arena,
                        struct baryon_error *err);
/* Metadata that is no map of numbers to texts gives no names. */
int by_class_names_of_model(struct by_class_names *labels, const struct baryon_model *model,
                            struct by_arena *arena, struct baryon_error *err);

#endif
