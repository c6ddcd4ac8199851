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

#endif
