// SPDX-License-Identifier: Apache-2.0
//
// The folder of a demonstration: certificates, keys, and the configuration of an emulated device, of the daemon and of
// its users. Everything in it is made anew and is good for nothing else.
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_SITE_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_SITE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::client {

struct DemoVm {
  std::string name;
  std::string uuid;
  std::string tenant;  // "tenant-a" or "tenant-b"
  bool confidential = false;
  std::vector<std::string> contexts;
};

// A waveform in place of the built-in workloads.
struct DemoWaveform {
  std::string trace;
  std::string signals;
  std::string schedule;
};

// The VMs of the built-in chip file: vm1 is tenant A's, vm2 and the confidential vm3 are tenant B's.
std::vector<DemoVm> BuiltInVms();

// The VMs of a waveform's schedule, given by their names: the first half is tenant A's, the rest tenant B's, and the
// last one is confidential where there is more than one.
std::vector<DemoVm> WaveformVms(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& names_and_contexts);

// The chip file of a waveform with these VMs. It is repeated at a million cycles per second.
std::string WaveformChipFile(const DemoWaveform& waveform, const std::vector<DemoVm>& vms);

// Writes into `folder`, which must exist:
//   ca.pem server.pem .key operator.pem .key tenant-a.pem .key tenant-b.pem .key
//   VM.key for each confidential VM · chip.yaml · policy.yaml · sidebandd.yaml
// The daemon listens on ports that the system chooses and writes them to `ports`.
absl::Status WriteDemoSite(const std::string& folder, const std::vector<DemoVm>& vms, const std::string& chip_file);

struct DemoPorts {
  std::string grpc;
  std::string http;
};
// What the daemon has written; NOT_FOUND until it has.
absl::StatusOr<DemoPorts> ReadPorts(const std::string& folder);

// Writes operator.yaml, tenant-a.yaml and tenant-b.yaml for `sideband --config`.
absl::Status WriteClientConfigs(const std::string& folder, const DemoPorts& ports);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_SITE_H_
