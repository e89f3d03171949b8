// SPDX-License-Identifier: Apache-2.0
//
// Integer operations of RV32I, and the comparisons of branches. Source: The RISC-V Instruction Set Manual, volume I,
// version 20191213, chapter 2.
module alu (
    input  logic [31:0] a,
    input  logic [31:0] b,
    input  logic [ 2:0] funct3,
    input  logic        subtract,         // also needed for comparisons
    input  logic        arithmetic,       // shifts right copy the sign
    output logic [31:0] result,
    output logic [31:0] sum,
    output logic        equal,
    output logic        less,
    output logic        less_unsigned
);
  logic carry;
  logic [31:0] shifted, reversed_a, reversed;

  assign {carry, sum} = {1'b0, a} + {1'b0, subtract ? ~b : b} + {32'b0, subtract};
  assign equal = a == b;
  assign less_unsigned = ~carry;
  assign less = a[31] ^ b[31] ? a[31] : sum[31];

  // One shifter: a shift left is one right of the reversed bits.
  wire left = funct3 == 3'b001;
  for (genvar i = 0; i < 32; i++) begin : reverse
    assign reversed_a[i] = a[31-i];
    assign reversed[i] = shifted[31-i];
  end
  wire [31:0] unshifted = left ? reversed_a : a;
  wire [31:0] fill = {32{arithmetic & a[31] & ~left}};
  assign shifted = 32'({fill, unshifted} >> b[4:0]);

  always_comb begin
    case (funct3)
      3'b000:  result = sum;
      3'b001:  result = reversed;
      3'b010:  result = {31'b0, less};
      3'b011:  result = {31'b0, less_unsigned};
      3'b100:  result = a ^ b;
      3'b101:  result = shifted;
      3'b110:  result = a | b;
      default: result = a & b;
    endcase
  end
endmodule
