/* The runtime's threads, from inside one of its nodes, as a team. */
#ifndef BY_OP_TEAM_H
#define BY_OP_TEAM_H

#include "base/team.h"
#include "engine/ort.h"

struct by_op_team {
    struct by_team team;
    const struct by_ort *ort; /* only its api counts */
    const OrtKernelContext *context;
};

/* workers: pieces at once, at least 1; as many as the runtime has threads work on them. */
void by_op_team(struct by_op_team *team, const struct by_ort *ort, const OrtKernelContext *context,
                unsigned workers);

#endif
