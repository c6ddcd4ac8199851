/* Tables that scripts/unicode.py writes. */
#ifndef BY_LLM_TEXT_UNICODE_DATA_H
#define BY_LLM_TEXT_UNICODE_DATA_H

#include <stddef.h>
#include <stdint.h>

/* code point << 5 | enum by_category, ascending. */
extern const uint32_t by_unicode_categories[];
extern const size_t by_unicode_categories_count;
/* code point << 8 | canonical combining class, ascending. */
extern const uint32_t by_unicode_classes[];
extern const size_t by_unicode_classes_count;
/* Three numbers a row, ascending. */
extern const uint32_t by_unicode_cuts[];
extern const size_t by_unicode_cuts_count;
extern const uint32_t by_unicode_joins[];
extern const size_t by_unicode_joins_count;

/* The row of the run that a code point is in; rows have code points above `shift` bits. */
static inline uint32_t by_unicode_run(const uint32_t *rows, size_t count, unsigned shift,
                                      uint32_t code)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle] >> shift <= code)
            low = middle;
        else
            high = middle;
    }
    return rows[low];
}

#endif
