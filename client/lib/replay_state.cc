// SPDX-License-Identifier: Apache-2.0
#include "client/lib/replay_state.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/lib/state_file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

using envelope::RecordHeader;

constexpr int kHeaderVersion = 1;

std::optional<RecordHeader> ParseHeader(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kHeaderVersion) return std::nullopt;
  StateMembers members(json);
  RecordHeader header;
  header.vm = members.Id("vm");
  header.device = members.Id("device");
  header.boot_id = members.Count<uint64_t>("boot_id");
  header.generation = members.Count<uint32_t>("generation");
  header.epoch = members.Count<uint64_t>("epoch");
  header.sequence = members.Count<uint64_t>("sequence");
  header.guest_nonce = members.Nonce("nonce");
  return members.ok() ? std::optional(header) : std::nullopt;
}

std::string PrintHeader(const RecordHeader& header) {
  const nlohmann::ordered_json json = {{"version", kHeaderVersion},
                                       {"vm", header.vm.ToString()},
                                       {"device", header.device.ToString()},
                                       {"boot_id", absl::StrCat(header.boot_id)},
                                       {"generation", absl::StrCat(header.generation)},
                                       {"epoch", absl::StrCat(header.epoch)},
                                       {"sequence", absl::StrCat(header.sequence)},
                                       {"nonce", NonceText(header.guest_nonce)}};
  return json.dump() + "\n";
}

bool IsLater(const RecordHeader& a, const RecordHeader& b) {
  return std::tie(a.epoch, a.sequence) > std::tie(b.epoch, b.sequence);
}

}  // namespace

absl::StatusOr<OpenerState::Lock> OpenerState::Acquire() const {
  SIDEBAND_ASSIGN_OR_RETURN(StateFile::Lock file, file_.Acquire());
  return Lock(std::move(file));
}

absl::StatusOr<std::optional<RecordHeader>> OpenerState::Lock::Read() const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> text, file_.Read());
  if (!text) return std::nullopt;
  std::optional<RecordHeader> header = ParseHeader(*text);
  if (!header.has_value()) return NotAState(file_.path());
  return header;
}

absl::Status OpenerState::Lock::Raise(const RecordHeader& header) const {
  // Read under the lock: another opener may have raised the state since this one began.
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<RecordHeader> before, Read());
  if (before.has_value() && (before->vm != header.vm || before->device != header.device)) {
    return absl::InvalidArgumentError(absl::StrCat(file_.path(), ": holds the state of VM ", before->vm.ToString(),
                                                   " on device ", before->device.ToString(),
                                                   ", but the record belongs to another VM or device"));
  }
  // Setting the state back would admit records again that were opened already.
  if (before.has_value() && !IsLater(header, *before)) return absl::OkStatus();
  return file_.Replace(PrintHeader(header));
}

std::string StateFileName(const Uuid& vm, const Uuid& device) {
  return absl::StrCat("unseal-", vm.ToString(), "-", device.ToString(), ".json");
}

namespace {

constexpr int kInstantVersion = 2;

struct Instant {
  RecordHeader newest;
  std::vector<uint64_t> earlier_boots;  // oldest first
};

std::optional<std::vector<uint64_t>> ParseBoots(const nlohmann::json& json) {
  if (!json.is_array() || json.size() > ExchangeState::kEarlierBootsMax) return std::nullopt;
  std::vector<uint64_t> boots;
  for (const nlohmann::json& boot : json) {
    uint64_t id = 0;
    if (!boot.is_string() || !absl::SimpleAtoi(boot.get_ref<const std::string&>(), &id)) return std::nullopt;
    boots.push_back(id);
  }
  return boots;
}

std::optional<Instant> ParseInstant(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kInstantVersion) return std::nullopt;
  std::optional<std::vector<uint64_t>> boots = ParseBoots(json.value("earlier_boots", nlohmann::json()));
  StateMembers members(json);
  Instant instant;
  RecordHeader& newest = instant.newest;
  newest.vm = members.Id("vm");
  newest.device = members.Id("device");
  newest.boot_id = members.Count<uint64_t>("boot_id");
  newest.generation = members.Count<uint32_t>("generation");
  newest.reference_time_ns = members.Count<uint64_t>("reference_time_ns");
  newest.guest_nonce = members.Nonce("nonce");
  if (!members.ok() || !boots) return std::nullopt;
  instant.earlier_boots = std::move(*boots);
  return instant;
}

std::string PrintInstant(const Instant& instant) {
  const RecordHeader& newest = instant.newest;
  nlohmann::ordered_json json = {{"version", kInstantVersion},
                                 {"vm", newest.vm.ToString()},
                                 {"device", newest.device.ToString()},
                                 {"boot_id", absl::StrCat(newest.boot_id)},
                                 {"generation", absl::StrCat(newest.generation)},
                                 {"reference_time_ns", absl::StrCat(newest.reference_time_ns)},
                                 {"nonce", NonceText(newest.guest_nonce)},
                                 {"earlier_boots", nlohmann::ordered_json::array()}};
  for (const uint64_t boot : instant.earlier_boots) json["earlier_boots"].push_back(absl::StrCat(boot));
  return json.dump() + "\n";
}

bool Follows(const Instant& before, const RecordHeader& header) {
  const RecordHeader& newest = before.newest;
  if (header.boot_id != newest.boot_id) {
    return std::ranges::find(before.earlier_boots, header.boot_id) == before.earlier_boots.end();
  }
  return header.generation >= newest.generation && header.reference_time_ns >= newest.reference_time_ns;
}

Instant After(const std::optional<Instant>& before, const RecordHeader& header) {
  Instant after{.newest = header};
  if (!before) return after;
  after.earlier_boots = before->earlier_boots;
  if (before->newest.boot_id == header.boot_id) return after;
  std::vector<uint64_t>& boots = after.earlier_boots;
  boots.push_back(before->newest.boot_id);
  if (boots.size() > ExchangeState::kEarlierBootsMax) boots.erase(boots.begin());
  return after;
}

absl::StatusOr<std::optional<Instant>> ReadFor(const RecordHeader& header, const StateFile::Lock& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> text, file.Read());
  if (!text) return std::nullopt;
  std::optional<Instant> instant = ParseInstant(*text);
  if (!instant) return NotAState(file.path());
  if (instant->newest.vm != header.vm || instant->newest.device != header.device) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": holds the state of another VM or device"));
  }
  return instant;
}

}  // namespace

absl::StatusOr<ExchangeState::Lock> ExchangeState::Acquire() const {
  SIDEBAND_ASSIGN_OR_RETURN(StateFile::Lock file, file_.Acquire());
  return Lock(std::move(file));
}

absl::Status ExchangeState::Lock::CheckFollows(const RecordHeader& header) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<Instant> before, ReadFor(header, file_));
  if (before && !Follows(*before, header)) return absl::DataLossError("record rejected");
  return absl::OkStatus();
}

absl::Status ExchangeState::Lock::Raise(const RecordHeader& header) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<Instant> before, ReadFor(header, file_));
  // Another opener may have raised the state already.
  if (before && !Follows(*before, header)) return absl::OkStatus();
  return file_.Replace(PrintInstant(After(before, header)));
}

std::string ExchangeStateFileName(const Uuid& vm, const Uuid& device) {
  return absl::StrCat("exchange-", vm.ToString(), "-", device.ToString(), ".json");
}

}  // namespace sideband::client
