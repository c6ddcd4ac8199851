/* A goal between one whose set missed and one whose set met what is really asked for. */
#ifndef BY_HALVING_H
#define BY_HALVING_H

#include <stdbool.h>

struct by_halving {
    double low, high; /* dB */
    double near;      /* dB between them that end it */
    unsigned left;    /* goals that may still be tried */
};

enum by_halved {
    BY_HALVED_MISSED,
    BY_HALVED_MET,
    BY_HALVED_DEAR, /* the set costs about what the best one does, which met: it is not verified */
};

/* What became of a goal's set, which is dear, or was verified and meets, or is the one that was
 * verified before. *met: whether the last one that was verified met. */
struct by_halved_set {
    bool dear, verified, meets;
};
enum by_halved by_halving_outcome(const struct by_halved_set *set, bool *met);

/* False: there is nothing left to try. */
bool by_halving_next(struct by_halving *halving, double *goal);
void by_halving_take(struct by_halving *halving, double goal, enum by_halved outcome);

#endif
