/* Shares sessions among candidates that differ in parameters of activations alone. */
#include "onnx/external.h"
#include "trial/trial_internal.h"

/* Of the model without the table of its pairs. NULL: it has to be opened, into the place that is
 * returned in *made. Whoever opens the same one at that moment is waited for. */
static struct by_trial_session *find_open(struct by_trial *trial, struct by_hash128 key,
                                          struct by_trial_session **made)
{
    struct by_trial_session *room = NULL;
    for (size_t i = 0; i < BY_TRIAL_ENTRIES; i++) {
        struct by_trial_session *at = &trial->sessions[i];
        if (!at->session && !at->opening)
            room = room ? room : at;
        else if (by_hash128_equal(at->key, key)) {
            if (!at->opening)
                return at;
            pthread_cond_wait(&trial->opened, &trial->lock);
            return find_open(trial, key, made);
        }
    }
    *made = room;
    return NULL;
}

/* Those that nobody runs any more make room for a new one. */
static void close_idle(struct by_trial *trial)
{
    for (size_t i = 0; i < BY_TRIAL_ENTRIES; i++) {
        struct by_trial_session *at = &trial->sessions[i];
        if (at->users || at->opening)
            continue;
        by_session_close(at->session);
        at->session = NULL;
    }
}

static void take_part(struct by_trial_entry *entry, struct by_trial_session *shared)
{
    shared->users++;
    entry->shared = shared;
    entry->session = shared->session;
}

static int open_new(struct by_trial *trial, struct by_trial_entry *entry,
                    struct by_trial_session *made, struct baryon_model *model,
                    struct baryon_error *err)
{
    struct by_session *session = NULL;
    int status = by_pairs_fold(model, err);
    if (status == 0) {
        by_model_payloads_done(model); /* the floats of weights */
        status = by_judge_session(trial->judge, model, false, &session, err);
    }
    pthread_mutex_lock(&trial->lock);
    made->opening = false;
    made->session = session;
    if (status == 0)
        take_part(entry, made);
    pthread_cond_broadcast(&trial->opened);
    pthread_mutex_unlock(&trial->lock);
    return status;
}

static int hash_with_table(struct by_trial_entry *entry, struct by_hash128 key,
                           struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err) < 0)
        return -1;
    by_hasher_add(hasher, &key, sizeof key);
    if (entry->table.count)
        by_hasher_add(hasher, entry->table.array.data, entry->table.array.size);
    entry->model = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return 0;
}

/* No session is needed as long as what was said before suffices. */
static bool recalls(const struct by_trial *trial, struct by_trial_entry *entry)
{
    if (entry->wakes)
        return false;
    entry->recalled = by_recall_find(trial->recall, entry->model, entry->judgements,
                                     by_judge_count(trial->judge));
    return entry->recalled > 0;
}

int by_trial_open_session(struct by_trial *trial, struct by_trial_entry *entry,
                          struct baryon_model *model, struct baryon_error *err)
{
    struct by_trial_session *made = NULL, *shared;
    struct by_hash128 key;
    by_pair_table_release(&entry->table);
    if (by_pairs_join_open(model, &entry->table, err) < 0 ||
        by_model_content_hash(model, &key, err) < 0 || hash_with_table(entry, key, err) < 0)
        return -1;
    if (recalls(trial, entry))
        return 0;
    pthread_mutex_lock(&trial->lock);
    shared = find_open(trial, key, &made);
    if (shared)
        take_part(entry, shared);
    else if (made) {
        *made = (struct by_trial_session){.key = key, .opening = true};
        close_idle(trial);
    }
    pthread_mutex_unlock(&trial->lock);
    if (shared)
        return 0;
    return made ? open_new(trial, entry, made, model, err)
                : by_fail(err, BARYON_ERR_INTERNAL, "more than %d sessions", BY_TRIAL_ENTRIES);
}

void by_trial_leave_session(struct by_trial *trial, struct by_trial_entry *entry)
{
    if (!entry->shared)
        return;
    pthread_mutex_lock(&trial->lock);
    entry->shared->users--;
    pthread_mutex_unlock(&trial->lock);
    entry->shared = NULL;
    entry->session = NULL;
}

void by_trial_close_sessions(struct by_trial *trial)
{
    for (size_t i = 0; i < trial->entry_count; i++) {
        by_trial_leave_session(trial, &trial->entries[i]);
        by_pair_table_release(&trial->entries[i].table);
    }
    close_idle(trial);
}
