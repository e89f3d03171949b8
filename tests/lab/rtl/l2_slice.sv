// SPDX-License-Identifier: Apache-2.0
//
// A slice of the second-level cache: one request of one core at a time, in rotation. Requests and answers are held in
// registers on their way. A request stays until it is ready.
module l2_slice #(
    parameter CORES = 1,
    parameter LINES = 64,
    parameter LINE_BITS = 13  // of a line's number among those of the slice
) (
    input logic clk,
    input logic reset,

    input  logic [          CORES-1:0] request_valid,
    input  logic [          CORES-1:0] request_write,
    input  logic [CORES*LINE_BITS-1:0] request_line,
    input  logic [      CORES*128-1:0] request_data,
    output logic [          CORES-1:0] request_ready,
    output logic [              127:0] request_result,

    output logic                 below_valid,
    output logic                 below_write,
    output logic [LINE_BITS-1:0] below_line,
    output logic [        127:0] below_data,
    input  logic                 below_ready,
    input  logic [        127:0] below_result,

    output logic [CORES-1:0] serving,  // one-hot, 0 while idle
    output logic [      4:0] events    // of the core that is served
);
  localparam [1:0] IDLE = 0, BUSY = 1, DONE = 2;

  logic [1:0] state;
  logic [CORES-1:0] owner, chosen;
  logic held_write, next_write, cache_ready;
  logic [LINE_BITS-1:0] held_line, next_line;
  logic [127:0] held_data, next_data, cache_result;

  assign serving = state == IDLE ? 0 : owner;
  assign request_ready = state == DONE ? owner : 0;
  assign request_result = held_data;

  rotating_priority #(
      .COUNT(CORES)
  ) rotation (
      .clk,
      .reset,
      .asking(request_valid),
      .grant (state == IDLE),
      .chosen
  );

  always_comb begin
    next_write = (request_write & chosen) != 0;
    next_line  = 0;
    next_data  = 0;
    for (int i = 0; i < CORES; i++) begin
      if (chosen[i]) begin
        next_line = next_line | request_line[i*LINE_BITS+:LINE_BITS];
        next_data = next_data | request_data[i*128+:128];
      end
    end
  end

  cache #(
      .LINES(LINES),
      .LINE_BITS(LINE_BITS)
  ) cache_of_lines (
      .clk,
      .reset,
      .request_valid(state == BUSY),
      .request_write(held_write),
      .request_line(held_line),
      .request_strobe(16'hffff),
      .request_data(held_data),
      .request_ready(cache_ready),
      .request_result(cache_result),
      .below_valid,
      .below_write,
      .below_line,
      .below_data,
      .below_ready,
      .below_result,
      .events
  );

  always_ff @(posedge clk) begin
    case (state)
      IDLE: begin
        owner <= chosen;
        held_write <= next_write;
        held_line <= next_line;
        held_data <= next_data;
        if (chosen != 0) state <= BUSY;
      end
      BUSY:
      if (cache_ready) begin
        held_data <= cache_result;
        state <= DONE;
      end
      default: state <= IDLE;
    endcase
    if (reset) state <= IDLE;
  end
endmodule
