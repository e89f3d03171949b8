// SPDX-License-Identifier: Apache-2.0
//
// A core's cache: words above, lines below. Addresses are of bytes; a request is within a word.
module l1_cache #(
    parameter LINES = 32,
    parameter LINE_BITS = 14
) (
    input logic clk,
    input logic reset,

    input  logic                 request_valid,
    input  logic                 request_write,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [LINE_BITS+3:0] request_address,  // the strobe has the bytes of the word
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [          3:0] request_strobe,
    input  logic [         31:0] request_data,
    output logic                 request_ready,
    output logic [         31:0] request_result,

    output logic                 below_valid,
    output logic                 below_write,
    output logic [LINE_BITS-1:0] below_line,
    output logic [        127:0] below_data,
    input  logic                 below_ready,
    input  logic [        127:0] below_result,

    output logic [4:0] events
);
  wire  [  1:0] word = request_address[3:2];
  logic [127:0] line;

  assign request_result = line[word*32+:32];

  cache #(
      .LINES(LINES),
      .LINE_BITS(LINE_BITS)
  ) cache_of_lines (
      .request_line(request_address[LINE_BITS+3:4]),
      .request_strobe({12'b0, request_strobe} << {word, 2'b00}),
      .request_data({4{request_data}}),
      .request_result(line),
      .*
  );
endmodule
