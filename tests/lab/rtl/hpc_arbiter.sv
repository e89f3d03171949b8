// SPDX-License-Identifier: Apache-2.0
//
// The arbiter of one manager: of the clients that ask it, the first after the last granted; of a client's own requests
// the oldest.
module hpc_arbiter #(
    parameter CLIENTS = 1,
    parameter [hpc::MANAGER_BITS-1:0] MANAGER = 0,
    parameter LANES = CLIENTS * hpc::HPC_TAGS
) (
    input logic clk,
    input logic reset,

    input logic [                  LANES-1:0] slot_valid,
    input logic [LANES*hpc::MANAGER_BITS-1:0] slot_manager,
    input logic [               LANES*64-1:0] slot_bitmap,
    input logic [                  LANES-1:0] slot_stamp,
    input logic [    LANES*hpc::HPC_TAGS-1:0] slot_older,

    input  logic             manager_free,
    output logic [LANES-1:0] grant_lane,    // one-hot, 0 without a grant
    output logic [     63:0] grant_bitmap,
    output logic             grant_stamp
);
  logic [LANES-1:0] asks, oldest;
  logic [CLIENTS-1:0] asking, chosen;

  always_comb begin
    for (int lane = 0; lane < LANES; lane++) begin
      asks[lane] = slot_valid[lane] & slot_manager[lane*hpc::MANAGER_BITS+:hpc::MANAGER_BITS] == MANAGER;
    end
    oldest = asks;
    for (int lane = 0; lane < LANES; lane++) begin
      for (int tag = 0; tag < hpc::HPC_TAGS; tag++) begin
        if (asks[lane] & slot_older[lane*hpc::HPC_TAGS+tag]) oldest[(lane/hpc::HPC_TAGS)*hpc::HPC_TAGS+tag] = 1'b0;
      end
    end
    for (int client = 0; client < CLIENTS; client++) begin
      asking[client] = asks[client*hpc::HPC_TAGS+:hpc::HPC_TAGS] != 0;
    end
  end

  rotating_priority #(
      .COUNT(CLIENTS)
  ) rotation (
      .clk,
      .reset,
      .asking,
      .grant(manager_free),
      .chosen
  );

  always_comb begin
    grant_bitmap = 0;
    grant_stamp  = 1'b0;
    for (int lane = 0; lane < LANES; lane++) begin
      grant_lane[lane] = manager_free & chosen[lane/hpc::HPC_TAGS] & oldest[lane];
      if (grant_lane[lane]) begin
        grant_bitmap = grant_bitmap | slot_bitmap[lane*64+:64];
        grant_stamp  = grant_stamp | slot_stamp[lane];
      end
    end
  end
endmodule
