// The functions of zlib that Verilator's FST writer calls, so that traces need no library. The data
// that it gives to them is small: it is wrapped, not compressed.
#pragma once

#include <cstdint>
#include <cstring>

using Bytef = unsigned char;
using uLong = unsigned long;
using uLongf = unsigned long;

constexpr int Z_OK = 0;
constexpr int Z_BUF_ERROR = -5;

namespace kiwicha_zlib {

constexpr uLong kBlockBytes = 65535;  // Most that a stored block holds.

inline uint32_t adler32(const Bytef* source, uLong size) {
    uint32_t low = 1;
    uint32_t high = 0;
    for (uLong at = 0; at < size; ++at) {
        low = (low + source[at]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

}  // namespace kiwicha_zlib

// Header of 2 bytes, 5 bytes for each block and at least one block, checksum of 4 bytes.
inline uLong compressBound(uLong size) {
    return size + 5 * (size / kiwicha_zlib::kBlockBytes + 1) + 6;
}

// Writes a zlib stream of stored blocks.
// Ref: RFC 1950, RFC 1951 section 3.2.4.
inline int compress2(Bytef* target, uLongf* target_size, const Bytef* source, uLong size, int) {
    using namespace kiwicha_zlib;
    if (*target_size < compressBound(size)) return Z_BUF_ERROR;
    Bytef* to = target;
    *to++ = 0x78;  // Deflate with a window of 32 KiB.
    *to++ = 0x01;  // Makes the header a multiple of 31.
    uLong at = 0;
    bool is_last = false;
    while (!is_last) {
        const uLong count = size - at < kBlockBytes ? size - at : kBlockBytes;
        is_last = at + count == size;
        *to++ = is_last;
        *to++ = static_cast<Bytef>(count);
        *to++ = static_cast<Bytef>(count >> 8);
        *to++ = static_cast<Bytef>(~count);
        *to++ = static_cast<Bytef>(~count >> 8);
        if (count > 0) std::memcpy(to, source + at, count);
        to += count;
        at += count;
    }
    const uint32_t check = adler32(source, size);
    for (int shift = 24; shift >= 0; shift -= 8) *to++ = static_cast<Bytef>(check >> shift);
    *target_size = static_cast<uLongf>(to - target);
    return Z_OK;
}
