// SPDX-License-Identifier: Apache-2.0
//
// The context of a collector, for tests: a store of one device, no keys, an empty policy, and a clock that stands.
//   FakeContext fakes;
//   fakes.LoadKeys({{vm, "/tmp/vm.key"}});
//   DeviceCollector collector(0, session, fakes.Get(fakes.clock));
#ifndef SIDEBAND_DAEMON_COLLECTOR_FAKE_CONTEXT_H_
#define SIDEBAND_DAEMON_COLLECTOR_FAKE_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/collector/confidentiality.h"
#include "daemon/collector/device_collector.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

struct FakeContext {
  explicit FakeContext(std::vector<DeviceInfo> devices = {{.name = "gpu0", .interval = absl::Seconds(1)}})
      : store(std::move(devices)) {
    LoadKeys({});
  }
  // Replaces the sealing keys. The collectors of the old ones must not be used any more.
  void LoadKeys(const std::vector<VmKeyFile>& files) {
    book.reset();
    sealers = *SealerSet::Load(files, epochs);
    book = std::make_unique<ConfidentialityBook>(*sealers, nullptr, policy);
  }
  CollectorContext Get(const Clock& its_clock, const CreationFile* file = nullptr) {
    return {store, *sealers, *book, policy, audit, *metrics, its_clock, file};
  }
  // Whether the metrics have this line.
  bool HasMetric(const std::string& line) { return metrics->Serialize().find(line + "\n") != std::string::npos; }

  FakeClock clock{absl::FromUnixSeconds(1'700'000'000)};
  bool has_random = true;  // otherwise nothing can be sealed
  EpochSource epochs{clock, [this]() -> absl::StatusOr<uint16_t> {
                       if (!has_random) return absl::InternalError("no random numbers");
                       return uint16_t{5};
                     }};
  Store store;
  PolicyHolder policy{*Policy::Parse("version: 1\n", "policy.yaml")};
  FakeAuditSink audit;
  std::unique_ptr<SelfMetrics> metrics = *SelfMetrics::Create({.version = "test"});
  std::unique_ptr<SealerSet> sealers;
  std::unique_ptr<ConfidentialityBook> book;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_FAKE_CONTEXT_H_
