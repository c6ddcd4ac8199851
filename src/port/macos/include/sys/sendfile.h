/* For macOS, whose sendfile() is another: the kernel copies nothing. */
#ifndef BY_PORT_SENDFILE_H
#define BY_PORT_SENDFILE_H

#include "port/macos/posix.h"

#include <sys/socket.h>

/* Fails with ENOSYS. */
#define sendfile by_mac_sendfile
ssize_t sendfile(int out, int in, off_t *from, size_t size);

#endif
