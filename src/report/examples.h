/*
 * Samples as the model saw them, and what the float and the quantized model make of them: pictures,
 * classes, boxes, or numbers where they differ most.
 */
#ifndef BY_REPORT_EXAMPLES_H
#define BY_REPORT_EXAMPLES_H

#include "base/json.h"
#include "evaluate/shown.h"
#include "input/prep.h"
#include "report/class_names.h"

struct by_examples {
    struct by_arena arena;
    const struct by_prep *prep;   /* of pictures; NULL: samples are random, and no pictures */
    struct by_class_names labels; /* of classes; in the arena */
    bool *occurs;                 /* by label */
    struct {
        const char **at; /* JSON of each */
        size_t count, cap;
    } items;
};

void by_examples_init(struct by_examples *examples, const struct by_prep *prep);
void by_examples_release(struct by_examples *examples);
/* Names of classes, of a file or, without one, of the model. */
int by_examples_name(struct by_examples *examples, const struct baryon_model *model,
                     const char *path, struct baryon_error *err);
/* A sample; context: struct by_examples. */
int by_examples_show(void *context, const struct by_shown *shown, struct baryon_error *err);
/* Members "examples" and "labels", where there are any. */
void by_examples_json(const struct by_examples *examples, struct by_json *json);

#endif
