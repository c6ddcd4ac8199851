/* Lists the outputs that a model is measured by, and their parts. */
#include "trial/float_outputs.h"

#include <string.h>

static int add_output(struct by_float_outputs *outputs, const char *port,
                      const struct by_joined *joined, struct by_arena *arena,
                      struct baryon_error *err)
{
    const char *name = by_arena_text(arena, port, strlen(port), err);
    if (!name)
        return -1;
    outputs->joined[outputs->count] = *joined;
    outputs->names[outputs->count++] = name;
    for (size_t i = 0; i < joined->count; i++) {
        const char *part = by_joined_name(joined, i, name, arena, err);
        if (!part)
            return -1;
        outputs->parts[outputs->part_count++] = part;
    }
    return 0;
}

int by_float_outputs_choose(struct by_float_outputs *outputs, const struct by_session *session,
                            const struct baryon_graph *graph, const struct by_selects *selects,
                            struct by_arena *arena, struct baryon_error *err)
{
    static const struct by_joined whole = {.count = 1};
    size_t count;
    const struct by_port *ports = by_session_outputs(session, &count);
    *outputs = (struct by_float_outputs){
        .selected_count = selects->count,
        .names = by_arena_alloc(arena, count + 1, sizeof *outputs->names, err),
        .joined = by_arena_alloc(arena, count + 1, sizeof *outputs->joined, err),
        .parts = by_arena_alloc(arena, BY_JOINED_MOST * count + 1, sizeof *outputs->parts, err)};
    if (!outputs->names || !outputs->joined || !outputs->parts)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const bool own = i < graph->output.count;
        const struct by_joined joined = own ? by_joined_find(by_graph_out(graph, i)) : whole;
        const bool left_out = own && selects->left_out && selects->left_out[i];
        if (by_elem_is_floats(ports[i].elem) && !left_out &&
            add_output(outputs, ports[i].name, &joined, arena, err) < 0)
            return -1;
    }
    return 0;
}
