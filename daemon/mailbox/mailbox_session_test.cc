// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/mailbox_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using mailbox::CommandWord;
using mailbox::ExtensionVersion;
using mailbox::kCommandRegister;
using mailbox::kDataRegister;
using mailbox::kWindowFirst;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using testing::Each;
using testing::HasSubstr;

constexpr CommandWord kOtherCommand = {.opcode = Opcode::kGetTemp, .execute = true};
constexpr uint32_t kVersionData = 1 | 255 << 8 | 16 << 16;

Bytes CatalogStreamOf(const mailbox::Catalog& catalog) {
  return mailbox::EncodeStream({.kind = mailbox::StreamKind::kCatalog}, mailbox::EncodeCatalog(catalog));
}

// A catalogue whose stream has this many bytes, at least 600.
mailbox::Catalog CatalogOfSize(size_t bytes) {
  mailbox::Catalog catalog = SomeCatalog(false);
  const auto missing = [&] { return bytes - CatalogStreamOf(catalog).size(); };
  for (int i = 100; missing() > 255; ++i) {
    catalog.events.push_back({.name = "e" + std::to_string(i), .description = std::string(200, 'd')});
  }
  catalog.events[0].description = std::string(missing(), 'd');
  return catalog;
}

class MailboxSessionTest : public testing::Test {
 protected:
  // Spoils the next `times` results for which `is_meant` holds.
  void Spoil(int times, std::function<bool(const smbus::Transfer&)> is_meant,
             std::function<void(FakeMailbox::Result&)> how) {
    device_.after = [times, is_meant, how](const smbus::Transfer& transfer, FakeMailbox::Result& result) mutable {
      if (times > 0 && is_meant(transfer) && times-- > 0) how(result);
    };
  }
  static void FlipBit(FakeMailbox::Result& result) { result->read[0][1] ^= 1; }
  // Replaces a read of the signature by this block, with its PEC.
  static void SetSignature(ByteSpan block, FakeMailbox::Result& result) {
    Bytes& read = result->read[0];
    ByteWriter out;
    out.U8(static_cast<uint8_t>(block.size()));
    out.Raw(block);
    const uint8_t before[] = {smbus::AddressByte(FakeMailbox::kAddress, false), mailbox::kSignatureRegister,
                              smbus::AddressByte(FakeMailbox::kAddress, true)};
    out.U8(smbus::Pec(out.written(), smbus::Pec(before)));
    const size_t size = read.size();
    read = std::move(out).Take();
    read.resize(size, 0xFF);
  }
  static void Refuse(FakeMailbox::Result& result) { *result = {.outcome = smbus::Outcome::kDataNack}; }

  // Before each of the next `times` status reads, another controller's command runs.
  void Interfere(int times, const CommandWord& other) {
    device_.before = [this, times, other](const smbus::Transfer& transfer) mutable {
      if (IsReadOf(transfer, kCommandRegister) && times-- > 0) device_.RunElsewhere({other});
    };
  }
  void AnswerAll(FakeMailbox::Reply reply) {
    device_.answer = [reply](const FakeMailbox::Command&) { return reply; };
  }
  // The replies to DISCOVER, the last one repeatedly.
  void AnswerVersions(std::vector<uint32_t> versions) {
    device_.answer = [versions, next = size_t{0}](const FakeMailbox::Command&) mutable {
      return FakeMailbox::Reply{.data = versions[std::min(next++, versions.size() - 1)]};
    };
  }
  absl::Status Read() {
    const auto latched = session_.Latch({});
    return latched.ok() ? session_.ReadSnapshot(*latched, nullptr).status() : latched.status();
  }

  FakeMailbox device_;
  std::map<std::string, int> outcomes_;
  std::vector<absl::Duration> pauses_;
  RegisterPort port_{device_, FakeMailbox::kAddress,
                     [this](absl::string_view outcome) { ++outcomes_[std::string(outcome)]; }};
  MailboxSession session_{port_, [this](absl::Duration pause) { pauses_.push_back(pause); }};
};

TEST_F(MailboxSessionTest, EachMailboxStatusHasItsStatus) {
  const struct {
    MailboxStatus status;
    StatusCode code;
  } kRows[] = {
      {MailboxStatus::kSuccess, StatusCode::kOk},
      // The device does not have the command.
      {MailboxStatus::kErrOpcode, StatusCode::kUnimplemented},
      {MailboxStatus::kErrNotSupported, StatusCode::kUnimplemented},
      // Latch again.
      {MailboxStatus::kErrAgain, StatusCode::kAborted},
      // Not now.
      {MailboxStatus::kErrBusy, StatusCode::kUnavailable},
      {MailboxStatus::kErrNotAvailable, StatusCode::kUnavailable},
      {MailboxStatus::kInactive, StatusCode::kUnavailable},
      {MailboxStatus::kReady, StatusCode::kUnavailable},
      {MailboxStatus::kNull, StatusCode::kUnavailable},
      // The command is wrong.
      {MailboxStatus::kErrRequest, StatusCode::kInvalidArgument},
      {MailboxStatus::kErrArg1, StatusCode::kInvalidArgument},
      {MailboxStatus::kErrArg2, StatusCode::kInvalidArgument},
      {MailboxStatus::kErrData, StatusCode::kInvalidArgument},
      // The device fails, or uses a status that no command of the daemon has.
      {MailboxStatus::kErrMisc, StatusCode::kInternal},
      {MailboxStatus::kErrI2cAccess, StatusCode::kInternal},
      {MailboxStatus::kErrSensorData, StatusCode::kInternal},
      {MailboxStatus::kErrDisposition, StatusCode::kInternal},
      {MailboxStatus::kPartialFailure, StatusCode::kInternal},
      {MailboxStatus::kAccepted, StatusCode::kInternal},
      // A number without a name.
      {static_cast<MailboxStatus>(0x10), StatusCode::kInternal},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(StatusFromMailbox(Opcode::kLatch, row.status).code(), row.code) << static_cast<int>(row.status);
  }
}

TEST_F(MailboxSessionTest, AnErrorNamesItsCommandAndStatus) {
  EXPECT_EQ(StatusFromMailbox(Opcode::kAck, MailboxStatus::kErrAgain).message(), "ACK: ERR_AGAIN");
  EXPECT_EQ(StatusFromMailbox(Opcode::kLatch, static_cast<MailboxStatus>(0x10)).message(), "LATCH: UNKNOWN 16");
  const char kUnknown[] = "does not know the snapshot extension";
  EXPECT_THAT(std::string(StatusFromMailbox(Opcode::kDiscover, MailboxStatus::kErrOpcode).message()),
              HasSubstr(kUnknown));
  EXPECT_THAT(std::string(StatusFromMailbox(Opcode::kGetTemp, MailboxStatus::kErrOpcode).message()),
              testing::Not(HasSubstr(kUnknown)));
}

TEST_F(MailboxSessionTest, TheExtensionIsChecked) {
  const struct {
    uint32_t data;
    StatusCode code;
  } kRows[] = {
      {kVersionData, StatusCode::kOk},
      {kVersionData | 0xAB000000, StatusCode::kOk},           // the rest is reserved
      {0 | 255 << 8 | 16 << 16, StatusCode::kUnimplemented},  // version below
      {2 | 255 << 8 | 16 << 16, StatusCode::kUnimplemented},  // version above
      {1 | 254 << 8 | 16 << 16, StatusCode::kUnimplemented},  // narrower windows
      {1 | 255 << 8 | 15 << 16, StatusCode::kUnimplemented},  // fewer windows
      {1 | 255 << 8 | 17 << 16, StatusCode::kUnimplemented},  // more windows
      {0x00000000, StatusCode::kUnimplemented},               // nothing
      {0xFFFFFFFF, StatusCode::kUnimplemented},               // an idle bus
  };
  for (const auto& row : kRows) {
    AnswerVersions({row.data});
    EXPECT_EQ(session_.CheckExtension().code(), row.code) << row.data;
  }
  EXPECT_EQ(outcomes_.count("interference"), 0u);
}

TEST_F(MailboxSessionTest, AVersionIsRejectedOnlyIfItIsSeenTwiceInARow) {
  const uint32_t a = 7, b = 8, c = 9;
  const struct {
    std::vector<uint32_t> versions;
    StatusCode code;
    int interferences;
    size_t commands;
  } kRows[] = {
      {{kVersionData}, StatusCode::kOk, 0, 1},
      {{a, kVersionData}, StatusCode::kOk, 1, 2},
      {{a, b, kVersionData}, StatusCode::kOk, 2, 3},
      {{a, a}, StatusCode::kUnimplemented, 0, 2},
      {{a, b, b}, StatusCode::kUnimplemented, 1, 3},
      // All runs are used up, and no two replies are equal.
      {{a, b, c, kVersionData}, StatusCode::kAborted, 2, 3},
      {{a, b, a, a}, StatusCode::kAborted, 2, 3},
  };
  for (const auto& row : kRows) {
    device_.commands.clear();
    outcomes_.clear();
    AnswerVersions(row.versions);
    EXPECT_EQ(session_.CheckExtension().code(), row.code);
    EXPECT_EQ(outcomes_["interference"], row.interferences);
    EXPECT_EQ(device_.commands.size(), row.commands);
  }
}

TEST_F(MailboxSessionTest, AnUnknownVersionOfAnotherControllersCommandIsInterference) {
  AnswerVersions({7});
  // The other command runs after the second reply was read.
  device_.after = [this](const smbus::Transfer& transfer, FakeMailbox::Result&) {
    if (IsReadOf(transfer, mailbox::kExtendedDataRegister) && device_.commands.size() == 2) {
      device_.RunElsewhere({kOtherCommand});
    }
  };
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kAborted);
  EXPECT_EQ(outcomes_["interference"], 1);
}

TEST_F(MailboxSessionTest, AChipWithoutAMailboxIsNotWritten) {
  device_.is_present = false;
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kUnavailable);
  EXPECT_EQ(device_.transfers.size(), 3 * size_t{RegisterPort::kAttemptsMax}) << "twice the signature, and the status";
  for (const smbus::Transfer& transfer : device_.transfers) EXPECT_FALSE(IsWrite(transfer));
}

bool IsShared(const smbus::Transfer& transfer) { return mailbox::kSharedRegisters.Has(CodeOf(transfer)); }

TEST_F(MailboxSessionTest, ADeviceOfVersionTwoIsNeverAccessedAtTheSharedRegisters) {
  device_.version = ExtensionVersion::kTwo;
  ASSERT_TRUE(session_.CheckExtension().ok());
  EXPECT_EQ(session_.version(), ExtensionVersion::kTwo);
  ASSERT_TRUE(session_.ReadCatalog().ok());
  ASSERT_TRUE(Read().ok());
  ASSERT_TRUE(session_.Acknowledge({.boot_id = device_.next.boot_id, .snapshot_id = 1}).ok());
  EXPECT_FALSE(std::ranges::any_of(device_.transfers, IsShared));
}

TEST_F(MailboxSessionTest, VersionTwoReadsTheSameCatalogAndSnapshot) {
  device_.next.statistics = mailbox::PipelineStatistics{.switches = 5};
  for (mailbox::EventInfo& event : device_.catalog.events) event.details = {.slices = {{1, 2}}};
  device_.version = ExtensionVersion::kTwo;
  ASSERT_TRUE(session_.CheckExtension().ok());
  EXPECT_EQ(session_.ReadCatalog()->topology->catalog(), device_.catalog);
  const auto latched = session_.Latch({});
  EXPECT_EQ(session_.ReadSnapshot(*latched, nullptr)->statistics, device_.next.statistics);
}

TEST_F(MailboxSessionTest, ASignatureThatIsNotOfVersionTwoIsRefused) {
  for (const uint8_t version : {1, 3, 255}) {
    device_.version = ExtensionVersion{version};
    device_.commands.clear();
    Spoil(
        100, [](const smbus::Transfer& transfer) { return IsReadOf(transfer, mailbox::kSignatureRegister); },
        [version](FakeMailbox::Result& result) { SetSignature(mailbox::Signature(version), result); });
    const absl::Status status = session_.CheckExtension();
    EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << int{version};
    EXPECT_EQ(status.message(), "extension version " + std::to_string(version) + " is not supported");
    EXPECT_TRUE(device_.commands.empty());
  }
}

TEST_F(MailboxSessionTest, AFlickeringSignatureNeverLeadsToTheSharedRegisters) {
  device_.version = ExtensionVersion::kTwo;
  ASSERT_TRUE(session_.CheckExtension().ok());
  device_.version = ExtensionVersion::kOne;  // as if the signature had gone
  for (int miss = 1; miss < MailboxSession::kSignatureMissesMax; ++miss) {
    EXPECT_EQ(session_.CheckExtension().message(), "the device no longer shows the signature of extension version 2");
  }
  device_.version = ExtensionVersion::kTwo;
  EXPECT_TRUE(session_.CheckExtension().ok());
  EXPECT_FALSE(std::ranges::any_of(device_.transfers, IsShared));
}

TEST_F(MailboxSessionTest, ADeviceThatWasReplacedByOneOfVersionOneIsReadAgain) {
  device_.version = ExtensionVersion::kTwo;
  ASSERT_TRUE(session_.CheckExtension().ok());
  device_.version = ExtensionVersion::kOne;
  for (int miss = 1; miss < MailboxSession::kSignatureMissesMax; ++miss) EXPECT_FALSE(session_.CheckExtension().ok());
  EXPECT_TRUE(session_.CheckExtension().ok());
  EXPECT_EQ(session_.version(), ExtensionVersion::kOne);
}

TEST_F(MailboxSessionTest, ASignatureMustBeSeenTwiceInARow) {
  device_.version = ExtensionVersion::kTwo;
  Spoil(
      1, [](const smbus::Transfer& transfer) { return IsReadOf(transfer, mailbox::kSignatureRegister); },
      [](FakeMailbox::Result& result) { SetSignature({}, result); });
  ASSERT_TRUE(session_.CheckExtension().ok());
  EXPECT_EQ(session_.version(), ExtensionVersion::kTwo);
  Spoil(
      100, [](const smbus::Transfer& transfer) { return IsReadOf(transfer, mailbox::kSignatureRegister); },
      [turn = 0](FakeMailbox::Result& result) mutable {
        if (++turn % 2 == 0) SetSignature({}, result);
      });
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kDataLoss);
  EXPECT_FALSE(std::ranges::any_of(device_.transfers, IsShared));
}

TEST_F(MailboxSessionTest, ADeviceThatHasShownASignatureDoesNotLackIt) {
  device_.version = ExtensionVersion::kTwo;
  // The first read shows it; the next ones are refused, or show an absent block.
  for (const bool refused : {true, false}) {
    MailboxSession session(port_, [](absl::Duration) {});
    device_.after = [refused, read = 0](const smbus::Transfer& transfer, FakeMailbox::Result& result) mutable {
      if (!IsReadOf(transfer, mailbox::kSignatureRegister) || ++read == 1) return;
      if (refused) {
        Refuse(result);
      } else {
        SetSignature({}, result);
      }
    };
    EXPECT_EQ(session.CheckExtension().code(), StatusCode::kDataLoss) << refused;
  }
  EXPECT_FALSE(std::ranges::any_of(device_.transfers, IsShared));
}

// Real boards refuse a command code that they do not know.
TEST_F(MailboxSessionTest, ADeviceThatRefusesTheSignaturesCodeIsOfVersionOne) {
  device_.after = [](const smbus::Transfer& transfer, FakeMailbox::Result& result) {
    if (IsReadOf(transfer, mailbox::kSignatureRegister)) Refuse(result);
  };
  ASSERT_TRUE(session_.CheckExtension().ok());
  EXPECT_EQ(session_.version(), ExtensionVersion::kOne);
}

TEST_F(MailboxSessionTest, AFeatureWithoutItsOpcodeIsRefused) {
  device_.version = ExtensionVersion::kTwo;
  device_.answer = [](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
    if (command.word.arg1 != static_cast<uint8_t>(mailbox::DiscoverItem::kFeatures)) return std::nullopt;
    return FakeMailbox::Reply{.data = 1 << 1};
  };
  const absl::Status status = session_.CheckExtension();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "DISCOVER: feature 'gate groups' is announced without its opcode");
}

TEST_F(MailboxSessionTest, ADeviceWithoutTheExtensionIsUnimplemented) {
  AnswerAll({.status = MailboxStatus::kErrOpcode});
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(device_.commands.size(), 1u);
}

TEST_F(MailboxSessionTest, ADeviceWithoutTheExtensionIsOnlyReadFromThenOn) {
  AnswerAll({.status = MailboxStatus::kErrOpcode});
  for (int call = 0; call < MailboxSession::kUnaskedMax; ++call) {
    EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kUnimplemented);
    EXPECT_EQ(device_.commands.size(), 1u) << call;
  }
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(device_.commands.size(), 2u) << "it may have other firmware";
}

TEST_F(MailboxSessionTest, ADeviceWithoutTheExtensionIsAskedAgainAfterARestart) {
  AnswerAll({.status = MailboxStatus::kErrOpcode});
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kUnimplemented);
  device_.answer = [](const FakeMailbox::Command&) { return std::nullopt; };
  device_.Restart(7);
  EXPECT_TRUE(session_.CheckExtension().ok());
}

TEST_F(MailboxSessionTest, ADeviceWithoutTheExtensionIsAskedAgainAfterAnAbsence) {
  AnswerAll({.status = MailboxStatus::kErrOpcode});
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kUnimplemented);
  device_.answer = [](const FakeMailbox::Command&) { return std::nullopt; };
  device_.is_present = false;
  EXPECT_EQ(session_.CheckExtension().code(), StatusCode::kUnavailable);
  device_.is_present = true;
  EXPECT_TRUE(session_.CheckExtension().ok());
}

TEST_F(MailboxSessionTest, AWriteIsRepeatedWithItsInputs) {
  const struct {
    int refused;  // times that the command's write is reported as failed, although the device executes it
    StatusCode code;
    size_t runs;
  } kRows[] = {
      {0, StatusCode::kOk, 1},
      {RegisterPort::kAttemptsMax - 1, StatusCode::kOk, 4},
      {RegisterPort::kAttemptsMax, StatusCode::kUnavailable, 4},
  };
  for (const auto& row : kRows) {
    device_.commands.clear();
    Spoil(
        row.refused, [](const smbus::Transfer& transfer) { return IsWriteOf(transfer, kCommandRegister); }, Refuse);
    EXPECT_EQ(session_.Latch({.boot_id = 9, .snapshot_id = 5}).status().code(), row.code);
    EXPECT_EQ(device_.commands.size(), row.runs);
    for (const auto& command : device_.commands) EXPECT_EQ(command.data, 5u) << "not the output of the run before";
  }
}

TEST_F(MailboxSessionTest, TheAttemptsOfAnInputWriteAreBounded) {
  for (const int refused : {RegisterPort::kAttemptsMax - 1, RegisterPort::kAttemptsMax}) {
    device_.commands.clear();
    Spoil(
        refused, [](const smbus::Transfer& transfer) { return IsWriteOf(transfer, kDataRegister); }, Refuse);
    EXPECT_EQ(session_.Latch({}).ok(), refused < RegisterPort::kAttemptsMax);
    EXPECT_EQ(device_.commands.size(), refused < RegisterPort::kAttemptsMax ? 1u : 0u) << "no command without input";
  }
}

TEST_F(MailboxSessionTest, AnUnusableBusIsNotWrittenAgain) {
  Spoil(
      1, [](const smbus::Transfer& transfer) { return IsWriteOf(transfer, kCommandRegister); },
      [](FakeMailbox::Result& result) { result = absl::UnavailableError("bus gone"); });
  EXPECT_EQ(session_.Latch({}).status().message(), "bus gone");
  EXPECT_EQ(device_.commands.size(), 1u);
}

TEST_F(MailboxSessionTest, ASpoiledReplyIsReadAgainAndTheCommandIsNotRepeated) {
  for (const uint8_t code : {kCommandRegister, kDataRegister, mailbox::kExtendedDataRegister}) {
    for (const int spoiled : {RegisterPort::kAttemptsMax - 1, RegisterPort::kAttemptsMax}) {
      device_.commands.clear();
      Spoil(
          spoiled, [code](const smbus::Transfer& transfer) { return IsReadOf(transfer, code); }, FlipBit);
      const auto latched = session_.Latch({});
      EXPECT_EQ(latched.status().code(),
                spoiled < RegisterPort::kAttemptsMax ? StatusCode::kOk : StatusCode::kDataLoss);
      EXPECT_EQ(device_.commands.size(), 1u);
    }
  }
}

TEST_F(MailboxSessionTest, ACommandIsPolledUntilItIsDone) {
  device_.busy_polls = MailboxSession::kPollsMax - 1;
  EXPECT_TRUE(session_.Latch({}).ok());
  EXPECT_EQ(pauses_.size(), size_t{MailboxSession::kPollsMax - 1});
  device_.busy_polls = MailboxSession::kPollsMax;
  const absl::Status late = session_.Latch({}).status();
  EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(late.message(), "LATCH: busy for too long");
  EXPECT_EQ(device_.commands.size(), 2u);
}

TEST_F(MailboxSessionTest, ThePausesDoubleUpToTheirBound) {
  device_.busy_polls = 9;
  ASSERT_TRUE(session_.Latch({}).ok());
  std::vector<int64_t> microseconds;
  for (const absl::Duration pause : pauses_) microseconds.push_back(absl::ToInt64Microseconds(pause));
  EXPECT_THAT(microseconds, testing::ElementsAre(100, 200, 400, 800, 1600, 3200, 6400, 10'000, 10'000));
}

TEST_F(MailboxSessionTest, AStatusOfZeroIsNoReplyYet) {
  AnswerAll({.status = MailboxStatus::kNull});
  EXPECT_EQ(session_.Latch({}).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(pauses_.size(), size_t{MailboxSession::kPollsMax - 1});
}

TEST_F(MailboxSessionTest, AClockThatIsHeldTooLongIsADeadline) {
  device_.after = [](const smbus::Transfer&, FakeMailbox::Result& result) {
    *result = {.outcome = smbus::Outcome::kTimeout};
  };
  EXPECT_EQ(session_.Latch({}).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(outcomes_["timeout"], RegisterPort::kAttemptsMax);
}

TEST_F(MailboxSessionTest, ABusyMailboxIsUnavailableAndTheCommandIsNotRepeated) {
  AnswerAll({.status = MailboxStatus::kErrBusy});
  EXPECT_EQ(session_.Latch({}).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(device_.commands.size(), 1u);
}

TEST_F(MailboxSessionTest, TheStatusOfAnotherControllersCommandIsNeverTaken) {
  const CommandWord own = {.opcode = Opcode::kLatch, .arg2 = 255, .execute = true};
  const struct {
    const char* what;
    CommandWord other;
  } kRows[] = {
      {"another opcode, which fails", kOtherCommand},
      {"another opcode, which succeeds", {.opcode = Opcode::kDiscover, .execute = true}},
      {"another first argument", {.opcode = own.opcode, .arg1 = 1, .arg2 = own.arg2, .execute = true}},
      {"another second argument", {.opcode = own.opcode, .arg2 = 254, .execute = true}},
  };
  for (const auto& row : kRows) {
    outcomes_.clear();
    device_.commands.clear();
    Interfere(1, row.other);
    EXPECT_TRUE(session_.Latch({}).ok()) << row.what;
    EXPECT_EQ(device_.commands.size(), 2u) << row.what;
    EXPECT_EQ(outcomes_["interference"], 1) << row.what;
  }
}

TEST_F(MailboxSessionTest, TheRunsOnInterferenceAreBounded) {
  Interfere(MailboxSession::kRunsMax - 1, kOtherCommand);
  EXPECT_TRUE(session_.Latch({}).ok());
  EXPECT_EQ(device_.commands.size(), size_t{MailboxSession::kRunsMax});
  EXPECT_EQ(outcomes_["interference"], MailboxSession::kRunsMax - 1);
  EXPECT_THAT(pauses_, Each(MailboxSession::kPauseMax)) << "the other controller gets time to finish";

  device_.commands.clear();
  Interfere(MailboxSession::kRunsMax, kOtherCommand);
  EXPECT_EQ(session_.Latch({}).status().code(), StatusCode::kAborted);
  EXPECT_EQ(device_.commands.size(), size_t{MailboxSession::kRunsMax});
}

TEST_F(MailboxSessionTest, ADeviceThatHasRestartedIsUnavailableAndNoInterference) {
  device_.before = [this](const smbus::Transfer& transfer) {
    if (IsReadOf(transfer, kCommandRegister)) device_.Restart(10);
  };
  EXPECT_EQ(session_.Latch({}).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(outcomes_.count("interference"), 0u);
}

TEST_F(MailboxSessionTest, AnErrorIsExplainedByWhoseCommandRanLast) {
  const absl::Status failure = absl::DataLossError("does not fit");
  ASSERT_TRUE(session_.Latch({}).ok());
  EXPECT_EQ(session_.Explain(failure), failure) << "the own command ran last";
  EXPECT_TRUE(session_.Explain(absl::OkStatus()).ok());
  device_.RunElsewhere({kOtherCommand});
  EXPECT_TRUE(session_.Explain(absl::OkStatus()).ok()) << "nothing to explain";
  const absl::Status explained = session_.Explain(failure);
  EXPECT_EQ(explained.code(), StatusCode::kAborted);
  EXPECT_EQ(session_.Explain(explained), explained);
  EXPECT_EQ(outcomes_["interference"], 1) << "counted once";
  device_.Restart(10);
  EXPECT_EQ(session_.Explain(failure), failure) << "a restart is no interference";
  device_.is_present = false;
  EXPECT_EQ(session_.Explain(failure), failure) << "the register cannot be read";
}

TEST_F(MailboxSessionTest, LatchNamesTheHeldSnapshotTwice) {
  ASSERT_TRUE(session_.Latch({}).ok());
  EXPECT_EQ(device_.commands[0].word.arg1, 0);
  EXPECT_EQ(device_.commands[0].data, 0u);
  ASSERT_TRUE(session_.Latch({.boot_id = 9, .snapshot_id = 0x12345678}).ok());
  EXPECT_EQ(device_.commands[1].word.arg1, 0x80 | ((9 ^ 0x78) & 0x7F));
  EXPECT_EQ(device_.commands[1].data, 0x12345678u);
}

TEST_F(MailboxSessionTest, AcknowledgeNamesItsSnapshotTwice) {
  const auto latched = session_.Latch({});
  ASSERT_TRUE(session_.Acknowledge({9, latched->snapshot_id}).ok());
  const FakeMailbox::Command ack = device_.commands.back();
  EXPECT_EQ(ack.data, latched->snapshot_id);
  EXPECT_EQ(ack.word.arg1 | ack.word.arg2 << 8, mailbox::SnapshotMark(9, latched->snapshot_id));
  EXPECT_EQ(session_.Acknowledge({8, latched->snapshot_id}).code(), StatusCode::kAborted) << "of another boot";
  EXPECT_EQ(session_.Acknowledge({9, latched->snapshot_id + 1}).code(), StatusCode::kAborted);
}

TEST_F(MailboxSessionTest, AnAcknowledgementOfAnotherSnapshotIsAborted) {
  AnswerAll({.data = 6});
  EXPECT_TRUE(session_.Acknowledge({9, 6}).ok());
  EXPECT_EQ(session_.Acknowledge({9, 7}).code(), StatusCode::kAborted);
}

TEST_F(MailboxSessionTest, ReadsTheSnapshotThatTheDeviceHas) {
  const auto latched = session_.Latch({});
  const auto snapshot = session_.ReadSnapshot(*latched, nullptr);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ(snapshot->snapshot_id, latched->snapshot_id);
  EXPECT_EQ(snapshot->blocks, device_.next.blocks);
  EXPECT_EQ(snapshot->counters, device_.next.counters);
}

TEST_F(MailboxSessionTest, ASnapshotOfAnotherIdIsDataLoss) {
  auto latched = session_.Latch({});
  ++latched->snapshot_id;
  EXPECT_EQ(session_.ReadSnapshot(*latched, nullptr).status().code(), StatusCode::kDataLoss);
}

TEST_F(MailboxSessionTest, ASupersededSnapshotIsAborted) {
  // Two bytes a window: READ opens the rest of the stream, after another controller's LATCH.
  device_.window_bytes = 2;
  const auto latched = session_.Latch({});
  device_.after = [this](const smbus::Transfer& transfer, FakeMailbox::Result&) {
    const CommandWord latch = {.opcode = Opcode::kLatch, .arg2 = 2, .execute = true};
    if (CodeOf(transfer) == kWindowFirst + mailbox::kWindowCount - 1) device_.RunElsewhere({latch});
  };
  EXPECT_EQ(session_.ReadSnapshot(*latched, nullptr).status().code(), StatusCode::kAborted);
}

TEST_F(MailboxSessionTest, ReadsTheCatalogueThatTheDeviceHas) {
  const auto catalog = session_.ReadCatalog();
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_EQ(catalog->topology->catalog(), device_.catalog);
  EXPECT_EQ(catalog->topology->hash(), mailbox::CatalogHash(mailbox::EncodeCatalog(device_.catalog)));
  EXPECT_EQ(catalog->boot_id, 9u);
}

TEST_F(MailboxSessionTest, AStreamLongerThanTheWindowsIsContinued) {
  const struct {
    size_t window_bytes, size, commands;
  } kRows[] = {
      {255, 16 * 255, 1},                                                // the windows show it all
      {255, 16 * 255 + 1, 2},                                            // one byte is left
      {255, 32 * 255, 2},     {255, 32 * 255 + 1, 3}, {40, 16 * 40, 1},  // an adapter with short blocks
      {40, 16 * 40 + 1, 2},
  };
  for (const auto& row : kRows) {
    device_.window_bytes = row.window_bytes;
    device_.catalog = CatalogOfSize(row.size);
    device_.commands.clear();
    const auto catalog = session_.ReadCatalog();
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    EXPECT_EQ(catalog->topology->catalog(), device_.catalog);
    ASSERT_EQ(device_.commands.size(), row.commands);
    for (size_t i = 0; i < row.commands; ++i) {
      EXPECT_EQ(device_.commands[i].data, i * 16 * row.window_bytes);
      EXPECT_EQ(device_.commands[i].word.arg2, row.window_bytes);
    }
  }
}

TEST_F(MailboxSessionTest, ADamagedWindowIsReadAgain) {
  Spoil(RegisterPort::kAttemptsMax - 1, IsWindow, FlipBit);
  EXPECT_TRUE(Read().ok());
  EXPECT_EQ(device_.commands.size(), 1u);
  EXPECT_EQ(outcomes_["bad_pec"], RegisterPort::kAttemptsMax - 1);
}

TEST_F(MailboxSessionTest, AnInterruptedStreamIsResumedAtItsFirstMissingByte) {
  device_.catalog = CatalogOfSize(600);
  Spoil(
      RegisterPort::kAttemptsMax, [](const smbus::Transfer& t) { return CodeOf(t) == kWindowFirst + 1; }, FlipBit);
  const auto catalog = session_.ReadCatalog();
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_EQ(catalog->topology->catalog(), device_.catalog);
  ASSERT_EQ(device_.commands.size(), 2u);
  EXPECT_EQ(device_.commands[1].data, 255u);
}

TEST_F(MailboxSessionTest, TheResumptionsAreBounded) {
  for (const int failures : {MailboxSession::kResumesMax, MailboxSession::kResumesMax + 1}) {
    device_.commands.clear();
    Spoil(RegisterPort::kAttemptsMax * failures, IsWindow, FlipBit);
    EXPECT_EQ(session_.ReadCatalog().status().code(),
              failures > MailboxSession::kResumesMax ? StatusCode::kDataLoss : StatusCode::kOk);
    EXPECT_EQ(device_.commands.size(), 1u + MailboxSession::kResumesMax);
  }
}

TEST_F(MailboxSessionTest, ACancelledStreamIsNotResumed) {
  device_.after = [](const smbus::Transfer& transfer, FakeMailbox::Result& result) {
    if (IsWindow(transfer)) result = absl::CancelledError("stopping");
  };
  EXPECT_EQ(session_.ReadCatalog().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(device_.commands.size(), 1u);
}

TEST_F(MailboxSessionTest, AnImpossibleLengthIsDataLossBeforeAnythingIsRead) {
  const struct {
    uint32_t size;
    bool is_possible;
  } kRows[] = {{0, false},
               {1, true},
               {mailbox::kStreamBytesMax, true},
               {mailbox::kStreamBytesMax + 1, false},
               {0xFFFFFFFF, false}};
  for (const auto& row : kRows) {
    device_.transfers.clear();
    AnswerAll({.data = 1, .extended_data = row.size});
    const absl::Status status = Read();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << "no window shows anything";
    EXPECT_EQ(absl::StrContains(status.message(), "impossible stream length"), !row.is_possible) << row.size;
    EXPECT_EQ(std::ranges::any_of(device_.transfers, IsWindow), row.is_possible) << row.size;
  }
}

TEST_F(MailboxSessionTest, AStreamThatChangesItsLengthIsDataLoss) {
  device_.catalog = CatalogOfSize(600);
  // After a damaged window the device reports a catalogue that is longer by one byte, or shorter.
  for (const size_t size_then : {601, 599}) {
    device_.commands.clear();
    device_.before = [&](const smbus::Transfer& transfer) {
      if (IsWindow(transfer)) device_.catalog = CatalogOfSize(size_then);
    };
    device_.catalog = CatalogOfSize(600);
    Spoil(RegisterPort::kAttemptsMax, IsWindow, FlipBit);
    EXPECT_EQ(session_.ReadCatalog().status().message(), "a stream's length has changed");
    EXPECT_EQ(device_.commands.size(), 2u);
  }
}

TEST_F(MailboxSessionTest, ACutWindowIsDataLoss) {
  device_.spoil = [](Bytes& stream) { stream.pop_back(); };
  EXPECT_EQ(Read().code(), StatusCode::kDataLoss);
  EXPECT_EQ(outcomes_["bad_length"], RegisterPort::kAttemptsMax * (1 + MailboxSession::kResumesMax));
}

TEST_F(MailboxSessionTest, ADamagedStreamIsDataLossAlthoughEachWindowIsGood) {
  device_.spoil = [](Bytes& stream) { stream[stream.size() / 2] ^= 1; };
  EXPECT_EQ(Read().code(), StatusCode::kDataLoss);
  EXPECT_EQ(session_.ReadCatalog().status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(outcomes_.count("bad_pec"), 0u);
}

TEST_F(MailboxSessionTest, AStreamOfTheOtherKindIsRejected) {
  using mailbox::StreamKind;
  constexpr size_t kFrameBytes = mailbox::kStreamHeaderBytes + mailbox::kStreamCrcBytes;
  for (const StreamKind kind : {StreamKind::kCatalog, StreamKind::kSnapshot}) {
    device_.spoil = [kind](Bytes& stream) {
      const auto framing = kind == StreamKind::kCatalog ? mailbox::Framing::kPlain : mailbox::Framing::kDelta;
      stream = mailbox::EncodeStream({.kind = kind, .framing = framing}, Bytes(stream.size() - kFrameBytes));
    };
    const absl::Status status = kind == StreamKind::kCatalog ? Read() : session_.ReadCatalog().status();
    EXPECT_EQ(status.code(), kind == StreamKind::kCatalog ? StatusCode::kInvalidArgument : StatusCode::kDataLoss);
    EXPECT_EQ(device_.commands.size(), kind == StreamKind::kCatalog ? 1u : 2u) << "it was transferred correctly";
  }
}

// --- Base commands

constexpr CommandWord kGetEnergy = {.opcode = mailbox::Opcode::kGetEnergy, .execute = true};

TEST_F(MailboxSessionTest, ABaseCommandReadsTheOutputsThatAreAskedFor) {
  AnswerAll({.data = 7, .extended_data = 9});
  const struct {
    MailboxSession::BaseOutputs outputs;
    uint32_t data, extended_data;
  } kRows[] = {{{}, 0, 0}, {{.data = true}, 7, 0}, {{.extended_data = true}, 0, 9}, {{true, true}, 7, 9}};
  for (const auto& row : kRows) {
    const auto reply = session_.RunBase(kGetEnergy, std::nullopt, row.outputs);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->word.status, MailboxStatus::kSuccess);
    EXPECT_EQ(reply->data, row.data);
    EXPECT_EQ(reply->extended_data, row.extended_data);
  }
}

TEST_F(MailboxSessionTest, AFailedBaseCommandIsItsStatus) {
  AnswerAll({.status = MailboxStatus::kErrNotAvailable, .data = 7});
  const auto reply = session_.RunBase(kGetEnergy, 0x12, {.data = true});
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->word.status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(reply->data, 0u) << "the register has no result";
  EXPECT_EQ(device_.commands.back().data, 0x12u);
}

TEST_F(MailboxSessionTest, ABaseCommandIsAwaitedForAlmostASecond) {
  device_.busy_polls = static_cast<int>(std::size(MailboxSession::kBasePauses));
  EXPECT_TRUE(session_.RunBase(kGetEnergy, std::nullopt, {}).ok());
  absl::Duration sum;
  for (const absl::Duration pause : pauses_) sum += pause;
  EXPECT_EQ(sum, absl::Milliseconds(888));
  device_.busy_polls = static_cast<int>(std::size(MailboxSession::kBasePauses)) + 1;
  EXPECT_EQ(session_.RunBase(kGetEnergy, std::nullopt, {}).status().code(), StatusCode::kDeadlineExceeded);
}

TEST_F(MailboxSessionTest, AnotherControllersReplyIsNotABaseCommands) {
  Interfere(MailboxSession::kRunsMax - 1, {.opcode = mailbox::Opcode::kGetTemp, .execute = true});
  EXPECT_TRUE(session_.RunBase(kGetEnergy, std::nullopt, {}).ok());
  EXPECT_EQ(outcomes_["interference"], MailboxSession::kRunsMax - 1);
  Interfere(MailboxSession::kRunsMax, {.opcode = mailbox::Opcode::kGetTemp, .execute = true});
  EXPECT_EQ(session_.RunBase(kGetEnergy, std::nullopt, {}).status().code(), StatusCode::kAborted);
}

// Another controller's command between the status and the data, or between the data and the last status.
TEST_F(MailboxSessionTest, AnotherControllersDataIsNotABaseCommands) {
  for (const uint8_t code : {mailbox::kDataRegister, mailbox::kExtendedDataRegister}) {
    outcomes_.clear();
    AnswerAll({.data = 7, .extended_data = 9});
    device_.before = [this, code, left = 1](const smbus::Transfer& transfer) mutable {
      if (!IsReadOf(transfer, code) || left == 0) return;
      --left;
      device_.answer = [](const FakeMailbox::Command&) { return FakeMailbox::Reply{.data = 1, .extended_data = 1}; };
      device_.RunElsewhere({.word = {.opcode = mailbox::Opcode::kGetTemp, .execute = true}});
      AnswerAll({.data = 7, .extended_data = 9});
    };
    const auto reply = session_.RunBase(kGetEnergy, std::nullopt, {true, true});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->data, 7u);
    EXPECT_EQ(reply->extended_data, 9u);
    EXPECT_EQ(outcomes_["interference"], 1);
  }
}

// The zero may be the input that another controller writes between this one's command and the read of its data.
TEST_F(MailboxSessionTest, AZeroThatIsRareIsReadTwice) {
  AnswerAll({.data = 0});
  EXPECT_EQ(session_.RunBase(kGetEnergy, std::nullopt, {.data = true})->data, 0u);
  EXPECT_EQ(device_.commands.size(), 2u);
  EXPECT_EQ(outcomes_["interference"], 0);
  device_.answer = [left = 1](const FakeMailbox::Command&) mutable {
    return FakeMailbox::Reply{.data = left-- > 0 ? 0u : 7u};
  };
  EXPECT_EQ(session_.RunBase(kGetEnergy, std::nullopt, {.data = true})->data, 7u);
  EXPECT_EQ(outcomes_["interference"], 1);
  AnswerAll({.data = 0});
  device_.commands.clear();
  ASSERT_TRUE(session_.RunBase({.opcode = mailbox::Opcode::kGetMiscFlags, .execute = true}, {}, {.data = true}).ok());
  EXPECT_EQ(device_.commands.size(), 1u) << "flags may well be 0";
}

TEST_F(MailboxSessionTest, ABaseCommandIsNotRepeatedBeyondItsRuns) {
  Interfere(1, {.opcode = mailbox::Opcode::kGetTemp, .execute = true});
  EXPECT_EQ(session_.RunBase(kGetEnergy, std::nullopt, {}, /*runs_max=*/1).status().code(), StatusCode::kAborted);
  EXPECT_EQ(device_.commands.size(), 1u);
}

TEST_F(MailboxSessionTest, ItsOwnRegistersNeedNoSecondStatus) {
  device_.version = ExtensionVersion::kTwo;
  ASSERT_TRUE(session_.CheckExtension().ok());
  AnswerAll({.data = 7});
  device_.transfers.clear();
  ASSERT_TRUE(session_.RunBase(kGetEnergy, std::nullopt, {.data = true}).ok());
  EXPECT_EQ(device_.transfers.size(), 3u) << "command, status, data";
}

TEST_F(MailboxSessionTest, KnowsTheEchoOfItsLastCommand) {
  ASSERT_TRUE(session_.RunBase(kGetEnergy, std::nullopt, {}).ok());
  EXPECT_TRUE(session_.IsOwn(*session_.ReadStatus()));
  device_.RunElsewhere({.word = {.opcode = mailbox::Opcode::kGetTemp, .execute = true}});
  EXPECT_FALSE(session_.IsOwn(*session_.ReadStatus()));
}

TEST_F(MailboxSessionTest, ARepliesWordMayHaveResultsInPlaceOfItsEcho) {
  Interfere(1, {.opcode = mailbox::Opcode::kNull, .arg1 = 5, .execute = true});
  const auto reply = session_.RunBase(
      {.opcode = mailbox::Opcode::kPerformanceMonitoring, .arg1 = 1, .arg2 = 0xFF, .execute = true}, 0, {});
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->word.arg1, 5);
}

}  // namespace
}  // namespace sideband::daemon
