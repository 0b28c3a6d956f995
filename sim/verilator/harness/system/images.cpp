#include "images.h"

#include <cerrno>
#include <cstdio>
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

void copy(Memory& memory, std::FILE* file, const Image& image, uint64_t bytes, bool is_load) {
    if (!Memory::holds(image.address, bytes))
        throw UsageError("'" + image.path + "' does not fit into memory at its address");
    uint32_t address = image.address;
    while (bytes > 0) {
        uint32_t count = static_cast<uint32_t>(bytes);
        uint8_t* place = memory.chunk(address, count);
        const size_t done =
            is_load ? std::fread(place, 1, count, file) : std::fwrite(place, 1, count, file);
        if (done != count) throw UsageError("cannot copy '" + image.path + "'");
        address += count;
        bytes -= count;
    }
}

}  // namespace

void load_image(Memory& memory, const Image& image) {
    const auto file = open_file(image.path, "rb");
    std::fseek(file.get(), 0, SEEK_END);
    const long bytes = std::ftell(file.get());
    std::fseek(file.get(), 0, SEEK_SET);
    if (bytes < 0) throw UsageError("cannot read '" + image.path + "'");
    copy(memory, file.get(), image, static_cast<uint64_t>(bytes), true);
}

void dump_image(Memory& memory, const Image& image) {
    const auto file = open_file(image.path, "wb");
    copy(memory, file.get(), image, image.bytes, false);
}
