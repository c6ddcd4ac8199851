/*
 * Blocks taken apart and put together again: levels, codes of scales and minima, and the numbers
 * that codes are multiples of. Element i of group g is decoded to
 *
 *     halves[0] * scales[g] * number(levels[i]) - halves[1] * mins[g]
 *
 * in this order of rounding, where number(level) is level - zero, or that of a table.
 */
#ifndef BY_LLM_GGML_PARTS_H
#define BY_LLM_GGML_PARTS_H

#include "llm/ggml/points.h"
#include "llm/ggml/types.h"

#define BY_GGML_BLOCK_MOST  256 /* elements */
#define BY_GGML_GROUPS_MOST 16

struct by_ggml_parts {
    float halves[2]; /* as the block keeps them: float16, or a power of two */
    int16_t scales[BY_GGML_GROUPS_MOST], mins[BY_GGML_GROUPS_MOST]; /* 1 where there are no codes */
    uint8_t levels[BY_GGML_BLOCK_MOST];
};

typedef void by_ggml_take_apart(const uint8_t *block, struct by_ggml_parts *parts);
typedef void by_ggml_put_together(const struct by_ggml_parts *parts, uint8_t *block);

struct by_ggml_form {
    uint32_t group;      /* elements */
    uint8_t least, most; /* levels */
    uint8_t zero;
    const float *table;        /* numbers of the levels, ascending; NULL: level - zero */
    int scale_low, scale_high; /* codes; both 0: none */
    bool odd;                  /* they are: no others */
    int min_high;      /* codes from 0 on; 1: none, and halves[1] of any sign; 0: no minima */
    bool power_of_two; /* halves[0] */
    /* Levels of four neighbours are one of these, with signs; NULL: each is by itself. */
    const struct by_ggml_points *(*points)(void);
    by_ggml_take_apart *apart;
    by_ggml_put_together *together;
};

/* NULL: not of this kind. */
const struct by_ggml_form *by_ggml_form(const struct by_ggml_type *type);

#endif
