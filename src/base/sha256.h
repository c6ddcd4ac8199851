/*
 * SHA-256, by which a page names the only script and style that a browser may use in it.
 */
#ifndef BY_SHA256_H
#define BY_SHA256_H

#include <stddef.h>
#include <stdint.h>

void by_sha256(const uint8_t *bytes, size_t size, uint8_t digest[32]);

#endif
