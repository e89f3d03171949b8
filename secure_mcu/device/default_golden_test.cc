// SPDX-License-Identifier: Apache-2.0
//
// A chip without gate groups, selections and a host counts and answers as before there were any, byte for byte
// (virtual-counters.md, law V13). The digests are those of this test at the commit before the gates, fe65522.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/extension_commands.h"

namespace sideband::mcu {
namespace {

using mailbox::ExtensionVersion;
using mailbox::Opcode;

constexpr uint64_t kBootId = 42;
constexpr char kSmall[] = "deploy/examples/chip.yaml", kLarge[] = "deploy/examples/chip-large.yaml";
constexpr char kConfidential[] = "    confidential: true\n";
// Some within turns and some between, in microseconds.
constexpr int kLatches[] = {0, 1'234, 2'003, 7'777, 20'200};

struct Digest {
  size_t bytes;
  uint64_t hash;
  bool operator==(const Digest&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Digest& digest) {
  return out << "{" << digest.bytes << ", 0x" << absl::StrCat(absl::Hex(digest.hash)) << "}";
}

// FNV-1a. Not a CRC, which is the same for all streams that end in theirs.
Digest DigestOf(const Bytes& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return {bytes.size(), hash};
}

// A controller of the device of a chip file, who reads all streams whole.
class Controller {
 public:
  Controller(const std::string& chip, ExtensionVersion version) {
    const std::string path = testing::TempDir() + "default_golden.yaml";
    std::ofstream(path) << chip;
    device_ = *LiveDevice::Create(*LoadChipFile(path), kBootId, [this] { return elapsed_; });
    commands_ = std::make_unique<SnapshotCommands>(*device_, version);
  }

  Digest Catalog() {
    Bytes all;
    ReadStream({.opcode = Opcode::kCatalog}, 0, all);
    return DigestOf(all);
  }
  // Digests all snapshots, each relative to the one before.
  Digest Snapshots() {
    Bytes all;
    for (const int us : kLatches) {
      elapsed_ = absl::Microseconds(us);
      const uint32_t id = commands_->Execute({.opcode = Opcode::kLatch}, last_id_, 0).data;
      ReadStream({.opcode = Opcode::kRead, .arg1 = 1}, id, all);
      Acknowledge(id);
    }
    return DigestOf(all);
  }

 private:
  void ReadStream(const mailbox::CommandWord& command, uint32_t extended_data, Bytes& all) {
    const size_t start = all.size();
    for (uint32_t size = 1; all.size() - start < size;) {
      const Reply reply = commands_->Execute(command, static_cast<uint32_t>(all.size() - start), extended_data);
      ASSERT_EQ(reply.status, mailbox::MailboxStatus::kSuccess);
      size = reply.data;
      for (uint8_t i = 0; i < mailbox::kWindowCount; ++i) {
        const ByteSpan window = commands_->Window(i);
        all.insert(all.end(), window.begin(), window.end());
      }
    }
  }
  void Acknowledge(uint32_t id) {
    const uint16_t mark = mailbox::SnapshotMark(kBootId, id);
    commands_->Execute(
        {.opcode = Opcode::kAck, .arg1 = static_cast<uint8_t>(mark), .arg2 = static_cast<uint8_t>(mark >> 8)}, id, 0);
    last_id_ = id;
  }

  absl::Duration elapsed_;
  uint32_t last_id_ = 0;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<SnapshotCommands> commands_;
};

struct Golden {
  const char* name;
  const char* path;
  const char* confidential;  // in place of the line that makes vm3 confidential
  ExtensionVersion version;
  Digest catalog, snapshots;
};

std::string ChipOf(const Golden& golden) {
  const std::string chip = absl::StrCat(*ReadFile(golden.path), "extension: ", static_cast<int>(golden.version), "\n");
  return absl::StrReplaceAll(chip, {{kConfidential, golden.confidential}});
}

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

class DefaultGoldenTest : public testing::TestWithParam<Golden> {};

TEST_P(DefaultGoldenTest, TheBytesAreThoseOfBefore) {
  const Golden& golden = GetParam();
  Controller controller(ChipOf(golden), golden.version);
  EXPECT_EQ(controller.Catalog(), golden.catalog);
  EXPECT_EQ(controller.Snapshots(), golden.snapshots);
}

// Private VMs are newer: those that are not are as before.
constexpr char kNotPrivate[] = "    confidential: true\n    counting: {private: false}\n";

INSTANTIATE_TEST_SUITE_P(
    Chips, DefaultGoldenTest,
    testing::Values(
        Golden{"SmallOne",
               kSmall,
               kConfidential,
               ExtensionVersion::kOne,
               {1520, 0xa2f5d460b450b3f1},
               {4033, 0xa0d3bd1f775334fa}},
        Golden{"SmallTwo", kSmall, "", ExtensionVersion::kTwo, {1984, 0x446822feaa8adc34}, {1772, 0xd51397b0ade7ebba}},
        Golden{"SmallConfidential",
               kSmall,
               kNotPrivate,
               ExtensionVersion::kTwo,
               {1984, 0xa6daf1330d76e6ca},
               {4554, 0x23a0c4c02bd835a9}},
        Golden{"LargeOne", kLarge, "", ExtensionVersion::kOne, {4253, 0x7ce487aaf8675375}, {10155, 0x573ce2f55016c869}},
        Golden{
            "LargeTwo", kLarge, "", ExtensionVersion::kTwo, {5297, 0x16e3fca9145ba657}, {10656, 0x90ab8e3a70b3ecb6}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sideband::mcu
