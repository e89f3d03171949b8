// SPDX-License-Identifier: Apache-2.0
//
// Who may read what (docs/design/registers.md): the counters of a manager that a caller in SLICE may read, 0 if there is
// no such manager for it.
module hpc_reach #(
    parameter [5:0] SLICE = 0,
    parameter MANAGERS = 1,
    parameter [MANAGERS*hpc::MANAGER_BITS-1:0] MANAGER_IDS = 0,
    parameter [MANAGERS*7-1:0] MANAGER_COUNTERS = 1  // how many each has, from 1
) (
    input  logic [hpc::MANAGER_BITS-1:0] manager,
    input  logic [                  1:0] privilege,
    output logic [                 63:0] counters
);
  localparam [hpc::HPCC_MODULE_WIDTH-1:0] OWN = {5'b0, SLICE};
  localparam [hpc::HPCC_MODULE_WIDTH-1:0] CONTEXT = hpc::HPC_MODULE_CONTEXT + OWN, VM = hpc::HPC_MODULE_VM + OWN;

  wire [hpc::HPCC_MODULE_WIDTH-1:0] of_module = manager[hpc::HPCC_EXTEND_WIDTH+:hpc::HPCC_MODULE_WIDTH];
  wire allowed = of_module == CONTEXT | (of_module == VM & privilege != hpc::USER) | privilege == hpc::FIRMWARE;

  always_comb begin
    counters = 0;
    for (int i = 0; i < MANAGERS; i++) begin
      if (allowed & manager == MANAGER_IDS[i*hpc::MANAGER_BITS+:hpc::MANAGER_BITS]) begin
        counters = ~64'b0 >> (64 - MANAGER_COUNTERS[i*7+:7]);
      end
    end
  end
endmodule
