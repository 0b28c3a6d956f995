// The simulated system on chip as a WebAssembly module: a page calls the functions at the end.
//
// An instance runs once, from reset to the firmware's exit.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vsoc.h"
#include "drain.h"
#include "memory.h"
#include "states.h"
#include "verilated.h"

namespace {

class Simulation {
   public:
    Simulation() {
        // The model's initial values are set by the first evaluation; images go in after that.
        top_.sys_clk = 0;
        top_.serial_source_ready = 1;
        top_.serial_sink_valid = 0;
        top_.eval();
    }

    /// Copies between a range of simulated memory and the buffer; false if there is no such range.
    bool copy(uint32_t address, uint32_t bytes, bool is_load) {
        if (!Memory::holds(address, bytes)) return false;
        buffer.resize(bytes);
        uint8_t* at = buffer.data();
        while (bytes > 0) {
            uint32_t count = bytes;
            uint8_t* place = memory_.chunk(address, count);
            std::memcpy(is_load ? place : at, is_load ? at : place, count);
            address += count;
            at += count;
            bytes -= count;
        }
        return true;
    }

    /// Simulates up to so many cycles; returns whether that was the end.
    bool run(uint32_t cycles) {
        const uint64_t limit = cycle + cycles;
        for (; cycle < std::min(limit, end_); ++cycle) step();
        if (cycle < end_) return false;
        states_.finish(cycle);
        records.push_back(states_.last());
        cycle -= kDrainCycles;
        return true;
    }

    uint32_t steps() { return memory_.progress(); }

    uint64_t cycle = 0;
    uint32_t code = 0;
    std::string uart;
    std::vector<uint8_t> buffer;
    std::vector<ActivityRecord> records;

   private:
    void step() {
        if (top_.serial_source_valid) uart.push_back(static_cast<char>(top_.serial_source_data));
        top_.sys_clk = 1;
        top_.eval();
        if (states_.sample(top_, cycle)) records.push_back(states_.last());
        top_.sys_clk = 0;
        top_.eval();
        if (top_.simulation_finish && !has_finished_) {
            has_finished_ = true;
            code = top_.simulation_code;
            end_ = cycle + kDrainCycles;
        }
    }

    VerilatedContext context_;
    Vsoc top_{&context_};
    Memory memory_{top_};
    States states_{memory_};
    bool has_finished_ = false;
    uint64_t end_ = UINT64_MAX;
};

Simulation& simulation() {
    static const auto only = std::make_unique<Simulation>();
    return *only;
}

}  // namespace

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

// Nothing is destroyed at the end: a page drops the whole instance.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

/// Makes room for so many bytes and returns where.
EXPORT(buffer) uint8_t* buffer(uint32_t bytes) {
    simulation().buffer.resize(bytes);
    return simulation().buffer.data();
}

/// Copies the buffer's first bytes into simulated memory; returns 0 if they do not fit there.
EXPORT(load) int load(uint32_t address, uint32_t bytes) {
    return simulation().copy(address, bytes, true);
}

/// Copies simulated memory into the buffer; returns 0 if there is no such range.
EXPORT(dump) int dump(uint32_t address, uint32_t bytes) {
    return simulation().copy(address, bytes, false);
}

/// Simulates up to so many cycles; returns 1 when the firmware has exited.
EXPORT(run) int run(uint32_t cycles) { return simulation().run(cycles); }

/// Cycles simulated so far; after the end, from reset to the exit.
EXPORT(cycles) double cycles() { return static_cast<double>(simulation().cycle); }

/// Steps that the firmware has finished.
EXPORT(steps) uint32_t steps() { return simulation().steps(); }

/// What the firmware reported when it exited.
EXPORT(code) uint32_t code() { return simulation().code; }

/// What the firmware sent.
EXPORT(uart) const char* uart() { return simulation().uart.data(); }
EXPORT(uart_bytes) uint32_t uart_bytes() { return static_cast<uint32_t>(simulation().uart.size()); }

/// Records of activity, as kiwicha.sim.verilator.activity reads them.
EXPORT(activity) const ActivityRecord* activity() { return simulation().records.data(); }
EXPORT(activity_bytes) uint32_t activity_bytes() {
    return static_cast<uint32_t>(simulation().records.size() * sizeof(ActivityRecord));
}
