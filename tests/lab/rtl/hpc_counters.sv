// SPDX-License-Identifier: Apache-2.0
//
// One counter of 64 bits per event wire; in a cycle it is the number of earlier cycles in which the wire was high. Tests,
// which cannot count far, begin with values in the high halves: counter i with i + 1 times RESET_HIGH.
module hpc_counters #(
    parameter COUNTERS = 1,
    parameter [31:0] RESET_HIGH = 0
) (
    input  logic                   clk,
    input  logic                   reset,
    input  logic [   COUNTERS-1:0] events,
    output logic [COUNTERS*64-1:0] counts
);
  always_ff @(posedge clk) begin
    for (int i = 0; i < COUNTERS; i++) begin
      if (reset) counts[i*64+:64] <= {RESET_HIGH * 32'(i + 1), 32'b0};
      else counts[i*64+:64] <= counts[i*64+:64] + {63'b0, events[i]};
    end
  end
endmodule
