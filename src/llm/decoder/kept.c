/* States and inputs of tokens between layers: as float32, or halved to bf16. */
#include "llm/decoder/decoder_internal.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

size_t by_decoder_kept_size(const struct by_decoder *decoder)
{
    return decoder->halved ? sizeof(uint16_t) : sizeof(float);
}

void by_decoder_get(const struct by_decoder *decoder, const void *kept, size_t first, size_t count,
                    float *out)
{
    if (decoder->halved)
        by_bf16_to_f32(out, (const uint16_t *)kept + first, count);
    else
        memcpy(out, (const float *)kept + first, count * sizeof *out);
}

void by_decoder_put(const struct by_decoder *decoder, void *kept, size_t first, size_t count,
                    const float *in)
{
    if (decoder->halved)
        by_f32_to_bf16((uint16_t *)kept + first, in, count);
    else
        memcpy((float *)kept + first, in, count * sizeof *in);
}

size_t by_decoder_strange(const struct by_decoder *decoder, const void *kept, size_t count)
{
    const uint16_t infinite = 0x7f80;
    const uint16_t *halves = kept;
    const float *floats = kept;
    size_t i = 0;
    if (decoder->halved)
        while (i < count && (halves[i] & infinite) != infinite)
            i++;
    else
        while (i < count && isfinite(floats[i]))
            i++;
    return i;
}
