/* Starts and ends the MPI ranks of one run, and passes messages, errors and pulses between them. */
#include "cli/ranks.h"

#include "base/file.h"
#include "base/format.h"
#include "base/par.h"
#include "base/str.h"
#include "base/thread.h"
#include "cli/mpi_find.h"
#include "cli/tell.h"
#include "cli/term.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PULSE_SECONDS 0.5
#define GRACE_SECONDS 10.0 /* that ranks have to stop in */
#define CHUNK         (1 << 20)

enum tag { TAG_DATA = 1, TAG_PULSE, TAG_ERROR };

struct pulse {
    uint64_t done, total;
    int32_t stop, bye;
};

/* What one rank knows of another. */
struct peer {
    double heard;
    uint64_t done, total;
    bool bye;
};

struct by_ranks {
    const struct baryon_mpi *mpi;
    int rank, size;
    void (*on_wait)(void *context);
    void *context;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of all calls of MPI, and of what follows */
    struct peer *peers;   /* of rank 0: all; of others: rank 0 */
    struct pulse own;
    bool stop, closing;
    double stop_since;
    bool has_error; /* of rank 0: another one's */
    int error_rank;
    struct baryon_error error;
};

static void pause_for(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static int mpi_failed(const struct by_ranks *ranks, int code, int other, struct baryon_error *err)
{
    char text[200];
    ranks->mpi->text(code, text, sizeof text);
    return by_fail(err, BARYON_ERR_IO, "MPI between rank %d and rank %d: %s", ranks->rank, other,
                   text);
}

/* Ends all ranks at once; files that were being written go. */
static void abort_all(const struct by_ranks *ranks, const char *text)
{
    fprintf(stderr, "baryon: %s\n", text);
    fflush(stderr);
    by_writer_end();
    ranks->mpi->abort(baryon_code_exit(BARYON_ERR_IO));
    _exit(baryon_code_exit(BARYON_ERR_IO));
}

static void lost(const struct by_ranks *ranks, int rank, const char *why)
{
    char text[300];
    by_format(text, sizeof text,
              "rank %d of %d %s: it ended or hangs; finished shards and checkpoints are kept, run "
              "the same command to resume",
              rank, ranks->size, why);
    abort_all(ranks, text);
}

/* --- The pulse. All with the lock. --- */

static void raise_stop(struct by_ranks *ranks)
{
    if (!ranks->stop)
        ranks->stop_since = by_term_seconds();
    ranks->stop = true;
}

static void note_pulse(struct by_ranks *ranks, int from, const struct pulse *pulse)
{
    struct peer *peer = &ranks->peers[from];
    peer->heard = by_term_seconds();
    peer->done = pulse->done;
    peer->total = pulse->total;
    peer->bye |= pulse->bye;
    if (pulse->stop)
        raise_stop(ranks);
}

static void take_error(struct by_ranks *ranks, int from)
{
    struct baryon_error error;
    if (ranks->mpi->receive(from, TAG_ERROR, &error, sizeof error))
        return;
    if (!ranks->has_error) {
        ranks->error = error;
        ranks->error_rank = from;
    }
    ranks->has_error = true;
    raise_stop(ranks);
}

static void listen_to_all(struct by_ranks *ranks)
{
    struct pulse pulse;
    int from, waiting;
    for (from = -1; !ranks->mpi->probe(&from, TAG_PULSE, &waiting) && waiting >= 0; from = -1)
        if (waiting == sizeof pulse && !ranks->mpi->receive(from, TAG_PULSE, &pulse, sizeof pulse))
            note_pulse(ranks, from, &pulse);
        else
            break;
    for (from = -1; !ranks->mpi->probe(&from, TAG_ERROR, &waiting) && waiting >= 0; from = -1)
        take_error(ranks, from);
}

static void send_pulse(struct by_ranks *ranks, int to)
{
    struct pulse pulse = ranks->own;
    pulse.stop = ranks->stop;
    if (ranks->mpi->send(to, TAG_PULSE, &pulse, sizeof pulse))
        lost(ranks, to, "cannot be reached");
}

static bool speaks_to(const struct by_ranks *ranks, int other)
{
    return other != ranks->rank && (ranks->rank == 0 || other == 0);
}

static void speak_to_all(struct by_ranks *ranks)
{
    for (int to = 0; to < ranks->size; to++)
        if (speaks_to(ranks, to))
            send_pulse(ranks, to);
}

/* The first whose end is waited for, -1 when there is none. */
static int late(const struct by_ranks *ranks)
{
    for (int i = 0; i < ranks->size; i++)
        if (speaks_to(ranks, i) && !ranks->peers[i].bye)
            return i;
    return -1;
}

/* A rank has failed, and another is at something that takes long: it does not wait for that. */
static void end_when_late(const struct by_ranks *ranks)
{
    char text[sizeof ranks->error + 80], error[sizeof ranks->error];
    if (ranks->rank || !ranks->stop || by_term_seconds() - ranks->stop_since < GRACE_SECONDS)
        return;
    if (!ranks->has_error)
        lost(ranks, late(ranks), "did not stop");
    baryon_error_format(&ranks->error, error, sizeof error);
    by_format(text, sizeof text, "rank %d of %d: %s", ranks->error_rank, ranks->size, error);
    abort_all(ranks, text);
}

static void look_for_lost(const struct by_ranks *ranks)
{
    const double now = by_term_seconds();
    char why[80];
    by_format(why, sizeof why, "sent nothing for %.0f seconds", BY_RANKS_SILENCE);
    for (int i = 0; i < ranks->size; i++)
        if (speaks_to(ranks, i) && !ranks->peers[i].bye &&
            now - ranks->peers[i].heard > BY_RANKS_SILENCE)
            lost(ranks, i, why);
}

static void *beat(void *argument)
{
    struct by_ranks *ranks = argument;
    for (bool closing = false; !closing; pause_for(PULSE_SECONDS)) {
        pthread_mutex_lock(&ranks->lock);
        closing = ranks->closing;
        if (!closing) {
            listen_to_all(ranks);
            speak_to_all(ranks);
            look_for_lost(ranks);
            end_when_late(ranks);
        }
        pthread_mutex_unlock(&ranks->lock);
        if (closing)
            break;
    }
    return NULL;
}

/* --- Opening --- */

/* A message of MPICH's mpirun about a rank that died has its process alone. */
static void tell_process(const struct by_ranks *ranks, const struct by_log *log)
{
    char host[256] = "";
    if (strcmp(ranks->mpi->flavour, "mpich") != 0)
        return;
    gethostname(host, sizeof host - 1);
    by_log(log, BY_LOG_NOTICE, "rank %d of %d is process %ld on %s", ranks->rank, ranks->size,
           (long)getpid(), host);
}

static int load_mpi(const struct baryon_mpi **mpi, struct baryon_error *err)
{
    const char *const *wanted = by_mpi_wanted();
    struct baryon_error first;
    *mpi = NULL;
    for (size_t i = 0; wanted[i]; i++) {
        if (by_mpi_load(mpi, wanted[i], i ? NULL : &first) == 0)
            return 0;
    }
    if (!wanted[0])
        return 0;
    by_err_clear(err);
    by_fail(err, BARYON_ERR_DEPENDENCY, "started as one of several ranks, but %s", first.message);
    return by_err_hint(err,
                       "see docs/many-machines.md; with BARYON_MPI=none every rank works alone");
}

static int start_mpi(struct by_ranks *ranks, const struct by_log *log, struct baryon_error *err)
{
    const int code = ranks->mpi->start(&ranks->rank, &ranks->size);
    const int expected = by_mpi_expected();
    if (code)
        return by_fail(err, BARYON_ERR_DEPENDENCY, "MPI cannot be started (MPI error %d)", code);
    if (expected && expected != ranks->size) {
        by_fail(err, BARYON_ERR_DEPENDENCY,
                "started as one of %d ranks, but the %s library finds %d: the launcher belongs to "
                "another MPI",
                expected, ranks->mpi->flavour, ranks->size);
        return by_err_hint(err, "set BARYON_MPI to the MPI of the launcher: openmpi or mpich");
    }
    ranks->peers = by_alloc_zero((size_t)ranks->size, sizeof *ranks->peers, err);
    if (!ranks->peers)
        return -1;
    for (int i = 0; i < ranks->size; i++)
        ranks->peers[i].heard = by_term_seconds();
    tell_process(ranks, log);
    if (ranks->size > 1 &&
        by_thread_start(&ranks->thread, beat, ranks, "the thread of MPI", err) < 0)
        return -1;
    ranks->started = ranks->size > 1;
    return 0;
}

int by_ranks_open(struct by_ranks **out, const struct by_log *log, struct baryon_error *err)
{
    const struct baryon_mpi *mpi;
    *out = NULL;
    if (load_mpi(&mpi, err) < 0)
        return -1;
    if (!mpi)
        return 0;
    struct by_ranks *ranks = by_alloc_zero(1, sizeof *ranks, err);
    if (!ranks)
        return -1;
    ranks->mpi = mpi;
    pthread_mutex_init(&ranks->lock, NULL);
    if (start_mpi(ranks, log, err) < 0) {
        if (ranks->size > 1)
            abort_all(ranks, err->message);
        by_free(ranks->peers);
        by_free(ranks);
        return -1;
    }
    *out = ranks;
    return 0;
}

void by_ranks_warn_alone(const struct by_log *log)
{
    const int together = by_mpi_strangers();
    if (together > 1)
        by_log(
            log, BY_LOG_WARNING,
            "srun started %d processes without MPI, and each one runs all samples: pass --mpi=pmix "
            "or --mpi=pmi2 to srun to make them ranks, or set BARYON_MPI=none if this is intended",
            together);
}

size_t by_ranks_rank(const struct by_ranks *ranks)
{
    return (size_t)ranks->rank;
}

size_t by_ranks_size(const struct by_ranks *ranks)
{
    return (size_t)ranks->size;
}

/* --- Talking --- */

static int cancelled(struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_CANCELLED, "stopped");
    return by_err_hint(err, "run the same command to resume");
}

bool by_ranks_stopping(struct by_ranks *ranks)
{
    pthread_mutex_lock(&ranks->lock);
    const bool stop = ranks->stop;
    pthread_mutex_unlock(&ranks->lock);
    return stop;
}

int by_ranks_send(struct by_ranks *ranks, size_t to, const void *bytes, size_t size,
                  struct baryon_error *err)
{
    for (size_t done = 0; done < size;) {
        const int part = size - done < CHUNK ? (int)(size - done) : CHUNK;
        if (by_ranks_stopping(ranks))
            return cancelled(err);
        pthread_mutex_lock(&ranks->lock);
        const int code = ranks->mpi->send((int)to, TAG_DATA, (const char *)bytes + done, part);
        pthread_mutex_unlock(&ranks->lock);
        if (code)
            return mpi_failed(ranks, code, (int)to, err);
        done += (size_t)part;
    }
    return 0;
}

/* Gives its turn away while there is nothing, so that pulses go on. */
static int receive_part(struct by_ranks *ranks, int from, void *bytes, int size,
                        struct baryon_error *err)
{
    double wait = 1e-4;
    for (;;) {
        int waiting = -1, code, at = from;
        if (by_ranks_stopping(ranks) || by_term_stopping())
            return cancelled(err);
        pthread_mutex_lock(&ranks->lock);
        code = ranks->mpi->probe(&at, TAG_DATA, &waiting);
        if (!code && waiting == size)
            code = ranks->mpi->receive(from, TAG_DATA, bytes, size);
        pthread_mutex_unlock(&ranks->lock);
        if (code)
            return mpi_failed(ranks, code, from, err);
        if (waiting == size)
            return 0;
        if (waiting >= 0)
            return by_fail(err, BARYON_ERR_INTERNAL, "%d bytes from rank %d, expected %d", waiting,
                           from, size);
        if (ranks->on_wait)
            ranks->on_wait(ranks->context);
        pause_for(wait);
        wait = wait < 0.02 ? wait * 1.5 : wait;
    }
}

int by_ranks_receive(struct by_ranks *ranks, size_t from, void *bytes, size_t size,
                     struct baryon_error *err)
{
    for (size_t done = 0; done < size;) {
        const int part = size - done < CHUNK ? (int)(size - done) : CHUNK;
        if (receive_part(ranks, (int)from, (char *)bytes + done, part, err) < 0)
            return -1;
        done += (size_t)part;
    }
    return 0;
}

void by_ranks_on_wait(struct by_ranks *ranks, void (*call)(void *context), void *context)
{
    ranks->on_wait = call;
    ranks->context = context;
}

void by_ranks_progress(struct by_ranks *ranks, uint64_t *done, uint64_t *total)
{
    pthread_mutex_lock(&ranks->lock);
    ranks->own.done = *done;
    ranks->own.total = *total;
    if (ranks->rank == 0)
        for (int i = 1; i < ranks->size; i++) {
            *done += ranks->peers[i].done;
            *total += ranks->peers[i].total;
        }
    pthread_mutex_unlock(&ranks->lock);
}

/* --- Threads --- */

struct place {
    char host[128];
    cpu_set_t may;    /* processors that the rank may use */
    uint32_t threads; /* that it would take, were it alone */
};

/*
 * Each processor is shared by the ranks that may use it, whether mpirun bound them or not. A quota
 * of the container holds for all of them.
 */
static unsigned share_of(const struct place *places, size_t count, size_t own)
{
    const struct place *place = &places[own];
    double share = 0;
    int cpus = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        unsigned users = 0;
        if (!CPU_ISSET(cpu, &place->may))
            continue;
        cpus++;
        for (size_t i = 0; i < count; i++)
            users += !strcmp(places[i].host, place->host) && CPU_ISSET(cpu, &places[i].may);
        share += 1.0 / users;
    }
    if (cpus)
        share *= (double)place->threads / cpus;
    return share >= 1 ? (unsigned)(share + 1e-6) : 1;
}

static int share_out(struct by_ranks *ranks, struct place *places, unsigned *threads,
                     struct baryon_error *err)
{
    const size_t size = (size_t)ranks->size;
    for (size_t i = 1; i < size; i++)
        if (by_ranks_receive(ranks, i, &places[i], sizeof *places, err) < 0)
            return -1;
    *threads = share_of(places, size, 0);
    for (size_t i = 1; i < size; i++) {
        const uint32_t share = share_of(places, size, i);
        if (by_ranks_send(ranks, i, &share, sizeof share, err) < 0)
            return -1;
    }
    return 0;
}

int by_ranks_threads(struct by_ranks *ranks, unsigned *threads, struct baryon_error *err)
{
    uint32_t share;
    struct place *places = by_alloc_zero((size_t)ranks->size, sizeof *places, err);
    if (!places)
        return -1;
    gethostname(places[0].host, sizeof places[0].host - 1);
    places[0].threads = by_cpu_count();
    if (sched_getaffinity(0, sizeof places[0].may, &places[0].may))
        CPU_ZERO(&places[0].may);
    int status = 0;
    if (ranks->rank == 0)
        status = share_out(ranks, places, threads, err);
    else if ((status = by_ranks_send(ranks, 0, places, sizeof *places, err)) == 0 &&
             (status = by_ranks_receive(ranks, 0, &share, sizeof share, err)) == 0)
        *threads = share;
    by_free(places);
    return status;
}

/* --- Closing --- */

/* Messages that nobody wants any more, so that no sender waits for ever. */
static void drop_data(const struct by_ranks *ranks)
{
    static char bytes[CHUNK];
    int from = -1, waiting;
    while (!ranks->mpi->probe(&from, TAG_DATA, &waiting) && waiting >= 0 && waiting <= CHUNK) {
        if (ranks->mpi->receive(from, TAG_DATA, bytes, waiting))
            return;
        from = -1;
    }
}

/* Others wait for rank 0's, rank 0 for those of all. */
static void wait_for_bye(struct by_ranks *ranks)
{
    double next = by_term_seconds();
    while (late(ranks) >= 0) {
        listen_to_all(ranks);
        drop_data(ranks);
        if (ranks->rank == 0 && by_term_seconds() >= next) {
            speak_to_all(ranks);
            next = by_term_seconds() + PULSE_SECONDS;
        }
        look_for_lost(ranks);
        end_when_late(ranks);
        pause_for(0.005);
    }
}

static void send_error(struct by_ranks *ranks, struct baryon_error *err)
{
    if (ranks->mpi->send(0, TAG_ERROR, err, sizeof *err))
        lost(ranks, 0, "cannot be reached");
    by_fail(err, err->code, "%s", "");
}

/* Who was only told to stop has nothing to say. */
static int settle_rank_error(struct by_ranks *ranks, int status, bool told,
                             struct baryon_error *err)
{
    if (!ranks->has_error || (status < 0 && !told))
        return status;
    *err = ranks->error;
    return by_err_in(err, "rank %d of %d", ranks->error_rank, ranks->size);
}

/* The last pulse of each rank. mpirun stops all as soon as one has ended with an error: so no rank
 * ends before rank 0 has said what it was. */
static int say_bye(struct by_ranks *ranks, int status, bool told, bool json,
                   struct baryon_error *err)
{
    if (ranks->rank) {
        ranks->own.bye = 1;
        send_pulse(ranks, 0);
        wait_for_bye(ranks);
        return told ? 0 : status;
    }
    wait_for_bye(ranks);
    status = settle_rank_error(ranks, status, told, err);
    if (status < 0) {
        by_tell_error(err, json);
        by_fail(err, err->code, "%s", "");
    }
    ranks->own.bye = 1;
    speak_to_all(ranks);
    return status;
}

int by_ranks_close(struct by_ranks *ranks, int status, bool json, struct baryon_error *err)
{
    if (!ranks)
        return status;
    pthread_mutex_lock(&ranks->lock);
    ranks->closing = true;
    pthread_mutex_unlock(&ranks->lock);
    if (ranks->started)
        pthread_join(ranks->thread, NULL);
    const bool told =
        status < 0 && err->code == BARYON_ERR_CANCELLED && ranks->stop && !by_term_stopping();
    if (status < 0 && !told && ranks->rank)
        send_error(ranks, err);
    if (status < 0)
        raise_stop(ranks);
    status = say_bye(ranks, status, told, json, err);
    ranks->mpi->finish();
    pthread_mutex_destroy(&ranks->lock);
    by_free(ranks->peers);
    by_free(ranks);
    return status;
}
