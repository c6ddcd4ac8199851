/* Asks the system how much memory and disk space there is. */
#include "base/capacity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *by_size_text(uint64_t bytes, char text[BY_SIZE_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024; unit++)
        value /= 1024;
    snprintf(text, BY_SIZE_TEXT, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

/* --- Memory --- */

/* The first line of a file, without its end. */
static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    const bool read = file && fgets(line, size, file);
    if (file)
        fclose(file);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    return read;
}

/* "max" is no number and so no limit. */
static uint64_t limit_in(const char *path)
{
    char line[64], *end;
    if (!read_line(path, line, sizeof line))
        return UINT64_MAX;
    errno = 0;
    const unsigned long long bytes = strtoull(line, &end, 10);
    return errno || end == line ? UINT64_MAX : bytes;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of the group and those around it; in a container its own is at the top. */
static uint64_t control_group_memory(void)
{
    char line[512], path[600];
    uint64_t bytes = limit_in("/sys/fs/cgroup/memory.max");
    if (!read_line("/proc/self/cgroup", line, sizeof line) || strncmp(line, "0::/", 4) != 0)
        return bytes;
    for (char *slash; (slash = strrchr(line + 3, '/')); *slash = '\0') {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
        bytes = least(bytes, limit_in(path));
    }
    return bytes;
}

/* Of the whole machine, what is neither in use nor set aside. */
static uint64_t machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    static const char name[] = "MemAvailable:";
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, sizeof name - 1) == 0)
            bytes = least(bytes, strtoull(line + sizeof name - 1, NULL, 10) << 10);
    if (file)
        fclose(file);
    return bytes;
}

uint64_t by_memory_there(void)
{
    struct rlimit limit;
    uint64_t bytes = machine_memory();
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = least(bytes, limit.rlim_cur);
    return least(bytes, control_group_memory());
}

/* --- Disk --- */

int by_check_disk(const char *folder, uint64_t bytes, const char *what, struct baryon_error *err)
{
    struct statvfs fs;
    char wanted[BY_SIZE_TEXT], there[BY_SIZE_TEXT];
    if (statvfs(folder, &fs) != 0)
        return 0; /* whoever writes finds out */
    const uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (bytes / 4 * 3 <= room)
        return 0;
    by_fail(err, BARYON_ERR_IO, "%s requires about %s, %s are free on its disk", what,
            by_size_text(bytes, wanted), by_size_text(room, there));
    return by_err_file(err, folder);
}
