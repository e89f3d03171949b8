// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/sealer_set.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "proto/envelope/open.h"
#include "proto/envelope/record.h"

namespace sideband::daemon {
namespace {

EpochSource::Random16 Always(uint16_t value) {
  return [value] { return value; };
}

TEST(EpochSourceTest, IsTimeAndRandomBits) {
  const FakeClock clock(absl::FromUnixMillis(0x0123456789));
  EpochSource epochs(clock, Always(0xABCD));
  EXPECT_EQ(*epochs.Next(), 0x0123456789ABCDu);
}

TEST(EpochSourceTest, AlwaysGrowsEvenWhereTheClockStandsOrGoesBack) {
  FakeClock clock(absl::FromUnixMillis(1000));
  EpochSource epochs(clock, Always(7));
  const uint64_t first = *epochs.Next();
  EXPECT_EQ(*epochs.Next(), first + 1);
  clock.Advance(-absl::Milliseconds(500));
  EXPECT_EQ(*epochs.Next(), first + 2);
  clock.Advance(absl::Milliseconds(501));
  EXPECT_EQ(*epochs.Next(), (uint64_t{1001} << 16) + 7);
}

TEST(EpochSourceTest, TwoProcessesInTheSameMillisecondDiffer) {
  const FakeClock clock(absl::FromUnixMillis(1000));
  EpochSource first(clock, Always(1)), second(clock, Always(2));
  EXPECT_NE(*first.Next(), *second.Next());
}

TEST(EpochSourceTest, NoEpochWithoutTimeOrRandomness) {
  const FakeClock early(absl::UnixEpoch() - absl::Seconds(1));
  EXPECT_EQ(EpochSource(early, Always(1)).Next().status().code(), absl::StatusCode::kFailedPrecondition);
  const FakeClock clock(absl::FromUnixMillis(1000));
  EpochSource dry(clock, [] { return absl::InternalError("dry"); });
  EXPECT_EQ(dry.Next().status().code(), absl::StatusCode::kInternal);
}

TEST(EpochSourceTest, SystemGivesRandomBits) {
  uint16_t seen = 0;
  for (int i = 0; i < 64; ++i) seen |= *SystemRandom16();
  EXPECT_EQ(seen, std::numeric_limits<uint16_t>::max()) << "each bit is set in one of 64 draws";
}

const Bytes kKey(envelope::kStaticKeyBytes, 0x42);
constexpr Uuid kSealingDevice{{1}};
constexpr Uuid kSealedVm{{2}};

class VmSealerTest : public testing::Test {
 protected:
  std::unique_ptr<VmSealer> NewSealer(uint64_t records_max = kRecordsPerEpochMax) {
    return *VmSealer::Create(envelope::Secret::CopyOf(kKey), kSealingDevice, kSealedVm, epochs_,
                             {.records_per_epoch_max = records_max});
  }

  static absl::StatusOr<Bytes> Seal(VmSealer& sealer, uint64_t boot_id, uint32_t generation,
                                    const std::string& content = "counts") {
    return sealer.Seal(
        {.boot_id = boot_id, .generation = generation, .reference_time_ns = 77, .content = AsBytes(content)});
  }

  static envelope::RecordHeader HeaderOf(const Bytes& record) { return envelope::ParseRecord(record)->header; }

  FakeClock clock_{absl::FromUnixMillis(1000)};
  EpochSource epochs_{clock_, [] { return uint16_t{7}; }};
};

TEST_F(VmSealerTest, RecordHoldsWhatWasGiven) {
  const auto sealer = NewSealer();
  const Bytes record = *Seal(*sealer, 5, 6);
  const envelope::RecordHeader header = HeaderOf(record);
  EXPECT_EQ(header, (envelope::RecordHeader{.device = kSealingDevice,
                                            .boot_id = 5,
                                            .vm = kSealedVm,
                                            .generation = 6,
                                            .epoch = (1000 << 16) + 7,
                                            .sequence = 0,
                                            .reference_time_ns = 77}));
  const auto keys = envelope::SessionKeys::Derive(envelope::Secret::CopyOf(kKey), envelope::KeyScope::Of(header));
  EXPECT_EQ(*envelope::OpenRecord(*keys, *envelope::ParseRecord(record)), (SecretBytes{'c', 'o', 'u', 'n', 't', 's'}));
}

TEST_F(VmSealerTest, AGuestNonceIsInEveryRecordAndInTheKey) {
  const envelope::GuestNonce nonce{1, 2, 3};
  const auto sealer =
      *VmSealer::Create(envelope::Secret::CopyOf(kKey), kSealingDevice, kSealedVm, epochs_, {.guest_nonce = nonce});
  for (const uint32_t generation : {6, 6, 7}) {
    const Bytes record = *Seal(*sealer, 5, generation);
    const envelope::RecordHeader header = HeaderOf(record);
    EXPECT_EQ(header.version(), envelope::kRecordVersion2);
    EXPECT_EQ(header.guest_nonce, nonce);
    envelope::KeyScope scope = envelope::KeyScope::Of(header);
    const envelope::Secret key = envelope::Secret::CopyOf(kKey);
    EXPECT_TRUE(envelope::OpenRecord(*envelope::SessionKeys::Derive(key, scope), *envelope::ParseRecord(record)).ok());
    scope.guest_nonce.reset();
    EXPECT_NE(envelope::SessionKeys::Derive(key, scope)->key(),
              envelope::SessionKeys::Derive(key, envelope::KeyScope::Of(header))->key());
  }
}

TEST_F(VmSealerTest, SequenceCountsUpWithinAnEpoch) {
  const auto sealer = NewSealer();
  const uint64_t epoch = HeaderOf(*Seal(*sealer, 1, 1)).epoch;
  for (uint64_t sequence = 1; sequence < 5; ++sequence) {
    const envelope::RecordHeader header = HeaderOf(*Seal(*sealer, 1, 1));
    EXPECT_EQ(header.sequence, sequence);
    EXPECT_EQ(header.epoch, epoch);
  }
}

TEST_F(VmSealerTest, NewBootOrGenerationBeginsAnEpoch) {
  const auto sealer = NewSealer();
  std::set<uint64_t> epochs;
  // The last two return to earlier values and start new epochs all the same.
  for (const auto& [boot_id, generation] : {std::pair{1, 1}, {1, 2}, {2, 2}, {1, 2}, {1, 1}}) {
    const envelope::RecordHeader header = HeaderOf(*Seal(*sealer, boot_id, generation));
    EXPECT_EQ(header.sequence, 0u);
    EXPECT_TRUE(epochs.empty() || header.epoch > *epochs.rbegin());
    epochs.insert(header.epoch);
    EXPECT_EQ(HeaderOf(*Seal(*sealer, boot_id, generation)).sequence, 1u);
  }
  EXPECT_EQ(epochs.size(), 5u);
}

TEST_F(VmSealerTest, ARestartBeginsAnEpoch) {
  const uint64_t before = HeaderOf(*Seal(*NewSealer(), 1, 1)).epoch;
  EXPECT_GT(HeaderOf(*Seal(*NewSealer(), 1, 1)).epoch, before);
}

TEST_F(VmSealerTest, LengthGrowsByWholePagesAndNeverShrinks) {
  const auto sealer = NewSealer();
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1, std::string(10, 'x'))).padded_length, 4096u);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1, std::string(4092, 'x'))).padded_length, 4096u);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1, std::string(4093, 'x'))).padded_length, 8192u);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 2, "")).padded_length, 8192u) << "not even for a new generation";
}

TEST_F(VmSealerTest, BudgetIsKeptAndANewEpochRefillsIt) {
  const auto sealer = NewSealer(2);
  EXPECT_TRUE(Seal(*sealer, 1, 1).ok());
  EXPECT_TRUE(Seal(*sealer, 1, 1).ok());
  EXPECT_EQ(Seal(*sealer, 1, 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Seal(*sealer, 1, 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Seal(*sealer, 1, 2).ok());
}

TEST_F(VmSealerTest, ContentThatNoRecordHoldsIsRefusedWithoutGrowing) {
  const auto sealer = NewSealer();
  const std::string content(envelope::kContentBytesMax + 1, 'x');
  EXPECT_EQ(Seal(*sealer, 1, 1, content).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1)).padded_length, 4096u);
}

TEST_F(VmSealerTest, StaticKeyOfAnotherSizeIsRefused) {
  EXPECT_FALSE(VmSealer::Create(envelope::Secret(16), kSealingDevice, kSealedVm, epochs_, {}).ok());
}

TEST_F(VmSealerTest, NothingIsSealedWithoutAnEpoch) {
  EpochSource dry(clock_, [] { return absl::InternalError("dry"); });
  const auto sealer = *VmSealer::Create(envelope::Secret::CopyOf(kKey), kSealingDevice, kSealedVm, dry, {});
  EXPECT_EQ(Seal(*sealer, 1, 1).status().code(), absl::StatusCode::kInternal);
}

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
