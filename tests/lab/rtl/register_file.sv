// SPDX-License-Identifier: Apache-2.0
//
// 31 registers, and x0, which reads 0.
module register_file (
    input  logic        clk,
    input  logic        write,
    input  logic [ 4:0] rd,
    input  logic [31:0] rd_value,
    input  logic [ 4:0] rs1,
    input  logic [ 4:0] rs2,
    output logic [31:0] rs1_value,
    output logic [31:0] rs2_value
);
  logic [31:0] words[0:31];

  assign rs1_value = rs1 == 0 ? 32'b0 : words[rs1];
  assign rs2_value = rs2 == 0 ? 32'b0 : words[rs2];

  always_ff @(posedge clk) begin
    if (write & rd != 0) words[rd] <= rd_value;
  end
endmodule
