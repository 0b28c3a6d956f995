#include "options.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr char kHelp[] =
    "usage: Vsoc [options]\n"
    "  --load ADDRESS:FILE        copy a file into simulated memory before the first cycle\n"
    "  --dump ADDRESS:BYTES:FILE  copy simulated memory into a file after the last cycle\n"
    "  --max-cycles N             stop with exit status 3 after N cycles\n"
    "  --uart-output FILE         where the UART's bytes go; default -, standard output\n"
    "  --uart-input FILE          bytes for the UART: a file, a pipe, or - for standard input\n"
    "  --activity FILE            write a record whenever the engine or a step changes state\n"
    "  --trace FILE               write waveforms in FST format\n"
    "  --trace-start CYCLE        first cycle of the waveforms\n"
    "  --trace-stop CYCLE         first cycle that is not in the waveforms\n";

uint64_t parse_number(const std::string& text, uint64_t most) {
    char* end = nullptr;
    errno = 0;
    const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
    if (text.empty() || text[0] == '-' || *end != '\0' || errno != 0 || value > most)
        throw UsageError("a number must be 0 to " + std::to_string(most) + ", not '" + text + "'");
    return value;
}

uint32_t parse_word(const std::string& text) {
    return static_cast<uint32_t>(parse_number(text, std::numeric_limits<uint32_t>::max()));
}

// Removes and returns what stands before the next colon.
std::string take_field(std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) throw UsageError("'" + text + "' lacks a colon");
    std::string field = text.substr(0, colon);
    text.erase(0, colon + 1);
    return field;
}

Image parse_image(std::string text, bool has_bytes) {
    Image image{};
    image.address = parse_word(take_field(text));
    if (has_bytes) image.bytes = parse_word(take_field(text));
    image.path = text;
    return image;
}

}  // namespace

Options parse_options(int argc, char** argv) {
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    Options options;
    for (int index = 1; index < argc; index += 2) {
        const std::string name = argv[index];
        if (name == "--help") {
            std::fputs(kHelp, stdout);
            std::exit(EXIT_SUCCESS);
        }
        if (index + 1 == argc) throw UsageError("'" + name + "' lacks its value; see --help");
        const std::string value = argv[index + 1];
        if (name == "--load")
            options.loads.push_back(parse_image(value, false));
        else if (name == "--dump")
            options.dumps.push_back(parse_image(value, true));
        else if (name == "--max-cycles")
            options.max_cycles = parse_number(value, kMost);
        else if (name == "--uart-output")
            options.uart_output = value;
        else if (name == "--uart-input")
            options.uart_input = value;
        else if (name == "--activity")
            options.activity_path = value;
        else if (name == "--trace")
            options.trace_path = value;
        else if (name == "--trace-start")
            options.trace_start = parse_number(value, kMost);
        else if (name == "--trace-stop")
            options.trace_stop = parse_number(value, kMost);
        else
            throw UsageError("unknown option '" + name + "'; see --help");
    }
    return options;
}
