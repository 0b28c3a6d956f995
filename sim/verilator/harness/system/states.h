// States of the engine and of the firmware's steps: what a log of activity is made of.
#pragma once

#include <cstdint>

#include "Vsoc.h"
#include "memory.h"
#include "probes.h"

/// A state and a cycle, at each change and now and then; kiwicha.sim.verilator.activity reads these
/// bytes.
struct ActivityRecord {
    uint64_t cycle;
    uint64_t engine;    ///< Bits of kiwicha.sim.soc.probes.
    uint32_t progress;  ///< Finished steps.
    uint32_t reads;     ///< DRAM words that the CPU has read so far.
    uint32_t writes;    ///< And written.
    uint32_t reserved;
};
static_assert(sizeof(ActivityRecord) == 32);

class States {
   public:
    explicit States(Memory& memory) : memory_(memory) {}

    /// Looks at the state in a cycle, after its rising edge; returns whether it is to be logged.
    bool sample(const Vsoc& top, uint64_t cycle) {
        const uint32_t port = port_word(top.rootp);
        last_.reads += port & 1;
        last_.writes += port >> 1;
        const uint64_t engine = engine_word(top.rootp);
        const uint32_t progress = memory_.progress();
        if (engine == last_.engine && progress == last_.progress && cycle % kCyclesPerRecord != 0)
            return false;
        last_.cycle = cycle;
        last_.engine = engine;
        last_.progress = progress;
        return true;
    }

    /// Sets the cycle of the last record.
    void finish(uint64_t cycle) { last_.cycle = cycle; }

    const ActivityRecord& last() const { return last_; }

   private:
    // Between records the CPU's words are taken to be spread evenly.
    static constexpr uint64_t kCyclesPerRecord = 4096;

    Memory& memory_;
    ActivityRecord last_{};
};
