// SPDX-License-Identifier: Apache-2.0
#include "client/lib/opener_state.h"

#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "client/lib/state_members.h"
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

}  // namespace sideband::client
