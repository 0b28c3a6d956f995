// What DP16KD does with one clock and without output registers, as FPGA-TN-02204 describes it. What
// a port reads of a word that the other one writes is random; so is it where both write a word.
module block_ram_ecp5 #(
  parameter [18431:0] INIT = 0,
  parameter WIDTH_A = 18, WIDTH_B = 18,
  parameter WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL"
) (
  input clk_a, clk_b, ce_a, ce_b, we_a, we_b, rst_a, rst_b,
  input [13:0] address_a, address_b,
  input [17:0] in_a, in_b,
  output [17:0] out_a, out_b
);
  // One port writes and the other one reads, with the data of both.
  localparam IS_WIDE = WIDTH_A == 36 || WIDTH_B == 36;
  reg [8:0] bytes [0:2047];
  reg [17:0] latch_a, latch_b;
  assign out_a = latch_a;
  assign out_b = latch_b;
  integer i;
  reg is_any;
  initial begin
    is_any = $test$plusargs("any_start");
    // A memory that starts with something is only read.
    for (i = 0; i < 2048; i = i + 1)
      bytes[i] = is_any && INIT == 0 ? $urandom : INIT[9 * i +: 9];
    latch_a = is_any ? $urandom : 0;
    latch_b = is_any ? $urandom : 0;
  end

  function integer byte_of(input integer width, input [13:0] address);
    byte_of = width < 9 ? address >> 3 : (address >> 3) & ~(width / 9 - 1);
  endfunction
  function integer bit_of(input integer width, input [13:0] address);
    bit_of = width < 9 ? address[2:0] & ~(width - 1) : 0;
  endfunction
  function integer count_of(input integer width);
    count_of = width < 9 ? 1 : width / 9;
  endfunction
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
  // Whether words of narrow ports share a bit, if they are in the same byte.
  function shares(input integer one, input [13:0] at, input integer other, input [13:0] there);
    shares = one >= 9 || other >= 9 || bit_of(one > other ? one : other, at)
      == bit_of(one > other ? one : other, there);
  endfunction
  // Wide words have enables of bytes in the low bits of the address.
  function [3:0] enables_of(input integer width, input [13:0] address);
    enables_of = width >= 18 ? address[3:0] & ((1 << width / 9) - 1) : 4'b0001;
  endfunction

  reg [35:0] old_a, old_b, data_a, data_b;
  reg [3:0] en_a, en_b;
  reg writes_a, writes_b, is_met;
  integer first_a, first_b;

  always @(posedge clk_a or posedge clk_b) begin
    first_a = byte_of(WIDTH_A, address_a);
    first_b = byte_of(WIDTH_B, address_b);
    writes_a = ce_a && we_a;
    writes_b = ce_b && we_b;
    en_a = writes_a ? enables_of(WIDTH_A, address_a) : 0;
    en_b = writes_b ? enables_of(WIDTH_B, address_b) : 0;
    data_a = IS_WIDE ? {in_b, in_a} : in_a;
    data_b = in_b;
    if (IS_WIDE && writes_b) $fatal(1, "a wide memory must be written at A");
    old_a = 0;
    old_b = 0;
    for (i = 0; i < count_of(WIDTH_A); i = i + 1)
      old_a[9 * i +: 9] = part_of(WIDTH_A, bit_of(WIDTH_A, address_a), bytes[first_a + i]);
    for (i = 0; i < count_of(WIDTH_B); i = i + 1) begin
      old_b[9 * i +: 9] = part_of(WIDTH_B, bit_of(WIDTH_B, address_b), bytes[first_b + i]);
      if (first_b + i >= first_a && first_b + i < first_a + count_of(WIDTH_A)
          && en_a[first_b + i - first_a] && shares(WIDTH_A, address_a, WIDTH_B, address_b))
        old_b[9 * i +: 9] = $urandom;
    end
    for (i = 0; i < count_of(WIDTH_A); i = i + 1)
      if (first_a + i >= first_b && first_a + i < first_b + count_of(WIDTH_B)
          && en_b[first_a + i - first_b] && shares(WIDTH_A, address_a, WIDTH_B, address_b))
        old_a[9 * i +: 9] = $urandom;
    for (i = 0; i < count_of(WIDTH_A); i = i + 1) if (en_a[i])
      bytes[first_a + i] =
        merged(WIDTH_A, bit_of(WIDTH_A, address_a), bytes[first_a + i], data_a[9 * i +: 9]);
    for (i = 0; i < count_of(WIDTH_B); i = i + 1) if (en_b[i]) begin
      is_met = first_b + i >= first_a && first_b + i < first_a + count_of(WIDTH_A)
        && en_a[first_b + i - first_a] && shares(WIDTH_A, address_a, WIDTH_B, address_b);
      bytes[first_b + i] = merged(WIDTH_B, bit_of(WIDTH_B, address_b), bytes[first_b + i],
        is_met ? $urandom : data_b[9 * i +: 9]);
    end
    if (IS_WIDE) begin
      // Words of 18 bits come out at B.
      if (rst_b) {latch_b, latch_a} <= 0;
      else if (ce_b) {latch_b, latch_a} <= WIDTH_B == 36 ? old_b : {old_b[17:0], 18'b0};
    end else begin
      if (rst_a) latch_a <= 0;
      else if (ce_a)
        if (!we_a || WRITEMODE_A == "READBEFOREWRITE") latch_a <= old_a;
        else if (WRITEMODE_A == "WRITETHROUGH") latch_a <= in_a;
      if (rst_b) latch_b <= 0;
      else if (ce_b)
        if (!we_b || WRITEMODE_B == "READBEFOREWRITE") latch_b <= old_b;
        else if (WRITEMODE_B == "WRITETHROUGH") latch_b <= in_b;
    end
  end
endmodule
