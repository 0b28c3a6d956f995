#include "memory.h"

#include <algorithm>
#include <cstring>

namespace {

bool lies_in(uint32_t base, uint32_t size, uint32_t address, uint64_t bytes) {
    return address >= base && address - base + bytes <= size;
}

}  // namespace

Memory::Memory(Vsoc& top) : onchip_(reinterpret_cast<uint8_t*>(onchip_words(top.rootp))) {
    // A word of the model is little-endian words of 32 bits: on a little-endian host its bytes
    // are in the order of their addresses.
    static_assert(sizeof(DramWord) == kDramWordBytes);
    const auto banks = dram_banks(top.rootp);
    std::transform(banks.begin(), banks.end(), banks_.begin(),
                   [](DramWord* words) { return reinterpret_cast<uint8_t*>(words); });
}

bool Memory::holds(uint32_t address, uint64_t bytes) {
    return lies_in(kOnchipBase, kOnchipBytes, address, bytes) ||
           lies_in(kDramBase, kDramBytes, address, bytes);
}

uint8_t* Memory::chunk(uint32_t address, uint32_t& bytes) {
    if (lies_in(kOnchipBase, kOnchipBytes, address, bytes))
        return onchip_ + (address - kOnchipBase);
    const uint32_t offset = address - kDramBase;
    const uint32_t row = offset / kDramRowBytes;  // Consecutive rows lie in consecutive banks.
    const uint32_t column = offset % kDramRowBytes;
    bytes = std::min(bytes, kDramRowBytes - column);
    return banks_[row % kDramBanks] + size_t{row / kDramBanks} * kDramRowBytes + column;
}

uint32_t Memory::progress() {
    uint32_t bytes = sizeof(uint32_t);
    uint32_t value = 0;
    std::memcpy(&value, chunk(kProgressAddress, bytes), sizeof value);
    return value;
}
