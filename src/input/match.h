/*
 * Whether an array from a file can be a model's input, and how it becomes one.
 * The rules are in input.h.
 */
#ifndef BY_MATCH_H
#define BY_MATCH_H

#include "input/input.h"

/* Room for "float32 [a,b,...]" with names cut. */
#define BY_SHAPE_TEXT_MAX 256

struct by_match {
    const struct by_stored *stored;
    size_t rows;    /* places along dimension 0, which can be cut; 0: always taken whole */
    bool framed;    /* rows count samples, or parts of one; else every sample gets all of it */
    bool add_batch; /* a dimension of 1 is put in front */
};

struct by_match_rows {
    size_t first, count;
};

/* Type and shape of an input, "float32 [N,3,?,?]"; returns buf. */
const char *by_port_text(const struct by_port *port, char *buf, size_t size);
/*
 * Checks type and shape; the place in err is the input. batch: rows that a sample takes of
 * ports whose dimension 0 is that, 0: arrays are never cut.
 */
int by_match_array(const struct by_port *port, size_t batch, const struct by_stored *stored,
                   struct by_match *match, struct baryon_error *err);
/*
 * The array of each port among those of a file, by name: matches has port_count items.
 * *renamed: the only array went to the only port though their names differ.
 */
int by_match_all(const struct by_port *ports, size_t port_count, size_t batch,
                 const struct by_stored *arrays, size_t count, struct by_match *matches,
                 bool *renamed, struct baryon_error *err);

/* Rows of a matched array (NULL: all) as the port wants them; values go to the arena. */
int by_match_take(const struct by_match *match, const struct by_port *port,
                  const struct by_match_rows *rows, bool allow_nonfinite, struct by_arena *arena,
                  struct by_array *array, struct baryon_error *err);

/* True when values of one type are converted to the other (the same type is true too). */
bool by_can_convert(int64_t from, int64_t to);
/*
 * count values in native order; in and out do not overlap, in may be unaligned. A
 * value that does not fit is refused with its index, as text in dims' terms.
 */
int by_convert(int64_t from, const uint8_t *in, int64_t to, void *out, size_t count,
               const int64_t *dims, size_t rank, struct baryon_error *err);
/* Refuses NaN and infinities in values of a float type; others pass. */
int by_check_finite(int64_t elem, const void *values, size_t count, const int64_t *dims,
                    size_t rank, struct baryon_error *err);
/* "[0,2,17]": the place of a value by its number in C order; returns buf. */
const char *by_index_text(size_t number, const int64_t *dims, size_t rank, char *buf, size_t size);

#endif
