// The simulated memories, seen as the CPU's address space.
#pragma once

#include <cstdint>
#include <cstdio>

#include "memories.h"
#include "options.h"

class Memory {
   public:
    explicit Memory(Vsoc& top);

    /// Copies a file to an address; the range must lie in on-chip memory or in DRAM.
    void load(const Image& image);
    /// Copies a range into a file.
    void dump(const Image& image);
    /// The boot block's progress word.
    uint32_t progress();

   private:
    uint8_t* chunk(uint32_t address, uint32_t& bytes);
    void copy(std::FILE* file, const Image& image, uint64_t bytes, bool is_load);

    uint8_t* onchip_;
    std::array<uint8_t*, kDramBanks> banks_;
};
