/* Several files that get their names together, or none of them. */
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
 * Waits for others with the same last file, or returns false where it is not to wait. Without
 * locks here, there is nobody to wait for. Signals are held from before the lock's file is made
 * until it is removed.
 */
static bool begin_turn(struct turn *turn, int folder, const char *base, bool waits)
{
    turn->folder = folder;
    by_temp_name(turn->name, base, BY_TEMP_LOCK);
    for (;;) {
        by_temp_hold_signals(&turn->signals);
        turn->fd =
            openat(turn->folder, turn->name, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        bool busy =
            turn->fd >= 0 && flock(turn->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (turn->fd < 0 || (!busy && by_temp_is_named(turn->folder, turn->name, turn->fd)))
            return true;
        by_temp_release_signals(&turn->signals);
        if (busy && waits)
            wait_for_lock(turn->fd);
        close(turn->fd); /* the one before us removed it when it was done */
        if (busy && !waits)
            return false;
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

/* --- Old files --- */

static bool exists(const struct by_temp_part *part)
{
    struct stat st;
    return fstatat(part->temp->folder, part->base, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Gives the old file the name that the record has for it. */
static int set_aside(struct by_temp_part *part)
{
    if (by_fault(BY_FAULT_IO) || by_temp_move(part->temp->folder, part->base, part->aside))
        return -1;
    part->is_aside = true;
    return 0;
}

/* What was there before is there again. */
static void undo(struct by_temp_part *part)
{
    int folder = part->temp->folder;
    bool placed = !part->temp->name[0] && by_temp_is_named(folder, part->base, part->temp->fd);
    if (part->is_aside)
        renameat(folder, part->aside, folder, part->base);
    else if (placed)
        unlinkat(folder, part->base, 0);
}

/* The next in turn may lock what is in place now: it is a temporary file no more. */
static void drop_old(struct by_temp_part *part)
{
    if (part->is_aside)
        unlinkat(part->temp->folder, part->aside, 0);
    flock(part->temp->fd, LOCK_UN);
}

/* --- New files --- */

static int put_in_place(struct by_temp_part *part, bool exclusive, bool is_last)
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
    while (done < count && put_in_place(&parts[done], exclusive, done + 1 == count) == 0)
        done++;
    return done;
}

/* Nothing moves before the record says where it was. */
static size_t replace_all(struct by_temp_part *parts, size_t count, bool exclusive, bool keep_last)
{
    const struct by_temp_part *last = &parts[count - 1];
    const bool records = !exclusive && any_exists(parts, count - 1);
    if (records && by_temp_record_write(parts, count))
        return count - 1;
    const size_t done = place_all(parts, count, exclusive, keep_last);
    const int saved = errno;
    for (size_t i = count; i-- > 0;)
        if (done < count)
            undo(&parts[i]);
        else
            drop_old(&parts[i]);
    if (records)
        by_temp_record_remove(last->temp->folder, last->base);
    errno = saved;
    return done;
}

size_t by_temp_rename_all(struct by_temp_part *parts, size_t count, bool exclusive, bool keep_last)
{
    const struct by_temp_part *last = &parts[count - 1];
    struct turn turn;
    for (size_t i = 0; i < count; i++)
        by_temp_aside_name(parts[i].aside, parts[i].base, last->base);
    (void)begin_turn(&turn, last->temp->folder, last->base, true);
    const size_t done = by_temp_record_settle(last->temp->folder, last->base)
                            ? count - 1
                            : replace_all(parts, count, exclusive, keep_last);
    const int saved = errno;
    end_turn(&turn);
    errno = saved;
    return done;
}

void by_temp_recover(int folder, const char *base)
{
    struct turn turn;
    char name[BY_TEMP_NAME_MAX];
    by_temp_name(name, base, BY_TEMP_RECORD);
    if (faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) ||
        !begin_turn(&turn, folder, base, false))
        return;
    (void)by_temp_record_settle(folder, base);
    end_turn(&turn);
}
