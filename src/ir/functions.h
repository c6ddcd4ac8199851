/*
 * The functions of a model, found by domain, name and overload. Where two have the
 * same, the first counts.
 */
#ifndef BY_FUNCTIONS_H
#define BY_FUNCTIONS_H

#include "ir/model.h"

/* A function and its place among those of the model. */
struct by_callee {
    const struct by_function *function;
    size_t index;
};

struct by_function_table {
    struct by_map by_key; /* struct by_callee */
};

/* Entries live in the arena. After a failure too it has to be released. */
int by_function_table_fill(struct by_function_table *table, const struct baryon_model *model,
                           struct by_arena *arena, struct baryon_error *err);
void by_function_table_release(struct by_function_table *table);
/* NULL when there is none. */
const struct by_callee *by_function_find(const struct by_function_table *table, const char *domain,
                                         const char *name, const char *overload);

#endif
