/* The options of the search for bits of each layer of a language model. */
#ifndef BY_SETTINGS_LLM_AUTO_H
#define BY_SETTINGS_LLM_AUTO_H

#include "llm/auto/auto.h"
#include "settings/llm.h"

struct by_llm_auto_settings {
    struct by_llm_writing writing;
    struct by_setting_texts goals, types, exclude, texts;
    const char *layout, *method, *report;
    double bits, probe_windows; /* windows below 0: by their tokens */
    uint64_t max_size, max_memory;
    int unit, stream_type;
    int64_t length, windows, judge_windows, probe_layers, corrections;
    bool no_uniform;
};

extern const struct by_option_group by_llm_auto_group;

/* What options point to lives in the settings. */
int by_llm_auto_take(const struct by_llm_auto_settings *settings,
                     struct by_llm_auto_options *options, struct baryon_error *err);

#endif
