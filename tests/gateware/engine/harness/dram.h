// A LiteDRAM native port: latency, stalls and refresh, and a guard over addresses.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <stdexcept>
#include <vector>

#include "Vengine.h"

using Random = std::mt19937_64;

/// What must not happen.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How the port behaves; see `tests.support.gateware.dram_port.DramTiming`.
struct Timing {
    uint64_t latency_cycles = 1;
    uint64_t jitter_cycles = 0;
    double stall = 0;
    uint64_t refresh_every_cycles = 0;
    uint64_t refresh_cycles = 0;
};

/// The Program's range, with the arena's behind it.
struct Contents {
    uint64_t first_byte = 0;
    uint64_t program_bytes = 0;
    std::vector<uint8_t> bytes;
};

/// Whether something of this share of all cases, 0 to 1, is so.
inline bool happens(Random& random, double share) {
    return std::uniform_real_distribution<double>{}(random) < share;
}

/// Takes commands in order, one per cycle. Data are taken and given when it is time, whether or not
/// the other side has them: what is missed is a failure.
class Dram {
   public:
    Dram(Vengine& top, const Timing& timing, Random& random)
        : top_(top), timing_(timing), random_(random) {}

    Contents contents;

    /// Sets the engine's inputs for a cycle.
    void drive();
    /// Looks at what the engine gives in it.
    void sample();
    /// Whether every command that was taken is complete, but those from before a reset.
    bool is_idle() const {
        return (queue_.empty() || queue_.back().is_stale) && (!completes_ || current_.is_stale);
    }

   private:
    struct Command {
        uint64_t due;
        bool is_write;
        uint64_t place;
        /// The engine was reset after it: a word may be any, and no byte may be written.
        bool is_stale;
    };

    bool is_refreshing() const;
    void accept(bool is_write, uint64_t address);
    void write(const Command& command);

    Vengine& top_;
    Timing timing_;
    Random& random_;
    std::deque<Command> queue_;
    Command current_{};
    uint64_t cycle_ = 0;
    uint32_t offered_ = 0;
    bool takes_ = false;
    bool completes_ = false;
    bool waits_ = false;
};
