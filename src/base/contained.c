/* Opens a file that a model names and refuses every path outside the model's folder. */
#include "base/fault.h"
#include "base/file.h"
#include "base/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#define LOCATION_MAX 4096u
#define OPEN_FLAGS   (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* ONNX Runtime marks data that lies in its own memory with this instead of a file name. */
static const char memory_mark[] = "*/_ORT_MEM_ADDR_/*";

static int refuse_location(struct baryon_error *err, const char *location, size_t size,
                           const char *what)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "location %s %s", by_quote_bytes(quoted, location, size), what);
    return by_err_hint(err, "use a path relative to the folder of the model");
}

static bool is_part(const char *part, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(part, text, length) == 0;
}

static const char *part_defect(const char *location, size_t size)
{
    for (size_t begin = 0, end; begin <= size; begin = end + 1) {
        const char *slash = memchr(location + begin, '/', size - begin);
        end = slash ? (size_t)(slash - location) : size;
        const char *part = location + begin;
        if (end == begin)
            return "has an empty part, must be parts joined by single '/'";
        if (is_part(part, end - begin, ".."))
            return "has a part '..', must stay in the folder of the model";
        if (is_part(part, end - begin, "."))
            return "has a part '.', must be plain names joined by '/'";
    }
    return NULL;
}

static bool has_drive(const char *location, size_t size)
{
    char letter = (char)(size >= 3 ? location[0] | 0x20 : 0);
    return letter >= 'a' && letter <= 'z' && location[1] == ':' && location[2] == '/';
}

static const char *location_defect(const char *location, size_t size)
{
    if (!size)
        return "is empty, must name a file";
    if (memchr(location, '\0', size))
        return "contains a NUL byte, must be a path";
    if (size >= LOCATION_MAX)
        return "is too long, must have fewer than 4096 bytes";
    if (is_part(location, size, memory_mark))
        return "refers to the memory of another program, must name a file";
    if (location[0] == '/')
        return "is an absolute path, must be relative to the folder of the model";
    if (memchr(location, '\\', size))
        return "contains a backslash, must be parts joined by '/'";
    if (has_drive(location, size))
        return "is an absolute path, must be relative to the folder of the model";
    return part_defect(location, size);
}

int by_location_check(const char *location, size_t size, struct baryon_error *err)
{
    const char *defect = location_defect(location, size);
    return defect ? refuse_location(err, location, size, defect) : 0;
}

/* One step of the walk. Linux says ENOTDIR for a link that should have been a folder. */
static int open_part(int folder, const char *name, int flags)
{
    struct stat st;
    int fd = openat(folder, name, flags | O_NOFOLLOW);
    if (fd >= 0 || errno != ENOTDIR)
        return fd;
    bool is_link = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    errno = is_link ? ELOOP : ENOTDIR;
    return -1;
}

int by_open_walk(int folder, const char *location)
{
    char name[LOCATION_MAX];
    int here = folder;
    for (;;) {
        const char *slash = strchr(location, '/');
        size_t length = slash ? (size_t)(slash - location) : strlen(location);
        memcpy(name, location, length);
        name[length] = '\0';
        int flags = slash ? O_PATH | O_DIRECTORY | O_CLOEXEC : OPEN_FLAGS;
        int next = open_part(here, name, flags);
        int saved = errno;
        if (here != folder)
            close(here);
        errno = saved;
        if (next < 0 || !slash)
            return next;
        here = next;
        location = slash + 1;
    }
}

#ifdef RESOLVE_BENEATH
/* -1 with ENOSYS or EPERM (a sandbox that does not know the call) asks for the walk. */
static int open_beneath(int folder, const char *location)
{
    struct open_how how = {
        .flags = OPEN_FLAGS,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = -1;
    /* EAGAIN: something was renamed meanwhile, and the kernel could not be sure. */
    for (int tries = 0; tries < 16; tries++) {
        fd = (int)syscall(SYS_openat2, folder, location, &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    return fd;
}
#else
static int open_beneath(int folder, const char *location)
{
    (void)folder;
    (void)location;
    errno = ENOSYS;
    return -1;
}
#endif

static int open_location(int folder, const char *location, bool allow_links)
{
    if (by_fault(BY_FAULT_IO))
        return -1;
    if (allow_links)
        return openat(folder, location, OPEN_FLAGS);
    int fd = open_beneath(folder, location);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = by_open_walk(folder, location);
    return fd;
}

static int refuse_open(const char *folder, const char *location, bool allow_links,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], base[BY_QUOTE_MAX];
    by_quote(quoted, location);
    switch (errno) {
    case ELOOP:
        if (allow_links)
            return by_fail_errno(err, BARYON_ERR_INPUT, "location %s cannot be opened", quoted);
        by_fail(err, BARYON_ERR_INPUT,
                "location %s is reached through a symbolic link, links are not followed", quoted);
        return by_err_hint(err, "follow links with --allow-links");
    case ENOENT:
        by_fail(err, BARYON_ERR_INPUT, "location %s: no such file in %s", quoted,
                by_quote(base, folder));
        return by_err_hint(err, "put the data files beside the model");
    case ENXIO:
        return by_fail(err, BARYON_ERR_INPUT,
                       "location %s is a socket or device, must be a regular file", quoted);
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return by_fail_errno(err, BARYON_ERR_IO, "location %s cannot be opened", quoted);
    default:
        return by_fail_errno(err, BARYON_ERR_INPUT, "location %s cannot be opened", quoted);
    }
}

/* The rules on the file itself, asked of the open descriptor. */
static int check_descriptor(int fd, const char *location, bool allow_links,
                            struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct stat st;
    by_quote(quoted, location);
    if (by_fault(BY_FAULT_IO) || fstat(fd, &st))
        return by_fail_errno(err, BARYON_ERR_IO, "location %s cannot be examined", quoted);
    if (!S_ISREG(st.st_mode))
        return by_fail(err, BARYON_ERR_INPUT, "location %s is %s, must be a regular file", quoted,
                       by_file_kind(st.st_mode));
    if (st.st_nlink > 1 && !allow_links) {
        by_fail(err, BARYON_ERR_INPUT, "location %s has %ju hard links, must have one", quoted,
                (uintmax_t)st.st_nlink);
        return by_err_hint(err, "accept it with --allow-links");
    }
    return 0;
}

int by_open_contained(const char *folder, const char *location, bool allow_links, int *fd,
                      struct baryon_error *err)
{
    if (by_location_check(location, strlen(location), err))
        return -1;
    int base = by_fault(BY_FAULT_IO) ? -1 : open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (base < 0) {
        char quoted[BY_QUOTE_MAX];
        return by_fail_errno(err, BARYON_ERR_IO, "folder %s cannot be opened",
                             by_quote(quoted, folder));
    }
    int opened = open_location(base, location, allow_links);
    if (opened < 0)
        refuse_open(folder, location, allow_links, err);
    close(base);
    if (opened < 0)
        return -1;
    if (check_descriptor(opened, location, allow_links, err)) {
        close(opened);
        return -1;
    }
    *fd = opened;
    return 0;
}
