/* Edits that fusions are made of; see edit.h for others. */
#ifndef BY_MAKE_H
#define BY_MAKE_H

#include "pass/edit.h"
#include "pass/match.h"

/* "NAME" and "SUFFIX" as one text, cut where names may not be longer; returns text. */
#define BY_STEM_MAX (BY_NAME_MAX + 64)
const char *by_make_stem(char text[BY_STEM_MAX], const char *name, const char *suffix);

/* by_node_become() of ONNX's own domain; what only the old inputs needed goes. */
int by_make_become(struct by_matcher *match, struct baryon_node *node, const char *op_type,
                   struct baryon_value *const *inputs, size_t count);
/* Removes what gives the value, and what only that needed, when nothing reads it any more. */
int by_make_drop(struct by_matcher *match, struct baryon_value *value);

#endif
