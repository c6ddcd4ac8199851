/* Taps that keep what they saw. On top of engine_build.h. */
#ifndef TAP_WATCH_H
#define TAP_WATCH_H

#include "engine_build.h"

#include "base/str.h"
#include "engine/tap.h"
#include "onnx/save.h"

#define SEEN_MAX 4096

struct seen {
    char name[128];
    struct by_array array; /* data is a copy */
    const void *at;        /* where the tensor was */
    uint64_t sample;
    size_t tap; /* which looked */
};

/* What all taps of a session saw, in order. */
struct watch {
    struct seen at[SEEN_MAX];
    size_t count;
    const char *fail_at; /* the name of a value whose tap fails */
};

struct watcher {
    struct watch *watch;
    size_t tap;
};

static inline void forget_seen(struct watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        free((void *)(uintptr_t)watch->at[i].array.data);
    watch->count = 0;
}

static inline const void *copy_seen(const struct by_array *array)
{
    unsigned char *data = malloc(array->size + 1);
    if (array->size)
        memcpy(data, array->data, array->size);
    return data;
}

static inline int watch_tap(void *context, const struct by_tap_look *look, struct baryon_error *e)
{
    const struct watcher *watcher = context;
    struct watch *watch = watcher->watch;
    for (size_t i = 0; i < look->count; i++) {
        const struct by_array *array = &look->values[i];
        if (watch->fail_at && strcmp(watch->fail_at, array->name) == 0)
            return by_fail(e, BARYON_ERR_IO, "no room for what '%s' is", array->name);
        if (watch->count == SEEN_MAX)
            return by_fail(e, BARYON_ERR_INTERNAL, "the test has seen too much");
        struct seen *seen = &watch->at[watch->count++];
        snprintf(seen->name, sizeof seen->name, "%s", array->name);
        seen->array = *array;
        seen->array.name = seen->name;
        seen->array.data = copy_seen(array);
        seen->at = array->data;
        seen->sample = look->sample;
        seen->tap = watcher->tap;
    }
    return 0;
}

/* The names that were seen, in order: "p q y". */
static inline const char *seen_names(const struct watch *watch)
{
    static char text[4096];
    text[0] = '\0';
    for (size_t i = 0; i < watch->count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", watch->at[i].name);
    }
    return text;
}

static inline const struct by_array *seen_of(const struct watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->count; i++)
        if (strcmp(watch->at[i].name, name) == 0)
            return &watch->at[i].array;
    fail_msg("%s was not seen", name);
    return NULL;
}

/* Taps as a text: "p q,r": one on p, one on q and r. */
struct taps {
    struct by_tap at[512];
    struct watcher watchers[512];
    const char *names[1024];
    char text[8192];
    size_t count;
};

static inline struct taps *taps_of(struct watch *watch, const char *text)
{
    static struct taps taps;
    size_t name = 0;
    memset(&taps, 0, sizeof taps);
    snprintf(taps.text, sizeof taps.text, "%s", text);
    for (char *word = taps.text; *word;) {
        struct by_tap *tap = &taps.at[taps.count];
        taps.watchers[taps.count] = (struct watcher){watch, taps.count};
        *tap = (struct by_tap){
            .values = &taps.names[name], .look = watch_tap, .context = &taps.watchers[taps.count]};
        taps.count++;
        for (bool more = true; more;) {
            char *end = word + strcspn(word, ", ");
            more = *end == ',';
            taps.names[name++] = word;
            tap->value_count++;
            word = end + (*end != '\0');
            *end = '\0';
        }
    }
    return &taps;
}

static inline struct by_tapped *open_taps(struct baryon_model *model, struct watch *watch,
                                          const char *text,
                                          const struct by_session_options *options)
{
    const struct taps *taps = taps_of(watch, text);
    struct by_tapped *tapped;
    assert_ok(by_tapped_open(&tapped, model, taps->at, taps->count, options, &err));
    return tapped;
}

static inline void save_text(struct baryon_model *model, struct by_str *text)
{
    by_str_init(text);
    assert_ok(by_model_save_bytes(model, text, &err));
}

#endif
