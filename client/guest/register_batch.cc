// SPDX-License-Identifier: Apache-2.0
#include "client/guest/register_batch.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr uint8_t kHalfBytes = 4;

}  // namespace

void RegisterBatch::Write(uint16_t offset, uint64_t value) {
  accesses_.push_back(hpc::WriteOf(offset, access_bytes_, value));
  if (access_bytes_ == kHalfBytes) accesses_.push_back(hpc::WriteOf(offset + kHalfBytes, kHalfBytes, value >> 32));
}

void RegisterBatch::Read(uint16_t offset) {
  accesses_.push_back(hpc::ReadOf(offset, access_bytes_));
  if (access_bytes_ == kHalfBytes) accesses_.push_back(hpc::ReadOf(offset + kHalfBytes, kHalfBytes));
}

absl::StatusOr<std::vector<uint64_t>> RegisterBatch::Perform() {
  std::vector<hpc::PageAccess> accesses = std::exchange(accesses_, {});
  SIDEBAND_RETURN_IF_ERROR(page_.Perform(accesses));
  std::vector<uint64_t> read;
  for (const hpc::PageAccess& access : accesses) {
    if (access.kind != hpc::AccessKind::kRead) continue;
    if (access.offset % 8 == kHalfBytes) {
      read.back() |= access.value << 32;
    } else {
      read.push_back(access.value);
    }
  }
  return read;
}

}  // namespace sideband::client
