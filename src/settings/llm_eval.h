/* The options of the evaluation of a language model. */
#ifndef BY_SETTINGS_LLM_EVAL_H
#define BY_SETTINGS_LLM_EVAL_H

#include "llm/eval.h"
#include "settings/llm.h"

struct by_llm_eval_settings {
    struct by_setting_texts texts;
    const char *against, *report;
    int64_t length, windows;
    uint64_t max_memory;
    int activations, stream_type;
    struct by_llm_reading reading;
};

extern const struct by_option_group by_llm_eval_group;

/* What options point to lives in the settings. */
int by_llm_eval_take(const struct by_llm_eval_settings *settings, const char *path,
                     struct by_llm_eval_options *options, struct baryon_error *err);

#endif
