// SPDX-License-Identifier: Apache-2.0
//
// `sideband export`: opens the sealed records of a confidential VM inside it, and serves them to a Prometheus there.
// The text has the newest record while it is fresh, in Prometheus' text format, and the state of the export itself.
//   GuestExport newest({.event_patterns = {"dram_*"}});
//   newest.Opened(names, absl::Seconds(3));                  // a stream
//   newest.Received(record.content.snapshot(), record.opened.gap);
//   Answer(newest.Metrics());                                 // on another thread
#ifndef SIDEBAND_CLIENT_CLI_EXPORT_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_EXPORT_COMMAND_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/lib/record_source.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/steady_time.h"
#include "proto/mailbox/catalog.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// The daemon gives these names. The guest need not trust it: they label and describe, and change no number.
struct GuestNames {
  std::string device;
  std::string vm;
  std::vector<mailbox::EventInfo> events;  // name, unit and description; those that are unknown have no unit
};

// A VM's opened record, with the names, labels and HELP that the daemon's exposition gives the rows of a VM that is not
// confidential (docs/metrics.md). Families are sorted by name. Data that records do not have is absent: utilisations,
// configured ratios, gate coverage, and the device's own.
//
// Only events of which the name matches one of the patterns (options.h); no pattern: all. An event whose name no
// metric can have is left out. The second of two contexts of one name is "NAME 2"; the daemon shows the context's ID.
std::string GuestExposition(const v1::Snapshot& snapshot, const GuestNames& names,
                            const std::vector<std::string>& event_patterns);

// Thread-safe. A record is fresh while its stream is open and for the stream's patience after it was received, by the
// guest's own clock; afterwards there are no samples of it.
class GuestExport {
 public:
  struct Options {
    std::vector<std::string> event_patterns;
    std::function<absl::Duration()> now = SteadyNow;
  };

  explicit GuestExport(Options options) : options_(std::move(options)) {}

  void Opened(GuestNames names, absl::Duration patience) ABSL_LOCKS_EXCLUDED(mu_);
  // `gap` records are missing before it.
  void Received(v1::Snapshot snapshot, uint64_t gap) ABSL_LOCKS_EXCLUDED(mu_);
  // The stream has ended. `is_rejection`: by a record that was not acceptable.
  void Ended(bool is_rejection) ABSL_LOCKS_EXCLUDED(mu_);

  bool IsUp() const ABSL_LOCKS_EXCLUDED(mu_);
  // Text format 0.0.4.
  std::string Metrics() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool IsFresh() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string OwnMetrics() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  mutable absl::Mutex mu_;
  GuestNames names_ ABSL_GUARDED_BY(mu_);
  absl::Duration patience_ ABSL_GUARDED_BY(mu_);
  bool is_open_ ABSL_GUARDED_BY(mu_) = false;
  v1::Snapshot newest_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Duration> received_ ABSL_GUARDED_BY(mu_);  // when `newest_` was
  bool is_of_stream_ ABSL_GUARDED_BY(mu_) = false;               // `newest_` is of the open stream
  uint64_t streams_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t records_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t gaps_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t rejected_ ABSL_GUARDED_BY(mu_) = 0;
};

// The daemon's names, and how often it reads the device.
struct GuestSite {
  GuestNames names;
  absl::Duration interval;  // of the device's snapshots
};

// Asks the daemon. Returns the errors of the calls; NOT_FOUND, marked as remote, if the daemon lists no such
// confidential VM.
absl::StatusOr<GuestSite> FindGuestSite(TelemetryClient& client, const ExchangeSubject& subject);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_EXPORT_COMMAND_H_
