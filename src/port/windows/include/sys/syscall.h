/* For Windows: there are no numbers of system calls. */
#ifndef BY_PORT_SYSCALL_H
#define BY_PORT_SYSCALL_H

#include "port/windows/posix.h"

#endif
