#include "engine/crew.h"

#include "base/mem.h"
#include "base/thread.h"

/* One thread of the runtime's pool. */
struct member {
    struct by_crew *crew;
    pthread_t thread;
    bool idle; /* until the pool ends */
    OrtThreadWorkerFn work;
    void *argument;
};

struct by_crew {
    unsigned working, count;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool ending;
    unsigned next;
    struct member members[];
};

static void wait_for_end(struct by_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->ending)
        pthread_cond_wait(&crew->changed, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

static void *work(void *argument)
{
    struct member *member = argument;
    if (member->idle)
        wait_for_end(member->crew);
    member->work(member->argument);
    return NULL;
}

static struct member *next_member(struct by_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    const unsigned number = crew->next++;
    pthread_mutex_unlock(&crew->lock);
    if (number >= crew->count)
        return NULL;
    crew->members[number].crew = crew;
    crew->members[number].idle = number >= crew->working;
    return &crew->members[number];
}

static OrtCustomThreadHandle create(void *context, OrtThreadWorkerFn worker, void *argument)
{
    struct member *member = next_member(context);
    if (!member)
        return NULL;
    member->work = worker;
    member->argument = argument;
    if (by_thread_start(&member->thread, work, member, "a thread of the session", NULL) < 0)
        return NULL;
    return (OrtCustomThreadHandle)(const void *)member;
}

static void join(OrtCustomThreadHandle handle)
{
    const struct member *member = (const struct member *)(const void *)handle;
    struct by_crew *crew = member->crew;
    pthread_mutex_lock(&crew->lock);
    crew->ending = true;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    pthread_join(member->thread, NULL);
}

int by_crew_open(struct by_crew **crew, unsigned threads, unsigned told, struct baryon_error *err)
{
    *crew = by_alloc_zero(1, sizeof **crew + told * sizeof *(*crew)->members, err);
    if (!*crew)
        return -1;
    (*crew)->working = threads - 1;
    (*crew)->count = told;
    pthread_mutex_init(&(*crew)->lock, NULL);
    pthread_cond_init(&(*crew)->changed, NULL);
    return 0;
}

void by_crew_close(struct by_crew *crew)
{
    if (!crew)
        return;
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
    by_free(crew);
}

int by_crew_put(struct by_crew *crew, const struct by_ort *ort, OrtSessionOptions *built,
                struct baryon_error *err)
{
    const OrtApi *api = ort->api;
    const char *what = "set its threads";
    if (by_ort_status(ort, api->SetIntraOpNumThreads(built, (int)crew->count), what, err) ||
        by_ort_status(ort, api->SessionOptionsSetCustomCreateThreadFn(built, create), what, err) ||
        by_ort_status(ort, api->SessionOptionsSetCustomThreadCreationOptions(built, crew), what,
                      err) ||
        by_ort_status(ort, api->SessionOptionsSetCustomJoinThreadFn(built, join), what, err))
        return -1;
    return 0;
}
