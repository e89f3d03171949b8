// SPDX-License-Identifier: Apache-2.0
//
// The register page of real hardware, mapped into the program: a resource of a PCI device, a device file of a driver.
//
//   constexpr char kResource[] = "/sys/bus/pci/devices/0000:41:00.0/resource2";
//   SIDEBAND_ASSIGN_OR_RETURN(const auto page, MemoryPage::Open(kResource, /*offset=*/0x1000));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t hpcc, page->Read64(hpc::kHpccOffset));
#ifndef SIDEBAND_CLIENT_GUEST_MEMORY_PAGE_H_
#define SIDEBAND_CLIENT_GUEST_MEMORY_PAGE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "client/guest/register_page.h"

namespace sideband::client {

// Not thread-safe. Each access is one load or store of its size, in order, as the hardware defines little-endian
// registers. Errors of the hardware are not seen: a device that is gone reads as ones.
class MemoryPage final : public RegisterPage {
 public:
  // Maps the page at `offset` of the file, a multiple of the page's size. Errors are those of the system, with the
  // path; INVALID_ARGUMENT for another offset, OUT_OF_RANGE if a regular file ends before the page does. A file that is
  // truncated later ends the program at its next access.
  static absl::StatusOr<std::unique_ptr<MemoryPage>> Open(const std::string& path, uint64_t offset);
  ~MemoryPage() override;
  MemoryPage(const MemoryPage&) = delete;
  MemoryPage& operator=(const MemoryPage&) = delete;

  // Always succeeds.
  absl::Status Perform(std::span<hpc::PageAccess> accesses) override;

 private:
  explicit MemoryPage(void* start) : start_(start) {}

  template <typename Word>
  void PerformOne(hpc::PageAccess& access) const;

  void* const start_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_GUEST_MEMORY_PAGE_H_
