// SPDX-License-Identifier: Apache-2.0
//
// The registers of one core or slice by which a program reads counters (docs/design/registers.md; the model is
// secure_mcu/pipeline/hpc_client). In each cycle the access acts first, then what arrives in this cycle.
module hpc_client (
    input  logic clk,
    input  logic reset,

    // A register access; its result is there in the same cycle.
    input  logic        access_valid,
    input  logic        access_write,
    input  logic [ 1:0] access_register,
    input  logic [ 1:0] access_half,
    input  logic [ 1:0] access_privilege,
    input  logic [63:0] access_data,
    output logic [63:0] access_result,
    output logic        access_fault,  // a user's trigger without useren

    // A context switch; it acts after the access.
    input  logic switch_strobe,
    input  logic switch_useren,

    // The counters of a manager that the caller may read, in the same cycle.
    output logic [hpc::MANAGER_BITS-1:0] reach_manager,
    input  logic [                 63:0] reach_counters,

    // The request that leaves in this cycle.
    output logic                         request_valid,
    output logic [hpc::MANAGER_BITS-1:0] request_manager,
    output logic [                 63:0] request_bitmap,
    output logic                         request_stamp,
    output logic [    hpc::HPC_TAGS-1:0] request_tag,  // one-hot

    // What arrives in this cycle, per tag.
    input logic [              hpc::HPC_TAGS-1:0] answer_valid,
    input logic [              hpc::HPC_TAGS-1:0] answer_last,
    input logic [              hpc::HPC_TAGS-1:0] answer_stamp,  // the word is the stamp
    input logic [hpc::HPC_TAGS*hpc::BIT_BITS-1:0] answer_bit,
    input logic [           hpc::HPC_TAGS*64-1:0] answer_value
);
  // --- Registers ------------------------------------------------------------------------------------------------------
  logic trigger, interrupted, readerror, useren, refused, stamp;
  logic [hpc::MANAGER_BITS-1:0] manager;
  logic [63:0] bitmap;  // hpcm; while a request waits for a tag, its bitmap, and hpcm is 0
  logic [31:0] high_half;  // of the value that the last read of hpcr's low half took
  logic waiting;  // a request waits for a tag
  logic [hpc::HPC_TAGS-1:0] busy;  // tags of what is under way
  logic [hpc::HPC_TAGS-1:0] current;  // the tag of the current request, unless it waits or was cancelled

  logic fifo_empty;
  logic [63:0] fifo_front;

  // --- The access -----------------------------------------------------------------------------------------------------
  wire whole_or_low = access_half != hpc::HIGH;
  wire reads = access_valid & ~access_write;
  wire writes = access_valid & access_write;
  wire pop = reads & access_register == hpc::HPCR & whole_or_low;
  wire write_hpcm = writes & access_register == hpc::HPCM & ~trigger;
  wire write_hpcc = writes & access_register == hpc::HPCC & whole_or_low;

  wire privileged = access_privilege != hpc::USER;
  wire interrupt = write_hpcc & privileged & access_data[hpc::HPCC_INTERRUPTED_LSB];
  wire cancel = interrupt | (write_hpcc & trigger & ~access_data[hpc::HPCC_TRIGGER_LSB]);
  wire idle_write = write_hpcc & ~interrupt & ~trigger;
  wire ask = idle_write & access_data[hpc::HPCC_TRIGGER_LSB];
  wire configure = idle_write & ~access_fault;
  assign access_fault = ask & ~privileged & ~useren;

  wire reachable = reach_counters != 0 & (bitmap & ~reach_counters) == 0;
  wire start = ask & ~access_fault & reachable;
  wire start_of_nothing = bitmap == 0 & ~access_data[hpc::HPCC_STAMP_LSB];

  // What the next thread must not see of the one before.
  wire forget = interrupt | switch_strobe;
  wire accepted = write_hpcm & whole_or_low;
  wire clear_fifo = start | accepted | forget;

  assign reach_manager = access_data[hpc::HPCC_EXTEND_LSB+:hpc::MANAGER_BITS];

  // --- Its result -----------------------------------------------------------------------------------------------------
  logic [63:0] hpcc, selected;
  always_comb begin
    hpcc = 0;
    hpcc[hpc::HPCC_TRIGGER_LSB] = trigger;
    hpcc[hpc::HPCC_INTERRUPTED_LSB] = interrupted;
    hpcc[hpc::HPCC_EMPTY_LSB] = fifo_empty;
    hpcc[hpc::HPCC_READERROR_LSB] = readerror;
    hpcc[hpc::HPCC_EXTEND_LSB+:hpc::MANAGER_BITS] = manager;
    hpcc[hpc::HPCC_USEREN_LSB] = useren;
    hpcc[hpc::HPCC_REFUSED_LSB] = refused;
    hpcc[hpc::HPCC_STAMP_LSB] = stamp;

    case (access_register)
      hpc::HPCC: selected = hpcc;
      hpc::HPCM: selected = waiting ? 64'b0 : bitmap;
      hpc::HPCR: selected = {access_half == hpc::HIGH ? high_half : fifo_front[63:32], fifo_front[31:0]};
      default: selected = 0;
    endcase
    case (access_half)
      hpc::LOW: access_result = {32'b0, selected[31:0]};
      hpc::HIGH: access_result = {32'b0, selected[63:32]};
      default: access_result = selected;
    endcase
  end

  // --- The request that leaves ----------------------------------------------------------------------------------------
  wire [hpc::HPC_TAGS-1:0] freed = answer_valid & answer_last;
  wire [hpc::HPC_TAGS-1:0] free = ~busy | freed;
  wire wanted = (waiting & ~cancel) | (start & ~start_of_nothing);
  wire [hpc::HPC_TAGS-1:0] taken = request_valid ? request_tag : 0;
  assign request_valid = wanted & free != 0;
  assign request_manager = configure ? reach_manager : manager;
  assign request_bitmap = bitmap;
  assign request_stamp = configure ? access_data[hpc::HPCC_STAMP_LSB] : stamp;
  assign request_tag = free & -free;

  // --- The arrivals ---------------------------------------------------------------------------------------------------
  wire [hpc::HPC_TAGS-1:0] still_current = cancel ? 0 : current;
  wire [hpc::HPC_TAGS-1:0] pushed = answer_valid & still_current;
  logic [63:0] push_value, push_bit;
  always_comb begin
    push_value = 0;
    push_bit = 0;
    for (int tag = 0; tag < hpc::HPC_TAGS; tag++) begin
      if (pushed[tag]) push_value = push_value | answer_value[tag*64+:64];
      if (pushed[tag] & ~answer_stamp[tag]) push_bit[answer_bit[tag*hpc::BIT_BITS+:hpc::BIT_BITS]] = 1'b1;
    end
  end

  hpc_fifo fifo (
      .clk,
      .reset,
      .clear(clear_fifo),
      .push(pushed != 0),
      .push_value,
      .pop,
      .empty(fifo_empty),
      .front(fifo_front)
  );

  // --- The end of the cycle -------------------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    trigger <= (trigger & ~cancel & (pushed & answer_last) == 0) | (start & ~start_of_nothing);
    waiting <= wanted & ~request_valid;
    busy <= (busy & ~freed) | taken;
    current <= (still_current & ~freed) | taken;

    if (accepted) interrupted <= 1'b0;
    if (pop & fifo_empty) readerror <= 1'b1;
    if (accepted) readerror <= 1'b0;
    if (write_hpcc & privileged) useren <= access_data[hpc::HPCC_USEREN_LSB];
    if (ask) refused <= ~start;
    if (configure) begin
      manager <= reach_manager;
      stamp   <= access_data[hpc::HPCC_STAMP_LSB];
    end

    if (pop & access_half == hpc::LOW) high_half <= fifo_front[63:32];
    if (clear_fifo) high_half <= 0;

    if (write_hpcm & access_half == hpc::HIGH) bitmap[63:32] <= access_data[31:0];
    else if (accepted) bitmap <= access_half == hpc::LOW ? {32'b0, access_data[31:0]} : access_data;
    else if (request_valid | (waiting & cancel)) bitmap <= 0;
    else bitmap <= bitmap | push_bit;

    if (forget) begin
      interrupted <= 1'b1;
      readerror <= 1'b0;
      refused <= 1'b0;
      stamp <= 1'b0;
      manager <= 0;
      bitmap <= 0;
    end
    if (reset | switch_strobe) begin
      trigger <= 1'b0;
      waiting <= 1'b0;
      busy <= 0;
      current <= 0;
      useren <= switch_strobe & switch_useren;
    end
    if (reset) begin
      interrupted <= 1'b0;
      readerror <= 1'b0;
      refused <= 1'b0;
      stamp <= 1'b0;
      manager <= 0;
      bitmap <= 0;
      high_half <= 0;
    end
  end
endmodule
