// SPDX-License-Identifier: Apache-2.0
//
// The way from clients to managers and back (docs/design/registers.md, "A request, step by step"; the model is
// secure_mcu/pipeline/hpc_interconnect). A lane is one tag of one client: lane client * HPC_TAGS + tag. Both ways begin
// or end in registers: no combinational path crosses it.
module hpc_interconnect #(
    parameter CLIENTS = 1,
    parameter MANAGERS = 1,
    parameter [MANAGERS*hpc::MANAGER_BITS-1:0] MANAGER_IDS = 0,
    parameter LANES = CLIENTS * hpc::HPC_TAGS
) (
    input logic clk,
    input logic reset,
    input logic [63:0] cycle,
    input logic [CLIENTS-1:0] withdraw,

    // Clients.
    input  logic [                  CLIENTS-1:0] request_valid,
    input  logic [CLIENTS*hpc::MANAGER_BITS-1:0] request_manager,
    input  logic [               CLIENTS*64-1:0] request_bitmap,
    input  logic [                  CLIENTS-1:0] request_stamp,
    input  logic [                    LANES-1:0] request_tag,
    output logic [                    LANES-1:0] answer_valid,
    output logic [                    LANES-1:0] answer_last,
    output logic [                    LANES-1:0] answer_stamp,
    output logic [      LANES*hpc::BIT_BITS-1:0] answer_bit,
    output logic [                 LANES*64-1:0] answer_value,

    // Managers.
    input  logic [              MANAGERS-1:0] manager_free,
    output logic [        MANAGERS*LANES-1:0] grant_lane,
    output logic [           MANAGERS*64-1:0] grant_bitmap,
    output logic [              MANAGERS-1:0] grant_stamp,
    input  logic [        MANAGERS*LANES-1:0] value_lane,
    input  logic [              MANAGERS-1:0] value_last,
    input  logic [MANAGERS*hpc::BIT_BITS-1:0] value_bit,
    input  logic [           MANAGERS*64-1:0] value,
    input  logic [        MANAGERS*LANES-1:0] stamp_lane,
    input  logic [              MANAGERS-1:0] stamp_last
);
  logic [LANES-1:0] slot_valid, slot_stamp, granted;
  logic [LANES*hpc::MANAGER_BITS-1:0] slot_manager;
  logic [LANES*64-1:0] slot_bitmap;
  logic [LANES*hpc::HPC_TAGS-1:0] slot_older;

  always_comb begin
    granted = 0;
    for (int i = 0; i < MANAGERS; i++) granted = granted | grant_lane[i*LANES+:LANES];
  end

  for (genvar client = 0; client < CLIENTS; client++) begin : requests
    hpc_request_port port (
        .clk,
        .reset,
        .withdraw(withdraw[client]),
        .request_valid(request_valid[client]),
        .request_manager(request_manager[client*hpc::MANAGER_BITS+:hpc::MANAGER_BITS]),
        .request_bitmap(request_bitmap[client*64+:64]),
        .request_stamp(request_stamp[client]),
        .request_tag(request_tag[client*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .granted(granted[client*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .slot_valid(slot_valid[client*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .slot_manager(slot_manager[client*hpc::HPC_TAGS*hpc::MANAGER_BITS+:hpc::HPC_TAGS*hpc::MANAGER_BITS]),
        .slot_bitmap(slot_bitmap[client*hpc::HPC_TAGS*64+:hpc::HPC_TAGS*64]),
        .slot_stamp(slot_stamp[client*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .slot_older(slot_older[client*hpc::HPC_TAGS*hpc::HPC_TAGS+:hpc::HPC_TAGS*hpc::HPC_TAGS])
    );
  end

  for (genvar i = 0; i < MANAGERS; i++) begin : managers
    hpc_arbiter #(
        .CLIENTS(CLIENTS),
        .MANAGER(MANAGER_IDS[i*hpc::MANAGER_BITS+:hpc::MANAGER_BITS])
    ) arbiter (
        .clk,
        .reset,
        .slot_valid,
        .slot_manager,
        .slot_bitmap,
        .slot_stamp,
        .slot_older,
        .manager_free(manager_free[i]),
        .grant_lane(grant_lane[i*LANES+:LANES]),
        .grant_bitmap(grant_bitmap[i*64+:64]),
        .grant_stamp(grant_stamp[i])
    );
  end

  for (genvar lane = 0; lane < LANES; lane++) begin : answers
    logic [MANAGERS-1:0] value_valid, stamp_valid;
    for (genvar i = 0; i < MANAGERS; i++) begin : from
      assign value_valid[i] = value_lane[i*LANES+lane];
      assign stamp_valid[i] = stamp_lane[i*LANES+lane];
    end
    hpc_answer_link #(
        .MANAGERS(MANAGERS)
    ) link (
        .clk,
        .reset,
        .withdraw(withdraw[lane/hpc::HPC_TAGS]),
        .cycle,
        .value_valid,
        .value_last,
        .value_bit,
        .value,
        .stamp_valid,
        .stamp_last,
        .answer_valid(answer_valid[lane]),
        .answer_last(answer_last[lane]),
        .answer_stamp(answer_stamp[lane]),
        .answer_bit(answer_bit[lane*hpc::BIT_BITS+:hpc::BIT_BITS]),
        .answer_value(answer_value[lane*64+:64])
    );
  end
endmodule
