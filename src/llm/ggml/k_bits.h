/*
 * Where the K types keep levels and scales of their groups: 256 levels and 16 (or 8) scales from
 * and to the bytes of a block.
 */
#ifndef BY_LLM_GGML_K_BITS_H
#define BY_LLM_GGML_K_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Low two bits of the levels in 64 bytes, the third ones in 32. */
void by_k_put_two(const uint8_t *levels, uint8_t *out);
void by_k_get_two(const uint8_t *in, uint8_t *levels);
void by_k_put_third(const uint8_t *levels, uint8_t *out);
void by_k_add_third(const uint8_t *in, uint8_t *levels);
/* Low four bits in 128 bytes, the fifth ones in 32 (Q4_K, Q5_K). */
void by_k_put_four(const uint8_t *levels, uint8_t *out);
void by_k_get_four(const uint8_t *in, uint8_t *levels);
void by_k_add_fifth(const uint8_t *in, uint8_t *levels);
void by_k_put_fifth(const uint8_t *levels, uint8_t *out);
/* Six bits: four in 128 bytes, two in 64 after them (Q6_K). */
void by_k_put_six(const uint8_t *levels, uint8_t *out);
void by_k_get_six(const uint8_t *in, uint8_t *levels);

/* Eight scales and eight minima of six bits in 12 bytes. */
void by_k_put_pairs(const uint8_t *scales, const uint8_t *mins, uint8_t *out);
void by_k_get_pairs(const uint8_t *in, uint8_t *scales, uint8_t *mins);
/* Sixteen scales of six bits in 12 bytes. */
void by_k_put_scales(const uint8_t *scales, uint8_t *out);
void by_k_get_scales(const uint8_t *in, uint8_t *scales);

#endif
