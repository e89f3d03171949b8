// SPDX-License-Identifier: Apache-2.0
//
// A controller's side of the mailbox: commands, and whole streams through the windows. (mailbox.md; the commands are in
// proto/mailbox/extension.h.)
//   MailboxSession session(port, wait);
//   SIDEBAND_ASSIGN_OR_RETURN(const Latched latched, session.Latch(/*base=*/{}));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Snapshot snapshot, session.ReadSnapshot(latched, /*base=*/nullptr));
//   SIDEBAND_RETURN_IF_ERROR(session.Acknowledge({snapshot.boot_id, snapshot.snapshot_id}));
#ifndef SIDEBAND_DAEMON_MAILBOX_MAILBOX_SESSION_H_
#define SIDEBAND_DAEMON_MAILBOX_MAILBOX_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

// What a device answers a command with: a Status for every mailbox status.
//   SUCCESS OK · ERR_OPCODE, ERR_NOT_SUPPORTED UNIMPLEMENTED · ERR_AGAIN ABORTED (superseded: latch anew) · ERR_BUSY,
//   INACTIVE, READY, ERR_NOT_AVAILABLE UNAVAILABLE · ERR_REQUEST, ERR_ARG*, ERR_DATA INVALID_ARGUMENT · others INTERNAL
absl::Status StatusFromMailbox(mailbox::Opcode opcode, mailbox::MailboxStatus status);

// A snapshot that the controller has.
struct HeldSnapshot {
  uint64_t boot_id = 0;
  uint32_t snapshot_id = 0;  // 0: none
};

struct Latched {
  uint32_t snapshot_id = 0;
  uint32_t stream_bytes = 0;
};

struct CatalogOfBoot {
  std::shared_ptr<const Topology> topology;
  uint64_t boot_id = 0;
};

// Used by one thread at a time. Errors are those of RegisterPort and StatusFromMailbox; a device that contradicts
// itself (lengths, checksums, versions) is DATA_LOSS or INVALID_ARGUMENT. Nothing that a device says makes it allocate
// more than mailbox::kStreamBytesMax or loop without bound.
class MailboxSession {
 public:
  using Wait = std::function<void(absl::Duration)>;
  // A stream that the bus interrupts is gone on with so often.
  static constexpr int kResumesMax = 2;
  // A command is polled so often, with a pause that doubles up to the longest between.
  static constexpr int kPollsMax = 40;
  static constexpr absl::Duration kPauseFirst = absl::Microseconds(100);
  static constexpr absl::Duration kPauseMax = absl::Milliseconds(10);

  // `port` must outlive the session.
  MailboxSession(RegisterPort& port, Wait wait) : port_(port), wait_(std::move(wait)) {}

  // How much of a stream one read carries.
  uint32_t window_bytes() const { return port_.block_bytes_max(); }

  // Reads before it writes anything, so that a chip that is no mailbox is left alone. UNIMPLEMENTED where the device
  // does not know the extension or speaks another version of it.
  absl::Status CheckExtension();
  absl::StatusOr<CatalogOfBoot> ReadCatalog();
  // `base` is what the next snapshot may be relative to; it is acknowledged thereby.
  absl::StatusOr<Latched> Latch(const HeldSnapshot& base);
  // `base` is what was acknowledged, if anything. ABORTED where another latch has superseded it.
  absl::StatusOr<mailbox::Snapshot> ReadSnapshot(const Latched& latched, const mailbox::Snapshot* base);
  absl::Status Acknowledge(const HeldSnapshot& snapshot);

 private:
  struct Reply {
    uint32_t data = 0;
    uint32_t extended_data = 0;
  };
  // Reads as much of the reply as the command has.
  enum class Output { kNothing, kData, kBoth };
  struct Request {
    mailbox::CommandWord command;
    std::optional<uint32_t> data;
    std::optional<uint32_t> extended_data;
    Output output = Output::kBoth;
  };
  // Until the command's write was acknowledged: from its inputs on each time.
  absl::Status Submit(const Request& request);
  absl::StatusOr<Reply> Run(const Request& request);
  absl::Status AwaitDone(const mailbox::CommandWord& command);
  // Makes the stream's windows start at an offset; returns the stream's length.
  using Reopen = std::function<absl::StatusOr<uint32_t>(uint32_t offset)>;
  absl::StatusOr<uint32_t> OpenCatalog(uint32_t offset);
  absl::StatusOr<uint32_t> OpenSnapshot(uint32_t snapshot_id, uint32_t offset);
  // The whole stream of `size` bytes, which is open from its start on.
  absl::StatusOr<Bytes> ReadStream(uint32_t size, const Reopen& reopen);
  absl::Status ReadSpan(uint32_t size, Bytes& bytes);
  mailbox::CommandWord StreamCommand(mailbox::Opcode opcode) const;

  RegisterPort& port_;
  const Wait wait_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_MAILBOX_SESSION_H_
