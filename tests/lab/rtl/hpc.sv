// SPDX-License-Identifier: Apache-2.0
//
// Constants of the read path. Those of the register table are made from it (proto/registers).
// A design does not use all of the table.
/* verilator lint_off UNUSEDPARAM */
package hpc;
`include "hpc_registers.svh"

localparam MANAGER_BITS = HPCC_MODULE_WIDTH + HPCC_EXTEND_WIDTH;  // {module, extend}
localparam BIT_BITS = $clog2(HPC_COUNTERS_PER_MANAGER);

// On a core of 32 bits the CSRs have the low halves of the registers, and these numbers more, of the same custom ranges,
// the high halves.
localparam [11:0] CSR_HIGH = 12'h020;

// The register of an access.
localparam [1:0] HPCC = 0, HPCM = 1, HPCR = 2;
// Its part. A half is in the low 32 bits of the data.
localparam [1:0] WHOLE = 0, LOW = 1, HIGH = 2;
// Who makes it.
localparam [1:0] USER = 0, SUPERVISOR = 1, FIRMWARE = 2;
endpackage
/* verilator lint_on UNUSEDPARAM */
