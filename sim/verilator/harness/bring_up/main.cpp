// Simulates the bring-up design, its serial line joined bit by bit to standard input and output.
//
// Arguments: cycles of a bit as the host sends and reads it, which need not be whole. It ends at
// the end of its input, with the simulated cycles and the design's framing errors on standard
// error.

#include <poll.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "Vbring_up.h"
#include "line.h"
#include "verilated.h"

namespace {

// So long after the last bit nothing happens any more that takes time: the design's own limits are
// shorter. The simulation then waits for the host.
constexpr uint64_t kIdleBits = 100;
// Asking the host is a system call: rare enough not to slow the simulation.
constexpr uint64_t kPollCycles = 512;

bool write_all(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t count = write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
        if (count < 0) return false;
        at += static_cast<std::size_t>(count);
    }
    return true;
}

bool has_input(bool waits) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, waits ? -1 : 0) > 0;
}

}  // namespace

int main(int argc, char** argv) {
    const double cycles_per_bit = argc == 2 ? std::atof(argv[1]) : 0;
    if (cycles_per_bit < 4) {
        std::fprintf(stderr, "usage: %s CYCLES_PER_BIT, 4 or more\n", argv[0]);
        return 2;
    }
    const auto context = std::make_unique<VerilatedContext>();
    const auto top = std::make_unique<Vbring_up>(context.get());
    Sender sender(cycles_per_bit);
    Receiver receiver(cycles_per_bit);
    const uint64_t idle_limit = static_cast<uint64_t>(kIdleBits * cycles_per_bit);
    const uint64_t flush_limit = static_cast<uint64_t>(2 * cycles_per_bit);
    std::string output;
    uint64_t cycles = 0;
    uint64_t idle_cycles = 0;

    top->rst = 1;
    top->rx = 1;
    for (;; ++cycles) {
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
        if (cycles == 2) top->rst = 0;
        top->rx = sender.level();
        if (const auto byte = receiver.sample(top->tx)) output += static_cast<char>(*byte);
        idle_cycles = sender.is_idle() && receiver.is_idle() ? idle_cycles + 1 : 0;
        if (idle_cycles >= flush_limit && !output.empty()) {
            if (!write_all(output)) break;
            output.clear();
        }
        if (!sender.is_idle() || cycles % kPollCycles != 0) continue;
        if (!has_input(idle_cycles >= idle_limit)) continue;
        uint8_t bytes[4096];
        const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
        if (count <= 0) break;
        for (ssize_t at = 0; at < count; ++at) sender.send(bytes[at]);
    }
    top->final();
    std::fprintf(stderr, "{\"cycles\": %" PRIu64 ", \"framing_errors\": %" PRIu64 "}\n", cycles,
                 receiver.errors());
    return 0;
}
