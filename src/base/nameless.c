/* Opens a temporary file without a name, which vanishes with the process. */
#include "base/fault.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* File systems that know no files without names get one that is removed at once. */
static int open_in(const char *folder)
{
    char path[4096];
    if (by_fault(BY_FAULT_IO)) {
        errno = EIO;
        return -1;
    }
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd;
    if (!by_join_path(path, sizeof path, folder, ".baryon-spill-XXXXXX")) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int by_nameless_open(int *fd, const char *folder, struct baryon_error *err)
{
    *fd = open_in(folder);
    if (*fd >= 0)
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "a temporary file cannot be created there");
    return by_err_file(err, folder);
}
