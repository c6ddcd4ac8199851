/*
 * What the program uses where it is there: for each piece what it is good for, how it is found, and
 * what installs it. A piece is a row in cli/pieces.c.
 */
#ifndef BY_PIECES_H
#define BY_PIECES_H

#include "base/str.h"
#include "base/system.h"
#include "cli/versions.h"

enum { BY_PIECE_COMMANDS = 2 };

struct by_piece_seen {
    bool found;
    char version[128], path[1024]; /* "" where unknown */
    struct baryon_error error;     /* why it is not found; the message may be empty */
};

struct by_piece_recipe {
    /* To be run in turn; NULL after the last. In "%s" stands the folder of the package. */
    const char *commands[BY_PIECE_COMMANDS];
};

struct by_piece {
    const char *name;
    const char *gives; /* what works with it alone, as a sentence's end */
    void (*look)(const struct by_versions *versions, struct by_piece_seen *seen);
    struct by_piece_recipe any;                    /* the same on every system */
    struct by_piece_recipe on[BY_SYSTEMS];         /* goes before .any */
    struct by_piece_recipe package_any;            /* where pip installed the program */
    struct by_piece_recipe package_on[BY_SYSTEMS]; /* each goes before those above */
    const char *else_there;                        /* what there is where no command is known */
};

const struct by_piece *by_pieces(size_t *count);
/* The folder of the Python package that the program is in; false: it is in none. */
bool by_piece_package(char *folder, size_t size);
/*
 * Appends the commands for a system, each with a NUL after it. package: of by_piece_package(), or
 * NULL. Returns how many.
 */
size_t by_piece_install(const struct by_piece *piece, enum by_system system, const char *package,
                        struct by_str *commands);

#endif
