// SPDX-License-Identifier: Apache-2.0
//
// A device with two VMs of known counts that changes its report on one of them, for tests of the daemon's trust in
// devices.
//   liar_device BUS_SOCKET confidential|open|gone
// The last argument is the initial state of the VM "secret". Each SIGUSR1 switches to the next of the three states
// without a restart: confidential; then open, with a catalogue that denies earlier confidentiality; then gone, with its
// counts in the device's row. All counts are constant. SIGTERM ends the program.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "absl/time/time.h"
#include "proto/base/steady_time.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/serve/bus_server.h"

namespace sideband::tests {
namespace {

constexpr uint8_t kAddress = 0x4F;
constexpr uint16_t kOpenVm = 1, kSecretVm = 2;
constexpr const char* kStates[] = {"confidential", "open", "gone"};
enum State : int { kConfidential, kOpen, kGone };

// The same constants as in liar_site.py. Random 64-bit numbers do not occur in other memory by chance.
constexpr uint64_t kOpenCounts[] = {0x1B1D57A90C63E4F1, 0x1D9A4C2277EF8135, 0};
constexpr uint64_t kSecretCounts[] = {0x31C79E05B86A2D43, 0x2F6B83D14EC5971B, 0};
constexpr uint64_t kDeviceCounts[] = {kOpenCounts[0] + kSecretCounts[0], kOpenCounts[1] + kSecretCounts[1], 77};

std::atomic<int> asked_state = kConfidential;
std::atomic<bool> stop = false;

void OnSignal(int number) {
  if (number == SIGUSR1) {
    asked_state = (asked_state + 1) % static_cast<int>(std::size(kStates));
  } else {
    stop = true;
  }
}

class LiarDevice final : public mcu::Device {
 public:
  const mcu::DeviceIdentity& identity() const override { return identity_; }
  uint64_t catalog_version() const override { return static_cast<uint64_t>(state_); }
  const mailbox::Catalog& catalog() const override { return catalog_; }

  mailbox::Snapshot Latch() override {
    state_ = asked_state;
    MakeCatalog();
    mailbox::Snapshot snapshot{.trigger_id = ++latches_,
                               .reference_time_ns = ReferenceTimeNs(),
                               .counters_per_block = std::size(kDeviceCounts),
                               .blocks = {},
                               .counters = {}};
    Add(snapshot, {.vm = mailbox::kHypervisorVm}, kDeviceCounts);
    AddVm(snapshot, kOpenVm, kOpenCounts);
    if (state_ != kGone) AddVm(snapshot, kSecretVm, kSecretCounts);
    return snapshot;
  }
  std::span<const uint64_t> DeviceCounters() override { return kDeviceCounts; }
  uint64_t ReferenceTimeNs() override { return static_cast<uint64_t>(absl::ToInt64Nanoseconds(SteadyNow() - start_)); }

 private:
  void Add(mailbox::Snapshot& snapshot, mailbox::BlockHeader header, std::span<const uint64_t> counts) const {
    header.generation = 1;
    header.trigger_id = latches_;
    header.reference_time_ns = snapshot.reference_time_ns;
    snapshot.blocks.push_back(header);
    snapshot.counters.insert(snapshot.counters.end(), counts.begin(), counts.end());
  }

  // Adds the VM with one context, which has all of the VM's counts.
  void AddVm(mailbox::Snapshot& snapshot, uint16_t vm, std::span<const uint64_t> counts) const {
    Add(snapshot, {.vm = vm}, counts);
    Add(snapshot, {.vm = vm, .context = 0}, counts);
  }

  void MakeCatalog() {
    catalog_ = {.device = identity_.uuid,
                .reference_clock_hz = 1'000'000'000,
                .has_had_confidential_vm = state_ != kOpen,
                .events = {{"busy_cycles", "cycles"},
                           {"stall_cycles", "cycles"},
                           {"pcie_tx_cycles", "cycles", mailbox::EventScope::kDevice}},
                .slices = {{0, "slice0"}},
                .vms = {},
                .contexts = {}};
    for (const uint16_t vm : {kOpenVm, kSecretVm}) {
      if (vm == kSecretVm && state_ == kGone) continue;
      mailbox::VmInfo info{.id = vm, .name = vm == kOpenVm ? "open" : "secret", .slice = 0, .generation = 1};
      info.uuid =
          *Uuid::Parse(vm == kOpenVm ? "7d3c0f61-58a2-4f0b-9c1e-0a6b44d2e001" : "7d3c0f61-58a2-4f0b-9c1e-0a6b44d2e002");
      info.confidential = vm == kSecretVm && state_ == kConfidential;
      catalog_.vms.push_back(info);
      catalog_.contexts.push_back({.vm = vm, .id = 0, .name = "train", .slice = 0, .generation = 1});
    }
  }

  const mcu::DeviceIdentity identity_ = {.uuid = *Uuid::Parse("7d3c0f61-58a2-4f0b-9c1e-0a6b44d2e000"),
                                         .serial = "LIAR-1",
                                         .part_number = "LIAR",
                                         .boot_id = 0x11AA};
  const absl::Duration start_ = SteadyNow();
  int state_ = kConfidential;  // the state at the newest latch
  mailbox::Catalog catalog_;
  uint32_t latches_ = 0;
};

int Main(const char* socket, const char* first_state) {
  for (int i = 0; i < static_cast<int>(std::size(kStates)); ++i) {
    if (strcmp(first_state, kStates[i]) == 0) asked_state = i;
  }
  struct sigaction action {};
  action.sa_handler = OnSignal;
  for (const int number : {SIGUSR1, SIGTERM, SIGINT}) sigaction(number, &action, nullptr);
  LiarDevice device;
  device.Latch();  // makes the catalogue
  mcu::BoardUnit board(device, mcu::PowerModel(mcu::PowerModel::Config()));
  mcu::Firmware firmware(device, board, {.extension = mailbox::ExtensionVersion::kOne});
  mcu::MailboxTarget target(kAddress, firmware);
  mcu::VirtualBus bus;
  bus.Connect(kAddress, target);
  const absl::Duration start = SteadyNow();
  const auto server = mcu::BusServer::Listen(socket, bus, [start] { return SteadyNow() - start; });
  if (!server.ok()) {
    fprintf(stderr, "liar_device: %s\n", server.status().ToString().c_str());
    return 1;
  }
  fprintf(stderr, "liar_device: serving\n");
  while (!stop) (*server)->ServeFor(absl::Milliseconds(10));
  return 0;
}

}  // namespace
}  // namespace sideband::tests

int main(int argc, char** argv) { return argc == 3 ? sideband::tests::Main(argv[1], argv[2]) : 2; }
