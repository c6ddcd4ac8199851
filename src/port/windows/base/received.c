/* Makes temporary files that other libraries write, which end with the process that reads them. */
#include "base/fault.h"
#include "base/file.h"
#include "port/windows/inside.h"

static bool make_path(struct by_received *file)
{
    wchar_t wide[MAX_PATH + 2];
    char folder[sizeof file->path];
    return GetTempPathW(MAX_PATH + 1, wide) && by_win_narrow(folder, sizeof folder, wide) &&
           by_join_path(file->path, sizeof file->path, folder, "baryon-XXXXXX");
}

/* It exists, so that nobody else takes the name, and is closed: the library shares it with none. */
int by_received_open(struct by_received *file, const char *name, struct baryon_error *err)
{
    file->fd = -1;
    const int fd = by_fault(BY_FAULT_IO) || !make_path(file) ? -1 : mkostemp(file->path, O_CLOEXEC);
    if (fd >= 0)
        return close(fd);
    by_fail_errno(err, BARYON_ERR_IO, "cannot be created in the folder of temporary files");
    return by_err_file(err, name);
}

int by_received_map(struct by_received *file, struct by_mapped *mapped, const char *name,
                    struct baryon_error *err)
{
    const int fd = by_win_open_last(file->path);
    if (fd < 0) {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be opened");
        unlink(file->path);
        return by_err_file(err, name);
    }
    return mapped ? by_mapped_open_fd(mapped, fd, name, err) : close(fd);
}
