/* Declares the report of `baryon sensitivity`, as text and as JSON. */
#ifndef BY_SENSITIVITY_VIEW_H
#define BY_SENSITIVITY_VIEW_H

#include "base/json.h"
#include "cli/out.h"
#include "sensitivity/sensitivity.h"

int by_sensitivity_text(const struct by_sensitivity *sensitivity, const char *cause,
                        struct by_out *out, struct baryon_error *err);
/* Members of an object. */
void by_sensitivity_json(const struct by_sensitivity *sensitivity, const char *cause,
                         struct by_json *json);

#endif
