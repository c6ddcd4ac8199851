/* Asks how much memory of the process is resident. */
#include "base/cpu.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

uint64_t by_resident_bytes(void)
{
    int64_t pages = 0;
    char *text = NULL; /* "ALL RESIDENT ..." */
    size_t size;
    const long page = sysconf(_SC_PAGESIZE);
    if (by_read_file("/proc/self/statm", 64u << 10, &text, &size, NULL) || page <= 0)
        return 0;
    char *resident = strchr(text, ' ');
    if (resident) {
        resident[1 + strcspn(resident + 1, " ")] = '\0';
        if (!by_parse_i64(resident + 1, &pages) || pages < 0)
            pages = 0;
    }
    by_free(text);
    return (uint64_t)pages * (uint64_t)page;
}
