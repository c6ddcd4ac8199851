/*
 * What people note about a model: name, author, license, tags. A folder has it at the head of
 * README.md, between lines of three dashes, a GGUF file under general.*.
 */
#ifndef BY_LLM_NOTES_H
#define BY_LLM_NOTES_H

#include "base/str.h"
#include "llm/family/meta.h"

/* From README.md in the folder, if there is one; a head that is no YAML is left with a notice. */
int by_llm_notes_read(struct by_meta *meta, const char *folder, struct by_str *notices,
                      struct baryon_error *err);
/* From the metadata of another GGUF file: all of general.* but what is said about the file. */
int by_llm_notes_keep(struct by_meta *meta, const struct by_meta *from, struct baryon_error *err);
/* README.md of what is noted; stays empty where there is a name at most. */
int by_llm_notes_write(struct by_str *readme, const struct by_meta *meta, struct baryon_error *err);

#endif
