// SPDX-License-Identifier: Apache-2.0
//
// A register page behind a guest port of an emulated device (proto/registers/guest_port.h).
//
//   SIDEBAND_ASSIGN_OR_RETURN(const auto page, SocketPage::Connect("guests/vm1.train.sock"));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t hpcc, page->Read64(hpc::kHpccOffset));
//
// While the VM or context does not run, the page waits: on a core, the program would stand still. An access that was
// not performed is repeated with all that follow it. Some of these may then be performed twice, but only after a
// switch, which the registers report as `interrupted`.
#ifndef SIDEBAND_CLIENT_GUEST_SOCKET_PAGE_H_
#define SIDEBAND_CLIENT_GUEST_SOCKET_PAGE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/guest/register_page.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/steady_time.h"

namespace sideband::client {

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

#endif  // SIDEBAND_CLIENT_GUEST_SOCKET_PAGE_H_
