// SPDX-License-Identifier: Apache-2.0
//
// The values that have arrived for a client. It is cleared before each request, and a request has no more values than
// the FIFO has words, so its pointers never wrap around.
module hpc_fifo (
    input  logic        clk,
    input  logic        reset,
    input  logic        clear,
    input  logic        push,  // not together with clear
    input  logic [63:0] push_value,
    input  logic        pop,   // of an empty FIFO: no effect
    output logic        empty,
    output logic [63:0] front  // 0 while the FIFO is empty
);
  localparam POINTER_BITS = $clog2(hpc::HPC_FIFO_WORDS + 1);

  (* ram_style = "registers" *)
  logic [63:0] words[0:hpc::HPC_FIFO_WORDS-1];
  logic [POINTER_BITS-1:0] pushed, popped;

  assign empty = pushed == popped;
  assign front = empty ? 64'b0 : words[popped];

  always_ff @(posedge clk) begin
    if (push) words[pushed] <= push_value;
    if (reset | clear) begin
      pushed <= 0;
      popped <= 0;
    end else begin
      if (push) pushed <= pushed + 1'b1;
      if (pop & ~empty) popped <= popped + 1'b1;
    end
  end
endmodule
