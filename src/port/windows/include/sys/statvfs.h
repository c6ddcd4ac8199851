/* For Windows: everything is in posix.h. */
#ifndef BY_PORT_STATVFS_H
#define BY_PORT_STATVFS_H

#include "port/windows/posix.h"

#endif
