/*
 * Big payloads that need not stay in memory: a file without a name, seen through one mapping.
 * by_mapped_done() on its file gives pages back to the system, which reads them again when somebody
 * looks.
 */
#ifndef BY_SPILL_H
#define BY_SPILL_H

#include "base/file.h"

struct by_spill {
    struct by_mapped file; /* size: what is handed out; NULL bytes: not open */
    size_t room;           /* bytes that can be handed out */
};

/* The folder for temporary files: TMPDIR, or one of the system. */
const char *by_spill_folder(void);
/* room: address space set aside, no memory and no disk yet. */
int by_spill_open(struct by_spill *spill, const char *folder, size_t room,
                  struct baryon_error *err);
/* Zeros at the start of a page; *bytes NULL and no error when the room does not do. Disk is set
 * aside at once, so that a full one is told here. */
int by_spill_add(struct by_spill *spill, size_t size, uint8_t **bytes, struct baryon_error *err);
bool by_spill_has(const struct by_spill *spill, const uint8_t *bytes);
void by_spill_close(struct by_spill *spill);

#endif
