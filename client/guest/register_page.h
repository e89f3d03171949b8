// SPDX-License-Identifier: Apache-2.0
//
// A register page as a guest's program reaches it: by a guest port (socket_page.h) or in memory (memory_page.h).
//
//   std::vector<hpc::PageAccess> batch = {hpc::WriteOf(hpc::kHpcmOffset, 8, 0b11), hpc::ReadOf(hpc::kHpccOffset, 8)};
//   SIDEBAND_RETURN_IF_ERROR(page.Perform(batch));
//   const uint64_t hpcc = batch[1].value;
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t count, page.Read64(hpc::kHpcrOffset));
#ifndef SIDEBAND_CLIENT_GUEST_REGISTER_PAGE_H_
#define SIDEBAND_CLIENT_GUEST_REGISTER_PAGE_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/registers/guest_port.h"

namespace sideband::client {

class RegisterPage {
 public:
  virtual ~RegisterPage() = default;

  // Performs the accesses, which must be in the page (hpc::IsInPage), in their order; stores what was read in `value`.
  // A program may be switched out between any two of them. After an error it is unknown which were performed.
  virtual absl::Status Perform(std::span<hpc::PageAccess> accesses) = 0;

  // Single accesses, by Perform.
  absl::StatusOr<uint64_t> Read64(uint16_t offset) { return Read(offset, 8); }
  absl::StatusOr<uint32_t> Read32(uint16_t offset);
  absl::Status Write64(uint16_t offset, uint64_t value) { return Write(offset, 8, value); }
  absl::Status Write32(uint16_t offset, uint32_t value) { return Write(offset, 4, value); }

 private:
  absl::StatusOr<uint64_t> Read(uint16_t offset, uint8_t size);
  absl::Status Write(uint16_t offset, uint8_t size, uint64_t value);
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_GUEST_REGISTER_PAGE_H_
