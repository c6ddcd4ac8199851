/* Makes temporary files that other libraries write, which lose their names when they are read. */
#include "base/fault.h"
#include "base/file.h"

int by_received_open(struct by_received *file, const char *name, struct baryon_error *err)
{
    const char *folder = getenv("TMPDIR");
    const bool fits = by_join_path(file->path, sizeof file->path,
                                   folder && *folder ? folder : "/tmp", "baryon-XXXXXX");
    file->fd = -1;
    const int fd = by_fault(BY_FAULT_IO) || !fits ? -1 : mkostemp(file->path, O_CLOEXEC);
    if (fd >= 0)
        return close(fd);
    by_fail_errno(err, BARYON_ERR_IO, "cannot be created in the folder of temporary files");
    return by_err_file(err, name);
}

/* The library may have put another file in its place: it is opened by name. */
int by_received_map(struct by_received *file, struct by_mapped *mapped, const char *name,
                    struct baryon_error *err)
{
    const int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        by_fail_errno(err, BARYON_ERR_IO, "cannot be opened");
    unlink(file->path);
    if (fd < 0)
        return by_err_file(err, name);
    return mapped ? by_mapped_open_fd(mapped, fd, name, err) : close(fd);
}
