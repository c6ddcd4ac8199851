/*
 * A checkpoint as the commands take it: weights under the names of a folder and as floats, whatever
 * container and layout they are in. Of a GGUF file config.json and the tokenizer's files are made.
 */
#ifndef BY_LLM_OPENED_H
#define BY_LLM_OPENED_H

#include "llm/convert_internal.h"
#include "llm/layout/source.h"

enum by_llm_names {
    BY_LLM_NAMES_FOLDER, /* of transformers, for GGUF files too */
    BY_LLM_NAMES_FILE,   /* as they are in the file */
};

struct by_llm_opened {
    struct by_checkpoint *checkpoint;
    struct by_llm_source source;
    bool has_source;
    /* Of a GGUF file under the names of a folder. */
    struct by_llm_convert how;
    struct by_llm_converted done; /* notices */
    struct by_convert_run unfolded;
    struct by_folder_files files; /* config is that of checkpoint->config */
};

/* Weights of layers that rotate their inputs are those of inputs as they come. To be closed also
 * when this fails; it stays where it is. */
int by_llm_open(struct by_llm_opened *opened, const char *path, enum by_llm_stacks stacks,
                enum by_llm_names names, struct baryon_error *err);
/* For those who rotate inputs: experts split, under the names of a folder. */
int by_llm_open_to_run(struct by_llm_opened *opened, const char *path, struct baryon_error *err);
void by_llm_close(struct by_llm_opened *opened);

#endif
