/* Which of the user's nodes each node came from. */
#include "pass/origins.h"

#include <string.h>

/* --- all nodes --- */

struct gathering {
    struct baryon_node **nodes; /* NULL: only counts */
    size_t count;
};

static int gather_origin_nodes(void *context, struct baryon_graph *graph, unsigned depth,
                               struct baryon_error *err)
{
    (void)depth, (void)err;
    struct gathering *gathering = context;
    for (size_t i = 0; i < graph->node.count; i++) {
        if (!graph->node.at[i])
            continue;
        if (gathering->nodes)
            gathering->nodes[gathering->count] = graph->node.at[i];
        gathering->count++;
    }
    return 0;
}

int by_all_nodes(struct baryon_model *model, struct baryon_node ***nodes, size_t *count,
                 struct baryon_error *err)
{
    struct gathering gathering = {0};
    *nodes = NULL;
    if (by_model_each_graph(model, gather_origin_nodes, &gathering, err))
        return -1;
    *count = gathering.count;
    gathering = (struct gathering){by_alloc(*count, sizeof **nodes, err), 0};
    if (!gathering.nodes)
        return -1;
    by_model_each_graph(model, gather_origin_nodes, &gathering, err);
    *nodes = gathering.nodes;
    return 0;
}

/* --- sets --- */

struct by_origin_set *by_origin_set(const struct by_origins *origins,
                                    const struct baryon_node *node)
{
    return by_map_get_bytes(&origins->sets, &node, sizeof node);
}

static struct by_origin_set *add_set(struct by_origins *origins, const struct baryon_node *node,
                                     struct baryon_error *err)
{
    struct by_origin_set *set = by_origin_set(origins, node);
    if (set)
        return set;
    if (!(set = BY_ARENA_NEW(&origins->arena, struct by_origin_set, err)))
        return NULL;
    set->node = node;
    if (by_map_put_bytes(&origins->sets, &set->node, sizeof set->node, set, err))
        return NULL;
    return set;
}

int by_origins_set(struct by_origins *origins, const struct baryon_node *node, const size_t *users,
                   size_t count, struct baryon_error *err)
{
    struct by_origin_set *set = add_set(origins, node, err);
    size_t *copy = set ? by_arena_alloc(&origins->arena, count, sizeof *copy, err) : NULL;
    if (!copy)
        return -1;
    for (size_t i = 0; i < count; i++)
        copy[i] = users[i];
    set->users = copy;
    set->count = count;
    return 0;
}

/* --- the user's nodes --- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static int add_user(struct by_origins *origins, const struct baryon_node *node,
                    struct baryon_error *err)
{
    size_t index = origins->user_count;
    origins->users[index] = (struct by_user_node){
        .name = or_empty(node->name),
        .op_type = or_empty(node->op_type),
        .output = node->output.count ? or_empty(node->output.at[0]) : "",
    };
    origins->user_count++;
    return by_origins_set(origins, node, &index, 1, err);
}

static int add_users(struct by_origins *origins, struct baryon_error *err)
{
    struct baryon_node **nodes;
    size_t count;
    if (by_all_nodes(origins->model, &nodes, &count, err))
        return -1;
    origins->users = by_arena_alloc(&origins->arena, count, sizeof *origins->users, err);
    int failed = origins->users ? 0 : -1;
    for (size_t i = 0; i < count && !failed; i++)
        failed = add_user(origins, nodes[i], err);
    by_free(nodes);
    return failed;
}

int by_origins_open(struct by_origins **origins, struct baryon_model *model,
                    struct baryon_error *err)
{
    struct by_origins *opened = by_alloc_zero(1, sizeof *opened, err);
    *origins = NULL;
    if (!opened)
        return -1;
    by_arena_init(&opened->arena, 0);
    by_map_init(&opened->sets);
    opened->model = model;
    if (by_model_link(model, err) || add_users(opened, err)) {
        by_origins_close(opened);
        return -1;
    }
    *origins = opened;
    return 0;
}

/* Itself, and the origins of the other, whose users stand after `own` nodes. */
static int add_origins(struct by_origins *origins, size_t index, const struct baryon_node *node,
                       size_t own, const struct by_origin_set *set, struct baryon_error *err)
{
    const size_t count = set ? set->count : 0;
    size_t *users = by_alloc(count + 1, sizeof *users, err);
    if (!users)
        return -1;
    users[0] = index;
    for (size_t i = 0; i < count; i++)
        users[i + 1] = own + set->users[i];
    const int status = by_origins_set(origins, node, users, count + 1, err);
    by_free(users);
    return status;
}

static int take_users(struct by_origins *origins, const struct by_origins *from,
                      struct baryon_node *const *nodes, struct baryon_node *const *others,
                      size_t count, struct baryon_error *err)
{
    const size_t own = origins->user_count, all = own + from->user_count;
    struct by_user_node *users = by_arena_alloc(&origins->arena, all, sizeof *users, err);
    if (!users)
        return -1;
    memcpy(users, origins->users, own * sizeof *users);
    if (from->user_count)
        memcpy(users + own, from->users, from->user_count * sizeof *users);
    origins->users = users;
    origins->user_count = all;
    for (size_t i = 0; i < count; i++)
        if (add_origins(origins, i, nodes[i], own, by_origin_set(from, others[i]), err) < 0)
            return -1;
    return 0;
}

int by_origins_copy(struct by_origins **origins, const struct by_origins *from,
                    struct baryon_model *copy, struct baryon_error *err)
{
    struct baryon_node **nodes = NULL, **others = NULL;
    size_t count, other_count;
    if (by_origins_open(origins, copy, err) < 0)
        return -1;
    int status = by_all_nodes(copy, &nodes, &count, err) < 0 ||
                         by_all_nodes(from->model, &others, &other_count, err) < 0
                     ? -1
                     : 0;
    if (status == 0 && count != other_count)
        status = by_fail(err, BARYON_ERR_INTERNAL, "a copy of the model has other nodes");
    if (status == 0)
        status = take_users(*origins, from, nodes, others, count, err);
    by_free(nodes);
    by_free(others);
    if (status < 0) {
        by_origins_close(*origins);
        *origins = NULL;
    }
    return status;
}

void by_origins_close(struct by_origins *origins)
{
    if (!origins)
        return;
    by_moment_free(origins->before);
    by_map_release(&origins->sets);
    by_arena_release(&origins->arena);
    by_free(origins);
}

const size_t *by_origins_of(const struct by_origins *origins, const struct baryon_node *node,
                            size_t *count)
{
    const struct by_origin_set *set = by_origin_set(origins, node);
    *count = set ? set->count : 0;
    return set ? set->users : NULL;
}

uint64_t by_origins_spans(const struct by_origins *origins, const struct baryon_node *node)
{
    size_t count;
    uint64_t spans = 0;
    const size_t *at = by_origins_of(origins, node, &count);
    for (size_t i = 0; i < count; i++)
        spans |= origins->users[at[i]].spans;
    return spans;
}

struct by_user_node *by_origins_user(struct by_origins *origins, size_t *count)
{
    *count = origins->user_count;
    return origins->users;
}

const char *by_origins_excluded(const struct by_origins *origins, const struct baryon_node *node)
{
    size_t count;
    const size_t *users = by_origins_of(origins, node, &count);
    for (size_t i = 0; i < count; i++)
        if (origins->users[users[i]].excluded)
            return or_empty(origins->users[users[i]].why);
    return NULL;
}
