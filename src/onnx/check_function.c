/* Functions of the model: that they are well formed, and whom they call. */
#include "base/format.h"
#include "onnx/check_rule.h"

#include <string.h>

#define CALL_DEPTH_MAX 32

/* "'name'", with its domain before it when it has one: "'domain.name'". */
static const char *quote_function(char out[BY_QUOTE_MAX], const struct by_function *function)
{
    char name[512];
    const char *domain = by_domain(function->domain);
    by_format(name, sizeof name, "%.200s%s%.200s", domain, *domain ? "." : "",
              function->name ? function->name : "");
    return by_quote(out, name);
}

/* --- well formed --- */

static int check_names_once(struct by_check *check, const struct by_function *function,
                            const struct by_names *list, const char *what, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], name[BY_QUOTE_MAX];
    struct by_map seen;
    int result = 0;
    by_map_init(&seen);
    for (size_t i = 0; i < list->count && !result; i++) {
        const char *item = list->at[i] ? list->at[i] : "";
        if (!by_map_get(&seen, item)) {
            result = by_map_put(&seen, item, check, err);
            continue;
        }
        by_fail(err, BARYON_ERR_INPUT, "function %s has %s %s twice, must appear once",
                quote_function(name, function), what, by_quote(quoted, item));
        by_err_in(err, "%s[%zu]", what, i);
        result = by_report(check, BY_FINDING_ERROR, &function->msg, err);
    }
    by_map_release(&seen);
    return result;
}

static int check_identity(struct by_check *check, const struct by_function *function,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!function->name || !*function->name) {
        by_fail(err, BARYON_ERR_INPUT, "the function has no name, must have one");
        return by_report(check, BY_FINDING_ERROR, &function->msg, err);
    }
    if (check->model->ir_version >= 8 && !function->domain) {
        by_fail(err, BARYON_ERR_INPUT, "function %s has no domain, must have one",
                quote_function(quoted, function));
        return by_report(check, BY_FINDING_ERROR, &function->msg, err);
    }
    const struct by_callee *first =
        by_function_find(&check->functions, function->domain, function->name, function->overload);
    if (!first || first->function == function)
        return 0;
    by_fail(err, BARYON_ERR_INPUT,
            "a second function %s, domain, name and overload must be unique together",
            quote_function(quoted, function));
    return by_report(check, BY_FINDING_ERROR, &function->msg, err);
}

static int check_function(struct by_check *check, const struct by_function *function,
                          struct baryon_error *err)
{
    if (check_identity(check, function, err) ||
        check_names_once(check, function, &function->input, "input", err) ||
        check_names_once(check, function, &function->output, "output", err) ||
        check_names_once(check, function, &function->attribute, "attribute", err))
        return -1;
    return 0;
}

const struct by_model_rule by_rule_function = {.worst = BY_FINDING_ERROR,
                                               .function = check_function};

/* --- calls --- */

struct call {
    size_t caller, callee; /* places in model->functions */
};

struct calls {
    struct call *at;
    size_t count, cap;
    size_t caller; /* the function whose nodes are walked */
};

static int begin_function(struct by_check *check, const struct by_function *function,
                          struct baryon_error *err)
{
    struct calls *calls = check->state;
    (void)function, (void)err;
    calls->caller = check->spot->index;
    return 0;
}

static int note_call(struct by_check *check, const struct baryon_node *node,
                     struct baryon_error *err)
{
    struct calls *calls = check->state;
    (void)node;
    if (!check->node.callee || !check->scope.function)
        return 0;
    if (by_list_reserve(&check->arena, calls, 1, sizeof *calls->at, err))
        return -1;
    calls->at[calls->count++] = (struct call){calls->caller, check->node.callee->index};
    return 0;
}

enum call_state { UNSEEN, OPEN, DONE };

/* Depth first, with a stack of its own. */
struct call_walk {
    struct by_check *check;
    size_t *callees; /* those of function i stand in [first[i], first[i + 1]) */
    size_t *first, *next, *stack, depth;
    unsigned char *state; /* enum call_state */
    unsigned *height;     /* how deep calls go from it, itself included */
};

static const struct by_function *function_at(const struct call_walk *walk, size_t index)
{
    return walk->check->model->functions.at[index];
}

static int prepare_call_walk(struct call_walk *walk, const struct calls *calls,
                             struct baryon_error *err)
{
    struct by_arena *arena = &walk->check->arena;
    size_t count = walk->check->model->functions.count;
    if (!(walk->callees = by_arena_alloc(arena, calls->count, sizeof *walk->callees, err)) ||
        !(walk->first = by_arena_alloc(arena, count + 2, sizeof *walk->first, err)) ||
        !(walk->next = by_arena_alloc(arena, count + 1, sizeof *walk->next, err)) ||
        !(walk->stack = by_arena_alloc(arena, count, sizeof *walk->stack, err)) ||
        !(walk->state = by_arena_alloc(arena, count, 1, err)) ||
        !(walk->height = by_arena_alloc(arena, count, sizeof *walk->height, err)))
        return -1;
    for (size_t i = 0; i < calls->count; i++)
        walk->first[calls->at[i].caller + 2]++;
    for (size_t i = 2; i < count + 2; i++)
        walk->first[i] += walk->first[i - 1];
    for (size_t i = 0; i < calls->count; i++)
        walk->callees[walk->first[calls->at[i].caller + 1]++] = calls->at[i].callee;
    memcpy(walk->next, walk->first, (count + 1) * sizeof *walk->next);
    return 0;
}

static int report_cycle(const struct call_walk *walk, size_t callee, struct baryon_error *err)
{
    const struct by_function *function = function_at(walk, callee);
    char one[BY_QUOTE_MAX], two[BY_QUOTE_MAX];
    size_t caller = walk->stack[walk->depth - 1];
    if (caller == callee)
        by_fail(err, BARYON_ERR_INPUT, "function %s calls itself, recursion is not allowed",
                quote_function(one, function));
    else
        by_fail(err, BARYON_ERR_INPUT,
                "function %s calls itself through %s, recursion is not allowed",
                quote_function(one, function), quote_function(two, function_at(walk, caller)));
    by_err_in(err, "functions[%zu]", callee);
    return by_report(walk->check, BY_FINDING_ERROR, &function->msg, err);
}

static int report_depth(const struct call_walk *walk, size_t index, struct baryon_error *err)
{
    const struct by_function *function = function_at(walk, index);
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "calls from function %s nest %d deep, must be at most %d",
            quote_function(quoted, function), CALL_DEPTH_MAX + 1, CALL_DEPTH_MAX);
    by_err_in(err, "functions[%zu]", index);
    return by_report(walk->check, BY_FINDING_ERROR, &function->msg, err);
}

static int leave_function(struct call_walk *walk, size_t index, struct baryon_error *err)
{
    unsigned deepest = 0;
    for (size_t i = walk->first[index]; i < walk->first[index + 1]; i++)
        if (walk->height[walk->callees[i]] > deepest)
            deepest = walk->height[walk->callees[i]];
    walk->height[index] = deepest + 1;
    walk->state[index] = DONE;
    walk->depth--;
    return deepest == CALL_DEPTH_MAX ? report_depth(walk, index, err) : 0;
}

static void enter(struct call_walk *walk, size_t index)
{
    walk->state[index] = OPEN;
    walk->stack[walk->depth++] = index;
}

static int walk_calls(struct call_walk *walk, size_t root, struct baryon_error *err)
{
    enter(walk, root);
    while (walk->depth) {
        size_t index = walk->stack[walk->depth - 1];
        if (walk->next[index] == walk->first[index + 1]) {
            if (leave_function(walk, index, err))
                return -1;
            continue;
        }
        size_t callee = walk->callees[walk->next[index]++];
        if (walk->state[callee] == OPEN && report_cycle(walk, callee, err))
            return -1;
        if (walk->state[callee] == UNSEEN)
            enter(walk, callee);
    }
    return 0;
}

static int check_calls(struct by_check *check, struct baryon_error *err)
{
    const struct calls *calls = check->state;
    struct call_walk walk = {.check = check};
    if (!calls->count)
        return 0;
    if (prepare_call_walk(&walk, calls, err))
        return -1;
    for (size_t i = 0; i < check->model->functions.count; i++)
        if (walk.state[i] == UNSEEN && walk_calls(&walk, i, err))
            return -1;
    return 0;
}

const struct by_model_rule by_rule_function_calls = {
    .worst = BY_FINDING_ERROR,
    .state_size = sizeof(struct calls),
    .function = begin_function,
    .node = note_call,
    .finish = check_calls,
};
