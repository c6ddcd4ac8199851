/*
 * What a report has to look like: rows of members and their kinds, and the check of a tree by them.
 *
 * Members that no row names are ignored, and all but the required ones may be missing or null.
 */
#ifndef BY_REPORT_SHAPE_H
#define BY_REPORT_SHAPE_H

#include "base/doc.h"

#define BY_REPORT_VERSION 1

/* A version of the schema that is not ours and the first member of another kind are errors. */
int by_report_check(const struct by_doc_node *root, struct baryon_error *err);

/* Members of a checked tree. */
const char *by_report_text(const struct by_doc_node *map, const char *key); /* NULL: missing */
double by_report_number(const struct by_doc_node *map, const char *key);    /* NaN: missing */
bool by_report_is_true(const struct by_doc_node *map, const char *key);
/* A list or map that has something in it, else NULL. */
const struct by_doc_node *by_report_filled(const struct by_doc_node *map, const char *key);
double by_report_value(const struct by_doc_node *scalar);

#endif
