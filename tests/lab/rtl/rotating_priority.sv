// SPDX-License-Identifier: Apache-2.0
//
// Of those that ask, the first after the last that was granted.
module rotating_priority #(
    parameter COUNT = 1
) (
    input  logic             clk,
    input  logic             reset,
    input  logic [COUNT-1:0] asking,
    input  logic             grant,   // to `chosen`, in this cycle
    output logic [COUNT-1:0] chosen   // one-hot, 0 if none asks
);
  logic [COUNT-1:0] later;  // those after the last granted

  wire [COUNT-1:0] first = (asking & later) != 0 ? asking & later : asking;
  assign chosen = first & -first;

  always_ff @(posedge clk) begin
    if (reset) later <= 0;
    else if (grant & asking != 0) later <= ~(chosen | (chosen - 1'b1));
  end
endmodule
