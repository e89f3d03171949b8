// SPDX-License-Identifier: Apache-2.0
//
// The sealed records of a VM in band: from a file that the device replaces (proto/envelope/record.h). After the
// exchange of keys the daemon is not needed.
//   ViewRecords records({.path = "/run/sideband/views/vm3.sbs", .wait = wait, .note = note});
//   const absl::Status ended = records.Read(stream, {.on_record = on_record});
#ifndef SIDEBAND_CLIENT_LIB_VIEW_RECORDS_H_
#define SIDEBAND_CLIENT_LIB_VIEW_RECORDS_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/record_source.h"
#include "proto/base/bytes.h"
#include "proto/base/steady_time.h"

namespace sideband::client {

// Not thread-safe. The file may be written by anybody: it is bounded in size, and what it says beside the records is
// not believed. It is read every kPoll, as folders that are shared with a guest do not report changes; a record that
// was replaced before it was read is missing.
class ViewRecords final : public RecordSource {
 public:
  // A VM has no more than one record in this time.
  static constexpr absl::Duration kPoll = absl::Milliseconds(10);
  // A device that is well has a new record at least so often.
  static constexpr absl::Duration kRefresh = absl::Seconds(1);
  // Until a file that cannot be used is noted, and until a stream without a new record ends.
  static constexpr absl::Duration kNoteAfter = absl::Seconds(2);
  static constexpr absl::Duration kPatience = absl::Seconds(10);

  struct Options {
    std::string path;
    // Waits; returns whether the command is cancelled.
    std::function<bool(absl::Duration)> wait;
    std::function<void(const std::string& line)> note;
    std::function<absl::Duration()> now = SteadyNow;
  };
  explicit ViewRecords(Options options) : options_(std::move(options)) {}

  // FAILED_PRECONDITION when, after a record of the exchange, the file has none of it any more or is gone. UNAVAILABLE
  // after kPatience without a new record, with the reason: the file is missing or damaged, has records of other
  // exchanges only, or does not change. The stream's client is not used, and on_second not called.
  absl::Status Read(const Stream& stream, const Callbacks& callbacks) override;

 private:
  // Of one stream.
  struct Progress {
    Bytes newest;          // empty: no record yet
    absl::Duration since;  // of the newest record, or of the stream's beginning
    bool is_noted = false;
  };

  // NOT_FOUND: the file is missing, or has no such record.
  absl::StatusOr<Bytes> RecordOf(const envelope::GuestNonce& nonce) const;
  // There is no new record: `trouble` is why, or OK if the newest one is still there. An error ends the stream.
  absl::Status CheckPatience(const absl::Status& trouble, Progress& progress) const;

  const Options options_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_VIEW_RECORDS_H_
