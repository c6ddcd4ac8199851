/* Where four values of a row may go: points with signs, and what the form of their columns says. */
#ifndef BY_LLM_GGUF_SOLVE_POINT_CHOICE_H
#define BY_LLM_GGUF_SOLVE_POINT_CHOICE_H

#include "llm/gguf_solve/piece.h"

struct by_point_place {
    const struct by_gguf_four *form;
    const struct by_ggml_points *points;
    const int32_t *integers;
    float scale;                   /* above 0 */
    float slopes[BY_POINT_VALUES]; /* halves of them */
    float values[BY_POINT_VALUES]; /* as they are */
};

struct by_point_choice {
    bool moves;
    unsigned cell, signs; /* bits: negative ones */
    float change;         /* of the form */
};

/* How far a value goes, and what all of them cost by themselves. */
float by_point_way(const struct by_point_place *place, const struct by_point_choice *choice,
                   size_t k);
float by_point_own_cost(const struct by_point_place *place, const struct by_point_choice *choice);

/* The best of the points near to where the form is least, or none that is better than what is. Any
 * signs, or such of which an odd or an even number is negative. */
struct by_point_choice by_point_choose(const struct by_point_place *place);
struct by_point_choice by_point_choose_signs(const struct by_point_place *place, bool odd);
/* Whether an odd number is negative now. */
bool by_point_is_odd(const struct by_point_place *place);

void by_point_keep(int32_t *integers, const struct by_point_choice *choice);

#endif
