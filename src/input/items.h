/*
 * The files of a source, before any of them is opened.
 */
#ifndef BY_ITEMS_H
#define BY_ITEMS_H

#include "input/input.h"

/*
 * groups 1: every file serves all inputs. Otherwise there is one group an input, and
 * item i has paths[i * groups + g] for input g.
 */
struct by_items {
    size_t groups, count;
    const char **paths;
};

/* What is at path, as input.h describes sources. Never empty. */
int by_items_find(struct by_arena *arena, const char *path, const struct by_port *ports,
                  size_t port_count, const struct by_log *log, struct by_items *items,
                  struct baryon_error *err);
/* The paths that a text list names; one file of list.c. */
int by_list_read(struct by_arena *arena, const char *path, struct by_items *items,
                 struct baryon_error *err);
/* "folder/name" in the arena. */
const char *by_path_join(struct by_arena *arena, const char *folder, const char *name,
                         struct baryon_error *err);
/* Length of a file's name without its suffix: 3 for "cat.jpg", all of "cat". */
size_t by_stem_length(const char *name);

#endif
