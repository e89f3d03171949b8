// SPDX-License-Identifier: Apache-2.0
//
// Memory behind a slice, ready LATENCY cycles after a request begins. Not for synthesis.
module memory #(
    parameter LINE_BITS = 13,
    parameter LATENCY   = 8
) (
    input logic clk,
    input logic reset,

    input  logic                 request_valid,
    input  logic                 request_write,
    input  logic [LINE_BITS-1:0] request_line,
    input  logic [        127:0] request_data,
    output logic                 request_ready,
    output logic [        127:0] request_result,

    // Before the first request.
    input logic                 load_valid,
    input logic [LINE_BITS-1:0] load_line,
    input logic [        127:0] load_data
);
  logic [127:0] lines[0:2**LINE_BITS-1];
  logic [7:0] waited;

  assign request_ready  = request_valid & waited == LATENCY;
  assign request_result = lines[request_line];

  always_ff @(posedge clk) begin
    waited <= reset | ~request_valid | request_ready ? 0 : waited + 1;
    if (load_valid) lines[load_line] <= load_data;
    else if (request_ready & request_write) lines[request_line] <= request_data;
  end
endmodule
