/*
 * What the program uses where it is there: for each piece what it is good for, how it is found, and
 * what installs it. A piece is a row in cli/pieces.c.
 */
#ifndef BY_PIECES_H
#define BY_PIECES_H

#include "base/system.h"
#include "cli/versions.h"

enum { BY_PIECE_COMMANDS = 2 };

struct by_piece_seen {
    bool found;
    char version[128], path[1024]; /* "" where unknown */
    struct baryon_error error;     /* why it is not found; the message may be empty */
};

struct by_piece_recipe {
    const char *commands[BY_PIECE_COMMANDS]; /* to be run in turn; NULL behind the last */
};

struct by_piece {
    const char *name;
    const char *gives; /* what works with it alone, as a sentence's end */
    void (*look)(const struct by_versions *versions, struct by_piece_seen *seen);
    struct by_piece_recipe any;            /* the same on every system */
    struct by_piece_recipe on[BY_SYSTEMS]; /* goes before .any */
};

const struct by_piece *by_pieces(size_t *count);
/* The commands for a system; the first is NULL where none is known. */
const char *const *by_piece_install(const struct by_piece *piece, enum by_system system);

#endif
