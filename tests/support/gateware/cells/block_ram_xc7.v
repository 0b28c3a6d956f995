// What RAMB18E1 and RAMB36E1 do with one clock and without output registers, ECC and cascades, as
// UG473 describes it. What a port reads of a byte that the other one writes is random, unless the
// other one writes in READ_FIRST; so is it where both write a byte.
module block_ram_xc7 #(
  parameter ADDRESS_BITS = 15,
  parameter [(1 << ADDRESS_BITS) - 1:0] INIT = 0,
  parameter [(1 << ADDRESS_BITS) / 8 - 1:0] INITP = 0,
  parameter READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0,
  parameter WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST",
  parameter [71:0] INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0,
  parameter RAM_MODE = "TDP"
) (
  input clk_a, clk_b, en_a, en_b, rst_a, rst_b,
  input [ADDRESS_BITS - 1:0] address_a, address_b,
  input [71:0] in_a, in_b,
  input [7:0] we_a, we_b,
  output [71:0] out_a, out_b
);
  localparam BYTES = (1 << ADDRESS_BITS) / 8;
  localparam USES_A = READ_WIDTH_A != 0 || WRITE_WIDTH_A != 0;
  localparam USES_B = READ_WIDTH_B != 0 || WRITE_WIDTH_B != 0;
  localparam FULL = ADDRESS_BITS == 15 ? 36 : 18;
  // A byte with its parity bit.
  reg [8:0] bytes [0:BYTES - 1];
  reg [71:0] latch_a, latch_b;
  assign out_a = latch_a;
  assign out_b = latch_b;
  wire clk = USES_A ? clk_a : clk_b;
  integer i;
  reg is_any;
  initial begin
    is_any = $test$plusargs("any_start");
    // A memory that starts with something is only read.
    for (i = 0; i < BYTES; i = i + 1)
      bytes[i] = is_any && INIT == 0 && INITP == 0 ? $urandom : {INITP[i], INIT[8 * i +: 8]};
    latch_a = is_any ? {$urandom, $urandom, $urandom} : INIT_A;
    latch_b = is_any ? {$urandom, $urandom, $urandom} : INIT_B;
  end
  initial if (RAM_MODE == "SDP" && (READ_WIDTH_B != 0 || WRITE_WIDTH_A != 0))
    $fatal(1, "a simple memory must be read at A and written at B");
  initial if (RAM_MODE != "SDP" && (READ_WIDTH_A > FULL || WRITE_WIDTH_A > FULL
      || READ_WIDTH_B > FULL || WRITE_WIDTH_B > FULL)) $fatal(1, "a port must not be so wide");

  // The first byte of a word, and the first bit in it.
  function integer byte_of(input integer width, input [ADDRESS_BITS - 1:0] address);
    byte_of = width < 9 ? address >> 3 : (address >> 3) & ~(width / 9 - 1);
  endfunction
  function integer bit_of(input integer width, input [ADDRESS_BITS - 1:0] address);
    bit_of = width < 9 ? address[2:0] & ~(width - 1) : 0;
  endfunction
  function integer count_of(input integer width);
    count_of = width < 9 ? 1 : width / 9;
  endfunction

  // Whether words of narrow ports share a bit, if they are in the same byte.
  function shares(input integer one, input [ADDRESS_BITS - 1:0] at, input integer other, input [ADDRESS_BITS - 1:0] there);
    shares = one >= 9 || other >= 9 || bit_of(one > other ? one : other, at)
      == bit_of(one > other ? one : other, there);
  endfunction

  reg [71:0] old_a, old_b, new_a, new_b;
  reg is_met;
  integer first_a, first_b, write_a, write_b;

  // A word of narrow ports is in the low bits.
  function [8:0] part_of(input integer width, input integer from, input [8:0] value);
    part_of = width < 9 ? (value[7:0] >> from) & ((1 << width) - 1) : value;
  endfunction
  function [8:0] merged(input integer width, input integer at, input [8:0] old, input [8:0] value);
    reg [8:0] mask;
    begin
      mask = width < 9 ? ((1 << width) - 1) << at : 9'h1ff;
      merged = (old & ~mask) | ((width < 9 ? value << at : value) & mask);
    end
  endfunction

  always @(posedge clk) begin
    if (USES_A && USES_B && clk_a !== clk_b) $fatal(1, "a block RAM must have one clock");
    first_a = byte_of(READ_WIDTH_A, address_a);
    first_b = byte_of(READ_WIDTH_B, address_b);
    write_a = byte_of(WRITE_WIDTH_A, address_a);
    write_b = byte_of(WRITE_WIDTH_B, address_b);
    old_a = 0;
    old_b = 0;
    if (READ_WIDTH_A != 0)
      for (i = 0; i < count_of(READ_WIDTH_A); i = i + 1)
        old_a[9 * i +: 9] =
          part_of(READ_WIDTH_A, bit_of(READ_WIDTH_A, address_a), bytes[first_a + i]);
    if (READ_WIDTH_B != 0)
      for (i = 0; i < count_of(READ_WIDTH_B); i = i + 1)
        old_b[9 * i +: 9] =
          part_of(READ_WIDTH_B, bit_of(READ_WIDTH_B, address_b), bytes[first_b + i]);
    if (WRITE_WIDTH_A != 0 && en_a)
      for (i = 0; i < count_of(WRITE_WIDTH_A); i = i + 1) if (we_a[i])
        bytes[write_a + i] = merged(WRITE_WIDTH_A, bit_of(WRITE_WIDTH_A, address_a),
          bytes[write_a + i], in_a[9 * i +: 9]);
    if (WRITE_WIDTH_B != 0 && en_b)
      for (i = 0; i < count_of(WRITE_WIDTH_B); i = i + 1) if (we_b[i]) begin
        is_met = 0;
        if (WRITE_WIDTH_A != 0 && en_a && write_b + i >= write_a
            && write_b + i < write_a + count_of(WRITE_WIDTH_A) && we_a[write_b + i - write_a])
          is_met = shares(WRITE_WIDTH_A, address_a, WRITE_WIDTH_B, address_b);
        bytes[write_b + i] = merged(WRITE_WIDTH_B, bit_of(WRITE_WIDTH_B, address_b),
          bytes[write_b + i], is_met ? $urandom : in_b[9 * i +: 9]);
      end
    new_a = old_a;
    new_b = old_b;
    if (READ_WIDTH_A != 0)
      for (i = 0; i < count_of(READ_WIDTH_A); i = i + 1) begin
        // Its own write, and that of the other port.
        if (WRITE_MODE_A == "WRITE_FIRST" && WRITE_WIDTH_A != 0)
          new_a[9 * i +: 9] =
            part_of(READ_WIDTH_A, bit_of(READ_WIDTH_A, address_a), bytes[first_a + i]);
        if (WRITE_MODE_B != "READ_FIRST" && WRITE_WIDTH_B != 0 && en_b && first_a + i >= write_b
            && first_a + i < write_b + count_of(WRITE_WIDTH_B) && we_b[first_a + i - write_b]
            && shares(READ_WIDTH_A, address_a, WRITE_WIDTH_B, address_b))
          new_a[9 * i +: 9] = $urandom;
      end
    if (READ_WIDTH_B != 0)
      for (i = 0; i < count_of(READ_WIDTH_B); i = i + 1) begin
        if (WRITE_MODE_B == "WRITE_FIRST" && WRITE_WIDTH_B != 0)
          new_b[9 * i +: 9] =
            part_of(READ_WIDTH_B, bit_of(READ_WIDTH_B, address_b), bytes[first_b + i]);
        if (WRITE_MODE_A != "READ_FIRST" && WRITE_WIDTH_A != 0 && en_a && first_b + i >= write_a
            && first_b + i < write_a + count_of(WRITE_WIDTH_A) && we_a[first_b + i - write_a]
            && shares(READ_WIDTH_B, address_b, WRITE_WIDTH_A, address_a))
          new_b[9 * i +: 9] = $urandom;
      end
    if (READ_WIDTH_A != 0 && en_a)
      if (rst_a) latch_a <= SRVAL_A;
      else if (!(WRITE_MODE_A == "NO_CHANGE" && WRITE_WIDTH_A != 0 && |we_a)) latch_a <= new_a;
    if (READ_WIDTH_B != 0 && en_b)
      if (rst_b) latch_b <= SRVAL_B;
      else if (!(WRITE_MODE_B == "NO_CHANGE" && WRITE_WIDTH_B != 0 && |we_b)) latch_b <= new_b;
  end
endmodule
