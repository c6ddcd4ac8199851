/* Halves the way between a goal whose set missed and one whose set met. */
#include "search/halving.h"

enum by_halved by_halving_outcome(const struct by_halved_set *set, bool *met)
{
    if (set->verified)
        *met = set->meets;
    if (set->dear)
        return BY_HALVED_DEAR;
    return *met ? BY_HALVED_MET : BY_HALVED_MISSED;
}

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
    if (outcome == BY_HALVED_MISSED)
        halving->low = goal;
    else
        halving->high = goal;
}
