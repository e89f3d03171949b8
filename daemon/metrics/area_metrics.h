// SPDX-License-Identifier: Apache-2.0
//
// Metrics by area: reading devices, the history of what was read, the audit log, the listeners, and the requests and
// calls that these take. A class that reports is given its area only. Label values must come from fixed sets (devices
// of the configuration, status codes, known paths): each new one is a series that stays.
//   metrics.CollectDuration("gpu0", took);
//   audit.AuditWritten(entries.size());
//   listeners.TlsReload("grpc", status.ok());
//   requests.GrpcRequest("GetSnapshot", status.code());
#ifndef SIDEBAND_DAEMON_METRICS_AREA_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_AREA_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace prometheus {
class Registry;
struct ClientMetric;
struct MetricFamily;
}  // namespace prometheus

namespace sideband::daemon {

// The activity of a device's counter pipeline since the daemon's last report, or since the device's boot.
struct PipelineActivity {
  uint64_t stall_cycles = 0;
  uint64_t trigger_overruns = 0;
  uint64_t commit_wait_cycles = 0;
  uint64_t mmu_faults = 0;
  uint64_t switches = 0;
  uint64_t switch_cycles = 0;
  uint64_t rotation_inconsistencies = 0;
};

// The state of the configuration of what a device counts.
struct CountingStatus {
  uint32_t revision = 0;
  bool is_in_sync = false;  // the settings are in force
  bool is_stored = false;   // the callers' settings outlast a restart of the daemon
};

// Metrics of reading devices, by device. Thread-safe.
class CollectionMetrics {
 public:
  void CollectDuration(absl::string_view device, absl::Duration duration);
  void CollectError(absl::string_view device, absl::StatusCode code);
  // `outcome` as in proto/smbus: "ok", "address_nack", …; and "interference", which is counted by itself, too.
  void BusTransfer(absl::string_view device, absl::string_view outcome);
  // Also makes the series of the peeks that are asked again: a device that has snapshots can be peeked at.
  void SnapshotPublished(absl::string_view device);
  void SealedRecord(absl::string_view device);
  // The share of the records that the VM's newest session key may seal, from 0 to 1. `vm` is a UUID of the
  // configuration.
  void SealingBudgetUsed(absl::string_view device, absl::string_view vm, double share);
  // In a snapshot: of how many VMs the device says that they are open, and is not believed. 0 makes the series.
  void ConfidentialityRefused(absl::string_view device, size_t vms);
  // Whether the newest snapshot adds up.
  void Conservation(absl::string_view device, bool holds);
  void Counting(absl::string_view device, const CountingStatus& status);
  // Removes it: the device has no gate groups any more.
  void ForgetCounting(absl::string_view device);
  // A change of it.
  void CountingChange(absl::string_view device, absl::StatusCode code);
  // `booted`: the device's boot, when its statistics were zero.
  void Pipeline(absl::string_view device, const PipelineActivity& activity, absl::Time booted);
  // A peek, when it was answered or rejected; PeekDuration: how long it used the bus; PeekRetry: it was asked again.
  void Peek(absl::string_view device, absl::StatusCode code);
  void PeekDuration(absl::string_view device, absl::Duration duration);
  void PeekRetry(absl::string_view device);
  // A mark, when the device has taken or refused it.
  void Mark(absl::string_view device, absl::StatusCode code);
  // A row of which a ratio was over 1 and is therefore not shown.
  void RatioOverOne(absl::string_view device);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit CollectionMetrics(prometheus::Registry& registry);
  ~CollectionMetrics();
  // Removes the device's series.
  void ForgetDevice(absl::string_view device, absl::Time at);
  // When counters, of any area, were zero: at `start`, that of the daemon, but for those of a device that was forgotten
  // since, and for what a device has counted itself.
  class Created {
   public:
    absl::Time Of(const prometheus::MetricFamily& family, const prometheus::ClientMetric& counter) const;

   private:
    friend class CollectionMetrics;
    absl::Time start_;
    // By device.
    absl::flat_hash_map<std::string, absl::Time> booted_;     // when the first statistics were zero
    absl::flat_hash_map<std::string, absl::Time> forgotten_;  // the last time
  };
  // The times as they are now. To be taken before the counters, which must not be older than these times.
  Created CreatedSince(absl::Time start) const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

// Metrics of the history. Thread-safe.
class HistoryMetrics {
 public:
  void HistoryHeld(size_t bytes, size_t max_bytes);
  // How much of that is of sensors.
  void SensorHistoryHeld(size_t bytes);
  void HistorySpan(absl::string_view device, absl::Duration span);
  void SensorHistorySpan(absl::string_view device, absl::Duration span);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit HistoryMetrics(prometheus::Registry& registry);
  ~HistoryMetrics();
  // Removes the device's series.
  void ForgetDevice(absl::string_view device);

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

// Metrics of BMCs. Thread-safe.
class BmcMetrics {
 public:
  // Whether the last answer was useful.
  void BmcUp(absl::string_view bmc, bool is_up);
  void BmcStateIs(absl::string_view bmc, absl::string_view state, bool is_so);
  // `code` is HTTP's status, or "unreachable".
  void BmcRequest(absl::string_view bmc, absl::string_view code);
  void BmcLogin(absl::string_view bmc);
  void BmcValuesLeftOut(absl::string_view bmc, absl::string_view reason, size_t values);
  // How often values of a kind are asked for.
  void BmcPeriod(absl::string_view bmc, absl::string_view kind, absl::Duration period);
  // Removes the series of a BMC that is no longer configured.
  void ForgetBmc(absl::string_view bmc);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit BmcMetrics(prometheus::Registry& registry);
  ~BmcMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

// Metrics of the audit log. Thread-safe.
class AuditMetrics {
 public:
  void AuditWritten(uint64_t entries);
  void AuditLost(uint64_t entries);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit AuditMetrics(prometheus::Registry& registry);
  ~AuditMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

// Metrics of the listeners "http" and "grpc": certificates and connections. Thread-safe.
class ListenerMetrics {
 public:
  void TlsCertificate(absl::string_view listener, absl::Time not_after);
  void TlsReload(absl::string_view listener, bool successful);
  // `reason` is a word of the code's own.
  void ConnectionRefused(absl::string_view listener, absl::string_view reason);
  // An accept that failed since the process may open no more files.
  void DescriptorsExhausted(absl::string_view listener);
  void HttpConnections(size_t count);
  void GrpcConnections(size_t count);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit ListenerMetrics(prometheus::Registry& registry);
  ~ListenerMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

// Metrics of HTTP requests and gRPC calls. Thread-safe.
class RequestMetrics {
 public:
  void HttpRequest(absl::string_view path, int code, absl::Duration duration);
  void RenderDuration(absl::Duration duration);
  void GrpcRequest(absl::string_view method, absl::StatusCode code);
  // A snapshot's bytes were made; SnapshotSent() counts the messages that have them.
  void SnapshotSerialised();
  void SnapshotSent();
  void GrpcStreamStarted();
  void GrpcStreamEnded();

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit RequestMetrics(prometheus::Registry& registry);
  ~RequestMetrics();

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_AREA_METRICS_H_
