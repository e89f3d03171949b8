// SPDX-License-Identifier: Apache-2.0
//
// The counters of one module and extend: with a grant it latches those that are asked for, in one cycle, and sends them
// one by one (docs/design/registers.md, "A request, step by step").
module hpc_manager #(
    parameter COUNTERS = 1,
    parameter CLIENTS = 1,
    parameter LOOKUP_BITS = 5,
    parameter LANES = CLIENTS * hpc::HPC_TAGS
) (
    input logic clk,
    input logic reset,
    input logic [LOOKUP_BITS-1:0] lookup_cycles,  // at least 1
    input logic [COUNTERS*64-1:0] counts,
    input logic [CLIENTS-1:0] withdraw,  // the requests of these clients

    output logic             free,
    input  logic [LANES-1:0] grant_lane,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [     63:0] grant_bitmap,  // beyond COUNTERS nothing is asked for: hpc_reach
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic             grant_stamp,

    // The words sent in this cycle. The last value of a request and the stamp of the next may be sent together.
    output logic [        LANES-1:0] value_lane,  // one-hot, 0 without a value
    output logic                     value_last,
    output logic [hpc::BIT_BITS-1:0] value_bit,
    output logic [             63:0] value,
    output logic [        LANES-1:0] stamp_lane,
    output logic                     stamp_last
);
  logic [LANES-1:0] lane;  // to which the values go
  logic [COUNTERS-1:0] remaining;  // to be sent
  logic [LOOKUP_BITS-1:0] countdown;  // to the next value
  logic [COUNTERS*64-1:0] latched;

  wire [COUNTERS-1:0] selected = grant_bitmap[COUNTERS-1:0];
  wire granted = grant_lane != 0;
  wire [COUNTERS-1:0] next = remaining & -remaining;
  wire sending = remaining != 0 & countdown == 1;

  assign value_last = remaining == next;
  assign value_lane = sending ? lane : 0;
  assign free = remaining == 0 | (sending & value_last);
  assign stamp_lane = grant_stamp ? grant_lane : 0;
  assign stamp_last = selected == 0;

  always_comb begin
    value = 0;
    value_bit = 0;
    for (int i = 0; i < COUNTERS; i++) begin
      if (next[i]) begin
        value = value | latched[i*64+:64];
        value_bit = value_bit | hpc::BIT_BITS'(i);
      end
    end
  end

  logic [CLIENTS-1:0] clients_after;
  logic [LANES-1:0] lane_after;
  always_comb begin
    lane_after = granted ? grant_lane : lane;
    for (int client = 0; client < CLIENTS; client++) begin
      clients_after[client] = lane_after[client*hpc::HPC_TAGS+:hpc::HPC_TAGS] != 0;
    end
  end

  always_ff @(posedge clk) begin
    lane <= lane_after;
    if (granted) latched <= counts;
    if (granted | sending) countdown <= lookup_cycles;
    else countdown <= countdown - 1'b1;

    if (granted) remaining <= selected;
    else if (sending) remaining <= remaining & ~next;
    if (reset | (clients_after & withdraw) != 0) remaining <= 0;
  end
endmodule
