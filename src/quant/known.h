/*
 * Parameters of constants, or ranges of activations in the same statistics, that were searched
 * before. Plans of copies of one model share them, so that each is searched once for each spec. Any
 * thread may ask.
 */
#ifndef BY_QUANT_KNOWN_H
#define BY_QUANT_KNOWN_H

#include "quant/plan.h"

struct by_known;

int by_known_open(struct by_known **known, struct baryon_error *err);
void by_known_close(struct by_known *known);
/* Parameters of the row, copied to the plan; *found: they are known. known: NULL: nothing is. */
int by_known_take(struct by_known *known, struct by_quant_plan *plan, struct by_quant_row *row,
                  bool *found, struct baryon_error *err);
/* Those that were found for the row. */
int by_known_keep(struct by_known *known, const struct by_quant_row *row, struct baryon_error *err);
/* The range of a row, as its method found it. */
bool by_known_take_range(struct by_known *known, struct by_quant_row *row);
int by_known_keep_range(struct by_known *known, const struct by_quant_row *row,
                        struct baryon_error *err);

#endif
