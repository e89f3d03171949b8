// SPDX-License-Identifier: Apache-2.0
//
// The requests of one client on their way to the managers: HOP - 1 pipeline stages, then a slot per tag, in which a
// request stays until it is granted.
module hpc_request_port #(
    parameter HOP = hpc::HPC_HOP_CYCLES  // at least 2
) (
    input logic clk,
    input logic reset,
    input logic withdraw,  // all requests

    input logic                         request_valid,
    input logic [hpc::MANAGER_BITS-1:0] request_manager,
    input logic [                 63:0] request_bitmap,
    input logic                         request_stamp,
    input logic [    hpc::HPC_TAGS-1:0] request_tag,

    input  logic [                  hpc::HPC_TAGS-1:0] granted,
    output logic [                  hpc::HPC_TAGS-1:0] slot_valid,
    output logic [hpc::HPC_TAGS*hpc::MANAGER_BITS-1:0] slot_manager,
    output logic [               hpc::HPC_TAGS*64-1:0] slot_bitmap,
    output logic [                  hpc::HPC_TAGS-1:0] slot_stamp,
    output logic [    hpc::HPC_TAGS*hpc::HPC_TAGS-1:0] slot_older    // [a * HPC_TAGS + b]: slot a is older than slot b
);
  localparam STAGES = HOP - 1;
  localparam WORD_BITS = hpc::MANAGER_BITS + 64 + 1 + hpc::HPC_TAGS;

  logic [STAGES-1:0] stage_valid;
  logic [STAGES*WORD_BITS-1:0] stages;  // the newest in the low bits
  logic [hpc::MANAGER_BITS-1:0] arrived_manager;
  logic [63:0] arrived_bitmap;
  logic arrived_stamp;
  logic [hpc::HPC_TAGS-1:0] arrived_tag;

  assign {arrived_manager, arrived_bitmap, arrived_stamp, arrived_tag} = stages[(STAGES-1)*WORD_BITS+:WORD_BITS];
  wire [hpc::HPC_TAGS-1:0] fill = stage_valid[STAGES-1] ? arrived_tag : 0;

  always_ff @(posedge clk) begin
    stages <= (STAGES * WORD_BITS)'({stages, request_manager, request_bitmap, request_stamp, request_tag});
    stage_valid <= reset | withdraw ? 0 : STAGES'({stage_valid, request_valid});
    slot_valid <= reset | withdraw ? 0 : (slot_valid & ~granted) | fill;
    for (int tag = 0; tag < hpc::HPC_TAGS; tag++) begin
      if (fill[tag]) begin
        slot_manager[tag*hpc::MANAGER_BITS+:hpc::MANAGER_BITS] <= arrived_manager;
        slot_bitmap[tag*64+:64] <= arrived_bitmap;
        slot_stamp[tag] <= arrived_stamp;
        for (int other = 0; other < hpc::HPC_TAGS; other++) begin
          slot_older[other*hpc::HPC_TAGS+tag] <= 1'b1;
          slot_older[tag*hpc::HPC_TAGS+other] <= 1'b0;
        end
      end
    end
  end
endmodule
