// SPDX-License-Identifier: Apache-2.0
//
// A core with its first-level caches, and the way to the two slices of the second level: a line's lowest bit says which.
module core_complex #(
    parameter READ_PATH = 1,
    parameter [31:0] BOOT_ADDRESS = 0,
    parameter L1_LINES = 32,
    parameter LINE_BITS = 14
) (
    input  logic clk,
    input  logic reset,
    output logic halted,
    output logic trapped,

    output logic        access_valid,
    output logic        access_write,
    output logic [ 1:0] access_register,
    output logic [ 1:0] access_half,
    output logic [31:0] access_data,
    input  logic [31:0] access_result,
    input  logic        access_fault,

    // Per slice.
    output logic [          1:0] below_valid,
    output logic                 below_write,
    output logic [LINE_BITS-2:0] below_line,
    output logic [        127:0] below_data,
    input  logic [          1:0] below_ready,
    input  logic [        255:0] below_result,

    // What the core has stored in this cycle.
    output logic        stored_valid,
    output logic [31:0] stored_address,
    output logic [31:0] stored_data,

    // Wires of events: cycles, instructions, l1i_read, l1i_readmiss, l1d_read, l1d_readmiss, l1d_write, l1d_writemiss,
    // l1d_writeback.
    output logic [8:0] events
);
  logic fetch_valid, fetch_ready, data_valid, data_write, data_ready;
  logic [31:0] fetch_word, data_word;
  logic [3:0] data_strobe;
  logic [31:0] data_store;
  // The memory is smaller than the address space: higher bits are ignored.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [31:0] fetch_address, data_address;
  /* verilator lint_on UNUSEDSIGNAL */

  core #(
      .READ_PATH(READ_PATH),
      .BOOT_ADDRESS(BOOT_ADDRESS)
  ) pipeline (
      .event_cycle(events[0]),
      .event_instruction(events[1]),
      .*
  );

  assign stored_valid = data_valid & data_write & data_ready;
  assign stored_address = data_address;
  assign stored_data = data_store;

  // --- Caches ---------------------------------------------------------------------------------------------------------
  logic l1i_valid, l1d_valid, l1d_write;
  logic [LINE_BITS-1:0] l1i_line, l1d_line;
  logic [127:0] l1d_data;

  // Instructions are only read.
  /* verilator lint_off UNUSEDSIGNAL */
  logic l1i_write;
  logic [127:0] l1i_data;
  logic [4:0] l1i_events;
  /* verilator lint_on UNUSEDSIGNAL */
  assign events[3:2] = l1i_events[1:0];

  // The core does not fetch while it loads or stores, so only one of its caches asks.
  wire [LINE_BITS-1:0] line = l1d_valid ? l1d_line : l1i_line;
  wire ready = below_ready[line[0]];
  wire [127:0] result = line[0] ? below_result[255:128] : below_result[127:0];
  assign below_valid = {2{l1i_valid | l1d_valid}} & {line[0], ~line[0]};
  assign below_write = l1d_write & l1d_valid;
  assign below_line  = line[LINE_BITS-1:1];
  assign below_data  = l1d_data;

  l1_cache #(
      .LINES(L1_LINES),
      .LINE_BITS(LINE_BITS)
  ) l1i (
      .clk,
      .reset,
      .request_valid(fetch_valid),
      .request_write(1'b0),
      .request_address(fetch_address[LINE_BITS+3:0]),
      .request_strobe(4'b0),
      .request_data(32'b0),
      .request_ready(fetch_ready),
      .request_result(fetch_word),
      .below_valid(l1i_valid),
      .below_write(l1i_write),
      .below_line(l1i_line),
      .below_data(l1i_data),
      .below_ready(ready & ~l1d_valid),
      .below_result(result),
      .events(l1i_events)
  );

  l1_cache #(
      .LINES(L1_LINES),
      .LINE_BITS(LINE_BITS)
  ) l1d (
      .clk,
      .reset,
      .request_valid(data_valid),
      .request_write(data_write),
      .request_address(data_address[LINE_BITS+3:0]),
      .request_strobe(data_strobe),
      .request_data(data_store),
      .request_ready(data_ready),
      .request_result(data_word),
      .below_valid(l1d_valid),
      .below_write(l1d_write),
      .below_line(l1d_line),
      .below_data(l1d_data),
      .below_ready(ready & l1d_valid),
      .below_result(result),
      .events(events[8:4])
  );
endmodule
