// SPDX-License-Identifier: Apache-2.0
//
// Cores with first-level caches, two slices of second-level cache, and the register read path: a client for each core and
// one for the firmware, whose port is outside. Core c is slice c of the register table, so module c has its counters, of
// whatever runs on it; the module of the device has those of the second level. Memory is outside.
//
//   module c: the events of core_complex, then for each slice of the second level read, readmiss, write, writemiss,
//             writeback of what this core asks for
//   device:   cycles, then the same for each slice, of all cores
module soc #(
    parameter CORES = 2,
    parameter READ_PATH = 1,  // 0: without clients, interconnect, managers and counters
    parameter L1_LINES = 32,
    parameter L2_LINES = 64,  // of each slice
    parameter LINE_BITS = 14,
    parameter [31:0] BOOT_STRIDE = 32'h10000,  // between the first instructions of the cores
    parameter CORE_EVENTS = 19,
    parameter DEVICE_EVENTS = 11
) (
    input logic clk,
    input logic reset,

    // Per core: what an operating system or firmware decides, and what it sees.
    input  logic [ 2*CORES-1:0] privilege,
    input  logic [   CORES-1:0] switch_strobe,
    input  logic [   CORES-1:0] switch_useren,
    output logic [   CORES-1:0] halted,
    output logic [   CORES-1:0] trapped,
    output logic [   CORES-1:0] stored_valid,
    output logic [32*CORES-1:0] stored_address,
    output logic [32*CORES-1:0] stored_data,

    // The firmware's client.
    input  logic        firmware_valid,
    input  logic        firmware_write,
    input  logic [ 1:0] firmware_register,
    input  logic [ 1:0] firmware_half,
    input  logic [63:0] firmware_data,
    output logic [63:0] firmware_result,

    // Per slice of the second level.
    output logic [              1:0] memory_valid,
    output logic [              1:0] memory_write,
    output logic [2*(LINE_BITS-1)-1:0] memory_line,
    output logic [          2*128-1:0] memory_data,
    input  logic [              1:0] memory_ready,
    input  logic [          2*128-1:0] memory_result,

    // Wires of events, in the order of the counters.
    output logic [CORES*CORE_EVENTS-1:0] core_events,
    output logic [    DEVICE_EVENTS-1:0] device_events
);
  localparam SLICE_LINE_BITS = LINE_BITS - 1;

  // --- Cores ----------------------------------------------------------------------------------------------------------
  logic [CORES-1:0] access_valid, access_write, access_fault;
  logic [2*CORES-1:0] access_register, access_half;
  logic [32*CORES-1:0] access_data, access_result;

  logic [2*CORES-1:0] below_valid, below_ready;
  logic [CORES-1:0] below_write;
  logic [CORES*SLICE_LINE_BITS-1:0] below_line;
  logic [CORES*128-1:0] below_data;
  logic [2*128-1:0] below_result;

  logic [2*CORES-1:0] serving;  // per slice, the core
  logic [2*5-1:0] slice_events;

  for (genvar i = 0; i < CORES; i++) begin : cores
    core_complex #(
        .READ_PATH(READ_PATH),
        .BOOT_ADDRESS(BOOT_STRIDE * i),
        .L1_LINES(L1_LINES),
        .LINE_BITS(LINE_BITS)
    ) complex (
        .clk,
        .reset,
        .halted(halted[i]),
        .trapped(trapped[i]),
        .access_valid(access_valid[i]),
        .access_write(access_write[i]),
        .access_register(access_register[2*i+:2]),
        .access_half(access_half[2*i+:2]),
        .access_data(access_data[32*i+:32]),
        .access_result(access_result[32*i+:32]),
        .access_fault(access_fault[i]),
        .below_valid({below_valid[CORES+i], below_valid[i]}),
        .below_write(below_write[i]),
        .below_line(below_line[i*SLICE_LINE_BITS+:SLICE_LINE_BITS]),
        .below_data(below_data[i*128+:128]),
        .below_ready({below_ready[CORES+i], below_ready[i]}),
        .below_result,
        .stored_valid(stored_valid[i]),
        .stored_address(stored_address[32*i+:32]),
        .stored_data(stored_data[32*i+:32]),
        .events(core_events[i*CORE_EVENTS+:9])
    );
    for (genvar slice = 0; slice < 2; slice++) begin : own
      assign core_events[i*CORE_EVENTS+9+5*slice+:5] = slice_events[5*slice+:5] & {5{serving[slice*CORES+i]}};
    end
  end

  // --- Second level ---------------------------------------------------------------------------------------------------
  for (genvar i = 0; i < 2; i++) begin : slices
    l2_slice #(
        .CORES(CORES),
        .LINES(L2_LINES),
        .LINE_BITS(SLICE_LINE_BITS)
    ) slice (
        .clk,
        .reset,
        .request_valid(below_valid[i*CORES+:CORES]),
        .request_write(below_write),
        .request_line(below_line),
        .request_data(below_data),
        .request_ready(below_ready[i*CORES+:CORES]),
        .request_result(below_result[i*128+:128]),
        .below_valid(memory_valid[i]),
        .below_write(memory_write[i]),
        .below_line(memory_line[i*SLICE_LINE_BITS+:SLICE_LINE_BITS]),
        .below_data(memory_data[i*128+:128]),
        .below_ready(memory_ready[i]),
        .below_result(memory_result[i*128+:128]),
        .serving(serving[i*CORES+:CORES]),
        .events(slice_events[5*i+:5])
    );
  end
  assign device_events = {slice_events, 1'b1};

  // --- Register read path ---------------------------------------------------------------------------------------------
  if (READ_PATH != 0) begin : with_read_path
    soc_read_path #(
        .CORES(CORES),
        .CORE_EVENTS(CORE_EVENTS),
        .DEVICE_EVENTS(DEVICE_EVENTS)
    ) read_path (
        .*
    );
  end else begin : without_read_path
    assign access_result = 0;
    assign access_fault = 0;
    assign firmware_result = 0;
  end
endmodule
