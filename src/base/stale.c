/* Removes what killed writers left in a folder that nobody else writes to. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* As by_temp_name() makes them. */
static bool is_temporary(const char *name)
{
    static const char begin[] = ".baryon-";
    const size_t digits =
        strlen(name) < sizeof begin ? 0 : strspn(name + sizeof begin - 1, "0123456789abcdef");
    return digits == 16 && !strncmp(name, begin, sizeof begin - 1) &&
           name[sizeof begin - 1 + digits] == '-';
}

int by_remove_stale(const char *folder, struct baryon_error *err)
{
    const struct dirent *entry;
    DIR *dir = opendir(folder);
    int status = 0;
    if (!dir) {
        by_fail_errno(err, BARYON_ERR_IO, "cannot be read");
        return by_err_file(err, folder);
    }
    while (!status && (entry = readdir(dir)))
        if (is_temporary(entry->d_name) && unlinkat(dirfd(dir), entry->d_name, 0) &&
            errno != ENOENT) {
            by_fail_errno(err, BARYON_ERR_IO, "a file of a killed run cannot be removed");
            status = by_err_file(err, folder);
        }
    closedir(dir);
    return status;
}
