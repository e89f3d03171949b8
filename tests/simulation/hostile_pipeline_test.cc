// SPDX-License-Identifier: Apache-2.0
//
// A malicious device and the screens: the daemon's unmodified way from the session to the metrics and the messages, for
// an operator and for a tenant of one VM.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/authz/policy.h"
#include "daemon/collector/device_collector.h"
#include "daemon/collector/fake_context.h"
#include "daemon/exposition/exposition.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "proto/exposition/prometheus_text.h"
#include "proto/mailbox/extension.h"
#include "tests/conformance/in_process_bus.h"
#include "tests/simulation/hostile_device.h"

namespace sideband::tests {
namespace {

constexpr char kOperator[] = "spiffe://example.org/ops";
constexpr char kTenant[] = "spiffe://example.org/tenant";

std::string PolicyText() {
  return absl::StrCat("version: 1\noperators: [{name: ops, identities: ['", kOperator,
                      "']}]\ntenants: [{name: a, identities: ['", kTenant,
                      "'], vms: [{uuid: ", HostileDevice::ExampleCatalog().vms[0].uuid.ToString(), "}]}]\n");
}

// One sample line: NAME{LABELS} VALUE [TIMESTAMP].
struct Sample {
  std::string name;
  std::string labels;
  double value = 0;
};

Sample ParseSample(absl::string_view line) {
  Sample sample;
  const size_t brace = line.find('{');
  const size_t end = line.rfind("} ");
  EXPECT_TRUE(brace != line.npos && end != line.npos && brace < end) << line;
  if (brace == line.npos || end == line.npos) return sample;
  sample.name = std::string(line.substr(0, brace));
  sample.labels = std::string(line.substr(brace, end - brace));
  const std::vector<std::string> numbers = absl::StrSplit(line.substr(end + 2), ' ');
  EXPECT_TRUE(absl::SimpleAtod(numbers[0], &sample.value)) << line;
  return sample;
}

std::vector<Sample> ParseSamples(absl::string_view text) {
  std::vector<Sample> samples;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!absl::StartsWith(line, "#")) samples.push_back(ParseSample(line));
  }
  return samples;
}

// A daemon that reads a device of this script.
class Host {
 public:
  Host(ByteSpan script, mailbox::ExtensionVersion version) : device_(script, version) {
    fakes_.policy.Replace(*daemon::Policy::Parse(PolicyText(), "policy.yaml"));
  }

  bool CollectOnce() {
    fakes_.clock.Advance(absl::Seconds(1));
    return collector_.CollectOnce().ok();
  }
  std::vector<daemon::VisibleDevice> Devices(const char* who) {
    return reader_.Devices(*reader_.Identify({.certificate = {{who}, {}}}));
  }
  const daemon::DeviceSnapshot& Newest() { return *fakes_.store.Newest(0); }
  const std::string* OpenVmName() {
    for (const mailbox::VmInfo& vm : Newest().topology->catalog().vms) {
      if (vm.uuid == HostileDevice::ExampleCatalog().vms[0].uuid) return &vm.name;
    }
    return nullptr;
  }

 private:
  daemon::FakeContext fakes_;
  HostileDevice device_;
  InProcessTransport wire_{device_};
  daemon::RegisterPort port_{wire_, HostileDevice::kAddress, [](absl::string_view) {}};
  daemon::MailboxSession session_{port_, [](absl::Duration) {}};
  daemon::DeviceCollector collector_{0, session_, fakes_.Get(fakes_.clock)};
  daemon::Reader reader_{fakes_.store, fakes_.policy, fakes_.clock, fakes_.audit};
};

struct Seen {
  int collected = 0;
  int ratios = 0;
  int lies = 0;  // collections with other VMs than the honest device's

  Seen& operator+=(const Seen& other) {
    collected += other.collected;
    ratios += other.ratios;
    lies += other.lies;
    return *this;
  }
};

void CheckSamples(const std::vector<Sample>& samples, Seen& seen) {
  for (const Sample& sample : samples) {
    ASSERT_TRUE(std::isfinite(sample.value)) << sample.name << sample.labels;
    ASSERT_GE(sample.value, 0) << sample.name << sample.labels;
    if (!absl::EndsWith(sample.name, "_ratio")) continue;
    ++seen.ratios;
    ASSERT_LE(sample.value, 1) << sample.name << sample.labels;
  }
}

// A tenant sees no row of the device and none of another VM, whatever the device calls them.
void CheckTenant(const std::vector<Sample>& samples, const std::string* vm) {
  for (const Sample& sample : samples) {
    if (!absl::StrContains(sample.labels, ",vm=")) continue;
    ASSERT_NE(vm, nullptr) << sample.name << sample.labels;
    if (vm->find_first_of("\"\\\n") != std::string::npos) continue;  // escaped in labels
    ASSERT_TRUE(absl::StrContains(sample.labels, absl::StrCat(",vm=\"", *vm, "\""))) << sample.name << sample.labels;
  }
}

void CheckMessages(const std::vector<daemon::VisibleDevice>& devices) {
  for (const daemon::VisibleDevice& device : devices) {
    if (device.snapshot == nullptr) continue;
    const sideband::v1::Snapshot message = daemon::SnapshotMessage(device, daemon::RowFilter());
    std::string bytes;
    ASSERT_TRUE(message.SerializeToString(&bytes));
    sideband::v1::Snapshot parsed;
    ASSERT_TRUE(parsed.ParseFromString(bytes)) << "text that is not UTF-8";
    for (const auto& scope : message.scopes()) {
      for (const auto& ratio : scope.ratios()) {
        ASSERT_GE(ratio.value(), 0) << ratio.name();
        ASSERT_LE(ratio.value(), 1) << ratio.name();
      }
    }
  }
}

void CheckSurfaces(Host& host, Seen& seen) {
  for (const MetricsFormat format : {MetricsFormat::kText, MetricsFormat::kOpenMetrics}) {
    for (const char* who : {kOperator, kTenant}) {
      const auto devices = host.Devices(who);
      daemon::TextBuffer out;
      daemon::Exposition(format).Render(devices, out);
      const std::vector<Sample> samples = ParseSamples(out.text());
      CheckSamples(samples, seen);
      if (who == kTenant) CheckTenant(samples, host.OpenVmName());
      CheckMessages(devices);
    }
  }
}

Seen MeetScript(ByteSpan script, mailbox::ExtensionVersion version) {
  Host host(script, version);
  Seen seen;
  for (int i = 0; i < 3; ++i) {
    if (!host.CollectOnce()) continue;
    ++seen.collected;
    if (host.Newest().topology->catalog().vms != HostileDevice::ExampleCatalog().vms) ++seen.lies;
    CheckSurfaces(host, seen);
  }
  return seen;
}

class HostilePipelineTest : public testing::TestWithParam<mailbox::ExtensionVersion> {};

INSTANTIATE_TEST_SUITE_P(Versions, HostilePipelineTest,
                         testing::Values(mailbox::ExtensionVersion::kOne, mailbox::ExtensionVersion::kTwo),
                         [](const auto& info) { return info.index == 0 ? "One" : "Two"; });

TEST_P(HostilePipelineTest, AnHonestScriptShowsUtilisationsIfTheVersionHasCapacities) {
  const Bytes script(20'000, 0xFF);  // large bytes select the honest answers
  const Seen seen = MeetScript(script, GetParam());
  EXPECT_EQ(seen.collected, 3);
  EXPECT_EQ(seen.ratios > 0, GetParam() == mailbox::ExtensionVersion::kTwo);
}

// Scripts that are honest but for a trap here and there, so that much of what is spoiled gets to the screens.
TEST_P(HostilePipelineTest, NoScriptPutsAnImpossibleOrAForeignNumberOnAScreen) {
  std::mt19937_64 random(1);
  Seen all;
  for (int i = 0; i < 2000 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    Bytes script(3000, 0xFF);
    for (size_t traps = random() % 1600; traps > 0; --traps) script[random() % 1200] = static_cast<uint8_t>(random());
    all += MeetScript(script, GetParam());
  }
  EXPECT_GT(all.collected, 2000);
  EXPECT_GT(all.lies, 100);
  if (GetParam() == mailbox::ExtensionVersion::kTwo) {
    EXPECT_GT(all.ratios, 2000);
  }
}

}  // namespace
}  // namespace sideband::tests
