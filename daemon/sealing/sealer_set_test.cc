// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/sealer_set.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "proto/envelope/record.h"

namespace sideband::daemon {
namespace {

constexpr Uuid kDevice{{1}};
constexpr Uuid kKeyedVm{{2}};

std::string KeyFile(const std::string& name, char digit) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << std::string(64, digit) << "\n";
  ::chmod(path.c_str(), 0600);
  return path;
}

class SealerSetTest : public testing::Test {
 protected:
  std::unique_ptr<SealerSet> Loaded() { return *SealerSet::Load({{kKeyedVm, KeyFile("vm.key", '1')}}, epochs_); }

  static Bytes Shared(const std::vector<StreamRecord>& records) {
    EXPECT_EQ(records.size(), 1u);
    EXPECT_EQ(records.at(0).stream, kSharedStream);
    return records.at(0).record;
  }

  static envelope::RecordHeader HeaderOf(const StreamRecord& record) {
    return envelope::ParseRecord(record.record)->header;
  }

  FakeClock clock_{absl::FromUnixMillis(1000)};
  EpochSource epochs_{clock_, [] { return uint16_t{7}; }};
};

TEST_F(SealerSetTest, SealsPerDevice) {
  const auto set = Loaded();
  const Bytes content = {1, 2, 3};
  for (const uint64_t sequence : {0, 1}) {
    for (const Uuid& device : {kDevice, Uuid{{9}}}) {
      const Bytes record = Shared(*set->Seal(device, kKeyedVm, {.boot_id = 1, .content = content}));
      EXPECT_EQ(envelope::ParseRecord(record)->header.device, device);
      EXPECT_EQ(envelope::ParseRecord(record)->header.sequence, sequence) << "each device counts for itself";
    }
  }
}

TEST_F(SealerSetTest, NoKeyNoRecord) {
  const auto set = Loaded();
  const Uuid stranger{{3}};
  EXPECT_TRUE(set->HasKey(kKeyedVm));
  EXPECT_FALSE(set->HasKey(stranger));
  EXPECT_EQ(set->Seal(kDevice, stranger, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SealerSetTest, LoadingIsAllOrNothing) {
  const std::string good = KeyFile("vm.key", '1'), bad = KeyFile("bad.key", 'x');
  const auto set = SealerSet::Load({{kKeyedVm, good}, {kDevice, bad}}, epochs_);
  EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(set.status().message().substr(0, bad.size() + 1), bad + ":");
  EXPECT_EQ(SealerSet::Load({{kKeyedVm, "/nonexistent.key"}}, epochs_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SealerSetTest, AVmHasOneKey) {
  const std::string path = KeyFile("vm.key", '1');
  EXPECT_EQ(SealerSet::Load({{kKeyedVm, path}, {kKeyedVm, path}}, epochs_).status().message(),
            path + ": VM " + kKeyedVm.ToString() + " already has a key");
}

TEST_F(SealerSetTest, DevicesPerVmAreBounded) {
  const auto set = Loaded();
  for (size_t i = 0; i < kDevicesPerVmMax; ++i) {
    EXPECT_TRUE(set->Seal(Uuid{{static_cast<uint8_t>(i)}}, kKeyedVm, {}).ok());
  }
  EXPECT_EQ(set->Seal(Uuid{{0xFF}}, kKeyedVm, {}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(set->Seal(Uuid{{0}}, kKeyedVm, {}).ok()) << "known ones go on";
}

TEST_F(SealerSetTest, AStreamWithANonceHasItsOwnRecordsFromItsStartOn) {
  const auto set = Loaded();
  Shared(*set->Seal(kDevice, kKeyedVm, {}));
  const auto stream = *set->OpenStream(kDevice, kKeyedVm, {9});
  EXPECT_NE(stream->id(), kSharedStream);
  for (const uint64_t sequence : {0, 1, 2}) {
    const auto records = *set->Seal(kDevice, kKeyedVm, {});
    ASSERT_EQ(records.size(), 2u);
    const envelope::RecordHeader shared = HeaderOf(records[0]), own = HeaderOf(records[1]);
    EXPECT_EQ(records[1].stream, stream->id());
    EXPECT_EQ(shared.version(), envelope::kRecordVersion1);
    EXPECT_EQ(shared.sequence, sequence + 1) << "no sequence is missing where another stream is served";
    EXPECT_EQ(own.guest_nonce, (envelope::GuestNonce{9}));
    EXPECT_EQ(own.sequence, sequence);
    EXPECT_GT(own.epoch, shared.epoch) << "an epoch of its own";
  }
}

TEST_F(SealerSetTest, AStreamIsOfOneVmOnOneDeviceUntilItIsDestroyed) {
  const auto set = Loaded();
  auto first = *set->OpenStream(kDevice, kKeyedVm, {1}), second = *set->OpenStream(kDevice, kKeyedVm, {1});
  EXPECT_NE(first->id(), second->id());
  EXPECT_EQ(set->Seal(Uuid{{9}}, kKeyedVm, {})->size(), 1u) << "on another device";
  const auto records = *set->Seal(kDevice, kKeyedVm, {});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_NE(HeaderOf(records[1]).epoch, HeaderOf(records[2]).epoch) << "even with one nonce";
  first.reset();
  EXPECT_EQ(set->Seal(kDevice, kKeyedVm, {})->at(1).stream, second->id());
  second.reset();
  EXPECT_EQ(set->Seal(kDevice, kKeyedVm, {})->size(), 1u);
}

TEST_F(SealerSetTest, StreamsWithANonceAreBounded) {
  const auto set = Loaded();
  std::vector<std::unique_ptr<SealerSet::NonceStream>> streams;
  for (size_t i = 0; i < kNonceStreamsPerVmMax; ++i) streams.push_back(*set->OpenStream(kDevice, kKeyedVm, {1}));
  EXPECT_EQ(set->OpenStream(kDevice, kKeyedVm, {1}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(set->OpenStream(Uuid{{9}}, kKeyedVm, {1}).ok()) << "another device's are counted apart";
  streams.pop_back();
  EXPECT_TRUE(set->OpenStream(kDevice, kKeyedVm, {1}).ok());
  EXPECT_EQ(set->OpenStream(kDevice, Uuid{{3}}, {1}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::daemon
