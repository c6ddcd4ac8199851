/* Stores and adds the samples' votes for scales that are powers of two. */
#include "stats/votes.h"

#include "base/mem.h"

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_levels(const struct by_vote_levels *a, const struct by_vote_levels *b)
{
    const int least = order(a->least, b->least);
    return least ? least : order(a->most, b->most);
}

int by_vote_compare(const struct by_vote *a, const struct by_vote *b)
{
    const int levels = compare_levels(&a->levels, &b->levels);
    return levels ? levels : order(a->position, b->position);
}

void by_votes_release(struct by_votes *votes)
{
    by_free(votes->at);
    *votes = (struct by_votes){.count = 0};
}

int by_votes_join(struct by_votes *both, const struct by_votes *a, const struct by_votes *b,
                  struct baryon_error *err)
{
    *both = (struct by_votes){.count = 0};
    if (!a->count && !b->count)
        return 0;
    both->at = by_alloc(a->count + b->count, sizeof *both->at, err);
    if (!both->at)
        return -1;
    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const int side = i == a->count   ? 1
                         : k == b->count ? -1
                                         : by_vote_compare(&a->at[i], &b->at[k]);
        struct by_vote vote = side > 0 ? b->at[k++] : a->at[i++];
        if (!side)
            vote.samples += b->at[k++].samples;
        both->at[both->count++] = vote;
    }
    return 0;
}

const struct by_vote *by_votes_of(const struct by_votes *votes, const struct by_vote_levels *levels,
                                  size_t *count)
{
    size_t first = 0, end;
    while (first < votes->count && compare_levels(&votes->at[first].levels, levels) < 0)
        first++;
    for (end = first; end < votes->count && !compare_levels(&votes->at[end].levels, levels);)
        end++;
    *count = end - first;
    return *count ? votes->at + first : NULL;
}
