// SPDX-License-Identifier: Apache-2.0
//
// The daemon's session with a hostile device: the input is the extension's version (an even or an odd byte) and its
// script.
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "proto/mailbox/extension.h"
#include "tests/conformance/in_process_bus.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/simulation/hostile_device.h"
#include "tests/simulation/reader.h"

namespace sideband::fuzz {
namespace {

std::vector<Bytes> Seeds() {
  // Large bytes select honest answers; each further seed contains one trap.
  std::vector<Bytes> seeds;
  for (const uint8_t version : {0, 1}) {
    seeds.emplace_back(600, 0xFF)[0] = version;
    for (size_t at = 1; at < 200; at += 3) {
      Bytes& seed = seeds.emplace_back(600, 0xFF);
      seed[0] = version;
      seed[at] = static_cast<uint8_t>(at % 32);
    }
  }
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  constexpr int kCollections = 3;
  // More than any script can cause; tests/simulation/hostile_test.cc derives the bound.
  constexpr uint64_t kTransfersMax = 20'000;
  if (size == 0) return 0;
  const auto version = data[0] % 2 == 0 ? mailbox::ExtensionVersion::kOne : mailbox::ExtensionVersion::kTwo;
  tests::HostileDevice device({data + 1, size - 1}, version);
  tests::InProcessTransport wire(device);
  daemon::RegisterPort port(wire, tests::HostileDevice::kAddress, [](absl::string_view) {});
  daemon::MailboxSession session(port, [](absl::Duration) {});
  const daemon::FakeClock clock(absl::UnixEpoch());
  tests::Reader reader(session, clock, [](const mailbox::Snapshot& snapshot, const daemon::Topology& topology) {
    FUZZ_CHECK(daemon::CheckAgainst(topology, snapshot).ok());
  });
  for (int i = 0; i < kCollections; ++i) static_cast<void>(reader.CollectOnce());
  FUZZ_CHECK(wire.transfers <= kTransfersMax);
  return 0;
}

FUZZ_TARGET(session_fuzz);

}  // namespace
}  // namespace sideband::fuzz
