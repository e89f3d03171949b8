// SPDX-License-Identifier: Apache-2.0
//
// Accesses to the registers hpcc, hpcm and hpcr, whole or by halves, collected and performed together.
//   RegisterBatch batch(page, /*access_bytes=*/8);
//   batch.Write(hpc::kHpcmOffset, bitmap);
//   batch.Read(hpc::kHpccOffset);
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint64_t> read, batch.Perform());
#ifndef SIDEBAND_CLIENT_GUEST_REGISTER_BATCH_H_
#define SIDEBAND_CLIENT_GUEST_REGISTER_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/guest/register_page.h"

namespace sideband::client {

// Not thread-safe.
class RegisterBatch {
 public:
  // `page` must outlive it; `access_bytes` is 4 or 8.
  RegisterBatch(RegisterPage& page, uint8_t access_bytes) : page_(page), access_bytes_(access_bytes) {}

  // The low half comes first (registers.md, "Registers").
  void Write(uint16_t offset, uint64_t value);
  void Read(uint16_t offset);
  // Performs what was collected, and returns what the reads have read.
  absl::StatusOr<std::vector<uint64_t>> Perform();

 private:
  RegisterPage& page_;
  const uint8_t access_bytes_;
  std::vector<hpc::PageAccess> accesses_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_GUEST_REGISTER_BATCH_H_
