// SPDX-License-Identifier: Apache-2.0
//
// The way back from all managers to one lane, that is, one tag of one client: HOP pipeline stages. A lane belongs to one
// request at a time, so no two words meet.
module hpc_answer_link #(
    parameter MANAGERS = 1,
    parameter HOP = hpc::HPC_HOP_CYCLES  // at least 2
) (
    input logic clk,
    input logic reset,
    input logic withdraw, // what is under way
    input logic [63:0] cycle,

    // The words that the managers send in this cycle.
    input logic [              MANAGERS-1:0] value_valid,
    input logic [              MANAGERS-1:0] value_last,
    input logic [MANAGERS*hpc::BIT_BITS-1:0] value_bit,
    input logic [           MANAGERS*64-1:0] value,
    input logic [              MANAGERS-1:0] stamp_valid,
    input logic [              MANAGERS-1:0] stamp_last,

    output logic                     answer_valid,
    output logic                     answer_last,
    output logic                     answer_stamp,
    output logic [hpc::BIT_BITS-1:0] answer_bit,
    output logic [             63:0] answer_value
);
  localparam WORD_BITS = 2 + hpc::BIT_BITS + 64;

  logic [HOP-1:0] stage_valid;
  logic [HOP*WORD_BITS-1:0] stages;  // the newest in the low bits
  logic last;
  logic [hpc::BIT_BITS-1:0] of_bit;
  logic [63:0] word;

  always_comb begin
    last   = (value_valid & value_last) != 0 | (stamp_valid & stamp_last) != 0;
    of_bit = 0;
    word   = stamp_valid != 0 ? cycle : 64'b0;
    for (int i = 0; i < MANAGERS; i++) begin
      if (value_valid[i]) begin
        of_bit = of_bit | value_bit[i*hpc::BIT_BITS+:hpc::BIT_BITS];
        word   = word | value[i*64+:64];
      end
    end
  end

  assign answer_valid = stage_valid[HOP-1];
  assign {answer_last, answer_stamp, answer_bit, answer_value} = stages[(HOP-1)*WORD_BITS+:WORD_BITS];

  always_ff @(posedge clk) begin
    stages <= {stages[0+:(HOP-1)*WORD_BITS], last, stamp_valid != 0, of_bit, word};
    stage_valid <= reset | withdraw ? 0 : {stage_valid[HOP-2:0], value_valid != 0 | stamp_valid != 0};
  end
endmodule
