/* For macOS: everything is in posix.h. */
#ifndef BY_PORT_SYSCALL_H
#define BY_PORT_SYSCALL_H

#include "port/macos/posix.h"

#endif
