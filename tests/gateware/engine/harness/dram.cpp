#include "dram.h"

#include <string>

namespace {

constexpr uint64_t kWordBytes = 16;
constexpr uint64_t kPartBytes = 4;

}  // namespace

bool Dram::is_refreshing() const {
    const uint64_t every = timing_.refresh_every_cycles;
    return every && cycle_ % (every + timing_.refresh_cycles) >= every;
}

void Dram::drive() {
    const bool is_refreshing = this->is_refreshing();
    takes_ = !is_refreshing && !happens(random_, timing_.stall);
    completes_ = !queue_.empty() && queue_.front().due <= cycle_ && !is_refreshing &&
                 !happens(random_, timing_.stall);
    if (completes_) {
        current_ = queue_.front();
        queue_.pop_front();
    }
    const bool is_read = completes_ && !current_.is_write;
    top_.memory___05Fcmd___05Fready = takes_;
    top_.memory___05Fwdata___05Fready = completes_ && current_.is_write;
    top_.memory___05Frdata___05Fvalid = is_read;
    for (uint64_t part = 0; part < kWordBytes / kPartBytes; ++part) {
        uint32_t value = static_cast<uint32_t>(random_());
        if (is_read && !current_.is_stale) {
            value = 0;
            for (uint64_t k = 0; k < kPartBytes; ++k) {
                const uint64_t place = current_.place + kPartBytes * part + k;
                value |= static_cast<uint32_t>(contents.bytes[place]) << 8 * k;
            }
        }
        top_.memory___05Frdata___05Fpayload[part] = value;
    }
}

void Dram::sample() {
    if (completes_ && current_.is_write) write(current_);
    if (top_.memory___05Fcmd___05Fvalid) {
        const uint32_t payload = top_.memory___05Fcmd___05Fpayload;
        if (waits_ && payload != offered_) throw Failure("a command that waited changed");
        offered_ = payload;
        waits_ = !takes_;
        if (takes_) accept(payload & 1, static_cast<uint64_t>(payload >> 1) * kWordBytes);
    } else if (waits_) {
        throw Failure("a command that waited went away");
    }
    if (top_.reset) {
        waits_ = false;
        for (Command& command : queue_) command.is_stale = true;
    }
    ++cycle_;
}

void Dram::accept(bool is_write, uint64_t address) {
    const uint64_t base = contents.first_byte;
    const uint64_t first = base + (is_write ? contents.program_bytes : 0);
    const uint64_t end = base + contents.bytes.size();
    if (address < first || address + kWordBytes > end)
        throw Failure(std::string(is_write ? "write" : "read") + " outside the ranges, byte " +
                      std::to_string(address));
    const uint64_t jitter = timing_.jitter_cycles ? random_() % (timing_.jitter_cycles + 1) : 0;
    queue_.push_back({cycle_ + timing_.latency_cycles + jitter, is_write, address - base, false});
}

void Dram::write(const Command& command) {
    if (!command.is_stale && !top_.memory___05Fwdata___05Fvalid)
        throw Failure("data must be there when the port takes it");
    const auto& payload = top_.memory___05Fwdata___05Fpayload;
    if (command.is_stale && payload[kWordBytes / kPartBytes])
        throw Failure("what was asked for before a reset must not be written");
    for (uint64_t k = 0; k < kWordBytes; ++k)
        if (payload[kWordBytes / kPartBytes] >> k & 1)
            contents.bytes[command.place + k] =
                static_cast<uint8_t>(payload[k / kPartBytes] >> 8 * (k % kPartBytes));
}
