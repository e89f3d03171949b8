// SPDX-License-Identifier: Apache-2.0
//
// The source of a confidential VM's sealed records, and the exchange of their keys with the VM's sealer, from inside
// the VM (proto/exchange/README.md). The daemon streams records out of band, or they are in a file inside the guest
// that the device replaces (proto/envelope/record.h). With the file, the daemon is not needed after the exchange of
// keys.
//   SIDEBAND_ASSIGN_OR_RETURN(exchange::GuestKeys keys,
//                             ExchangeKeys(client, {.vm = "vm3"}, EvidenceOfTsm(), {.roots = &roots}));
//   Opener opener(envelope::Ratchet(std::move(keys.secret)), {.vm = keys.statement.vm, .nonce = keys.nonce});
//   ViewRecords source({.path = "/run/sideband/views/vm3.sbs", .wait = wait, .note = note});
//   const RecordSource::Stream stream{.client = client, .subject = {.vm = "vm3"}, .nonce = keys.nonce};
//   const auto on_record = [&](ByteSpan record) { return opener.Open(record).ok(); };
//   const absl::Status ended = source.Read(stream, {.on_record = on_record});
#ifndef SIDEBAND_CLIENT_LIB_RECORD_SOURCE_H_
#define SIDEBAND_CLIENT_LIB_RECORD_SOURCE_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/telemetry_client.h"
#include "proto/attestation/evidence.h"
#include "proto/base/bytes.h"
#include "proto/base/steady_time.h"
#include "proto/envelope/record.h"
#include "proto/exchange/guest_exchange.h"

namespace sideband::client {

// Makes evidence of SEV-SNP that binds the report data.
using EvidenceSource = std::function<absl::StatusOr<Bytes>(const attestation::ReportData& report_data)>;

// Asks the guest's kernel: Linux' configfs-tsm, usually below /sys/kernel/config/tsm/report, which only root may write.
// Errors start with the path.
EvidenceSource EvidenceOfTsm(std::string folder = "/sys/kernel/config/tsm/report");
// Asks a processor that is none (proto/attestation/throwaway_psp.h), for demonstrations and tests.
EvidenceSource EvidenceOfThrowawayPsp(std::string folder, const attestation::Measurement& measurement);

struct ExchangeSubject {
  std::string device;  // empty: the first device that has the VM
  std::string vm;      // by name or UUID
};

// Errors of the calls and of the source. UNAUTHENTICATED: the sealer is not trusted, for the reason that
// exchange::GuestExchange::Finish gives. DATA_LOSS: the daemon's challenge is malformed.
absl::StatusOr<exchange::GuestKeys> ExchangeKeys(TelemetryClient& client, const ExchangeSubject& subject,
                                                 const EvidenceSource& source, const exchange::SealerTrust& trust);

// The records are hostile until an opener has accepted them.
class RecordSource {
 public:
  struct Stream {
    TelemetryClient& client;  // with which the keys were exchanged
    ExchangeSubject subject;
    envelope::GuestNonce nonce{};
  };
  // They run on the calling thread.
  struct Callbacks {
    // Returns whether to go on.
    std::function<bool(ByteSpan record)> on_record;
    // Every second, if the records need the daemon.
    std::function<void()> on_second = [] {};
  };

  virtual ~RecordSource() = default;

  // Passes on each new record with the stream's nonce. Returns OK if on_record has returned false, at the cancellation,
  // and if the source has ended without an error; otherwise why there are no more, marked as remote (rpc_status.h):
  // FAILED_PRECONDITION if the exchange has ended.
  virtual absl::Status Read(const Stream& stream, const Callbacks& callbacks) = 0;
};

// The records as the daemon streams them.
class DaemonRecords final : public RecordSource {
 public:
  // Errors are those of TelemetryClient::SubscribeSealed. OK also if the server has ended the stream.
  absl::Status Read(const Stream& stream, const Callbacks& callbacks) override;
};

// The records of a file. Not thread-safe. Any program may write the file: it is bounded in size, and what it says
// beside the records is not believed. It is read every kPoll, as folders that are shared with a guest do not report
// changes; a record that was replaced before it was read is missing.
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
  // The progress of one stream.
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

#endif  // SIDEBAND_CLIENT_LIB_RECORD_SOURCE_H_
