/* Whether a step of a search is worth its time, by what is known before it. */
#ifndef BY_WORTH_H
#define BY_WORTH_H

#include <stdbool.h>

/* Of a rung that misses the goals. */
struct by_worth_solving {
    double gain; /* dB that it would have without the noise of weights */
    double sqnr; /* dB that it has */
    double goal; /* dB; NAN: no goal is in dB */
    bool widens; /* single weights may have a wider type instead */
};
/* Weights are the cause, and where single ones may be wider, they are all of it. */
bool by_worth_solving(const struct by_worth_solving *of);

/* Of a model with narrower weights, some of whose layers could have the wide ones again. */
struct by_worth_back {
    bool needed;                   /* the wide one is too large */
    bool late;                     /* sources were measured already, and effort is limited */
    double sqnr, goal;             /* dB that it has, and has to have; NAN: no goal is in dB */
    double wide, narrow, smallest; /* bytes of the wide model, of this one, and that it may have */
};
/* Layers that go back have a part of the bytes that all of them save, and have to have had all the
 * noise that is too much. Measuring sources takes about half of the time that a search is to take,
 * so for bytes alone that is not done a second time. */
bool by_worth_going_back(const struct by_worth_back *of);

/* What passes did to the model, without any rounding, has so many dB at most; where that misses the
 * goal, no decision helps. NAN: no goal is in dB. */
bool by_worth_deciding(double ceiling, double goal);

/* Narrow weights with exact activations have so many dB: whether wide activations may meet the
 * goal. NAN: not known, or no goal is in dB. */
bool by_worth_wide_activations(double weights, double goal);

/* A set of changes costs about what none does: nothing is to be gained by a longer search. */
bool by_worth_few_changes(double cost, double without);

#endif
