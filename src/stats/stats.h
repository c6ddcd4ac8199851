/*
 * Statistics of a model on samples, and the file they are kept in (.stats).
 *
 * The file is a function of the model, the samples and the settings: not of the number of
 * threads, of the order of work, nor of how the samples were split. It ends with a checksum,
 * and begins with the keys by which a file is known to be stale. Statistics of parts of the same
 * samples add (by_stats_merge); a file may cover any part of them.
 *
 * Moments are the big part of it. Loading leaves their tiles in the mapped file, packed;
 * merging only notes which tiles of which files belong together; saving joins them one
 * tile at a time, or copies a tile that is alone. So to merge files takes the memory of
 * their sketches and means and about 12 MiB, however big the files are. by_stats_recall() brings
 * tiles into memory to go on gathering, by_stats_gram() reads them.
 */
#ifndef BY_STATS_H
#define BY_STATS_H

#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"
#include "moments/moments.h"
#include "stats/channel_means.h"
#include "stats/sketch.h"
#include "stats/targets.h"

#define BY_STATS_VERSION 1

/* What the statistics are of. Equal keys and coverage mean equal bytes. */
struct by_stats_key {
    struct by_hash128 model; /* content, external data too: by_model_content_hash() */
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
    size_t rank;                /* of the looks; SIZE_MAX while there was none */
    int64_t dims[16];           /* BY_DIM_VARIES where samples differ; all 0 after the rank */
    bool rank_varies;           /* then rank is 0 */
    int channel_axis;           /* -1: none */
    bool has_means;             /* asked for */
    const char *nonfinite_name; /* of the sample nonfinite_sample, or NULL */
    struct by_sketch sketch;
    /* Their counts are 0 also when the axis is not in the shape, or varies. */
    struct by_channels channels;
    struct by_channel_means means;
};
#define BY_DIM_VARIES (-1)

struct by_layer_stats {
    struct by_moments_layer layer;
    struct by_moments moments;      /* with the tiles that are in memory */
    struct by_stored_tile **stored; /* by tile, those that lie in files; NULL: none at all */
};

struct by_stats {
    struct by_arena arena; /* of names and lists */
    struct by_stats_key key;
    const char *model, *data; /* for people: the model's file name, where samples came from */
    const char *settings;     /* for people: "per channel, moments" */
    const char *prepared;     /* for people: what was done to the samples; not in files */
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
    struct {
        struct by_stats_source **at; /* files that tiles lie in */
        size_t count, cap;
    } sources;
};

int by_stats_open(struct by_stats **stats, struct baryon_error *err); /* empty */
void by_stats_close(struct by_stats *stats);

/* --- Filling one --- */

/* Texts for people; copied. */
int by_stats_describe(struct by_stats *stats, const char *model, const char *data,
                      const char *settings, struct baryon_error *err);
/* Once each; names are copied. Nothing was looked at yet, no tile is gathered. */
int by_stats_set_targets(struct by_stats *stats, const struct by_target *targets, size_t count,
                         struct baryon_error *err);
int by_stats_set_layers(struct by_stats *stats, const struct by_moments_layer *layers, size_t count,
                        struct baryon_error *err);
/* Notes the shape of one look; channels that no longer have one size are dropped. */
void by_tensor_stats_shape(struct by_tensor_stats *tensor, const int64_t *dims, size_t rank);
/* Mean of a channel: of all of them, or of none. */
bool by_tensor_stats_means(const struct by_tensor_stats *tensor, double *means);
/* True when the channels have one size so far. */
bool by_tensor_stats_has_channels(const struct by_tensor_stats *tensor);
/* Samples done are marked once they are in, skipped ones too; ranges join. Those that are
 * covered already are BARYON_ERR_INTERNAL. */
int by_stats_cover(struct by_stats *stats, uint64_t begin, uint64_t end, struct baryon_error *err);
int by_stats_skip(struct by_stats *stats, uint64_t sample, const char *name, const char *reason,
                  struct baryon_error *err);
bool by_stats_covers(const struct by_stats *stats, uint64_t sample);
bool by_stats_complete(const struct by_stats *stats);
uint64_t by_stats_covered(const struct by_stats *stats); /* how many samples, skipped ones too */
uint64_t by_stats_seen(const struct by_stats *stats);    /* without skipped ones */

/* --- Reading it --- */

const struct by_tensor_stats *by_stats_find(struct by_stats *stats, const char *name);
/* Of the layer of that name, or else of any with the same columns; NULL: there is none. */
const struct by_layer_stats *by_stats_find_columns(const struct by_stats *stats,
                                                   const struct by_moments_layer *like,
                                                   enum by_moments_share share);
/* Layers with moments: those of samples that judge are not counted again. */
size_t by_stats_layers(const struct by_stats *stats);
/* True when the tile is there, in memory or in a file; and for all of a layer's tiles. */
bool by_layer_stats_has(const struct by_layer_stats *layer, size_t tile);
bool by_layer_stats_complete(const struct by_layer_stats *layer);
bool by_layer_stats_empty(const struct by_layer_stats *layer); /* no tile, mean or count */
/* The Gram matrix of a group: means over rows, around `mean` unless that is NULL. Tiles are read
 * one at a time by each thread; all must be there, and rows. gram: [columns][columns]. */
int by_stats_gram(const struct by_layer_stats *layer, size_t group, const double *mean,
                  struct by_pool *pool, float *gram, struct baryon_error *err);
/* Brings tiles [first, end) into layer->moments, as far as they are there. */
int by_stats_recall(struct by_layer_stats *layer, size_t first, size_t end,
                    struct baryon_error *err);

/* --- Files --- */

/* Atomic, like every file we write; flags are by_writer's. May replace a file that it reads. */
int by_stats_save(const struct by_stats *stats, const char *path, unsigned flags,
                  struct baryon_error *err);
/* The same bytes into memory, for handing them on. */
int by_stats_save_bytes(const struct by_stats *stats, struct by_str *bytes,
                        struct baryon_error *err);
/* Damaged, cut and foreign files are refused, each with its place. Moments stay in the file. */
int by_stats_load(struct by_stats **stats, const char *path, struct baryon_error *err);
/* The same of bytes in memory, which must outlive it; name is for messages. */
int by_stats_load_bytes(struct by_stats **stats, const void *bytes, size_t size, const char *name,
                        struct baryon_error *err);

/* --- Several of them. What fails after the checks leaves `stats` good for nothing. --- */

/* Other samples of the same data. Refuses other keys (naming what differs: model, data or
 * settings), overlapping samples, and moments of which each has other tiles. */
int by_stats_merge(struct by_stats *stats, const struct by_stats *other, struct baryon_error *err);
/* Another pass over the same samples: what it gathered must be missing here. */
int by_stats_join(struct by_stats *stats, const struct by_stats *other, struct baryon_error *err);
/* BARYON_ERR_CHANGED naming what differs between the two. */
int by_stats_check_key(const struct by_stats_key *have, const struct by_stats_key *want,
                       struct baryon_error *err);
/* Statistics of another model, or without a value that is needed. */
int by_stats_check_use(struct by_stats *stats, const struct by_hash128 *model,
                       const char *const *names, size_t count, const char *path,
                       struct baryon_error *err);
/*
 * Hash of a model as it would be written, with the content of external data: tensors that
 * lie in data files count with their bytes, not with the files' names. The same bytes in
 * the model file and in a data file are two contents.
 */
int by_model_content_hash(struct baryon_model *model, struct by_hash128 *hash,
                          struct baryon_error *err);

#endif
