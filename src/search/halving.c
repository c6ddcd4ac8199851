/* Halves the way between a goal whose set missed and one whose set met. */
#include "search/halving.h"

bool by_halving_next(struct by_halving *halving, double *goal)
{
    if (!halving->left || !(halving->high - halving->low > halving->near))
        return false;
    halving->left--;
    *goal = (halving->low + halving->high) / 2;
    return true;
}

/* Of what is too dear, cheaper sets lie below. */
void by_halving_take(struct by_halving *halving, double goal, enum by_halved outcome)
{
    if (outcome == BY_HALVED_MET || outcome == BY_HALVED_DEAR)
        halving->high = goal;
    else
        halving->low = goal;
}
