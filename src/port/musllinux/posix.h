/*
 * What musl and the runtime library of zig lack. It is included before everything else in builds
 * for musl: the code stays as it is.
 */
#ifndef BY_PORT_POSIX_H
#define BY_PORT_POSIX_H

#include "port/zig/processor.h"

#define RENAME_NOREPLACE 1

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);

#endif
