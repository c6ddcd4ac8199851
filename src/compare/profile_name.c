/* Finds the names of the float model in those of a quantized one. */
#include "compare/profile.h"

#include <ctype.h>
#include <string.h>

/* Longer ones first, where one ends in another. */
static const char *const endings[] = {
    "_DequantizeLinear_Output",
    "_DequantizeLinear_Input",
    "_QuantizeLinear_Output",
    "_QuantizeLinear_Input",
    "_DequantizeLinear",
    "_QuantizeLinear",
    "_dequantized",
    "_quantized",
    "_quant",
    "_Q2",
    "_Q4",
    "_Q8",
};

/* "_2" after an ending, which tells pairs of single readers apart. */
static size_t without_number(const char *name, size_t size)
{
    size_t end = size;
    while (end && isdigit((unsigned char)name[end - 1]))
        end--;
    return end < size && end > 1 && name[end - 1] == '_' ? end - 1 : size;
}

static size_t without_ending(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i]);
        if (size > length && !memcmp(name + size - length, endings[i], length))
            return size - length;
    }
    return size;
}

const char *by_profile_name(struct by_arena *arena, const char *name, struct baryon_error *err)
{
    size_t size = strlen(name);
    for (;;) {
        size_t less = without_ending(name, size);
        if (less == size) {
            const size_t bare = without_number(name, size);
            less = bare < size ? without_ending(name, bare) : size;
            if (less == bare)
                break;
        }
        if (less == size)
            break;
        size = less;
    }
    return by_arena_text(arena, name, size, err);
}
