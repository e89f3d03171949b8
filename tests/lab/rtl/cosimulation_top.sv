// SPDX-License-Identifier: Apache-2.0
//
// The read path alone, driven and observed by cosimulation_test: four clients of slice 0, and managers of every scope.
module cosimulation_top (
    input logic        clk,
    input logic        reset,
    input logic [ 4:0] lookup_cycles,
    input logic [63:0] events,

    input  logic [  3:0] access_valid,
    input  logic [  3:0] access_write,
    input  logic [  7:0] access_register,
    input  logic [  7:0] access_half,
    input  logic [  7:0] access_privilege,
    input  logic [255:0] access_data,
    output logic [255:0] access_result,
    output logic [  3:0] access_fault,
    input  logic [  3:0] switch_strobe,
    input  logic [  3:0] switch_useren,

    output logic [31:0] grant_lane
);
  localparam MANAGERS = 4;

  // The counters of manager i are of the events rotated by i.
  logic [63:0] cycle;
  logic [MANAGERS*64*64-1:0] counts;
  for (genvar i = 0; i < MANAGERS; i++) begin : modules
    hpc_counters #(
        .COUNTERS(64),
        .RESET_HIGH(32'h9e3779b9 + i)
    ) counters (
        .clk,
        .reset,
        .events(64'({events, events} >> i)),
        .counts(counts[i*64*64+:64*64])
    );
  end

  always_ff @(posedge clk) cycle <= reset ? 0 : cycle + 1;

  hpc_read_path #(
      .CLIENTS(4),
      .MANAGERS(MANAGERS),
      .MANAGER_IDS({
        hpc::HPCC_MODULE_WIDTH'(hpc::HPC_MODULE_DEVICE), 6'd0,
        hpc::HPCC_MODULE_WIDTH'(hpc::HPC_MODULE_VM), 6'd0,
        hpc::HPCC_MODULE_WIDTH'(hpc::HPC_MODULE_CONTEXT), 6'd1,
        hpc::HPCC_MODULE_WIDTH'(hpc::HPC_MODULE_CONTEXT), 6'd0
      }),
      .MANAGER_COUNTERS({7'd17, 7'd64, 7'd5, 7'd64})
  ) read_path (
      .*
  );
endmodule
