/* Reads the next sample on a thread of its own while the caller uses the current one. */
#include "input/ahead.h"

#include "base/thread.h"

#include <string.h>
#include <time.h>

/* Samples that are read quicker than this are not worth the way to the thread and back. */
#define WORTH_SECONDS 50e-6

struct note {
    enum by_log_level level;
    const char *text;
};

/* A sample with all that happened while it was read. */
struct slot {
    size_t index; /* BY_AHEAD_NONE: empty */
    struct by_sample sample;
    int status;
    struct baryon_error error;
    struct by_arena arena; /* of the notes */
    struct {
        struct note *at;
        size_t count, cap;
    } notes;
    size_t total, skipped; /* of the input, afterwards */
    double seconds;
};

struct by_ahead {
    struct by_input *input;
    const struct by_log *log; /* the input's own: where notes go in the end */
    struct by_log keep;       /* what the input has meanwhile */
    struct slot slots[2];
    struct slot *held, *other; /* the caller has the first, the second is read */
    size_t total, skipped;
    pthread_t thread;
    bool started, failed_to_start;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct slot *work; /* what the thread has to read or is reading */
    bool closing;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Called by whoever reads `other`: nobody else looks at it then. */
static void keep_note(void *context, enum by_log_level level, const char *text)
{
    struct slot *slot = ((struct by_ahead *)context)->other;
    struct baryon_error *err = slot->status == 0 ? &slot->error : NULL;
    if (by_list_reserve(&slot->arena, &slot->notes, 1, sizeof *slot->notes.at, err) < 0) {
        slot->status = -1;
        return;
    }
    const char *copy = by_arena_text(&slot->arena, text, strlen(text), err);
    if (copy)
        slot->notes.at[slot->notes.count++] = (struct note){level, copy};
    else
        slot->status = -1;
}

static void clear(struct slot *slot, size_t index)
{
    by_arena_release(&slot->arena);
    memset(&slot->notes, 0, sizeof slot->notes);
    slot->index = index;
    slot->status = 0;
    by_err_clear(&slot->error);
}

static void read_sample(struct by_ahead *ahead, struct slot *slot)
{
    struct baryon_error error;
    const double start = now();
    by_err_clear(&error);
    const int status = by_input_get_into(ahead->input, slot->index, &slot->sample, &error);
    if (status < 0) {
        slot->status = status;
        slot->error = error;
    }
    slot->total = by_input_count(ahead->input);
    slot->skipped = by_input_skipped(ahead->input);
    slot->seconds = now() - start;
}

static void *work_reading_ahead(void *argument)
{
    struct by_ahead *ahead = argument;
    pthread_mutex_lock(&ahead->lock);
    for (;;) {
        while (!ahead->work && !ahead->closing)
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        if (ahead->closing)
            break;
        struct slot *slot = ahead->work;
        pthread_mutex_unlock(&ahead->lock);
        read_sample(ahead, slot);
        pthread_mutex_lock(&ahead->lock);
        ahead->work = NULL;
        pthread_cond_broadcast(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

static void wait_for_thread(struct by_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->work)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
}

/* Without a thread (there may be no more of them) samples are read when they are asked for. */
static bool start_reading_ahead(struct by_ahead *ahead)
{
    if (!ahead->started && !ahead->failed_to_start)
        ahead->started = by_thread_start(&ahead->thread, work_reading_ahead, ahead,
                                         "the thread that reads ahead", NULL) == 0;
    ahead->failed_to_start = !ahead->started;
    return ahead->started;
}

static void begin_reading_ahead(struct by_ahead *ahead, size_t index)
{
    if (!start_reading_ahead(ahead))
        return;
    clear(ahead->other, index);
    pthread_mutex_lock(&ahead->lock);
    ahead->work = ahead->other;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

static void log_slot_notes(const struct by_ahead *ahead, struct slot *slot)
{
    for (size_t i = 0; i < slot->notes.count; i++)
        by_log(ahead->log, slot->notes.at[i].level, "%s", slot->notes.at[i].text);
    slot->notes.count = 0;
}

int by_ahead_open(struct by_ahead **out, struct by_input *input, struct baryon_error *err)
{
    struct by_ahead *ahead = by_alloc_zero(1, sizeof *ahead, err);
    *out = ahead;
    if (!ahead)
        return -1;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    for (size_t i = 0; i < 2; i++) {
        by_sample_init(&ahead->slots[i].sample);
        by_arena_init(&ahead->slots[i].arena, 0);
        ahead->slots[i].index = BY_AHEAD_NONE;
    }
    ahead->held = &ahead->slots[0];
    ahead->other = &ahead->slots[1];
    ahead->input = input;
    ahead->total = by_input_count(input);
    ahead->skipped = by_input_skipped(input);
    ahead->keep = (struct by_log){.write = keep_note, .context = ahead};
    ahead->log = by_input_set_log(input, &ahead->keep);
    if (ahead->log)
        ahead->keep.level = ahead->log->level;
    return 0;
}

void by_ahead_close(struct by_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->closing = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    if (ahead->started)
        pthread_join(ahead->thread, NULL);
    by_input_set_log(ahead->input, ahead->log);
    for (size_t i = 0; i < 2; i++) {
        by_sample_release(&ahead->slots[i].sample);
        by_arena_release(&ahead->slots[i].arena);
    }
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    by_free(ahead);
}

int by_ahead_get(struct by_ahead *ahead, size_t index, size_t next, const struct by_array **arrays,
                 const char **name, struct baryon_error *err)
{
    *arrays = NULL;
    wait_for_thread(ahead);
    by_sample_release(&ahead->held->sample);
    if (ahead->other->index != index) {
        log_slot_notes(ahead, ahead->other); /* what the input says once, it does not say again */
        clear(ahead->other, index);
        read_sample(ahead, ahead->other);
    }
    struct slot *slot = ahead->other;
    ahead->other = ahead->held;
    ahead->held = slot;
    clear(ahead->other, BY_AHEAD_NONE);
    log_slot_notes(ahead, slot);
    ahead->total = slot->total;
    ahead->skipped = slot->skipped;
    if (name)
        *name = slot->sample.name;
    if (slot->status < 0) {
        slot->index = BY_AHEAD_NONE;
        if (err)
            *err = slot->error;
        return -1;
    }
    *arrays = slot->sample.arrays;
    if (next != BY_AHEAD_NONE && next < slot->total && slot->seconds >= WORTH_SECONDS)
        begin_reading_ahead(ahead, next);
    return 0;
}

void by_ahead_take(struct by_ahead *ahead, struct by_sample *sample)
{
    *sample = ahead->held->sample;
    by_sample_init(&ahead->held->sample);
}

const char *by_ahead_reason(const struct by_ahead *ahead)
{
    return ahead->held->sample.reason;
}

size_t by_ahead_count(const struct by_ahead *ahead)
{
    return ahead->total;
}

size_t by_ahead_skipped(const struct by_ahead *ahead)
{
    return ahead->skipped;
}
