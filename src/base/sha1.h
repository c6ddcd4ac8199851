/*
 * SHA-1, only because the ONNX format names it for the checksum of a data file.
 * It finds damage; it is no protection against somebody who wants to deceive.
 */
#ifndef BY_SHA1_H
#define BY_SHA1_H

#include <stddef.h>
#include <stdint.h>

void by_sha1(const uint8_t *bytes, size_t size, uint8_t digest[20]);

#endif
