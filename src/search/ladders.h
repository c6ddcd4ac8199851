/* The rows of all targets. */
#ifndef BY_LADDERS_H
#define BY_LADDERS_H

#include "search/ladder.h"

extern const struct by_ladder by_ladder_xint8, by_ladder_vitis_ai, by_ladder_cpu, by_ladder_any;

#endif
