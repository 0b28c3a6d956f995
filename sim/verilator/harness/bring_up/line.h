// The host's end of a serial line, bit by bit: 8 data bits, least significant first, one stop bit.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

/// Drives the line that the design receives from.
class Sender {
   public:
    explicit Sender(double cycles_per_bit) : cycles_per_bit_(cycles_per_bit) {}

    void send(uint8_t byte) { bytes_.push_back(byte); }
    bool is_idle() const { return bytes_.empty() && bits_left_ == 0; }

    /// Returns the level of the line in the next cycle.
    bool level() {
        if (bits_left_ == 0 && !bytes_.empty()) {
            // Start bit, data, stop bit.
            bits_ = 0x200u | static_cast<uint32_t>(bytes_.front()) << 1;
            bytes_.pop_front();
            bits_left_ = 10;
            left_ += cycles_per_bit_;
        }
        if (bits_left_ == 0) return true;
        const bool level = bits_ & 1;
        left_ -= 1;
        if (left_ < 0.5) {
            bits_ >>= 1;
            // What is left of a cycle goes to the next bit: the mean length is exact.
            if (--bits_left_ != 0) left_ += cycles_per_bit_;
        }
        return level;
    }

   private:
    double cycles_per_bit_;
    double left_ = 0;
    std::deque<uint8_t> bytes_;
    uint32_t bits_ = 0;
    unsigned bits_left_ = 0;
};

/// Reads the line that the design sends on.
class Receiver {
   public:
    explicit Receiver(double cycles_per_bit) : cycles_per_bit_(cycles_per_bit) {}

    bool is_idle() const { return bit_ < 0; }
    uint64_t errors() const { return errors_; }

    /// Takes the level of the line in one cycle; returns the byte that it completes.
    std::optional<uint8_t> sample(bool level) {
        if (bit_ < 0) {
            if (level || !was_high_) {
                was_high_ = level;
                return std::nullopt;
            }
            bit_ = 0;
            left_ = cycles_per_bit_ / 2;
            byte_ = 0;
        }
        was_high_ = level;
        left_ -= 1;
        if (left_ >= 0) return std::nullopt;
        left_ += cycles_per_bit_;
        const int bit = bit_++;
        if (bit == 0 && level) bit_ = -1;
        if (bit >= 1 && bit <= 8) byte_ |= static_cast<uint32_t>(level) << (bit - 1);
        if (bit < 9) return std::nullopt;
        bit_ = -1;
        if (level) return static_cast<uint8_t>(byte_);
        ++errors_;
        return std::nullopt;
    }

   private:
    double cycles_per_bit_;
    double left_ = 0;
    int bit_ = -1;
    uint32_t byte_ = 0;
    uint64_t errors_ = 0;
    bool was_high_ = true;
};
