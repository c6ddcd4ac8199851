/* Makes a file that exists only in memory. */
#include "base/fault.h"
#include "base/file.h"

#include <sys/mman.h>

int by_memory_file(int *fd, const char *name, struct baryon_error *err)
{
    *fd = by_fault(BY_FAULT_IO) ? -1 : memfd_create(name, MFD_CLOEXEC);
    if (*fd >= 0)
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "cannot be created in memory");
    return by_err_file(err, name);
}
