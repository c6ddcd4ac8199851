/*
 * 128-bit hashes of content (XXH3), the same on every machine: for telling whether two
 * things are the same and whether a file is whole, not against forgers.
 */
#ifndef BY_HASH_H
#define BY_HASH_H

#include "base/mem.h"

struct by_hash128 {
    uint64_t low, high;
};

struct by_hash128 by_hash128(const void *bytes, size_t size);
bool by_hash128_equal(struct by_hash128 a, struct by_hash128 b);
/* 32 hexadecimal digits; returns out. */
const char *by_hash128_text(struct by_hash128 hash, char out[33]);
/* Sums do not depend on the order of what is added, modulo 2^128. */
struct by_hash128 by_hash128_sum(struct by_hash128 a, struct by_hash128 b);

/* The same of bytes that come in pieces; however they are cut, the hash is that of all. */
struct by_hasher;

int by_hasher_open(struct by_hasher **hasher, struct baryon_error *err);
void by_hasher_add(struct by_hasher *hasher, const void *bytes, size_t size);
/* A text with its length, so that "ab", "c" differs from "a", "bc". */
void by_hasher_text(struct by_hasher *hasher, const char *text);
void by_hasher_number(struct by_hasher *hasher, uint64_t number);
/* Of what was added up to here; more may follow. */
struct by_hash128 by_hasher_value(const struct by_hasher *hasher);
void by_hasher_close(struct by_hasher *hasher);

#endif
