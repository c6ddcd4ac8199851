/* Opens checkpoints, GGUF files as if they were folders. */
#include "llm/opened.h"

#include "llm/layout/online.h"

#include <string.h>

static int unfold(struct by_llm_opened *opened, struct baryon_error *err)
{
    struct by_convert_run *run = &opened->unfolded;
    struct by_checkpoint *checkpoint = opened->checkpoint;
    struct by_doc_node *config;
    opened->how = (struct by_llm_convert){.in = checkpoint->path};
    *run =
        (struct by_convert_run){.options = &opened->how, .done = &opened->done, .in = checkpoint};
    by_arena_init(&run->arena, 0);
    by_meta_init(&run->meta, &run->arena);
    if (by_convert_begin(run, err) ||
        by_convert_unfold(run, BY_ELEM_BFLOAT16, &opened->files, err) ||
        by_json_parse(&checkpoint->arena, opened->files.config.text, opened->files.config.size,
                      "config.json", &config, err) ||
        by_llm_source_of_made(&opened->source, checkpoint, &run->made, err))
        return -1;
    checkpoint->config = config;
    opened->has_source = true;
    return 0;
}

static int open_any(struct by_llm_opened *opened, const char *path, enum by_llm_stacks stacks,
                    enum by_llm_names names, struct baryon_error *err)
{
    memset(opened, 0, sizeof *opened);
    if (by_checkpoint_open(&opened->checkpoint, path, err))
        return -1;
    if (opened->checkpoint->container == BY_GGUF && names == BY_LLM_NAMES_FOLDER)
        return unfold(opened, err);
    if (by_llm_source_open(&opened->source, opened->checkpoint, stacks, err))
        return -1;
    opened->has_source = true;
    return 0;
}

int by_llm_open(struct by_llm_opened *opened, const char *path, enum by_llm_stacks stacks,
                enum by_llm_names names, struct baryon_error *err)
{
    return open_any(opened, path, stacks, names, err) ||
                   by_llm_online_straighten(&opened->source, err)
               ? -1
               : 0;
}

int by_llm_open_to_run(struct by_llm_opened *opened, const char *path, struct baryon_error *err)
{
    return open_any(opened, path, BY_LLM_STACKS_SPLIT, BY_LLM_NAMES_FOLDER, err);
}

void by_llm_close(struct by_llm_opened *opened)
{
    if (opened->has_source)
        by_llm_source_close(&opened->source);
    by_folder_files_release(&opened->files);
    by_llm_converted_release(&opened->done);
    by_arena_release(&opened->unfolded.arena);
    by_checkpoint_close(opened->checkpoint);
    memset(opened, 0, sizeof *opened);
}
