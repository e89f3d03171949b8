// SPDX-License-Identifier: Apache-2.0
#include "client/guest/socket_page.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/unix_socket.h"
#include "proto/registers/guest_port.h"

namespace sideband::client {
namespace {

constexpr absl::string_view kKind = "guest port";

// Frames that are sent at once: their answers must fit the socket, or the port would cut us off.
constexpr size_t kFramesMax = 256;

// Between attempts while the caller does not run. Residencies and turns last a millisecond or more.
constexpr absl::Duration kPauseMin = absl::Microseconds(50);
constexpr absl::Duration kPauseMax = absl::Milliseconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<SocketPage>> SocketPage::Connect(const std::string& path, Options options) {
  const int socket = ConnectToUnixSocket(path);
  if (socket < 0) return UnixSocketError(kKind, path, -socket);
  return std::unique_ptr<SocketPage>(new SocketPage(path, Descriptor(socket), std::move(options)));
}

absl::Status SocketPage::Perform(std::span<hpc::PageAccess> accesses) {
  const absl::Duration deadline = SteadyNow() + options_.patience;
  while (!accesses.empty()) {
    const size_t size = std::min(accesses.size(), kFramesMax);
    const absl::Status status = PerformSome(accesses.first(size), deadline);
    if (!status.ok()) {
      socket_ = Descriptor();  // answers may still be on their way
      return status;
    }
    accesses = accesses.subspan(size);
  }
  return absl::OkStatus();
}

absl::Status SocketPage::PerformSome(std::span<hpc::PageAccess> accesses, absl::Duration deadline) {
  for (absl::Duration pause = kPauseMin;; pause = std::min(2 * pause, kPauseMax)) {
    SIDEBAND_ASSIGN_OR_RETURN(const size_t performed, Exchange(accesses));
    accesses = accesses.subspan(performed);
    if (accesses.empty()) return absl::OkStatus();
    if (SteadyNow() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(kKind, " ", path_, ": its VM or context did not run within ",
                                                      absl::FormatDuration(options_.patience)));
    }
    if (options_.wait(pause)) return absl::CancelledError(absl::StrCat(kKind, " ", path_, ": cancelled"));
  }
}

absl::StatusOr<Bytes> SocketPage::Answers(ByteSpan frames, size_t size) const {
  UnixExchange exchange(socket_.get(), kKind, path_, kAnswerTimeout);
  const absl::Status sent = exchange.Send(frames);
  absl::StatusOr<Bytes> answers = sent.ok() ? exchange.Receive(size) : sent;
  // Which error a closed connection has depends on what was under way.
  if (!absl::IsUnavailable(answers.status())) return answers;
  return absl::UnavailableError(absl::StrCat(kKind, " ", path_, ": the device has closed the port"));
}

// Returns how many were performed before the first that was not.
absl::StatusOr<size_t> SocketPage::Exchange(std::span<hpc::PageAccess> accesses) {
  if (!socket_.is_open()) return UnixSocketError(kKind, path_, ENOTCONN);
  ByteWriter frames;
  for (const hpc::PageAccess& access : accesses) hpc::AppendFrame(access, frames);
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes answers, Answers(frames.written(), accesses.size() * hpc::kAnswerBytes));
  for (size_t i = 0; i < accesses.size(); ++i) {
    const auto value = hpc::DecodeAnswer(ByteSpan(answers).subspan(i * hpc::kAnswerBytes, hpc::kAnswerBytes));
    if (!value.ok()) return absl::UnavailableError(absl::StrCat(kKind, " ", path_, ": ", value.status().message()));
    if (!*value) return i;
    if (accesses[i].kind == hpc::AccessKind::kRead) accesses[i].value = **value;
  }
  return accesses.size();
}

}  // namespace sideband::client
