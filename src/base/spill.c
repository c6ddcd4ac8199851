/* Moves big payloads into a mapped temporary file. */
#include "base/spill.h"

#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *by_spill_folder(void)
{
    const char *set = getenv("TMPDIR");
    return set && *set ? set : "/var/tmp";
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int by_spill_open(struct by_spill *spill, const char *folder, size_t room, struct baryon_error *err)
{
    *spill = (struct by_spill){.file.fd = -1, .file.is_own = true, .room = room};
    snprintf(spill->file.path, sizeof spill->file.path, "%s", folder);
    if (by_nameless_open(&spill->file.fd, folder, err) < 0)
        return -1;
    void *at = by_fault(BY_FAULT_IO) ? MAP_FAILED
                                     : mmap(NULL, room, PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_NORESERVE, spill->file.fd, 0);
    if (at == MAP_FAILED) {
        by_fail_errno(err, BARYON_ERR_IO, "a temporary file cannot be mapped (%zu bytes)", room);
        close(spill->file.fd);
        *spill = (struct by_spill){.file.fd = -1};
        return by_err_file(err, folder);
    }
    spill->file.bytes = at;
    return 0;
}

int by_spill_add(struct by_spill *spill, size_t size, uint8_t **bytes, struct baryon_error *err)
{
    const size_t page = page_size(), begin = (spill->file.size + page - 1) / page * page;
    *bytes = NULL;
    if (!spill->file.bytes || begin > spill->room || size > spill->room - begin)
        return 0;
    int failed =
        by_fault(BY_FAULT_IO) ? EIO : posix_fallocate(spill->file.fd, (off_t)begin, (off_t)size);
    if (failed) {
        errno = failed;
        by_fail_errno(err, BARYON_ERR_IO, "no space for a temporary file (%zu bytes)", size);
        return by_err_file(err, spill->file.path);
    }
    spill->file.size = begin + size;
    *bytes = (uint8_t *)(uintptr_t)spill->file.bytes + begin;
    return 0;
}

bool by_spill_has(const struct by_spill *spill, const uint8_t *bytes)
{
    return spill->file.bytes && bytes >= spill->file.bytes &&
           bytes < spill->file.bytes + spill->file.size;
}

void by_spill_close(struct by_spill *spill)
{
    if (!spill->file.bytes)
        return;
    munmap((void *)(uintptr_t)spill->file.bytes, spill->room);
    close(spill->file.fd);
    *spill = (struct by_spill){.file.fd = -1};
}
