/* Baryon: what statistics tell. A part of <baryon.h>. */
#ifndef BARYON_STATISTICS_H
#define BARYON_STATISTICS_H

#include "calibrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Statistics
 *
 * Of a model's tensors on some samples; files of them are called .stats. They are a function
 * of the model, the samples and the settings: threads, memory and the way in which the samples
 * were split change no bit. Files stay mapped while they are in use and must not be changed.
 */
BARYON_API int baryon_statistics_load(struct baryon_statistics **statistics, const char *path,
                                      struct baryon_error *err);
BARYON_API void baryon_statistics_free(struct baryon_statistics *statistics);
/* Readers of path see the old file or the whole new one. It may be one of those read. */
BARYON_API int baryon_statistics_save(const struct baryon_statistics *statistics, const char *path,
                                      struct baryon_error *err);
/*
 * Adds those of other samples of the same model, data and settings, as parts made with
 * the setting "shard" are. Others are BARYON_ERR_CHANGED, samples that both have are
 * BARYON_ERR_INPUT, and then nothing was added. Any other failure leaves
 * `statistics` good for nothing but being freed.
 */
BARYON_API int baryon_statistics_merge(struct baryon_statistics *statistics,
                                       const struct baryon_statistics *other,
                                       struct baryon_error *err);
/* BARYON_ERR_CHANGED unless the statistics are of this model, as it is now. */
BARYON_API int baryon_statistics_check_model(const struct baryon_statistics *statistics,
                                             struct baryon_model *model, struct baryon_error *err);

/* Samples that there are, those that the statistics cover, and of them those that were bad. */
BARYON_API uint64_t baryon_statistics_total(const struct baryon_statistics *statistics);
BARYON_API uint64_t baryon_statistics_covered(const struct baryon_statistics *statistics);
BARYON_API uint64_t baryon_statistics_skipped(const struct baryon_statistics *statistics);

/*
 * What is known of a tensor. NaN and infinities are counted, and kept out of the rest;
 * where there are no finite values, the numbers from min to rms are 0. More members may
 * follow in later versions.
 */
struct baryon_tensor_statistics {
    const char *name;
    int type;
    int rank;            /* -1: there was no value, or samples differ */
    const int64_t *dims; /* -1 where samples differ */
    uint64_t samples;    /* that had values */
    uint64_t values, zeros, nans, infinities;
    int64_t nonfinite_sample;      /* the first with NaN or infinity, -1: none */
    const char *nonfinite_name;    /* its name, NULL when there is none */
    double min, max;               /* exact */
    double moving_min, moving_max; /* means over samples of their least and greatest value */
    double mean, rms;              /* of the values; of their squares, the root */
    int channel_axis;              /* -1: unknown */
    size_t channels; /* 0 without the setting "per-channel", or when the size varies */
    const float *channel_min, *channel_max; /* exact; 0 where no value was finite */
};

/* In the order of the model; NULL after the last one. Pointers live as long as the statistics,
 * merging brings what they point to up to date. */
BARYON_API size_t baryon_statistics_tensor_count(const struct baryon_statistics *statistics);
BARYON_API const struct baryon_tensor_statistics *
baryon_statistics_tensor(const struct baryon_statistics *statistics, size_t place);
/* NULL when no tensor has that name. */
BARYON_API const struct baryon_tensor_statistics *
baryon_statistics_find(const struct baryon_statistics *statistics, const char *name);

/* Values from low (included) to high, in the direction of their magnitude. */
struct baryon_bin {
    double low, high;
    uint64_t count;
};

/* The histogram of a tensor: bins with something in them from the least value to the greatest,
 * zeros as a bin with low and high 0. Give *bins to baryon_bytes_free(). */
BARYON_API int baryon_statistics_histogram(const struct baryon_statistics *statistics,
                                           const char *tensor, struct baryon_bin **bins,
                                           size_t *count, struct baryon_error *err);

/* Where the zero point is. */
enum baryon_symmetry {
    BARYON_SYMMETRY_OF_TYPE = 0, /* signed and float types: symmetric; unsigned ones: not */
    BARYON_SYMMETRIC = 1,        /* in the middle */
    BARYON_ASYMMETRIC = 2,       /* where the range says */
};

struct baryon_range_options {
    size_t size;
    enum baryon_symmetry symmetry;
    bool power_of_two; /* scales are powers of two */
};

struct baryon_range {
    size_t size;      /* set by the caller, as in options */
    double low, high; /* as the method says; low <= 0 <= high */
    double scale;
    int64_t zero_point;
    int position;                     /* of power-of-two scales: scale = 2^-position */
    double reached_low, reached_high; /* by the first and the last level */
    double clipped;                   /* share of the finite values beyond them */
    double error; /* what the method minimised, mean a value; NaN when it minimises nothing */
};

/*
 * What a calibration method, with its defaults, chooses for a tensor in a number format:
 * "minmax", "percentile", ... (`baryon list methods`), for "int4", "uint4", "int8", "uint8",
 * "int16", "uint16", "float8e4m3fn", "float8e5m2". Names of methods and types that quark.onnx
 * and ONNX use are known too.
 */
BARYON_API int baryon_statistics_range(const struct baryon_statistics *statistics,
                                       const char *tensor, const char *method, const char *type,
                                       const struct baryon_range_options *options,
                                       struct baryon_range *range, struct baryon_error *err);
/* The methods that there are, by place; NULL after the last one. */
BARYON_API const char *baryon_calibration_method(size_t place);

#ifdef __cplusplus
}
#endif

#endif
