/* Renames a group of temporary files so that all of them appear, or none. */
#include "base/fault.h"
#include "base/file.h"
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* Held while files of one group get their names, so that two groups never mix. */
struct turn {
    int folder, fd;
    char name[BY_TEMP_NAME_MAX];
    sigset_t signals; /* as they were before */
};

/* Signals may end the process while it waits: the lock's file is another's to remove. */
static void wait_for_lock(int fd)
{
    while (flock(fd, LOCK_EX) && errno == EINTR)
        continue;
}

/*
 * Waits for others with the same last file. Without locks here, there is nobody to wait
 * for. Signals are held from before the lock's file is made until it is removed.
 */
static void begin_turn(struct turn *turn, const struct by_temp_part *last)
{
    turn->folder = last->temp->folder;
    by_temp_name(turn->name, last->base, BY_TEMP_LOCK);
    for (;;) {
        by_temp_hold_signals(&turn->signals);
        turn->fd =
            openat(turn->folder, turn->name, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        bool busy =
            turn->fd >= 0 && flock(turn->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (turn->fd < 0 || (!busy && by_temp_is_named(turn->folder, turn->name, turn->fd)))
            return;
        by_temp_release_signals(&turn->signals);
        if (busy)
            wait_for_lock(turn->fd);
        close(turn->fd); /* the one before us removed it when it was done */
    }
}

static void end_turn(struct turn *turn)
{
    if (turn->fd >= 0) {
        unlinkat(turn->folder, turn->name, 0);
        close(turn->fd);
    }
    by_temp_release_signals(&turn->signals);
}

static bool exists(const struct by_temp_part *part)
{
    struct stat st;
    return fstatat(part->temp->folder, part->base, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Locks the old file, so that no other run takes it for one that was left behind. Where
 * it may not be read, it can be neither locked here nor found stale by those who may not either.
 */
static void lock_old(struct by_temp_part *part)
{
    part->old =
        openat(part->temp->folder, part->base, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (part->old >= 0)
        flock(part->old, LOCK_EX | LOCK_NB);
}

/*
 * Gives the old file a temporary name, under which a later run finds and removes it. No
 * writer makes a file of such a name: what is there when all is done is the old file, or nothing.
 */
static int set_aside(struct by_temp_part *part)
{
    int folder = part->temp->folder;
    bool failed = by_fault(BY_FAULT_IO);
    lock_old(part);
    for (int number = BY_TEMP_LOCK + 1; number < BY_TEMP_NUMBERS && !failed; number++) {
        by_temp_name(part->aside, part->base, number);
        if (by_temp_move(folder, part->base, part->aside) == 0)
            return 0;
        failed = errno != EEXIST;
    }
    part->aside[0] = '\0';
    return -1;
}

/* What was there before is there again. */
static void undo(struct by_temp_part *part)
{
    int folder = part->temp->folder;
    bool placed = !part->temp->name[0] && by_temp_is_named(folder, part->base, part->temp->fd);
    if (part->aside[0])
        renameat(folder, part->aside, folder, part->base);
    else if (placed)
        unlinkat(folder, part->base, 0);
    if (part->old >= 0)
        close(part->old);
}

/* The next in turn may lock what is in place now: it is a temporary file no more. */
static void leave_temp_part(struct by_temp_part *part)
{
    if (part->aside[0])
        unlinkat(part->temp->folder, part->aside, 0);
    if (part->old >= 0)
        close(part->old);
    flock(part->temp->fd, LOCK_UN);
}

static int place_temp_part(struct by_temp_part *part, bool exclusive, bool is_last)
{
    if (!exclusive && !is_last && exists(part) && set_aside(part))
        return -1;
    return by_temp_rename(part->temp, part->base, exclusive);
}

static bool any_exists(const struct by_temp_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (exists(&parts[i]))
            return true;
    return false;
}

/* The old last file goes first when it may name one that is about to change. */
static size_t place_all(struct by_temp_part *parts, size_t count, bool exclusive, bool keep_last)
{
    struct by_temp_part *last = &parts[count - 1];
    size_t done = 0;
    if (!exclusive && !keep_last && exists(last) && any_exists(parts, count - 1) && set_aside(last))
        return count - 1;
    while (done < count && place_temp_part(&parts[done], exclusive, done + 1 == count) == 0)
        done++;
    return done;
}

size_t by_temp_rename_all(struct by_temp_part *parts, size_t count, bool exclusive, bool keep_last)
{
    struct turn turn;
    for (size_t i = 0; i < count; i++)
        parts[i].old = -1;
    begin_turn(&turn, &parts[count - 1]);
    size_t done = place_all(parts, count, exclusive, keep_last);
    int saved = errno;
    for (size_t i = count; i-- > 0;)
        if (done < count)
            undo(&parts[i]);
        else
            leave_temp_part(&parts[i]);
    end_turn(&turn);
    errno = saved;
    return done;
}
