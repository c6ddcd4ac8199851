/* Creates, locks and removes temporary files, and cleans up those of killed processes. */
#include "base/tempfile.h"

#include "base/fault.h"
#include "base/file.h"
#include "base/map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* Without locks (some network file systems) only age tells what was left over. */
#define STALE_SECONDS (24 * 60 * 60)

enum slot_state { SLOT_FREE, SLOT_CLAIMED, SLOT_LIVE };

/* Fixed storage: a signal handler walks it. */
static struct {
    _Atomic int state;
    pid_t owner;
    int folder;
    char name[BY_TEMP_NAME_MAX];
} slots[128];

#define SLOT_COUNT ((int)(sizeof slots / sizeof *slots))

static atomic_bool ending; /* all files are being removed, and the process ends */

/* Before the file is created: a handler in another thread waits until it is listed. */
static int list_claim(void)
{
    for (int i = 0; i < SLOT_COUNT; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_CLAIMED))
            continue;
        slots[i].owner = getpid();
        return i;
    }
    return -1;
}

static void list_add(const struct by_temp *temp)
{
    slots[temp->slot].folder = temp->folder;
    memcpy(slots[temp->slot].name, temp->name, sizeof slots[temp->slot].name);
    atomic_store(&slots[temp->slot].state, SLOT_LIVE);
}

/* While the file is renamed or removed: its name may be somebody else's at any time. */
static void list_hold(const struct by_temp *temp)
{
    if (temp->slot >= 0)
        atomic_store(&slots[temp->slot].state, SLOT_CLAIMED);
}

static void list_remove(struct by_temp *temp)
{
    if (temp->slot >= 0)
        atomic_store(&slots[temp->slot].state, SLOT_FREE);
    temp->slot = -1;
}

/* In all, of a millisecond: after a fork the threads of some slots are gone. */
#define WAITS 1000

static void wait_for_claimed(int slot, int *waits)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    while (atomic_load(&slots[slot].state) == SLOT_CLAIMED && (*waits)++ < WAITS)
        nanosleep(&moment, NULL);
}

void by_writer_remove_all(void)
{
    int saved = errno;
    int waits = 0;
    pid_t self = getpid();
    for (int i = 0; i < SLOT_COUNT; i++) {
        wait_for_claimed(i, &waits);
        if (atomic_load(&slots[i].state) == SLOT_LIVE && slots[i].owner == self)
            unlinkat(slots[i].folder, slots[i].name, 0);
    }
    errno = saved;
}

void by_writer_end(void)
{
    atomic_store(&ending, true);
    by_writer_remove_all();
}

void by_temp_name(char name[BY_TEMP_NAME_MAX], const char *base, int number)
{
    snprintf(name, BY_TEMP_NAME_MAX, ".baryon-%016" PRIx64 "-%d", by_hash(base, strlen(base), 0),
             number);
}

bool by_temp_is_named(int folder, const char *name, int fd)
{
    struct stat there, here;
    return fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &here) == 0 &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

static bool is_old(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && time(NULL) - st.st_mtime > STALE_SECONDS;
}

/* Removes the file of that name if nobody has it locked. */
static void remove_stale(int folder, const char *name)
{
    int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    bool stale = locked || (errno != EWOULDBLOCK && is_old(fd));
    if (stale && by_temp_is_named(folder, name, fd))
        unlinkat(folder, name, 0);
    close(fd);
}

/*
 * Between creating and locking, somebody may take the new file for a stale one:
 * then it is gone or being removed, and EEXIST asks the caller to go on.
 */
static int create_locked(int folder, const char *name)
{
    if (by_fault(BY_FAULT_IO))
        return -1;
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    bool busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!busy && by_temp_is_named(folder, name, fd))
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

void by_temp_hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void by_temp_release_signals(const sigset_t *before)
{
    int saved = errno;
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = saved;
}

static int create_listed(struct by_temp *temp, int folder, const char *base,
                         struct baryon_error *err)
{
    temp->slot = list_claim();
    if (temp->slot < 0)
        return by_fail(err, BARYON_ERR_INTERNAL, "%d outputs are open, the limit", SLOT_COUNT);
    if (atomic_load(&ending))
        return by_fail(err, BARYON_ERR_CANCELLED, "is not written, since the program ends");
    for (int number = 0; number < BY_TEMP_NAMES && temp->fd < 0; number++) {
        by_temp_name(temp->name, base, number);
        temp->fd = create_locked(folder, temp->name);
        if (temp->fd < 0 && errno != EEXIST)
            return by_fail_errno(err, BARYON_ERR_IO, "cannot be written in its folder");
    }
    if (temp->fd < 0)
        return by_fail(err, BARYON_ERR_IO, "is already being written by %d other processes",
                       BY_TEMP_NAMES);
    list_add(temp);
    return 0;
}

/* A signal between creating and listing would leave the file over: in this thread it is held, in
 * others its handler waits. */
int by_temp_open(struct by_temp *temp, int folder, const char *base, struct baryon_error *err)
{
    sigset_t before;
    *temp = (struct by_temp){.fd = -1, .folder = folder, .slot = -1};
    by_temp_recover(folder, base);
    for (int number = 0; number <= BY_TEMP_LOCK; number++) {
        by_temp_name(temp->name, base, number);
        remove_stale(folder, temp->name);
    }
    by_temp_hold_signals(&before);
    int status = create_listed(temp, folder, base, err);
    if (status < 0)
        list_remove(temp);
    by_temp_release_signals(&before);
    return status;
}

int by_temp_move(int folder, const char *from, const char *to)
{
    int status = renameat2(folder, from, folder, to, RENAME_NOREPLACE);
    if (status == 0 || (errno != EINVAL && errno != ENOSYS))
        return status;
    /* A file system that cannot rename without replacing. */
    if (linkat(folder, from, folder, to, 0))
        return -1;
    unlinkat(folder, from, 0);
    return 0;
}

static int rename_held(struct by_temp *temp, const char *base, bool exclusive)
{
    if (!by_temp_is_named(temp->folder, temp->name, temp->fd)) {
        errno = ENOENT; /* removed by a signal handler: the name may be another's by now */
        return -1;
    }
    return exclusive ? by_temp_move(temp->folder, temp->name, base)
                     : renameat(temp->folder, temp->name, temp->folder, base);
}

int by_temp_rename(struct by_temp *temp, const char *base, bool exclusive)
{
    sigset_t before;
    if (by_fault(BY_FAULT_IO))
        return -1;
    by_temp_hold_signals(&before);
    list_hold(temp);
    int status = rename_held(temp, base, exclusive);
    list_remove(temp);
    by_temp_release_signals(&before);
    if (status == 0)
        temp->name[0] = '\0';
    return status;
}

static void close_held(struct by_temp *temp)
{
    if (temp->fd < 0)
        return;
    if (temp->name[0] && by_temp_is_named(temp->folder, temp->name, temp->fd))
        unlinkat(temp->folder, temp->name, 0);
    close(temp->fd);
    temp->fd = -1;
}

void by_temp_close(struct by_temp *temp)
{
    sigset_t before;
    by_temp_hold_signals(&before);
    list_hold(temp);
    close_held(temp);
    list_remove(temp);
    by_temp_release_signals(&before);
}
