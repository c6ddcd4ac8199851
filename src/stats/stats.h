/*
 * Statistics of a model on samples, and the file they are kept in (.stats).
 *
 * The file is a function of the model, the samples and the settings: not of the number of
 * threads, of the order of work, nor of how the samples were split. It ends with a checksum,
 * and begins with the keys by which a file is known to be stale. Statistics of parts of the same
 * samples add (by_stats_merge); a file may cover any part of them.
 */
#ifndef BY_STATS_H
#define BY_STATS_H

#include "stats/moments.h"
#include "stats/sketch.h"
#include "stats/targets.h"

#define BY_STATS_VERSION 1

struct by_hash128 {
    uint64_t low, high;
};

/* What the statistics are of. Equal keys and coverage mean equal bytes. */
struct by_stats_key {
    struct by_hash128 model; /* content, external data too */
    struct by_hash128 data;  /* the list of samples: names and sizes, and how they are prepared */
    struct by_hash128 settings; /* what is gathered, and how */
};

struct by_sample_range {
    uint64_t begin, end; /* [begin, end) */
};

struct by_skipped {
    uint64_t sample;
    const char *name, *reason;
};

struct by_tensor_stats {
    const char *name;
    int64_t elem;
    size_t rank;      /* of the first look; SIZE_MAX while there was none */
    int64_t dims[16]; /* BY_DIM_VARIES where samples differ */
    bool rank_varies;
    int channel_axis;           /* -1: none */
    const char *nonfinite_name; /* of the sample nonfinite_sample, or NULL */
    struct by_sketch sketch;
    struct by_channels channels;
};
#define BY_DIM_VARIES (-1)

struct by_layer_stats {
    struct by_layer layer;
    struct by_moments moments;
};

struct by_stats {
    struct by_arena arena; /* of names and lists */
    struct by_stats_key key;
    const char *model, *data; /* for people: the model's file name, where samples came from */
    const char *settings;     /* for people: "per channel, moments" */
    uint64_t total;           /* samples there are */
    struct {
        struct by_sample_range *at; /* covered: sorted, apart, skipped ones too */
        size_t count, cap;
    } covered;
    struct {
        struct by_skipped *at; /* sorted by sample */
        size_t count, cap;
    } skipped;
    struct by_hash128 content; /* sum of the hashes of the samples' bytes */
    struct by_tensor_stats *tensors;
    size_t tensor_count;
    struct by_layer_stats *layers;
    size_t layer_count;
    struct by_map *by_name; /* tensor name -> struct by_tensor_stats; made by by_stats_find() */
};

int by_stats_open(struct by_stats **stats, struct baryon_error *err); /* empty */
void by_stats_close(struct by_stats *stats);

/* Samples done are marked once they are in; ranges join. */
int by_stats_cover(struct by_stats *stats, uint64_t begin, uint64_t end, struct baryon_error *err);
bool by_stats_covers(const struct by_stats *stats, uint64_t sample);
bool by_stats_complete(const struct by_stats *stats);
const struct by_tensor_stats *by_stats_find(struct by_stats *stats, const char *name);
const struct by_layer_stats *by_stats_find_layer(const struct by_stats *stats, const char *name);

/* Atomic, like every file we write. */
int by_stats_save(const struct by_stats *stats, const char *path, struct baryon_error *err);
/* Damaged, cut and foreign files are refused, each with its place. */
int by_stats_load(struct by_stats **stats, const char *path, struct baryon_error *err);
/* Refuses other keys (naming what differs: model, data or settings) and overlapping samples. */
int by_stats_merge(struct by_stats *stats, const struct by_stats *other, struct baryon_error *err);
/* BARYON_ERR_CHANGED naming what differs between the two. */
int by_stats_check_key(const struct by_stats_key *have, const struct by_stats_key *want,
                       struct baryon_error *err);

#endif
