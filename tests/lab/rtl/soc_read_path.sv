// SPDX-License-Identifier: Apache-2.0
//
// The counters of a soc and the read path to them. Client c is that of core c, in slice c; the last is the firmware's.
// Manager c is that of module c; the last is the device's.
module soc_read_path #(
    parameter CORES = 2,
    parameter CORE_EVENTS = 19,
    parameter DEVICE_EVENTS = 11
) (
    input logic clk,
    input logic reset,

    input logic [CORES*CORE_EVENTS-1:0] core_events,
    input logic [    DEVICE_EVENTS-1:0] device_events,

    // Per core.
    input  logic [ 2*CORES-1:0] privilege,
    input  logic [   CORES-1:0] switch_strobe,
    input  logic [   CORES-1:0] switch_useren,
    input  logic [   CORES-1:0] access_valid,
    input  logic [   CORES-1:0] access_write,
    input  logic [ 2*CORES-1:0] access_register,
    input  logic [ 2*CORES-1:0] access_half,
    input  logic [32*CORES-1:0] access_data,
    output logic [32*CORES-1:0] access_result,
    output logic [   CORES-1:0] access_fault,

    input  logic        firmware_valid,
    input  logic        firmware_write,
    input  logic [ 1:0] firmware_register,
    input  logic [ 1:0] firmware_half,
    input  logic [63:0] firmware_data,
    output logic [63:0] firmware_result
);
  localparam CLIENTS = CORES + 1;
  localparam MANAGERS = CORES + 1;
  localparam MANAGER_BITS = hpc::HPC_COUNTERS_PER_MANAGER * 64;  // of the counts of a manager

  function automatic [CLIENTS*6-1:0] client_slices(input integer first);
    for (int i = 0; i < CLIENTS; i++) client_slices[i*6+:6] = 6'(first + i);
  endfunction
  function automatic [MANAGERS*hpc::MANAGER_BITS-1:0] manager_ids(input integer first);
    for (int i = 0; i < MANAGERS; i++) begin
      manager_ids[i*hpc::MANAGER_BITS+:hpc::MANAGER_BITS] = {
        hpc::HPCC_MODULE_WIDTH'(i < CORES ? first + i : hpc::HPC_MODULE_DEVICE), hpc::HPCC_EXTEND_WIDTH'(0)
      };
    end
  endfunction

  logic [63:0] cycle;
  always_ff @(posedge clk) cycle <= reset ? 0 : cycle + 1;

  // --- Counters -------------------------------------------------------------------------------------------------------
  logic [MANAGERS*MANAGER_BITS-1:0] counts;
  for (genvar i = 0; i < CORES; i++) begin : modules
    hpc_counters #(
        .COUNTERS(CORE_EVENTS)
    ) counters (
        .clk,
        .reset,
        .events(core_events[i*CORE_EVENTS+:CORE_EVENTS]),
        .counts(counts[i*MANAGER_BITS+:CORE_EVENTS*64])
    );
    assign counts[i*MANAGER_BITS+CORE_EVENTS*64+:MANAGER_BITS-CORE_EVENTS*64] = 0;
  end
  hpc_counters #(
      .COUNTERS(DEVICE_EVENTS)
  ) device_counters (
      .clk,
      .reset,
      .events(device_events),
      .counts(counts[CORES*MANAGER_BITS+:DEVICE_EVENTS*64])
  );
  assign counts[CORES*MANAGER_BITS+DEVICE_EVENTS*64+:MANAGER_BITS-DEVICE_EVENTS*64] = 0;

  // --- The read path --------------------------------------------------------------------------------------------------
  logic [64*CORES-1:0] data;
  // A core of 32 bits reads halves, the firmware has every right, and nobody looks at grants.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [64*CORES-1:0] result;
  logic firmware_fault;
  logic [MANAGERS*CLIENTS*hpc::HPC_TAGS-1:0] grant_lane;
  /* verilator lint_on UNUSEDSIGNAL */
  for (genvar i = 0; i < CORES; i++) begin : halves
    assign data[64*i+:64] = {32'b0, access_data[32*i+:32]};
    assign access_result[32*i+:32] = result[64*i+:32];
  end

  hpc_read_path #(
      .CLIENTS(CLIENTS),
      .CLIENT_SLICES(client_slices(0)),
      .MANAGERS(MANAGERS),
      .MANAGER_IDS(manager_ids(hpc::HPC_MODULE_CONTEXT)),
      .MANAGER_COUNTERS({7'(DEVICE_EVENTS), {CORES{7'(CORE_EVENTS)}}})
  ) read_path (
      .clk,
      .reset,
      .cycle,
      .lookup_cycles(5'(hpc::HPC_LOOKUP_CYCLES)),
      .access_valid({firmware_valid, access_valid}),
      .access_write({firmware_write, access_write}),
      .access_register({firmware_register, access_register}),
      .access_half({firmware_half, access_half}),
      .access_privilege({hpc::FIRMWARE, privilege}),
      .access_data({firmware_data, data}),
      .access_result({firmware_result, result}),
      .access_fault({firmware_fault, access_fault}),
      .switch_strobe({1'b0, switch_strobe}),
      .switch_useren({1'b0, switch_useren}),
      .counts,
      .grant_lane
  );
endmodule
