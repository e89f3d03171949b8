// SPDX-License-Identifier: Apache-2.0
//
// An RV32I core that executes one instruction after another: fetch, execute, and for some memory or a CSR. It has no CSRs
// but those of the read path, and no traps: what would trap halts it, and `trapped` is 1. Memory and CSRs act between
// registers, so that neither the caches nor the read path lengthen the paths of execution.
module core #(
    parameter READ_PATH = 1,  // 0: its CSRs do not exist
    parameter [31:0] BOOT_ADDRESS = 0
) (
    input  logic clk,
    input  logic reset,
    output logic halted,
    output logic trapped,

    output logic        fetch_valid,
    output logic [31:0] fetch_address,
    input  logic        fetch_ready,
    input  logic [31:0] fetch_word,

    output logic        data_valid,
    output logic        data_write,
    output logic [31:0] data_address,
    output logic [ 3:0] data_strobe,
    output logic [31:0] data_store,
    input  logic        data_ready,
    input  logic [31:0] data_word,

    // To hpc_client.
    output logic        access_valid,
    output logic        access_write,
    output logic [ 1:0] access_register,
    output logic [ 1:0] access_half,
    output logic [31:0] access_data,
    input  logic [31:0] access_result,
    input  logic        access_fault,

    // Wires of events.
    output logic event_cycle,
    output logic event_instruction
);
  localparam [2:0] FETCH = 0, EXECUTE = 1, MEMORY = 2, CSR_READ = 3, CSR_WRITE = 4, HALTED = 5;

  logic [2:0] state;
  logic [31:0] pc, instruction;
  logic [31:0] address, operand;  // of memory; operand is also that of a CSR
  logic [31:0] csr_value;

  // --- Decoding -------------------------------------------------------------------------------------------------------
  logic lui, auipc, jal, jalr, branch, load, store, compute_immediate, compute, fence, csr, halt, legal;
  logic [31:0] immediate, rs1_value, rs2_value;
  decoder decode (.*);

  wire [2:0] funct3 = instruction[14:12];
  wire [4:0] rd = instruction[11:7], rs1 = instruction[19:15], rs2 = instruction[24:20];

  // --- Execution ------------------------------------------------------------------------------------------------------
  logic [31:0] alu_result, sum;
  logic equal, less, less_unsigned;
  wire alternate = instruction[30];
  alu execution (
      .a(rs1_value),
      .b(compute | branch ? rs2_value : immediate),
      .funct3(compute | compute_immediate ? funct3 : 3'b000),
      .subtract(branch | (compute & alternate) | ((compute | compute_immediate) & funct3[2:1] == 2'b01)),
      .arithmetic(alternate),
      .result(alu_result),
      .sum,
      .equal,
      .less,
      .less_unsigned
  );

  logic condition;
  always_comb begin
    case (funct3[2:1])
      2'b00:   condition = equal;
      2'b10:   condition = less;
      default: condition = less_unsigned;
    endcase
  end
  wire jumps = jal | jalr | (branch & (condition ^ funct3[0]));
  wire [31:0] next_instruction = pc + 4;
  wire [31:0] relative = pc + immediate;
  wire [31:0] target = jalr ? {sum[31:1], 1'b0} : relative;

  logic misaligned;
  always_comb begin
    case (funct3[1:0])
      2'b00:   misaligned = 1'b0;
      2'b01:   misaligned = sum[0];
      default: misaligned = sum[1:0] != 0;
    endcase
  end

  // --- CSRs -----------------------------------------------------------------------------------------------------------
  wire [11:0] csr_number = instruction[31:20];
  wire high = (csr_number & hpc::CSR_HIGH) != 0;
  wire [11:0] csr_base = csr_number & ~hpc::CSR_HIGH;
  wire csr_exists = READ_PATH != 0 & (csr_base == hpc::HPC_HPCC_CSR | csr_base == hpc::HPC_HPCM_CSR
                                      | csr_base == hpc::HPC_HPCR_CSR);
  wire csr_reads = funct3[1:0] != 2'b01 | rd != 0;
  wire csr_writes = funct3[1:0] == 2'b01 | rs1 != 0;
  wire csr_legal = csr_exists & ~(csr_writes & csr_number[11:10] == 2'b11);

  assign access_valid = (state == CSR_READ & csr_reads) | access_write;
  assign access_write = state == CSR_WRITE & csr_writes;
  assign access_half  = high ? hpc::HIGH : hpc::LOW;
  always_comb begin
    case (csr_base)
      hpc::HPC_HPCC_CSR: access_register = hpc::HPCC;
      hpc::HPC_HPCM_CSR: access_register = hpc::HPCM;
      default: access_register = hpc::HPCR;
    endcase
    case (funct3[1:0])
      2'b01:   access_data = operand;
      2'b10:   access_data = csr_value | operand;
      default: access_data = csr_value & ~operand;
    endcase
  end

  // --- Memory ---------------------------------------------------------------------------------------------------------
  assign fetch_valid = state == FETCH;
  assign fetch_address = pc;
  assign data_valid = state == MEMORY;
  assign data_write = store;
  assign data_address = address;
  assign data_store = operand << {address[1:0], 3'b000};
  always_comb begin
    case (funct3[1:0])
      2'b00:   data_strobe = 4'b0001 << address[1:0];
      2'b01:   data_strobe = 4'b0011 << address[1:0];
      default: data_strobe = 4'b1111;
    endcase
  end

  wire [31:0] loaded = data_word >> {address[1:0], 3'b000};
  logic [31:0] extended;
  always_comb begin
    case (funct3[1:0])
      2'b00:   extended = {{24{loaded[7] & ~funct3[2]}}, loaded[7:0]};
      2'b01:   extended = {{16{loaded[15] & ~funct3[2]}}, loaded[15:0]};
      default: extended = loaded;
    endcase
  end

  // --- The end of the cycle -------------------------------------------------------------------------------------------
  wire illegal = ~legal | (csr & ~csr_legal) | (jumps & target[1]) | ((load | store) & misaligned);
  wire executes = state == EXECUTE & ~illegal;
  wire completes = executes & ~(load | store | csr | halt);
  wire loads = state == MEMORY & data_ready & load;
  wire csr_completes = state == CSR_WRITE & ~access_fault;
  wire retires = completes | csr_completes | (state == MEMORY & data_ready);

  logic [31:0] rd_value;
  always_comb begin
    if (state == MEMORY) rd_value = extended;
    else if (state == CSR_WRITE) rd_value = csr_value;
    else if (lui) rd_value = immediate;
    else if (auipc) rd_value = relative;
    else if (jal | jalr) rd_value = next_instruction;
    else rd_value = alu_result;
  end
  register_file registers (
      .clk,
      .write((completes & ~(branch | fence)) | loads | csr_completes),
      .rd,
      .rd_value,
      .rs1,
      .rs2,
      .rs1_value,
      .rs2_value
  );

  assign halted = state == HALTED;
  assign event_cycle = ~halted;
  assign event_instruction = retires;

  logic [2:0] next_state;
  always_comb begin
    next_state = state;
    case (state)
      FETCH: if (fetch_ready) next_state = EXECUTE;
      EXECUTE:
      if (illegal | halt) next_state = HALTED;
      else if (load | store) next_state = MEMORY;
      else if (csr & csr_legal) next_state = CSR_READ;
      else next_state = FETCH;
      CSR_READ: next_state = CSR_WRITE;
      CSR_WRITE: next_state = access_fault ? HALTED : FETCH;
      MEMORY: if (data_ready) next_state = FETCH;
      default: next_state = HALTED;
    endcase
  end

  always_ff @(posedge clk) begin
    state <= reset ? FETCH : next_state;
    if (state == FETCH) instruction <= fetch_word;
    if (state == EXECUTE) begin
      address <= sum;
      operand <= csr & funct3[2] ? {27'b0, rs1} : csr ? rs1_value : rs2_value;
    end
    if (state == CSR_READ) csr_value <= access_result;

    if (reset) pc <= BOOT_ADDRESS;
    else if (completes) pc <= jumps ? target : next_instruction;
    else if (retires) pc <= next_instruction;

    if (reset) trapped <= 1'b0;
    else if ((state == EXECUTE & illegal) | (state == CSR_WRITE & access_fault)) trapped <= 1'b1;
  end
endmodule
