/* Gives ONNX Runtime a fixed number of threads, of which only as many work as are wanted. */
#include "engine/crew.h"

#include "base/mem.h"
#include "base/thread.h"

/* One thread for the runtime's pool. */
struct member {
    struct by_crew *crew;
    pthread_t thread;
    bool idle; /* until the pool ends */
    bool joined;
    OrtThreadWorkerFn work; /* NULL: the pool has not asked for it yet */
    void *argument;
};

struct by_crew {
    unsigned count;       /* as the runtime believes; it asks for one less */
    unsigned started;     /* threads */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool ending;
    unsigned next;
    struct member members[];
};

static bool is_called(const struct member *member)
{
    return member->work && (!member->idle || member->crew->ending);
}

static void *work_in_crew(void *argument)
{
    struct member *member = argument;
    struct by_crew *crew = member->crew;
    pthread_mutex_lock(&crew->lock);
    while (!is_called(member) && !crew->ending)
        pthread_cond_wait(&crew->changed, &crew->lock);
    const bool called = is_called(member);
    pthread_mutex_unlock(&crew->lock);
    if (called)
        member->work(member->argument);
    return NULL;
}

/* NULL, at which the runtime would wait for ever, when it asks for more than it said. */
static OrtCustomThreadHandle create(void *context, OrtThreadWorkerFn worker, void *argument)
{
    struct by_crew *crew = context;
    struct member *member = NULL;
    pthread_mutex_lock(&crew->lock);
    if (crew->next < crew->started) {
        member = &crew->members[crew->next++];
        member->work = worker;
        member->argument = argument;
        pthread_cond_broadcast(&crew->changed);
    }
    pthread_mutex_unlock(&crew->lock);
    return (OrtCustomThreadHandle)(const void *)member;
}

static void end(struct by_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->ending = true;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

static void join_crew_member(OrtCustomThreadHandle handle)
{
    struct member *member = (struct member *)(uintptr_t)(const void *)handle;
    end(member->crew);
    pthread_join(member->thread, NULL);
    member->joined = true;
}

/* All of them before the runtime asks: it could do nothing if one was missing. */
static int start_crew(struct by_crew *crew, unsigned threads, struct baryon_error *err)
{
    for (; crew->started + 1 < crew->count; crew->started++) {
        struct member *member = &crew->members[crew->started];
        *member = (struct member){.crew = crew, .idle = crew->started + 1 >= threads};
        if (by_thread_start(&member->thread, work_in_crew, member, "a thread of the session", err) <
            0)
            return -1;
    }
    return 0;
}

int by_crew_open(struct by_crew **out, unsigned threads, unsigned told, struct baryon_error *err)
{
    struct by_crew *crew = by_alloc_zero(1, sizeof *crew + told * sizeof *crew->members, err);
    *out = NULL;
    if (!crew)
        return -1;
    crew->count = told;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->changed, NULL);
    if (start_crew(crew, threads, err) < 0) {
        by_crew_close(crew);
        return -1;
    }
    *out = crew;
    return 0;
}

void by_crew_close(struct by_crew *crew)
{
    if (!crew)
        return;
    end(crew);
    for (unsigned i = 0; i < crew->started; i++)
        if (!crew->members[i].joined)
            pthread_join(crew->members[i].thread, NULL);
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
    by_free(crew);
}

int by_crew_put(struct by_crew *crew, const struct by_ort *ort, OrtSessionOptions *built,
                struct baryon_error *err)
{
    const OrtApi *api = ort->api;
    const char *what = "set the number of threads";
    if (by_ort_status(ort, api->SetIntraOpNumThreads(built, (int)crew->count), what, err) ||
        by_ort_status(ort, api->SessionOptionsSetCustomCreateThreadFn(built, create), what, err) ||
        by_ort_status(ort, api->SessionOptionsSetCustomThreadCreationOptions(built, crew), what,
                      err) ||
        by_ort_status(ort, api->SessionOptionsSetCustomJoinThreadFn(built, join_crew_member), what,
                      err))
        return -1;
    return 0;
}
