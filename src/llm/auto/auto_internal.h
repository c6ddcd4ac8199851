/*
 * What the files of auto share.
 *
 *   auto.c      the stages
 *   windows.c   which windows are for what
 *   types.c     types of the layout, linears, units
 *   look.c      errors of outputs by type
 *   copies.c    states that go through layers of which a part is rounded
 *   probe.c     what errors count
 *   parts.c     what layers and kinds of a quantized model count
 *   choose.c    types within a size
 *   correct.c   choices, by what a model was found to diverge
 *   trial.c     quantizing and measuring
 *   single.c    single types beside it
 *   record.c    what was found of layers, as a journal
 *   recipe.c    what llm quantize reads
 */
#ifndef BY_LLM_AUTO_INTERNAL_H
#define BY_LLM_AUTO_INTERNAL_H

#include "base/journal.h"
#include "llm/auto/auto.h"
#include "llm/calibrated.h"

struct by_bits_type {
    const char *name;
    struct by_llm_plan plan; /* all layers in this type */
};

struct by_bits_linear {
    size_t weight; /* of the source */
    size_t layer;  /* of the decoder */
    size_t kind;   /* enum by_decoder_part, enum by_bits_kind */
    size_t place;  /* all of the kind in the layer */
    size_t unit;
    uint64_t values;
};

/* Of experts, after those of enum by_decoder_part. */
enum by_bits_kind {
    BY_BITS_EXPERTS_GATE = BY_PARTS,
    BY_BITS_EXPERTS_UP,
    BY_BITS_EXPERTS_DOWN,
    BY_BITS_KINDS,
};

struct by_bits_windows {
    size_t length, solve, choose, judge; /* windows */
    uint32_t *choose_ids, *judge_ids;
};

struct by_bits_search {
    const struct by_llm_auto_options *options;
    struct by_llm_quantize_options quantize; /* with the windows as they are taken */
    struct by_llm_auto_result *result;
    struct by_log *log;
    const char *in, *out;
    struct by_llm_opened opened;
    struct by_llm_calibrated calibrated;
    struct by_pool *pool;
    struct by_arena arena;
    struct by_bits_windows windows;
    struct by_bits_type *types;
    size_t type_count;
    bool in_blocks; /* types are GGUF's */
    struct by_bits_linear *linears;
    size_t linear_count, unit_count, place_count;
    size_t *linear_of; /* by weight of the source; SIZE_MAX: none */
    /* [linears][types]: relative errors of outputs as the method rounds; below 0: not known */
    double *solved;
    double *factor;    /* [layers][kinds]: divergence for an error of 1; below 0: not known */
    double *predicted; /* [linears][types]: divergence; infinite: not possible */
    uint64_t *bytes;   /* [linears][types] */
    /* [units][types]: bytes, UINT64_MAX: not possible; predicted divergence */
    uint64_t *unit_bytes;
    double *unit_kl;
    uint64_t rest;       /* bytes of what is no linear */
    uint64_t probe_size; /* of linears, about */
    size_t probe_type;   /* SIZE_MAX: not known yet */
    float **rounded;     /* [linears]: values in that type, of the layer that is looked at; NULL */
    struct by_bits_probe *probe;
    struct by_journal *journal; /* of layers that were looked at; NULL: not open */
    double *record;             /* room for two */
    size_t looked;              /* layers that an earlier search has looked at */
    size_t *chosen;             /* type of each unit */
};

void by_bits_tell(const struct by_bits_search *s, const char *stage, size_t done, size_t all);
int by_bits_windows_cut(struct by_bits_search *s, struct baryon_error *err);
void by_bits_windows_release(struct by_bits_windows *windows);

int by_bits_types_list(struct by_bits_search *s, struct baryon_error *err);
int by_bits_linears_list(struct by_bits_search *s, struct baryon_error *err);
/* NULL: the linear cannot have the type. */
struct by_llm_item *by_bits_item(const struct by_bits_search *s, size_t linear, size_t type);
/* All linears in one type; UINT64_MAX: some cannot. */
uint64_t by_bits_bytes_of_type(const struct by_bits_search *s, size_t type);
double by_bits_bits(const struct by_bits_search *s, uint64_t bytes);

int by_bits_look(struct by_bits_search *s, struct baryon_error *err);
/* Beside the output, so that an ended search goes on: fills what it knows of the first s->looked
 * layers; adds one; the file goes when the model is there. */
int by_bits_record_open(struct by_bits_search *s, struct baryon_error *err);
int by_bits_record_layer(struct by_bits_search *s, size_t layer, struct baryon_error *err);
void by_bits_record_close(struct by_bits_search *s);
int by_bits_record_remove(const struct by_bits_search *s, struct baryon_error *err);
/* The type that layers are probed in: of those within the size the one of least error, by what the
 * first linear loses; where there is none, the nearest in size. */
size_t by_bits_probe_type(struct by_bits_search *s);
/* Layers are probed in their order, each when it was looked at. */
int by_bits_probe_open(struct by_bits_search *s, struct baryon_error *err);
bool by_bits_probe_wants(const struct by_bits_search *s, size_t layer);
int by_bits_probe_layer(struct by_bits_search *s, size_t layer, struct baryon_error *err);
/* Bytes that probes take beside, while the moments are gathered, about. */
uint64_t by_bits_probe_bytes(struct by_bits_search *s);
/* Layers between those that were probed get what lies between; released in any case. */
void by_bits_probe_close(struct by_bits_search *s);
/* The divergence with each of the decoder's layers of a quantized model alone, in windows that
 * judge. */
int by_bits_layers(struct by_bits_search *s, const char *path, double *kl,
                   struct baryon_error *err);

/* The part of each kind of linear in what a quantized model diverges, in windows that probed; 0:
 * the model has none. kl: of BY_BITS_KINDS. */
int by_bits_kinds(struct by_bits_search *s, const char *path, double *kl, struct baryon_error *err);
/* Factors of each kind are corrected by its part in what a model of s->chosen diverges. */
void by_bits_correct_kinds(struct by_bits_search *s, const double *kl);
/* Some windows tell models that are nearly as good apart by chance alone: a corrected choice stays
 * unless it is worse by more than the error that the mean difference of windows has. */
bool by_bits_keeps(const struct by_llm_mean *worse);
/* Of two models' windows; the error is infinite with one window. */
struct by_llm_mean by_bits_difference(const double *own, const double *other, size_t windows);
/* Other choices within the size, as long as they are not worse; by_window: of what was chosen. */
int by_bits_correct_choices(struct by_bits_search *s, uint64_t bytes, double *by_window,
                            struct baryon_error *err);
/* Predictions from errors and factors. */
int by_bits_predict(struct by_bits_search *s, struct baryon_error *err);
/* The smallest or greatest type of each unit. */
void by_bits_extreme(const struct by_bits_search *s, bool greatest, size_t *chosen);
/* Fills s->chosen. */
int by_bits_choose(struct by_bits_search *s, uint64_t bytes, struct baryon_error *err);
uint64_t by_bits_chosen_bytes(const struct by_bits_search *s, const size_t *chosen);
double by_bits_chosen_kl(const struct by_bits_search *s, const size_t *chosen);

/* The scheme, and the types of layers, of a choice; memory comes from the arena. */
int by_bits_rules(const struct by_bits_search *s, const size_t *chosen,
                  struct by_llm_quantize_options *options, struct by_arena *arena,
                  struct baryon_error *err);
struct by_bits_trial {
    const size_t *chosen;
    const char *name; /* of the file or folder of the trial */
    struct by_llm_auto_measured *measured;
    double *by_window; /* divergence of each window that is measured on; NULL: not asked for */
};
/* Quantizes into a place beside the output. */
int by_bits_quantize(struct by_bits_search *s, const struct by_bits_trial *trial,
                     struct baryon_error *err);
/* Measures it: on the windows that choose, or on those that judge. */
int by_bits_measure(struct by_bits_search *s, const struct by_bits_trial *trial, bool judges,
                    struct baryon_error *err);
/* Both, on windows that choose. */
int by_bits_try(struct by_bits_search *s, const struct by_bits_trial *trial,
                struct baryon_error *err);
/* Single types within bytes of linears that may be better than the best model; where one is, it
 * becomes the best. */
int by_bits_try_singles(struct by_bits_search *s, uint64_t bytes, struct baryon_error *err);
/* Names of the model that is kept, and of one that may become it. */
#define BY_BITS_BEST  "best"
#define BY_BITS_TRIAL "trial"
/* Its path, whose memory is buf's. */
int by_bits_trial_path(const struct by_bits_search *s, const char *name, char *buf, size_t size,
                       struct baryon_error *err);
int by_bits_trial_remove(const struct by_bits_search *s, const char *name,
                         struct baryon_error *err);

int by_bits_recipe(const struct by_bits_search *s, struct by_str *text, struct baryon_error *err);

#endif
