/*
 * How codes of a matrix [rows][columns] lie in memory: some of them in a word, words one after the
 * other. Words are little-endian, of 1, 3 or 4 bytes.
 */
#ifndef BY_LLM_FORM_H
#define BY_LLM_FORM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum by_llm_direction {
    BY_FORM_ROWS,    /* [rows][columns / n]: a word holds neighbours in a row */
    BY_FORM_ACROSS,  /* [columns][rows / n]: neighbours in a column; transposed */
    BY_FORM_DOWN,    /* [columns / n][rows]: neighbours in a row; transposed */
    BY_FORM_STACKED, /* [rows / n][columns]: neighbours in a column */
};

struct by_llm_form {
    enum by_llm_direction direction;
    size_t rows, columns;
    unsigned bits, word;  /* of a code, of a word; a word has as many codes as fit */
    const uint8_t *order; /* place k of a word has its element order[k]; NULL: k */
    uint8_t flip;         /* bits that are stored the other way round */
};

/* Words that a line of that many codes takes. */
size_t by_llm_form_words(const struct by_llm_form *form, size_t codes);
/* Dimensions of the array of words. */
void by_llm_form_dims(const struct by_llm_form *form, uint64_t dims[2]);
/* Whether the words are the codes, row by row. */
bool by_llm_form_is_plain(const struct by_llm_form *form);
/* Rows [first, first + count), a byte each, into an array that was zeros there. Where words hold
 * rows, `first` is a multiple of the rows in a word: then pieces can be put by several threads. */
void by_llm_form_put(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                     size_t count, uint8_t *words);
void by_llm_form_get(const struct by_llm_form *form, const uint8_t *words, size_t first,
                     size_t count, uint8_t *codes);

#endif
