/* Declares the report of rounding reconstruction, as text and as JSON. */
#ifndef BY_SOLVED_VIEW_H
#define BY_SOLVED_VIEW_H

#include "cli/out.h"
#include "quantize/quantize.h"

/* A line a layer, then the whole; nothing where nothing was to be solved. */
int by_solved_text(const struct by_solved *solved, struct by_out *out, struct baryon_error *err);

#endif
