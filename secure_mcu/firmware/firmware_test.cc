// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include <gtest/gtest.h>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/stream.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using Reply = CommandHandler::Reply;

// One event, one VM; every latch counts one more.
class FakeDevice final : public Device {
 public:
  FakeDevice() {
    catalog_.events = {{"busy_cycles", "cycles"}};
    catalog_.vms = {{.id = 1, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000001"), .name = "vm1"}};
  }
  const DeviceIdentity& identity() const override { return identity_; }
  const mailbox::Catalog& catalog() const override { return catalog_; }
  uint64_t catalog_version() const override { return version_; }
  void Acknowledge() override {
    ++acknowledged;
    catalog_.vms[0].generation = ++version_;
  }
  mailbox::Snapshot Latch() override {
    ++latches;
    return {.trigger_id = latches, .counters_per_block = 1, .blocks = {{}}, .counters = {latches}};
  }
  std::span<const uint64_t> DeviceCounters() override { return counters; }
  uint64_t ReferenceTimeNs() override { return time_ns; }

  uint32_t latches = 0;
  uint32_t acknowledged = 0;
  std::vector<uint64_t> counters = {0};
  uint64_t time_ns = 0;

 private:
  const DeviceIdentity identity_ = {.uuid = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
                                    .serial = "SERIAL-1",
                                    .part_number = "PART",
                                    .boot_id = 0x1122334455667788};
  mailbox::Catalog catalog_;
  uint32_t version_ = 0;
};

class FirmwareTest : public testing::Test {
 protected:
  Reply Run(Opcode opcode, uint8_t arg1 = 0, uint8_t arg2 = 0, uint32_t data = 0, uint32_t extended_data = 0) {
    return firmware_.Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2}, data, extended_data);
  }
  Bytes ReadWindows(size_t size) {
    Bytes bytes;
    for (uint8_t i = 0; i < mailbox::kWindowCount && bytes.size() < size; ++i) {
      const ByteSpan window = firmware_.Window(i);
      bytes.insert(bytes.end(), window.begin(), window.end());
    }
    return bytes;
  }

  FakeDevice device_;
  Firmware firmware_{device_, PowerModel({.idle_mw = 10'000, .event_pj = {2000}, .ambient_c = 20, .c_per_watt = 0.55})};
};

TEST_F(FirmwareTest, CapabilitiesNameWhatIsServed) {
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 0).data, 0x00010801u) << "temperature, s24.8, power";
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 1).data, 0x00002705u) << "items 0, 2, 8, 9, A, D";
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 5).data, 0u);
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 6).status, MailboxStatus::kErrArg1);
}

TEST_F(FirmwareTest, SensorsFollowTheCounters) {
  EXPECT_EQ(Run(Opcode::kGetPower).data, 10'000u);
  EXPECT_EQ(Run(Opcode::kGetExtTemp).data, 25u * 256 + 128);
  EXPECT_EQ(Run(Opcode::kGetTemp).data, 25u * 256);
  device_.counters = {1'000'000'000};
  device_.time_ns = 1'000'000'000;
  EXPECT_EQ(Run(Opcode::kGetPower).data, 12'000u);
  EXPECT_EQ(Run(Opcode::kGetPower, 1).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Run(Opcode::kGetTemp, 1).status, MailboxStatus::kErrArg1);
}

TEST_F(FirmwareTest, IdentityComesInDwords) {
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 0).data, 0x49524553u) << "SERI";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 1).data, 0x312D4C41u) << "AL-1";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 3).data, 0u) << "padding";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 4).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x08, 3).data, 0u) << "the last two of fourteen bytes";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x09, 0).data, 0x4253u) << "our own vendor id";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x18, 0).status, MailboxStatus::kErrArg1);
}

TEST_F(FirmwareTest, UnknownOpcodes) {
  for (const int opcode : {0x06, 0x1F, 0x28, 0x5F, 0x65, 0xFF}) {
    EXPECT_EQ(Run(static_cast<Opcode>(opcode)).status, MailboxStatus::kErrOpcode) << opcode;
  }
}

TEST_F(FirmwareTest, DiscoverTellsTheLimits) {
  EXPECT_EQ(Run(Opcode::kDiscover, 0).data, 0x0010FF01u);
  EXPECT_EQ(Run(Opcode::kDiscover, 0).extended_data, 0x1Fu);
  EXPECT_EQ(Run(Opcode::kDiscover, 1).data, 2u) << "the hypervisor's block and one VM's";
  EXPECT_EQ(Run(Opcode::kDiscover, 1).extended_data, 1u);
  EXPECT_EQ(Run(Opcode::kDiscover, 2).data, 0x55667788u);
  EXPECT_EQ(Run(Opcode::kDiscover, 2).extended_data, 0x11223344u);
  EXPECT_EQ(Run(Opcode::kDiscover, 4).status, MailboxStatus::kErrArg1);
}

TEST_F(FirmwareTest, TheCatalogueIsReadThroughTheWindows) {
  const Reply reply = Run(Opcode::kCatalog);
  ASSERT_EQ(reply.status, MailboxStatus::kSuccess);
  const Bytes bytes = ReadWindows(reply.data);
  const auto stream = mailbox::DecodeStream(bytes);
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->header.boot_id, 0x1122334455667788u);
  EXPECT_EQ(*mailbox::DecodeCatalog(stream->payload), device_.catalog());
  EXPECT_EQ(reply.extended_data, mailbox::CatalogHash(stream->payload));
}

TEST_F(FirmwareTest, ALatchedSnapshotIsReadFromAnyOffset) {
  const Reply latch = Run(Opcode::kLatch);
  ASSERT_EQ(Run(Opcode::kRead, 0, 0, 0, latch.data).data, latch.extended_data);
  const Bytes whole = ReadWindows(latch.extended_data);
  EXPECT_EQ(mailbox::DecodeSnapshotStream(whole)->counters, (std::vector<uint64_t>{1}));
  ASSERT_EQ(Run(Opcode::kRead, 0, 0, 10, latch.data).status, MailboxStatus::kSuccess);
  EXPECT_EQ(ReadWindows(latch.extended_data), Bytes(whole.begin() + 10, whole.end()));
  EXPECT_EQ(Run(Opcode::kRead, 0, 0, latch.extended_data, latch.data).status, MailboxStatus::kErrData)
      << "nothing from there on";
  EXPECT_EQ(Run(Opcode::kRead, 1, 0, 0, latch.data).status, MailboxStatus::kErrArg1);
}

TEST_F(FirmwareTest, AChangedCatalogueComesWithTheNextLatch) {
  const uint32_t before = Run(Opcode::kCatalog).extended_data;
  const uint32_t first = Run(Opcode::kLatch).data;
  EXPECT_EQ(Run(Opcode::kAck, 0, 0, first + 1).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(device_.acknowledged, 0u) << "of another snapshot";
  Run(Opcode::kAck, 0, 0, first);
  EXPECT_EQ(device_.acknowledged, 1u);
  EXPECT_EQ(Run(Opcode::kCatalog).extended_data, before) << "still the one of the newest snapshot";
  const Reply latch = Run(Opcode::kLatch);
  const uint32_t after = Run(Opcode::kCatalog).extended_data;
  EXPECT_NE(after, before);
  Run(Opcode::kRead, 0, 0, 0, latch.data);
  EXPECT_EQ(mailbox::DecodeSnapshotStream(ReadWindows(latch.extended_data))->catalog_hash, after);
}

TEST_F(FirmwareTest, ASupersededSnapshotIsSaidToBe) {
  EXPECT_EQ(Run(Opcode::kRead).status, MailboxStatus::kErrNotAvailable) << "nothing was latched yet";
  EXPECT_EQ(Run(Opcode::kAck).status, MailboxStatus::kErrNotAvailable);
  const uint32_t first = Run(Opcode::kLatch).data;
  Run(Opcode::kRead, 0, 0, 0, first);
  const uint32_t second = Run(Opcode::kLatch).data;
  EXPECT_EQ(second, first + 1);
  EXPECT_TRUE(firmware_.Window(0).empty()) << "the windows do not show a mixture";
  EXPECT_EQ(Run(Opcode::kRead, 0, 0, 0, first).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Run(Opcode::kAck, 0, 0, first).status, MailboxStatus::kErrAgain);
  EXPECT_EQ(Run(Opcode::kAck, 0, 0, second).status, MailboxStatus::kSuccess);
}

}  // namespace
}  // namespace sideband::mcu
