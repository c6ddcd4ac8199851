/* What tokenizers ask of Unicode: categories of code points, and canonical forms. */
#ifndef BY_LLM_TEXT_UNICODE_H
#define BY_LLM_TEXT_UNICODE_H

#include "base/str.h"

/* General categories by their two letters, in the order of scripts/unicode.py. */
enum by_category {
    BY_CN,
    BY_CC,
    BY_CF,
    BY_CO,
    BY_CS,
    BY_LL,
    BY_LM,
    BY_LO,
    BY_LT,
    BY_LU,
    BY_MC,
    BY_ME,
    BY_MN,
    BY_ND,
    BY_NL,
    BY_NO,
    BY_PC,
    BY_PD,
    BY_PE,
    BY_PF,
    BY_PI,
    BY_PO,
    BY_PS,
    BY_SC,
    BY_SK,
    BY_SM,
    BY_SO,
    BY_ZL,
    BY_ZP,
    BY_ZS,
    BY_CATEGORIES,
};

enum by_category by_category_of(uint32_t code);
/* A set of categories by name, "L" or "Lu", as bits; 0: there is no such name. */
uint32_t by_category_mask(const char *name, size_t size);
/* Categories of what words are of. */
uint32_t by_word_mask(void);
/* The property White_Space. */
bool by_is_white(uint32_t code);

/* Appends the text in a canonical form: composed (NFC) or not (NFD). The text is valid UTF-8. */
int by_canonical(struct by_str *out, const char *text, size_t size, bool composed,
                 struct baryon_error *err);
/* Appends the text with U+FFFD for what is no UTF-8: one for each longest part that could begin a
 * character, as Python's decode(errors="replace") does. */
void by_utf8_repair(struct by_str *out, const char *text, size_t size);

#endif
