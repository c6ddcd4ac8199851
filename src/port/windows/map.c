/* Maps files, and takes pages of memory. */
#include "port/windows/inside.h"

#include <winioctl.h>

/* A file that is mapped beyond its end becomes as long, but takes room only where it is written. */
static void allow_holes(HANDLE handle)
{
    DWORD done;
    DeviceIoControl(handle, FSCTL_SET_SPARSE, NULL, 0, NULL, 0, &done, NULL);
}

static void *map_file(size_t size, int protection, int fd, int64_t offset)
{
    HANDLE file = by_win_handle(fd);
    const bool writes = protection & PROT_WRITE;
    const uint64_t end = (uint64_t)offset + size;
    if (writes)
        allow_holes(file);
    HANDLE mapping =
        CreateFileMappingW(file, NULL, writes ? PAGE_READWRITE : PAGE_READONLY,
                           writes ? (DWORD)(end >> 32) : 0, writes ? (DWORD)end : 0, NULL);
    void *at = NULL;
    if (mapping) {
        at = MapViewOfFile(mapping, writes ? FILE_MAP_WRITE : FILE_MAP_READ,
                           (DWORD)((uint64_t)offset >> 32), (DWORD)offset, size);
        if (!at)
            by_win_fail();
        CloseHandle(mapping); /* the view keeps it */
    } else {
        by_win_fail();
    }
    return at ? at : MAP_FAILED;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, int64_t offset)
{
    if (!(flags & MAP_ANONYMOUS))
        return map_file(size, protection, fd, offset);
    void *pages = VirtualAlloc(at, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (pages)
        return pages;
    errno = ENOMEM;
    return MAP_FAILED;
}

int munmap(void *at, size_t size)
{
    MEMORY_BASIC_INFORMATION info;
    (void)size;
    if (!VirtualQuery(at, &info, sizeof info))
        return by_win_fail();
    const bool done =
        info.Type == MEM_PRIVATE ? VirtualFree(at, 0, MEM_RELEASE) : UnmapViewOfFile(at);
    return done ? 0 : by_win_fail();
}

/* Unlocking pages that are not locked gives them back. */
int madvise(void *at, size_t size, int advice)
{
    if (advice == MADV_DONTNEED)
        VirtualUnlock(at, size);
    return 0;
}
