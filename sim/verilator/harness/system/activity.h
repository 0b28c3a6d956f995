// A log of what the engine and the firmware's steps do, cheap enough for every run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

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

class Activity {
   public:
    /// `path` receives the records; an empty one gives none.
    Activity(const std::string& path, Memory& memory);
    ~Activity();
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;

    /// Looks at the state in a cycle, after its rising edge.
    void sample(const Vsoc& top, uint64_t cycle) {
        if (!file_) return;
        const uint32_t port = port_word(top.rootp);
        last_.reads += port & 1;
        last_.writes += port >> 1;
        const uint64_t engine = engine_word(top.rootp);
        const uint32_t progress = memory_.progress();
        if (engine == last_.engine && progress == last_.progress && cycle % kCyclesPerRecord != 0)
            return;
        last_.cycle = cycle;
        last_.engine = engine;
        last_.progress = progress;
        write();
    }

    /// Ends the log.
    void finish(uint64_t cycle);

   private:
    // Between records the CPU's words are taken to be spread evenly.
    static constexpr uint64_t kCyclesPerRecord = 4096;

    void write();

    std::FILE* file_ = nullptr;
    Memory& memory_;
    ActivityRecord last_{};
};
