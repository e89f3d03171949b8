// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/vm_records.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/sealing/device_sealer.h"
#include "secure_mcu/serve/served_device.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/mailbox_budget.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

using exchange::ExchangeFixture;

constexpr int kRounds = 9;
constexpr uint16_t kEvents = 32;

envelope::Secret SomeSecret() { return envelope::Secret::Take(Bytes(envelope::kStaticKeyBytes, 7)); }

// AES-256-GCM as EVP has it, with its context kept and initialised for each record.
class BareEvp {
 public:
  explicit BareEvp(size_t text_bytes) : context_(EVP_CIPHER_CTX_new()), text_(text_bytes) {}
  ~BareEvp() { EVP_CIPHER_CTX_free(context_); }
  BareEvp(const BareEvp&) = delete;
  BareEvp& operator=(const BareEvp&) = delete;

  void Seal(ByteSpan header) {
    const Bytes key(32, 7), nonce(12, 1);
    int size = 0;
    EVP_EncryptInit_ex(context_, EVP_aes_256_gcm(), nullptr, key.data(), nonce.data());
    EVP_EncryptUpdate(context_, nullptr, &size, header.data(), static_cast<int>(header.size()));
    EVP_EncryptUpdate(context_, text_.data(), &size, text_.data(), static_cast<int>(text_.size()));
    EVP_EncryptFinal_ex(context_, text_.data(), &size);
    uint8_t tag[16];
    EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_GCM_GET_TAG, sizeof(tag), tag);
  }

 private:
  EVP_CIPHER_CTX* const context_;
  Bytes text_;
};

absl::StatusOr<Row> MeasureRecords(size_t content_bytes) {
  constexpr int kRecords = 2000;
  envelope::RecordHeader header{.suite = envelope::kSuiteHpke, .guest_nonce = envelope::GuestNonce{1}};
  SIDEBAND_ASSIGN_OR_RETURN(header.padded_length, envelope::PaddedLengthFor(content_bytes, header.suite));
  SIDEBAND_ASSIGN_OR_RETURN(const auto keys,
                            envelope::SessionKeys::Derive(SomeSecret(), envelope::KeyScope::Of(header)));
  const Bytes content(content_bytes, 5), header_bytes(112);
  BareEvp evp(header.padded_length);
  BestTime ours, bare;
  bool is_ok = true;
  for (int round = 0; round < kRounds; ++round) {
    ours.Measure([&] {
      for (int i = 0; i < kRecords; ++i, ++header.sequence) is_ok &= envelope::SealRecord(keys, header, content).ok();
    });
    bare.Measure([&] {
      for (int i = 0; i < kRecords; ++i) evp.Seal(header_bytes);
    });
  }
  if (!is_ok) return absl::InternalError("a record was not sealed");
  return Row{absl::StrCat("sealing: records of ", content_bytes, " bytes"), bare.seconds() / ours.seconds(),
             "x EVP's speed", "same sizes, EVP initialised anew for each"};
}

// One VM with that many contexts.
struct Vm {
  mailbox::Catalog catalog;
  mailbox::Snapshot snapshot;
};

Vm MakeVm(uint16_t contexts) {
  Vm vm;
  for (uint16_t event = 0; event < kEvents; ++event) {
    vm.catalog.events.push_back({absl::StrCat("event", event), "cycles"});
  }
  vm.catalog.vms = {{.id = 1, .uuid = ExchangeFixture::vm(), .name = "vm", .confidential = true, .generation = 1}};
  vm.snapshot.counters_per_block = kEvents;
  vm.snapshot.blocks.push_back({.vm = 1, .generation = 1});
  for (uint16_t id = 0; id < contexts; ++id) {
    vm.catalog.contexts.push_back({.vm = 1, .id = id, .name = absl::StrCat("context", id), .generation = 1});
    vm.snapshot.blocks.push_back({.vm = 1, .context = id, .generation = 1});
  }
  vm.snapshot.counters.assign(vm.snapshot.blocks.size() * kEvents, 123'456'789'012);
  return vm;
}

absl::StatusOr<Row> MeasureContexts() {
  constexpr uint16_t kContexts = 100;
  constexpr int kSnapshots = 50;
  const Vm vm = MakeVm(kContexts);
  exchange::VmKeys keys({.device = ExchangeFixture::device(), .boot_id = 1}, {});
  keys.Begin(ExchangeFixture::vm(), 1, SomeSecret(), {1}, absl::ZeroDuration());
  BestTime best;
  bool is_ok = true;
  for (int round = 0; round < kRounds; ++round) {
    best.Measure([&] {
      for (int i = 0; i < kSnapshots; ++i) {
        const SecretBytes content = envelope::EncodeCounts(exchange::VmCounts(vm.catalog, vm.snapshot, 1));
        is_ok &= keys.Seal(ExchangeFixture::vm(), {.generation = 1, .content = content}, absl::ZeroDuration()).ok();
      }
    });
  }
  if (!is_ok) return absl::InternalError("a VM was not sealed");
  return Row{"sealing: contexts from blocks to records", kSnapshots * kContexts / best.seconds(), "1/s",
             absl::StrCat("one core, ", kEvents, " events, VMs of ", kContexts, " contexts")};
}

// A guest's request, ready to be answered.
absl::StatusOr<Bytes> RequestOf(const ExchangeFixture& fixture, const exchange::Challenge& challenge,
                                const Uuid& device, const Uuid& vm) {
  SIDEBAND_ASSIGN_OR_RETURN(auto guest, exchange::GuestExchange::Begin({.device = device, .vm = vm}, challenge));
  SIDEBAND_ASSIGN_OR_RETURN(const auto report_data, guest.GetReportData());
  return guest.Request(fixture.Evidence(report_data));
}

absl::StatusOr<Row> MeasureExchange(const ExchangeFixture& fixture) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto rules, exchange::SealingRules::Load(fixture.sealing_file()));
  exchange::Exchanger exchanger(rules, {.sealer = exchange::SealerKind::kDevice, .measurement = {}});
  const exchange::ExchangeTarget target{.device = ExchangeFixture::device(),
                                        .boot_id = 1,
                                        .vm = ExchangeFixture::vm(),
                                        .generation = 1,
                                        .events = exchange::VmEventNames(MakeVm(1).catalog)};
  BestTime best;
  for (int round = 0; round < kRounds; ++round) {
    const absl::Duration now = absl::Minutes(2 * round);
    SIDEBAND_ASSIGN_OR_RETURN(const auto challenge, exchanger.Draw(target.vm, now));
    SIDEBAND_ASSIGN_OR_RETURN(const Bytes request, RequestOf(fixture, challenge, target.device, target.vm));
    absl::Status status;
    best.Measure([&] { status = exchanger.Exchange(request, target, now, std::nullopt).status(); });
    SIDEBAND_RETURN_IF_ERROR(status);
  }
  return Row{"sealing: an exchange", best.seconds() * 1e3, "ms",
             "the sealer's processor time, evidence and signature included"};
}

// A device behind its bus, read by the daemon's reader; time advances only by explicit calls.
class Board {
 public:
  // With `fixture`, it seals, and the confidential VM's guest has exchanged keys.
  static absl::StatusOr<std::unique_ptr<Board>> Create(const mcu::ChipFile& file, const ExchangeFixture* fixture) {
    auto board = std::make_unique<Board>();
    SIDEBAND_ASSIGN_OR_RETURN(board->device_,
                              mcu::LiveDevice::Create(file, /*boot_id=*/1, [b = board.get()] { return b->elapsed_; }));
    if (fixture != nullptr) SIDEBAND_RETURN_IF_ERROR(board->SealWith(*fixture));
    board->Connect(file);
    return board;
  }
  // The bit times of ten snapshots, a second apart.
  absl::StatusOr<uint64_t> SnapshotBitTimes() {
    for (int snapshot = 0; snapshot <= 10; ++snapshot) {
      // The first one is without a base, and the catalogue is read.
      if (snapshot == 1) before_ = transport_.bit_times();
      elapsed_ += absl::Seconds(1);
      SIDEBAND_RETURN_IF_ERROR(reader_.Take().status());
      SIDEBAND_RETURN_IF_ERROR(reader_.Acknowledge());
    }
    return transport_.bit_times() - before_;
  }

 private:
  absl::Status SealWith(const ExchangeFixture& fixture) {
    SIDEBAND_ASSIGN_OR_RETURN(auto rules, exchange::SealingRules::Load(fixture.sealing_file()));
    sealer_.emplace(std::move(rules), exchange::Sha384Digest{}, *device_);
    const auto& vms = device_->catalog().vms;
    const auto vm = std::ranges::find_if(vms, &mailbox::VmInfo::confidential);
    SIDEBAND_ASSIGN_OR_RETURN(const Bytes drawn, sealer_->DrawChallenge(vm->id));
    exchange::Challenge challenge;
    std::ranges::copy(drawn, challenge.begin());
    SIDEBAND_ASSIGN_OR_RETURN(const Bytes request, RequestOf(fixture, challenge, device_->identity().uuid, vm->uuid));
    return sealer_->Exchange(request).status();
  }
  void Connect(const mcu::ChipFile& file) {
    viewed_.emplace(*device_, nullptr, sealer_ ? &*sealer_ : nullptr);
    firmware_.emplace(*viewed_, mcu::PowerModel(device_->power()), mcu::Persona::kSideband, file.extension);
    target_.emplace(smbus::kMailboxAddress, firmware_->shared(),
                    mcu::MailboxTarget::Options{.registers = {}, .own_handler = firmware_->own()});
    bus_.Connect(smbus::kMailboxAddress, *target_);
  }

  absl::Duration elapsed_;
  uint64_t before_ = 0;
  std::unique_ptr<mcu::LiveDevice> device_;
  std::optional<mcu::DeviceSealer> sealer_;
  std::optional<mcu::ViewedDevice> viewed_;
  std::optional<mcu::FirmwarePair> firmware_;
  std::optional<mcu::MailboxTarget> target_;
  mcu::VirtualBus bus_;
  CountingBus transport_{bus_};
  daemon::RegisterPort port_{transport_, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session_{port_, [](absl::Duration) {}};
  daemon::FakeClock clock_{absl::UnixEpoch()};
  daemon::SnapshotReader reader_{session_, clock_};
};

absl::StatusOr<Row> MeasureBus(const mcu::ChipFile& file, const ExchangeFixture& fixture) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto plain, Board::Create(file, nullptr));
  SIDEBAND_ASSIGN_OR_RETURN(const auto sealing, Board::Create(file, &fixture));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t without, plain->SnapshotBitTimes());
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t with, sealing->SnapshotBitTimes());
  return Row{"sealing: bus of a device that seals", static_cast<double>(with) / static_cast<double>(without),
             "x one that does not",
             absl::StrCat("bit times of its snapshots, ", with / 10, " and ", without / 10, " each")};
}

}  // namespace

absl::StatusOr<Rows> MeasureSealingCost(const std::string& chip_file, const std::string& scratch) {
  SIDEBAND_ASSIGN_OR_RETURN(const mcu::ChipFile file, mcu::LoadChipFile(chip_file));
  const std::string folder = scratch + "/sealing";
  std::filesystem::create_directories(folder);
  std::vector<Uuid> vms;
  for (const mcu::VmFileSpec& vm : file.vms) vms.push_back(vm.uuid);
  const ExchangeFixture fixture(folder, "{}", vms, file.uuid);
  Rows rows;
  for (const size_t bytes : {1024, 16384}) {
    SIDEBAND_ASSIGN_OR_RETURN(const Row row, MeasureRecords(bytes));
    rows.push_back(row);
  }
  SIDEBAND_ASSIGN_OR_RETURN(const Row contexts, MeasureContexts());
  SIDEBAND_ASSIGN_OR_RETURN(const Row exchanged, MeasureExchange(fixture));
  SIDEBAND_ASSIGN_OR_RETURN(const Row bus, MeasureBus(file, fixture));
  rows.insert(rows.end(), {contexts, exchanged, bus});
  return rows;
}

}  // namespace sideband::bench
