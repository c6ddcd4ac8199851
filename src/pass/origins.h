/* What origins.c and origins_track.c share. */
#ifndef BY_ORIGINS_H
#define BY_ORIGINS_H

#include "pass/pass.h"

#define BY_ORIGINS_MAX 256u /* vanished nodes that one node takes over in one go */

/* Of one node, for as long as the model lives. */
struct by_origin_set {
    const struct baryon_node *node; /* the key */
    const size_t *users;
    size_t count;
};

struct by_moment;

struct by_origins {
    struct by_arena arena;
    struct baryon_model *model;
    struct by_user_node *users;
    size_t user_count;
    struct by_map sets; /* node -> by_origin_set */
    struct by_moment *before;
};

/* All nodes of all graphs, outer before inner; by_free() it. */
int by_all_nodes(struct baryon_model *model, struct baryon_node ***nodes, size_t *count,
                 struct baryon_error *err);
struct by_origin_set *by_origin_set(const struct by_origins *origins,
                                    const struct baryon_node *node);
/* The node gets those origins from now on; they are copied. */
int by_origins_set(struct by_origins *origins, const struct baryon_node *node, const size_t *users,
                   size_t count, struct baryon_error *err);
void by_moment_free(struct by_moment *moment);

#endif
