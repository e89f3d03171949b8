// SPDX-License-Identifier: Apache-2.0
//
// Two cores with their memory, driven and observed by soc_bench. Not for synthesis.
module soc_top (
    input logic clk,
    input logic reset,

    // Before the cores run: a line of memory.
    input logic         load_valid,
    input logic [ 13:0] load_line,
    input logic [127:0] load_data,

    input  logic [ 3:0] privilege,
    input  logic [ 1:0] switch_strobe,
    input  logic [ 1:0] switch_useren,
    output logic [ 1:0] halted,
    output logic [ 1:0] trapped,
    output logic [ 1:0] stored_valid,
    output logic [63:0] stored_address,
    output logic [63:0] stored_data,

    input  logic        firmware_valid,
    input  logic        firmware_write,
    input  logic [ 1:0] firmware_register,
    input  logic [ 1:0] firmware_half,
    input  logic [63:0] firmware_data,
    output logic [63:0] firmware_result,

    output logic [37:0] core_events,
    output logic [10:0] device_events
);
  logic [1:0] memory_valid, memory_write, memory_ready;
  logic [2*13-1:0] memory_line;
  logic [2*128-1:0] memory_data, memory_result;

  soc chip (.*);

  for (genvar i = 0; i < 2; i++) begin : memories
    memory bank (
        .clk,
        .reset,
        .request_valid(memory_valid[i]),
        .request_write(memory_write[i]),
        .request_line(memory_line[i*13+:13]),
        .request_data(memory_data[i*128+:128]),
        .request_ready(memory_ready[i]),
        .request_result(memory_result[i*128+:128]),
        .load_valid(load_valid & load_line[0] == i[0]),
        .load_line(load_line[13:1]),
        .load_data
    );
  end
endmodule
