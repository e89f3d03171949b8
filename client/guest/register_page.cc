// SPDX-License-Identifier: Apache-2.0
#include "client/guest/register_page.h"

#include "proto/base/status_macros.h"

namespace sideband::client {

absl::StatusOr<uint64_t> RegisterPage::Read(uint16_t offset, uint8_t size) {
  hpc::PageAccess access = hpc::ReadOf(offset, size);
  SIDEBAND_RETURN_IF_ERROR(Perform({&access, 1}));
  return access.value;
}

absl::StatusOr<uint32_t> RegisterPage::Read32(uint16_t offset) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t value, Read(offset, 4));
  return static_cast<uint32_t>(value);
}

absl::Status RegisterPage::Write(uint16_t offset, uint8_t size, uint64_t value) {
  hpc::PageAccess access = hpc::WriteOf(offset, size, value);
  return Perform({&access, 1});
}

}  // namespace sideband::client
