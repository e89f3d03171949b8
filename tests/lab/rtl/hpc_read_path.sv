// SPDX-License-Identifier: Apache-2.0
//
// Clients, interconnect and managers, wired. Manager i has the first MANAGER_COUNTERS[i] counters of its id.
module hpc_read_path #(
    parameter CLIENTS = 1,
    parameter [CLIENTS*6-1:0] CLIENT_SLICES = 0,
    parameter MANAGERS = 1,
    parameter [MANAGERS*hpc::MANAGER_BITS-1:0] MANAGER_IDS = 0,
    parameter [MANAGERS*7-1:0] MANAGER_COUNTERS = 1,
    parameter LOOKUP_BITS = 5,
    parameter LANES = CLIENTS * hpc::HPC_TAGS
) (
    input logic                   clk,
    input logic                   reset,
    input logic [           63:0] cycle,
    input logic [LOOKUP_BITS-1:0] lookup_cycles,

    // As hpc_client, per client.
    input  logic [   CLIENTS-1:0] access_valid,
    input  logic [   CLIENTS-1:0] access_write,
    input  logic [ CLIENTS*2-1:0] access_register,
    input  logic [ CLIENTS*2-1:0] access_half,
    input  logic [ CLIENTS*2-1:0] access_privilege,
    input  logic [CLIENTS*64-1:0] access_data,
    output logic [CLIENTS*64-1:0] access_result,
    output logic [   CLIENTS-1:0] access_fault,
    input  logic [   CLIENTS-1:0] switch_strobe,
    input  logic [   CLIENTS-1:0] switch_useren,

    // Per manager 64 counters, of which it uses the first.
    /* verilator lint_off UNUSEDSIGNAL */
    input logic [MANAGERS*64*64-1:0] counts,
    /* verilator lint_on UNUSEDSIGNAL */

    // Per manager the lane that is granted in this cycle.
    output logic [MANAGERS*LANES-1:0] grant_lane
);
  logic [CLIENTS-1:0] request_valid, request_stamp;
  logic [CLIENTS*hpc::MANAGER_BITS-1:0] request_manager;
  logic [CLIENTS*64-1:0] request_bitmap;
  logic [LANES-1:0] request_tag, answer_valid, answer_last, answer_stamp;
  logic [LANES*hpc::BIT_BITS-1:0] answer_bit;
  logic [LANES*64-1:0] answer_value;
  logic [MANAGERS-1:0] manager_free, grant_stamp, value_last, stamp_last;
  logic [MANAGERS*64-1:0] grant_bitmap, value;
  logic [MANAGERS*LANES-1:0] value_lane, stamp_lane;
  logic [MANAGERS*hpc::BIT_BITS-1:0] value_bit;

  for (genvar i = 0; i < CLIENTS; i++) begin : clients
    logic [hpc::MANAGER_BITS-1:0] reach_manager;
    logic [63:0] reach_counters;
    hpc_reach #(
        .SLICE(CLIENT_SLICES[i*6+:6]),
        .MANAGERS(MANAGERS),
        .MANAGER_IDS(MANAGER_IDS),
        .MANAGER_COUNTERS(MANAGER_COUNTERS)
    ) reach (
        .manager  (reach_manager),
        .privilege(access_privilege[i*2+:2]),
        .counters (reach_counters)
    );
    hpc_client client (
        .clk,
        .reset,
        .access_valid(access_valid[i]),
        .access_write(access_write[i]),
        .access_register(access_register[i*2+:2]),
        .access_half(access_half[i*2+:2]),
        .access_privilege(access_privilege[i*2+:2]),
        .access_data(access_data[i*64+:64]),
        .access_result(access_result[i*64+:64]),
        .access_fault(access_fault[i]),
        .switch_strobe(switch_strobe[i]),
        .switch_useren(switch_useren[i]),
        .reach_manager,
        .reach_counters,
        .request_valid(request_valid[i]),
        .request_manager(request_manager[i*hpc::MANAGER_BITS+:hpc::MANAGER_BITS]),
        .request_bitmap(request_bitmap[i*64+:64]),
        .request_stamp(request_stamp[i]),
        .request_tag(request_tag[i*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .answer_valid(answer_valid[i*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .answer_last(answer_last[i*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .answer_stamp(answer_stamp[i*hpc::HPC_TAGS+:hpc::HPC_TAGS]),
        .answer_bit(answer_bit[i*hpc::HPC_TAGS*hpc::BIT_BITS+:hpc::HPC_TAGS*hpc::BIT_BITS]),
        .answer_value(answer_value[i*hpc::HPC_TAGS*64+:hpc::HPC_TAGS*64])
    );
  end

  hpc_interconnect #(
      .CLIENTS(CLIENTS),
      .MANAGERS(MANAGERS),
      .MANAGER_IDS(MANAGER_IDS)
  ) network (
      .withdraw(switch_strobe),
      .*
  );

  for (genvar i = 0; i < MANAGERS; i++) begin : managers
    localparam COUNTERS = MANAGER_COUNTERS[i*7+:7];
    hpc_manager #(
        .COUNTERS(COUNTERS),
        .CLIENTS(CLIENTS),
        .LOOKUP_BITS(LOOKUP_BITS)
    ) manager (
        .clk,
        .reset,
        .lookup_cycles,
        .counts(counts[i*64*64+:COUNTERS*64]),
        .withdraw(switch_strobe),
        .free(manager_free[i]),
        .grant_lane(grant_lane[i*LANES+:LANES]),
        .grant_bitmap(grant_bitmap[i*64+:64]),
        .grant_stamp(grant_stamp[i]),
        .value_lane(value_lane[i*LANES+:LANES]),
        .value_last(value_last[i]),
        .value_bit(value_bit[i*hpc::BIT_BITS+:hpc::BIT_BITS]),
        .value(value[i*64+:64]),
        .stamp_lane(stamp_lane[i*LANES+:LANES]),
        .stamp_last(stamp_last[i])
    );
  end
endmodule
