#include "memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace {

struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

std::unique_ptr<std::FILE, Closer> open_file(const std::string& path, const char* mode) {
    std::unique_ptr<std::FILE, Closer> file{std::fopen(path.c_str(), mode)};
    if (!file) throw UsageError("cannot open '" + path + "': " + std::strerror(errno));
    return file;
}

bool holds(uint32_t base, uint32_t size, uint32_t address, uint64_t bytes) {
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

// Returns where an address lies and cuts `bytes` to what follows it without a gap.
uint8_t* Memory::chunk(uint32_t address, uint32_t& bytes) {
    if (holds(kOnchipBase, kOnchipBytes, address, bytes)) return onchip_ + (address - kOnchipBase);
    const uint32_t offset = address - kDramBase;
    const uint32_t row = offset / kDramRowBytes;  // Consecutive rows lie in consecutive banks.
    const uint32_t column = offset % kDramRowBytes;
    bytes = std::min(bytes, kDramRowBytes - column);
    return banks_[row % kDramBanks] + size_t{row / kDramBanks} * kDramRowBytes + column;
}

void Memory::copy(std::FILE* file, const Image& image, uint64_t bytes, bool is_load) {
    if (!holds(kOnchipBase, kOnchipBytes, image.address, bytes) &&
        !holds(kDramBase, kDramBytes, image.address, bytes))
        throw UsageError("'" + image.path + "' does not fit into memory at its address");
    uint32_t address = image.address;
    while (bytes > 0) {
        uint32_t count = static_cast<uint32_t>(bytes);
        uint8_t* place = chunk(address, count);
        const size_t done =
            is_load ? std::fread(place, 1, count, file) : std::fwrite(place, 1, count, file);
        if (done != count) throw UsageError("cannot copy '" + image.path + "'");
        address += count;
        bytes -= count;
    }
}

void Memory::load(const Image& image) {
    const auto file = open_file(image.path, "rb");
    std::fseek(file.get(), 0, SEEK_END);
    const long bytes = std::ftell(file.get());
    std::fseek(file.get(), 0, SEEK_SET);
    if (bytes < 0) throw UsageError("cannot read '" + image.path + "'");
    copy(file.get(), image, static_cast<uint64_t>(bytes), true);
}

void Memory::dump(const Image& image) {
    const auto file = open_file(image.path, "wb");
    copy(file.get(), image, image.bytes, false);
}

uint32_t Memory::progress() {
    uint32_t bytes = sizeof(uint32_t);
    uint32_t value = 0;
    std::memcpy(&value, chunk(kProgressAddress, bytes), sizeof value);
    return value;
}
