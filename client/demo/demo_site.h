// SPDX-License-Identifier: Apache-2.0
//
// The folder of a demonstration: certificates, keys, and the configuration of emulated devices, the daemon and its
// users. All content is newly generated and valid for one demonstration only.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string folder, MakeDemoFolder());
//   const absl::Status status = Show(folder);
//   if (status.ok()) { RemoveDemoFolder(folder); } else { KeepOnlyLogs(folder); }
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_SITE_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_SITE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::client {

// A VM's selection of events, of which the first is the one that all VMs begin with.
struct DemoSelection {
  int number = 0;
  std::string group;  // of its events; empty: the chip has no selections
  std::vector<std::string> events;
};

struct DemoVm {
  std::string name;
  std::string uuid;
  std::string tenant;  // "tenant-a" or "tenant-b"
  bool confidential = false;
  std::vector<std::string> contexts;
  bool has_users = false;        // programs in its contexts may read by registers
  std::string finished_context;  // the one whose kernel is soon over; empty: none
  DemoSelection chosen{};        // what its tenant wants to have counted
};

// A waveform that replaces the built-in workloads.
struct DemoWaveform {
  std::string trace;
  std::string signals;
  std::string schedule;
};

// An emulated device.
struct DemoDevice {
  std::string name;
  std::string chip_file;  // its text
  bool has_grid = false;  // of triggers, at which marks are served
  bool seals = false;     // its confidential VMs; only gpu0, which has VMs of the policy
  bool is_board = false;  // SMBPBI-only: it has no counters, and answers base commands as public clients give them
};

// A file of the folder that a step's command needs.
struct DemoFile {
  std::string name;
  std::string text;
};

// Creates a folder below TMPDIR (/tmp if unset) with access for this user only. INVALID_ARGUMENT if TMPDIR is not a
// folder.
absl::StatusOr<std::string> MakeDemoFolder();

// Removes the folder with its content. Files that cannot be removed remain.
void RemoveDemoFolder(const std::string& folder);

// Removes everything except NAME.log: keys, certificates, sockets.
void KeepOnlyLogs(const std::string& folder);

// `text` as one word of the shell, in single quotes if it needs them.
std::string ShellQuoted(const std::string& text);

// Writes a file of a site. `mode` holds from the file's creation on, so that a key is never readable by other users.
absl::Status WriteSiteFile(const std::string& path, const std::string& text, mode_t mode = 0644);

// The file for `sideband --config`, beside ca.pem, USER.pem and USER.key.
std::string ClientConfigText(const std::string& address, const std::string& user);

// The measurement of confidential guests, in hexadecimal digits.
std::string DemoMeasurement();

// The VMs of the built-in chip file: vm1 belongs to tenant A; vm2 and the confidential vm3 belong to tenant B.
std::vector<DemoVm> BuiltInVms();

// The built-in chip file from the text of deploy/examples/chip.yaml: vm1 has one context more, whose kernel is over
// after 20 ms of its own time; vm2 has one on vm1's slice; and there are units of more events than counters.
std::string BuiltInChipFile(const std::string& example);

// The chip file of a board without the extension, from the text of deploy/examples/chip-board.yaml: an SMBPBI-only
// board, which has no counters of VMs. Its UUID and serial number are no other device's.
std::string BoardChipFile(const std::string& example);

// The chip files of two devices that do the same work: one whose events are multiplexed on few counters, and its twin
// with a counter for each event, which knows the truth. From the text of deploy/examples/chip-rotating.yaml: one more
// event that is derived, VMs named vm4 and vm5, and contexts that end after a second, so that both devices' counts are
// of the same cycles from then on.
std::string RotatingChipFile(const std::string& example);
std::string ExactTwinFile(const std::string& example);

// The VMs of a waveform's schedule, by name. The first half belongs to tenant A, the rest to tenant B. The last VM is
// confidential if there is more than one.
std::vector<DemoVm> WaveformVms(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& names_and_contexts);

// The cycles of a waveform in a second.
inline constexpr uint64_t kWaveformHz = 1'000'000;
// A line on a waveform so short that its repetition takes much of a processor; or empty.
std::string WarningOfShortWaveform(uint64_t cycles);
// The chip file of a waveform with these VMs. The waveform is repeated at kWaveformHz.
std::string WaveformChipFile(const DemoWaveform& waveform, const std::vector<DemoVm>& vms);

// Writes into `folder`, which must exist:
//   ca.pem server.pem .key operator.pem .key tenant-a.pem .key tenant-b.pem .key
//   what a device needs to seal and a confidential guest to exchange keys: sealer-ca.pem gpu0-identity.pem .key
//   ark.pem ask.pem vcek.pem .key sealing.yaml · DEVICE.yaml for each device, on the bus DEVICE.sock · policy.yaml ·
//   sidebandd.yaml the folder guests · `files`
// The daemon listens on ports that the system chooses and writes them to `ports`.
// `vms` are those of the policy.
absl::Status WriteDemoSite(const std::string& folder, const std::vector<DemoVm>& vms,
                           const std::vector<DemoDevice>& devices, const std::vector<DemoFile>& files);

struct DemoPorts {
  std::string grpc;
  std::string http;
};
// Reads the ports file of the daemon; NOT_FOUND until the daemon has written it.
absl::StatusOr<DemoPorts> ReadPorts(const std::string& folder);

// The user that the daemon is for a BMC.
inline constexpr char kBmcUser[] = "sideband";
// Makes the daemon read the BMC at `url`, which bmc-ca.pem in `folder` proves: adds it to sidebandd.yaml, and writes
// bmc.password. Its GPUs are the devices hgx-gpu1, hgx-gpu2 and so on. Call it before the daemon starts.
absl::Status AddBmc(const std::string& folder, const std::string& url, const std::string& password);

// Writes operator.yaml, tenant-a.yaml and tenant-b.yaml for `sideband --config`.
absl::Status WriteClientConfigs(const std::string& folder, const DemoPorts& ports);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_SITE_H_
