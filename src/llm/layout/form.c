/* Packs codes into words and unpacks them. */
#include "llm/layout/form_quick.h"

#include <string.h>

/* So that what is done with each word is no call. */
#define INLINE static inline __attribute__((always_inline))

static size_t per_word(const struct by_llm_form *form)
{
    return form->word / form->bits;
}

static bool is_along_row(const struct by_llm_form *form)
{
    return form->direction == BY_FORM_ROWS || form->direction == BY_FORM_DOWN;
}

size_t by_llm_form_words(const struct by_llm_form *form, size_t codes)
{
    return codes / per_word(form) + (codes % per_word(form) != 0);
}

void by_llm_form_dims(const struct by_llm_form *form, uint64_t dims[2])
{
    const size_t rows = is_along_row(form) ? form->rows : by_llm_form_words(form, form->rows);
    const size_t columns =
        is_along_row(form) ? by_llm_form_words(form, form->columns) : form->columns;
    const bool turned = form->direction == BY_FORM_ACROSS || form->direction == BY_FORM_DOWN;
    dims[0] = turned ? columns : rows;
    dims[1] = turned ? rows : columns;
}

/* Shifts of the elements of a word. */
static void shifts_of(const struct by_llm_form *form, unsigned shifts[32])
{
    const size_t per = per_word(form);
    for (size_t k = 0; k < per; k++)
        shifts[form->order ? form->order[k] : k] = (unsigned)k * form->bits;
}

static uint32_t get_word(const uint8_t *at, size_t bytes)
{
    uint32_t word = 0;
    for (size_t i = 0; i < bytes; i++)
        word |= (uint32_t)at[i] << 8 * i;
    return word;
}

static void put_word(uint8_t *at, size_t bytes, uint32_t word)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(word >> 8 * i);
}

/* Where the word of row and column is, in words. */
static size_t place_of(const struct by_llm_form *form, const uint64_t dims[2], size_t row_word,
                       size_t column_word)
{
    const bool turned = form->direction == BY_FORM_ACROSS || form->direction == BY_FORM_DOWN;
    return turned ? column_word * (size_t)dims[1] + row_word
                  : row_word * (size_t)dims[1] + column_word;
}

/* Codes of a word: the first, how many, and from one to the next. */
struct run {
    size_t at, count, step;
};

typedef void word_fn(uint8_t *word, size_t bytes, uint8_t *codes, const struct run *run,
                     const struct by_llm_form *form, const unsigned shifts[32]);

INLINE void put_run(uint8_t *word, size_t bytes, uint8_t *codes, const struct run *run,
                    const struct by_llm_form *form, const unsigned shifts[32])
{
    const uint32_t mask = (1u << form->bits) - 1;
    uint32_t value = 0;
    for (size_t k = 0; k < run->count; k++)
        value |= ((codes[run->at + k * run->step] ^ form->flip) & mask) << shifts[k];
    put_word(word, bytes, value);
}

INLINE void get_run(uint8_t *word, size_t bytes, uint8_t *codes, const struct run *run,
                    const struct by_llm_form *form, const unsigned shifts[32])
{
    const uint32_t mask = (1u << form->bits) - 1, value = get_word(word, bytes);
    for (size_t k = 0; k < run->count; k++)
        codes[run->at + k * run->step] = (uint8_t)((value >> shifts[k] & mask) ^ form->flip);
}

INLINE void along_rows(const struct by_llm_form *form, uint8_t *codes, size_t first, size_t count,
                       uint8_t *words, word_fn *each)
{
    const size_t per = per_word(form), bytes = form->word / 8;
    uint64_t dims[2];
    unsigned shifts[32];
    by_llm_form_dims(form, dims);
    shifts_of(form, shifts);
    for (size_t begin = 0; begin < form->columns; begin += per) {
        const size_t left = form->columns - begin;
        struct run run = {.count = left < per ? left : per, .step = 1};
        for (size_t r = 0; r < count; r++) {
            run.at = r * form->columns + begin;
            each(words + place_of(form, dims, first + r, begin / per) * bytes, bytes, codes, &run,
                 form, shifts);
        }
    }
}

INLINE void along_columns(const struct by_llm_form *form, uint8_t *codes, size_t first,
                          size_t count, uint8_t *words, word_fn *each)
{
    const size_t per = per_word(form), bytes = form->word / 8;
    uint64_t dims[2];
    unsigned shifts[32];
    by_llm_form_dims(form, dims);
    shifts_of(form, shifts);
    for (size_t begin = 0; begin < count; begin += per) {
        struct run run = {.count = count - begin < per ? count - begin : per,
                          .step = form->columns};
        for (size_t c = 0; c < form->columns; c++) {
            run.at = begin * form->columns + c;
            each(words + place_of(form, dims, (first + begin) / per, c) * bytes, bytes, codes, &run,
                 form, shifts);
        }
    }
}

bool by_llm_form_is_plain(const struct by_llm_form *form)
{
    return form->bits == 8 && form->word == 8 && !form->flip && form->direction == BY_FORM_ROWS;
}

void by_llm_form_put(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                     size_t count, uint8_t *words)
{
    uint8_t *from = (uint8_t *)(uintptr_t)codes; /* put_run() only reads */
    const size_t done = by_llm_form_put_quickly(form, codes, first, count, words);
    from += done * form->columns;
    first += done;
    count -= done;
    if (by_llm_form_is_plain(form))
        memcpy(words + first * form->columns, from, count * form->columns);
    else if (is_along_row(form))
        along_rows(form, from, first, count, words, put_run);
    else
        along_columns(form, from, first, count, words, put_run);
}

void by_llm_form_get(const struct by_llm_form *form, const uint8_t *words, size_t first,
                     size_t count, uint8_t *codes)
{
    uint8_t *from = (uint8_t *)(uintptr_t)words; /* get_run() only reads */
    if (by_llm_form_is_plain(form))
        memcpy(codes, words + first * form->columns, count * form->columns);
    else if (is_along_row(form))
        along_rows(form, codes, first, count, from, get_run);
    else
        along_columns(form, codes, first, count, from, get_run);
}
