/* Chooses the path of the searches for scales. */
#include "llm/ggml/search.h"

const struct by_ggml_search *by_ggml_search(void)
{
#if defined(__x86_64__)
    if (by_ggml_search_avx2.supported())
        return &by_ggml_search_avx2;
#elif defined(__aarch64__)
    return &by_ggml_search_neon;
#endif
    return &by_ggml_search_plain;
}
