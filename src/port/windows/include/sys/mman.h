/* For Windows: everything is in posix.h. */
#ifndef BY_PORT_MMAN_H
#define BY_PORT_MMAN_H

#include "port/windows/posix.h"

#endif
