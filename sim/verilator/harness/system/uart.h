// The system's UART, joined to files or pipes of the host.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "Vsoc.h"

class Uart {
   public:
    /// `output` and `input` are paths; "-" is standard output and input, an empty input is silent.
    Uart(const std::string& output, const std::string& input);
    ~Uart();
    Uart(const Uart&) = delete;
    Uart& operator=(const Uart&) = delete;

    /// Samples what the coming clock edge transfers.
    void before_edge(Vsoc& top) {
        if (top.serial_source_valid) {
            std::fputc(top.serial_source_data, output_);
            has_output_ = true;
        }
        was_taken_ = top.serial_sink_valid && top.serial_sink_ready;
    }

    /// Offers the next byte.
    void after_edge(Vsoc& top) {
        if (was_taken_) top.serial_sink_valid = 0;
        if (input_ >= 0 && !top.serial_sink_valid && ++idle_cycles_ >= kPollCycles) poll(top);
    }

    void flush();

   private:
    // Asking the host for a byte is a system call: rare enough not to slow the simulation.
    static constexpr uint32_t kPollCycles = 1024;

    void poll(Vsoc& top);

    std::FILE* output_;
    int input_ = -1;
    uint32_t idle_cycles_ = 0;
    bool was_taken_ = false;
    bool has_output_ = false;
};
