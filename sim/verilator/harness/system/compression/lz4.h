// The two functions of liblz4 that Verilator's FST writer calls, so that traces need no library.
#pragma once

#include <cstdint>
#include <cstring>

// Worst case of a block: all literals, one length byte per 255 of them.
inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

namespace kiwicha_lz4 {

constexpr int kHashBits = 12;
constexpr int kMinMatch = 4;
// The format's end: the last 5 bytes are literals, and no match starts in the last 12.
constexpr int kLastLiterals = 5;
constexpr int kMatchLimit = 12;
constexpr int kMaxOffset = 65535;

inline uint32_t load(const char* place) {
    uint32_t value = 0;
    std::memcpy(&value, place, sizeof value);
    return value;
}

// A length beyond the token's 4 bits goes on in bytes, of which all but the last are 255.
inline char* put_length(char* to, int rest) {
    for (; rest >= 255; rest -= 255) *to++ = static_cast<char>(255);
    *to++ = static_cast<char>(rest);
    return to;
}

// Writes literals and, if `match` is not 0, a copy of `match` bytes from `offset` bytes back.
inline char* put_sequence(char* to, const char* literals, int count, int match, int offset) {
    const int code = match ? match - kMinMatch : 0;
    *to++ = static_cast<char>((count < 15 ? count : 15) << 4 | (code < 15 ? code : 15));
    if (count >= 15) to = put_length(to, count - 15);
    if (count > 0) std::memcpy(to, literals, static_cast<size_t>(count));
    to += count;
    if (!match) return to;
    *to++ = static_cast<char>(offset);
    *to++ = static_cast<char>(offset >> 8);
    return code >= 15 ? put_length(to, code - 15) : to;
}

}  // namespace kiwicha_lz4

// Compresses into one LZ4 block: greedy, with one candidate per hash. Returns its size, or 0 if
// `capacity` is below LZ4_compressBound(size).
// Ref: LZ4 Block Format Description, 2022-07-31.
inline int LZ4_compress_default(const char* source, char* target, int size, int capacity) {
    using namespace kiwicha_lz4;
    if (capacity < LZ4_compressBound(size)) return 0;
    int last_seen[1 << kHashBits] = {};  // Position + 1; 0: none.
    char* to = target;
    int literals = 0;
    int at = 0;
    while (at < size - kMatchLimit) {
        const uint32_t word = load(source + at);
        int& slot = last_seen[word * 2654435761u >> (32 - kHashBits)];
        const int candidate = slot - 1;
        slot = at + 1;
        if (candidate < 0 || at - candidate > kMaxOffset || load(source + candidate) != word) {
            ++at;
            continue;
        }
        int match = kMinMatch;
        while (at + match < size - kLastLiterals && source[candidate + match] == source[at + match])
            ++match;
        to = put_sequence(to, source + literals, at - literals, match, at - candidate);
        at += match;
        literals = at;
    }
    return static_cast<int>(put_sequence(to, source + literals, size - literals, 0, 0) - target);
}
