/*
 * What the readers of containers share.
 */
#ifndef BY_LLM_STORE_INTERNAL_H
#define BY_LLM_STORE_INTERNAL_H

#include "llm/store/checkpoint.h"

/* Tensors while they are found. */
struct by_stored_list {
    struct by_stored_tensor *at;
    size_t count, cap;
};

/* The longest text of a header, and its values: so many fit. */
#define BY_SAFETENSORS_HEADER_MAX (100u << 20)

/* Fills checkpoint->files and tensors; the arena is there. */
int by_safetensors_open(struct by_checkpoint *checkpoint, struct by_stored_list *list,
                        struct baryon_error *err);
/* files[0] is mapped: a whole file, or the first of its parts, whose others are beside it. */
int by_gguf_open(struct by_checkpoint *checkpoint, struct by_stored_list *list,
                 struct baryon_error *err);
/* Reads the header of files[file] into gguf, whose map is empty, and adds its tensors. */
int by_gguf_header(struct by_checkpoint *checkpoint, size_t file, struct by_gguf *gguf,
                   struct by_stored_list *list, struct baryon_error *err);
/* "NAME-00002-of-00003.gguf": the length of NAME and both numbers; false for other names. */
bool by_gguf_part(const char *name, size_t *stem, unsigned *part, unsigned *parts);
/* That name; false when it is too long for buf. */
bool by_gguf_part_name(char *buf, size_t size, const char *name, size_t stem, unsigned part,
                       unsigned parts);
/* Reads the header of files[file], which is mapped, and adds its tensors, by offset. */
int by_safetensors_header(struct by_checkpoint *checkpoint, size_t file,
                          struct by_stored_list *list, struct baryon_error *err);
/* elements and bytes from dims and type; what does not fit is refused. */
int by_stored_size(struct by_stored_tensor *tensor, struct baryon_error *err);
/* By file offset, from list->at[first] on. */
void by_stored_sort(struct by_stored_list *list, size_t first);
struct by_stored_file *by_stored_files(struct by_checkpoint *checkpoint, size_t count,
                                       struct baryon_error *err);
/* Maps folder/name as files[file]; links are followed, as caches of downloads need. Where the path
 * is a file, files[0] is that file. */
int by_stored_map(struct by_checkpoint *checkpoint, size_t file, const char *name,
                  struct baryon_error *err);

#endif
