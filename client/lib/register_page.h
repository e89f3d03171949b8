// SPDX-License-Identifier: Apache-2.0
//
// A register page as a guest's program reaches it: the interface, a page behind a guest port of an emulated device, and
// the page of real hardware in memory.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto page, SocketPage::Connect("guests/vm1.train.sock"));
//   std::vector<hpc::PageAccess> batch = {hpc::WriteOf(hpc::kHpcmOffset, 8, 0b11), hpc::ReadOf(hpc::kHpccOffset, 8)};
//   SIDEBAND_RETURN_IF_ERROR(page->Perform(batch));
//   const uint64_t hpcc = batch[1].value;
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t count, page->Read64(hpc::kHpcrOffset));
#ifndef SIDEBAND_CLIENT_LIB_REGISTER_PAGE_H_
#define SIDEBAND_CLIENT_LIB_REGISTER_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/steady_time.h"
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

// The register page of real hardware, mapped into the program: a resource of a PCI device, a device file of a driver.
//
//   constexpr char kResource[] = "/sys/bus/pci/devices/0000:41:00.0/resource2";
//   SIDEBAND_ASSIGN_OR_RETURN(const auto page, MemoryPage::Open(kResource, /*offset=*/0x1000));
//
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

// A register page behind a guest port of an emulated device (proto/registers/guest_port.h).
//
// While the VM or context does not run, the page waits: on a core, the program would stand still. An access that was
// not performed is repeated with all that follow it. Some of these may then be performed twice, but only after a
// switch, which the registers report as `interrupted`.
//
// Not thread-safe. The port is hostile: it can withhold and forge values, and delay each Perform by `patience` and
// kAnswerTimeout.
class SocketPage final : public RegisterPage {
 public:
  // The longest time until answers are there.
  static constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);

  struct Options {
    // The longest time of a Perform in which the caller does not run.
    absl::Duration patience = absl::Seconds(10);
    // Waits; returns true to give up.
    std::function<bool(absl::Duration)> wait = [](absl::Duration duration) {
      SteadySleep(duration);
      return false;
    };
  };

  // "guest port PATH: why". INVALID_ARGUMENT if the path is too long for a socket, UNAVAILABLE if no device serves it.
  static absl::StatusOr<std::unique_ptr<SocketPage>> Connect(const std::string& path, Options options);
  static absl::StatusOr<std::unique_ptr<SocketPage>> Connect(const std::string& path) { return Connect(path, {}); }

  // DEADLINE_EXCEEDED if the caller did not run for `patience`, or the port did not answer; UNAVAILABLE if the device
  // closed the port: it has ended or restarted, or the port has too many connections; CANCELLED if a wait gave up.
  // After an error no further access succeeds.
  absl::Status Perform(std::span<hpc::PageAccess> accesses) override;

 private:
  SocketPage(std::string path, Descriptor socket, Options options)
      : path_(std::move(path)), socket_(std::move(socket)), options_(std::move(options)) {}

  absl::Status PerformSome(std::span<hpc::PageAccess> accesses, absl::Duration deadline);
  absl::StatusOr<size_t> Exchange(std::span<hpc::PageAccess> accesses);
  // Sends the frames and receives `size` bytes.
  absl::StatusOr<Bytes> Answers(ByteSpan frames, size_t size) const;

  const std::string path_;
  Descriptor socket_;
  const Options options_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_REGISTER_PAGE_H_
