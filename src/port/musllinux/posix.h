/* Musl has what the code asks for; it is included before everything else for what zig's runtime lacks. */
#ifndef BY_PORT_POSIX_H
#define BY_PORT_POSIX_H

#include "port/zig/processor.h"

#endif
