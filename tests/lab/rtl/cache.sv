// SPDX-License-Identifier: Apache-2.0
//
// A direct-mapped cache of lines of 16 bytes: write-back, write-allocate. A request stays until it is ready. A miss
// writes back what is dirty, and then reads the line from below, unless the request writes all of it. Each request is
// counted in the cycle in which it is looked up first.
module cache #(
    parameter LINES = 32,
    parameter LINE_BITS = 14  // of a line's number
) (
    input logic clk,
    input logic reset,

    input  logic                 request_valid,
    input  logic                 request_write,
    input  logic [LINE_BITS-1:0] request_line,
    input  logic [         15:0] request_strobe,  // bytes to write
    input  logic [        127:0] request_data,
    output logic                 request_ready,
    output logic [        127:0] request_result,

    output logic                 below_valid,
    output logic                 below_write,
    output logic [LINE_BITS-1:0] below_line,
    output logic [        127:0] below_data,
    input  logic                 below_ready,
    input  logic [        127:0] below_result,

    // Wires of events: read, readmiss, write, writemiss, writeback from bit 0.
    output logic [4:0] events
);
  localparam INDEX_BITS = $clog2(LINES);
  localparam TAG_BITS = LINE_BITS - INDEX_BITS;
  localparam [1:0] LOOKUP = 0, WRITEBACK = 1, REFILL = 2;

  logic [127:0] lines[0:LINES-1];
  logic [TAG_BITS-1:0] tags[0:LINES-1];
  logic [LINES-1:0] valid, dirty;
  logic [1:0] state;
  logic counted;  // the request has been looked up before

  wire [INDEX_BITS-1:0] index = request_line[INDEX_BITS-1:0];
  wire [TAG_BITS-1:0] tag = request_line[LINE_BITS-1:INDEX_BITS];
  wire [TAG_BITS-1:0] present = tags[index];

  wire hit = valid[index] & present == tag;
  wire evict = valid[index] & dirty[index] & ~hit;
  wire replace = request_write & (&request_strobe) & ~evict;  // nothing of the old line is needed
  wire looks = state == LOOKUP & request_valid;
  wire stores = looks & request_write & (hit | replace);
  wire refills = state == REFILL & below_ready;

  assign request_ready = looks & (hit | replace);
  assign request_result = lines[index];
  assign below_valid = state == WRITEBACK | state == REFILL;
  assign below_write = state == WRITEBACK;
  assign below_line = below_write ? {present, index} : request_line;
  assign below_data = lines[index];

  wire first = looks & ~counted;
  assign events = {first & evict, {2{first & request_write}} & {~hit, 1'b1}, {2{first & ~request_write}} & {~hit, 1'b1}};

  wire [15:0] strobe = refills ? 16'hffff : stores ? request_strobe : 16'b0;
  wire [127:0] written = refills ? below_result : request_data;
  always_ff @(posedge clk) begin
    for (int i = 0; i < 16; i++) if (strobe[i]) lines[index][i*8+:8] <= written[i*8+:8];
    if (refills | stores) tags[index] <= tag;
  end

  always_ff @(posedge clk) begin
    case (state)
      LOOKUP: if (looks & ~request_ready) state <= evict ? WRITEBACK : REFILL;
      default: if (below_ready) state <= LOOKUP;
    endcase
    counted <= request_valid & ~request_ready;
    if (stores) dirty[index] <= 1'b1;
    if (below_valid & below_ready) dirty[index] <= 1'b0;
    if (refills | stores) valid[index] <= 1'b1;
    if (reset) begin
      state <= LOOKUP;
      counted <= 1'b0;
      valid <= 0;
      dirty <= 0;
    end
  end
endmodule
