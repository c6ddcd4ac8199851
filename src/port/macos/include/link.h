/* For macOS: everything is in posix.h. */
#ifndef BY_PORT_LINK_H
#define BY_PORT_LINK_H

#include "port/macos/posix.h"

#endif
