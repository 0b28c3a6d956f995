// The simulated memories, seen as the CPU's address space.
#pragma once

#include <cstdint>

#include "memories.h"

class Memory {
   public:
    explicit Memory(Vsoc& top);

    /// Whether a range lies in on-chip memory or in DRAM.
    static bool holds(uint32_t address, uint64_t bytes);
    /// Where an address lies; cuts `bytes` to what follows it without a gap.
    uint8_t* chunk(uint32_t address, uint32_t& bytes);
    /// The boot block's progress word.
    uint32_t progress();

   private:
    uint8_t* onchip_;
    std::array<uint8_t*, kDramBanks> banks_;
};
