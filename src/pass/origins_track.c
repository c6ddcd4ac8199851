/*
 * What became of the nodes: the graph as it was before an edit is kept in lists, and compared
 * with the graph afterwards by nodes and by the names of outputs.
 *
 *  - a node that is still there keeps its origins;
 *  - who gives an output's name now has the origins of the node that gave it and is gone;
 *  - a gone node whose names nobody gives belongs to those that are left after it;
 *  - a new node of which all this says nothing belongs to its readers.
 */
#include "pass/origins.h"

#include <string.h>

struct giver { /* the key: an output as it was named before */
    const struct baryon_graph *graph;
    const char *name;
};

struct old_node {
    struct baryon_node *node;
    size_t first_producer, producer_count; /* of what it reads, itself or nested in it */
    bool gone, named;                      /* named: somebody else gives one of its outputs */
    size_t seen;                           /* the number of the walk that was here */
};

struct by_moment {
    struct by_arena arena;
    struct baryon_node **nodes;
    struct old_node *old;
    size_t count;
    size_t *producers;
    struct by_map old_of;   /* node -> old_node */
    struct by_map giver_of; /* giver -> old_node */
    size_t walks;
};

void by_moment_free(struct by_moment *moment)
{
    if (!moment)
        return;
    by_free(moment->nodes);
    by_map_release(&moment->old_of);
    by_map_release(&moment->giver_of);
    by_arena_release(&moment->arena);
    by_free(moment);
}

static struct old_node *old_of(const struct by_moment *moment, const struct baryon_node *node)
{
    return by_map_get_bytes(&moment->old_of, &node, sizeof node);
}

static struct old_node *giver_of(const struct by_moment *moment, const struct baryon_value *value)
{
    const struct giver key = {value->graph, value->name};
    return by_map_get_bytes(&moment->giver_of, &key, sizeof key);
}

/* --- before --- */

static int keep_outputs(struct by_moment *moment, struct old_node *old, struct baryon_error *err)
{
    for (size_t i = 0; i < old->node->output.count; i++) {
        const struct baryon_value *value = old->node->outs[i];
        struct giver *key = value ? BY_ARENA_NEW(&moment->arena, struct giver, err) : NULL;
        if (!value)
            continue;
        if (!key)
            return -1;
        *key = (struct giver){value->graph, value->name};
        if (by_map_put_bytes(&moment->giver_of, key, sizeof *key, old, err))
            return -1;
    }
    return 0;
}

static int keep_nodes(struct by_moment *moment, struct baryon_error *err)
{
    for (size_t i = 0; i < moment->count; i++) {
        struct old_node *old = &moment->old[i];
        old->node = moment->nodes[i];
        if (by_map_put_bytes(&moment->old_of, &old->node, sizeof old->node, old, err) ||
            keep_outputs(moment, old, err))
            return -1;
    }
    return 0;
}

/* What reads the outputs, and the nodes around it up to the producer's graph. */
static void each_edge(struct by_moment *moment, bool put)
{
    for (size_t i = 0; i < moment->count; i++) {
        const struct baryon_node *node = moment->nodes[i];
        for (size_t o = 0; o < node->output.count; o++) {
            const struct baryon_value *value = node->outs[o];
            for (size_t u = 0; value && u < value->use_count; u++) {
                const struct baryon_node *reader = by_use_reader(&value->uses[u], value->graph);
                struct old_node *old = reader ? old_of(moment, reader) : NULL;
                if (old && put)
                    moment->producers[old->first_producer + old->producer_count] = i;
                if (old)
                    old->producer_count++;
            }
        }
    }
}

static int keep_edges(struct by_moment *moment, struct baryon_error *err)
{
    size_t total = 0;
    each_edge(moment, false);
    for (size_t i = 0; i < moment->count; i++) {
        moment->old[i].first_producer = total;
        total += moment->old[i].producer_count;
        moment->old[i].producer_count = 0;
    }
    moment->producers = by_arena_alloc(&moment->arena, total, sizeof(size_t), err);
    if (!moment->producers)
        return -1;
    each_edge(moment, true);
    return 0;
}

int by_origins_before(struct by_origins *origins, struct baryon_error *err)
{
    by_moment_free(origins->before);
    struct by_moment *moment = origins->before = by_alloc_zero(1, sizeof *moment, err);
    if (!moment)
        return -1;
    by_arena_init(&moment->arena, 0);
    by_map_init(&moment->old_of);
    by_map_init(&moment->giver_of);
    if (by_all_nodes(origins->model, &moment->nodes, &moment->count, err))
        return -1;
    moment->old = by_arena_alloc(&moment->arena, moment->count, sizeof *moment->old, err);
    return moment->old && !keep_nodes(moment, err) ? keep_edges(moment, err) : -1;
}

/* --- after --- */

struct comparison {
    struct by_origins *origins;
    struct by_moment *moment;
    struct baryon_node **now;
    size_t count;
    size_t *users; /* origins being put together: a set by `taken` */
    size_t user_count;
    size_t *taken; /* of each user's node: the number of the walk that took it */
    size_t *queue; /* vanished nodes, by their index */
};

static void mark_gone(const struct comparison *c)
{
    for (size_t i = 0; i < c->moment->count; i++)
        c->moment->old[i].gone = true;
    for (size_t i = 0; i < c->count; i++) {
        struct old_node *old = old_of(c->moment, c->now[i]);
        if (old)
            old->gone = false;
    }
    for (size_t i = 0; i < c->count; i++) {
        for (size_t o = 0; o < c->now[i]->output.count; o++) {
            const struct baryon_value *value = c->now[i]->outs[o];
            struct old_node *old = value ? giver_of(c->moment, value) : NULL;
            if (old && old->gone)
                old->named = true;
        }
    }
}

static void take_origins(struct comparison *c, const struct baryon_node *node)
{
    const struct by_origin_set *set = by_origin_set(c->origins, node);
    for (size_t i = 0; set && i < set->count; i++) {
        size_t user = set->users[i];
        if (c->taken[user] == c->moment->walks)
            continue;
        c->taken[user] = c->moment->walks;
        c->users[c->user_count++] = user;
    }
}

/* Passes join no excluded node with others: one that is gone was dead, and is nobody's part. */
static bool is_credited_here(const struct comparison *c, const struct old_node *old)
{
    return old->gone && !old->named && !by_node_is(old->node, "Constant") &&
           !by_origins_excluded(c->origins, old->node);
}

/* Vanished nodes before those in the queue, nearest first. */
static void take_vanished(struct comparison *c, size_t queued)
{
    struct by_moment *moment = c->moment;
    for (size_t at = 0; at < queued; at++) {
        const struct old_node *old = &moment->old[c->queue[at]];
        for (size_t p = 0; p < old->producer_count && queued < BY_ORIGINS_MAX; p++) {
            size_t index = moment->producers[old->first_producer + p];
            struct old_node *producer = &moment->old[index];
            if (producer->seen == moment->walks || !is_credited_here(c, producer))
                continue;
            producer->seen = moment->walks;
            take_origins(c, producer->node);
            c->queue[queued++] = index;
        }
    }
}

static void start_walk(struct comparison *c)
{
    c->moment->walks++;
    c->user_count = 0;
}

static void take_old(struct comparison *c, struct old_node *old, size_t *queued)
{
    if (old->seen == c->moment->walks)
        return;
    old->seen = c->moment->walks;
    take_origins(c, old->node);
    if (*queued < BY_ORIGINS_MAX)
        c->queue[(*queued)++] = (size_t)(old - c->moment->old);
}

static int credit(struct comparison *c, const struct baryon_node *node, struct baryon_error *err)
{
    size_t queued = 0;
    struct old_node *self = old_of(c->moment, node);
    start_walk(c);
    if (self)
        take_old(c, self, &queued);
    size_t own = c->user_count;
    for (size_t o = 0; o < node->output.count; o++) {
        const struct baryon_value *value = node->outs[o];
        struct old_node *old = value ? giver_of(c->moment, value) : NULL;
        if (old && (!self || old->gone))
            take_old(c, old, &queued);
    }
    take_vanished(c, queued);
    if (self && c->user_count == own)
        return 0;
    return by_origins_set(c->origins, node, c->users, c->user_count, err);
}

/* A new node that nothing was found for. */
static int credit_by_readers(struct comparison *c, const struct baryon_node *node,
                             struct baryon_error *err)
{
    start_walk(c);
    for (size_t o = 0; o < node->output.count; o++) {
        const struct baryon_value *value = node->outs[o];
        for (size_t u = 0; value && u < value->use_count; u++)
            if (value->uses[u].node)
                take_origins(c, value->uses[u].node);
    }
    return by_origins_set(c->origins, node, c->users, c->user_count, err);
}

static int compare_with_moment(struct comparison *c, struct baryon_error *err)
{
    mark_gone(c);
    for (size_t i = 0; i < c->count; i++)
        if (credit(c, c->now[i], err))
            return -1;
    for (size_t i = c->count; i-- > 0;) {
        const struct by_origin_set *set = by_origin_set(c->origins, c->now[i]);
        if (!set->count && credit_by_readers(c, c->now[i], err))
            return -1;
    }
    return 0;
}

int by_origins_after(struct by_origins *origins, struct baryon_error *err)
{
    struct comparison c = {.origins = origins, .moment = origins->before};
    size_t users = origins->user_count;
    if (by_model_settle(origins->model, err) || by_all_nodes(origins->model, &c.now, &c.count, err))
        return -1;
    c.users = by_alloc(users, sizeof *c.users, err);
    c.taken = by_alloc_zero(users, sizeof *c.taken, err);
    c.queue = by_alloc(BY_ORIGINS_MAX, sizeof *c.queue, err);
    int failed = c.users && c.taken && c.queue ? compare_with_moment(&c, err) : -1;
    by_free(c.now);
    by_free(c.users);
    by_free(c.taken);
    by_free(c.queue);
    by_moment_free(origins->before);
    origins->before = NULL;
    return failed;
}
