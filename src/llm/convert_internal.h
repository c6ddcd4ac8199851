/*
 * What both directions of the conversion share.
 */
#ifndef BY_LLM_CONVERT_INTERNAL_H
#define BY_LLM_CONVERT_INTERNAL_H

#include "llm/convert.h"
#include "llm/family/arch.h"
#include "llm/layout/made.h"
#include "llm/store/safetensors_write.h"

struct by_folder_files;
struct by_llm_item;
struct by_llm_opened;

/* What became of a tensor; for a report. */
struct by_made_fate {
    const struct by_ggml_type *wanted; /* NULL: it is none that blocks are for */
    bool excluded, resumed;
    double seconds;
    struct by_made_errors *errors; /* each part */
};

struct by_convert_run {
    const struct by_llm_convert *options;
    struct by_llm_converted *done;
    struct by_checkpoint *in;
    const struct by_llm_source *source;       /* towards GGUF: what is converted */
    struct by_llm_opened *opened;             /* the same, with its tokenizer */
    const struct by_folder_files *made_files; /* of a GGUF file; else those of the folder count */
    struct by_pool *pool;
    struct by_arena arena;
    struct by_meta meta;
    struct by_family family;
    struct by_family_tensor *listed; /* names and dims of the source, for src/llm/family */
    const struct by_gguf_arch *arch;
    struct by_made_list made;
    struct by_made_fate *fates; /* towards GGUF: each of made */
};

/* How a writer takes bytes of a tensor. */
typedef int by_convert_put_fn(void *writer, size_t tensor, uint64_t at, const uint8_t *bytes,
                              size_t size, struct baryon_error *err);

/* Makes the bytes of some tensors in another way. */
struct by_convert_solve {
    /* Types are known: adds everything that the bytes depend on to the name. */
    int (*open)(void *context, struct by_convert_run *run, struct by_str *name,
                struct baryon_error *err);
    /* Puts tensors and notes which; folder: where the output grows. */
    int (*run)(void *context, by_convert_put_fn *put, void *writer, const char *folder, bool *done,
               struct baryon_error *err);
    /* What was solved of a part of run->made; NULL: it was not. */
    const struct by_llm_item *(*item)(void *context, size_t tensor, size_t part);
    void (*close)(void *context); /* also after a failure */
    void *context;
};

/* What a folder has beside weights; empty ones are not written. */
struct by_folder_files {
    struct by_str config, tokenizer, settings, notes;
};

void by_folder_files_release(struct by_folder_files *files);
int by_folder_files_write(const struct by_folder_files *files, const char *folder,
                          struct baryon_error *err);
/* Roles of all tensors of run->in. */
int by_convert_begin(struct by_convert_run *run, struct baryon_error *err);
/* All of a folder but the bytes of weights, from a GGUF file: run->made, of elements of type
 * `elem`, and the files. */
int by_convert_unfold(struct by_convert_run *run, int64_t elem, struct by_folder_files *files,
                      struct baryon_error *err);
int by_convert_to_gguf(struct by_convert_run *run, struct baryon_error *err);
int by_convert_to_folder(struct by_convert_run *run, struct baryon_error *err);
/* A new tensor at the end of run->made with a copy of the name; NULL when memory ends. */
struct by_made_tensor *by_made_tensor_add(struct by_convert_run *run, const char *name,
                                          struct baryon_error *err);
/* Numbers of heads in metadata or config; 0: the order of rows stays. */
uint64_t by_convert_heads(const struct by_convert_run *run, enum by_llm_role role, int64_t heads,
                          int64_t heads_kv);
/* All of run->made for a writer; counts them and their bytes. */
int by_convert_declare(struct by_convert_run *run, struct by_new_tensor **tensors,
                       struct baryon_error *err);
/* Gives tensors that become blocks the importance of their columns; says which have none. */
int by_convert_weigh(struct by_convert_run *run, struct baryon_error *err);
/* Makes all bytes of one tensor. */
int by_convert_put(struct by_convert_run *run, size_t tensor, by_convert_put_fn *put, void *writer,
                   struct baryon_error *err);
/* Writes options->report. */
int by_convert_report(const struct by_convert_run *run, struct baryon_error *err);

#endif
