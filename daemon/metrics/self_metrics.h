// SPDX-License-Identifier: Apache-2.0
//
// The daemon's metrics about itself.
//   SIDEBAND_ASSIGN_OR_RETURN(auto metrics, SelfMetrics::Create({.version = "0.1.0"}));
//   metrics->CollectDuration("gpu0", took);
//   body += metrics->Serialize();
#ifndef SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/exposition/text.h"

namespace sideband::daemon {

// What the process holds in memory now, from /proc/self/statm; 0 where that cannot be read.
uint64_t ResidentMemoryBytes();

// Thread-safe. Label values must come from fixed sets (devices of the configuration, status codes, known paths): each
// new one is a series that stays.
class SelfMetrics {
 public:
  struct Options {
    std::string version;
    std::function<uint64_t()> resident_memory_bytes = ResidentMemoryBytes;
  };
  // INTERNAL where a metric cannot be registered.
  static absl::StatusOr<std::unique_ptr<SelfMetrics>> Create(Options options);
  ~SelfMetrics();

  // Collection.
  void CollectDuration(absl::string_view device, absl::Duration duration);
  void CollectError(absl::string_view device, absl::StatusCode code);
  // `outcome` as in proto/smbus: "ok", "address_nack", …
  void BusTransfer(absl::string_view device, absl::string_view outcome);
  void SnapshotPublished(absl::string_view device);
  void SealedRecord(absl::string_view device);
  // Whether the newest snapshot adds up.
  void Conservation(absl::string_view device, bool holds);
  // A row of which a ratio was over 1 and is therefore not shown.
  void RatioOverOne(absl::string_view device);

  // Serving.
  void HttpRequest(absl::string_view path, int code, absl::Duration duration);
  void RenderDuration(absl::Duration duration);
  void GrpcRequest(absl::string_view method, absl::StatusCode code);
  void GrpcStreamStarted();
  void GrpcStreamEnded();

  // Listeners: "http" or "grpc".
  void TlsCertificate(absl::string_view listener, absl::Time not_after);
  void TlsReload(absl::string_view listener, bool successful);
  // `reason` is a word of the code's own.
  void ConnectionRefused(absl::string_view listener, absl::string_view reason);
  void HttpConnections(size_t count);

  void ConfigReloaded(bool successful);
  void AuditWritten(uint64_t entries);
  void AuditLost(uint64_t entries);

  // The past.
  void HistoryHeld(size_t bytes, size_t max_bytes);
  void HistorySpan(absl::string_view device, absl::Duration span);

  // `update` is called at the beginning of each Serialize(), by its thread, to tell what is not worth telling all the
  // time. Once, before the first.
  void SetUpdate(std::function<void(SelfMetrics&)> update) { update_ = std::move(update); }
  // In OpenMetrics without the # EOF, since more may follow.
  std::string Serialize(MetricsFormat format = MetricsFormat::kText);

 private:
  struct Families;
  explicit SelfMetrics(Options options);

  const std::function<uint64_t()> resident_memory_bytes_;
  std::function<void(SelfMetrics&)> update_ = [](SelfMetrics&) {};
  std::unique_ptr<Families> families_;  // locks itself
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_SELF_METRICS_H_
