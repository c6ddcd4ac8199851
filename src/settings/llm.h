/*
 * The options of the commands for language models, for the command line and for the library, and
 * what becomes of them.
 */
#ifndef BY_SETTINGS_LLM_H
#define BY_SETTINGS_LLM_H

#include "config/config.h"
#include "llm/convert.h"
#include "llm/export/export.h"
#include "llm/quantize.h"

struct by_llm_writing {
    const char *out;
    uint64_t shard_size;
    int64_t threads;
};

struct by_llm_quantize_settings {
    struct by_llm_writing writing;
    const char *scheme, *layout, *linears, *report, *importance;
    struct by_setting_texts exclude;
    struct by_setting_pairs layers;
    int64_t group_size, rotate_size;
    int search, compat, stacks, cache, rotate, stream, stream_type;
    double smooth;
    bool awq;
    bool allow_nonfinite, dry_run;
    /* Of methods that solve. */
    const char *method;
    struct by_setting_texts texts;
    int64_t length, windows;
    uint64_t max_memory;
    double shrink, damping, cross, sweeps, fits; /* below 0: the method's */
    int start;                                   /* below 0: the method's */
    bool in_order;
};

struct by_llm_convert_settings {
    struct by_llm_writing writing;
    const char *type, *arch;
    bool no_tokenizer;
};

struct by_llm_dequantize_settings {
    struct by_llm_writing writing;
    int to;
};

/* Of commands that only read. */
struct by_llm_reading {
    int64_t threads;
};

struct by_llm_export_settings {
    const char *out;
    int64_t accuracy_level, context;
    struct by_llm_reading reading;
};

/* Of a struct by_llm_writing, of a struct by_llm_reading; the others are of the struct of their
 * name. */
extern const struct by_option_group by_llm_writing_group, by_llm_reading_group;
extern const struct by_option_group by_llm_quantize_group, by_llm_convert_group,
    by_llm_dequantize_group, by_llm_export_group;

/* Types of hidden states between layers: 0 float32, 1 bf16; and what the option says. */
extern const struct by_choice by_llm_stream_types[];
#define BY_LLM_STREAM_TYPE_HELP                                                                    \
    "Type of hidden states between layers; bf16 takes half the room and rounds them"

int by_llm_writing_check(const struct by_llm_writing *writing, struct baryon_error *err);
/* What options point to lives in the config. */
int by_llm_quantize_take(struct by_config *config, const struct by_llm_quantize_settings *settings,
                         struct by_llm_quantize_options *options, struct baryon_error *err);
void by_llm_dequantize_take(const struct by_llm_dequantize_settings *settings,
                            struct by_llm_quantize_options *options);
int by_llm_export_take(const struct by_llm_export_settings *settings,
                       struct by_llm_export_options *options, struct baryon_error *err);
void by_llm_convert_take(const struct by_llm_convert_settings *settings, const char *in,
                         struct by_llm_convert *convert);

#endif
