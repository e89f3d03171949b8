// SPDX-License-Identifier: Apache-2.0
//
// The fields of an RV32I instruction. Source: The RISC-V Instruction Set Manual, volume I, version 20191213, chapters 2,
// 9 and 24.
module decoder (
    input  logic [31:0] instruction,
    output logic        lui,
    output logic        auipc,
    output logic        jal,
    output logic        jalr,
    output logic        branch,
    output logic        load,
    output logic        store,
    output logic        compute_immediate,
    output logic        compute,
    output logic        fence,
    output logic        csr,                // Zicsr
    output logic        halt,               // ecall, ebreak
    output logic        legal,              // one of the above; which CSR it is is not checked
    output logic [31:0] immediate
);
  wire [6:0] opcode = instruction[6:0];
  wire [2:0] funct3 = instruction[14:12];
  wire [6:0] funct7 = instruction[31:25];
  wire plain = funct7 == 7'b0000000, alternate = funct7 == 7'b0100000;

  assign lui = opcode == 7'b0110111;
  assign auipc = opcode == 7'b0010111;
  assign jal = opcode == 7'b1101111;
  assign jalr = opcode == 7'b1100111 & funct3 == 3'b000;
  assign branch = opcode == 7'b1100011 & funct3[2:1] != 2'b01;
  assign load = opcode == 7'b0000011 & funct3 != 3'b011 & funct3[2:1] != 2'b11;
  assign store = opcode == 7'b0100011 & ~funct3[2] & funct3 != 3'b011;
  assign compute_immediate = opcode == 7'b0010011 & (funct3[1:0] != 2'b01 | plain | (alternate & funct3[2]));
  assign compute = opcode == 7'b0110011 & (plain | (alternate & funct3[1:0] == 2'b00 & ~funct3[2])
                                           | (alternate & funct3 == 3'b101));
  assign fence = opcode == 7'b0001111 & funct3 == 3'b000;
  assign csr = opcode == 7'b1110011 & funct3[1:0] != 2'b00;
  assign halt = instruction[31:21] == 0 & instruction[19:0] == 20'h00073;
  assign legal = lui | auipc | jal | jalr | branch | load | store | compute_immediate | compute | fence | csr | halt;

  wire sign = instruction[31];
  always_comb begin
    if (lui | auipc) immediate = {instruction[31:12], 12'b0};
    else if (jal) immediate = {{12{sign}}, instruction[19:12], instruction[20], instruction[30:21], 1'b0};
    else if (branch) immediate = {{20{sign}}, instruction[7], instruction[30:25], instruction[11:8], 1'b0};
    else if (store) immediate = {{21{sign}}, instruction[30:25], instruction[11:7]};
    else immediate = {{21{sign}}, instruction[30:20]};
  end
endmodule
