/* What a plan costs on a target. */
#ifndef BY_AUTO_FIGURES_H
#define BY_AUTO_FIGURES_H

#include "quant/plan.h"
#include "search/ladder.h"

#define BY_AUTO_WIDTHS 8

/* Multiply-adds that are computed in a type: of what is multiplied the wider one. */
struct by_auto_width {
    char type[24]; /* "int8", "float" */
    double share;  /* of all multiply-adds */
};

struct by_auto_figures {
    double cost;       /* 1: all multiply-adds at the cost of the ladder's first row */
    double wide_share; /* of multiply-adds that the ladder calls wide */
    double low_share;  /* of those in 8 bits or less */
    struct by_auto_width widths[BY_AUTO_WIDTHS]; /* greatest share first */
    size_t width_count;
};

void by_auto_figures_of(const struct by_quant_plan *plan, const struct by_target_ladder *ladder,
                        double bytes, struct by_auto_figures *figures);

#endif
