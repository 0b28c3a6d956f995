#include "uart.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "options.h"

Uart::Uart(const std::string& output, const std::string& input)
    : output_(output == "-" ? stdout : std::fopen(output.c_str(), "wb")) {
    if (!output_) throw UsageError("cannot open '" + output + "': " + std::strerror(errno));
    if (input.empty()) return;
    input_ = input == "-" ? STDIN_FILENO : open(input.c_str(), O_RDONLY | O_NONBLOCK);
    if (input_ < 0) throw UsageError("cannot open '" + input + "': " + std::strerror(errno));
    fcntl(input_, F_SETFL, fcntl(input_, F_GETFL) | O_NONBLOCK);
}

Uart::~Uart() {
    if (input_ > STDIN_FILENO) close(input_);
    if (output_ != stdout) std::fclose(output_);
}

void Uart::poll(Vsoc& top) {
    uint8_t byte = 0;
    idle_cycles_ = 0;
    if (has_output_) flush();
    if (read(input_, &byte, 1) != 1) return;
    top.serial_sink_valid = 1;
    top.serial_sink_data = byte;
    // While bytes keep coming the next one is asked for at once.
    idle_cycles_ = kPollCycles;
}

void Uart::flush() {
    std::fflush(output_);
    has_output_ = false;
}
