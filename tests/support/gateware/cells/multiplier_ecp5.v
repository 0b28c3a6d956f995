// What MULT18X18D does with one clock and operands of its own; its maker's model is not free.
module multiplier_ecp5 #(
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTB_CLK = "NONE",
  parameter REG_PIPELINE_CLK = "NONE", REG_OUTPUT_CLK = "NONE"
) (input clk, ce, rst, signed_a, signed_b, input [17:0] a, b, output [35:0] p);
  reg [18:0] a_s1, b_s1;
  reg [35:0] product_s2, product_s3;
  initial if ($test$plusargs("any_start")) begin
    a_s1 = $urandom;
    b_s1 = $urandom;
    product_s2 = {$urandom, $urandom};
    product_s3 = {$urandom, $urandom};
  end else begin
    a_s1 = 0;
    b_s1 = 0;
    product_s2 = 0;
    product_s3 = 0;
  end
  wire [18:0] a_s0 = {signed_a & a[17], a};
  wire [18:0] b_s0 = {signed_b & b[17], b};
  wire signed [18:0] a_used = REG_INPUTA_CLK == "NONE" ? a_s0 : a_s1;
  wire signed [18:0] b_used = REG_INPUTB_CLK == "NONE" ? b_s0 : b_s1;
  wire signed [37:0] product = a_used * b_used;
  wire [35:0] piped = REG_PIPELINE_CLK == "NONE" ? product[35:0] : product_s2;
  assign p = REG_OUTPUT_CLK == "NONE" ? piped : product_s3;
  always @(posedge clk)
    if (rst) begin
      a_s1 <= 0;
      b_s1 <= 0;
      product_s2 <= 0;
      product_s3 <= 0;
    end else if (ce) begin
      a_s1 <= a_s0;
      b_s1 <= b_s0;
      product_s2 <= product[35:0];
      product_s3 <= piped;
    end
endmodule
